from collections.abc import Callable
from typing import Any

from .base import Transformer

__all__ = ["KernelPCA"]

class KernelPCA(Transformer):
    n_components: int | None
    kernel: str | Callable[..., Any]
    gamma: Any
    degree: int
    coef0: float
    fit_inverse_transform: bool
    alpha: float
    verbose: bool
    def __init__(
        self,
        *,
        n_components: int | None = None,
        kernel: str | Callable[..., Any] = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: float = 1.0,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        verbose: bool = False,
    ) -> None: ...
