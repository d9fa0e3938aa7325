from collections.abc import Callable
from typing import Any, Literal

from .base import Clusterer

__all__ = ["KernelKMeans"]

class KernelKMeans(Clusterer):
    n_clusters: int
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"] | None
    coef0: float
    n_init: int
    max_iter: int
    tol: float
    random_state: int
    def __init__(
        self,
        *,
        n_clusters: int = 8,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] | None = None,
        coef0: float = 1.0,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-06,
        random_state: int = 0,
    ) -> None: ...
