"""Bayesian networks over discrete variables: exact answers, learned from tables, read and written as BIF."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._mercer import Network, learn_network
from .limits import seconds_left

__all__ = ["BayesianNetwork"]

_GAP = 2**32 - 1


class BayesianNetwork:
    """A joint distribution as one small table a variable, given its parents.

    Parameters
    ----------
    variables : mapping of names to lists of states
    parents : mapping of names to lists of names; variables that are not in it have none
    tables : mapping of names to arrays, one row a configuration of the parents, the last parent
        turning fastest, one column a state

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
        self._hold(network)

    def _hold(self, network: Network) -> None:
        self._network = network
        self._states = dict(network.variables)
        self.certificate_: dict[str, Any] | None = None
        self.search_certificate_: dict[str, Any] | None = None
        self.trace_: list[float] = []

    @classmethod
    def _of(cls, network: Network) -> Self:
        self = cls.__new__(cls)
        self._hold(network)
        return self

    # ------------------------------------------------------------------------------- as text

    @classmethod
    def from_bif(cls, source: str | Path) -> Self:
        """Reads a BIF file, or its text where that has a brace in it."""
        if isinstance(source, str) and "{" in source:
            return cls._of(Network.from_bif(source))
        return cls._of(Network.from_bif(Path(source).read_text(encoding="utf-8")))

    def to_bif(self, path: str | Path | None = None) -> str:
        """The network as BIF text, which is also written to `path` if there is one."""
        text = self._network.to_bif()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def draw(self, path: str | Path, evidence: Mapping[str, str] | None = None) -> None:
        """Draws the network with its probabilities: a `.svg`, or a `.dot` for other programs."""
        path = Path(path)
        text = self._network.draw(path.suffix.removeprefix("."), _seen(evidence))
        path.write_text(text, encoding="utf-8")

    # ------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
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
        """How many numbers the network could choose freely."""
        return self._network.n_free_parameters

    def table(self, variable: str) -> NDArray[np.float64]:
        """The conditional table: one row a configuration of the parents, one column a state."""
        return self._network.table(variable)

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.name!r}, {len(self._states)} variables)"

    # ------------------------------------------------------------------------------- asking

    def query(
        self, of: str | Iterable[str], evidence: Mapping[str, str] | None = None
    ) -> dict[str, float] | NDArray[np.float64]:
        """The exact posterior: a dict over the states of one variable, or the joint of several as an
        array with one axis a variable."""
        if isinstance(of, str):
            _, p, _ = self._network.query([of], _seen(evidence))
            return dict(zip(self._states[of], p.tolist(), strict=True))
        shape, p, _ = self._network.query(list(of), _seen(evidence))
        return p.reshape(shape)

    def marginals(self, evidence: Mapping[str, str] | None = None) -> dict[str, dict[str, float]]:
        """The posterior of every variable at once, by a junction tree."""
        marginals, _ = self._network.marginals(_seen(evidence))
        return {
            name: dict(zip(states, p, strict=True))
            for (name, states), p in zip(self._states.items(), marginals, strict=True)
        }

    def log_evidence(self, evidence: Mapping[str, str]) -> float:
        """`log P(evidence)`."""
        return self._network.query([], _seen(evidence))[2]

    def mpe(self, evidence: Mapping[str, str] | None = None) -> dict[str, str]:
        """The most probable state of every variable given the evidence."""
        states, _ = self._network.mpe(_seen(evidence))
        names = self._states.items()
        return {name: words[s] for (name, words), s in zip(names, states, strict=True)}

    def d_separated(self, a: str, b: str, given: Iterable[str] = ()) -> bool:
        """Whether `a` and `b` are independent given others in every network with these arrows."""
        return self._network.d_separated(a, b, list(given))[0]

    def open_path(self, a: str, b: str, given: Iterable[str] = ()) -> list[str] | None:
        """The shortest path along which `a` tells something about `b`, if there is one."""
        separated, path = self._network.d_separated(a, b, list(given))
        return None if separated else path

    def sample(self, n: int, seed: int = 0) -> dict[str, list[str]]:
        """Draws `n` rows, as columns by name."""
        codes = self._network.sample(n, seed)
        return {
            name: [states[c] for c in codes[:, v]]
            for v, (name, states) in enumerate(self._states.items())
        }

    # ------------------------------------------------------------------------------- learning

    def fit(self, data: Any, *, alpha: float = 1.0, tolerance: float = 1e-9) -> Self:
        """The same arrows with tables learned from columns by name: a dict of lists or a data frame.

        States are those of this network; a column that is not there is all gaps. Gaps (None or NaN) are
        filled in by expectation-maximization; `trace_` has its objective round by round.
        """
        columns = _columns(data)
        n = len(next(iter(columns.values()), []))
        known = []
        for name, states in self._states.items():
            values = columns.get(name, [None] * n)
            known.append((name, states, _codes(values, states, name)))
        places = {name: v for v, (name, _, _) in enumerate(known)}
        parents = [[places[p] for p in self._network.parents(name)] for name, _, _ in known]
        return self._learned(known, "given", parents=parents, alpha=alpha, tolerance=tolerance)

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
        """Learns arrows and tables from columns by name: a dict of lists or a data frame.

        `structure` is `chow-liu` (the tree of largest likelihood), `tan` (naive Bayes with a tree,
        around `target`), `naive`, or `search` (hill climbing over `bic` or `bdeu`).
        """
        columns = []
        for name, values in _columns(data).items():
            states = sorted({_word(v) for v in values if not _missing(v)})
            columns.append((name, states, _codes(values, states, name)))
        names = [name for name, _, _ in columns]
        if target is not None and target not in names:
            raise ValueError(f"there is no column {target!r}; there are {names}")
        return cls._learned(
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
    def _learned(cls, columns: list[Any], structure: str, **how: Any) -> Self:
        network, proof, search, trace = learn_network(
            columns, structure, seconds=seconds_left(), **how
        )
        self = cls._of(network)
        self.certificate_, self.search_certificate_, self.trace_ = proof, search, trace
        return self

    # Copies and pickles are the text, which keeps every bit.
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bif, (self.to_bif(),)


def _seen(evidence: Mapping[str, str] | None) -> dict[str, str]:
    return {name: _word(state) for name, state in (evidence or {}).items()}


def _columns(data: Any) -> dict[str, Sequence[Any]]:
    if isinstance(data, Mapping):
        return {str(name): list(values) for name, values in data.items()}
    if hasattr(data, "columns"):
        return {str(name): list(data[name]) for name in data.columns}
    raise TypeError("data must be a dict of columns or a data frame")


def _missing(value: Any) -> bool:
    # NaN and pandas' NA are not equal to themselves; asking NA for its truth raises.
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _word(value: Any) -> str:
    return str(value)


def _codes(values: Sequence[Any], states: list[str], name: str) -> NDArray[np.uint32]:
    places = {state: s for s, state in enumerate(states)}
    codes = np.full(len(values), _GAP, dtype=np.uint32)
    for i, value in enumerate(values):
        if not _missing(value):
            word = _word(value)
            if word not in places:
                raise ValueError(f"row {i + 1}: {word!r} is not a state of {name!r} ({states})")
            codes[i] = places[word]
    return codes
