"""The lasso and the elastic net with scikit-learn's arguments of ``fit``."""

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

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
        self._check_gram(X, weighted=sample_weight is not None)
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    def _check_gram(self, X: Any, *, weighted: bool) -> None:
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
        if not weighted:
            self._check_gram_values(X, np.asarray(gram))

    def _check_gram_values(self, X: Any, gram: np.ndarray) -> None:
        """Compares one entry of a given Gram matrix with the rows, which may be centered."""
        if sp.issparse(X) or n_rows_of(X) == 0:
            return
        X = np.asarray(X, dtype=np.float64)
        if not np.isfinite(X).all():
            return
        first, last = X[:, 0], X[:, -1]
        if getattr(self, "fit_intercept", True):
            centered = (first - first.mean()) @ (last - last.mean())
            if np.isclose(gram[0, -1], centered, rtol=1e-4, atol=1e-8 * np.abs(gram).max()):
                return
            if np.isclose(gram[0, -1], first @ last, rtol=1e-4):
                warnings.warn(
                    "Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix.",
                    UserWarning,
                    stacklevel=4,
                )
                return
            expected = centered
        else:
            expected = first @ last
        if not np.isclose(gram[0, -1], expected, rtol=1e-4, atol=1e-8 * np.abs(gram).max()):
            raise ValueError(
                "Gram matrix passed in via 'precompute' parameter did not pass validation when a single element "
                f"was checked - please check that it was computed properly. For element (0, {len(gram) - 1}) we "
                f"computed {expected} but the user-supplied value was {gram[0, -1]}."
            )


def n_rows_of(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


class Lasso(_CheckedInput, CoreLasso):
    __doc__ = CoreLasso.__doc__
    __module__ = "mercer.linear_model"


class ElasticNet(_CheckedInput, CoreElasticNet):
    __doc__ = CoreElasticNet.__doc__
    __module__ = "mercer.linear_model"
