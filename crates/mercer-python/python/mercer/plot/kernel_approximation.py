"""Random Fourier features and the Nyström method against the kernel that they approximate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from .style import CLASS_COLORS, GRAY, INK, Display, class_color, class_marker, legend
from .table import Table

#: Pairs of rows that are drawn.
MAX_PAIRS = 2000


@dataclass
class KernelApproximationDisplay(Display):
    """The inner products ``φ(x)·φ(z)`` of a feature map against the RBF kernel, over the distance of the rows.

    Attributes
    ----------
    distances, approximate, exact : ndarray of shape (n_pairs,)
        The distance of each pair, the inner product of its features and its kernel value.
    gamma : float
        The coefficient of the kernel.
    """

    distances: np.ndarray
    approximate: np.ndarray
    exact: np.ndarray
    gamma: float
    label: str

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, random_state: int = 0, ax: Any = None
    ) -> Self:
        """Draws a fitted ``RBFSampler`` or ``Nystroem`` with the RBF kernel.

        Parameters
        ----------
        estimator : fitted transformer
            The feature map.
        X : array or data frame of shape (n_samples, n_features)
            Rows whose pairs are drawn.
        random_state : int, default=0
            Seed of the choice of pairs, if there are more than 2000.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        gamma = _rbf_gamma(estimator)
        rows = Table(X).values
        first, second = np.triu_indices(len(rows), 1)
        if len(first) > MAX_PAIRS:
            kept = np.random.default_rng(random_state).choice(len(first), MAX_PAIRS, replace=False)
            first, second = first[kept], second[kept]
        features = np.asarray(estimator.transform(X))
        distances = np.sqrt(((rows[first] - rows[second]) ** 2).sum(axis=1))
        approximate = (features[first] * features[second]).sum(axis=1)
        exact = np.exp(-gamma * distances**2)
        label = f"{type(estimator).__name__}, {features.shape[1]} features"
        return cls(distances, approximate, exact, gamma, label).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        style = {"s": 5, "color": CLASS_COLORS[0], "alpha": 0.35, "linewidths": 0}
        error = float(np.sqrt(np.mean((self.approximate - self.exact) ** 2)))
        ax.scatter(
            self.distances, self.approximate, label=f"{self.label}\n(error {error:.2g})", **style
        )
        distances = np.linspace(0.0, self.distances.max(initial=1.0), 300)
        kernel = np.exp(-self.gamma * distances**2)
        ax.plot(distances, kernel, color=INK, linewidth=1.8, label=f"exp(−{self.gamma:g} d²)")
        ax.set(xlabel="distance d of two rows", ylabel="kernel value")
        ax.set_xlim(0.0, distances[-1])
        legend(ax, loc="upper right", bbox_to_anchor=None)
        return self


@dataclass
class ApproximationErrorDisplay(Display):
    """The error of feature maps against their number of features.

    The error is the root mean square of ``φ(x)·φ(z) − k(x, z)`` over all pairs of rows, averaged over seeds. That of
    random Fourier features falls as ``1/√M``, the straight line.

    Attributes
    ----------
    n_components : ndarray of int
        The numbers of features ``M``.
    errors : dict of str to ndarray
        The error of each map at each number of features.
    """

    n_components: np.ndarray
    errors: dict[str, np.ndarray]

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        *,
        n_components: Sequence[int] = (10, 30, 100, 300, 1000),
        seeds: int = 5,
        ax: Any = None,
    ) -> Self:
        """Fits ``RBFSampler`` and ``Nystroem`` estimators with growing numbers of features.

        Parameters
        ----------
        estimators : transformer, or dict of name to transformer
            The feature maps; their ``n_components`` and ``random_state`` are replaced.
        X : array or data frame of shape (n_samples, n_features)
            Rows to fit and to compare.
        n_components : sequence of int, default=(10, 30, 100, 300, 1000)
            The numbers of features.
        seeds : int, default=5
            Fits per number of features.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        named = estimators
        if not isinstance(estimators, Mapping):
            named = {type(estimators).__name__: estimators}
        rows = Table(X).values
        squares = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
        errors = {}
        for name, estimator in named.items():
            means = []
            for m in n_components:
                found = []
                for seed in range(seeds):
                    model = clone(estimator).set_params(n_components=m, random_state=seed).fit(X)
                    features = np.asarray(model.transform(X))
                    exact = np.exp(-_rbf_gamma(model) * squares)
                    found.append(np.sqrt(np.mean((features @ features.T - exact) ** 2)))
                means.append(float(np.mean(found)))
            errors[str(name)] = np.array(means)
        return cls(np.asarray(list(n_components), dtype=int), errors).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        # The logarithmic axis has no zero, which an exact approximation reaches up to rounding.
        floor = np.finfo(float).eps
        for k, (name, errors) in enumerate(self.errors.items()):
            style = {"color": class_color(k), "marker": class_marker(k), "markersize": 5}
            ax.plot(self.n_components, np.maximum(errors, floor), label=name, **style)
        first = next(iter(self.errors.values()))[0]
        line = first * np.sqrt(self.n_components[0] / self.n_components)
        ax.plot(self.n_components, line, "--", color=GRAY, linewidth=1.2, label="∝ 1/√M")
        ax.set(
            xscale="log",
            yscale="log",
            xlabel="number of features M",
            ylabel="root mean square error",
        )
        legend(ax)
        return self


def _rbf_gamma(estimator: Any) -> float:
    """The coefficient of the RBF kernel that a feature map approximates."""
    kernel = getattr(estimator, "kernel", "rbf")
    if kernel != "rbf":
        raise ValueError(f"the display needs the RBF kernel, but the kernel is {kernel!r}")
    try:
        return float(estimator.gamma_)
    except AttributeError:
        return float(estimator._fitted.field("function")["gamma"])
