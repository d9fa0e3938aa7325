"""Class-conditional densities of one feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .gaussian import class_gaussians
from .style import Display, class_color, legend
from .table import class_codes, feature_index

#: Points of a curve.
POINTS_PER_CURVE = 400


@dataclass
class DensityDisplay(Display):
    """``p(x | class)`` of one feature, a curve per class; bars of probabilities for categories.

    A curve stays within the range of the observed values, where the data support it.

    Attributes
    ----------
    values : ndarray
        The values of the feature, or its categories.
    densities : ndarray of shape (n_values, n_classes)
        The densities, or the probabilities of the categories.
    """

    values: np.ndarray
    densities: np.ndarray
    classes: list[str]
    name: str
    observed: np.ndarray
    codes: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, feature: str | int, ax: Any = None
    ) -> Self:
        """Draws a feature of a fitted naive Bayes model or discriminant analysis.

        Parameters
        ----------
        estimator : fitted classifier
            A naive Bayes model that accepts missing values, or a discriminant analysis.
        X : array or data frame of shape (n_samples, n_features)
            Rows that give the range of the feature, or its categories.
        y : array of shape (n_samples,), default=None
            Their classes; with them the rows are drawn below the curves.
        feature : str or int
            The feature.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        frame = hasattr(X, "columns")
        names = [str(name) for name in X.columns] if frame else _names(estimator, X)
        j = feature_index(names, feature)
        column = np.asarray(X[X.columns[j]] if frame else np.asarray(X)[:, j])
        if column.dtype.kind in "fiu":
            observed = column[np.isfinite(column)].astype(float)
            values = np.linspace(observed.min(), observed.max(), POINTS_PER_CURVE)
        else:
            observed = column
            values = np.array(sorted({str(value) for value in column if value == value}))
        classes = [str(label) for label in estimator.classes_]
        densities = _densities(estimator, X, j, values)
        codes = None if y is None else class_codes(y, estimator.classes_, len(column))
        if codes is not None and column.dtype.kind in "fiu":
            codes = codes[np.isfinite(column)]
        return cls(values, densities, classes, names[j], observed, codes).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        if self.values.dtype.kind != "f":
            self._draw_bars(ax)
            return self
        for c, name in enumerate(self.classes):
            density = self.densities[:, c]
            ax.plot(self.values, density, color=class_color(c), linewidth=1.8, label=name)
            ax.fill_between(self.values, density, color=class_color(c), alpha=0.1, linewidth=0)
        finite = self.densities[np.isfinite(self.densities)]
        top = float(finite.max(initial=0.0)) or 1.0
        for c in range(len(self.classes) if self.codes is not None else 0):
            own = self.observed[self.codes == c]
            height = -0.035 * top * (1 + c)
            ax.plot(own, np.full(len(own), height), "|", color=class_color(c), markersize=5)
        ax.set(xlabel=self.name, ylabel=f"p({self.name} | class)")
        ax.set_ylim(bottom=None if self.codes is not None else 0.0)
        legend(ax)
        return self

    def _draw_bars(self, ax: Any) -> None:
        width = 0.8 / len(self.classes)
        positions = np.arange(len(self.values))
        for c, name in enumerate(self.classes):
            offset = (c - (len(self.classes) - 1) / 2) * width
            ax.bar(
                positions + offset,
                self.densities[:, c],
                width * 0.95,
                color=class_color(c),
                label=name,
            )
        ax.set_xticks(positions, [str(value) for value in self.values])
        ax.set(xlabel=self.name, ylabel=f"P({self.name} | class)")
        legend(ax)


def _names(estimator: Any, X: Any) -> list[str]:
    known = getattr(estimator, "feature_names_in_", None)
    return (
        [f"x{j + 1}" for j in range(np.shape(X)[1])] if known is None else [str(n) for n in known]
    )


def _densities(estimator: Any, X: Any, j: int, values: np.ndarray) -> np.ndarray:
    """The density of the values of one feature in every class.

    A naive Bayes model ignores missing values, so a row in which all other features are missing has the joint
    probability of its class and this one value.
    """
    if hasattr(estimator, "covariance_"):
        means, covariances = class_gaussians(estimator)
        deviations = np.sqrt(covariances[:, j, j])
        standardized = (values[:, None] - means[:, j]) / deviations
        return np.exp(-0.5 * standardized**2) / (deviations * np.sqrt(2.0 * np.pi))
    if "missing-values" not in estimator._inputs:
        raise ValueError(
            f"{type(estimator).__name__} does not accept missing values, so the density of one feature "
            "alone is not defined; ClassImageDisplay draws the probabilities of all features"
        )
    rows, empty = _rows_with(X, j, values), _rows_with(X, j, None)
    with np.errstate(over="ignore"):
        joint = estimator.predict_joint_log_proba(rows)
        return np.exp(joint - estimator.predict_joint_log_proba(empty))


def _rows_with(X: Any, j: int, values: np.ndarray | None) -> Any:
    """Rows of the type of ``X`` in which all features but ``j`` are missing; all of one row if ``None``."""
    n = 1 if values is None else len(values)
    if not hasattr(X, "columns"):
        rows = np.full((n, np.shape(X)[1]), np.nan)
        if values is not None:
            rows[:, j] = values
        return rows
    columns: dict[Any, Any] = {}
    for k, name in enumerate(X.columns):
        numeric = np.asarray(X[name]).dtype.kind in "fiu"
        missing = np.full(n, np.nan) if numeric else np.full(n, None, dtype=object)
        columns[name] = values if k == j and values is not None else missing
    return type(X)(columns)
