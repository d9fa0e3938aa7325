from collections.abc import Callable
from typing import Any, Literal

from .base import Regressor, SupportVectors

__all__ = ["KernelRidge"]

class KernelRidge(SupportVectors, Regressor):
    alpha: float
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"] | None
    coef0: float
    widths: Literal["equal", "learned"]
    variance: bool
    leave_one_out_rows: int
    solver: Literal["auto", "cholesky", "cg", "approx"]
    n_landmarks: int
    tol: float
    max_iter: int
    verbose: bool
    kernel_params: dict | None
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable[..., Any] = "linear",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] | None = None,
        coef0: float = 1.0,
        widths: Literal["equal", "learned"] = "equal",
        variance: bool = False,
        leave_one_out_rows: int = 1000,
        solver: Literal["auto", "cholesky", "cg", "approx"] = "auto",
        n_landmarks: int = 1000,
        tol: float = 1e-08,
        max_iter: int = 500,
        verbose: bool = False,
        kernel_params: dict | None = None,
    ) -> None: ...
