from collections.abc import Callable
from typing import Any, Literal

from numpy.random import RandomState

from .base import (
    AdditiveScores,
    Calibrated,
    Classifier,
    DecisionFunction,
    LinearModel,
    OutlierDetector,
    Regressor,
    SupportVectors,
    WarmStart,
)
from .hyperplane import Hyperplane
from .l1_min_c import l1_min_c

__all__ = [
    "SVC",
    "SVR",
    "Hyperplane",
    "KernelPerceptron",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "l1_min_c",
]

class LinearSVC(DecisionFunction, AdditiveScores, Calibrated, Classifier):
    penalty: Literal["l2", "l1"]
    loss: Literal["hinge", "squared_hinge"]
    tol: float
    dual: bool | Literal["auto"]
    C: float
    fit_intercept: bool
    intercept_scaling: float
    intercept: Literal["penalized", "unpenalized"]
    class_weight: dict[Any, float] | Literal["balanced"] | None
    max_iter: int
    gap: float | None
    multi_class: Literal["ovr", "crammer_singer"]
    probability: bool
    calibration: Literal["sigmoid", "isotonic", "venn-abers"]
    verbose: int
    random_state: int | RandomState | None
    def __init__(
        self,
        penalty: Literal["l2", "l1"] = "l2",
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        *,
        tol: float = 0.0001,
        dual: bool | Literal["auto"] = "auto",
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        intercept: Literal["penalized", "unpenalized"] = "penalized",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        max_iter: int = 1000,
        gap: float | None = None,
        multi_class: Literal["ovr", "crammer_singer"] = "ovr",
        probability: bool = False,
        calibration: Literal["sigmoid", "isotonic", "venn-abers"] = "sigmoid",
        verbose: int = 0,
        random_state: int | RandomState | None = None,
    ) -> None: ...

class LinearSVR(LinearModel, Regressor):
    epsilon: float
    tol: float
    C: float
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"]
    fit_intercept: bool
    intercept_scaling: float
    intercept: Literal["penalized", "unpenalized"]
    dual: bool | Literal["auto"]
    max_iter: int
    gap: float | None
    verbose: int
    random_state: int | RandomState | None
    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 0.0001,
        C: float = 1.0,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        intercept: Literal["penalized", "unpenalized"] = "penalized",
        dual: bool | Literal["auto"] = "auto",
        max_iter: int = 1000,
        gap: float | None = None,
        verbose: int = 0,
        random_state: int | RandomState | None = None,
    ) -> None: ...

class SVC(WarmStart, DecisionFunction, SupportVectors, Calibrated, Classifier):
    C: float
    margin: Literal["soft", "hard"]
    slack_power: float
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"]
    coef0: float
    tol: float
    gap: float | None
    shrinking: bool
    cache_size: float
    max_iter: int
    class_weight: dict[Any, float] | Literal["balanced"] | None
    multiclass: Literal["ovo", "ovr", "crammer_singer"]
    decision_function_shape: Literal["ovr", "ovo"]
    break_ties: bool
    probability: bool
    calibration: Literal["sigmoid", "isotonic", "venn-abers"]
    approx: int
    polish: bool
    warm_start: bool
    verbose: bool
    random_state: int | RandomState | None
    def __init__(
        self,
        *,
        C: float = 1.0,
        margin: Literal["soft", "hard"] = "soft",
        slack_power: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        gap: float | None = None,
        shrinking: bool = True,
        cache_size: float = 1500.0,
        max_iter: int = -1,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multiclass: Literal["ovo", "ovr", "crammer_singer"] = "ovo",
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        probability: bool = False,
        calibration: Literal["sigmoid", "isotonic", "venn-abers"] = "sigmoid",
        approx: int = 0,
        polish: bool = False,
        warm_start: bool = False,
        verbose: bool = False,
        random_state: int | RandomState | None = None,
    ) -> None: ...

class NuSVC(DecisionFunction, SupportVectors, Calibrated, Classifier):
    nu: float
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"]
    coef0: float
    tol: float
    gap: float | None
    shrinking: bool
    cache_size: float
    max_iter: int
    class_weight: dict[Any, float] | Literal["balanced"] | None
    decision_function_shape: Literal["ovr", "ovo"]
    break_ties: bool
    probability: bool
    calibration: Literal["sigmoid", "isotonic", "venn-abers"]
    verbose: bool
    random_state: int | RandomState | None
    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        gap: float | None = None,
        shrinking: bool = True,
        cache_size: float = 1500.0,
        max_iter: int = -1,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        probability: bool = False,
        calibration: Literal["sigmoid", "isotonic", "venn-abers"] = "sigmoid",
        verbose: bool = False,
        random_state: int | RandomState | None = None,
    ) -> None: ...

class SVR(WarmStart, SupportVectors, Regressor):
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"]
    coef0: float
    tol: float
    gap: float | None
    shrinking: bool
    cache_size: float
    max_iter: int
    C: float
    epsilon: float
    warm_start: bool
    verbose: bool
    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        gap: float | None = None,
        shrinking: bool = True,
        cache_size: float = 1500.0,
        max_iter: int = -1,
        C: float = 1.0,
        epsilon: float = 0.1,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None: ...

class NuSVR(SupportVectors, Regressor):
    nu: float
    C: float
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"]
    coef0: float
    tol: float
    gap: float | None
    shrinking: bool
    cache_size: float
    max_iter: int
    verbose: bool
    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        gap: float | None = None,
        shrinking: bool = True,
        cache_size: float = 1500.0,
        max_iter: int = -1,
        verbose: bool = False,
    ) -> None: ...

class OneClassSVM(DecisionFunction, SupportVectors, OutlierDetector):
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"]
    coef0: float
    tol: float
    gap: float | None
    shrinking: bool
    cache_size: float
    max_iter: int
    nu: float
    verbose: bool
    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        gap: float | None = None,
        shrinking: bool = True,
        cache_size: float = 1500.0,
        max_iter: int = -1,
        nu: float = 0.5,
        verbose: bool = False,
    ) -> None: ...

class KernelPerceptron(DecisionFunction, SupportVectors, Classifier):
    kernel: str | Callable[..., Any]
    degree: int
    gamma: float | Literal["scale", "auto"] | None
    coef0: float
    fit_intercept: bool
    max_iter: int
    average: bool
    budget: int | None
    shuffle: bool
    random_state: int
    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] | None = None,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        average: bool = False,
        budget: int | None = None,
        shuffle: bool = True,
        random_state: int = 0,
    ) -> None: ...
