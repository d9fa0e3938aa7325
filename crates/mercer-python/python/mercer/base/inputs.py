"""Rows, weights and parameters as the core reads them."""

import math
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from .. import _mercer, rows


def whole_codes(X: np.ndarray) -> np.ndarray:
    """Codes of categories. As scikit-learn does, fractions are cut off; unlike it, not in silence."""
    if X.dtype == np.float64 and _mercer.are_codes(X):
        return X
    if (X < 0).any():
        raise ValueError("Negative values in data: categories are whole numbers from 0")
    whole = np.trunc(X)
    cut = (whole != X) & ~np.isnan(X) & np.isfinite(X)
    if cut.any():
        warnings.warn(
            f"categories are whole numbers; {X[cut][0]} was read as {whole[cut][0]:g}",
            UserWarning,
            stacklevel=4,
        )
    return np.where(np.isfinite(X), whole, X)


def check_lengths(matrix: np.ndarray | rows.Compressed, y: np.ndarray) -> None:
    n_rows = len(matrix[2]) - 1 if isinstance(matrix, tuple) else len(matrix)
    if len(y) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows}, y has {len(y)}"
        )


def row_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, y, dtype=np.float64)
    return np.ascontiguousarray(weights)


def seed_of(random_state: Any) -> int:
    """A seed for the core of whatever scikit-learn takes for one."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: int | None) -> int | None:
    """How many threads a fit takes; ``None`` leaves it to the package."""
    return None if n_jobs is None else effective_n_jobs(n_jobs)


def plain(value: Any) -> Any:
    """A parameter as JSON has it; what JSON lacks becomes a word that the core refuses by name."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if hasattr(value, "__array__"):
        return plain(np.asarray(value))
    return repr(value)
