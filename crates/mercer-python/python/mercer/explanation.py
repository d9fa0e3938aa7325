"""A prediction told step by step, as the lecture writes it."""

import math
from typing import Any

import numpy as np

__all__ = ["Explanation", "ScoreExplanation", "SupportExplanation", "TermExplanation"]


class Explanation:
    """Why a row got its class: the prior, one factor a column, their product, the posterior.

    ``print`` it to read it; the numbers are attributes.

    Attributes
    ----------
    classes : ndarray
        The classes, in the order of every list of numbers below.
    log_priors : ndarray
        ``log P(class)``.
    factors : list of dict
        One a column: ``column``, ``value`` (``None`` where missing), ``log_factors``,
        ``formulas`` and ``log_odds``, which is how much the column speaks for the winner against
        the runner-up.
    log_joint : ndarray
        ``log P(class) + sum of log factors``.
    posterior : ndarray
        ``P(class | row)``.
    """

    def __init__(self, told: dict[str, Any], classes: np.ndarray) -> None:
        self.classes = classes
        self.log_priors: np.ndarray = told["log_priors"]
        self.factors: list[dict[str, Any]] = told["factors"]
        self.log_joint: np.ndarray = told["log_joint"]
        self.posterior: np.ndarray = told["posterior"]
        self._winner: int = told["winner"]
        self._runner_up: int = told["runner_up"]

    @property
    def winner(self) -> Any:
        """The class that wins."""
        return self.classes[self._winner]

    @property
    def runner_up(self) -> Any:
        """The class that comes second."""
        return self.classes[self._runner_up]

    def ranked_contributions(self) -> list[tuple[str, float]]:
        """Log-odds of winner over runner-up: the prior's, then each column's, strongest first."""
        prior = _difference(self.log_priors, self._winner, self._runner_up)
        contributions = [(f["column"], f["log_odds"]) for f in self.factors if f["value"] is not None]
        return [("prior", prior), *sorted(contributions, key=lambda pair: -abs(pair[1]))]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        factors = [{**f, "log_factors": f["log_factors"].tolist()} for f in self.factors]
        return {
            "classes": self.classes.tolist(),
            "log_priors": self.log_priors.tolist(),
            "factors": factors,
            "log_joint": self.log_joint.tolist(),
            "posterior": self.posterior.tolist(),
            "winner": self.classes.tolist()[self._winner],
            "runner_up": self.classes.tolist()[self._runner_up],
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def __repr__(self) -> str:
        share = self.posterior[self._winner]
        return f"<Explanation: class {self.winner} with probability {_short(share)}>"

    def __str__(self) -> str:
        blocks = [self._class_block(c) for c in range(len(self.classes))]
        return "\n\n".join([*blocks, self._posterior_block(), self._contributions_block()])

    def _class_block(self, c: int) -> str:
        lines = [("prior", _power(self.log_priors[c]))]
        for factor in self.factors:
            missing = factor["value"] is None
            formula = "missing, no factor" if missing else factor["formulas"][c]
            lines.append((factor["column"], formula))
        lines.append(("product", _power(self.log_joint[c])))
        return _block(f"class {self.classes[c]}", lines)

    def _posterior_block(self) -> str:
        shares = zip(self.classes, self.posterior, strict=True)
        return _block("posterior", [(f"P({label} | row)", _short(p)) for label, p in shares])

    def _contributions_block(self) -> str:
        total = _difference(self.log_joint, self._winner, self._runner_up)
        contributions = [(name, _signed(odds)) for name, odds in [*self.ranked_contributions(), ("total", total)]]
        return _block(f"log-odds of {self.winner} against {self.runner_up}", contributions)


class ScoreExplanation:
    """Why a row got its class: the score of each class as a sum with one term a column.

    ``print`` it to read it; the numbers are attributes.

    Attributes
    ----------
    classes : ndarray
        The classes, in the order of every list of numbers below.
    intercepts : ndarray
        The intercept of each class, before any column is added.
    terms : list of dict
        One a column: ``column``, ``value``, ``terms`` (one a class) and ``log_odds``, which is how
        much the column speaks for the winner against the runner-up.
    distances : ndarray
        Squared Mahalanobis distances from the centers; empty if the model has none.
    scores : ndarray
        ``intercept + sum of terms``.
    posterior : ndarray
        ``P(class | row)``; empty if the model has no probabilities.
    """

    def __init__(self, told: dict[str, Any], classes: np.ndarray) -> None:
        self.classes = classes
        self.intercepts: np.ndarray = told["intercepts"]
        self.terms: list[dict[str, Any]] = told["terms"]
        self.distances: np.ndarray = told.get("distances", np.empty(0))
        self.scores: np.ndarray = told["scores"]
        self.posterior: np.ndarray = told.get("posterior", np.empty(0))
        self._winner: int = told["winner"]
        self._runner_up: int = told["runner_up"]

    @property
    def winner(self) -> Any:
        """The class that wins."""
        return self.classes[self._winner]

    @property
    def runner_up(self) -> Any:
        """The class that comes second."""
        return self.classes[self._runner_up]

    def ranked_contributions(self) -> list[tuple[str, float]]:
        """Log-odds of winner over runner-up: the intercept's, then each column's, the largest first."""
        intercept = _difference(self.intercepts, self._winner, self._runner_up)
        contributions = [(t["column"], t["log_odds"]) for t in self.terms]
        return [("intercept", intercept), *sorted(contributions, key=lambda pair: -abs(pair[1]))]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {
            "classes": self.classes.tolist(),
            "intercepts": self.intercepts.tolist(),
            "terms": [{**t, "terms": t["terms"].tolist()} for t in self.terms],
            "distances": self.distances.tolist(),
            "scores": self.scores.tolist(),
            "posterior": self.posterior.tolist(),
            "winner": self.classes.tolist()[self._winner],
            "runner_up": self.classes.tolist()[self._runner_up],
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def __repr__(self) -> str:
        if not len(self.posterior):
            return f"<ScoreExplanation: class {self.winner}>"
        share = self.posterior[self._winner]
        return f"<ScoreExplanation: class {self.winner} with probability {_short(share)}>"

    def __str__(self) -> str:
        blocks = [self._class_block(c) for c in range(len(self.classes))]
        total = _difference(self.scores, self._winner, self._runner_up)
        contributions = [(name, _signed(odds)) for name, odds in [*self.ranked_contributions(), ("total", total)]]
        blocks.append(_block(f"log-odds of {self.winner} against {self.runner_up}", contributions))
        return "\n\n".join(blocks)

    def _class_block(self, c: int) -> str:
        lines = [("intercept", _signed(self.intercepts[c]))]
        for term in self.terms:
            lines.append((f"{term['column']} = {_short(term['value'])}", _signed(term["terms"][c])))
        lines.append(("score", _signed(self.scores[c])))
        if len(self.distances):
            lines.append(("squared distance", _short(self.distances[c])))
        if len(self.posterior):
            lines.append(("P(class | row)", _short(self.posterior[c])))
        return _block(f"class {self.classes[c]}", lines)


class TermExplanation:
    """Why a row got its number: the constant term and one term a column.

    ``print`` it to read it; the numbers are attributes.

    Attributes
    ----------
    prediction : float
        The constant term plus all terms.
    intercept : float
        The constant term.
    average : float
        What an average row gets.
    terms : list of dict
        One a column: ``column``, ``value``, ``coefficient``, ``term``, which is their product, and
        ``contribution``, which is how far the column moves the number from that of an average row.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.prediction: float = told["prediction"]
        self.intercept: float = told["intercept"]
        self.average: float = told["average"]
        self.terms: list[dict[str, Any]] = told["terms"]

    def ranked_contributions(self) -> list[tuple[str, float]]:
        """The contribution of each column, the largest in magnitude first."""
        contributions = [(term["column"], term["contribution"]) for term in self.terms]
        return sorted(contributions, key=lambda pair: -abs(pair[1]))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {
            "prediction": self.prediction,
            "intercept": self.intercept,
            "average": self.average,
            "terms": self.terms,
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def __repr__(self) -> str:
        return f"<TermExplanation: {_short(self.prediction)}>"

    def __str__(self) -> str:
        lines = [("constant", _short(self.intercept))]
        for term in self.terms:
            product = f"{_short(term['coefficient'])} x {_short(term['value'])}"
            lines.append((term["column"], f"{product} = {_signed(term['term'])}"))
        lines.append(("sum", _short(self.prediction)))
        contributions = [("average row", _short(self.average))]
        contributions += [(name, _signed(value)) for name, value in self.ranked_contributions()]
        return "\n\n".join([_block("terms", lines), _block("contributions", contributions)])


class SupportExplanation:
    """Why a row got its answer: what each of the rows that a kernel machine keeps adds to it.

    ``print`` it to read it; the numbers are attributes.

    Attributes
    ----------
    sum : float
        ``f(x)``: the constant plus all terms. The number itself, or above zero for the class that wins.
    between : list or None
        The class that wins and the one that comes second, where there are classes.
    kernel : str
        The kernel with its numbers.
    intercept : float
        The constant.
    support_vectors : list of dict
        One a row with a part in the sum: ``row``, its place among the rows learned from, ``coefficient``,
        ``kernel``, which is how near it is, and ``term``, their product.
    """

    #: Rows that are printed; the others are summed up.
    most = 40

    def __init__(self, told: dict[str, Any]) -> None:
        self.sum: float = told["sum"]
        between = told.get("between")
        # Labels come with their kind.
        self.between: list[Any] | None = between and [next(iter(label.values())) for label in between]
        self.kernel: str = told["kernel"]
        self.intercept: float = told["intercept"]
        self.support_vectors: list[dict[str, Any]] = told["support_vectors"]

    def ranked_contributions(self) -> list[tuple[int, float]]:
        """What each row adds, the strongest first."""
        return [(support["row"], support["term"]) for support in self._strongest()]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {
            "sum": self.sum,
            "between": self.between,
            "kernel": self.kernel,
            "intercept": self.intercept,
            "support_vectors": self.support_vectors,
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def __repr__(self) -> str:
        return f"<SupportExplanation: {self._head()}>"

    def __str__(self) -> str:
        strongest = self._strongest()
        lines = []
        for support in strongest[: self.most]:
            product = f"{_short(support['coefficient'])} x {_short(support['kernel'])}"
            lines.append((f"row {support['row']}", f"{product} = {_signed(support['term'])}"))
        weaker = [support["term"] for support in strongest[self.most :]]
        if weaker:
            lines.append((f"{len(weaker)} weaker rows", _signed(sum(weaker))))
        lines += [("constant", _signed(self.intercept)), ("sum", _signed(self.sum))]
        return f"{self._head()}\nK(z, x) = {self.kernel}\n\n" + _block("coefficient x K(z, x)", lines)

    def _strongest(self) -> list[dict[str, Any]]:
        return sorted(self.support_vectors, key=lambda support: -abs(support["term"]))

    def _head(self) -> str:
        if self.between is None:
            return f"f(x) = {_short(self.sum)}"
        return f"{self.between[0]} against {self.between[1]}: f(x) = {_short(self.sum)}"


def _block(title: str, lines: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in lines)
    return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in lines)])


def _difference(numbers: np.ndarray, winner: int, loser: int) -> float:
    """Zero where both are impossible."""
    same = numbers[winner] == numbers[loser]
    return 0.0 if same else float(numbers[winner] - numbers[loser])


def _short(x: float) -> str:
    return f"{x:.4g}"


def _signed(x: float) -> str:
    return f"{x:+.4g}"


def _power(log: float) -> str:
    """``exp(log)``, written as a power where a double would show nothing."""
    return _short(math.exp(log)) if -700 < log < 700 or log == -math.inf else f"exp({_short(log)})"
