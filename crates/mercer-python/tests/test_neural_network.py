"""Multilayer perceptrons: the loss and the attributes of scikit-learn."""

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

    ours = MLPClassifier(**params).fit(X, y)

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
    model = MLPClassifier(max_iter=500).fit(X, y)
    assert model.score(X, y) == 1
    assert "nonconvex" in model.certificate_["text"]
    assert [c.shape for c in model.coefs_] == [(2, 100), (100, 1)]
    assert [b.shape for b in model.intercepts_] == [(100,), (1,)]
    model.save(tmp_path / "model.mercer")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model.mercer").predict_proba(X), model.predict_proba(X)
    )

    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=10, alpha=20.0))
    assert cross_val_score(pipeline, X, y).mean() > 0.3


def test_multi_output_and_sparse_rows():
    X, y = standard(load_diabetes)
    both = np.column_stack([y, -y]) / 100
    model = MLPRegressor(hidden_layer_sizes=20, max_iter=50)

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
        return MLPClassifier(max_iter=5, **how).fit(X, y).loss_

    assert loss(random_state=3) == loss(random_state=3) != loss(random_state=4)
    model = MLPClassifier(max_iter=5, warm_start=True).fit(X, y)
    first = model.loss_
    assert model.fit(X, y).loss_ < first
    with pytest.raises(ValueError, match="solver"):
        MLPClassifier(solver="newton").fit(X, y)
