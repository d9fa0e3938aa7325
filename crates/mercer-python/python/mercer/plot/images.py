"""Class means, standard deviations and probabilities as images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .style import Display, pyplot

#: Inches of one image.
IMAGE_SIDE = 0.85


@dataclass
class ClassImageDisplay(Display):
    """What a model of images learned about every class, as images.

    One column per class; one row each for the means (or the probabilities of binary pixels and of counts), the
    standard deviations, and the composite of both: the mean in the red and blue channels and the standard
    deviation in the green one. All classes share a scale, from white at the smallest to black at the largest
    value; in the composite dark is small.

    Attributes
    ----------
    images : dict of str to ndarray
        By kind, the images: shape (n_classes, height, width), and (n_classes, height, width, 3) for the composite.
    """

    images: dict[str, np.ndarray]
    classes: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, shape: tuple[int, int], *, kinds: Any = None, ax: Any = None
    ) -> Self:
        """Draws a fitted naive Bayes or discriminant analysis whose features are pixels, row by row.

        Parameters
        ----------
        estimator : fitted classifier
            The model: any with class means.
        shape : pair of int
            The height and the width of the images in pixels.
        kinds : sequence of {"mean", "probability", "standard deviation", "composite"}, default=None
            The rows to draw; ``None`` draws all that the model has.
        ax : array of matplotlib Axes of shape (n_kinds, n_classes), default=None
            The axes to draw into; ``None`` makes a figure.
        """
        height, width = shape
        centers = getattr(estimator, "class_means_", None)
        if centers is None:
            raise ValueError(
                f"{type(estimator).__name__} has no class means; expected naive Bayes or a "
                "discriminant analysis"
            )
        if height * width != centers.shape[1]:
            raise ValueError(
                f"shape {height}x{width} has {height * width} pixels, but the model has "
                f"{centers.shape[1]} features"
            )
        found = {estimator.class_center_: centers.reshape(-1, height, width)}
        deviations = estimator.class_deviations_
        if deviations is not None:
            found["standard deviation"] = deviations.reshape(-1, height, width)
            found["composite"] = estimator.class_composite_.reshape(-1, height, width, 3)
        chosen = list(found) if kinds is None else list(kinds)
        for kind in chosen:
            if kind not in found:
                raise ValueError(f"the model has no {kind!r}; it has {', '.join(found)}")
        classes = [str(label) for label in estimator.classes_]
        return cls({kind: found[kind] for kind in chosen}, classes).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        n_rows, n_columns = len(self.images), len(self.classes)
        if ax is None:
            size = (IMAGE_SIDE * n_columns + 1.2, (IMAGE_SIDE + 0.12) * n_rows + 0.35)
            figure, ax = pyplot().subplots(n_rows, n_columns, figsize=size, squeeze=False)
            figure.set_layout_engine("constrained")
        axes = np.asarray(ax, dtype=object).reshape(n_rows, n_columns)
        self._use(list(axes.ravel()))
        for row, (kind, images) in zip(axes, self.images.items(), strict=True):
            scale = {} if images.ndim == 4 else {"vmin": images.min(), "vmax": images.max()}
            for c, panel in enumerate(row):
                panel.imshow(images[c], cmap="gray_r", interpolation="nearest", **scale)
                panel.set(xticks=[], yticks=[])
            row[0].set_ylabel(
                kind.replace(" ", "\n"), rotation=0, ha="right", va="center", fontsize="small"
            )
        for panel, name in zip(axes[0], self.classes, strict=True):
            panel.set_title(name, fontsize="small")
        return self
