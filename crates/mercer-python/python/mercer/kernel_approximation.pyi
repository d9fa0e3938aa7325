from collections.abc import Callable
from typing import Any, Literal

from .base import Transformer
from .skewed_chi2 import SkewedChi2Sampler

__all__ = [
    "AdditiveChi2Sampler",
    "Nystroem",
    "PolynomialCountSketch",
    "RBFSampler",
    "SkewedChi2Sampler",
]

class RBFSampler(Transformer):
    gamma: float | Literal["scale", "auto"]
    n_components: int
    error: float | None
    directions: Literal["gaussian", "orthogonal", "structured"]
    random_state: int
    def __init__(
        self,
        *,
        gamma: float | Literal["scale", "auto"] = 1.0,
        n_components: int = 100,
        error: float | None = None,
        directions: Literal["gaussian", "orthogonal", "structured"] = "gaussian",
        random_state: int = 0,
    ) -> None: ...

class Nystroem(Transformer):
    kernel: str | Callable[..., Any]
    degree: int | None
    gamma: float | Literal["scale", "auto"] | None
    coef0: float | None
    n_components: int
    error: float | None
    landmarks: Literal["uniform", "k-means", "pivoted-cholesky"]
    basis: Literal["symmetric", "cholesky"]
    random_state: int
    n_jobs: int | None
    kernel_params: dict | None
    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        degree: int | None = None,
        gamma: float | Literal["scale", "auto"] | None = None,
        coef0: float | None = None,
        n_components: int = 100,
        error: float | None = None,
        landmarks: Literal["uniform", "k-means", "pivoted-cholesky"] = "uniform",
        basis: Literal["symmetric", "cholesky"] = "symmetric",
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
