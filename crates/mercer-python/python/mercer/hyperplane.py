"""A given hyperplane ``w.x + b = 0``: distances, margin, canonical form, comparison of two."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _mercer
from .rows import matrix

__all__ = ["Hyperplane"]


class Hyperplane:
    """A hyperplane ``w.x + b = 0``.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        ``w``, not zero.
    intercept : float
        ``b``.

    Examples
    --------
    >>> from mercer.svm import Hyperplane
    >>> line = Hyperplane([3, 4], -5)
    >>> float(line.signed_distance([[3, 4]])[0])
    4.0
    >>> line.canonical([[3, 4], [0, 0]])
    Hyperplane([0.6, 0.8], -1.0)
    """

    def __init__(self, weights: ArrayLike, intercept: float) -> None:
        self.weights: NDArray[np.float64] = np.array(weights, dtype=np.float64).ravel()
        self.intercept = float(intercept)
        #: The norm of ``w``.
        self.norm: float = _mercer.hyperplane_norm(*self._parts())

    def _parts(self) -> tuple[list[float], float]:
        return self.weights.tolist(), self.intercept

    def signed_distance(self, X: ArrayLike) -> NDArray[np.float64]:
        """``(w.x + b) / norm(w)`` of each row."""
        return _mercer.hyperplane_distances(*self._parts(), _rows(X))

    def margin(self, X: ArrayLike) -> float:
        """The smallest distance of a row from the hyperplane, on either side."""
        return float(np.abs(self.signed_distance(X)).min())

    def canonical(self, X: ArrayLike) -> Self:
        """The same hyperplane with ``min |w.x + b| = 1`` over the rows."""
        return type(self)(*_mercer.hyperplane_canonical(*self._parts(), _rows(X)))

    def separation(self, X: ArrayLike, y: ArrayLike) -> dict[str, Any]:
        """How the hyperplane separates two classes.

        Returns
        -------
        dict
            ``margin``, the smallest signed distance of a row on the side of its class (negative if a
            row is misclassified), ``width``, ``2 / norm(w)`` of the canonical form if the classes are
            separated, ``nearest`` and ``misclassified``, indices of rows, ``reversed``, whether the
            second class is on the negative side, ``canonical``, and ``norm``.
        """
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"y has {len(classes)} classes; a hyperplane separates two")
        positive = (codes.ravel() == 1).tolist()
        parts = _mercer.hyperplane_separation(*self._parts(), _rows(X), positive)
        canonical = parts["canonical"]
        if canonical is not None:
            parts["canonical"] = Hyperplane(canonical["weights"], canonical["intercept"])
        for name in ["nearest", "misclassified"]:
            parts[name] = [int(i) for i in parts[name]]
        return parts

    def is_better_than(self, other: "Hyperplane", X: ArrayLike, y: ArrayLike) -> bool:
        """Whether this hyperplane misclassifies fewer rows than another or, if both misclassify as
        many, has the larger margin."""
        own, others = self.separation(X, y), other.separation(X, y)
        return (len(own["misclassified"]), -own["margin"]) < (
            len(others["misclassified"]),
            -others["margin"],
        )

    def __repr__(self) -> str:
        return f"Hyperplane({_listed(self.weights)}, {self.intercept!r})"


def _listed(values: Sequence[float] | NDArray[np.float64]) -> str:
    return "[" + ", ".join(f"{float(v):.12g}" for v in values) + "]"


def _rows(X: ArrayLike) -> Any:
    rows = matrix(X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64))
    return rows
