"""Naive Bayes: the parameters, attributes and predictions of scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import naive_bayes as theirs
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.exceptions import ZeroLikelihoodWarning
from mercer.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)


def random_data():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, 2000)
    return rng.normal(size=(2000, 10)) * rng.uniform(0.1, 30, 10) + y[:, None], y


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "random": random_data,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_attributes_and_predictions_equal_scikit_learn(name, prior, weighted):
    X, y = DATA[name]()
    n_classes = len(np.unique(y))
    priors = np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2) if prior else None
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None

    ours = GaussianNB(priors=priors).fit(X, y, sample_weight=weights)
    # scikit-learn ignores the weights in its smoothing, so it gets ours.
    fraction = ours.epsilon_ / X.var(axis=0).max()
    reference = theirs.GaussianNB(priors=priors, var_smoothing=fraction)
    reference.fit(X, y, sample_weight=weights)

    np.testing.assert_allclose(fraction, 1e-9, rtol=0.2 if weighted else 1e-9)
    np.testing.assert_allclose(ours.theta_, reference.theta_, rtol=1e-9)
    np.testing.assert_allclose(ours.var_, reference.var_, rtol=1e-9)
    np.testing.assert_allclose(ours.class_prior_, reference.class_prior_, rtol=1e-12)
    np.testing.assert_allclose(ours.class_count_, reference.class_count_, rtol=1e-12)
    np.testing.assert_allclose(ours.epsilon_, reference.epsilon_, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), reference.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), reference.predict_joint_log_proba(X), rtol=1e-9
    )


def test_unsmoothed_weighted_probabilities_equal_scikit_learn():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))

    ours = GaussianNB(var_smoothing=0).fit(X, y, weights)
    reference = theirs.GaussianNB(var_smoothing=0).fit(X, y, weights)

    np.testing.assert_allclose(ours.var_, reference.var_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), atol=1e-9)


def test_parameters_are_those_of_scikit_learn_and_variance():
    assert GaussianNB().get_params() == {
        **theirs.GaussianNB().get_params(),
        "variance": "population",
    }
    assert repr(GaussianNB(var_smoothing=0.5)) == "GaussianNB(var_smoothing=0.5)"


def test_grid_search_pipeline_and_clone(blobs):
    X, y = blobs

    search = GridSearchCV(
        make_pipeline(StandardScaler(), GaussianNB()),
        {"gaussiannb__var_smoothing": [1e-9, 1e-2]},
        cv=3,
        n_jobs=2,
    ).fit(X, y)

    assert search.best_score_ > 0.6
    assert cross_val_score(GaussianNB(), X, y, cv=5).min() > 0.5
    assert clone(GaussianNB(priors=[0.2, 0.8])).priors == [0.2, 0.8]


def test_tags_come_from_the_catalog():
    tags = GaussianNB().__sklearn_tags__()

    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.estimator_type == "classifier"


def documents():
    """Term counts of documents of three classes, many of them zero."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 400)
    rates = rng.gamma(0.4, 1.0, size=(3, 50))
    return rng.poisson(rates[y]).astype(float), y


COUNTED = [
    ("MultinomialNB", {}),
    ("MultinomialNB", {"alpha": 0.01, "fit_prior": False}),
    ("MultinomialNB", {"alpha": np.linspace(0.1, 2, 50), "class_prior": [0.2, 0.3, 0.5]}),
    ("ComplementNB", {}),
    ("ComplementNB", {"alpha": 0.3, "norm": True}),
    ("BernoulliNB", {}),
    ("BernoulliNB", {"alpha": 0.2, "binarize": 1.0, "class_prior": [0.2, 0.3, 0.5]}),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "params"), COUNTED)
def test_discrete_naive_bayes_equals_scikit_learn(name, params, weighted, sparse):
    X, y = documents()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    rows = scipy.sparse.csr_matrix(X) if sparse else X

    ours = getattr(mercer.naive_bayes, name)(**params).fit(rows, y, sample_weight=weights)
    reference = getattr(theirs, name)(**params).fit(X, y, sample_weight=weights)

    for attribute in ["feature_count_", "feature_log_prob_", "class_count_", "class_log_prior_"]:
        np.testing.assert_allclose(
            getattr(ours, attribute), getattr(reference, attribute), rtol=1e-10, err_msg=attribute
        )
    np.testing.assert_array_equal(ours.predict(rows), reference.predict(X))
    np.testing.assert_allclose(
        ours.predict_log_proba(rows), reference.predict_log_proba(X), rtol=1e-10, atol=1e-10
    )


def test_binary_features_need_no_threshold():
    X, y = documents()
    X = (X > 0).astype(float)

    ours = BernoulliNB(binarize=None).fit(X, y)

    np.testing.assert_array_equal(ours.predict(X), BernoulliNB().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="row 1, column 1: found 2, expected a count"):
        BernoulliNB(binarize=None).fit(np.full_like(X, 2), y)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_partial_fit_in_batches_equals_fit(name):
    X, y = documents()
    estimator = getattr(mercer.naive_bayes, name)

    parts = estimator()
    for start in range(0, 400, 70):
        parts.partial_fit(X[start : start + 70], y[start : start + 70], classes=[0, 1, 2])
    whole = estimator().fit(X, y)

    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    parts.forget(X[350:], y[350:])
    most = estimator().fit(X[:350], y[:350])
    np.testing.assert_allclose(parts.predict_proba(X), most.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    "likelihood",
    [
        "auto",
        "schema",
        "gaussian",
        "kernel",
        "equal-width",
        "equal-frequency",
        "entropy",
        "split",
        "poisson",
        "exponential",
        "bernoulli",
    ],
)
def test_a_value_far_outside_is_an_outlier_under_every_likelihood(likelihood):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(200, 1))
    model = MixedNB(likelihood=likelihood).fit(x, x[:, 0] > 0.6)
    model.store_densities(x)

    assert model.is_outlier([[1e6]]).all()
    assert model.is_outlier(x).mean() <= 0.01
    assert np.isfinite(model.predict_proba([[1e6]])).all()


def test_a_row_that_is_impossible_in_every_class_gets_the_priors_and_a_warning():
    X = np.array([[1, 0]] * 3 + [[0, 1]] * 2)
    y = ["a"] * 3 + ["b"] * 2
    for estimator in [MultinomialNB(alpha=0), BernoulliNB(alpha=0), CategoricalNB(alpha=0)]:
        model = estimator.fit(X, y)
        with pytest.warns(ZeroLikelihoodWarning, match="1 rows"):
            proba = model.predict_proba([[1, 1], [1, 0]])
        with pytest.warns(ZeroLikelihoodWarning):
            assert model.predict([[1, 1]]) == "a"
        np.testing.assert_allclose(proba, [[0.6, 0.4], [1, 0]], atol=1e-12)
        explanation = model.explain([1, 1])
        assert explanation.impossible
        assert "likelihood zero" in str(explanation)
        assert "nan" not in str(explanation)
    assert not np.isnan(ComplementNB(alpha=0).fit(X, y).predict_proba([[1, 1], [2, 0]])).any()


def test_an_explanation_has_the_likelihood_before_the_prior():
    X, y = [[0, 1], [0, 0], [1, 1], [1, 0], [1, 1]], ["a", "a", "b", "b", "b"]
    explanation = CategoricalNB(alpha=0).fit(X, y).explain([1, 1])

    np.testing.assert_allclose(np.exp(explanation.log_likelihood), [0, 2 / 3])
    np.testing.assert_allclose(np.exp(explanation.log_joint), [0, 2 / 5])
    text = str(explanation)
    assert text.index("likelihood") < text.index("prior") < text.index("product")
    assert explanation.to_dict()["log_likelihood"][1] == pytest.approx(np.log(2 / 3))


def test_multinomial_naive_bayes_has_the_density_of_the_multinomial_distribution():
    from scipy.stats import multinomial

    rng = np.random.default_rng(1)
    X, y = rng.poisson(2, size=(30, 4)), np.arange(30) % 2
    model = MultinomialNB().fit(X, y)

    theta = np.exp(model.feature_log_prob_)
    joint = [np.log((y == c).mean()) + multinomial.logpmf(X, X.sum(1), theta[c]) for c in range(2)]
    np.testing.assert_allclose(model.predict_joint_log_proba(X), np.transpose(joint), rtol=1e-10)
    np.testing.assert_allclose(model.log_density(X), np.logaddexp(*joint), rtol=1e-10)
    rows, classes = model.sample(2000, random_state=0, y=1)
    assert (classes == 1).all()
    assert set(rows.sum(1)) == {np.round(X[y == 1].sum() / 15)}
    np.testing.assert_allclose(rows.mean(0) / rows.sum(1).mean(), theta[1], atol=0.02)
    with pytest.raises(ValueError, match="one of the classes: 0, 1"):
        model.sample(1, y=7)
    assert not hasattr(ComplementNB().fit(X, y), "sample")


def test_parameters_are_counted_against_the_joint_table():
    X = np.array([[i >> j & 1 for j in range(20)] for i in range(8)])
    model = BernoulliNB().fit(X, np.arange(8) % 2)
    assert (model.n_parameters, model.n_joint_parameters) == (41, 2**21 - 1)
    gaussian = GaussianNB().fit(X + 0.5, np.arange(8) % 2)
    assert (gaussian.n_parameters, gaussian.n_joint_parameters) == (1 + 2 * 20 * 2, None)
