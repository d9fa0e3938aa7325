from collections.abc import Sequence
from typing import Literal

from .base import (
    AdditiveScores,
    Classifier,
    Discriminant,
    Generative,
    Mergeable,
    Probabilistic,
    Transformer,
)

__all__ = [
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
]

class LinearDiscriminantAnalysis(
    Mergeable,
    Discriminant,
    AdditiveScores,
    Generative,
    Probabilistic,
    Classifier,
    Transformer,
):
    solver: Literal["svd", "lsqr", "eigen"]
    shrinkage: float | Literal["auto", "oas"] | None
    priors: Sequence[float] | None
    n_components: int | None
    store_covariance: bool
    tol: float
    covariance_estimator: Literal[None]
    variance: Literal["population", "sample"]
    def __init__(
        self,
        solver: Literal["svd", "lsqr", "eigen"] = "svd",
        shrinkage: float | Literal["auto", "oas"] | None = None,
        priors: Sequence[float] | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 0.0001,
        covariance_estimator: Literal[None] = None,
        *,
        variance: Literal["population", "sample"] = "population",
    ) -> None: ...

class QuadraticDiscriminantAnalysis(
    Mergeable,
    Discriminant,
    AdditiveScores,
    Generative,
    Probabilistic,
    Classifier,
):
    solver: Literal["svd", "eigen"]
    shrinkage: float | Literal["auto", "oas"] | None
    priors: Sequence[float] | None
    reg_param: float
    store_covariance: bool
    tol: float
    variance: Literal["population", "sample"]
    covariance_estimator: Literal[None]
    def __init__(
        self,
        *,
        solver: Literal["svd", "eigen"] = "svd",
        shrinkage: float | Literal["auto", "oas"] | None = None,
        priors: Sequence[float] | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 0.0001,
        variance: Literal["population", "sample"] = "population",
        covariance_estimator: Literal[None] = None,
    ) -> None: ...

class RegularizedDiscriminantAnalysis(
    Mergeable,
    Discriminant,
    AdditiveScores,
    Generative,
    Probabilistic,
    Classifier,
):
    strategy: Literal["identity", "diagonal", "friedman"]
    reg_param: float | Literal["auto"]
    alpha: float
    gamma: float
    priors: Sequence[float] | None
    tol: float
    variance: Literal["population", "sample"]
    def __init__(
        self,
        *,
        strategy: Literal["identity", "diagonal", "friedman"] = "diagonal",
        reg_param: float | Literal["auto"] = "auto",
        alpha: float = 0.5,
        gamma: float = 0.1,
        priors: Sequence[float] | None = None,
        tol: float = 0.0001,
        variance: Literal["population", "sample"] = "population",
    ) -> None: ...
