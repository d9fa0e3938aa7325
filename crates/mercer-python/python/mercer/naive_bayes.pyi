from collections.abc import Sequence
from typing import Literal

from .base import Classifier, Factored, Generative, Mergeable, Probabilistic

__all__ = ["GaussianNB"]

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
