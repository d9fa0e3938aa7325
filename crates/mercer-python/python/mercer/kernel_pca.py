"""Kernel principal component analysis with scikit-learn's treatment of zero and negative eigenvalues."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import _check_psd_eigenvalues, check_array, check_is_fitted

from .base import Honored
from .decomposition import KernelPCA as CoreKernelPCA

__all__ = ["KernelPCA"]


class KernelPCA(CoreKernelPCA):
    __doc__ = CoreKernelPCA.__doc__
    __module__ = "mercer.decomposition"
    _extra_parameters: ClassVar = CoreKernelPCA._extra_parameters | {"remove_zero_eig": Honored()}
    #: Centers a precomputed kernel matrix that is not symmetric; ``None`` for the others.
    _centerer: KernelCenterer | None = None
    #: Requested components with eigenvalue zero.
    _n_zero = 0

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        if not isinstance(self.remove_zero_eig, (bool, np.bool_)):
            raise ValueError(
                f"remove_zero_eig is {self.remove_zero_eig!r}; it must be True or False"
            )
        self._centerer, self._n_zero = None, 0
        if self.kernel == "precomputed":
            X = self._symmetric(X)
        super()._fit_rows(X, sample_weight)
        self._n_zero = self._missing_components(X)
        return self

    def _symmetric(self, X: Any) -> Any:
        """A kernel matrix that is not symmetric, centered and with its lower triangle in both halves."""
        if getattr(X, "ndim", 2) != 2 or hasattr(X, "tocsr"):
            return X
        K = np.asarray(X)
        if K.ndim != 2 or K.shape[0] != K.shape[1] or K.dtype.kind not in "fiu":
            return X
        if not np.isfinite(K).all() or np.allclose(K, K.T, rtol=1e-8, atol=0):
            return X
        self._centerer = KernelCenterer().fit(K.astype(np.float64))
        lower = np.tril(self._centerer.transform(K.astype(np.float64)))
        return lower + np.tril(lower, -1).T

    def _missing_components(self, X: Any) -> int:
        """The requested components with eigenvalue zero; significant negative eigenvalues are an error."""
        if self.n_components is None:
            return 0
        n_rows = len(self._fitted.field("support"))
        missing = min(self.n_components, n_rows) - len(self._fitted.field("eigenvalues"))
        if missing > 0 and self.kernel == "precomputed":
            K = KernelCenterer().fit_transform(check_array(X, dtype=np.float64, copy=True))
            values = np.linalg.eigvalsh(K)[::-1][: self.n_components]
            _check_psd_eigenvalues(values, enable_warnings=False)
        return 0 if self.remove_zero_eig else max(missing, 0)

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if self._n_zero and name == "eigenvalues_":
            return np.concatenate([value, np.zeros(self._n_zero)])
        if self._n_zero and name == "eigenvectors_":
            return np.column_stack([value, np.zeros((len(value), self._n_zero))])
        return value

    def transform(self, X: Any) -> Any:
        """The components of rows, in the precision of ``X``."""
        if self._centerer is not None:
            check_is_fitted(self)
            X = self._centerer.transform(check_array(X, dtype=np.float64, copy=True))
        transformed = super().transform(X)
        if not self._n_zero:
            return transformed
        zeros = np.zeros((len(transformed), self._n_zero), dtype=transformed.dtype)
        return np.hstack([transformed, zeros])

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Approximate pre-images of transformed rows, by the inverse map learned in ``fit``.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Transformed rows.
        """
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the "
                "inverse transform is not available."
            )
        if self._n_zero:
            X = check_array(X, dtype=[np.float64, np.float32])
            X = X[:, : X.shape[1] - self._n_zero]
        inverse = self._fitted.inverse_transform(np.ascontiguousarray(self._known_components(X)))
        return (
            inverse.astype(np.asarray(X).dtype, copy=False)
            if np.asarray(X).dtype.kind == "f"
            else inverse
        )

    def _known_components(self, X: Any) -> np.ndarray:
        X = check_array(X, dtype=np.float64)
        n_components = self._fitted.n_outputs
        if X.shape[1] != n_components:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the model has {n_components} components"
            )
        return X

    @property
    def _n_features_out(self) -> int:
        return self._fitted.n_outputs + self._n_zero
