"""The attributes of averaged stochastic gradient descent."""

from typing import Any

import numpy as np

from .estimator import Estimator


class Averaged(Estimator):
    """May average the weights of all updates."""

    average: Any

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
