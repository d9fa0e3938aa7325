from collections.abc import Callable
from typing import Any, Literal

from .base import Transformer

__all__ = ["RBFSampler", "Nystroem", "PolynomialCountSketch", "AdditiveChi2Sampler"]

class RBFSampler(Transformer):
    gamma: Any
    n_components: int
    error: float | None
    directions: Literal["plain", "orthogonal", "structured"]
    random_state: int
    def __init__(
        self,
        *,
        gamma: Any = 1.0,
        n_components: int = 100,
        error: float | None = None,
        directions: Literal["plain", "orthogonal", "structured"] = "plain",
        random_state: int = 0,
    ) -> None: ...

class Nystroem(Transformer):
    kernel: str | Callable[..., Any]
    gamma: Any
    coef0: float | None
    degree: int | None
    n_components: int
    error: float | None
    centers: Literal["uniform", "k-means", "pivots"]
    basis: Literal["root", "triangle"]
    random_state: int
    n_jobs: int | None
    kernel_params: dict | None
    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        gamma: Any = None,
        coef0: float | None = None,
        degree: int | None = None,
        n_components: int = 100,
        error: float | None = None,
        centers: Literal["uniform", "k-means", "pivots"] = "uniform",
        basis: Literal["root", "triangle"] = "root",
        random_state: int = 0,
        n_jobs: int | None = None,
        kernel_params: dict | None = None,
    ) -> None: ...

class PolynomialCountSketch(Transformer):
    gamma: float
    degree: int
    coef0: float
    n_components: int
    random_state: int
    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        n_components: int = 100,
        random_state: int = 0,
    ) -> None: ...

class AdditiveChi2Sampler(Transformer):
    sample_steps: int
    sample_interval: float | None
    def __init__(self, *, sample_steps: int = 2, sample_interval: float | None = None) -> None: ...
