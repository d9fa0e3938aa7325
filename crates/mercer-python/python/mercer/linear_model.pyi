from collections.abc import Callable, Sequence
from typing import Any, Literal

from numpy.random import RandomState

from .base import (
    AdditiveScores,
    Calibrated,
    Classifier,
    DecisionFunction,
    LinearModel,
    MergeableRegressor,
    Online,
    OnlineRegressor,
    OutlierDetector,
    Probabilistic,
    Regressor,
    WarmStart,
)
from .elastic_net_cv import (
    ElasticNetCV,
    LassoCV,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    enet_path,
    lasso_path,
)
from .ridge_classifier import RidgeClassifier, RidgeClassifierCV, ridge_regression

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDOneClassSVM",
    "SGDRegressor",
    "enet_path",
    "lasso_path",
    "ridge_regression",
]

class LinearRegression(MergeableRegressor, LinearModel, Regressor):
    fit_intercept: bool
    n_jobs: int | None
    copy_X: bool
    positive: bool
    tol: float
    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        copy_X: bool = True,
        positive: bool = False,
        tol: float = 1e-06,
    ) -> None: ...

class Ridge(MergeableRegressor, LinearModel, Regressor):
    alpha: float
    fit_intercept: bool
    alpha_from: Literal["given", "evidence"]
    random_state: int | RandomState | None
    copy_X: bool
    positive: bool
    tol: float
    max_iter: int | None
    solver: Literal["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"]
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        alpha_from: Literal["given", "evidence"] = "given",
        random_state: int | RandomState | None = None,
        copy_X: bool = True,
        positive: bool = False,
        tol: float = 0.0001,
        max_iter: int | None = None,
        solver: Literal[
            "auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"
        ] = "auto",
    ) -> None: ...

class LogisticRegression(WarmStart, AdditiveScores, Probabilistic, Classifier):
    penalty: Literal["l2", "l1", "elasticnet", "none", "deprecated"] | None
    C: float
    l1_ratio: float | None
    fit_intercept: bool
    class_weight: dict[Any, float] | Literal["balanced"] | None
    tol: float
    max_iter: int
    warm_start: bool
    verbose: int
    n_jobs: int | None
    random_state: int | RandomState | None
    solver: Literal["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]
    dual: bool
    intercept_scaling: float
    def __init__(
        self,
        penalty: Literal["l2", "l1", "elasticnet", "none", "deprecated"] | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        tol: float = 0.0001,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
        solver: Literal[
            "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"
        ] = "lbfgs",
        dual: bool = False,
        intercept_scaling: float = 1,
    ) -> None: ...

class RidgeCV(LinearModel, Regressor):
    alphas: Sequence[float] | None
    fit_intercept: bool
    scoring: str | Callable[..., float] | None
    cv: Any
    gcv_mode: Literal["auto", "svd", "eigen"] | None
    store_cv_results: bool
    alpha_per_target: bool
    def __init__(
        self,
        alphas: Sequence[float] | None = None,
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Any = None,
        gcv_mode: Literal["auto", "svd", "eigen"] | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None: ...

class Lasso(WarmStart, LinearModel, Regressor):
    alpha: float
    fit_intercept: bool
    max_iter: int
    tol: float
    positive: bool
    joint: bool
    warm_start: bool
    precompute: bool | list
    copy_X: bool
    random_state: int | RandomState | None
    selection: Literal["cyclic", "random"]
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 0.0001,
        positive: bool = False,
        joint: bool = False,
        warm_start: bool = False,
        precompute: bool | list = False,
        copy_X: bool = True,
        random_state: int | RandomState | None = None,
        selection: Literal["cyclic", "random"] = "cyclic",
    ) -> None: ...

class ElasticNet(WarmStart, LinearModel, Regressor):
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float
    positive: bool
    joint: bool
    warm_start: bool
    precompute: bool | list
    copy_X: bool
    random_state: int | RandomState | None
    selection: Literal["cyclic", "random"]
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 0.0001,
        positive: bool = False,
        joint: bool = False,
        warm_start: bool = False,
        precompute: bool | list = False,
        copy_X: bool = True,
        random_state: int | RandomState | None = None,
        selection: Literal["cyclic", "random"] = "cyclic",
    ) -> None: ...

class LogisticRegressionCV(AdditiveScores, Probabilistic, Classifier):
    Cs: int | Sequence[float]
    l1_ratios: Sequence[float] | None
    fit_intercept: bool
    cv: int | None
    penalty: Literal["l2", "l1", "elasticnet"]
    scoring: Literal["accuracy", "neg_log_loss"]
    tol: float
    max_iter: int
    class_weight: dict[Any, float] | Literal["balanced"] | None
    refit: bool
    verbose: int
    n_jobs: int | None
    random_state: int | RandomState | None
    solver: Literal["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]
    dual: bool
    intercept_scaling: float
    use_legacy_attributes: Literal[False, "warn"]
    def __init__(
        self,
        *,
        Cs: int | Sequence[float] = 10,
        l1_ratios: Sequence[float] | None = None,
        fit_intercept: bool = True,
        cv: int | None = None,
        penalty: Literal["l2", "l1", "elasticnet"] = "l2",
        scoring: Literal["accuracy", "neg_log_loss"] = "accuracy",
        tol: float = 0.0001,
        max_iter: int = 1000,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        refit: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
        solver: Literal[
            "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"
        ] = "lbfgs",
        dual: bool = False,
        intercept_scaling: float = 1.0,
        use_legacy_attributes: Literal[False, "warn"] = False,
    ) -> None: ...

class Perceptron(Online, WarmStart, DecisionFunction, AdditiveScores, Classifier):
    penalty: Literal["l2", "l1", "elasticnet", "none"]
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    average: bool | int
    intercept_decay: float | None
    eta0: float
    class_weight: dict[Any, float] | Literal["balanced"] | None
    warm_start: bool
    verbose: int
    n_jobs: int | None
    def __init__(
        self,
        *,
        penalty: Literal["l2", "l1", "elasticnet", "none"] = "none",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        average: bool | int = False,
        intercept_decay: float | None = None,
        eta0: float = 1.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

class SGDClassifier(Online, WarmStart, DecisionFunction, AdditiveScores, Calibrated, Classifier):
    loss: Literal[
        "hinge",
        "log_loss",
        "modified_huber",
        "squared_hinge",
        "perceptron",
        "squared_error",
        "huber",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
    ]
    penalty: Literal["l2", "l1", "elasticnet", "none"]
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    average: bool | int
    intercept_decay: float | None
    epsilon: float
    learning_rate: Literal["constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"]
    eta0: float
    power_t: float
    class_weight: dict[Any, float] | Literal["balanced"] | None
    warm_start: bool
    verbose: int
    n_jobs: int | None
    def __init__(
        self,
        loss: Literal[
            "hinge",
            "log_loss",
            "modified_huber",
            "squared_hinge",
            "perceptron",
            "squared_error",
            "huber",
            "epsilon_insensitive",
            "squared_epsilon_insensitive",
        ] = "hinge",
        *,
        penalty: Literal["l2", "l1", "elasticnet", "none"] = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        average: bool | int = False,
        intercept_decay: float | None = None,
        epsilon: float = 0.1,
        learning_rate: Literal[
            "constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"
        ] = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

class SGDRegressor(OnlineRegressor, WarmStart, LinearModel, Regressor):
    loss: Literal["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"]
    penalty: Literal["l2", "l1", "elasticnet", "none"]
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    average: bool | int
    intercept_decay: float | None
    epsilon: float
    learning_rate: Literal["constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"]
    eta0: float
    power_t: float
    warm_start: bool
    verbose: int
    def __init__(
        self,
        loss: Literal[
            "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"
        ] = "squared_error",
        *,
        penalty: Literal["l2", "l1", "elasticnet", "none"] = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        average: bool | int = False,
        intercept_decay: float | None = None,
        epsilon: float = 0.1,
        learning_rate: Literal[
            "constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"
        ] = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class SGDOneClassSVM(WarmStart, DecisionFunction, OutlierDetector):
    nu: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    verbose: int
    random_state: int
    learning_rate: Literal["constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"]
    eta0: float
    power_t: float
    warm_start: bool
    average: bool | int
    intercept_decay: float | None
    def __init__(
        self,
        nu: float = 0.5,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int = 0,
        learning_rate: Literal[
            "constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"
        ] = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        warm_start: bool = False,
        average: bool | int = False,
        *,
        intercept_decay: float | None = None,
    ) -> None: ...

class PassiveAggressiveClassifier(Online, WarmStart, DecisionFunction, AdditiveScores, Classifier):
    C: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    average: bool | int
    intercept_decay: float | None
    loss: Literal["hinge", "squared_hinge"]
    class_weight: dict[Any, float] | Literal["balanced"] | None
    warm_start: bool
    verbose: int
    n_jobs: int | None
    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        average: bool | int = False,
        intercept_decay: float | None = None,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

class PassiveAggressiveRegressor(OnlineRegressor, WarmStart, LinearModel, Regressor):
    C: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    average: bool | int
    intercept_decay: float | None
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"]
    epsilon: float
    warm_start: bool
    verbose: int
    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        shuffle: bool = True,
        random_state: int = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        average: bool | int = False,
        intercept_decay: float | None = None,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        epsilon: float = 0.1,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...
