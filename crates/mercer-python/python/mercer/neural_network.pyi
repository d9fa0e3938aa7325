from collections.abc import Sequence
from typing import Literal

from .base import Classifier, Probabilistic, Regressor, Warm

__all__ = ["MLPClassifier", "MLPRegressor"]

class MLPClassifier(Warm, Probabilistic, Classifier):
    hidden_layer_sizes: int | Sequence[int]
    activation: Literal["identity", "logistic", "tanh", "relu"]
    solver: Literal["lbfgs"]
    alpha: float
    max_iter: int
    tol: float
    random_state: int
    warm_start: bool
    def __init__(
        self,
        *,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: Literal["identity", "logistic", "tanh", "relu"] = "relu",
        solver: Literal["lbfgs"] = "lbfgs",
        alpha: float = 0.0001,
        max_iter: int = 200,
        tol: float = 0.0001,
        random_state: int = 0,
        warm_start: bool = False,
    ) -> None: ...

class MLPRegressor(Warm, Regressor):
    hidden_layer_sizes: int | Sequence[int]
    activation: Literal["identity", "logistic", "tanh", "relu"]
    solver: Literal["lbfgs"]
    alpha: float
    max_iter: int
    tol: float
    random_state: int
    warm_start: bool
    def __init__(
        self,
        *,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: Literal["identity", "logistic", "tanh", "relu"] = "relu",
        solver: Literal["lbfgs"] = "lbfgs",
        alpha: float = 0.0001,
        max_iter: int = 200,
        tol: float = 0.0001,
        random_state: int = 0,
        warm_start: bool = False,
    ) -> None: ...
