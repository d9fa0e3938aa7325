"""Weights of linear models as sparse matrices."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .estimator import Estimator


class SparseCoefficients(Estimator):
    """A linear model whose weights can be stored as a sparse matrix."""

    coef_: Any

    def _has_weights(self) -> bool:
        return self._fitted_attributes.get("coef_") == ("coefficients", None)

    @available_if(lambda self: self._has_weights())
    def sparsify(self) -> Self:
        """Converts ``coef_`` to a sparse matrix."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(np.atleast_2d(self.coef_))
        return self

    @available_if(lambda self: self._has_weights())
    def densify(self) -> Self:
        """Converts ``coef_`` back to an array."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self
