"""What the displays draw: the data of the artists against the model."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import stats
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import plot
from mercer.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from mercer.kernel_approximation import Nystroem, RBFSampler
from mercer.linear_model import LogisticRegression
from mercer.naive_bayes import BernoulliNB, GaussianNB, MixedNB, MultinomialNB
from mercer.probability import Beta, Gamma, MultivariateNormal, NormalMean
from mercer.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVR, OneClassSVM

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(60, 2))
    X[30:] += [2.0, 1.5]
    return X, np.repeat(["no", "yes"], 30)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def artist(ax, label):
    """The only artist whose label starts with ``label``."""
    found = [a for a in [*ax.lines, *ax.collections] if str(a.get_label()).startswith(label)]
    assert len(found) == 1, [a.get_label() for a in [*ax.lines, *ax.collections]]
    return found[0]


def contours(ax):
    """The vertices of the lines of each contour set, fillings left out."""
    sets = [c for c in ax.collections if isinstance(c, matplotlib.contour.QuadContourSet)]
    return {
        s.levels[0]: np.vstack([p.vertices for p in s.get_paths()]) for s in sets if not s.filled
    }


def test_margin_lines_rings_and_slacks_of_a_linear_kernel_are_those_of_the_model(two_classes):
    X, y = two_classes
    model = SVC(kernel="linear", tol=1e-6).fit(X, y)

    display = plot.MarginDisplay.from_estimator(model, X, y)

    lines = contours(display.ax_)
    assert sorted(lines) == [-1.0, 0.0, 1.0]
    for level, points in lines.items():
        assert np.allclose(model.decision_function(points), level, atol=1e-6)
    rings = artist(display.ax_, "support vectors").get_offsets()
    assert np.array_equal(rings, model.support_vectors_)
    signs = np.where(y == "yes", 1.0, -1.0)
    slacks = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    assert np.allclose(display.slacks, slacks)
    drawn = slacks > 2e-6
    assert len(display.segments) == drawn.sum() > 5
    # A slack is ξ margins long, and ends on the edge of its class.
    lengths = np.linalg.norm(np.diff(display.segments, axis=1)[:, 0], axis=1)
    assert np.allclose(lengths, slacks[drawn] * model.margins_[0], rtol=1e-5)
    assert np.array_equal(display.segments[:, 0], X[drawn])
    assert np.allclose(model.decision_function(display.segments[:, 1]), signs[drawn], atol=1e-5)


def test_slacks_of_the_model_are_those_that_are_drawn(two_classes):
    X, y = two_classes
    model = SVC(kernel="linear", tol=1e-8).fit(X, y)

    display = plot.MarginDisplay.from_estimator(model, X, y)

    assert np.allclose(display.slacks[model.support_], model.slacks_[0], atol=1e-6)


def test_slacks_of_an_rbf_kernel_end_at_the_nearest_point_of_the_margin():
    X, y = make_moons(60, noise=0.25, random_state=3)
    model = SVC(gamma=1.0).fit(X, y)

    display = plot.MarginDisplay.from_estimator(model, X, y)

    signs = 2.0 * y - 1.0
    drawn = 1.0 - signs * model.decision_function(X) > 2e-3
    ends = model.decision_function(display.segments[:, 1])
    assert len(display.segments) == drawn.sum()
    # The edge is interpolated on the grid.
    assert np.abs(ends - signs[drawn]).max() < 2e-3
    edge = contours(display.ax_)
    for (start, end), sign in zip(display.segments, signs[drawn], strict=True):
        away = np.linalg.norm(edge[sign] - start, axis=1).min()
        assert np.linalg.norm(end - start) <= away + 1e-9


def test_linear_svc_rings_the_rows_on_or_inside_the_margin(two_classes):
    X, y = two_classes
    model = LinearSVC(loss="hinge", tol=1e-8).fit(X, y)

    display = plot.MarginDisplay.from_estimator(model, X, y)

    signs = np.where(y == "yes", 1.0, -1.0)
    inside = signs * (X @ model.coef_[0] + model.intercept_[0]) <= 1.0 + 1e-8
    assert np.array_equal(artist(display.ax_, "support").get_offsets(), X[inside])


def test_a_hard_margin_has_no_slack():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]])
    model = SVC(kernel="linear", margin="hard").fit(X, [0, 0, 1, 1])

    display = plot.MarginDisplay.from_estimator(model, X, [0, 0, 1, 1])

    assert len(display.segments) == 0
    assert "slack ξ" not in labels(display.ax_)
    # The margin between 1 and 3 is bisected at 2.
    assert np.allclose(contours(display.ax_)[0.0][:, 0], 2.0, atol=1e-3)


def test_three_classes_have_boundaries_where_the_prediction_changes():
    iris = load_iris()
    X = iris.data[:, 2:]
    model = SVC(kernel="linear").fit(X, iris.target)

    display = plot.MarginDisplay.from_estimator(model, X, iris.target)

    assert display.decision is None and display.slacks is None
    assert len(display.margins) == 3
    points = np.column_stack([np.tile(display.xs, 200), np.repeat(display.ys, 200)])
    assert np.array_equal(display.margins.argmax(axis=0).ravel(), model.predict(points))
    assert {"0", "1", "2", "boundary"} <= set(labels(display.ax_))


def test_two_of_more_features_are_chosen_by_name_and_the_others_fixed_at_their_mean():
    iris = load_iris(as_frame=True)
    X, y = iris.data.iloc[50:], iris.target.iloc[50:]
    model = SVC(kernel="linear").fit(X, y)

    names = ["petal width (cm)", "petal length (cm)"]
    display = plot.MarginDisplay.from_estimator(model, X, y, features=names)

    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == tuple(names)
    row = X.mean().to_frame().T
    row[names[0]], row[names[1]] = display.xs[7], display.ys[11]
    assert display.decision[11, 7] == pytest.approx(model.decision_function(row)[0])
    # The slack of a row is not that of its projection into the picture.
    assert display.slacks is None
    with pytest.raises(ValueError, match="4 features and the display draws 2"):
        plot.MarginDisplay.from_estimator(model, X, y)
    with pytest.raises(ValueError, match="no feature 'sepal'"):
        plot.MarginDisplay.from_estimator(model, X, y, features=["sepal", names[0]])


def test_support_vectors_of_a_pipeline_are_rows_before_the_scaling(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(1000.0 * X, y)

    display = plot.MarginDisplay.from_estimator(model, 1000.0 * X, y)

    rings = artist(display.ax_, "support").get_offsets()
    assert np.array_equal(rings, 1000.0 * X[model[-1].support_])


def test_one_class_svm_has_a_boundary_without_margin(rng):
    X = rng.normal(size=(50, 2))
    model = OneClassSVM(nu=0.2, gamma=0.5).fit(X)

    display = plot.MarginDisplay.from_estimator(model, X)

    assert list(contours(display.ax_)) == [0.0]


def test_rows_without_classes_and_wrong_classes_are_refused(two_classes):
    X, y = two_classes
    model = SVC().fit(X, y)

    with pytest.raises(ValueError, match="y is needed"):
        plot.MarginDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="'maybe', which is none of the classes"):
        plot.MarginDisplay.from_estimator(model, X, np.repeat("maybe", len(y)))


@pytest.mark.parametrize("model", [SVR(epsilon=0.3, C=5.0), NuSVR(nu=0.4), LinearSVR(epsilon=0.3)])
def test_the_tube_has_the_width_of_the_model_and_slacks_end_at_its_edge(model, rng):
    X = np.sort(rng.uniform(0.0, 5.0, (50, 1)), axis=0)
    y = np.sin(X[:, 0]) + rng.normal(scale=0.3, size=50)
    model.fit(X, y)

    display = plot.TubeDisplay.from_estimator(model, X, y)

    function, tube = artist(display.ax_, "f(x)"), artist(display.ax_, "tube")
    xs, ys = function.get_data()
    epsilon = getattr(model, "epsilon_", None) or model.epsilon
    assert np.allclose(ys, model.predict(xs[:, None]))
    assert np.allclose(ys - tube.get_ydata(), epsilon)
    ends = display.segments[:, 1]
    assert len(ends) > 3
    assert np.allclose(np.abs(ends[:, 1] - model.predict(ends[:, :1])), epsilon)
    rings = artist(display.ax_, "support").get_offsets()
    assert np.array_equal(rings, np.column_stack([X[:, 0], y])[display.support])
    if hasattr(model, "support_"):
        assert np.array_equal(display.support, model.support_)


def test_one_of_several_features_has_a_tube_without_slacks(rng):
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    y = pd.Series(X["a"] - X["b"], name="difference")
    model = SVR(kernel="linear").fit(X, y)

    display = plot.TubeDisplay.from_estimator(model, X, y, feature="b")

    assert display.slacks is None and len(display.segments) == 0
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("b", "difference")
    assert np.polyfit(display.xs, display.function, 1)[0] == pytest.approx(-1.0, abs=0.1)


def test_ellipses_have_their_mahalanobis_distance():
    normal = MultivariateNormal([1.0, -1.0], [[2.0, 0.9], [0.9, 1.0]], ["a", "b"])

    display = plot.GaussianDisplay.from_distributions(normal, radii=(1.0, 2.5))

    for radius, line in zip((1.0, 2.5), display.ax_.lines, strict=False):
        distances = [normal.mahalanobis(point) for point in line.get_xydata()]
        # `mahalanobis` of the distribution is the distance or its square; the ratio tells the radius.
        assert np.ptp(distances) < 1e-9
        assert min(abs(distances[0] - radius), abs(distances[0] - radius**2)) < 1e-9
    assert display.ax_.get_xlabel() == "a"


@pytest.mark.parametrize(
    ("model", "tilted"),
    [
        (GaussianNB(), False),
        (LinearDiscriminantAnalysis(), True),
        (QuadraticDiscriminantAnalysis(), True),
    ],
)
def test_class_gaussians_are_axis_parallel_only_in_naive_bayes(model, tilted, rng):
    noise = rng.multivariate_normal([0, 0], [[2.0, 1.4], [1.4, 1.5]], 200)
    y = rng.integers(0, 2, 200)
    X = noise + y[:, None] * 3.0
    model.fit(X, y)

    display = plot.GaussianDisplay.from_estimator(model, X, y, radii=(2.0,))

    for c in (0, 1):
        own = X[y == c]
        assert np.allclose(display.means[c], own.mean(axis=0))
        first = display.ellipses[c][np.argmax(display.ellipses[c][:, 0])]
        assert (abs(first[1] - display.means[c][1]) > 0.5) == tilted
    points = contours(display.ax_)[0.0]
    inside = (points > [display.xs[0], display.ys[0]]).all(axis=1)
    joint = model.predict_log_proba(points[inside])
    assert np.abs(joint[:, 0] - joint[:, 1]).max() < 0.05


def test_gaussians_of_two_features_are_marginal():
    iris = load_iris()
    model = QuadraticDiscriminantAnalysis().fit(iris.data, iris.target)

    display = plot.GaussianDisplay.from_estimator(
        model, iris.data, iris.target, features=[0, 3], grid=40
    )

    expected = np.asarray(model.covariance_)[1][np.ix_([0, 3], [0, 3])]
    assert np.allclose(display.covariances[1], expected)
    with pytest.raises(ValueError, match="no class covariances"):
        logistic = LogisticRegression().fit(iris.data[:, :2], iris.target)
        plot.GaussianDisplay.from_estimator(logistic, iris.data[:, :2], iris.target)


def test_posterior_curves_are_the_probabilities_of_the_models():
    iris = load_iris(as_frame=True)
    X, y = iris.data.iloc[50:, [2]], iris.target.iloc[50:]
    models = {"LDA": LinearDiscriminantAnalysis(), "logistic": LogisticRegression()}
    for model in models.values():
        model.fit(X, y)

    display = plot.PosteriorDisplay.from_estimators(models, X, y)

    for name, model in models.items():
        xs, ys = artist(display.ax_, name).get_data()
        rows = pd.DataFrame({"petal length (cm)": xs})
        assert np.allclose(ys, model.predict_proba(rows)[:, 1])
    # The posterior of LDA is a sigmoid: its log-odds are linear.
    ys = artist(display.ax_, "LDA").get_ydata()
    assert np.abs(np.diff(np.log(ys / (1.0 - ys)), 2)).max() < 1e-6
    colors = {artist(display.ax_, name).get_color() for name in models}
    assert colors.isdisjoint(plot.style.CLASS_COLORS)


def test_three_classes_have_a_posterior_curve_per_class():
    iris = load_iris()
    model = LinearDiscriminantAnalysis().fit(iris.data, iris.target)

    display = plot.PosteriorDisplay.from_estimators(model, iris.data, iris.target, feature=2)

    posterior = display.posteriors["LinearDiscriminantAnalysis"]
    assert posterior.shape == (400, 3)
    assert np.allclose(posterior.sum(axis=1), 1.0)


def test_the_projection_is_the_transform_of_the_model():
    iris = load_iris()
    model = LinearDiscriminantAnalysis().fit(iris.data, iris.target)

    both = plot.ProjectionDisplay.from_estimator(model, iris.data, iris.target)
    one = plot.ProjectionDisplay.from_estimator(model, iris.data, iris.target, n_components=1)

    projected = model.transform(iris.data)
    assert np.array_equal(artist(both.ax_, "1").get_offsets(), projected[50:100])
    counts = sum(patch.get_height() for patch in one.ax_.patches)
    assert counts == 150
    with pytest.raises(ValueError, match="n_components is 3"):
        plot.ProjectionDisplay.from_estimator(model, iris.data, iris.target, n_components=3)


def test_the_square_map_makes_a_line_separable():
    x = np.array([[-3.0], [-2.0], [-0.5], [0.4], [2.2], [3.1]])
    y = ["out", "out", "in", "in", "out", "out"]

    display = plot.FeatureMapDisplay.from_data(x, y)

    assert np.array_equal(display.mapped, np.column_stack([x, x**2]))
    signs = np.where(np.array(y) == "out", 1.0, -1.0)
    assert (signs * (display.mapped @ display.weights + display.intercept)).min() > 0.99
    xs, line = artist(display.axes_[1], "boundary").get_data()
    f = display.weights[0] * xs + display.weights[1] * line + display.intercept
    assert np.abs(f).max() < 1e-9


def test_the_quadratic_map_has_the_inner_products_of_its_kernel():
    X, y = make_circles(40, factor=0.3, noise=0.05, random_state=1)

    display = plot.FeatureMapDisplay.from_data(X, y)

    assert np.allclose(display.mapped @ display.mapped.T, (X @ X.T) ** 2)
    assert np.array_equal(display.estimator.predict(display.mapped), y)
    with pytest.raises(ValueError, match="not 2 classes in 3 features"):
        plot.FeatureMapDisplay.from_data(np.column_stack([X, X[:, 0]]), y)


def test_images_of_gaussian_naive_bayes_are_means_deviations_and_their_composite(rng):
    X, y = rng.uniform(size=(60, 6)), np.repeat([0, 1, 2], 20)
    model = GaussianNB().fit(X, y)

    display = plot.ClassImageDisplay.from_estimator(model, (2, 3))

    assert list(display.images) == ["mean", "standard deviation", "composite"]
    assert len(display.axes_) == 9
    shown = display.axes_[1].images[0].get_array()
    assert np.allclose(shown, model.theta_[1].reshape(2, 3))
    assert np.allclose(display.images["standard deviation"][2].ravel(), np.sqrt(model.var_[2]))
    red, green, blue = np.moveaxis(display.images["composite"].reshape(3, 6, 3), 2, 0)
    scaled = (model.theta_ - model.theta_.min()) / np.ptp(model.theta_)
    assert np.array_equal(red, np.round(255 * scaled)) and np.array_equal(red, blue)
    deviations = np.sqrt(model.var_)
    scaled = (deviations - deviations.min()) / np.ptp(deviations)
    assert np.array_equal(green, np.round(255 * scaled))


@pytest.mark.parametrize("model", [BernoulliNB(), MultinomialNB()])
def test_images_of_counts_and_binary_pixels_are_probabilities(model, rng):
    X, y = rng.integers(0, 2, (40, 4)), np.repeat(["a", "b"], 20)
    model.fit(X, y)

    display = plot.ClassImageDisplay.from_estimator(model, (2, 2))

    probabilities = np.exp(model.feature_log_prob_).reshape(2, 2, 2)
    assert np.allclose(display.images["probability"], probabilities)


def test_images_of_mixed_naive_bayes_and_images_of_a_wrong_size(rng):
    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    model = MixedNB(likelihood="gaussian").fit(X, y)

    display = plot.ClassImageDisplay.from_estimator(model, (2, 2), kinds=["mean"])

    assert np.allclose(display.images["mean"][0].ravel(), X[:30].mean(axis=0))
    with pytest.raises(ValueError, match="shape 3x2 has 6 pixels, but the model has 4"):
        plot.ClassImageDisplay.from_estimator(model, (3, 2))
    with pytest.raises(ValueError, match="SVC has no class means"):
        plot.ClassImageDisplay.from_estimator(SVC().fit(X, y), (2, 2))


def test_the_belief_in_candy_bags_over_time():
    limes = {"h1": 0.0, "h2": 0.25, "h3": 0.5, "h4": 0.75, "h5": 1.0}
    outcomes = {"lime": limes, "cherry": {name: 1.0 - p for name, p in limes.items()}}
    priors = dict(zip(limes, [0.1, 0.2, 0.4, 0.2, 0.1], strict=True))

    display = plot.BeliefDisplay.from_observations(priors, outcomes, ["lime"] * 10)

    # After one lime: 0, .1, .4, .3, .2, and the next is lime with probability .65.
    after_one = [artist(display.ax_, f"P({h}").get_ydata()[1] for h in limes]
    assert np.allclose(after_one, [0.0, 0.1, 0.4, 0.3, 0.2])
    next_lime = artist(display.ax_, "P(next is lime").get_ydata()
    assert len(next_lime) == 11
    assert next_lime[:2] == pytest.approx([0.5, 0.65])
    with pytest.raises(ValueError, match="'mint' is none of the outcomes"):
        plot.BeliefDisplay.from_observations(priors, outcomes, ["lime"], outcome="mint")


@pytest.mark.parametrize(
    ("distribution", "density"),
    [
        (Beta(9.0, 5.0), stats.beta(9, 5).pdf),
        (Gamma(3.0, 2.0), stats.gamma(3, scale=0.5).pdf),
        (NormalMean(1.0, 4.0, 1.0), stats.norm(1, 2).pdf),
    ],
)
def test_the_density_of_a_parameter(distribution, density):
    display = plot.ParameterDisplay.from_distributions({"posterior": distribution}, level=0.9)

    xs, ys = artist(display.ax_, "posterior").get_data()
    assert np.allclose(ys, density(xs))
    assert np.trapezoid(ys, xs) == pytest.approx(1.0, abs=0.01)
    assert display.intervals["posterior"] == tuple(distribution.interval(0.9))
    with pytest.raises(ValueError, match="int has no density"):
        plot.ParameterDisplay.from_distributions(3)


@pytest.mark.parametrize("model", [RBFSampler(gamma=0.5), Nystroem(gamma=0.5, n_components=20)])
def test_kernel_values_of_a_feature_map(model, rng):
    X = rng.normal(size=(30, 3))
    features = model.fit_transform(X)

    display = plot.KernelApproximationDisplay.from_estimator(model, X)

    drawn = display.ax_.collections[0].get_offsets()
    first, second = np.triu_indices(30, 1)
    assert np.allclose(drawn[:, 1], (features @ features.T)[first, second])
    distances = np.linalg.norm(X[first] - X[second], axis=1)
    assert np.allclose(drawn[:, 0], distances)
    xs, kernel = display.ax_.lines[0].get_data()
    assert np.allclose(kernel, np.exp(-0.5 * xs**2))


def test_the_error_of_random_fourier_features_falls_with_the_root_of_their_number(rng):
    X = rng.normal(size=(60, 2))
    maps = {"rff": RBFSampler(gamma=0.5), "nystroem": Nystroem(gamma=0.5)}

    display = plot.ApproximationErrorDisplay.from_estimators(
        maps, X, n_components=(10, 40, 160), seeds=8
    )

    slope = np.polyfit(np.log(display.n_components), np.log(display.errors["rff"]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.12)
    reference = artist(display.ax_, "∝").get_ydata()
    assert np.allclose(reference[1] / reference[0], 0.5)
    with pytest.raises(ValueError, match="kernel is 'poly'"):
        plot.ApproximationErrorDisplay.from_estimators(Nystroem(kernel="poly"), X)


def test_densities_stay_within_the_range_of_the_data_and_equal_the_model():
    iris = load_iris(as_frame=True)
    model = GaussianNB().fit(iris.data, iris.target)

    display = plot.DensityDisplay.from_estimator(
        model, iris.data, iris.target, feature="petal length (cm)"
    )

    xs, ys = artist(display.ax_, "1").get_data()
    assert (xs.min(), xs.max()) == (1.0, 6.9)
    expected = stats.norm(model.theta_[1, 2], np.sqrt(model.var_[1, 2])).pdf(xs)
    assert np.allclose(ys, expected)


def test_marginal_densities_of_discriminant_analysis_and_of_an_array():
    iris = load_iris()
    model = QuadraticDiscriminantAnalysis().fit(iris.data, iris.target)

    display = plot.DensityDisplay.from_estimator(model, iris.data, feature=2)

    variance = np.asarray(model.covariance_)[2][2, 2]
    expected = stats.norm(model.means_[2, 2], np.sqrt(variance)).pdf(display.values)
    assert np.allclose(display.densities[:, 2], expected)
    assert display.ax_.get_xlabel() == "x3"


def test_categories_of_a_mixed_table_are_bars_of_probabilities():
    table = pd.DataFrame(
        {"status": ["single", "married", "single", "married"], "income": [1.0, 2, 3, 4]}
    )
    model = MixedNB(likelihood={"income": "gaussian"}, alpha=1.0).fit(
        table, ["no", "no", "yes", "no"]
    )

    display = plot.DensityDisplay.from_estimator(model, table, feature="status")

    assert list(display.values) == ["married", "single"]
    assert np.allclose(display.densities.sum(axis=0), 1.0)
    # Two of the three `no` are married: (2 + 1) / (3 + 2).
    assert display.densities[0, 0] == pytest.approx(0.6)
    assert len(display.ax_.patches) == 4


def test_other_classifiers_have_a_boundary_without_margin(two_classes):
    X, y = two_classes
    model = LogisticRegression().fit(X, y)

    display = plot.MarginDisplay.from_estimator(model, X, y)

    points = contours(display.ax_)[0.0]
    assert np.allclose(model.decision_function(points), 0.0, atol=1e-6)
    assert labels(display.ax_) == ["boundary", "no", "yes"]


def test_labels_and_features_that_do_not_fit_are_refused(two_classes):
    X, y = two_classes
    model = GaussianNB().fit(X, y)

    with pytest.raises(ValueError, match="expected one label for each of 60 rows"):
        plot.GaussianDisplay.from_estimator(model, X, y[:3])
    with pytest.raises(ValueError, match="feature 7 is not one of the 2 features"):
        plot.DensityDisplay.from_estimator(model, X, feature=7)
    with pytest.raises(ValueError, match="X has no rows"):
        plot.GaussianDisplay.from_estimator(model, X[:0], y[:0])
    binary = BernoulliNB().fit(X, y)
    with pytest.raises(ValueError, match="BernoulliNB does not accept missing values"):
        plot.DensityDisplay.from_estimator(binary, X, feature=0)


@pytest.mark.parametrize("far", [(1e6, 1.0), (0.0, 1e-6), (0.0, 1e8)])
def test_margins_of_rows_far_from_zero_tiny_and_huge(two_classes, far):
    X, y = two_classes
    X = far[0] + far[1] * X
    model = SVC(kernel="linear", C=1.0 / far[1] ** 2, tol=1e-6).fit(X, y)

    display = plot.MarginDisplay.from_estimator(model, X, y)

    lengths = np.linalg.norm(np.diff(display.segments, axis=1)[:, 0], axis=1)
    slacks = display.slacks[display.slacks > 2e-6]
    assert len(lengths) == len(slacks) > 5
    # Decision values lose digits far from zero.
    assert np.allclose(lengths, slacks * model.margins_[0], rtol=1e-2, atol=1e-4 * far[1])


def test_a_display_draws_into_given_axes_and_again(two_classes):
    X, y = two_classes
    _, ax = plt.subplots()

    display = plot.MarginDisplay.from_estimator(SVC().fit(X, y), X, y, ax=ax)
    again = display.plot()

    assert again is display
    assert display.ax_ is not ax and display.figure_ is display.ax_.figure
    with pytest.raises(ValueError, match="2 panels, but 1 axes"):
        plot.FeatureMapDisplay.from_data(X, y, ax=ax)


def test_columns_that_are_not_numeric_are_named():
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0], "color": ["red", "green", "red"]})
    model = LinearDiscriminantAnalysis().fit(table[["x"]], [0, 1, 1])

    with pytest.raises(ValueError, match="column 'color'"):
        plot.PosteriorDisplay.from_estimators(model, table, [0, 1, 1], feature="x")


def test_without_matplotlib_the_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)

    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot.ParameterDisplay.from_distributions(Beta(2.0, 2.0))


def test_the_gallery_is_drawn_by_one_command(tmp_path):
    command = [sys.executable, "-m", "mercer.plot", str(tmp_path / "pictures")]

    subprocess.run(command, check=True, capture_output=True)

    page = (tmp_path / "pictures/README.md").read_text(encoding="utf-8")
    files = sorted((tmp_path / "pictures").glob("*.png"))
    assert len(files) == page.count("![") >= 20
    for file in files:
        assert f"(./{file.name})" in page
        assert 2_000 < file.stat().st_size < 60_000, file
