"""The linear one-class support vector machine with incremental fits and initial weights."""

from typing import Any, Self

import numpy as np

from . import _mercer
from .base.averaged import Averaged
from .base.inputs import checked_weights, n_rows
from .linear_model import SGDOneClassSVM as CoreSGDOneClassSVM

__all__ = ["SGDOneClassSVM"]


class SGDOneClassSVM(Averaged, CoreSGDOneClassSVM):
    __doc__ = CoreSGDOneClassSVM.__doc__
    __module__ = "mercer.linear_model"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        offset_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored; the parameter exists for pipelines.
        coef_init : array of shape (n_features,), default=None
            Initial weights. ``None`` starts from zero.
        offset_init : array of shape (1,), default=None
            Initial offset.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        matrix = self._rows(X, reset=True)
        start = self._start()
        if coef_init is not None or offset_init is not None:
            start = self._initial_offset(coef_init, offset_init)
        return self._run(matrix, sample_weight, start, partial=False)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Continues the fit with one epoch over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored; the parameter exists for pipelines.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        first = not self.__sklearn_is_fitted__()
        matrix = self._rows(X, reset=first)
        return self._run(matrix, sample_weight, None if first else self._fitted, partial=True)

    def _run(
        self, matrix: Any, sample_weight: Any, start: _mercer.Fitted | None, *, partial: bool
    ) -> Self:
        weights = checked_weights(sample_weight, np.empty(n_rows(matrix)), self._id)
        request = self._request(matrix, None, weights=weights, start=start, partial=partial)
        return self._set_fitted(self._fit_core(request), n_rows(matrix))

    def _initial_offset(self, coef_init: Any, offset_init: Any) -> _mercer.Fitted:
        width = self.n_features_in_
        coef = np.zeros(width) if coef_init is None else np.asarray(coef_init, dtype=np.float64)
        if coef.size != width:
            raise ValueError("Provided coef_init does not match dataset.")
        offset = np.zeros(1) if offset_init is None else np.asarray(offset_init, dtype=np.float64)
        if offset.size != 1:
            raise ValueError("Provided offset_init does not match dataset.")
        fields = {
            "coefficients": np.ascontiguousarray(coef.ravel()),
            "offset": np.ascontiguousarray(offset.ravel()),
            "n_iter": 0,
            "t": 1,
            "last": None,
        }
        return _mercer.from_fields(self._id, self._params(), fields, [], self._names(), width)

    @property
    def _average_intercept(self) -> np.ndarray:
        if not self.average:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute '_average_intercept'"
            )
        return 1 - self.offset_

    @property
    def _standard_intercept(self) -> np.ndarray:
        if not self.average:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute '_standard_intercept'"
            )
        return 1 - np.asarray(self._fitted.field("last")["last_offset"])
