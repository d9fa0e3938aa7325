"""Linear regression: the attributes and predictions of scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import linear_model as theirs
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

import mercer
from mercer.linear_model import LinearRegression, Ridge

ALL = [LinearRegression, Ridge]


def random_data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 20)) * rng.uniform(0.1, 30, 20) + rng.normal(size=20)
    return X, X @ rng.normal(size=20) + 5 + rng.normal(size=3000)


DATA = {"diabetes": lambda: load_diabetes(return_X_y=True), "random": random_data}
CASES = [
    (LinearRegression, theirs.LinearRegression, {}),
    (LinearRegression, theirs.LinearRegression, {"fit_intercept": False}),
    (Ridge, theirs.Ridge, {}),
    (Ridge, theirs.Ridge, {"alpha": 0.01}),
    (Ridge, theirs.Ridge, {"alpha": 30.0, "fit_intercept": False}),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("ours", "reference", "params"), CASES)
@pytest.mark.parametrize("name", DATA)
def test_attributes_and_predictions_equal_scikit_learn(
    name, ours, reference, params, weighted, sparse
):
    X, y = DATA[name]()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    rows = scipy.sparse.csr_matrix(X) if sparse else X

    ours = ours(**params).fit(rows, y, sample_weight=weights)
    reference = reference(**params).fit(X, y, sample_weight=weights)

    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, reference.intercept_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.predict(rows), reference.predict(X), rtol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("ours", "reference", "params"), CASES)
def test_multi_output_equals_scikit_learn(ours, reference, params, sparse, tmp_path):
    X, y = random_data()
    both = np.column_stack([y, y**2, np.ones_like(y)])
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))

    model = ours(**params).fit(scipy.sparse.csr_matrix(X) if sparse else X, both, weights)
    reference = reference(**params).fit(X, both, weights)

    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), reference.predict(X), rtol=1e-8, atol=1e-9)
    model.save(tmp_path / "many.mercer")
    loaded = mercer.load(tmp_path / "many.mercer")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    with pytest.raises(
        ValueError, match="explain supports one target, but the model was fitted to 3"
    ):
        model.explain(X[0])
    column = ours(**params).fit(X, y[:, None])
    assert (column.coef_.shape, column.predict(X).shape) == ((1, 20), (3000, 1))


def test_evidence_of_a_duplicated_target_selects_the_same_alpha():
    X, y = random_data()

    once = Ridge(alpha_from="evidence").fit(X, y)
    twice = Ridge(alpha_from="evidence").fit(X, np.column_stack([y, y]))

    assert twice.alpha_ == pytest.approx(once.alpha_, rel=1e-6)
    np.testing.assert_allclose(twice.coef_, [once.coef_, once.coef_], rtol=1e-8)


def test_rank_deficient_fit_has_the_minimum_norm():
    X, y = random_data()
    X = np.hstack([X[:200], X[:200, :3] * [1, 2, 3]])

    ours = LinearRegression().fit(X, y[:200])
    reference = theirs.LinearRegression().fit(X, y[:200])

    assert ours.rank_ == reference.rank_ == 20
    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=1e-8, atol=1e-10)


def test_partial_fit_merge_and_forget():
    X, y = random_data()
    for estimator in ALL:
        whole = estimator().fit(X, y)

        grown = estimator()
        for start in range(0, 3000, 700):
            grown.partial_fit(X[start : start + 700], y[start : start + 700])
        merged = estimator().fit(X[:1000], y[:1000]).merge(estimator().fit(X[1000:], y[1000:]))
        left = estimator().fit(X, y).forget(X[2000:], y[2000:])

        np.testing.assert_allclose(grown.coef_, whole.coef_, rtol=1e-10)
        np.testing.assert_allclose(merged.coef_, whole.coef_, rtol=1e-10)
        most = estimator().fit(X[:2000], y[:2000])
        np.testing.assert_allclose(left.coef_, most.coef_, rtol=1e-8)


def test_summary_has_the_standard_errors_of_least_squares():
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X, y)

    summary = model.summary()

    design = np.column_stack([np.ones(len(y)), X])
    residual = y - model.predict(X)
    variance = residual @ residual / (len(y) - 11)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose([e["error"] for e in summary.estimates], errors, rtol=1e-8)
    np.testing.assert_allclose(summary.r_squared, model.score(X, y), rtol=1e-12)
    assert summary.degrees_of_freedom == 431
    assert "431 degrees of freedom" in str(summary)
    with pytest.raises(TypeError, match="standard errors"):
        Ridge().fit(X, y).summary()


def test_ridge_has_the_posterior_covariance_of_its_coefficients():
    X, y = load_diabetes(return_X_y=True)
    model = Ridge(alpha=0.5).fit(X, y)

    centered = X - X.mean(axis=0)
    expected = np.linalg.inv(centered.T @ centered + 0.5 * np.eye(10)) * model.noise_variance_
    np.testing.assert_allclose(model.posterior_covariance_, expected, rtol=1e-8)


def test_prediction_intervals_have_their_coverage():
    X, y = random_data()
    for estimator in ALL:
        model = estimator().fit(X[:1500], y[:1500])

        low, high = model.predict_interval(X[1500:], 0.9).T

        held = np.mean((low <= y[1500:]) & (y[1500:] <= high))
        assert 0.87 < held < 0.93


def test_the_evidence_agrees_with_bayesian_ridge():
    X, y = load_diabetes(return_X_y=True)

    ours = Ridge(alpha_from="evidence").fit(X, y)
    reference = theirs.BayesianRidge(
        alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, max_iter=5000, tol=1e-10
    ).fit(X, y)

    # scikit-learn does not count the intercept as a fitted parameter.
    np.testing.assert_allclose(ours.alpha_, reference.lambda_ / reference.alpha_, rtol=0.02)
    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=0.02, atol=0.5)


def test_explanation_terms_add_up_to_the_prediction():
    X, y = random_data()
    model = Ridge().fit(X, y)

    explanation = model.explain(X[7])

    np.testing.assert_allclose(explanation.prediction, model.predict(X[7:8])[0])
    terms = [t["coefficient"] * t["value"] for t in explanation.terms]
    np.testing.assert_allclose(sum(terms) + explanation.intercept, explanation.prediction)
    np.testing.assert_allclose(
        sum(p for _, p in explanation.ranked_contributions()) + explanation.average,
        explanation.prediction,
    )
    assert "sum" in str(explanation)


def test_model_file_and_cross_validation(tmp_path):
    X, y = random_data()
    model = LinearRegression().fit(X, y)

    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")

    assert isinstance(loaded, LinearRegression)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert "condition number" in model.certificate_["text"]
    assert cross_val_score(Ridge(), X, y, cv=3).min() > 0.9


def test_invalid_targets_are_refused():
    with pytest.raises(ValueError, match=r"infinity|NaN"):
        LinearRegression().fit([[1.0], [2.0]], [1.0, np.nan])
    with pytest.raises(ValueError, match="expected a finite number"):
        LinearRegression().fit([[1.0], [np.nan]], [1.0, 2.0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        LinearRegression().fit([[1.0], [2.0]], [1.0, 2.0]).predict_interval([[1.0]], 1.5)


def test_targets_in_fortran_order_give_the_same_model():
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, X[:, 0]])

    rows, columns = Ridge().fit(X, Y), Ridge().fit(X, np.asfortranarray(Y))

    np.testing.assert_array_equal(rows.coef_, columns.coef_)
