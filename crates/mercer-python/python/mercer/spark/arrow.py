"""Record batches of Arrow as the rows of a fit: tables or matrices, with labels and sample weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# The codes of the core for a missing category and for one that is not among the levels.
MISSING = 2**32 - 1
UNSEEN = 2**32 - 2

Matrix = Any  # A dense matrix, or the data, indices, offsets and width of a CSR matrix.


@dataclass(frozen=True)
class Field:
    """A column of a table: its name, its kind, and the levels of a categorical column."""

    name: str
    kind: str
    levels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Input:
    """Where features, label and weight are found in a data frame."""

    features: str | None
    label: str
    weight: str | None
    fields: tuple[Field, ...] = ()
    """The columns of a table; empty for a column of vectors or arrays."""
    width: int = 0
    """The length of the vectors."""
    sparse: bool = False
    labels: tuple[Any, ...] | None = None
    """The classes in order; ``None`` for regression."""
    label_is_text: bool = False

    @property
    def feature_columns(self) -> list[str]:
        """The columns that predictions need."""
        return [self.features] if self.features else [f.name for f in self.fields]

    @property
    def columns(self) -> list[str]:
        """The columns that a fit needs."""
        names = [*self.feature_columns, self.label]
        return names + ([self.weight] if self.weight else [])


def regroup(batches: Iterator[pa.RecordBatch], n_rows: int) -> Iterator[pa.Table]:
    """Tables of exactly ``n_rows`` rows, but for the last one, however the batches are cut."""
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= n_rows:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, n_rows)
            rest = table.slice(n_rows)
            waiting, n_waiting = rest.to_batches(), rest.num_rows
    if n_waiting:
        yield pa.Table.from_batches(waiting)


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column


def numbers(column: pa.Array, name: str) -> np.ndarray:
    """A column as float64, with NaN for missing values."""
    try:
        values = pc.cast(column, pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeError(
            f"column {name!r} has the type {column.type}, and numbers are expected"
        ) from error
    return np.ascontiguousarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def weights(table: pa.Table, columns: Input) -> np.ndarray | None:
    """The sample weights, or ``None``."""
    if columns.weight is None:
        return None
    values = numbers(whole(table.column(columns.weight)), columns.weight)
    if not bool(np.all(np.isfinite(values) & (values >= 0))):
        raise ValueError(
            f"weightCol {columns.weight!r}: weights are finite and at least 0, and none is missing"
        )
    return values


def label_values(column: pa.Array) -> pa.Array:
    """Labels in a form that can be compared: strings, or float64 for numbers and booleans."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.cast(column, pa.string())
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.int8())
    values = pc.cast(column, pa.float64(), safe=False)
    return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)


def target(table: pa.Table, columns: Input) -> np.ndarray:
    """The class codes, or the regression targets."""
    column = whole(table.column(columns.label))
    if columns.labels is None:
        values = numbers(column, columns.label)
        if not bool(np.all(np.isfinite(values))):
            raise ValueError(
                f"labelCol {columns.label!r} has missing or infinite values; remove these rows"
            )
        return values
    values = label_values(column)
    known = pa.array(columns.labels, pa.string() if columns.label_is_text else pa.float64())
    codes = pc.index_in(values, value_set=known)
    if codes.null_count:
        raise ValueError(
            f"labelCol {columns.label!r} has values that were missing or absent in an earlier pass"
            " over the rows; cache a data frame that is not deterministic"
        )
    return codes.to_numpy(zero_copy_only=False).astype(np.uint32)


def table_rows(table: pa.Table, columns: Input) -> list[tuple[str, str, Any]]:
    """The columns of a table as the core reads them: name, kind and values."""
    rows: list[tuple[str, str, Any]] = []
    for column in columns.fields:
        values = whole(table.column(column.name))
        if column.kind in ("numeric", "boolean"):
            if pa.types.is_boolean(values.type):
                values = pc.cast(values, pa.int8())
            rows.append((column.name, column.kind, numbers(values, column.name)))
        elif column.kind == "categorical":
            codes = category_codes(values, column.levels or ())
            rows.append((column.name, "codes", codes))
        else:
            rows.append((column.name, "text", strings(values).to_pylist()))
    return rows


def strings(values: pa.Array) -> pa.Array:
    """Categories as strings; whole numbers without a decimal point, as in text files."""
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "true", "false")
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        if are_whole(pc.drop_null(values).to_numpy(zero_copy_only=False)):
            values = pc.cast(values, pa.int64())
    return pc.cast(values, pa.string())


def category_codes(values: pa.Array, levels: tuple[str, ...]) -> np.ndarray:
    """Codes into sorted levels."""
    values = strings(values)
    codes = pc.index_in(values, value_set=pa.array(levels, pa.string()))
    codes = pc.fill_null(pc.cast(codes, pa.int64()), UNSEEN)
    codes = pc.if_else(pc.is_null(values), pa.scalar(MISSING, pa.int64()), codes)
    return codes.to_numpy(zero_copy_only=False).astype(np.uint32)


def is_vector(kind: pa.DataType) -> bool:
    """Whether a type is that of MLlib's vectors."""
    return pa.types.is_struct(kind) and [f.name for f in kind] == [
        "type",
        "size",
        "indices",
        "values",
    ]


@dataclass
class Vectors:
    """The vectors of a column, as they are stored: dense or sparse, row by row."""

    dense: np.ndarray
    """Whether each vector is dense."""
    sizes: np.ndarray
    lengths: np.ndarray
    """The number of stored values of each."""
    values: np.ndarray
    indices: np.ndarray
    """The indices of the sparse vectors."""


def read_vectors(column: pa.Array, name: str) -> Vectors:
    """Reads vectors of MLlib, or arrays of numbers."""
    if column.null_count:
        raise ValueError(
            f"featuresCol {name!r} has missing vectors; drop these rows, or name the columns by"
            " inputCols, which may have missing values"
        )
    if is_vector(column.type):
        kinds, sizes, indices, values = (column.field(k) for k in range(4))
        if column.offset:
            kinds, sizes, indices, values = column.flatten()
        dense = kinds.to_numpy(zero_copy_only=False) == 1
        lengths = pc.list_value_length(values).to_numpy(zero_copy_only=False).astype(np.int64)
        cells = values.flatten().to_numpy(zero_copy_only=False)
        full = pc.fill_null(sizes, 0).to_numpy(zero_copy_only=False)
        index = pc.drop_null(indices).flatten() if not dense.all() else pa.array([], pa.int32())
        return Vectors(
            dense=dense,
            sizes=np.where(dense, lengths, full).astype(np.int64),
            lengths=lengths,
            values=np.asarray(cells, dtype=np.float64),
            indices=index.to_numpy(zero_copy_only=False).astype(np.int32),
        )
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False).astype(np.int64)
        cells = numbers(column.flatten(), name)
        dense = np.ones(len(lengths), dtype=bool)
        return Vectors(dense, lengths, lengths, cells, np.empty(0, np.int32))
    raise TypeError(
        f"featuresCol {name!r} has the type {column.type}; it holds vectors or arrays of numbers."
        " Name columns of other types by inputCols"
    )


def matrix_rows(table: pa.Table, columns: Input) -> Matrix:
    """The feature matrix of a column of vectors or arrays."""
    name = columns.features or ""
    vectors = read_vectors(whole(table.column(name)), name)
    wrong = vectors.sizes != columns.width
    if wrong.any():
        found = int(vectors.sizes[wrong][0])
        raise ValueError(
            f"featuresCol {name!r}: found a vector of length {found}, and {columns.width} is expected"
        )
    n = len(vectors.sizes)
    if vectors.dense.all() and not columns.sparse:
        return np.ascontiguousarray(vectors.values.reshape(n, columns.width))
    offsets = np.concatenate([[0], np.cumsum(vectors.lengths)])
    if vectors.dense.any():
        indices = np.empty(len(vectors.values), np.int32)
        is_dense = np.repeat(vectors.dense, vectors.lengths)
        n_dense = int(vectors.dense.sum())
        indices[is_dense] = np.tile(np.arange(columns.width, dtype=np.int32), n_dense)
        indices[~is_dense] = vectors.indices
    else:
        indices = vectors.indices
    if columns.sparse:
        return vectors.values, indices, offsets.astype(np.int64), columns.width
    matrix = np.zeros((n, columns.width))
    matrix[np.repeat(np.arange(n), vectors.lengths), indices] = vectors.values
    return matrix


def rows(table: pa.Table, columns: Input) -> Any:
    """The rows as the core reads them."""
    return matrix_rows(table, columns) if columns.features else table_rows(table, columns)


def n_stored(matrix: Matrix) -> int:
    """The number of stored values of a matrix."""
    return len(matrix[0]) if isinstance(matrix, tuple) else matrix.size


def are_whole(values: np.ndarray) -> bool:
    """Whether all values are whole numbers, whose sums are exact."""
    return bool(np.all(values == np.rint(values)))


def vector_column(values: np.ndarray) -> pa.Array:
    """The rows of a matrix as dense vectors of MLlib."""
    n, width = values.shape
    offsets = pa.array(np.arange(0, n * width + 1, width, dtype=np.int32)) if width else None
    cells = pa.array(np.ascontiguousarray(values).ravel())
    lists = (
        pa.ListArray.from_arrays(offsets, cells)
        if offsets is not None
        else pa.array([[]] * n, pa.list_(pa.float64()))
    )
    return pa.StructArray.from_arrays(
        [
            pa.array(np.ones(n, dtype=np.int8)),
            pa.nulls(n, pa.int32()),
            pa.nulls(n, pa.list_(pa.int32())),
            lists,
        ],
        names=["type", "size", "indices", "values"],
    )
