"""Fisher's projection: the rows on the discriminant axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .style import Display, class_color, legend, scatter_classes
from .table import class_codes

#: Bins of a histogram over all classes.
BINS = 24


@dataclass
class ProjectionDisplay(Display):
    """The rows on Fisher's discriminant axes, which spread the class means most within the classes' spread.

    Two classes have one axis: a histogram per class, with the rows below it. More classes are drawn over the
    first two axes, labeled with their percentage of the variance between classes.

    Attributes
    ----------
    projected : ndarray of shape (n_rows, 1 or 2)
        The projected rows.
    codes : ndarray of shape (n_rows,)
        The codes of the classes.
    ratios : ndarray
        The fraction of the variance between the classes on each axis.
    """

    projected: np.ndarray
    codes: np.ndarray
    classes: list[str]
    ratios: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_components: int | None = None, ax: Any = None
    ) -> Self:
        """Draws the projection of a fitted ``LinearDiscriminantAnalysis``.

        Parameters
        ----------
        estimator : fitted LinearDiscriminantAnalysis
            The model.
        X : array or data frame of shape (n_samples, n_features)
            Rows to draw.
        y : array of shape (n_samples,)
            Their classes.
        n_components : {1, 2}, default=None
            The number of axes to draw; ``None`` draws two if there are two.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        projected = np.asarray(estimator.transform(X))
        n_axes = min(2, projected.shape[1]) if n_components is None else n_components
        if not 1 <= n_axes <= min(2, projected.shape[1]):
            raise ValueError(
                f"n_components is {n_axes}, but the projection has {projected.shape[1]} axes and the "
                "display draws 1 or 2"
            )
        codes = class_codes(y, estimator.classes_, len(projected))
        classes = [str(label) for label in estimator.classes_]
        ratios = np.asarray(getattr(estimator, "explained_variance_ratio_", []), dtype=float)
        return cls(projected[:, :n_axes], codes, classes, ratios).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        if self.projected.shape[1] == 2:
            scatter_classes(ax, self.projected, self.codes, self.classes)
            ax.set(xlabel=self._axis(0), ylabel=self._axis(1))
            legend(ax)
            return self
        values = self.projected[:, 0]
        bins = np.linspace(values.min(), values.max(), BINS + 1)
        tallest = 0.0
        for c, name in enumerate(self.classes):
            own = values[self.codes == c]
            if len(own) == 0:
                continue
            style = {"color": class_color(c), "alpha": 0.45, "label": name}
            counts, _, _ = ax.hist(own, bins, edgecolor="white", **style)
            tallest = max(tallest, float(np.max(counts)))
        for c in range(len(self.classes)):
            own = values[self.codes == c]
            height = -tallest * 0.04 * (1 + c)
            ax.plot(own, np.full(len(own), height), "|", color=class_color(c), markersize=6)
        ax.axhline(0.0, color="#bbbbbb", linewidth=0.8)
        ax.set(xlabel=self._axis(0), ylabel="rows")
        ax.set_yticks([tick for tick in ax.get_yticks() if tick >= 0 and tick <= tallest * 1.1])
        legend(ax)
        return self

    def _axis(self, k: int) -> str:
        name = f"discriminant axis {k + 1}"
        if len(self.ratios) > k and len(self.ratios) > 1:
            return f"{name} ({100 * self.ratios[k]:.1f} %)"
        return name
