"""Bayesian networks over discrete variables: exact inference, learning, and BIF files."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._mercer import Network, learn_network
from .limits import current_time_limit

__all__ = ["BayesianNetwork"]

_MISSING_CODE = 2**32 - 1


class BayesianNetwork:
    """A joint distribution as a product of one conditional probability table per variable.

    Parameters
    ----------
    variables : mapping of names to lists of states
        The variables and their states.
    parents : mapping of names to lists of names
        The parents of each variable; a variable that is not a key has none.
    tables : mapping of names to arrays
        The conditional probability tables: one row per configuration of the parents, the last parent
        varying fastest, and one column per state.
    name : str, default="network"
        The name of the network.

    Examples
    --------
    >>> from mercer.network import BayesianNetwork
    >>> rain = BayesianNetwork(
    ...     {"rain": ["yes", "no"], "wet": ["yes", "no"]},
    ...     {"wet": ["rain"]},
    ...     {"rain": [[0.2, 0.8]], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ... )
    >>> round(rain.query("rain", {"wet": "yes"})["yes"], 4)
    0.8182
    """

    def __init__(
        self,
        variables: Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, Any],
        name: str = "network",
    ) -> None:
        for mapping in (parents, tables):
            for unknown in mapping.keys() - variables.keys():
                raise ValueError(f"{unknown!r} is not one of the variables {list(variables)}")
        missing = [v for v in variables if v not in tables]
        if missing:
            raise ValueError(f"no table for {missing[0]!r}")
        network = Network(
            name,
            [(v, [str(s) for s in states]) for v, states in variables.items()],
            [list(parents.get(v, [])) for v in variables],
            [np.asarray(tables[v], dtype=float).ravel().tolist() for v in variables],
        )
        self._set_network(network)

    def _set_network(self, network: Network) -> None:
        self._network = network
        self._states = dict(network.variables)
        self.certificate_: dict[str, Any] | None = None
        self.search_certificate_: dict[str, Any] | None = None
        self.trace_: list[float] = []

    @classmethod
    def _from_network(cls, network: Network) -> Self:
        self = cls.__new__(cls)
        self._set_network(network)
        return self

    # ------------------------------------------------------------------------------- files

    @classmethod
    def from_bif(cls, source: str | Path) -> Self:
        """Reads a BIF file; a string that contains a brace is parsed as BIF text itself."""
        if isinstance(source, str) and "{" in source:
            return cls._from_network(Network.from_bif(source))
        return cls._from_network(Network.from_bif(Path(source).read_text(encoding="utf-8")))

    def to_bif(self, path: str | Path | None = None) -> str:
        """The network as BIF text, which is also written to ``path`` if given."""
        text = self._network.to_bif()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def draw(self, path: str | Path, evidence: Mapping[str, str] | None = None) -> None:
        """Draws the network: a ``.svg`` file with the marginals, or a ``.dot`` file for Graphviz."""
        path = Path(path)
        text = self._network.draw(path.suffix.removeprefix("."), _as_strings(evidence))
        path.write_text(text, encoding="utf-8")

    # ------------------------------------------------------------------------------- structure

    @property
    def name(self) -> str:
        """The name of the network."""
        return self._network.name

    @property
    def variables(self) -> dict[str, list[str]]:
        """The states of every variable, by name."""
        return {name: list(states) for name, states in self._states.items()}

    @property
    def parents(self) -> dict[str, list[str]]:
        """The parents of every variable, by name."""
        return {v: self._network.parents(v) for v in self._states}

    @property
    def n_free_parameters(self) -> int:
        """The number of free parameters of all tables."""
        return self._network.n_free_parameters

    def table(self, variable: str) -> NDArray[np.float64]:
        """The conditional probability table: one row per configuration of the parents, one column per
        state."""
        return self._network.table(variable)

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.name!r}, {len(self._states)} variables)"

    # ------------------------------------------------------------------------------- inference

    def query(
        self, of: str | Iterable[str], evidence: Mapping[str, str] | None = None
    ) -> dict[str, float] | NDArray[np.float64]:
        """The exact posterior: a dictionary over the states of one variable, or the joint posterior of
        several variables as an array with one axis per variable."""
        if isinstance(of, str):
            _, p, _ = self._network.query([of], _as_strings(evidence))
            return dict(zip(self._states[of], p.tolist(), strict=True))
        shape, p, _ = self._network.query(list(of), _as_strings(evidence))
        return p.reshape(shape)

    def marginals(self, evidence: Mapping[str, str] | None = None) -> dict[str, dict[str, float]]:
        """The posterior of every variable, computed by a junction tree."""
        marginals, _ = self._network.marginals(_as_strings(evidence))
        return {
            name: dict(zip(states, p, strict=True))
            for (name, states), p in zip(self._states.items(), marginals, strict=True)
        }

    def log_evidence(self, evidence: Mapping[str, str]) -> float:
        """``log P(evidence)``."""
        return self._network.query([], _as_strings(evidence))[2]

    def mpe(self, evidence: Mapping[str, str] | None = None) -> dict[str, str]:
        """The most probable explanation: the jointly most probable states of all variables."""
        states, _ = self._network.mpe(_as_strings(evidence))
        names = self._states.items()
        return {name: labels[s] for (name, labels), s in zip(names, states, strict=True)}

    def d_separated(self, a: str, b: str, given: Iterable[str] = ()) -> bool:
        """Whether ``given`` d-separates ``a`` and ``b``: the structure implies their independence."""
        return self._network.d_separated(a, b, list(given))[0]

    def open_path(self, a: str, b: str, given: Iterable[str] = ()) -> list[str] | None:
        """The shortest active path between ``a`` and ``b`` given others; ``None`` if d-separated."""
        separated, path = self._network.d_separated(a, b, list(given))
        return None if separated else path

    def sample(self, n: int, seed: int = 0) -> dict[str, list[str]]:
        """Draws ``n`` rows; returns a dictionary of columns."""
        codes = self._network.sample(n, seed)
        return {
            name: [states[c] for c in codes[:, v]]
            for v, (name, states) in enumerate(self._states.items())
        }

    # ------------------------------------------------------------------------------- learning

    def fit(self, data: Any, *, alpha: float = 1.0, tolerance: float = 1e-9) -> Self:
        """A network with the structure of this one and tables estimated from a dictionary of columns or
        a data frame.

        The states are those of this network; a variable without a column is missing in all rows. With
        missing values (``None`` or NaN) the tables are estimated by expectation maximization, and
        ``trace_`` has the objective of each iteration. ``alpha`` is the smoothing, ``tolerance`` the
        relative change of the objective at which the iterations stop.
        """
        columns = _columns(data)
        n = len(next(iter(columns.values()), []))
        coded = []
        for name, states in self._states.items():
            values = columns.get(name, [None] * n)
            coded.append((name, states, _codes(values, states, name)))
        index = {name: v for v, (name, _, _) in enumerate(coded)}
        parents = [[index[p] for p in self._network.parents(name)] for name, _, _ in coded]
        return self._learn(coded, "given", parents=parents, alpha=alpha, tolerance=tolerance)

    @classmethod
    def learn(
        cls,
        data: Any,
        structure: str = "chow-liu",
        *,
        target: str | None = None,
        score: str = "bic",
        sample_size: float = 10.0,
        max_parents: int = 4,
        tabu: int = 0,
        alpha: float = 1.0,
        tolerance: float = 1e-9,
    ) -> Self:
        """Learns structure and tables from a dictionary of columns or a data frame.

        ``structure`` is ``chow-liu`` (the tree of maximum likelihood), ``tan`` (tree-augmented naive
        Bayes with the class ``target``), ``naive`` (naive Bayes), or ``search`` (hill climbing by the
        score ``bic`` or ``bdeu``, with at most ``max_parents`` parents per variable).
        """
        columns = []
        for name, values in _columns(data).items():
            states = sorted({str(v) for v in values if not _is_missing(v)})
            columns.append((name, states, _codes(values, states, name)))
        names = [name for name, _, _ in columns]
        if target is not None and target not in names:
            raise ValueError(f"target is {target!r}, which is not among the columns {names}")
        return cls._learn(
            columns,
            structure,
            target=None if target is None else names.index(target),
            score=score,
            sample_size=sample_size,
            max_parents=max_parents,
            tabu=tabu,
            alpha=alpha,
            tolerance=tolerance,
        )

    @classmethod
    def _learn(cls, columns: list[Any], structure: str, **options: Any) -> Self:
        network, certificate, search, trace = learn_network(
            columns, structure, seconds=current_time_limit(), **options
        )
        self = cls._from_network(network)
        self.certificate_, self.search_certificate_, self.trace_ = certificate, search, trace
        return self

    # BIF text has every digit of the tables.
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bif, (self.to_bif(),)


def _as_strings(evidence: Mapping[str, str] | None) -> dict[str, str]:
    return {name: str(state) for name, state in (evidence or {}).items()}


def _columns(data: Any) -> dict[str, Sequence[Any]]:
    if isinstance(data, Mapping):
        return {str(name): list(values) for name, values in data.items()}
    if hasattr(data, "columns"):
        return {str(name): list(data[name]) for name in data.columns}
    raise TypeError("data must be a dict of columns or a data frame")


def _is_missing(value: Any) -> bool:
    # NaN is not equal to itself; the comparison of pandas' NA has no boolean value and raises.
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _codes(values: Sequence[Any], states: list[str], name: str) -> NDArray[np.uint32]:
    code_of = {state: s for s, state in enumerate(states)}
    codes = np.full(len(values), _MISSING_CODE, dtype=np.uint32)
    for i, value in enumerate(values):
        if not _is_missing(value):
            state = str(value)
            if state not in code_of:
                raise ValueError(f"row {i + 1}: {state!r} is not a state of {name!r} ({states})")
            codes[i] = code_of[state]
    return codes
