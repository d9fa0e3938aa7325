"""Class labels: from a column of them to codes, and back in the type they came in."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

__all__ = ["array", "encode", "natives", "recode"]

#: Whole numbers spread over no more than this are coded by counting, without sorting.
_COUNTABLE = 1 << 20
_BLOCK = 1 << 16


def encode(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The code of every label, and the distinct labels in order."""
    y = column_or_1d(_column(y), warn=True)
    if len(y) == 0:
        return np.empty(0, np.uint32), y
    if y.dtype.kind in "biu":
        found = _by_counting(y)
        if found is not None:
            return found
    if y.dtype.kind in "OUST":
        return _by_hashing(y)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.uint32), classes


def _column(y: Any) -> Any:
    """A polars, pyarrow or nullable pandas column as an array of its own type."""
    if not hasattr(y, "to_numpy"):
        return y
    if hasattr(y, "iloc"):
        plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
        return y if plain is None or y.isna().any() else y.to_numpy(dtype=plain)
    try:
        return y.to_numpy(zero_copy_only=False)
    except TypeError:
        return y.to_numpy()


def _by_counting(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    low, high = int(y.min()), int(y.max())
    if high - low >= _COUNTABLE or high > np.iinfo(np.int64).max:
        return None
    # Block by block, so that what is between stays in cache and Ctrl-C is heard.
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(y), _BLOCK)]
    seen = np.zeros(high - low + 1, bool)
    for block in blocks:
        seen[y[block].astype(np.int64) - low] = True
    present = np.flatnonzero(seen)
    code_of = np.zeros(len(seen), np.uint32)
    code_of[present] = np.arange(len(present), dtype=np.uint32)
    codes = np.empty(len(y), np.uint32)
    for block in blocks:
        codes[block] = code_of[y[block].astype(np.int64) - low]
    return codes, (present + low).astype(y.dtype)


def _by_hashing(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = y.tolist()
    distinct = list(dict.fromkeys(values))
    if any(v is None or v != v for v in distinct):
        raise ValueError("y has missing values, which are of no class")
    try:
        distinct.sort()
    except TypeError:
        kinds = sorted({type(v).__name__ for v in distinct})
        raise TypeError(f"y mixes labels of types {', '.join(kinds)}; use one") from None
    code_of = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(code_of.__getitem__, values), np.uint32, len(values))
    return codes, np.array(distinct, dtype=y.dtype)


def natives(classes: np.ndarray) -> list:
    """Labels as Python's own values, which the core knows."""
    return [_native(value) for value in classes.tolist()]


def _native(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode()
    # There is one zero among labels.
    return 0.0 if isinstance(value, float) and value == 0 else value


def recode(codes: np.ndarray, seen: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Codes into ``seen`` as codes into ``classes``."""
    if len(seen) == len(classes) and seen.dtype == classes.dtype and (seen == classes).all():
        return codes
    place_of = {label: place for place, label in enumerate(natives(classes))}
    unknown = [label for label in natives(seen) if label not in place_of]
    if unknown:
        raise ValueError(
            f"The target label(s) {unknown} in y do not exist in the initial classes "
            f"{natives(classes)}"
        )
    places = np.array([place_of[label] for label in natives(seen)], np.uint32)
    return places[codes]


def array(labels: list) -> np.ndarray:
    """Labels of a model file as an array of the narrowest type that holds them all."""
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return np.array(labels, dtype=object)
    return np.array(labels)
