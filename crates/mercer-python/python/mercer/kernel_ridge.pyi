from typing import Any, Literal

from .base import Regressor

__all__ = ["KernelRidge"]

class KernelRidge(Regressor):
    alpha: float
    kernel: Literal["linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed"]
    gamma: Any
    degree: int
    coef0: float
    variance: bool
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        kernel: Literal[
            "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed"
        ] = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: float = 1.0,
        variance: bool = False,
    ) -> None: ...
