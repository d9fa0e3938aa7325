"""The ε-tube of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .style import CLASS_COLORS, GRAY, INK, Display, legend
from .table import Table, final_step


@dataclass
class TubeDisplay(Display):
    """The function of support vector regression over one feature, with its ε-tube.

    Rows inside the tube have no loss. Support vectors, which lie on the edge of the tube or outside, have a ring;
    the slack of a row outside, its distance from the tube, is a vertical segment.

    Attributes
    ----------
    xs, function : ndarray
        The function.
    epsilon : float
        Half the width of the tube.
    x, y : ndarray
        The rows.
    support : ndarray of int
        The indices of the support vectors.
    slacks : ndarray of shape (n_rows,) or None
        ``max(0, |y − f(x)| − ε)`` of every row; ``None`` for one feature out of more, where the drawn function is
        not the prediction of the rows.
    segments : ndarray of shape (n_drawn_slacks, 2, 2)
        The slacks as segments from the row to the edge of the tube.
    """

    xs: np.ndarray
    function: np.ndarray
    epsilon: float
    x: np.ndarray
    y: np.ndarray
    support: np.ndarray
    names: tuple[str, str]
    slacks: np.ndarray | None
    segments: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, feature: str | int | None = None, ax: Any = None
    ) -> Self:
        """Draws a fitted ``SVR``, ``NuSVR`` or ``LinearSVR``, or a pipeline that ends in one.

        Parameters
        ----------
        estimator : fitted estimator
            The regressor.
        X : array or data frame of shape (n_samples, n_features)
            The training rows.
        y : array of shape (n_samples,)
            Their targets.
        feature : str or int, default=None
            The feature of the horizontal axis, if there are several. The others are fixed at their mean.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        table = Table(X)
        table.use_names_of(estimator)
        (j,) = table.choose(feature, 1)
        final = final_step(estimator)
        epsilon = float(getattr(final, "epsilon_", getattr(final, "epsilon", 0.0)))
        xs = np.linspace(*table.range(j), 400)
        targets = np.asarray(y, dtype=float).ravel()
        residuals = targets - np.asarray(estimator.predict(X)).ravel()
        tolerance = 2.0 * float(getattr(final, "tol", 1e-3)) * max(float(np.std(targets)), 1e-300)
        support = getattr(final, "support_", None)
        if support is None:
            # A linear SVM stores no support vectors: they are the rows outside or on the edge.
            support = np.flatnonzero(np.abs(residuals) >= epsilon - tolerance)
        x, slacks, segments = table.values[:, j], None, np.empty((0, 2, 2))
        if len(table.names) == 1:
            slacks = np.maximum(0.0, np.abs(residuals) - epsilon)
            drawn = slacks > tolerance
            edge = targets - np.sign(residuals) * slacks
            starts = np.column_stack([x, targets])[drawn]
            segments = np.stack([starts, np.column_stack([x, edge])[drawn]], axis=1)
        function = np.asarray(estimator.predict(table.rows([j], xs[:, None]))).ravel()
        names = (table.names[j], str(getattr(y, "name", None) or "y"))
        found = np.asarray(support, dtype=int)
        return cls(xs, function, epsilon, x, targets, found, names, slacks, segments).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        low, high = self.function - self.epsilon, self.function + self.epsilon
        color = CLASS_COLORS[0]
        if self.epsilon > 0:
            ax.fill_between(self.xs, low, high, color=color, alpha=0.12, linewidth=0)
            ax.plot(
                self.xs, low, "--", color=GRAY, linewidth=1.1, label=f"tube f ± {self.epsilon:g}"
            )
            ax.plot(self.xs, high, "--", color=GRAY, linewidth=1.1)
        ax.plot(self.xs, self.function, color=INK, linewidth=1.6, label="f(x)")
        ax.scatter(
            self.x,
            self.y,
            s=26,
            color=color,
            edgecolors="white",
            linewidths=0.5,
            zorder=3,
            label="rows",
        )
        if len(self.support):
            ax.scatter(
                self.x[self.support],
                self.y[self.support],
                s=85,
                facecolors="none",
                edgecolors=INK,
                linewidths=1.1,
                zorder=4,
                label=f"support vectors ({len(self.support)})",
            )
        for k, segment in enumerate(self.segments):
            label = "slack ξ" if k == 0 else None
            ax.plot(*segment.T, color="#c00000", linewidth=0.9, zorder=2, label=label)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_xlim(self.xs[0], self.xs[-1])
        legend(ax)
        return self
