"""Class labels: encoding as integer codes, and decoding to the original type."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

__all__ = ["encode", "recode", "to_array", "to_python", "unboxed"]

#: Integer labels in a range of at most this size are encoded by a lookup table, without sorting.
_MAX_LOOKUP_RANGE = 1 << 20
_ROWS_PER_BLOCK = 1 << 16


def encode(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The code of each label, and the distinct labels in ascending order."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu"
    if not plain:
        y = column_or_1d(unboxed(y), warn=True)
    if len(y) == 0:
        return np.empty(0, np.uint32), y
    if y.dtype.kind in "biu":
        encoded = _encode_integers(y)
        if encoded is not None:
            return encoded
    if y.dtype.kind in "OUST":
        return _encode_objects(y)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.uint32), classes


def unboxed(y: Any) -> Any:
    """A polars, pyarrow or nullable pandas column as an array of its own type; others unchanged."""
    if not hasattr(y, "to_numpy"):
        return y
    if hasattr(y, "iloc"):
        dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
        return y if dtype is None or y.isna().any() else y.to_numpy(dtype=dtype)
    try:
        return y.to_numpy(zero_copy_only=False)
    except TypeError:
        return y.to_numpy()


def _encode_integers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    low, high = int(y.min()), int(y.max())
    if high - low >= _MAX_LOOKUP_RANGE or high > np.iinfo(np.int64).max:
        return None
    # In blocks, so that temporary arrays stay in cache and Ctrl-C is handled between them.
    blocks = [slice(first, first + _ROWS_PER_BLOCK) for first in range(0, len(y), _ROWS_PER_BLOCK)]
    observed = np.zeros(high - low + 1, bool)
    for block in blocks:
        observed[y[block].astype(np.int64) - low] = True
    present = np.flatnonzero(observed)
    code_of = np.zeros(len(observed), np.uint32)
    code_of[present] = np.arange(len(present), dtype=np.uint32)
    codes = np.empty(len(y), np.uint32)
    for block in blocks:
        codes[block] = code_of[y[block].astype(np.int64) - low]
    return codes, (present + low).astype(y.dtype)


def _encode_objects(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = y.tolist()
    distinct = list(dict.fromkeys(values))
    if any(v is None or v != v for v in distinct):
        raise ValueError("y has missing values; remove these rows, or use mercer.semi_supervised")
    try:
        distinct.sort()
    except TypeError:
        types = sorted({type(v).__name__ for v in distinct})
        raise TypeError(f"y has labels of several types ({', '.join(types)}); use one") from None
    code_of = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(code_of.__getitem__, values), np.uint32, len(values))
    return codes, np.array(distinct, dtype=y.dtype)


def to_python(classes: np.ndarray) -> list:
    """Labels as bool, int, float and str, the types of the core."""
    return [_to_python(value) for value in classes.tolist()]


def _to_python(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode()
    # -0.0 and 0.0 are the same label.
    return 0.0 if isinstance(value, float) and value == 0 else value


def recode(codes: np.ndarray, observed: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Codes of ``observed`` as codes of ``classes``."""
    same = len(observed) == len(classes) and observed.dtype == classes.dtype
    if same and (observed == classes).all():
        return codes
    code_of = {label: code for code, label in enumerate(to_python(classes))}
    unknown = [label for label in to_python(observed) if label not in code_of]
    if unknown:
        raise ValueError(
            f"The target label(s) {unknown} in y do not exist in the initial classes "
            f"{to_python(classes)}"
        )
    new_codes = np.array([code_of[label] for label in to_python(observed)], np.uint32)
    return new_codes[codes]


def to_array(labels: list) -> np.ndarray:
    """Labels of a model file as an array, of type object if their types differ."""
    types = {type(label) for label in labels}
    if len(types) > 1 and not types <= {int, float}:
        return np.array(labels, dtype=object)
    return np.array(labels)
