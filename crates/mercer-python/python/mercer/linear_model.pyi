from collections.abc import Sequence
from typing import Any, Literal

from .base import Additive, Classifier, MergeableRegressor, Probabilistic, Regressor, Summed

__all__ = ["LinearRegression", "Ridge", "RidgeCV", "LogisticRegression"]

class LinearRegression(MergeableRegressor, Additive, Regressor):
    fit_intercept: bool
    def __init__(self, *, fit_intercept: bool = True) -> None: ...

class Ridge(MergeableRegressor, Additive, Regressor):
    alpha: float
    fit_intercept: bool
    alpha_from: Literal["given", "evidence"]
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        alpha_from: Literal["given", "evidence"] = "given",
    ) -> None: ...

class RidgeCV(Additive, Regressor):
    alphas: Sequence[float] | None
    fit_intercept: bool
    def __init__(
        self,
        *,
        alphas: Sequence[float] | None = None,
        fit_intercept: bool = True,
    ) -> None: ...

class LogisticRegression(Summed, Probabilistic, Classifier):
    penalty: Literal["l2", "l1", "elasticnet", "none"]
    C: float
    l1_ratio: float
    fit_intercept: bool
    class_weight: Any
    tol: float
    max_iter: int
    def __init__(
        self,
        *,
        penalty: Literal["l2", "l1", "elasticnet", "none"] = "l2",
        C: float = 1.0,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 0.0001,
        max_iter: int = 1000,
    ) -> None: ...
