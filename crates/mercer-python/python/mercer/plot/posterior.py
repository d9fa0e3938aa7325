"""Posterior probabilities of classifiers over one feature: sigmoids on one axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .style import INK, MODEL_LINES, Display, class_color, legend, scatter_classes
from .table import Table, class_codes

#: The colors of the models, none of which is the color of a class.
MODEL_COLORS = (INK, "#7a7a7a", "#a0522d", "#6a3d9a")


@dataclass
class PosteriorDisplay(Display):
    """``P(class | x)`` of one or more classifiers over one feature.

    The posterior of linear discriminant analysis with two classes is a sigmoid, the form that logistic regression
    fits directly. For two classes a curve per model shows the second class; for more, a curve per model and
    class has the color of the class.

    Attributes
    ----------
    xs : ndarray
        The values of the feature.
    posteriors : dict of str to ndarray of shape (n_xs, n_classes)
        The posterior probabilities of each model.
    x, codes : ndarray
        The rows and the codes of their classes.
    """

    xs: np.ndarray
    posteriors: dict[str, np.ndarray]
    x: np.ndarray
    codes: np.ndarray
    classes: list[str]
    name: str

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: Any, *, feature: str | int | None = None, ax: Any = None
    ) -> Self:
        """Draws fitted classifiers with probabilities.

        Parameters
        ----------
        estimators : fitted classifier, or dict of name to fitted classifier
            The models, all fitted to the same classes.
        X : array or data frame of shape (n_samples, n_features)
            Rows to draw.
        y : array of shape (n_samples,)
            Their classes.
        feature : str or int, default=None
            The feature of the horizontal axis, if there are several. The others are fixed at their mean.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        named = estimators
        if not isinstance(estimators, Mapping):
            named = {type(estimators).__name__: estimators}
        first = next(iter(named.values()))
        table = Table(X)
        table.use_names_of(first)
        (j,) = table.choose(feature, 1)
        for name, model in named.items():
            if not np.array_equal(model.classes_, first.classes_):
                raise ValueError(
                    f"{name!r} has the classes {list(model.classes_)}, the first model "
                    f"{list(first.classes_)}"
                )
        xs = np.linspace(*table.range(j), 400)
        rows = table.rows([j], xs[:, None])
        posteriors = {str(name): model.predict_proba(rows) for name, model in named.items()}
        codes = class_codes(y, first.classes_, len(table.values))
        classes = [str(label) for label in first.classes_]
        return cls(xs, posteriors, table.values[:, j], codes, classes, table.names[j]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        binary = len(self.classes) == 2
        for m, (name, posterior) in enumerate(self.posteriors.items()):
            style = MODEL_LINES[m % len(MODEL_LINES)]
            if binary:
                color = MODEL_COLORS[m % len(MODEL_COLORS)]
                ax.plot(self.xs, posterior[:, 1], style, color=color, linewidth=1.8, label=name)
                continue
            for c, label in enumerate(self.classes):
                text = f"{name}: {label}" if len(self.posteriors) > 1 else None
                ax.plot(
                    self.xs, posterior[:, c], style, color=class_color(c), linewidth=1.8, label=text
                )
        # The rows stand at the height of their class, 0 or 1, or below the curves.
        heights = self.codes.astype(float) if binary else -0.05 * (1.0 + self.codes)
        points = np.column_stack([self.x, heights])
        scatter_classes(ax, points, self.codes, self.classes, size=24, alpha=0.6)
        ax.axhline(0.5, color="#bbbbbb", linewidth=0.8, linestyle=":", zorder=0)
        ax.set_xlabel(self.name)
        ax.set_ylabel(
            f"P({self.classes[1]} | {self.name})" if binary else f"P(class | {self.name})"
        )
        ax.set_xlim(self.xs[0], self.xs[-1])
        ax.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
        legend(ax)
        return self
