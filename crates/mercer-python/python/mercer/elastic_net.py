"""The lasso and the elastic net with scikit-learn's arguments of ``fit``."""

import warnings
from typing import Any, Self

import numpy as np

from .linear_model import ElasticNet as CoreElasticNet
from .linear_model import Lasso as CoreLasso

__all__ = ["ElasticNet", "Lasso"]


class _CheckedInput:
    """Checks a given Gram matrix, and warns of a penalty of zero."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Regression targets.
        sample_weight : float or array of shape (n_samples,), default=None
            Sample weights.
        check_input : bool, default=True
            Without effect: the rows are always checked.
        """
        if getattr(self, "alpha", 1.0) == 0:
            warnings.warn(
                "With alpha=0, this algorithm does not converge well. You are advised to use the "
                "LinearRegression estimator",
                stacklevel=2,
            )
        self._check_gram(X)
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    def _check_gram(self, X: Any) -> None:
        gram = getattr(self, "precompute", False)
        if isinstance(gram, (bool, np.bool_, str)):
            return
        shape = getattr(X, "shape", None) or np.asarray(X).shape
        n_features = shape[1] if len(shape) == 2 else None
        if np.shape(gram) != (n_features, n_features):
            raise ValueError(
                f"The shape of the Gram matrix is {np.shape(gram)}, expected "
                f"{(n_features, n_features)}: one row and one column per feature"
            )


class Lasso(_CheckedInput, CoreLasso):
    __doc__ = CoreLasso.__doc__
    __module__ = "mercer.linear_model"


class ElasticNet(_CheckedInput, CoreElasticNet):
    __doc__ = CoreElasticNet.__doc__
    __module__ = "mercer.linear_model"
