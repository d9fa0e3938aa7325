from collections.abc import Sequence
from typing import Any, Literal

from .base import Classifier, Factored, Generative, Mergeable, Probabilistic

__all__ = ["GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "TreeAugmentedNB"]

class GaussianNB(Mergeable, Factored, Generative, Probabilistic, Classifier):
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

class MultinomialNB(Mergeable, Factored, Probabilistic, Classifier):
    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Sequence[float] | None
    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
    ) -> None: ...

class ComplementNB(Mergeable, Probabilistic, Classifier):
    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Sequence[float] | None
    norm: bool
    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
        norm: bool = False,
    ) -> None: ...

class BernoulliNB(Mergeable, Factored, Generative, Probabilistic, Classifier):
    alpha: Any
    force_alpha: bool
    binarize: Any
    fit_prior: bool
    class_prior: Sequence[float] | None
    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: Any = 0.0,
        fit_prior: bool = True,
        class_prior: Sequence[float] | None = None,
    ) -> None: ...

class TreeAugmentedNB(Mergeable, Factored, Generative, Probabilistic, Classifier):
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
