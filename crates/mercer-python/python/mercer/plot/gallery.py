"""The gallery: every figure of the lectures, from data that are generated here or come with scikit-learn."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris, make_circles, make_moons

from ..discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from ..kernel_approximation import Nystroem, RBFSampler
from ..linear_model import LogisticRegression
from ..naive_bayes import BernoulliNB, GaussianNB, MixedNB, MultinomialNB
from ..probability import Beta, MultivariateNormal
from ..svm import SVC, SVR, LinearSVC, LinearSVR
from .belief import BeliefDisplay, ParameterDisplay
from .density import DensityDisplay
from .feature_map import FeatureMapDisplay
from .gaussian import GaussianDisplay
from .images import ClassImageDisplay
from .kernel_approximation import ApproximationErrorDisplay, KernelApproximationDisplay
from .margin import MarginDisplay
from .posterior import PosteriorDisplay
from .projection import ProjectionDisplay
from .style import Display, pyplot
from .tube import TubeDisplay

#: Pixels per inch; the pictures stay small enough for a documentation page.
RESOLUTION = 80
#: Colors of a picture.
N_COLORS = 96


@dataclass
class Figure:
    """A figure of the gallery: its file name, its display, its caption and the function that draws it."""

    name: str
    display: type[Display]
    title: str
    caption: str
    draw: Callable[[], Display]


def two_blobs(n: int = 40, distance: float = 2.4) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes in two features."""
    rng = np.random.default_rng(3)
    y = np.repeat(["negative", "positive"], n)
    X = rng.normal(size=(2 * n, 2))
    X[n:] += [distance, 0.7 * distance]
    return X, y


def iris_table() -> tuple[Any, np.ndarray]:
    """Fisher's iris as a matrix and the names of the species."""
    iris = load_iris()
    return iris.data, iris.target_names[iris.target]


def noisy_sine(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """A sine with noise over one feature."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(0.0, 6.0, n))
    return x[:, None], np.sin(x) + rng.normal(scale=0.2, size=n)


def _panels(
    displays: list[Callable[[Any], Display]], titles: list[str], size: tuple[float, float]
) -> Display:
    """Several displays side by side."""
    figure, axes = pyplot().subplots(1, len(displays), figsize=size, squeeze=False)
    figure.set_layout_engine("constrained")
    drawn = None
    for draw, title, ax in zip(displays, titles, axes[0], strict=True):
        drawn = draw(ax)
        drawn.ax_.set_title(title, fontsize="medium")
        if ax is not axes[0][-1] and ax.get_legend() is not None:
            # The panels have one legend, beside the last of them.
            ax.get_legend().remove()
    assert drawn is not None
    return drawn


def street() -> Display:
    X, y = two_blobs()
    return MarginDisplay.from_estimator(SVC(kernel="linear", C=1.0).fit(X, y), X, y)


def hard_margin() -> Display:
    X, y = two_blobs(20, 4.5)
    return MarginDisplay.from_estimator(SVC(kernel="linear", margin="hard").fit(X, y), X, y)


def linear_svc() -> Display:
    X, y = two_blobs()
    model = LinearSVC(loss="hinge", C=0.1, intercept="unpenalized").fit(X, y)
    return MarginDisplay.from_estimator(model, X, y)


def nonlinear_street() -> Display:
    X, y = make_moons(80, noise=0.2, random_state=1)
    labels = np.array(["upper", "lower"])[y]
    return MarginDisplay.from_estimator(SVC(gamma=1.0, C=2.0).fit(X, labels), X, labels)


def multiclass_street() -> Display:
    X, y = iris_table()
    X = X[:, 2:]
    model = SVC(kernel="rbf", gamma=0.5).fit(X, y)
    display = MarginDisplay.from_estimator(model, X, y)
    display.ax_.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    return display


def tube() -> Display:
    X, y = noisy_sine()
    return TubeDisplay.from_estimator(SVR(C=10.0, gamma=0.5, epsilon=0.25).fit(X, y), X, y)


def linear_tube() -> Display:
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(0.0, 10.0, 40))
    y = 0.8 * x + 1.0 + rng.normal(scale=0.8, size=40)
    model = LinearSVR(epsilon=1.0, C=1.0, intercept="unpenalized").fit(x[:, None], y)
    return TubeDisplay.from_estimator(model, x[:, None], y)


def bivariate_gaussians() -> Display:
    without = MultivariateNormal([0.0, 0.0], [[2.0, 0.0], [0.0, 0.7]], ["x1", "x2"])
    correlated = MultivariateNormal([0.0, 0.0], [[2.0, 0.9], [0.9, 0.7]], ["x1", "x2"])
    return _panels(
        [
            lambda ax: GaussianDisplay.from_distributions(without, ax=ax),
            lambda ax: GaussianDisplay.from_distributions(correlated, ax=ax),
        ],
        ["independent: axis-parallel ellipses", "correlated: tilted ellipses"],
        (10.5, 3.6),
    )


def class_gaussian_boundaries() -> Display:
    rng = np.random.default_rng(4)
    n = 120
    first = rng.multivariate_normal([0.0, 0.0], [[2.0, 1.3], [1.3, 1.2]], n)
    second = rng.multivariate_normal([3.0, 1.0], [[0.8, -0.5], [-0.5, 1.2]], n)
    X, y = np.vstack([first, second]), np.repeat(["first", "second"], n)
    models = [GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]
    titles = ["Gaussian naive Bayes", "LDA: one covariance", "QDA: one per class"]

    def draw(model: Any) -> Callable[[Any], Display]:
        return lambda ax: GaussianDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)

    return _panels([draw(model) for model in models], titles, (14.0, 3.8))


def sigmoids() -> Display:
    X, y = iris_table()
    kept = y != "setosa"
    X, y = X[kept][:, 2:3], y[kept]
    models = {
        "LDA": LinearDiscriminantAnalysis(),
        "logistic regression": LogisticRegression(C=np.inf),
    }
    fitted = {name: model.fit(X, y) for name, model in models.items()}
    display = PosteriorDisplay.from_estimators(fitted, X, y)
    display.ax_.set(xlabel="petal length (cm)", ylabel="P(virginica | petal length)")
    return display


def fisher_projection() -> Display:
    X, y = iris_table()
    return ProjectionDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X, y), X, y)


def fisher_axis() -> Display:
    X, y = iris_table()
    X, y = X[y != "setosa"], y[y != "setosa"]
    return ProjectionDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X, y), X, y)


def square_map() -> Display:
    x = np.array([-3.0, -2.4, -2.0, -1.0, -0.5, 0.2, 0.9, 2.1, 2.6, 3.1])
    y = np.where(np.abs(x) > 1.5, "outer", "inner")
    return FeatureMapDisplay.from_data(x[:, None], y)


def quadratic_map() -> Display:
    X, y = make_circles(120, noise=0.08, factor=0.4, random_state=0)
    return FeatureMapDisplay.from_data(X, np.array(["ring", "disc"])[y])


def digit_means() -> Display:
    digits = load_digits()
    return ClassImageDisplay.from_estimator(GaussianNB().fit(digits.data, digits.target), (8, 8))


def digit_probabilities() -> Display:
    digits = load_digits()
    model = BernoulliNB(binarize=8.0).fit(digits.data, digits.target)
    return ClassImageDisplay.from_estimator(model, (8, 8), kinds=["probability"])


def digit_counts() -> Display:
    digits = load_digits()
    return ClassImageDisplay.from_estimator(MultinomialNB().fit(digits.data, digits.target), (8, 8))


def candy_bags() -> Display:
    limes = {"h1": 0.0, "h2": 0.25, "h3": 0.5, "h4": 0.75, "h5": 1.0}
    outcomes = {"lime": limes, "cherry": {name: 1.0 - p for name, p in limes.items()}}
    priors = dict(zip(limes, [0.1, 0.2, 0.4, 0.2, 0.1], strict=True))
    return BeliefDisplay.from_observations(priors, outcomes, ["lime"] * 10)


def coin_posterior() -> Display:
    prior = Beta(2.0, 2.0)
    both = {"prior Beta(2, 2)": prior, "posterior after 7 of 10": prior.updated(7, 3)}
    return ParameterDisplay.from_distributions(both, name="probability of heads")


def kernel_values() -> Display:
    X = np.random.default_rng(0).normal(size=(120, 2))
    maps = [RBFSampler(gamma=0.5, n_components=100), Nystroem(gamma=0.5, n_components=30)]
    titles = ["random Fourier features", "Nyström"]

    def draw(model: Any) -> Callable[[Any], Display]:
        return lambda ax: KernelApproximationDisplay.from_estimator(model.fit(X), X, ax=ax)

    figure, axes = pyplot().subplots(1, 2, figsize=(10.0, 3.8), sharey=True)
    figure.set_layout_engine("constrained")
    for model, title, ax in zip(maps, titles, axes, strict=True):
        display = draw(model)(ax)
        ax.set_title(title, fontsize="medium")
    return display


def approximation_error() -> Display:
    X = np.random.default_rng(0).normal(size=(200, 4))
    maps = {"random Fourier features": RBFSampler(gamma=0.25), "Nyström": Nystroem(gamma=0.25)}
    sizes = (5, 10, 20, 40, 80, 160)
    return ApproximationErrorDisplay.from_estimators(maps, X, n_components=sizes)


def column_densities() -> Display:
    X, y = iris_table()
    models = [GaussianNB(), MixedNB(likelihood="kernel")]

    def draw(model: Any) -> Callable[[Any], Display]:
        return lambda ax: DensityDisplay.from_estimator(model.fit(X, y), X, y, feature=2, ax=ax)

    display = _panels([draw(model) for model in models], ["normal", "kernel density"], (11.0, 3.6))
    for ax in display.figure_.axes:
        ax.set(xlabel="petal length (cm)", ylabel="p(petal length | class)")
    return display


FIGURES = [
    Figure(
        "street",
        MarginDisplay,
        "Support vector machine",
        "Boundary, margin, support vectors and slacks of a linear SVM.",
        street,
    ),
    Figure(
        "hard-margin",
        MarginDisplay,
        "Hard margin",
        "Separable classes: the support vectors lie on the edges of the margin and no row has slack.",
        hard_margin,
    ),
    Figure(
        "linear-svc",
        MarginDisplay,
        "Linear SVM with a small C",
        "A smaller C allows a wider margin with more rows inside it.",
        linear_svc,
    ),
    Figure(
        "nonlinear-street",
        MarginDisplay,
        "RBF kernel",
        "Boundary and margin of an RBF kernel; slacks end at the nearest point of the margin.",
        nonlinear_street,
    ),
    Figure(
        "multiclass-street",
        MarginDisplay,
        "Three classes",
        "Boundaries and support vectors of a one-vs-one classifier on iris.",
        multiclass_street,
    ),
    Figure(
        "tube",
        TubeDisplay,
        "ε-tube",
        "Support vector regression with an RBF kernel: rows inside the tube have no loss.",
        tube,
    ),
    Figure(
        "linear-tube",
        TubeDisplay,
        "Linear ε-tube",
        "Linear support vector regression.",
        linear_tube,
    ),
    Figure(
        "bivariate-gaussians",
        GaussianDisplay,
        "Bivariate Gaussians",
        "Ellipses of equal density without and with correlation.",
        bivariate_gaussians,
    ),
    Figure(
        "gaussian-boundaries",
        GaussianDisplay,
        "Gaussian classes",
        "Naive Bayes has axis-parallel ellipses, LDA one shape and a linear boundary, QDA a shape per class "
        "and a quadratic boundary.",
        class_gaussian_boundaries,
    ),
    Figure(
        "sigmoids",
        PosteriorDisplay,
        "LDA and logistic regression",
        "The posterior of LDA is a sigmoid, as is that of logistic regression.",
        sigmoids,
    ),
    Figure(
        "fisher-projection",
        ProjectionDisplay,
        "Fisher's projection",
        "Iris on the two discriminant axes.",
        fisher_projection,
    ),
    Figure(
        "fisher-axis",
        ProjectionDisplay,
        "Fisher's axis",
        "Two species on their one discriminant axis.",
        fisher_axis,
    ),
    Figure(
        "square-map",
        FeatureMapDisplay,
        "x → (x, x²)",
        "No threshold on x separates the classes; a line in (x, x²) does.",
        square_map,
    ),
    Figure(
        "quadratic-map",
        FeatureMapDisplay,
        "Quadratic map",
        "A hyperplane in (x₁², √2 x₁x₂, x₂²) separates a disc from a ring.",
        quadratic_map,
    ),
    Figure(
        "digit-means",
        ClassImageDisplay,
        "Digits: Gaussian naive Bayes",
        "Means, standard deviations, and both: means in red and blue, standard deviations in green.",
        digit_means,
    ),
    Figure(
        "digit-probabilities",
        ClassImageDisplay,
        "Digits: Bernoulli naive Bayes",
        "The probability that a pixel is set.",
        digit_probabilities,
    ),
    Figure(
        "digit-counts",
        ClassImageDisplay,
        "Digits: multinomial naive Bayes",
        "The probability of a pixel in the multinomial distribution.",
        digit_counts,
    ),
    Figure(
        "candy-bags",
        BeliefDisplay,
        "Belief over time",
        "Five kinds of candy bags after up to ten limes: posterior, and the probability that the next is lime.",
        candy_bags,
    ),
    Figure(
        "coin-posterior",
        ParameterDisplay,
        "Posterior of a parameter",
        "A Beta prior and its posterior after seven heads in ten tosses.",
        coin_posterior,
    ),
    Figure(
        "kernel-values",
        KernelApproximationDisplay,
        "Approximate kernels",
        "Inner products of random features against the RBF kernel over the distance of two rows.",
        kernel_values,
    ),
    Figure(
        "approximation-error",
        ApproximationErrorDisplay,
        "Error of the approximation",
        "Random Fourier features converge as 1/√M; the Nyström method adapts to the data.",
        approximation_error,
    ),
    Figure(
        "column-densities",
        DensityDisplay,
        "Class-conditional densities",
        "Petal length of iris as a normal and as a kernel density estimate, within the range of the data.",
        column_densities,
    ),
]


def write(folder: Path, figures: list[Figure] = FIGURES) -> list[Path]:
    """Draws figures as PNG files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for figure in figures:
        display = figure.draw()
        path = folder / f"{figure.name}.png"
        _save(display.figure_, path)
        pyplot().close(display.figure_)
        files.append(path)
    return files


def _save(figure: Any, path: Path) -> None:
    """Saves a figure with a palette of few colors, a third of the size."""
    image_module = importlib.import_module("PIL.Image")
    drawn = BytesIO()
    figure.savefig(drawn, dpi=RESOLUTION, format="png")
    image = image_module.open(drawn).convert("RGB")
    image.quantize(N_COLORS, dither=image_module.Dither.NONE).save(path, optimize=True)


def index(images: str, figures: list[Figure] = FIGURES) -> str:
    """The page that shows the figures, in Markdown; ``images`` is the folder of the images as seen from it."""
    lines = [
        "# Gallery",
        "",
        "Every figure of the lectures, drawn by `python -m mercer.plot FOLDER`. Each is a display as in scikit-learn:",
        "",
        "```python",
        "from mercer.plot import MarginDisplay",
        "from mercer.svm import SVC",
        "",
        'display = MarginDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y)',
        'display.ax_.set_title("my title")          # matplotlib Axes',
        'display.figure_.savefig("street.png")      # matplotlib Figure',
        "```",
        "",
        "The command line draws the same kinds with `mercer plot MODEL DATA --out FILE` and",
        "`mercer bayes update --plot FILE`.",
        "",
    ]
    for figure in figures:
        lines += [f"## {figure.title}", "", f"`{figure.display.__name__}`. {figure.caption}", ""]
        lines += [f"![{figure.title}]({images}/{figure.name}.png)", ""]
    return "\n".join(lines)
