from typing import Any, Literal

from .base import Transformer

__all__ = ["KernelPCA"]

class KernelPCA(Transformer):
    n_components: int | None
    kernel: Literal["linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed"]
    gamma: Any
    degree: int
    coef0: float
    def __init__(
        self,
        *,
        n_components: int | None = None,
        kernel: Literal[
            "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed"
        ] = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None: ...
