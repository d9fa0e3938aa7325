"""Our multilayer perceptrons stand in for scikit-learn's: same manners, same objective."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn import neural_network as theirs
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.neural_network import MLPClassifier, MLPRegressor


@parametrize_with_checks(
    [
        # Weights that cost something: log-probabilities stay where probabilities are not zero.
        MLPClassifier(max_iter=100, alpha=0.1),
        MLPClassifier(hidden_layer_sizes=(8, 4), activation="tanh", warm_start=True),
        MLPRegressor(max_iter=100),
        MLPRegressor(hidden_layer_sizes=12, activation="logistic"),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)


def standard(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
def test_the_objective_is_scikit_learns(load, activation):
    X, y = standard(load)
    params = {"hidden_layer_sizes": (6, 4), "activation": activation, "alpha": 0.5}

    ours = MLPClassifier(**params).fit(X, y)

    # Scikit-learn is given our weights and asked for its loss: one step of it, from there.
    reference = theirs.MLPClassifier(solver="lbfgs", max_iter=1, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        reference.fit(X, y)
    reference.coefs_, reference.intercepts_ = ours.coefs_, ours.intercepts_
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), atol=1e-12)
    assert (ours.n_layers_, ours.n_outputs_) == (reference.n_layers_, reference.n_outputs_)
    assert ours.out_activation_ == reference.out_activation_
    share = np.log(reference.predict_proba(X)[np.arange(len(y)), y])
    price = 0.5 * 0.5 / len(y) * sum(np.sum(c**2) for c in ours.coefs_)
    assert ours.loss_ == pytest.approx(price - share.mean(), abs=1e-12)


def test_a_minimum_is_as_low_as_scikit_learns():
    X, y = standard(load_breast_cancer)
    losses = []
    for make in [MLPClassifier, theirs.MLPClassifier]:
        model = [
            make(solver="lbfgs", alpha=1.0, max_iter=2000, random_state=s).fit(X, y)
            for s in range(3)
        ]
        losses.append(min(m.loss_ for m in model))

    assert losses[0] < 1.05 * losses[1]


def test_circles_are_told_apart_and_numbers_followed(tmp_path):
    X, y = make_circles(300, noise=0.05, factor=0.5, random_state=0)
    model = MLPClassifier(max_iter=500).fit(X, y)
    assert model.score(X, y) == 1
    assert "not convex" in model.certificate_["text"]
    assert [c.shape for c in model.coefs_] == [(2, 100), (100, 1)]
    assert [b.shape for b in model.intercepts_] == [(100,), (1,)]
    model.save(tmp_path / "model.mercer")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model.mercer").predict_proba(X), model.predict_proba(X)
    )

    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=10, alpha=20.0))
    assert cross_val_score(pipeline, X, y).mean() > 0.3


def test_several_numbers_and_sparse_rows():
    X, y = standard(load_diabetes)
    both = np.column_stack([y, -y]) / 100
    model = MLPRegressor(hidden_layer_sizes=20, max_iter=50)

    assert clone(model).fit(X, both).predict(X).shape == (442, 2)
    assert clone(model).fit(X, both[:, 0]).predict(X).shape == (442,)
    thin = X * (abs(X) > 1)
    few = clone(model).set_params(max_iter=5)
    dense = few.fit(thin, both[:, 0]).predict(thin)
    np.testing.assert_allclose(
        few.fit(scipy.sparse.csr_matrix(thin), both[:, 0]).predict(thin), dense, atol=1e-8
    )


def test_a_seed_fixes_the_start_and_a_warm_start_goes_on():
    X, y = standard(load_iris)

    def loss(**how):
        return MLPClassifier(max_iter=5, **how).fit(X, y).loss_

    assert loss(random_state=3) == loss(random_state=3) != loss(random_state=4)
    model = MLPClassifier(max_iter=5, warm_start=True).fit(X, y)
    first = model.loss_
    assert model.fit(X, y).loss_ < first
    with pytest.raises(ValueError, match="solver"):
        MLPClassifier(solver="newton").fit(X, y)
