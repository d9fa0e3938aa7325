"""What users hand in as rows, made into what the core reads without a copy.

Numpy arrays of doubles or floats go through as they are, whatever their strides. Everything else is
converted once: sparse matrices to compressed rows, tables to one array with a name a column.
"""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Compressed", "matrix", "table"]

#: Numbers, columns, row offsets and width of a sparse matrix.
Compressed = tuple[np.ndarray, np.ndarray, np.ndarray, int]


def table(x: Any) -> tuple[np.ndarray, list[str]] | None:
    """The numbers and names of a polars or pyarrow table; ``None`` for anything else.

    Pandas is not among them, as scikit-learn takes it in itself.
    """
    # A table of a library that was never imported cannot be here.
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(x, polars.LazyFrame):
        x = x.collect()
    if polars is not None and isinstance(x, polars.DataFrame):
        return _columns(x.columns, lambda name: _polars_column(x[name]))
    if pyarrow is not None and isinstance(x, pyarrow.RecordBatch | pyarrow.Table):
        names = x.schema.names
        return _columns(names, lambda name: _arrow_column(x.column(names.index(name))))
    return None


def _columns(names: list[str], column: Any) -> tuple[np.ndarray, list[str]]:
    if not names:
        raise ValueError("the table has 0 feature(s), at least 1 is required")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} appears twice")
    numbers = []
    for name in names:
        try:
            numbers.append(column(name))
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r}: {error}") from error
    # Column by column in memory, as the table has it.
    return np.array(numbers).T, list(names)


def _polars_column(column: Any) -> np.ndarray:
    if not (column.dtype.is_numeric() or str(column.dtype) in ("Boolean", "Null")):
        raise ValueError(f"{column.dtype} is not a number")
    return column.cast(sys.modules["polars"].Float64).to_numpy()


def _arrow_column(column: Any) -> np.ndarray:
    pyarrow = sys.modules["pyarrow"]
    kind = column.type
    types = pyarrow.types
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if not (numeric or types.is_boolean(kind) or types.is_null(kind)):
        raise ValueError(f"{kind} is not a number")
    # A gap in doubles becomes NaN on the way out; in whole numbers there is no such value.
    return column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)


def matrix(x: Any) -> np.ndarray | Compressed:
    """A checked array or sparse matrix in the form the core takes."""
    if sp.issparse(x):
        return _compressed(x)
    stepped = all(step % x.itemsize == 0 for step in x.strides)
    return x if x.flags.aligned and stepped else x.copy()


def _compressed(x: Any) -> Compressed:
    x = x.tocsr()
    if x.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"{x.shape[1]} columns are more than a sparse matrix may have (2^31 - 1)")
    n_stored = int(x.indptr[-1])
    return (
        np.ascontiguousarray(x.data[:n_stored], dtype=np.float64),
        np.ascontiguousarray(x.indices[:n_stored], dtype=np.int32),
        x.indptr,
        x.shape[1],
    )
