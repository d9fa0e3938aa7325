from collections.abc import Callable
from typing import Any, Literal

from numpy.random import RandomState

from .base import Transformer

__all__ = ["KernelPCA"]

class KernelPCA(Transformer):
    n_components: int | None
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"] | None
    coef0: float
    fit_inverse_transform: bool
    alpha: float
    verbose: bool
    n_jobs: int | None
    random_state: int | RandomState | None
    copy_X: bool
    kernel_params: dict | None
    eigen_solver: Literal["auto", "dense", "arpack", "randomized"]
    tol: float
    max_iter: int | None
    iterated_power: int | Literal["auto"]
    remove_zero_eig: bool
    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., Any] = "linear",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] | None = None,
        coef0: float = 1.0,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
        copy_X: bool = True,
        kernel_params: dict | None = None,
        eigen_solver: Literal["auto", "dense", "arpack", "randomized"] = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
    ) -> None: ...
