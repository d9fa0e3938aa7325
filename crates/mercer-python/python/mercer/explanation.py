"""Explanations of single predictions: factors, terms, and their sums."""

import math
from typing import Any

import numpy as np

__all__ = ["Explanation", "ScoreExplanation", "SupportExplanation", "TermExplanation"]


class Explanation:
    """A prediction of a naive Bayes model: prior, one likelihood factor per column, posterior.

    ``print`` shows it as text; the values are attributes.

    Attributes
    ----------
    classes : ndarray
        The classes, in the order of all arrays below.
    log_priors : ndarray
        ``log P(class)``.
    factors : list of dict
        One entry per column: ``column``, ``value`` (``None`` if missing), ``log_factors``,
        ``formulas``, and ``log_odds``, its contribution to the log-odds of the winner against the
        runner-up.
    log_likelihood : ndarray
        The sum of the log factors: ``log p(row | class)``, before the prior.
    log_joint : ndarray
        ``log P(class) + sum of log factors``.
    posterior : ndarray
        ``P(class | row)``; the priors if ``impossible``.
    impossible : bool
        Whether the likelihood is zero in every class.
    """

    def __init__(self, parts: dict[str, Any], classes: np.ndarray) -> None:
        self.classes = classes
        self.log_likelihood: np.ndarray = parts["log_likelihood"]
        self.impossible: bool = parts["impossible"]
        self.log_priors: np.ndarray = parts["log_priors"]
        self.factors: list[dict[str, Any]] = parts["factors"]
        self.log_joint: np.ndarray = parts["log_joint"]
        self.posterior: np.ndarray = parts["posterior"]
        self._winner: int = parts["winner"]
        self._runner_up: int = parts["runner_up"]

    @property
    def winner(self) -> Any:
        """The predicted class."""
        return self.classes[self._winner]

    @property
    def runner_up(self) -> Any:
        """The class with the second highest score."""
        return self.classes[self._runner_up]

    def ranked_contributions(self) -> list[tuple[str, float]]:
        """Contributions to the log-odds of the winner against the runner-up: that of the prior, then
        those of the columns, the largest in magnitude first."""
        prior = _difference(self.log_priors, self._winner, self._runner_up)
        contributions = [
            (f["column"], f["log_odds"]) for f in self.factors if f["value"] is not None
        ]
        return [("prior", prior), *sorted(contributions, key=lambda pair: -abs(pair[1]))]

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary that JSON can express."""
        factors = [{**f, "log_factors": f["log_factors"].tolist()} for f in self.factors]
        return {
            "classes": self.classes.tolist(),
            "log_priors": self.log_priors.tolist(),
            "factors": factors,
            "log_likelihood": self.log_likelihood.tolist(),
            "log_joint": self.log_joint.tolist(),
            "posterior": self.posterior.tolist(),
            "impossible": self.impossible,
            "winner": self.classes.tolist()[self._winner],
            "runner_up": self.classes.tolist()[self._runner_up],
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def __repr__(self) -> str:
        probability = self.posterior[self._winner]
        return f"<Explanation: class {self.winner} with probability {_short(probability)}>"

    def __str__(self) -> str:
        blocks = [self._class_block(c) for c in range(len(self.classes))]
        return "\n\n".join([*blocks, self._posterior_block(), self._contributions_block()])

    def _class_block(self, c: int) -> str:
        lines = []
        for factor in self.factors:
            missing = factor["value"] is None
            formula = "missing, no factor" if missing else factor["formulas"][c]
            lines.append((factor["column"], formula))
        lines.append(("likelihood", _power(self.log_likelihood[c])))
        lines.append(("prior", _power(self.log_priors[c])))
        lines.append(("product", _power(self.log_joint[c])))
        return _block(f"class {self.classes[c]}", lines)

    def _posterior_block(self) -> str:
        posterior = zip(self.classes, self.posterior, strict=True)
        title = "posterior"
        if self.impossible:
            title = "every class has likelihood zero; the posterior falls back to the priors"
        return _block(title, [(f"P({label} | row)", _short(p)) for label, p in posterior])

    def _contributions_block(self) -> str:
        total = _difference(self.log_joint, self._winner, self._runner_up)
        contributions = [(name, _signed(odds)) for name, odds in self.ranked_contributions()]
        contributions.append(("total", "undefined" if self.impossible else _signed(total)))
        return _block(f"log-odds of {self.winner} against {self.runner_up}", contributions)


class ScoreExplanation:
    """A prediction of a classifier with additive scores: one term per column in the score of each
    class.

    ``print`` shows it as text; the values are attributes.

    Attributes
    ----------
    classes : ndarray
        The classes, in the order of all arrays below.
    intercepts : ndarray
        The intercept of each class.
    baseline : ndarray
        The row whose scores are the intercepts, if the terms are integrated gradients from there (the
        mean training row of a neural network); empty otherwise.
    terms : list of dict
        One entry per column: ``column``, ``value``, ``terms`` (one per class), and ``contribution``
        to ``measure`` of the winner against the runner-up.
    measure : str
        ``"log-odds"``, or ``"decision value"`` for a margin classifier. The contributions of two
        classes that share one decision function sum to its value.
    distances : ndarray
        Squared Mahalanobis distances to the class means; empty if the model has none.
    scores : ndarray
        ``intercept + sum of terms``.
    posterior : ndarray
        ``P(class | row)``; empty if the model has no probabilities.
    """

    def __init__(self, parts: dict[str, Any], classes: np.ndarray) -> None:
        self.classes = classes
        self.intercepts: np.ndarray = parts["intercepts"]
        self.baseline: np.ndarray = parts.get("baseline", np.empty(0))
        self.terms: list[dict[str, Any]] = parts["terms"]
        self.distances: np.ndarray = parts.get("distances", np.empty(0))
        self.scores: np.ndarray = parts["scores"]
        self.posterior: np.ndarray = parts.get("posterior", np.empty(0))
        self.measure: str = parts["measure"]
        self._winner: int = parts["winner"]
        self._runner_up: int = parts["runner_up"]

    @property
    def winner(self) -> Any:
        """The predicted class."""
        return self.classes[self._winner]

    @property
    def runner_up(self) -> Any:
        """The class with the second highest score."""
        return self.classes[self._runner_up]

    def ranked_contributions(self) -> list[tuple[str, float]]:
        """Contributions to ``measure`` of the winner against the runner-up: that of the intercept,
        then those of the columns, the largest in magnitude first."""
        intercept = self._between(self.intercepts)
        contributions = [(t["column"], t["contribution"]) for t in self.terms]
        return [("intercept", intercept), *sorted(contributions, key=lambda pair: -abs(pair[1]))]

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary that JSON can express."""
        return {
            "classes": self.classes.tolist(),
            "intercepts": self.intercepts.tolist(),
            "baseline": self.baseline.tolist(),
            "terms": [{**t, "terms": t["terms"].tolist()} for t in self.terms],
            "distances": self.distances.tolist(),
            "scores": self.scores.tolist(),
            "posterior": self.posterior.tolist(),
            "measure": self.measure,
            "winner": self.classes.tolist()[self._winner],
            "runner_up": self.classes.tolist()[self._runner_up],
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def _between(self, scores: np.ndarray) -> float:
        if self.measure == "decision value" and len(scores) == 2:
            return float(scores[self._winner])
        return _difference(scores, self._winner, self._runner_up)

    def __repr__(self) -> str:
        if not len(self.posterior):
            return f"<ScoreExplanation: class {self.winner}>"
        probability = self.posterior[self._winner]
        return f"<ScoreExplanation: class {self.winner} with probability {_short(probability)}>"

    def __str__(self) -> str:
        blocks = [self._class_block(c) for c in range(len(self.classes))]
        total = self._between(self.scores)
        contributions = [
            (name, _signed(odds)) for name, odds in [*self.ranked_contributions(), ("total", total)]
        ]
        title = f"{self.measure} of {self.winner} against {self.runner_up}"
        blocks.append(_block(title, contributions))
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
    """A prediction of a linear regression: the intercept and one term per column.

    ``print`` shows it as text; the values are attributes.

    Attributes
    ----------
    prediction : float
        The intercept plus all terms.
    intercept : float
        The intercept.
    average : float
        The prediction for the mean of the training rows.
    terms : list of dict
        One entry per column: ``column``, ``value``, ``coefficient``, ``term`` (their product), and
        ``contribution``, the difference between the term and that of the mean row.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self.prediction: float = parts["prediction"]
        self.intercept: float = parts["intercept"]
        self.average: float = parts["average"]
        self.terms: list[dict[str, Any]] = parts["terms"]

    def ranked_contributions(self) -> list[tuple[str, float]]:
        """The contribution of each column, the largest in magnitude first."""
        contributions = [(term["column"], term["contribution"]) for term in self.terms]
        return sorted(contributions, key=lambda pair: -abs(pair[1]))

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary that JSON can express."""
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
        lines = [("intercept", _short(self.intercept))]
        for term in self.terms:
            product = f"{_short(term['coefficient'])} x {_short(term['value'])}"
            lines.append((term["column"], f"{product} = {_signed(term['term'])}"))
        lines.append(("sum", _short(self.prediction)))
        contributions = [("average row", _short(self.average))]
        contributions += [(name, _signed(value)) for name, value in self.ranked_contributions()]
        return "\n\n".join([_block("terms", lines), _block("contributions", contributions)])


class SupportExplanation:
    """A value of a kernel expansion: one term per support vector.

    ``print`` shows it as text; the values are attributes.

    Attributes
    ----------
    sum : float
        ``f(x)``, the intercept plus all terms: the prediction of a regression, or the decision value
        between the predicted class and the runner-up. It is positive for the predicted class unless
        votes or calibrated probabilities decide otherwise, see ``decision``.
    between : list or None
        For a classifier, the predicted class and the runner-up.
    decision : dict or None
        For a classifier, ``by``, what the class was chosen by (``"calibrated probabilities"``,
        ``"votes"`` or ``"decision values"``), and ``values``, those of the predicted class and of the
        runner-up.
    kernel : str
        The kernel as a formula.
    intercept : float
        The intercept.
    support_vectors : list of dict
        One entry per support vector: ``row``, its index among the training rows, ``coefficient``,
        ``kernel``, the value of the kernel, and ``term``, their product.
    """

    #: The number of support vectors that are printed; the terms of the others are added up.
    max_printed = 40

    def __init__(self, parts: dict[str, Any]) -> None:
        self.sum: float = parts["sum"]
        between = parts.get("between")
        # A label is a dictionary of its type and value.
        self.between: list[Any] | None = between and [
            next(iter(label.values())) for label in between
        ]
        self.decision: dict[str, Any] | None = parts.get("decision")
        self.kernel: str = parts["kernel"]
        self.intercept: float = parts["intercept"]
        self.support_vectors: list[dict[str, Any]] = parts["support_vectors"]

    def ranked_contributions(self) -> list[tuple[int, float]]:
        """The term of each support vector, the largest in magnitude first."""
        return [(support["row"], support["term"]) for support in self._ranked()]

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary that JSON can express."""
        return {
            "sum": self.sum,
            "between": self.between,
            "decision": self.decision
            and {"by": self.decision["by"], "values": list(self.decision["values"])},
            "kernel": self.kernel,
            "intercept": self.intercept,
            "support_vectors": self.support_vectors,
            "contributions": [list(pair) for pair in self.ranked_contributions()],
        }

    def __repr__(self) -> str:
        return f"<SupportExplanation: {self._head()}>"

    def __str__(self) -> str:
        ranked = self._ranked()
        lines = []
        for support in ranked[: self.max_printed]:
            product = f"{_short(support['coefficient'])} x {_short(support['kernel'])}"
            lines.append((f"row {support['row']}", f"{product} = {_signed(support['term'])}"))
        others = [support["term"] for support in ranked[self.max_printed :]]
        if others:
            lines.append((f"{len(others)} smaller terms", _signed(sum(others))))
        lines += [("intercept", _signed(self.intercept)), ("sum", _signed(self.sum))]
        return f"{self._head()}\nK(z, x) = {self.kernel}\n\n" + _block(
            "coefficient x K(z, x)", lines
        )

    def _ranked(self) -> list[dict[str, Any]]:
        return sorted(self.support_vectors, key=lambda support: -abs(support["term"]))

    def _head(self) -> str:
        if self.between is None:
            return f"f(x) = {_short(self.sum)}"
        head = f"{self.between[0]} against {self.between[1]}: f(x) = {_short(self.sum)}"
        if self.decision is None:
            return head
        own, other = (_short(value) for value in self.decision["values"])
        return f"{head}, decided by {self.decision['by']} ({own} against {other})"


def _block(title: str, lines: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in lines)
    return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in lines)])


def _difference(scores: np.ndarray, winner: int, runner_up: int) -> float:
    """The difference of two scores; 0 if both are minus infinity."""
    equal = scores[winner] == scores[runner_up]
    return 0.0 if equal else float(scores[winner] - scores[runner_up])


def _short(x: float) -> str:
    return f"{x:.4g}"


def _signed(x: float) -> str:
    # Adding zero drops the sign of minus zero.
    return f"{x + 0.0:+.4g}"


def _power(log: float) -> str:
    """``exp(log)``, written as a power if a float64 would overflow or underflow."""
    return _short(math.exp(log)) if -700 < log < 700 or log == -math.inf else f"exp({_short(log)})"
