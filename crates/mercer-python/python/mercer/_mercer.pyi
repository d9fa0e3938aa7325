from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .probability import Belief as Belief
from .probability import Beta as Beta
from .probability import Dirichlet as Dirichlet
from .probability import Gamma as Gamma
from .probability import JointTable as JointTable
from .probability import MultivariateNormal as MultivariateNormal
from .probability import NormalInverseGamma as NormalInverseGamma
from .probability import NormalMean as NormalMean
from .probability import bayes_rule as bayes_rule

__version__: str

# A dense matrix of doubles or floats, or the parts of a sparse one: numbers, columns, row offsets
# and width.
Table = (
    NDArray[np.float64]
    | NDArray[np.float32]
    | tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], int]
)

class Card(TypedDict):
    id: str
    python: str
    doc: str
    capabilities: list[str]
    takes: list[str]

class Fitted:
    @property
    def ready(self) -> bool: ...
    @property
    def id(self) -> str: ...
    @property
    def params(self) -> str: ...
    @property
    def labels(self) -> list[bool | int | float | str]: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def prepared(self) -> list[str]: ...
    @property
    def certificate(self) -> dict[str, Any]: ...
    def fields(self) -> list[str]: ...
    def field(self, name: str) -> Any: ...
    def observe(
        self,
        params: str,
        x: Table,
        codes: NDArray[np.uint32],
        labels: list[Any],
        weights: NDArray[np.float64] | None = None,
        seconds: float | None = None,
    ) -> Fitted: ...
    def merge(self, other: Fitted) -> Fitted: ...
    def forget(
        self,
        x: Table,
        codes: NDArray[np.uint32],
        labels: list[Any],
        weights: NDArray[np.float64] | None = None,
    ) -> Fitted: ...
    def scores(self, x: Table) -> NDArray[np.float64]: ...
    def predict(self, x: Table) -> NDArray[np.uint32]: ...
    def log_proba(self, x: Table) -> NDArray[np.float64]: ...
    def log_density(self, x: Table) -> NDArray[np.float64]: ...
    def sample(self, n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.uint32]]: ...
    def explain(self, row: NDArray[np.float64]) -> dict[str, Any]: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: Path) -> None: ...

def catalog() -> list[Card]: ...
def fit(
    id: str,
    params: str,
    x: Table,
    codes: NDArray[np.uint32],
    labels: list[Any],
    weights: NDArray[np.float64] | None = None,
    names: list[str] | None = None,
    seconds: float | None = None,
    wait: bool = False,
) -> Fitted: ...
def from_bytes(bytes: bytes) -> Fitted: ...
def load(path: Path) -> Fitted: ...
def set_threads(n: int) -> None: ...
def get_threads() -> int: ...
def decide(
    log_proba: NDArray[np.float64],
    cost: NDArray[np.float64] | None = None,
    reject: float | None = None,
    old_priors: list[float] | None = None,
    new_priors: list[float] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...
def new_priors(old: list[float], given: list[tuple[int, float]]) -> list[float]: ...
def neyman_pearson(
    scores: list[float], positive: list[bool], max_rate: float
) -> tuple[float, float, float]: ...
def minimax_threshold(
    scores: list[float], positive: list[bool], alarm_cost: float = 1.0, miss_cost: float = 1.0
) -> tuple[float, float, float]: ...
def outlier_threshold(log_densities: list[float], share: float) -> float: ...
def minimax(cost: NDArray[np.float64]) -> int: ...
def best_number(
    values: list[float], weights: list[float], loss: str = "squared", quantile: float = 0.5
) -> float: ...
def bayes_risk(
    joint: NDArray[np.float64],
    cost: NDArray[np.float64] | None = None,
    reject: float | None = None,
) -> float: ...
def two_normals_error(
    prior: float, means: tuple[float, float], variances: tuple[float, float]
) -> float: ...
