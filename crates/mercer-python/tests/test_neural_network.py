"""Multilayer perceptrons: the loss and the attributes of scikit-learn."""

import pickle
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

import mercer
from mercer.neural_network import MLPClassifier, MLPRegressor


def standard(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
def test_loss_equals_scikit_learn(load, activation):
    X, y = standard(load)
    params = {"hidden_layer_sizes": (6, 4), "activation": activation, "alpha": 0.5}

    ours = MLPClassifier(solver="lbfgs", **params).fit(X, y)

    # scikit-learn's model after one iteration, with its weights replaced by ours.
    reference = theirs.MLPClassifier(solver="lbfgs", max_iter=1, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        reference.fit(X, y)
    reference.coefs_, reference.intercepts_ = ours.coefs_, ours.intercepts_
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), atol=1e-12)
    assert (ours.n_layers_, ours.n_outputs_) == (reference.n_layers_, reference.n_outputs_)
    assert ours.out_activation_ == reference.out_activation_
    log_proba = np.log(reference.predict_proba(X)[np.arange(len(y)), y])
    penalty = 0.5 * 0.5 / len(y) * sum(np.sum(c**2) for c in ours.coefs_)
    assert ours.loss_ == pytest.approx(penalty - log_proba.mean(), abs=1e-12)


def test_local_minimum_is_as_low_as_that_of_scikit_learn():
    X, y = standard(load_breast_cancer)
    losses = []
    for make in [MLPClassifier, theirs.MLPClassifier]:
        model = [
            make(solver="lbfgs", alpha=1.0, max_iter=300, random_state=s).fit(X, y)
            for s in range(3)
        ]
        losses.append(min(m.loss_ for m in model))

    assert losses[0] < 1.05 * losses[1]


def test_concentric_circles_and_regression(tmp_path):
    X, y = make_circles(300, noise=0.05, factor=0.5, random_state=0)
    model = MLPClassifier(solver="lbfgs", max_iter=500).fit(X, y)
    assert model.score(X, y) == 1
    assert "nonconvex" in model.certificate_["text"]
    assert [c.shape for c in model.coefs_] == [(2, 100), (100, 1)]
    assert [b.shape for b in model.intercepts_] == [(100,), (1,)]
    model.save(tmp_path / "model.mercer")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model.mercer").predict_proba(X), model.predict_proba(X)
    )

    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(
        StandardScaler(), MLPRegressor(hidden_layer_sizes=10, alpha=20.0, solver="lbfgs")
    )
    assert cross_val_score(pipeline, X, y).mean() > 0.3


def test_multi_output_and_sparse_rows():
    X, y = standard(load_diabetes)
    both = np.column_stack([y, -y]) / 100
    model = MLPRegressor(hidden_layer_sizes=20, solver="lbfgs", max_iter=50)

    assert clone(model).fit(X, both).predict(X).shape == (442, 2)
    assert clone(model).fit(X, both[:, 0]).predict(X).shape == (442,)
    sparse = X * (abs(X) > 1)
    few = clone(model).set_params(max_iter=5)
    dense = few.fit(sparse, both[:, 0]).predict(sparse)
    np.testing.assert_allclose(
        few.fit(scipy.sparse.csr_matrix(sparse), both[:, 0]).predict(sparse), dense, atol=1e-8
    )


def test_random_state_and_warm_start():
    X, y = standard(load_iris)

    def loss(**how):
        return MLPClassifier(solver="lbfgs", max_iter=5, **how).fit(X, y).loss_

    assert loss(random_state=3) == loss(random_state=3) != loss(random_state=4)
    model = MLPClassifier(solver="lbfgs", max_iter=5, warm_start=True).fit(X, y)
    first = model.loss_
    assert model.fit(X, y).loss_ < first
    with pytest.raises(ValueError, match="solver"):
        MLPClassifier(solver="newton").fit(X, y)


@pytest.mark.parametrize(
    "params",
    [
        {"solver": "adam", "beta_1": 0.8},
        {"solver": "sgd", "learning_rate_init": 0.1},
        {"solver": "sgd", "nesterovs_momentum": False, "learning_rate": "invscaling"},
    ],
)
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_stochastic_updates_are_those_of_scikit_learn(load, params):
    X, y = standard(load)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    params = {"hidden_layer_sizes": 8, "batch_size": 40, "shuffle": False, "max_iter": 3} | params
    # Steps of almost no length show the initial weights.
    start = MLPClassifier(**params | {"learning_rate_init": 1e-300}).fit(X, y)

    ours = MLPClassifier(**params).fit(X, y, weights)
    reference = theirs.MLPClassifier(warm_start=True, **params).fit(X, y, weights)
    for part, initial in zip(reference.coefs_, start.coefs_, strict=True):
        part[:] = initial
    for part, initial in zip(reference.intercepts_, start.intercepts_, strict=True):
        part[:] = initial
    reference.t_ = 0
    reference.fit(X, y, weights)

    for mine, other in zip(ours.coefs_, reference.coefs_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(ours.loss_curve_, reference.loss_curve_[3:], rtol=1e-10)
    assert len(ours.loss_curve_) == ours.n_iter_ == 3
    assert ours.t_ == 3 * len(y)
    assert ours.best_loss_ == min(ours.loss_curve_)
    assert ours.validation_scores_ is None


def test_early_stopping_holds_out_rows():
    X, y = standard(load_breast_cancer)

    model = MLPClassifier(hidden_layer_sizes=8, early_stopping=True, max_iter=300).fit(X, y)

    assert len(model.validation_scores_) == model.n_iter_ < 300
    assert model.best_validation_score_ == max(model.validation_scores_) > 0.9
    with pytest.raises(ValueError, match="partial_fit does not support early_stopping"):
        model.partial_fit(X, y)


def test_partial_fit_continues_and_is_pickled():
    X, y = standard(load_iris)
    model = MLPClassifier(hidden_layer_sizes=8, learning_rate_init=0.01)

    for _ in range(80):
        model.partial_fit(X, y, classes=[0, 1, 2])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, y)

    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(again.coefs_[0], model.partial_fit(X, y).coefs_[0])
    assert not hasattr(MLPClassifier(solver="lbfgs"), "partial_fit")


def test_poisson_loss_predicts_positive_means():
    X, y = load_diabetes(return_X_y=True)

    model = MLPRegressor("poisson", hidden_layer_sizes=5, solver="lbfgs").fit(X, y)

    assert model.out_activation_ == "exp"
    assert (model.predict(X) > 0).all()
    with pytest.raises(ValueError, match="at least 0"):
        model.fit(X, -y)
