"""Bivariate Gaussians: ellipses of equal density, and the boundaries between classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .margin import GRID, REGION_OPACITY
from .style import INK, Display, class_color, legend, scatter_classes
from .table import Table, class_codes, margins_between_classes

#: Points of an ellipse.
POINTS_PER_ELLIPSE = 181


@dataclass
class GaussianDisplay(Display):
    """Bivariate Gaussians as ellipses of equal density, with the boundaries between classes.

    An ellipse joins the points of one Mahalanobis distance from the mean. It is axis-parallel if the features
    are independent within the class, as in Gaussian naive Bayes; correlation tilts it. Linear discriminant
    analysis has one shape for all classes.

    Attributes
    ----------
    means : ndarray of shape (n, 2)
        The means.
    covariances : ndarray of shape (n, 2, 2)
        The covariance matrices.
    radii : tuple of float
        The Mahalanobis distances of the ellipses.
    ellipses : list of ndarray of shape (n_points, 2)
        The ellipses, for each Gaussian all radii.
    margins : ndarray of shape (n, n_ys, n_xs) or None
        On the grid, the score of each class minus the best other score.
    """

    means: np.ndarray
    covariances: np.ndarray
    labels: list[str]
    names: tuple[str, str]
    radii: tuple[float, ...]
    xs: np.ndarray
    ys: np.ndarray
    margins: np.ndarray | None = None
    points: np.ndarray | None = None
    codes: np.ndarray | None = None

    @property
    def ellipses(self) -> list[np.ndarray]:
        """The ellipses, for each Gaussian all radii."""
        angles = np.linspace(0.0, 2.0 * np.pi, POINTS_PER_ELLIPSE)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        ellipses = []
        for mean, covariance in zip(self.means, self.covariances, strict=True):
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            ellipses += [mean + radius * circle @ root.T for radius in self.radii]
        return ellipses

    @classmethod
    def from_distributions(
        cls,
        distributions: Any,
        *,
        radii: Sequence[float] = (1.0, 2.0, 3.0),
        ax: Any = None,
    ) -> Self:
        """Draws :class:`mercer.probability.MultivariateNormal` distributions of two coordinates.

        Parameters
        ----------
        distributions : MultivariateNormal, or dict of label to MultivariateNormal
            The distributions. ``marginal`` selects two of more coordinates.
        radii : sequence of float, default=(1, 2, 3)
            The Mahalanobis distances of the ellipses.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        named = distributions if isinstance(distributions, Mapping) else {"": distributions}
        for label, one in named.items():
            if len(one.names) != 2:
                raise ValueError(
                    f"the distribution {label!r} has {len(one.names)} coordinates, expected 2; select "
                    "them with `marginal`"
                )
        means = np.array([one.mean for one in named.values()])
        covariances = np.array([one.covariance for one in named.values()])
        names = tuple(next(iter(named.values())).names)
        far = max(radii) * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)) * 1.1
        (left, bottom), (right, top) = (means - far).min(axis=0), (means + far).max(axis=0)
        xs, ys = np.linspace(left, right, GRID), np.linspace(bottom, top, GRID)
        return cls(means, covariances, list(named), names, tuple(radii), xs, ys).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Any = None,
        radii: Sequence[float] = (1.0, 2.0),
        grid: int = GRID,
        ax: Any = None,
    ) -> Self:
        """Draws the class Gaussians of a fitted ``GaussianNB`` or discriminant analysis.

        Parameters
        ----------
        estimator : fitted GaussianNB or Linear-, Quadratic- or RegularizedDiscriminantAnalysis
            The model.
        X : array or data frame of shape (n_samples, n_features)
            Rows to draw.
        y : array of shape (n_samples,)
            Their classes.
        features : pair of str or int, default=None
            The features of the axes, if there are more than two. Ellipses show the marginal Gaussians of the two;
            boundaries have the others fixed at their mean.
        radii : sequence of float, default=(1, 2)
            The Mahalanobis distances of the ellipses.
        grid : int, default=200
            Points along each side of the grid on which boundaries are computed.
        ax : matplotlib Axes, default=None
            The axes to draw into; ``None`` makes a figure.
        """
        table = Table(X)
        table.use_names_of(estimator)
        chosen = table.choose(features, 2)
        means, covariances = class_gaussians(estimator)
        xs, ys, rows = table.grid(chosen, grid)
        margins = margins_between_classes(estimator, rows).T.reshape(-1, grid, grid)
        return cls(
            means[:, chosen],
            covariances[:, chosen][:, :, chosen],
            [str(label) for label in estimator.classes_],
            (table.names[chosen[0]], table.names[chosen[1]]),
            tuple(radii),
            xs,
            ys,
            margins,
            table.values[:, chosen],
            class_codes(y, estimator.classes_, len(table.values)),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draws the figure into ``ax``, or into a new figure."""
        (ax,) = self._start(ax)
        if self.margins is not None and len(self.margins) > 1:
            levels = np.arange(len(self.margins) + 1) - 0.5
            colors = [class_color(c) for c in range(len(self.margins))]
            winner = self.margins.argmax(axis=0)
            ax.contourf(self.xs, self.ys, winner, levels, colors=colors, alpha=REGION_OPACITY)
            lines = self.margins[1:] if len(self.margins) == 2 else self.margins
            for margin in lines:
                ax.contour(self.xs, self.ys, margin, [0.0], colors=INK, linewidths=1.4)
            ax.plot([], [], color=INK, linewidth=1.4, label="boundary")
        if self.points is not None and self.codes is not None:
            scatter_classes(ax, self.points, self.codes, self.labels, size=22, alpha=0.75)
        for k, ellipse in enumerate(self.ellipses):
            c, r = divmod(k, len(self.radii))
            label = self.labels[c] if r == 0 and self.points is None and self.labels[c] else None
            ax.plot(*ellipse.T, color=class_color(c), linewidth=1.6, zorder=4, label=label)
        ax.scatter(
            *self.means.T, marker="+", s=80, color=INK, linewidths=1.6, zorder=5, label="mean"
        )
        distances = ", ".join(f"{radius:g}" for radius in self.radii)
        ax.plot([], [], color="#777777", linewidth=1.6, label=f"Mahalanobis\ndistance {distances}")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        self._set_limits(ax)
        legend(ax)
        return self

    def _set_limits(self, ax: Any) -> None:
        """Shows the grid, so that the regions fill the picture."""
        ax.set_xlim(self.xs[0], self.xs[-1])
        ax.set_ylim(self.ys[0], self.ys[-1])
        if self.points is None:
            # Without data the shape of the ellipses is the message.
            ax.set_aspect("equal", adjustable="box")


def class_gaussians(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the covariance matrix of every class."""
    if hasattr(estimator, "var_"):
        return estimator.theta_, np.array([np.diag(variances) for variances in estimator.var_])
    if not hasattr(estimator, "covariance_"):
        raise ValueError(
            f"{type(estimator).__name__} has no class covariances; expected GaussianNB or a "
            "discriminant analysis"
        )
    means = np.asarray(estimator.means_)
    covariances = np.asarray(estimator.covariance_)
    if covariances.ndim == 2:
        covariances = np.broadcast_to(covariances, (len(means), *covariances.shape))
    return means, covariances
