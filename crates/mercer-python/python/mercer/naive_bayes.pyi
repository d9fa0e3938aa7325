from collections.abc import Sequence
from typing import Literal

from .base import (
    AdditiveScores,
    Classifier,
    FactorizedLikelihood,
    Generative,
    Mergeable,
    Probabilistic,
)

__all__ = [
    "BayesNetworkClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "TreeAugmentedNB",
]

class GaussianNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    priors: Sequence[float] | None
    var_smoothing: float
    variance: Literal["population", "sample"]
    def __init__(
        self,
        *,
        priors: Sequence[float] | None = None,
        var_smoothing: float = 1e-09,
        variance: Literal["population", "sample"] = "population",
    ) -> None: ...

class MultinomialNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    alpha: float | Sequence[float]
    force_alpha: bool
    fit_prior: bool
    class_prior: Sequence[float] | None
    def __init__(
        self,
        *,
        alpha: float | Sequence[float] = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
    ) -> None: ...

class ComplementNB(Mergeable, AdditiveScores, Probabilistic, Classifier):
    alpha: float | Sequence[float]
    force_alpha: bool
    fit_prior: bool
    class_prior: Sequence[float] | None
    norm: bool
    def __init__(
        self,
        *,
        alpha: float | Sequence[float] = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
        norm: bool = False,
    ) -> None: ...

class BernoulliNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    alpha: float | Sequence[float]
    force_alpha: bool
    binarize: float | None
    fit_prior: bool
    class_prior: Sequence[float] | None
    def __init__(
        self,
        *,
        alpha: float | Sequence[float] = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
    ) -> None: ...

class CategoricalNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    alpha: float
    force_alpha: bool
    fit_prior: bool
    class_prior: Sequence[float] | None
    min_categories: float | Sequence[float] | None
    unseen: Literal["ignore", "other", "error"]
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
        min_categories: float | Sequence[float] | None = None,
        unseen: Literal["ignore", "other", "error"] = "ignore",
    ) -> None: ...

class MixedNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    likelihood: str | Sequence[str] | dict[str, str]
    estimate: Literal["lidstone", "laplace-by-classes", "m-estimate", "held-out"]
    alpha: float
    m: float
    p: float | None
    dirichlet: dict[str, Sequence[float]] | None
    weights: Literal["equal", "learned"]
    bins: int
    variance: Literal["population", "sample"]
    var_smoothing: float
    unseen: Literal["ignore", "other", "error"]
    fit_prior: bool
    class_prior: Sequence[float] | None
    def __init__(
        self,
        *,
        likelihood: str | Sequence[str] | dict[str, str] = "auto",
        estimate: Literal["lidstone", "laplace-by-classes", "m-estimate", "held-out"] = "lidstone",
        alpha: float = 1.0,
        m: float = 1.0,
        p: float | None = None,
        dirichlet: dict[str, Sequence[float]] | None = None,
        weights: Literal["equal", "learned"] = "equal",
        bins: int = 10,
        variance: Literal["population", "sample"] = "population",
        var_smoothing: float = 1e-09,
        unseen: Literal["ignore", "other", "error"] = "ignore",
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
    ) -> None: ...

class TreeAugmentedNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    alpha: float
    min_gain: float
    root: int
    fit_prior: bool
    class_prior: Sequence[float] | None
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        min_gain: float = 0.0,
        root: int = 0,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
    ) -> None: ...

class BayesNetworkClassifier(Mergeable, AdditiveScores, Generative, Probabilistic, Classifier):
    criterion: Literal["bic", "bdeu"]
    sample_size: float
    max_parents: int
    tabu: int
    augment: bool
    alpha: float
    def __init__(
        self,
        *,
        criterion: Literal["bic", "bdeu"] = "bic",
        sample_size: float = 10.0,
        max_parents: int = 3,
        tabu: int = 0,
        augment: bool = False,
        alpha: float = 1.0,
    ) -> None: ...
