"""Explicit feature maps that make classes linearly separable."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..preprocessing import PolynomialFeatures
from ..svm import SVC
from .margin import GRID, REGION_OPACITY
from .style import (
    GRAY,
    INK,
    Display,
    class_color,
    legend,
    pyplot,
    scatter_classes,
    set_equal_aspect,
)
from .table import Table, class_codes


@dataclass
class FeatureMapDisplay(Display):
    """Rows before and after a quadratic feature map, with the hyperplane that separates them after it.

    One feature becomes ``(x, x²)``, where a line separates what no threshold on ``x`` does. Two features become
    ``(x₁², √2 x₁x₂, x₂²)``, the map of the kernel ``(x·z)²``: a hyperplane there is a conic section in the
    original features. The hyperplane is the one with the largest margin.

    Attributes
    ----------
    points : ndarray of shape (n_rows, 1 or 2)
        The rows.
    mapped : ndarray of shape (n_rows, 2 or 3)
        The mapped rows.
    codes : ndarray of shape (n_rows,)
        The codes of the classes.
    weights, intercept : ndarray and float
        The hyperplane ``w·φ(x) + b = 0``.
    estimator : SVC
        The support vector machine of the mapped rows.
    """

    points: np.ndarray
    mapped: np.ndarray
    codes: np.ndarray
    classes: list[str]
    names: list[str]
    weights: np.ndarray
    intercept: float
    feature_map: PolynomialFeatures
    estimator: SVC

    @classmethod
    def from_data(cls, X: Any, y: Any, *, C: float = 1000.0, ax: Any = None) -> Self:
        """Maps rows of one or two features and two classes, and separates them.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, 1 or 2)
            The rows.
        y : array of shape (n_samples,)
            Their classes.
        C : float, default=1000
            Inverse regularization strength of the separating support vector machine.
        ax : pair of matplotlib Axes, default=None
            The axes to draw into, the second with ``projection="3d"`` for two features; ``None`` makes a figure.
        """
        table = Table(X)
        classes = np.unique(np.asarray(y))
        if len(classes) != 2 or len(table.names) not in (1, 2):
            raise ValueError(
                f"the display draws two classes in one or two features, not {len(classes)} classes in "
                f"{len(table.names)} features"
            )
        codes = class_codes(y, classes)
        if len(table.names) == 1:
            feature_map = PolynomialFeatures(2, include_bias=False)
            x = table.names[0]
            names = [x, f"{x}²"]
        else:
            feature_map = PolynomialFeatures(2, kernel=True, coef0=0.0)
            a, b = table.names
            names = [f"{a}²", f"√2·{a}·{b}", f"{b}²"]
        mapped = np.asarray(feature_map.fit_transform(table.values))
        model = SVC(kernel="linear", C=C).fit(mapped, codes)
        return cls(
            table.values,
            mapped,
            codes,
            [str(label) for label in classes],
            [*table.names, *names],
            np.ravel(model.coef_),
            float(model.intercept_[0]),
            feature_map,
            model,
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        if ax is None and self.points.shape[1] == 2:
            figure = pyplot().figure(figsize=(11.0, 4.6), layout="constrained")
            ax = [figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")]
        left, right = self._start(ax, 2, size=(5.0, 4.0))
        if self.points.shape[1] == 1:
            self._draw_line(left, right)
        else:
            self._draw_plane(left, right)
        return self

    def _draw_line(self, left: Any, right: Any) -> None:
        x, squares = self.mapped.T
        row = np.column_stack([x, np.zeros(len(x))])
        left.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
        scatter_classes(left, row, self.codes, self.classes, size=45)
        left.set(xlabel=self.names[0], yticks=[], ylim=(-1, 1), title="one feature")
        scatter_classes(right, self.mapped, self.codes, self.classes, size=45)
        pad = 0.08 * np.ptp(x) or 1.0
        xs = np.linspace(x.min() - pad, x.max() + pad, 200)
        right.plot(xs, xs**2, color="#bbbbbb", linewidth=0.8, zorder=0)
        if self.weights[1] != 0.0:
            for level, style, color in ((0.0, "-", INK), (-1.0, "--", GRAY), (1.0, "--", GRAY)):
                line = (level - self.intercept - self.weights[0] * xs) / self.weights[1]
                label = {0.0: "boundary f = 0", 1.0: "margin f = ±1"}.get(level)
                right.plot(xs, line, style, color=color, linewidth=1.3, label=label)
        spread = 0.08 * np.ptp(squares) or 1.0
        right.set_xlim(xs[0], xs[-1])
        right.set_ylim(squares.min() - spread, squares.max() + spread)
        right.set(xlabel=self.names[1], ylabel=self.names[2], title="after x → (x, x²)")
        legend(right)

    def _draw_plane(self, left: Any, right: Any) -> None:
        table = Table(self.points)
        xs, ys, rows = table.grid([0, 1], GRID)
        f = (self.feature_map.transform(rows) @ self.weights + self.intercept).reshape(GRID, GRID)
        colors = [class_color(0), class_color(1)]
        left.contourf(xs, ys, f, [-np.inf, 0.0, np.inf], colors=colors, alpha=REGION_OPACITY)
        left.contour(xs, ys, f, [0.0], colors=INK, linewidths=1.4)
        left.plot([], [], color=INK, linewidth=1.4, label="boundary f = 0")
        scatter_classes(left, self.points, self.codes, self.classes)
        left.set(xlabel=self.names[0], ylabel=self.names[1], title="two features")
        set_equal_aspect(left, xs, ys)
        legend(left, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
        for c in range(2):
            marker = {"color": class_color(c), "marker": "os"[c], "s": 18, "depthshade": False}
            right.scatter(*self.mapped[self.codes == c].T, **marker)
        low, high = self.mapped.min(axis=0), self.mapped.max(axis=0)
        if self.weights[2] != 0.0:
            corners = np.array([low[:2], [high[0], low[1]], high[:2], [low[0], high[1]]])
            shown = _within(self._on_hyperplane(corners), low[2], high[2])
            if len(shown):
                collections = importlib.import_module("mpl_toolkits.mplot3d.art3d")
                right.add_collection3d(
                    collections.Poly3DCollection([shown], facecolors=GRAY, alpha=0.35)
                )
        right.set(xlabel=self.names[2], ylabel=self.names[3], zlabel=self.names[4])
        right.set_zlim(low[2], high[2])
        right.set_title("after the quadratic map")
        right.view_init(elev=18, azim=-35)
        right.tick_params(labelsize="x-small")
        right.locator_params(nbins=4)
        right.set_box_aspect(None, zoom=1.0)

    def _on_hyperplane(self, points: np.ndarray) -> np.ndarray:
        """The points of the hyperplane above points of the first two mapped features."""
        height = -(self.intercept + points @ self.weights[:2]) / self.weights[2]
        return np.column_stack([points, height])


def _within(polygon: np.ndarray, low: float, high: float) -> np.ndarray:
    """The part of a polygon with a last coordinate from ``low`` to ``high`` (Sutherland and Hodgman 1974)."""
    for sign, bound in ((1.0, low), (-1.0, -high)):
        clipped: list[np.ndarray] = []
        for k, end in enumerate(polygon):
            start = polygon[k - 1]
            before, after = sign * start[-1] - bound, sign * end[-1] - bound
            if (before < 0.0) != (after < 0.0):
                clipped.append(start + before / (before - after) * (end - start))
            if after >= 0.0:
                clipped.append(end)
        polygon = np.array(clipped).reshape(-1, polygon.shape[1])
    return polygon
