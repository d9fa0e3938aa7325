"""Document-term matrices in the sparse format of scikit-learn, and their tf-idf weights."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.preprocessing import normalize

from ... import _mercer


def matrix_of(csr: tuple, n_columns: int, dtype: Any) -> Any:
    """CSR arrays as a sparse matrix with the index types that scikit-learn uses."""
    offsets, columns, values = csr
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    else:
        columns = columns.astype(np.int64)
    kind = sp.csr_array if returns_sparse_arrays() else sp.csr_matrix
    shape = (len(offsets) - 1, n_columns)
    matrix = kind((values.astype(dtype, copy=False), columns, offsets), shape=shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def apply_tfidf(matrix: Any, idf: np.ndarray | None, norm: str | None) -> Any:
    """Multiplies the columns by ``idf`` and normalizes the rows, in place."""
    if matrix.data.dtype == np.float64 and matrix.indices.dtype == np.int32:
        idf = None if idf is None else np.ascontiguousarray(idf, dtype=np.float64)
        offsets = matrix.indptr.astype(np.int64)
        _mercer.apply_tfidf(offsets, matrix.indices, matrix.data, idf, norm)
        return matrix
    if idf is not None:
        matrix.data *= idf[matrix.indices]
    return matrix if norm is None else normalize(matrix, norm=norm, copy=False)


def returns_sparse_arrays() -> bool:
    """Whether scikit-learn is configured to return sparse arrays instead of sparse matrices."""
    return sklearn.get_config().get("sparse_interface") == "sparray"
