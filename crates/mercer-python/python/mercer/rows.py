"""Converts what users pass as X into what the extension module reads without a copy.

Numpy arrays of float64 or float32 are passed as they are, whatever their strides. Everything else is
converted once: sparse matrices to CSR, tables to one array with a name per column.
"""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _mercer

__all__ = [
    "Columns",
    "Csr",
    "Levels",
    "cells_of",
    "encoded_table",
    "kind_of",
    "like",
    "matrix",
    "named_columns",
    "numeric_table",
    "string_table",
    "text_table",
]

#: The data, column indices, row offsets and width of a CSR matrix.
Csr = tuple[np.ndarray, np.ndarray, np.ndarray, int]


def like(x: Any, csr: Csr) -> Any:
    """CSR arrays as a sparse matrix of the type, format and precision of ``x``."""
    data, indices, offsets, width = csr
    kind = sp.csr_array if isinstance(x, sp.sparray) else sp.csr_matrix
    if offsets[-1] <= np.iinfo(np.int32).max:
        # scipy takes the wider type for both arrays.
        offsets = offsets.astype(np.int32)
    out = kind((data, indices, offsets), shape=(len(offsets) - 1, width))
    return out.astype(np.float32 if x.dtype == np.float32 else np.float64).asformat(x.format)


#: The levels of each categorical column, ``None`` for numeric columns.
Levels = list[list[str] | None]


def encoded_table(x: Any, known: Levels | None) -> tuple[np.ndarray, list[str], Levels] | None:
    """The encoded values, names and levels of a table; ``None`` for anything else.

    Numeric columns stay as they are; a category becomes its index among the sorted levels of its column. A
    category that is not among the ``known`` levels becomes the number of levels. A missing value is NaN.
    """
    columns = _columns_by_name(x)
    if columns is None:
        return None
    names = [name for name, _ in columns]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} appears twice")
    if known is None:
        known = [None if _numeric(values) is not None else [] for _, values in columns]
        fresh = True
    else:
        fresh = False
    out = np.empty((len(columns[0][1]) if columns else 0, len(columns)), order="F")
    levels: Levels = []
    for j, (name, values) in enumerate(columns):
        names_of_levels = known[j] if j < len(known) else None
        if names_of_levels is None:
            numeric = _numeric(values)
            if numeric is None:
                raise ValueError(
                    f"column {name!r} has strings; the model was fitted to numeric values"
                )
            out[:, j] = numeric
            levels.append(None)
            continue
        indices, found = _factorized(values)
        if fresh:
            names_of_levels = sorted(set(found))
        code = {level: k for k, level in enumerate(names_of_levels)}
        codes = np.array([code.get(level, len(names_of_levels)) for level in found] + [np.nan])
        out[:, j] = codes[indices]
        levels.append(names_of_levels)
    return out, names, levels


#: The name, the kind and the values of each column of a table.
Columns = list[tuple[str, str, Any]]


def text_table(x: Any, known: dict[str, str] | None = None) -> Columns | None:
    """The columns of a table with at least one text column; ``None`` for anything else.

    ``known`` has the kinds of the columns that a model was fitted to, by name; the columns are then found by
    name, in any order.
    """
    columns = _columns_by_name(x)
    if columns is None:
        if known is not None:
            raise ValueError(
                "the model was fitted to text columns; pass a table with the columns "
                + ", ".join(known)
            )
        return None
    if known is not None:
        found = dict(columns)
        missing = [name for name in known if name not in found]
        if missing:
            raise ValueError(
                f"the table has no column {missing[0]!r}, which the model was fitted to"
            )
        return [(name, kind, _cells(name, found[name], kind)) for name, kind in known.items()]
    kinds = [_kind(values) for _, values in columns]
    if "text" not in kinds:
        return None
    return [
        (name, kind, _cells(name, values, kind))
        for (name, values), kind in zip(columns, kinds, strict=True)
    ]


def named_columns(x: Any) -> list[tuple[str, Any]] | None:
    """The names and values of the columns of a table; ``None`` for anything else."""
    columns = _columns_by_name(x)
    for name, _ in columns or []:
        if [other for other, _ in columns or []].count(name) > 1:
            raise ValueError(f"column {name!r} appears twice")
    return columns


def kind_of(values: Any) -> str:
    """The kind of a column: numeric, categorical or text."""
    return _kind(values)


def cells_of(name: str, values: Any, kind: str) -> Any:
    """The values of a column as a kind."""
    return _cells(name, values, kind)


def string_table(x: Any) -> Columns:
    """The columns of any table for a reader of strings: numbers as numbers, the rest as it is written.

    Columns of categories stay categories, and dates become strings in ISO 8601.
    """
    columns = _columns_by_name(x)
    if columns is None:
        array = np.asarray(x)
        if array.ndim != 2:
            raise ValueError(f"expected a table or a 2D array, found {array.ndim} dimension(s)")
        columns = [(f"x{j}", array[:, j]) for j in range(array.shape[1])]
    return [(name, *_strings(name, values)) for name, values in columns]


def _strings(name: str, values: Any) -> tuple[str, Any]:
    values = np.asarray(values)
    if values.dtype.kind == "M":
        missing = np.isnat(values)
        written = np.datetime_as_string(values, unit="s")
        return "text", [None if m else str(w) for w, m in zip(written, missing, strict=True)]
    if values.dtype.kind == "b":
        return "boolean", _cells(name, values, "boolean")
    if _numeric(values) is not None:
        return "numeric", _cells(name, values, "numeric")
    return "text", _cells(name, values, "text")


def _kind(values: Any) -> str:
    if _numeric(values) is not None:
        return "numeric"
    strings = [_string(value) for value in np.asarray(values).tolist() if not _is_missing(value)]
    n_tokens = sum(len(string.split()) for string in strings)
    length = sum(map(len, strings))
    text = _mercer.is_free_text(len(strings), len(set(strings)), n_tokens, length)
    return "text" if text else "categorical"


def _cells(name: str, values: Any, kind: str) -> Any:
    if kind == "numeric":
        numeric = _numeric(values)
        if numeric is None:
            raise ValueError(f"column {name!r} has strings; the model was fitted to numeric values")
        return np.ascontiguousarray(numeric)
    return [None if _is_missing(value) else _string(value) for value in np.asarray(values).tolist()]


def _columns_by_name(x: Any) -> list[tuple[str, Any]] | None:
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    pyarrow = sys.modules.get("pyarrow")
    if polars is not None and isinstance(x, polars.LazyFrame):
        x = x.collect()
    if pandas is not None and isinstance(x, pandas.DataFrame):
        return [(str(name), x.iloc[:, j].to_numpy()) for j, name in enumerate(x.columns)]
    if polars is not None and isinstance(x, polars.DataFrame):
        return [(name, x[name].to_numpy()) for name in x.columns]
    if pyarrow is not None and isinstance(x, pyarrow.RecordBatch | pyarrow.Table):
        arrays = [column.to_numpy(zero_copy_only=False) for column in x.columns]
        return list(zip(x.schema.names, arrays, strict=True))
    return None


def _numeric(values: Any) -> np.ndarray | None:
    """Values as float64; ``None`` if they are strings or booleans."""
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind != "O":
        return None
    for value in values:
        if value is not None and (isinstance(value, str | bool | bytes) or not np.isscalar(value)):
            pandas = sys.modules.get("pandas")
            if pandas is None or value is not pandas.NA:
                return None
    return np.array([np.nan if _is_missing(value) else float(value) for value in values])


def _is_missing(value: Any) -> bool:
    if value is None or value != value:
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and value is pandas.NA


def _factorized(values: Any) -> tuple[np.ndarray, list[str]]:
    """The index of each value among the levels found; -1 for missing values."""
    indices: dict[str, int] = {}
    values = np.asarray(values)
    if values.dtype.kind == "b":
        return values.astype(np.intp), ["false", "true"]
    missing = -1
    index = np.fromiter(
        (
            missing if _is_missing(value) else indices.setdefault(_string(value), len(indices))
            for value in values.tolist()
        ),
        dtype=np.intp,
        count=len(values),
    )
    return index, list(indices)


def _string(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def numeric_table(x: Any) -> tuple[np.ndarray, list[str]] | None:
    """The values and names of a polars or pyarrow table; ``None`` for anything else.

    Pandas tables are converted by scikit-learn.
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
    arrays = []
    for name in names:
        try:
            arrays.append(column(name))
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r}: {error}") from error
    # Column-major, like the table.
    return np.array(arrays).T, list(names)


def _polars_column(column: Any) -> np.ndarray:
    if not (column.dtype.is_numeric() or str(column.dtype) in ("Boolean", "Null")):
        raise ValueError(f"{column.dtype} is not numeric")
    return column.cast(sys.modules["polars"].Float64).to_numpy()


def _arrow_column(column: Any) -> np.ndarray:
    pyarrow = sys.modules["pyarrow"]
    kind = column.type
    types = pyarrow.types
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if not (numeric or types.is_boolean(kind) or types.is_null(kind)):
        raise ValueError(f"{kind} is not numeric")
    # Missing values become NaN in float64; integers have no such value.
    return column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)


def matrix(x: Any) -> np.ndarray | Csr:
    """A validated array or sparse matrix in the form that the extension module takes."""
    if sp.issparse(x):
        return _csr(x)
    whole_strides = all(stride % x.itemsize == 0 for stride in x.strides)
    return x if x.flags.aligned and whole_strides else x.copy()


def _csr(x: Any) -> Csr:
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
