from collections.abc import Sequence
from typing import Literal

from .base import AdditiveScores, Classifier, Probabilistic, Regressor, WarmStart

__all__ = ["MLPClassifier", "MLPRegressor"]

class MLPClassifier(WarmStart, AdditiveScores, Probabilistic, Classifier):
    hidden_layer_sizes: int | Sequence[int]
    activation: Literal["identity", "logistic", "tanh", "relu"]
    solver: Literal["lbfgs", "adam", "sgd"]
    alpha: float
    max_iter: int
    tol: float
    random_state: int
    batch_size: int | Literal["auto"]
    shuffle: bool
    learning_rate: Literal["constant", "invscaling", "adaptive"]
    learning_rate_init: float
    power_t: float
    momentum: float
    nesterovs_momentum: bool
    beta_1: float
    beta_2: float
    epsilon: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: float
    warm_start: bool
    verbose: bool
    max_fun: int
    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: Literal["identity", "logistic", "tanh", "relu"] = "relu",
        *,
        solver: Literal["lbfgs", "adam", "sgd"] = "adam",
        alpha: float = 0.0001,
        max_iter: int = 200,
        tol: float = 0.0001,
        random_state: int = 0,
        batch_size: int | Literal["auto"] = "auto",
        shuffle: bool = True,
        learning_rate: Literal["constant", "invscaling", "adaptive"] = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-08,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: float = 10,
        warm_start: bool = False,
        verbose: bool = False,
        max_fun: int = 15000,
    ) -> None: ...

class MLPRegressor(WarmStart, Regressor):
    loss: Literal["squared_error", "poisson"]
    hidden_layer_sizes: int | Sequence[int]
    activation: Literal["identity", "logistic", "tanh", "relu"]
    solver: Literal["lbfgs", "adam", "sgd"]
    alpha: float
    max_iter: int
    tol: float
    random_state: int
    batch_size: int | Literal["auto"]
    shuffle: bool
    learning_rate: Literal["constant", "invscaling", "adaptive"]
    learning_rate_init: float
    power_t: float
    momentum: float
    nesterovs_momentum: bool
    beta_1: float
    beta_2: float
    epsilon: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: float
    warm_start: bool
    verbose: bool
    max_fun: int
    def __init__(
        self,
        loss: Literal["squared_error", "poisson"] = "squared_error",
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: Literal["identity", "logistic", "tanh", "relu"] = "relu",
        *,
        solver: Literal["lbfgs", "adam", "sgd"] = "adam",
        alpha: float = 0.0001,
        max_iter: int = 200,
        tol: float = 0.0001,
        random_state: int = 0,
        batch_size: int | Literal["auto"] = "auto",
        shuffle: bool = True,
        learning_rate: Literal["constant", "invscaling", "adaptive"] = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-08,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: float = 10,
        warm_start: bool = False,
        verbose: bool = False,
        max_fun: int = 15000,
    ) -> None: ...
