"""The decision boundary of a support vector machine with its margin, support vectors and slacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from .style import GRAY, INK, Display, class_color, legend, scatter_classes, set_equal_aspect
from .table import Table, class_codes, final_step, margins_between_classes

#: Opacity of the regions of the classes.
REGION_OPACITY = 0.12
#: Points along each side of the grid.
GRID = 200


@dataclass
class MarginDisplay(Display):
    """The street of a support vector machine over two features.

    The boundary ``f(x) = 0``, the edges of the margin ``f(x) = ±1``, the support vectors with a ring, and the
    slack ``ξ = max(0, 1 − t f(x))`` of every row on the wrong side of its edge as a segment to that edge. With a
    linear kernel a segment is perpendicular to the edge and ``ξ`` times ``margins_`` long; with other kernels it
    ends at the nearest point of the edge. More than two classes have boundaries and support vectors only. Two
    features out of more have no slacks: the other features are fixed at their mean. Other classifiers have
    boundaries only.

    Attributes
    ----------
    xs, ys : ndarray
        The coordinates of the grid.
    decision : ndarray of shape (n_ys, n_xs) or None
        The decision function on the grid, for a support vector machine of two classes.
    margins : ndarray of shape (n_classes, n_ys, n_xs)
        The score of each class minus the best other score.
    points, codes : ndarray
        The rows that are drawn and the codes of their classes.
    support : ndarray of shape (n_support, 2)
        The support vectors.
    slacks : ndarray of shape (n_rows,) or None
        The slack of every row, for two classes and exactly two features.
    segments : ndarray of shape (n_drawn_slacks, 2, 2)
        The slacks as segments from the row to the edge of the margin.
    """

    xs: np.ndarray
    ys: np.ndarray
    decision: np.ndarray | None
    margins: np.ndarray
    points: np.ndarray
    codes: np.ndarray
    classes: list[str]
    support: np.ndarray
    names: tuple[str, str]
    slacks: np.ndarray | None = None
    segments: np.ndarray = field(default_factory=lambda: np.empty((0, 2, 2)))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Any = None,
        grid: int = GRID,
        slacks: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draws a fitted ``SVC``, ``NuSVC``, ``LinearSVC``, ``OneClassSVM`` or any other classifier, or a
        pipeline that ends in one.

        Parameters
        ----------
        estimator : fitted estimator
            The support vector machine.
        X : array or data frame of shape (n_samples, n_features)
            The training rows.
        y : array of shape (n_samples,)
            Their classes; not needed for ``OneClassSVM``.
        features : pair of str or int, default=None
            The features of the axes, if there are more than two. The others are fixed at their mean.
        grid : int, default=200
            Points along each side of the grid on which the decision function is evaluated.
        slacks : bool, default=True
            Draw the slacks.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        table = Table(X)
        table.use_names_of(estimator)
        chosen = table.choose(features, 2)
        xs, ys, rows = table.grid(chosen, grid)
        classes = getattr(estimator, "classes_", None)
        codes = np.zeros(len(table.values), dtype=int)
        margins, names = np.empty((0, grid, grid)), ["rows"]
        if classes is not None:
            if y is None:
                raise ValueError("y is needed to draw the rows of a classifier")
            codes, names = (
                class_codes(y, classes, len(table.values)),
                [str(label) for label in classes],
            )
            margins = margins_between_classes(estimator, rows).T.reshape(-1, grid, grid)
        has_margin = classes is None or (len(classes) == 2 and _has_margin(final_step(estimator)))
        decision = None
        if has_margin:
            decision = np.asarray(estimator.decision_function(rows)).reshape(grid, grid)
        display = cls(
            xs,
            ys,
            decision,
            margins,
            table.values[:, chosen],
            codes,
            names,
            _support_rows(estimator, table, codes)[:, chosen],
            (table.names[chosen[0]], table.names[chosen[1]]),
        )
        if slacks and classes is not None and decision is not None and len(table.names) == 2:
            signs = 2.0 * codes - 1.0
            decisions = np.asarray(estimator.decision_function(X)).ravel()
            display.slacks = np.maximum(0.0, 1.0 - signs * decisions)
            tolerance = 2.0 * float(getattr(final_step(estimator), "tol", 1e-3))
            display.segments = display._segments(decisions, signs, display.slacks > tolerance)
        return display.plot(ax)

    def _segments(self, decisions: np.ndarray, signs: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """The segments from the rows with slack to the edge of the margin of their class."""
        starts, targets = self.points[drawn], signs[drawn]
        gradient = self._gradient()
        if gradient is not None:
            steps = (targets - decisions[drawn]) / (gradient @ gradient)
            return np.stack([starts, starts + steps[:, None] * gradient], axis=1)
        ends = np.full_like(starts, np.nan)
        for target in (-1.0, 1.0):
            edge = _level_lines(self.xs, self.ys, self.decision, target)
            own = targets == target
            if edge:
                ends[own] = [_nearest(point, edge) for point in starts[own]]
        # An edge that does not reach the picture has no nearest point.
        found = np.isfinite(ends[:, 0])
        return np.stack([starts[found], ends[found]], axis=1)

    def _gradient(self) -> np.ndarray | None:
        """The gradient of an affine decision function, ``None`` if it is not affine or constant."""
        f = self.decision
        assert f is not None
        gradient = np.array(
            [
                (f[0, -1] - f[0, 0]) / (self.xs[-1] - self.xs[0]),
                (f[-1, 0] - f[0, 0]) / (self.ys[-1] - self.ys[0]),
            ]
        )
        affine = f[0, 0] + np.add.outer(
            gradient[1] * (self.ys - self.ys[0]), gradient[0] * (self.xs - self.xs[0])
        )
        scale = np.abs(f).max()
        is_affine = scale > 0 and np.abs(affine - f).max() <= 1e-6 * scale
        return gradient if is_affine and gradient @ gradient > 0 else None

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        if len(self.margins) > 1:
            winner = self.margins.argmax(axis=0)
            levels = np.arange(len(self.margins) + 1) - 0.5
            colors = [class_color(c) for c in range(len(self.margins))]
            ax.contourf(self.xs, self.ys, winner, levels, colors=colors, alpha=REGION_OPACITY)
        if self.decision is None:
            for margin in self.margins:
                ax.contour(self.xs, self.ys, margin, [0.0], colors=INK, linewidths=1.2)
            ax.plot([], [], color=INK, linewidth=1.2, label="boundary")
        else:
            self._draw_street(ax)
        scatter_classes(ax, self.points, self.codes, self.classes)
        if len(self.support):
            ax.scatter(
                *self.support.T,
                s=95,
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
        ax.set_ylim(self.ys[0], self.ys[-1])
        if len(self.segments):
            set_equal_aspect(ax, self.xs, self.ys)
        legend(ax)
        return self

    def _draw_street(self, ax: Any) -> None:
        """The boundary and, for a classifier, the edges of the margin."""
        assert self.decision is not None
        levels: list[tuple[float, str, str, str | None]] = [(0.0, "-", INK, "boundary f = 0")]
        if len(self.margins):
            levels += [(-1.0, "--", GRAY, "margin f = ±1"), (1.0, "--", GRAY, None)]
        for level, style, color, label in levels:
            width = 1.5 if level == 0.0 else 1.1
            low, high = self.decision.min(), self.decision.max()
            if low < level < high:
                options = {"colors": color, "linestyles": style, "linewidths": width}
                ax.contour(self.xs, self.ys, self.decision, [level], **options)
            if label is not None:
                ax.plot([], [], color=color, linestyle=style, linewidth=width, label=label)


def _has_margin(estimator: Any) -> bool:
    """Whether the decision function of an estimator has the edges of its margin at ±1."""
    hinge = getattr(estimator, "loss", None) in ("hinge", "squared_hinge")
    return hinge or type(estimator).__name__ in ("SVC", "NuSVC")


def _support_rows(estimator: Any, table: Table, codes: np.ndarray) -> np.ndarray:
    """The support vectors in the features of ``X``.

    A linear SVM stores none: they are the rows on or inside the margin.
    """
    final = final_step(estimator)
    n_features = len(table.names)
    support = getattr(final, "support_", None)
    if support is not None:
        vectors = final.support_vectors_
        vectors = np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)
        # The support vectors of a pipeline are preprocessed; its training rows are not.
        return table.values[support] if final is not estimator else vectors
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2 or not _has_margin(final):
        return np.empty((0, n_features))
    decisions = np.asarray(estimator.decision_function(table.source)).ravel()
    tolerance = float(getattr(final, "tol", 1e-4))
    return table.values[(2.0 * codes - 1.0) * decisions <= 1.0 + tolerance]


def _level_lines(xs: np.ndarray, ys: np.ndarray, f: Any, level: float) -> list[np.ndarray]:
    """The lines where ``f`` has a level, by linear interpolation on the grid."""
    from contourpy import contour_generator

    lines = contour_generator(xs, ys, f).lines(level)
    return [line for line in lines if len(line) > 1]  # type: ignore[union-attr, misc]


def _nearest(point: np.ndarray, lines: list[np.ndarray]) -> np.ndarray:
    """The point of polylines that is nearest to ``point``."""
    starts = np.concatenate([line[:-1] for line in lines])
    steps = np.concatenate([np.diff(line, axis=0) for line in lines])
    lengths = np.maximum((steps**2).sum(axis=1), np.finfo(float).tiny)
    along = np.clip(((point - starts) * steps).sum(axis=1) / lengths, 0.0, 1.0)
    candidates = starts + along[:, None] * steps
    return candidates[((candidates - point) ** 2).sum(axis=1).argmin()]
