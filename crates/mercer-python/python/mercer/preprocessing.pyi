from typing import Literal

from .base import Transformer
from .tables import TableVectorizer

__all__ = ["PolynomialFeatures", "TableVectorizer"]

class PolynomialFeatures(Transformer):
    degree: int | tuple[int, int]
    interaction_only: bool
    include_bias: bool
    order: Literal["C", "F"]
    kernel: bool
    gamma: float
    coef0: float
    def __init__(
        self,
        degree: int | tuple[int, int] = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        order: Literal["C", "F"] = "C",
        kernel: bool = False,
        gamma: float = 1.0,
        coef0: float = 1.0,
    ) -> None: ...
