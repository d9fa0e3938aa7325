"""What all displays share: matplotlib, the colors of the classes, the base class."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The colors of the classes, in order: the palette of Okabe and Ito (2008), which readers with any
#: color vision can distinguish. Black is left to boundaries and models.
CLASS_COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8C6D31",
    "#5B5EA6",
)
#: The markers of the classes, a second cue besides the color.
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
#: The line styles of models that are drawn over each other.
MODEL_LINES = ("-", "--", ":", "-.")
#: Boundaries and functions.
INK = "#222222"
#: The largest ratio of the ranges of two axes that have one scale.
MAX_ASPECT = 2.5
#: Grid lines, thresholds and reference lines.
GRAY = "#8a8a8a"


def pyplot() -> Any:
    """The module ``matplotlib.pyplot``, imported at the first plot."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            "mercer.plot draws with matplotlib, which is not installed; run `pip install matplotlib`"
        ) from error


def class_color(c: int) -> str:
    """The color of the class with code ``c``."""
    return CLASS_COLORS[c % len(CLASS_COLORS)]


def class_marker(c: int) -> str:
    """The marker of the class with code ``c``."""
    return CLASS_MARKERS[c % len(CLASS_MARKERS)]


class Display:
    """A figure as data, and what ``plot`` drew of it.

    ``from_…`` computes the data and draws them; ``plot`` draws them again, into other axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes; the first ones if there are several.
    axes_ : list of matplotlib Axes
        All axes.
    figure_ : matplotlib Figure
        The figure.
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure

    def _start(self, ax: Any, n: int = 1, *, size: tuple[float, float] = (6.6, 4.4)) -> list[Axes]:
        """The axes to draw into: ``ax``, or those of a new figure."""
        if ax is None:
            figure, made = pyplot().subplots(1, n, figsize=(size[0] * n, size[1]), squeeze=False)
            figure.set_layout_engine("constrained")
            axes = list(made[0])
        else:
            axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != n:
            raise ValueError(f"the figure has {n} panels, but {len(axes)} axes were passed as `ax`")
        return self._use(axes)

    def _use(self, axes: list[Axes]) -> list[Axes]:
        self.axes_, self.ax_ = axes, axes[0]
        self.figure_ = axes[0].figure  # type: ignore[assignment]
        return axes

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        raise NotImplementedError


def scatter_classes(
    ax: Axes,
    points: np.ndarray,
    codes: np.ndarray,
    classes: Any,
    *,
    size: float = 30.0,
    **options: Any,
) -> None:
    """Draws the rows of every class in its color and with its marker."""
    for c, name in enumerate(classes):
        own = points[codes == c]
        if len(own) == 0:
            continue
        ax.scatter(
            own[:, 0],
            own[:, 1],
            s=size,
            color=class_color(c),
            marker=class_marker(c),
            edgecolors="white",
            linewidths=0.5,
            label=str(name),
            **{"zorder": 3, **options},
        )


def set_equal_aspect(ax: Axes, xs: np.ndarray, ys: np.ndarray) -> None:
    """Gives both axes one scale, on which right angles are seen as such, unless their ranges differ much."""
    ratio = abs((xs[-1] - xs[0]) / (ys[-1] - ys[0]))
    if 1 / MAX_ASPECT < ratio < MAX_ASPECT:
        ax.set_aspect("equal", adjustable="box")


def legend(ax: Axes, **options: Any) -> None:
    """A legend beside the axes, where it covers no data."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        ax.legend(handles, labels, frameon=False, fontsize="small", **{**beside, **options})
