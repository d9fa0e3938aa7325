"""The check of a kernel: positive semi-definiteness and scale of its matrix on some rows."""

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _mercer
from .rows import matrix

__all__ = ["kernel_check"]


def kernel_check(
    X: ArrayLike,
    kernel: str = "rbf",
    *,
    gamma: float | str = "scale",
    coef0: float = 0.0,
    degree: int = 3,
) -> dict[str, Any]:
    """Checks Mercer's condition on the kernel matrix of some rows, as ``mercer kernel check`` does.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows; for ``kernel="precomputed"`` the kernel matrix.
    kernel : str
        A kernel, sums and products of kernels such as ``"rbf(gamma=0.1)+2*linear"``, or
        ``"precomputed"``.
    gamma, coef0, degree
        The parameters of the kernel, as in :class:`mercer.svm.SVC`.

    Returns
    -------
    dict
        ``positive`` (no eigenvalue is negative beyond rounding), ``smallest`` and ``largest``
        eigenvalue, ``witness`` (an eigenvector of a negative eigenvalue, or ``None``),
        ``effective_rank``, ``duplicates`` and ``indistinguishable`` (pairs of rows), ``median_gamma``
        (the median heuristic) and ``median_distance``, ``scale_ratio`` (of the standard deviations of
        the columns), ``range`` of the values off the diagonal, ``n_rows``, and ``function``.

    Examples
    --------
    >>> import mercer
    >>> mercer.kernel_check([[0.0], [1.0], [3.0]], "linear")["positive"]
    True
    >>> mercer.kernel_check([[0.0, 1.0], [1.0, 0.0]], "precomputed")["smallest"]
    -1.0
    """
    rows = matrix(X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64))
    return _mercer.kernel_check(rows, kernel, json.dumps(gamma), float(coef0), int(degree))
