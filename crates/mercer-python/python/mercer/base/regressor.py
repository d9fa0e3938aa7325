"""Regressors: fitted at once, from mergeable statistics, or online."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_is_fitted,
    column_or_1d,
)

from .. import rows
from ..explanation import TermExplanation
from ..summary import Summary
from .averaged import Averaged
from .coefficients import SparseCoefficients
from .estimator import Estimator, with_fitted
from .inputs import check_lengths, checked_weights
from .sklearn_attributes import KEEP_PRECISION, OF_TARGETS
from .sklearn_parameters import refuse_early_stopping


class Regressor(RegressorMixin, Estimator):
    """Predicts regression targets."""

    #: Whether ``y`` was two-dimensional, so that predictions are too.
    _multi_output = False

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name not in OF_TARGETS or not (self._multi_output or self._fitted.n_targets > 1):
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
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Regression targets; of shape (n_samples, n_targets) if the estimator supports several.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        matrix = self._rows(X, reset=True)
        self._multi_output = (
            "multi-output" in self._inputs and y is not None and np.asarray(y).ndim == 2
        )
        if self._multi_output:
            return self._fit_multi_output(matrix, y, sample_weight)
        target, weights = self._target(matrix, y, sample_weight)
        request = self._request(matrix, target, weights=weights, start=self._start())
        fitted = self._fit_core(request)
        return self._set_fitted(fitted, len(target))

    def _fit_multi_output(self, matrix: np.ndarray | rows.Csr, y: Any, sample_weight: Any) -> Self:
        targets = np.ascontiguousarray(check_array(y, dtype=np.float64, input_name="y"))
        check_lengths(matrix, targets)
        weights = checked_weights(sample_weight, targets[:, 0])
        fitted = self._fit_core(self._request(matrix, targets, weights=weights))
        return self._set_fitted(fitted, len(targets))

    def predict(self, X: Any) -> np.ndarray:
        """The predicted target of each row; one column per target if ``y`` had several."""
        if "_fitted" not in self.__dict__:
            check_is_fitted(self)
        several = self._multi_output or self._fitted.n_targets > 1
        predicted = self._apply("predict_multi_output" if several else "predict_target", X)
        single = self._single and self._id in KEEP_PRECISION
        single = single and getattr(X, "dtype", None) == np.float32
        return predicted.astype(np.float32) if single else predicted

    def predict_interval(self, X: Any, level: float = 0.95) -> np.ndarray:
        """Prediction intervals: for each row, the ends of an interval that contains its target with
        probability ``level``."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; it must be between 0 and 1")
        matrix = self._known_rows(X)
        return self._fitted.prediction_intervals(matrix, level)

    def _target(
        self, matrix: np.ndarray | rows.Csr, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = column_or_1d(y, warn=True, dtype=np.float64)
        assert_all_finite(y, input_name="y")
        check_lengths(matrix, y)
        return np.ascontiguousarray(y), checked_weights(sample_weight, y, self._id)


class MergeableRegressor(Regressor):
    """Fitted from mergeable sufficient statistics: supports adding, removing and merging rows."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Adds rows to the fit. Any split of the rows into batches gives the model of all rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        first = not self.__sklearn_is_fitted__()
        matrix = self._rows(X, reset=first)
        target, weights = self._target(matrix, y, sample_weight)
        if first:
            fitted = self._fit_core(self._request(matrix, target, weights=weights, partial=True))
        else:
            params, limits = self._params(), self._limits()
            fitted = self._fitted.observe(params, matrix, target, [], weights, limits)
        return self._set_fitted(fitted, len(target))

    def merge(self, other: Self) -> Self:
        """Merges two fits into a new estimator, equal to a fit of the rows of both.

        Both must have the same parameters and columns.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        return with_fitted(self, self._fitted.merge(other._fitted))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Removes rows from the fit, as if they had never been added."""
        matrix = self._known_rows(X)
        target, weights = self._target(matrix, y, sample_weight)
        self._fitted = self._fitted.forget(matrix, target, [], weights)
        return self


class OnlineRegressor(Averaged, Regressor):
    """Fitted online, one row at a time; the result depends on the order of the rows."""

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Regression targets.
        coef_init : array of shape (n_features,), default=None
            Initial weights. ``None`` starts from zero.
        intercept_init : array of shape (1,), default=None
            Initial intercept.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        if coef_init is None and intercept_init is None:
            return super().fit(X, y, sample_weight)
        matrix = self._rows(X, reset=True)
        target, weights = self._target(matrix, y, sample_weight)
        start = self._initial(matrix, [], coef_init, intercept_init)
        fitted = self._fit_core(self._request(matrix, target, weights=weights, start=start))
        return self._set_fitted(fitted, len(target))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Continues the fit with one epoch over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        first = not self.__sklearn_is_fitted__()
        refuse_early_stopping(self)
        matrix = self._rows(X, reset=first)
        target, weights = self._target(matrix, y, sample_weight)
        start = None if first else self._fitted
        request = self._request(matrix, target, weights=weights, start=start, partial=True)
        fitted = self._fit_core(request)
        return self._set_fitted(fitted, len(target))


class LinearModel(SparseCoefficients, Regressor):
    """The prediction is an intercept plus a weighted sum of the columns."""

    def explain(self, x: Any) -> TermExplanation:
        """Explains the prediction for one row by the term of every column.

        Parameters
        ----------
        x : array of shape (n_features,), or a matrix or table of one row
            The row.
        """
        self._check_single_target("explain")
        return TermExplanation(self._fitted.explain_terms(self._one_row(x)))

    def summary(self, level: float = 0.95) -> Summary:
        """The coefficients with standard errors, t-tests and confidence intervals, and the R-squared
        and F-test of the regression; ``print`` shows a table.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.
        """
        self._check_single_target("summary")
        return Summary(*self._fitted.summary(level))

    def _check_single_target(self, method: str) -> None:
        check_is_fitted(self)
        if self._fitted.n_targets > 1:
            raise ValueError(
                f"{method} supports one target, but the model was fitted to "
                f"{self._fitted.n_targets}; fit it to one of them"
            )
