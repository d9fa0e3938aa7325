"""Counts as matrices, and what they weigh."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.preprocessing import normalize

from ... import _mercer


def matrix_of(parts: tuple, n_columns: int, dtype: Any) -> Any:
    """Compressed rows as scikit-learn hands them out."""
    starts, columns, values = parts
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)
    else:
        columns = columns.astype(np.int64)
    kind = sp.csr_array if hands_out_arrays() else sp.csr_matrix
    shape = (len(starts) - 1, n_columns)
    matrix = kind((values.astype(dtype, copy=False), columns, starts), shape=shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def weigh(matrix: Any, idf: np.ndarray | None, norm: str | None) -> Any:
    """Weights and norms in place."""
    if matrix.data.dtype == np.float64 and matrix.indices.dtype == np.int32:
        idf = None if idf is None else np.ascontiguousarray(idf, dtype=np.float64)
        starts = matrix.indptr.astype(np.int64)
        _mercer.weigh_rows(starts, matrix.indices, matrix.data, idf, norm)
        return matrix
    if idf is not None:
        matrix.data *= idf[matrix.indices]
    return matrix if norm is None else normalize(matrix, norm=norm, copy=False)


def hands_out_arrays() -> bool:
    """Whether sparse arrays are wanted rather than matrices."""
    return sklearn.get_config().get("sparse_interface") == "sparray"
