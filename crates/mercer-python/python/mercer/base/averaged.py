"""The attributes of averaged stochastic gradient descent."""

from typing import Any

import numpy as np

from .. import _mercer
from .estimator import Estimator
from .inputs import n_rows


class Averaged(Estimator):
    """May average the weights of all updates."""

    average: Any

    def _initial(
        self, matrix: Any, labels: list[Any], coef_init: Any, intercept_init: Any
    ) -> _mercer.Fitted | None:
        """The model that a fit starts from: initial weights, or with ``warm_start`` the previous model."""
        if coef_init is None and intercept_init is None:
            return self._start()
        width = self.n_features_in_
        n_outputs = len(labels) if len(labels) > 2 else 1
        previous = self._start()
        coef = np.zeros((n_outputs, width)) if previous is None else np.atleast_2d(self.coef_)
        intercept = np.zeros(n_outputs) if previous is None else np.atleast_1d(self.intercept_)
        if coef_init is not None:
            coef = np.asarray(coef_init, dtype=np.float64)
            if coef.size != n_outputs * width or (
                n_outputs > 1 and coef.shape != (n_outputs, width)
            ):
                raise ValueError("Provided coef_init does not match dataset.")
        if intercept_init is not None:
            intercept = np.asarray(intercept_init, dtype=np.float64)
            if intercept.size != n_outputs:
                raise ValueError("Provided intercept_init does not match dataset.")
        fields = {
            "intercepts": np.ascontiguousarray(intercept.ravel(), dtype=np.float64),
            "n_iter": 0,
            "t": 1,
            "last": None,
        }
        if labels:
            fields |= {
                "coefficients": np.ascontiguousarray(
                    coef.reshape(n_outputs, width), dtype=np.float64
                ),
                "probability_link": "none",
            }
        else:
            fields |= {
                "coefficients": np.ascontiguousarray(coef.ravel(), dtype=np.float64),
                "means": np.zeros(width),
                "weight": float(n_rows(matrix)),
            }
        return _mercer.from_fields(self._id, self._params(), fields, labels, self._names(), width)

    @property
    def _average_coef(self) -> np.ndarray:
        """scikit-learn's name for the averaged weights, which only averaging estimators have."""
        if not self.average:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute '_average_coef'")
        return self.coef_

    @property
    def _average_intercept(self) -> np.ndarray:
        if not self.average:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute '_average_intercept'"
            )
        return self.intercept_

    @property
    def _standard_coef(self) -> np.ndarray:
        """The weights of the last update, before averaging."""
        if not self.average:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute '_standard_coef'"
            )
        return np.asarray(self._fitted.field("last")["last_coefficients"])

    @property
    def _standard_intercept(self) -> np.ndarray:
        if not self.average:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute '_standard_intercept'"
            )
        return np.asarray(self._fitted.field("last")["last_intercepts"])
