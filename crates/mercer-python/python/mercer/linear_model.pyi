from typing import Literal

from .base import Additive, MergeableRegressor, Regressor

__all__ = ["LinearRegression", "Ridge"]

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
