"""Conversion of rows, sample weights and parameters for the extension module."""

import math
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from .. import _mercer, rows


def category_codes(X: np.ndarray, owner: str) -> np.ndarray:
    """Category codes; fractions are truncated as in scikit-learn, but with a warning."""
    if X.dtype == np.float64 and _mercer.are_category_codes(X):
        return X
    if (X < 0).any():
        raise ValueError(
            f"Negative values in data passed to {owner} (input X): category codes are integers of at "
            "least 0"
        )
    codes = np.trunc(X)
    truncated = (codes != X) & ~np.isnan(X) & np.isfinite(X)
    if truncated.any():
        warnings.warn(
            f"category codes are integers; {X[truncated][0]} was truncated to "
            f"{codes[truncated][0]:g}",
            UserWarning,
            stacklevel=4,
        )
    return np.where(np.isfinite(X), codes, X)


def n_rows(matrix: np.ndarray | rows.Csr) -> int:
    return len(matrix[2]) - 1 if isinstance(matrix, tuple) else len(matrix)


def check_lengths(matrix: np.ndarray | rows.Csr, y: np.ndarray) -> None:
    if len(y) != n_rows(matrix):
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows(matrix)}, y has {len(y)}"
        )


#: The estimators for which scikit-learn ignores rows of negative weight instead of refusing them.
MASKED_BY_WEIGHT = frozenset({"svc", "nu-svc", "svr", "nu-svr", "one-class-svm"})


def checked_weights(sample_weight: Any, y: np.ndarray, id: str = "") -> np.ndarray | None:
    """The sample weights of the estimator ``id`` as an array."""
    if sample_weight is None:
        return None
    given = np.asarray(sample_weight)
    if id in MASKED_BY_WEIGHT and given.ndim == 1 and not given.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    weights = _check_sample_weight(sample_weight, y, dtype=np.float64)
    if id in MASKED_BY_WEIGHT:
        weights = np.maximum(weights, 0.0)
    return np.ascontiguousarray(weights)


def random_seed(random_state: Any) -> int:
    """The seed of the core for any ``random_state`` of scikit-learn."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def n_threads(n_jobs: int | None) -> int | None:
    """The number of threads of a fit; ``None`` for that of ``mercer.set_threads``."""
    return None if n_jobs is None else effective_n_jobs(n_jobs)


def to_json(value: Any) -> Any:
    """A parameter value for JSON; what JSON cannot express becomes a string, which the core refuses with
    the name of the parameter."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [to_json(v) for v in value]
    if isinstance(value, dict):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if hasattr(value, "__array__"):
        return to_json(np.asarray(value))
    return repr(value)
