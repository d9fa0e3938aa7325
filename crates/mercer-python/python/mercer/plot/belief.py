"""Belief over a sequence of observations, and distributions of a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import stats

from ..probability import Belief
from .style import INK, Display, class_color, class_marker, legend


@dataclass
class BeliefDisplay(Display):
    """The posterior of every hypothesis, and the prediction, after each observation.

    Attributes
    ----------
    posteriors : ndarray of shape (n_observations + 1, n_hypotheses)
        The posterior probabilities; the first row is the prior.
    predictions : ndarray of shape (n_observations + 1,)
        The probability that the next observation is ``outcome``.
    """

    posteriors: np.ndarray
    predictions: np.ndarray
    hypotheses: list[str]
    observations: list[str]
    outcome: str

    @classmethod
    def from_observations(
        cls,
        priors: Mapping[str, float],
        outcomes: Mapping[str, Mapping[str, float]],
        observations: Sequence[str],
        *,
        outcome: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Updates a :class:`mercer.probability.Belief` by one observation after the other.

        Parameters
        ----------
        priors : dict of hypothesis to probability
            The prior.
        outcomes : dict of outcome to dict of hypothesis to probability
            The likelihood of each outcome under every hypothesis.
        observations : sequence of outcome
            What was observed.
        outcome : str, default=None
            The outcome whose probability is predicted; ``None`` predicts the first one observed.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        belief = Belief(priors, outcomes)
        hypotheses, seen = list(belief.posterior), list(observations)
        first = seen[0] if seen else next(iter(belief.predictive))
        shown = first if outcome is None else outcome
        if shown not in belief.predictive:
            raise ValueError(f"{shown!r} is none of the outcomes {', '.join(belief.predictive)}")
        rows, predictions = [belief.posterior], [belief.predictive[shown]]
        for observation in seen:
            belief.observe(observation)
            rows.append(belief.posterior)
            predictions.append(belief.predictive[shown])
        posteriors = np.array([[row[name] for name in hypotheses] for row in rows])
        return cls(posteriors, np.array(predictions), hypotheses, seen, shown).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        steps = np.arange(len(self.posteriors))
        # A long sequence needs no marker at every step.
        every = max(1, len(steps) // 20)
        for h, name in enumerate(self.hypotheses):
            style = {"color": class_color(h), "marker": class_marker(h), "markevery": every}
            ax.plot(steps, self.posteriors[:, h], markersize=5, label=f"P({name} | data)", **style)
        label = f"P(next is {self.outcome} | data)"
        ax.plot(steps, self.predictions, "--", color=INK, linewidth=1.6, label=label)
        ax.set(xlabel="number of observations", ylabel="probability", ylim=(-0.03, 1.03))
        if len(steps) <= 21:
            ax.set_xticks(steps)
        legend(ax)
        return self


@dataclass
class ParameterDisplay(Display):
    """Densities of a parameter, such as its prior and its posterior, with credible intervals.

    Attributes
    ----------
    xs : ndarray
        The values of the parameter.
    densities : dict of str to ndarray
        The density of each distribution.
    means : dict of str to float
        The mean of each distribution.
    intervals : dict of str to (float, float)
        The equal-tailed credible interval of each distribution.
    """

    xs: np.ndarray
    densities: dict[str, np.ndarray]
    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    level: float
    name: str

    @classmethod
    def from_distributions(
        cls, distributions: Any, *, level: float = 0.95, name: str = "parameter", ax: Any = None
    ) -> Self:
        """Draws ``Beta``, ``Gamma`` and ``NormalMean`` distributions of :mod:`mercer.probability`.

        Parameters
        ----------
        distributions : distribution, or dict of label to distribution
            The distributions, for example ``{"prior": prior, "posterior": prior.updated(7, 3)}``.
        level : float, default=0.95
            The probability of the credible intervals.
        name : str, default="parameter"
            The name of the parameter.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        named = distributions if isinstance(distributions, Mapping) else {"density": distributions}
        frozen = {str(label): _scipy(one) for label, one in named.items()}
        # The interval in which all densities have their mass, open at singular ends.
        low = min(one.ppf(0.001) for one in frozen.values())
        high = max(one.ppf(0.999) for one in frozen.values())
        support = next(iter(frozen.values())).support()
        pad = 0.02 * (high - low)
        xs = np.linspace(max(low - pad, support[0]), min(high + pad, support[1]), 600)[1:-1]
        means = {str(label): float(one.mean) for label, one in named.items()}
        intervals = {str(label): tuple(one.interval(level)) for label, one in named.items()}
        densities = {label: one.pdf(xs) for label, one in frozen.items()}
        return cls(xs, densities, means, intervals, level, name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        for k, (label, density) in enumerate(self.densities.items()):
            low, high = self.intervals[label]
            color = class_color(k)
            interval = f"{100 * self.level:g} % in [{low:.3g}, {high:.3g}]"
            text = f"{label}\nmean {self.means[label]:.3g}, {interval}"
            ax.plot(self.xs, density, color=color, linewidth=1.8, label=text)
            inside = (self.xs >= low) & (self.xs <= high)
            ax.fill_between(self.xs, density, where=inside, color=color, alpha=0.15, linewidth=0)
            ax.axvline(self.means[label], color=color, linewidth=0.9, linestyle=":")
        tallest = max(np.percentile(density, 99.5) for density in self.densities.values())
        ax.set(xlabel=self.name, ylabel="density", ylim=(0.0, 1.1 * float(tallest)))
        ax.set_xlim(self.xs[0], self.xs[-1])
        legend(ax)
        return self


def _scipy(distribution: Any) -> Any:
    """The distribution of scipy with the same density."""
    kind = type(distribution).__name__
    if kind == "Beta":
        return stats.beta(*distribution.parameters)
    if kind == "Gamma":
        shape, rate = distribution.parameters
        return stats.gamma(shape, scale=1.0 / rate)
    if kind == "NormalMean":
        return stats.norm(distribution.mean, np.sqrt(distribution.variance))
    raise ValueError(
        f"{kind} has no density over one parameter; expected Beta, Gamma or NormalMean"
    )
