"""What users hand in as rows, made into what the core reads without a copy.

Numpy arrays of doubles or floats go through as they are, whatever their strides. Everything else is
converted once: sparse matrices to compressed rows, tables to one array with a name a column.
"""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Columns", "Compressed", "Levels", "coded", "like", "matrix", "table", "with_texts"]

#: Numbers, columns, row offsets and width of a sparse matrix.
Compressed = tuple[np.ndarray, np.ndarray, np.ndarray, int]


def like(x: Any, thin: Compressed) -> Any:
    """Compressed rows as a sparse matrix of the kind, layout and precision of another."""
    data, places, offsets, width = thin
    kind = sp.csr_array if isinstance(x, sp.sparray) else sp.csr_matrix
    out = kind((data, places, offsets), shape=(len(offsets) - 1, width))
    return out.astype(np.float32 if x.dtype == np.float32 else np.float64).asformat(x.format)


#: The words of each column that holds codes, ``None`` for columns of numbers.
Levels = list[list[str] | None]


def coded(x: Any, known: Levels | None) -> tuple[np.ndarray, list[str], Levels] | None:
    """The numbers, names and words of a table with words in it; ``None`` for anything else.

    Numbers stay numbers; a word becomes its place among the sorted words of its column, a word that
    is not among the ``known`` ones the place behind the last. A gap is NaN.
    """
    columns = _columns_by_name(x)
    if columns is None:
        return None
    names = [name for name, _ in columns]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} appears twice")
    if known is None:
        known = [None if _numbers(values) is not None else [] for _, values in columns]
        fresh = True
    else:
        fresh = False
    out = np.empty((len(columns[0][1]) if columns else 0, len(columns)), order="F")
    levels: Levels = []
    for j, (name, values) in enumerate(columns):
        words = known[j] if j < len(known) else None
        if words is None:
            numbers = _numbers(values)
            if numbers is None:
                raise ValueError(f"column {name!r} holds words; the model learned numbers from it")
            out[:, j] = numbers
            levels.append(None)
            continue
        places, found = _factorized(values)
        if fresh:
            words = sorted(set(found))
        place = {word: k for k, word in enumerate(words)}
        codes = np.array([place.get(word, len(words)) for word in found] + [np.nan])
        out[:, j] = codes[places]
        levels.append(words)
    return out, names, levels


#: The name, the kind and the values of each column of a table.
Columns = list[tuple[str, str, Any]]

#: A column of words is a text if there are more rows than this, most of them differ,
_TEXT_MIN_ROWS = 20
#: and they hold this many words each, or are longer than this.
_TEXT_WORDS = 3
_TEXT_LENGTH = 40


def with_texts(x: Any, known: dict[str, str] | None = None) -> Columns | None:
    """The columns of a table that has texts among them; ``None`` for anything else.

    ``known`` has the kinds of the columns that a model learned from, by name; they are then found
    by name, in any order.
    """
    columns = _columns_by_name(x)
    if columns is None:
        if known is not None:
            raise ValueError(f"the model learned from texts; pass a table with {', '.join(known)}")
        return None
    if known is not None:
        found = dict(columns)
        missing = [name for name in known if name not in found]
        if missing:
            raise ValueError(f"the table has no column {missing[0]!r}; the model learned from it")
        return [(name, kind, _cells(name, found[name], kind)) for name, kind in known.items()]
    kinds = [_kind(values) for _, values in columns]
    if "text" not in kinds:
        return None
    return [
        (name, kind, _cells(name, values, kind))
        for (name, values), kind in zip(columns, kinds, strict=True)
    ]


def _kind(values: Any) -> str:
    if _numbers(values) is not None:
        return "numeric"
    words = [_word(value) for value in np.asarray(values).tolist() if not _is_gap(value)]
    if len(words) <= _TEXT_MIN_ROWS or 2 * len(set(words)) <= len(words):
        return "categorical"
    n_words = sum(len(word.split()) for word in words)
    length = sum(map(len, words))
    long = n_words >= _TEXT_WORDS * len(words) or length > _TEXT_LENGTH * len(words)
    return "text" if long else "categorical"


def _cells(name: str, values: Any, kind: str) -> Any:
    if kind == "numeric":
        numbers = _numbers(values)
        if numbers is None:
            raise ValueError(f"column {name!r} holds words; the model learned numbers from it")
        return np.ascontiguousarray(numbers)
    return [None if _is_gap(value) else _word(value) for value in np.asarray(values).tolist()]


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


def _numbers(values: Any) -> np.ndarray | None:
    """Values as doubles; ``None`` where they are words or truth values."""
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind != "O":
        return None
    for value in values:
        if value is not None and (isinstance(value, str | bool | bytes) or not np.isscalar(value)):
            missing = sys.modules.get("pandas")
            if missing is None or value is not missing.NA:
                return None
    return np.array([np.nan if _is_gap(value) else float(value) for value in values])


def _is_gap(value: Any) -> bool:
    if value is None or value != value:
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and value is pandas.NA


def _factorized(values: Any) -> tuple[np.ndarray, list[str]]:
    """The place of each value among the words found; gaps have the last place."""
    places: dict[str, int] = {}
    values = np.asarray(values)
    if values.dtype.kind == "b":
        return values.astype(np.intp), ["false", "true"]
    gap = -1
    index = np.fromiter(
        (
            gap if _is_gap(value) else places.setdefault(_word(value), len(places))
            for value in values.tolist()
        ),
        dtype=np.intp,
        count=len(values),
    )
    return index, list(places)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
