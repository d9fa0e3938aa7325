"""Automatic model selection: the best of a portfolio of estimators, chosen by cross-validation.

:class:`AutoClassifier` and :class:`AutoRegressor` do what ``mercer train`` does without ``--model``: they prepare the
columns of a table, compare the candidates of the portfolio on the same folds under a budget of time, and fit the best
one to all rows.
"""

import importlib
import json
import os
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _mercer, labels, rows
from .base.inputs import checked_weights, n_threads, random_seed
from .limits import current_limits

__all__ = ["AutoClassifier", "AutoRegressor"]

_TARGET = "target"
_WEIGHTS = "sample_weight"


class _Auto(BaseEstimator):
    """What both tasks share."""

    _fitted: _mercer.Fitted
    #: The kind of each column of a table; ``None`` after a fit to an array.
    _kinds: list[str] | None

    def __init__(
        self,
        metric: str | None = None,
        budget: float = 60.0,
        n_folds: int = 5,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.budget = budget
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        # A budget of time and tiny tables: the score of the checks is not promised.
        tags.non_deterministic = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def _columns(self, X: Any, *, reset: bool) -> rows.Columns:
        """The named columns of a table or of an array."""
        table = rows.named_columns(X)
        if table is None:
            if reset:
                self._kinds = None
            elif set(getattr(self, "_kinds", None) or ["numeric"]) != {"numeric"}:
                raise ValueError(
                    "the model was fitted to a table with columns of strings; pass a table"
                )
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
                ensure_min_samples=2 if reset else 1,
            )
            names = getattr(self, "feature_names_in_", None)
            names = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
            return [
                (name, "numeric", np.ascontiguousarray(X[:, j])) for j, name in enumerate(names)
            ]
        # The names and their order, as scikit-learn checks them.
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self._kinds = [rows.kind_of(values) for _, values in table]
        kinds = getattr(self, "_kinds", None) or ["numeric"] * len(table)
        return [
            (name, kind, rows.cells_of(name, values, kind))
            for (name, values), kind in zip(table, kinds, strict=True)
        ]

    def _select(
        self, columns: rows.Columns, target: Any, names: list[Any] | None, sample_weight: Any
    ) -> Self:
        known = {name for name, _, _ in columns}
        own = [_unused(name, known) for name in (_TARGET, _WEIGHTS)]
        kind = "numeric" if names is None else "categorical"
        columns = [*columns, (own[0], kind, target)]
        weights = checked_weights(sample_weight, np.empty(len(target)))
        if weights is not None:
            columns.append((own[1], "numeric", weights))
        request = {
            "columns": columns,
            "target": own[0],
            "weights": None if weights is None else own[1],
            "labels": names,
            "metric": self.metric or ("r2" if names is None else "accuracy"),
            "folds": self.n_folds,
            "seed": random_seed(self.random_state),
            "budget": self.budget,
            "limits": current_limits(None, n_threads(self.n_jobs)),
        }
        self._fitted, board = _mercer.select(request)
        self._board = json.loads(board)
        return self

    @property
    def leaderboard_(self) -> Any:
        """The candidates with their scores, the best first: a ``pandas.DataFrame``, or a list of dictionaries without
        pandas."""
        check_is_fitted(self)
        found = self._board["rows"]
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            return found
        keys = ["name", "score", "n_rows", "standing", "p_value", "converged", "fit_seconds"]
        return pandas.DataFrame([{key: row.get(key) for key in keys} for row in found])

    @property
    def best_score_(self) -> float:
        """The cross-validated score of the winner, corrected for the selection if that was possible."""
        check_is_fitted(self)
        corrected = self._board["corrected"]
        return self._board["rows"][0]["score"] if corrected is None else corrected["score"]

    @property
    def best_estimator_(self) -> str:
        """The winner in words: the estimator, its hyperparameters and its preprocessing."""
        check_is_fitted(self)
        return self._board["rows"][0]["name"]

    @property
    def certificate_(self) -> dict[str, Any]:
        """How the fit of the winner ended."""
        check_is_fitted(self)
        return self._fitted.certificate

    def save(self, path: str | os.PathLike) -> None:
        """Writes the winner with its preprocessing as a ``.mercer`` model file, for ``mercer predict``.

        In Python, use pickle: ``mercer.load`` reads no models that preprocess columns.
        """
        check_is_fitted(self)
        self._fitted.save(Path(path))

    def _encoded(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._fitted.encode_rows(self._columns(X, reset=False))


class AutoClassifier(ClassifierMixin, _Auto):
    """The best classifier of a portfolio for a table, chosen by cross-validation.

    Parameters
    ----------
    metric : str, default=None
        Metric to select by, as in ``mercer train --metric``; ``None`` is ``accuracy``.
    budget : float, default=60.0
        Seconds for the comparison of candidates. Small tables need less.
    n_folds : int, default=5
        Cross-validation folds of the last round.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int or None, default=None
        Number of threads; ``None`` is that of ``mercer.set_threads``.

    Attributes
    ----------
    leaderboard_ : DataFrame
        Candidates with their scores, the best first.
    best_estimator_ : str
        The winner in words.
    best_score_ : float
        Its cross-validated score, corrected for the selection.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoClassifier(budget=5).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compares the candidates and fits the best one to all rows.

        Parameters
        ----------
        X : table or array of shape (n_samples, n_features)
            Rows. Columns may be numeric, categorical, boolean or text; missing values are allowed.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights, in the fits and in the scores.
        """
        columns = self._columns(X, reset=True)
        if y is None:
            raise ValueError("AutoClassifier requires y to be passed, but the target y is None")
        codes, classes = labels.encode(y)
        _check_length(columns, codes)
        if len(classes) < 2:
            raise ValueError(
                f"the classifier needs at least two classes, but y has only one class: {classes[0]!r}"
            )
        # Names that sort as the classes do; the labels themselves are those of the estimator.
        names = [str(label) for label in labels.to_python(classes)]
        target = [names[code] for code in codes.tolist()]
        self.classes_ = classes
        self._select(columns, target, names, sample_weight)
        index = {name: k for k, name in enumerate(names)}
        self._order = np.array([index[str(label)] for label in self._fitted.labels])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        encoded = self._encoded(X)
        return self.classes_[self._order[self._fitted.predict(encoded)]]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, one column per class in ``classes_``."""
        return np.exp(self._log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each class."""
        return self._log_proba(X)

    def _log_proba(self, X: Any) -> np.ndarray:
        encoded = self._encoded(X)
        found = self._fitted.log_proba(encoded)
        out = np.empty_like(found)
        out[:, self._order] = found
        return out

    def predict_set(self, X: Any, level: float = 0.9) -> list[list[Any]]:
        """The conformal prediction set of each row: the classes that contain the true one with at least this
        probability, the most probable first."""
        log_proba = np.ascontiguousarray(self._log_proba(X))
        sets = self._fitted.conformal_sets(log_proba, level)
        return [[self.classes_[c] for c in classes] for classes in sets]


class AutoRegressor(RegressorMixin, _Auto):
    """The best regressor of a portfolio for a table, chosen by cross-validation.

    Parameters
    ----------
    metric : str, default=None
        Metric to select by, as in ``mercer train --metric``; ``None`` is ``r2``.
    budget : float, default=60.0
        Seconds for the comparison of candidates. Small tables need less.
    n_folds : int, default=5
        Cross-validation folds of the last round.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int or None, default=None
        Number of threads; ``None`` is that of ``mercer.set_threads``.

    Attributes
    ----------
    leaderboard_ : DataFrame
        Candidates with their scores, the best first.
    best_estimator_ : str
        The winner in words.
    best_score_ : float
        Its cross-validated score, corrected for the selection.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoRegressor(budget=5).fit(X, y)
    >>> model.predict_interval(X[:2], level=0.9).shape
    (2, 2)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compares the candidates and fits the best one to all rows.

        Parameters
        ----------
        X : table or array of shape (n_samples, n_features)
            Rows. Columns may be numeric, categorical, boolean or text; missing values are allowed.
        y : array of shape (n_samples,)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights, in the fits and in the scores.
        """
        from sklearn.utils.validation import assert_all_finite, column_or_1d

        columns = self._columns(X, reset=True)
        if y is None:
            raise ValueError("AutoRegressor requires y to be passed, but the target y is None")
        target = column_or_1d(labels.unboxed(y), warn=True).astype(np.float64)
        assert_all_finite(target, input_name="y")
        _check_length(columns, target)
        return self._select(columns, np.ascontiguousarray(target), None, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted target of each row."""
        encoded = self._encoded(X)
        return self._fitted.predict_target(encoded)

    def predict_interval(self, X: Any, level: float = 0.9) -> np.ndarray:
        """The conformal prediction interval of each row, one row of two bounds each: it contains the target with this
        probability."""
        predicted = self.predict(X)
        low, high = self._fitted.conformal_interval(level)
        return np.column_stack([predicted + low, predicted + high])


def _unused(name: str, known: set[str]) -> str:
    while name in known:
        name += "_"
    return name


def _check_length(columns: rows.Columns, target: np.ndarray) -> None:
    if columns and len(columns[0][2]) != len(target):
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {len(columns[0][2])}, y has {len(target)}"
        )
