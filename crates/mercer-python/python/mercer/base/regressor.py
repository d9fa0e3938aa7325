"""Those that predict numbers: at once, by statistics, or one row after the other."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_is_fitted,
    column_or_1d,
)

from .. import _mercer, rows
from ..explanation import TermExplanation
from ..summary import Summary
from .drop_in import refuse_start
from .estimator import Estimator, with_fitted
from .inputs import check_lengths, row_weights
from .names import OF_TARGETS


class Regressor(RegressorMixin, Estimator):
    """Predicts numbers."""

    #: Whether the numbers came as columns, and predictions are given so.
    _columns_of_y = False

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name not in OF_TARGETS or not (self._columns_of_y or self._fitted.n_targets > 1):
            return value
        if name == "dual_coef_":
            return value.reshape(len(value), -1)
        others = self._fitted.field("others")
        return np.array([value, *(other[OF_TARGETS[name]] for other in others)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = "multi-output" in self._inputs
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows and their numbers.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers; of shape (n_samples, n_targets) where the estimator learns several at once.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        matrix = self._rows(X, reset=True)
        self._columns_of_y = "multi-output" in self._inputs and y is not None and np.asarray(y).ndim == 2
        if self._columns_of_y:
            return self._fit_many(matrix, y, sample_weight)
        numbers, weights = self._target(matrix, y, sample_weight)
        fitted = _mercer.fit(
            self._id,
            self._params(),
            matrix,
            numbers,
            [],
            weights,
            self._names(),
            self._levels,
            self._bounds(),
            start=self._start(),
        )
        return self._keep(fitted, len(numbers))

    def _fit_many(self, matrix: np.ndarray | rows.Compressed, y: Any, sample_weight: Any) -> Self:
        targets = check_array(y, dtype=np.float64, input_name="y")
        check_lengths(matrix, targets)
        weights = row_weights(sample_weight, targets[:, 0])
        fitted = _mercer.fit_many(
            self._id, self._params(), matrix, targets, weights, self._names(), self._bounds()
        )
        return self._keep(fitted, len(targets))

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row; a column a number where several were learned."""
        matrix = self._known_rows(X)
        if self._columns_of_y or self._fitted.n_targets > 1:
            return self._fitted.numbers_many(matrix)
        return self._fitted.numbers(matrix)

    def predict_interval(self, X: Any, level: float = 0.95) -> np.ndarray:
        """For each row, the ends of an interval that holds its number with probability ``level``."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; it must be between 0 and 1")
        matrix = self._known_rows(X)
        return self._fitted.intervals(matrix, level)

    def _target(
        self, matrix: np.ndarray | rows.Compressed, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = column_or_1d(y, warn=True, dtype=np.float64)
        assert_all_finite(y, input_name="y")
        check_lengths(matrix, y)
        return np.ascontiguousarray(y), row_weights(sample_weight, y)


class MergeableRegressor(Regressor):
    """Learns by statistics: rows can be added, taken back out, and learned in parts."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns more rows. Any split of the rows gives the model of all of them.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        matrix = self._rows(X, reset=first)
        numbers, weights = self._target(matrix, y, sample_weight)
        params, limit = self._params(), self._bounds()
        if first:
            columns = self._names()
            fitted = _mercer.fit(
                self._id,
                params,
                matrix,
                numbers,
                [],
                weights,
                columns,
                self._levels,
                limit,
                wait=True,
            )
        else:
            fitted = self._fitted.observe(params, matrix, numbers, [], weights, limit)
        return self._keep(fitted, len(numbers))

    def merge(self, other: Self) -> Self:
        """The model of the rows of both, as a new estimator.

        Both must have the same parameters and columns.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        return with_fitted(self, self._fitted.merge(other._fitted))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Takes rows back out, as if they had never been learned."""
        matrix = self._known_rows(X)
        numbers, weights = self._target(matrix, y, sample_weight)
        self._fitted = self._fitted.forget(matrix, numbers, [], weights)
        return self


class OnlineRegressor(Regressor):
    """Learns one row after the other: more rows can be learned at any time, and their order matters."""

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learns from rows and their numbers.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers.
        coef_init, intercept_init : None
            Weights to begin at. Nothing else is taken.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        """
        refuse_start(self, coef_init, intercept_init)
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Goes on with one pass over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        matrix = self._rows(X, reset=first)
        numbers, weights = self._target(matrix, y, sample_weight)
        fitted = _mercer.learn_on(
            self._id,
            self._params(),
            None if first else self._fitted,
            matrix,
            numbers,
            [],
            weights,
            self._names(),
            self._bounds(),
        )
        return self._keep(fitted, len(numbers))


class LinearModel(Regressor):
    """Has predictions that are a weighted sum of columns."""

    def explain(self, x: Any) -> TermExplanation:
        """Why a row gets its number: what every column adds.

        Parameters
        ----------
        x : array of shape (n_features,), or anything of one row
            The row.
        """
        self._check_one_target("explain")
        return TermExplanation(self._fitted.explain_terms(self._one_row(x)))

    def summary(self, level: float = 0.95) -> Summary:
        """The coefficients with their errors; ``print`` it to read it as R shows it.

        Parameters
        ----------
        level : float, default=0.95
            How sure the intervals are.
        """
        self._check_one_target("summarize")
        return Summary(*self._fitted.summary(level))

    def _check_one_target(self, what: str) -> None:
        check_is_fitted(self)
        if self._fitted.n_targets > 1:
            raise ValueError(
                f"the model has learned {self._fitted.n_targets} numbers at once; "
                f"fit it to one of them to {what} it"
            )
