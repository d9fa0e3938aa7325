"""Online linear models, and logistic regression with cross-validated regularization."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn import linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler

from mercer.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from mercer.svm import LinearSVC


def standard(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def made(name, **params):
    """An estimator of scikit-learn, without its deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(theirs, name)(**params)


CASES = [
    (Perceptron, {}),
    (Perceptron, {"penalty": "l2", "alpha": 0.001, "class_weight": {0: 2.0}}),
    (SGDClassifier, {"penalty": None, "learning_rate": "constant"}),
    # Its first steps are so large that rounding errors grow over many epochs.
    (SGDClassifier, {"loss": "log_loss", "average": True, "max_iter": 3, "tol": None}),
    (SGDClassifier, {"loss": "modified_huber", "alpha": 0.1}),
    (PassiveAggressiveClassifier, {"C": 0.01}),
]


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize(("ours", "params"), CASES)
def test_unshuffled_linear_classifiers_equal_scikit_learn(ours, params, load):
    X, y = standard(load)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = made(ours.__name__, shuffle=False, **params).fit(X, y)

    model = ours(shuffle=False, **params).fit(X, y)

    assert model.n_iter_ == reference.n_iter_
    assert model.t_ == reference.t_
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(X), rtol=1e-7, atol=1e-8
    )
    if hasattr(reference, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-8)
    else:
        assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("sparse", [False, True])
def test_partial_fit_equals_scikit_learn(sparse):
    X, y = standard(load_iris)
    X = np.where(np.abs(X) < 0.5, 0, X)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    model, reference = SGDClassifier(shuffle=False), theirs.SGDClassifier(shuffle=False)

    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit(rows, y)
    for first in range(0, 150, 40):
        part = slice(first, first + 40)
        model.partial_fit(rows[part], y[part], classes=[0, 1, 2])
        reference.partial_fit(rows[part], y[part], classes=[0, 1, 2])

    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8, atol=1e-10)
    assert model.certificate_["rows"] == 150
    with pytest.raises(ValueError, match="balanced"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


def test_unshuffled_regressors_equal_scikit_learn():
    X, y = standard(load_diabetes)
    for name, params in (
        ("SGDRegressor", {"loss": "huber", "epsilon": 20.0}),
        ("PassiveAggressiveRegressor", {"C": 0.01}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference = made(name, shuffle=False, **params).fit(X, y)
        ours = {"SGDRegressor": SGDRegressor}.get(name, PassiveAggressiveRegressor)

        model = ours(shuffle=False, **params).fit(X, y)

        np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8)
        np.testing.assert_allclose(model.predict(X), reference.predict(X), rtol=1e-8)


def test_the_certificate_of_a_perceptron_counts_mistakes():
    X = np.array([[2.0, 1.0], [1.0, -1.0], [0.0, 1.0], [-1.0, -1.0]])

    model = Perceptron(shuffle=False).fit(X, [1, 0, 1, 0])

    np.testing.assert_array_equal(model.coef_, [[1.0, 2.0]])
    assert model.certificate_["objective"] == 0.0 and (
        model.certificate_["objective_name"] == "mistakes in the last epoch"
    )
    assert "Novikoff" in model.certificate_["text"]
    assert model.certificate_["dual"] is None


def test_warm_start_needs_fewer_iterations():
    X, y = standard(load_breast_cancer)
    cold = LogisticRegression(C=2.0, tol=1e-8).fit(X, y)

    model = LogisticRegression(C=1.8, tol=1e-8, warm_start=True).fit(X, y)
    first = model.n_iter_
    model.set_params(C=2.0).fit(X, y)

    assert model.n_iter_ < first
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-5)
    assert "warm_start" in LogisticRegression().get_params()


def test_selected_regularization_equals_scikit_learn():
    X, y = standard(load_iris)
    params = {"Cs": 5, "cv": 4, "scoring": "neg_log_loss"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = theirs.LogisticRegressionCV(
            l1_ratios=[0], use_legacy_attributes=False, tol=1e-8, max_iter=10_000, **params
        ).fit(X, y)

    model = LogisticRegressionCV(tol=1e-8, **params).fit(X, y)

    assert pytest.approx(reference.C_) == model.C_
    assert model.l1_ratio_ == 0.0
    np.testing.assert_allclose(model.Cs_, reference.Cs_)
    np.testing.assert_allclose(model.scores_, reference.scores_, atol=1e-4)
    assert model.coefs_paths_.shape == reference.coefs_paths_.shape
    assert model.n_iter_.shape == reference.n_iter_.shape
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))


def test_binary_decision_function_is_the_linear_function():
    X, y = standard(load_breast_cancer)

    for model in (LinearSVC().fit(X, y), SGDClassifier().fit(X, y)):
        linear = X @ model.coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X), linear, atol=1e-9)


def test_partial_fit_continues_a_loaded_model(tmp_path):
    X, y = standard(load_iris)
    whole = Perceptron(shuffle=False, average=True)
    whole.partial_fit(X, y, classes=[0, 1, 2])

    part = Perceptron(shuffle=False, average=True).partial_fit(X[:70], y[:70], classes=[0, 1, 2])
    part.save(tmp_path / "part.mercer")
    loaded = Perceptron.load(tmp_path / "part.mercer").partial_fit(X[70:], y[70:])

    np.testing.assert_allclose(loaded.coef_, whole.coef_, rtol=1e-12)
