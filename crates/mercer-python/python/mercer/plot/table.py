"""Rows as the displays need them: named features, codes of classes, and grids over one or two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

#: The margin around the data, as a fraction of their range.
MARGIN = 0.08


class Table:
    """Rows with named features, from an array or a data frame."""

    def __init__(self, X: Any) -> None:
        self.source = X
        if hasattr(X, "columns"):
            self.names = [str(name) for name in X.columns]
            self._columns: list[Any] | None = list(X.columns)
            numeric = [np.asarray(X[name]) for name in X.columns]
            for name, column in zip(self.names, numeric, strict=True):
                if column.dtype.kind not in "fiub":
                    raise ValueError(
                        f"column {name!r} has the type {column.dtype}; the display needs numeric "
                        "columns, so encode it or leave it out"
                    )
            self.values = np.column_stack([column.astype(float) for column in numeric])
            return
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        if values.ndim != 2:
            raise ValueError(f"X has {values.ndim} dimension(s), expected rows and columns")
        self.names, self._columns, self.values = [], None, values
        width = values.shape[1]
        self.names = ["x"] if width == 1 else [f"x{j + 1}" for j in range(width)]
        if len(values) == 0:
            raise ValueError("X has no rows, at least one is required")

    def use_names_of(self, estimator: Any) -> None:
        """Takes the feature names of an estimator, if the rows have none."""
        names = getattr(estimator, "feature_names_in_", None)
        if self._columns is None and names is not None and len(names) == len(self.names):
            self.names = [str(name) for name in names]

    def index(self, feature: str | int) -> int:
        """The index of a feature given by name or index."""
        return feature_index(self.names, feature)

    def choose(self, features: Any, n: int) -> list[int]:
        """The indices of the ``n`` features to draw; ``None`` chooses the only ones there are."""
        if features is None:
            if len(self.names) == n:
                return list(range(n))
            raise ValueError(
                f"the rows have {len(self.names)} features and the display draws {n}; choose them "
                f"with `feature{'s' if n > 1 else ''}`, of {', '.join(self.names)}"
            )
        chosen = [features] if isinstance(features, str | int) else list(features)
        if len(chosen) != n:
            raise ValueError(f"{len(chosen)} features were chosen, expected {n}")
        return [self.index(feature) for feature in chosen]

    def range(self, j: int, margin: float = MARGIN) -> tuple[float, float]:
        """The range of a feature, widened by a fraction ``margin``."""
        column = self.values[:, j]
        column = column[np.isfinite(column)]
        if len(column) == 0:
            raise ValueError(f"feature {self.names[j]!r} has no finite values")
        low, high = float(column.min()), float(column.max())
        if high == low:
            pad = max(abs(low), 1.0) * 0.5
            return low - pad, high + pad
        pad = margin * (high - low)
        return low - pad, high + pad

    def rows(self, chosen: list[int], points: np.ndarray) -> Any:
        """Rows of the type of ``X`` with the chosen features from ``points`` and the mean of the others."""
        values = np.tile(np.nanmean(self.values, axis=0), (len(points), 1))
        values[:, chosen] = points
        return self.like(values)

    def like(self, values: np.ndarray) -> Any:
        """Rows of the type of ``X``."""
        if self._columns is None:
            return values
        return type(self.source)({name: values[:, j] for j, name in enumerate(self._columns)})

    def grid(self, chosen: list[int], n: int) -> tuple[np.ndarray, np.ndarray, Any]:
        """The coordinates of a grid over two features, and its rows, the first feature fastest."""
        xs, ys = (np.linspace(*self.range(j), n) for j in chosen)
        points = np.column_stack([np.tile(xs, n), np.repeat(ys, n)])
        return xs, ys, self.rows(chosen, points)


def feature_index(names: list[str], feature: str | int) -> int:
    """The index of a feature given by name or index."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(
                f"there is no feature {feature!r}; the features are {', '.join(names)}"
            )
        return names.index(feature)
    n = len(names)
    if not -n <= feature < n:
        raise ValueError(f"feature {feature} is not one of the {n} features")
    return int(feature) % n


def final_step(estimator: Any) -> Any:
    """The last estimator of a pipeline, or the estimator itself."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def class_codes(y: Any, classes: np.ndarray, n_rows: int | None = None) -> np.ndarray:
    """The position of every label in ``classes``; ``y`` has one label per row."""
    labels = np.asarray(y)
    if labels.ndim != 1 or (n_rows is not None and len(labels) != n_rows):
        raise ValueError(
            f"y has the shape {labels.shape}, expected one label for each of {n_rows} rows"
        )
    codes = np.searchsorted(classes, labels)
    codes = np.minimum(codes, len(classes) - 1)
    unknown = labels[classes[codes] != labels].tolist()
    if unknown:
        known = ", ".join(repr(label) for label in classes.tolist())
        raise ValueError(f"y contains {unknown[0]!r}, which is none of the classes {known}")
    return codes


def margins_between_classes(estimator: Any, rows: Any) -> np.ndarray:
    """Per row and class, the score of the class minus the best other score.

    A boundary lies where it is zero. If the largest score is not always the prediction, as with votes of
    one-vs-one, indicators of the predictions replace the scores.
    """
    classes = estimator.classes_
    predicted = class_codes(estimator.predict(rows), classes)
    for method in ("decision_function", "predict_joint_log_proba", "predict_log_proba"):
        function = getattr(estimator, method, None)
        if function is None:
            continue
        scores = np.asarray(function(rows))
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        if scores.shape[1] != len(classes):
            continue
        margins = _over_best_other(scores)
        if np.array_equal(margins.argmax(axis=1), predicted):
            return margins
    return _over_best_other(np.eye(len(classes))[predicted])


def _over_best_other(scores: np.ndarray) -> np.ndarray:
    if scores.shape[1] == 1:
        return np.ones_like(scores)
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(scores - np.where(scores == best, second, best))
