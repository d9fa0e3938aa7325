"""Discriminant analysis: the attributes and predictions of scikit-learn."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import discriminant_analysis as theirs
from sklearn.covariance import OAS
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline

import mercer
from mercer.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from mercer.naive_bayes import GaussianNB

ALL = [
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
]


def two_classes():
    X, y = load_wine(return_X_y=True)
    return X[y < 2], y[y < 2]


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "two classes": two_classes,
}
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_lda_equals_scikit_learn(name, prior):
    X, y = DATA[name]()
    n_classes = len(np.unique(y))
    priors = np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2) if prior else None

    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    reference = theirs.LinearDiscriminantAnalysis(priors=priors).fit(X, y)

    for attribute in [
        "coef_",
        "intercept_",
        "means_",
        "priors_",
        "xbar_",
        "explained_variance_ratio_",
    ]:
        np.testing.assert_allclose(
            getattr(ours, attribute), getattr(reference, attribute), err_msg=attribute, **CLOSE
        )
    for ask in ["decision_function", "predict_proba", "predict"]:
        np.testing.assert_allclose(
            getattr(ours, ask)(X), getattr(reference, ask)(X), err_msg=ask, **CLOSE
        )
    # The sign of an axis is free.
    np.testing.assert_allclose(np.abs(ours.scalings_), np.abs(reference.scalings_), **CLOSE)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(reference.transform(X)), **CLOSE)


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, "auto"])
@pytest.mark.parametrize("name", DATA)
def test_lda_with_shrinkage_equals_scikit_learn(name, shrinkage, solver):
    X, y = DATA[name]()

    ours = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage).fit(X, y)
    reference = theirs.LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage).fit(X, y)

    np.testing.assert_allclose(ours.covariance_, reference.covariance_, **CLOSE)
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), **CLOSE)


QUADRATIC = [
    {},
    {"reg_param": 0.2},
    {"priors": [0.2, 0.3, 0.5]},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": "auto"},
]


@pytest.mark.parametrize("params", QUADRATIC)
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_qda_equals_scikit_learn(name, params):
    X, y = DATA[name]()

    ours = QuadraticDiscriminantAnalysis(**params).fit(X, y)
    reference = theirs.QuadraticDiscriminantAnalysis(**params, store_covariance=True, tol=0)
    reference.fit(X, y)

    np.testing.assert_allclose(ours.means_, reference.means_, **CLOSE)
    for one, other in zip(ours.covariance_, reference.covariance_, strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)
    for ask in ["decision_function", "predict_proba", "predict"]:
        np.testing.assert_allclose(
            getattr(ours, ask)(X), getattr(reference, ask)(X), err_msg=ask, **CLOSE
        )


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_oas_shrinkage_equals_scikit_learn(name):
    X, y = DATA[name]()

    ours = LinearDiscriminantAnalysis(shrinkage="oas").fit(X, y)
    reference = theirs.LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS())

    np.testing.assert_allclose(ours.predict_proba(X), reference.fit(X, y).predict_proba(X), **CLOSE)


def test_singular_and_wide_data_equal_scikit_learn():
    rng = np.random.default_rng(4)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 5)) + y[:, None]
    # Linearly dependent columns, and a constant one.
    X = np.c_[X, X @ rng.normal(size=(5, 3)), np.full(60, 7.0)]

    ours = LinearDiscriminantAnalysis().fit(X, y)
    reference = theirs.LinearDiscriminantAnalysis().fit(X, y)

    assert ours.rank_ == 5
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), **CLOSE)
    wide = rng.normal(size=(12, 40)) + 2 * (np.arange(12) % 2)[:, None]
    model = LinearDiscriminantAnalysis().fit(wide, np.arange(12) % 2)
    np.testing.assert_allclose(
        model.predict_proba(wide),
        theirs.LinearDiscriminantAnalysis().fit(wide, np.arange(12) % 2).predict_proba(wide),
        **CLOSE,
    )


def test_a_singular_class_is_refused_as_in_scikit_learn():
    X = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 0.0], [5.0, 5.0, 0.0], [7.0, 7.0, 0.0]])
    y = ["one", "line", "line", "line"]

    with pytest.raises(np.linalg.LinAlgError, match="class `line` is singular: rank 1 of 3"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.raises(np.linalg.LinAlgError):
        theirs.QuadraticDiscriminantAnalysis().fit(X[[0, 0, 1, 2, 3]], [y[0], *y])
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)

    assert model.ranks_.tolist() == [3, 3]
    assert model.predict(X).tolist() == y
    assert np.isfinite(model.decision_function(X)).all()
    regularized = RegularizedDiscriminantAnalysis().fit(X, y)
    assert regularized.predict(X).tolist() == y


def test_two_rows_of_a_class_give_no_covariance_of_three_columns():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(10, 3)), rng.normal(5, 1, size=(2, 3))]

    with pytest.raises(ValueError, match="class `1` is singular: rank 1 of 3 columns, from 2 rows"):
        QuadraticDiscriminantAnalysis().fit(X, [0] * 10 + [1] * 2)


def test_diagonal_covariance_is_naive_bayes(blobs):
    X, y = blobs

    ours = RegularizedDiscriminantAnalysis(reg_param=1.0).fit(X, y)

    naive = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), naive.predict_joint_log_proba(X), rtol=1e-10
    )
    assert 0 <= RegularizedDiscriminantAnalysis().fit(X, y).shrinkage_ <= 1


@pytest.mark.parametrize("estimator", ALL)
def test_partial_fit_merge_and_forget_equal_fit(blobs, estimator):
    X, y = blobs
    whole = estimator().fit(X, y).predict_log_proba(X)

    parts = estimator()
    for start in range(0, 300, 70):
        parts.partial_fit(X[start : start + 70], y[start : start + 70], classes=[0, 1, 2])
    merged = estimator().fit(X[:100], y[:100]).merge(estimator().fit(X[100:], y[100:]))
    sparse = estimator().fit(sp.csr_array(X), y)

    np.testing.assert_allclose(parts.predict_log_proba(X), whole, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(merged.predict_log_proba(X), whole, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(sparse.predict_log_proba(X), whole, rtol=1e-9, atol=1e-9)
    some = estimator().fit(X[:200], y[:200]).predict_log_proba(X)
    left = merged.forget(X[200:], y[200:])
    np.testing.assert_allclose(left.predict_log_proba(X), some, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("shrinkage", ["auto", "oas"])
def test_estimated_shrinkage_in_batches(blobs, shrinkage):
    X, y = blobs
    fit = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit

    merged = LinearDiscriminantAnalysis(shrinkage=shrinkage)
    for start in range(0, 300, 70):
        merged.partial_fit(X[start : start + 70], y[start : start + 70], classes=[0, 1, 2])

    np.testing.assert_allclose(merged.covariance_, fit(X, y).covariance_, rtol=1e-9)
    merged.forget(X[200:], y[200:])
    np.testing.assert_allclose(merged.covariance_, fit(X[:200], y[:200]).covariance_, rtol=1e-7)


def test_transform_of_a_data_frame(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcd"), index=range(1000, 1300))
    model = LinearDiscriminantAnalysis(n_components=2).set_output(transform="pandas")

    new = model.fit_transform(frame, y)

    names = ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert new.columns.tolist() == names == model.get_feature_names_out().tolist()
    assert new.index.tolist() == frame.index.tolist()
    pipeline = make_pipeline(LinearDiscriminantAnalysis(), GaussianNB()).fit(X, y)
    assert pipeline.score(X, y) > 0.6
    with pytest.raises(ValueError, match="n_components"):
        LinearDiscriminantAnalysis(n_components=3).fit(X, y)


@pytest.mark.parametrize("estimator", ALL)
def test_explanation_distances_and_model_file(blobs, estimator, tmp_path):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = estimator().fit(frame, np.array(["u", "v", "w"])[y])

    explanation = model.explain(X[0])
    model.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")

    np.testing.assert_allclose(explanation.scores, model.decision_function(frame[:1])[0], rtol=1e-9)
    np.testing.assert_allclose(explanation.posterior, model.predict_proba(frame[:1])[0], rtol=1e-9)
    np.testing.assert_allclose(explanation.distances, model.mahalanobis(frame[:1])[0], rtol=1e-9)
    total = sum(odds for _, odds in explanation.ranked_contributions())
    np.testing.assert_allclose(
        total, np.sort(explanation.scores)[-1] - np.sort(explanation.scores)[-2]
    )
    assert "squared distance" in str(explanation)
    assert json.loads(json.dumps(explanation.to_dict()))["terms"][0]["column"] == "a"
    np.testing.assert_array_equal(again.predict_log_proba(frame), model.predict_log_proba(frame))
    # The definition of the Mahalanobis distance.
    covariance = model.covariance_ if estimator is ALL[0] else model.covariance_[1]
    difference = X[0] - model.means_[1]
    expected = difference @ np.linalg.solve(covariance, difference)
    np.testing.assert_allclose(model.mahalanobis(frame[:1])[0, 1], expected, rtol=1e-9)


@pytest.mark.parametrize("estimator", ALL)
def test_samples_follow_the_density(blobs, estimator):
    X, y = blobs
    model = estimator().fit(X, y)

    rows, classes = model.sample(20_000, random_state=3)

    again = estimator().fit(rows, classes)
    np.testing.assert_allclose(again.means_, model.means_, atol=0.06)
    np.testing.assert_allclose(
        model.log_density(X), np.logaddexp.reduce(model.predict_joint_log_proba(X), axis=1)
    )


def test_twenty_thousand_classes_fit_in_memory():
    rng = np.random.default_rng(2)
    y = np.arange(60_000) % 20_000
    centers = rng.normal(size=(20_000, 40)) * 8
    X = centers[y] + rng.normal(size=(60_000, 40))

    model = LinearDiscriminantAnalysis().fit(X, y)

    assert (model.predict(X[:500]) == y[:500]).mean() > 0.99


def test_missing_value_is_named_by_its_cell(blobs):
    X, y = blobs
    X = X.copy()
    X[17, 2] = np.nan

    with pytest.raises(ValueError, match="row 18, column 3: found NaN, expected a finite number"):
        LinearDiscriminantAnalysis().fit(X, y)


def test_parameters_are_those_of_scikit_learn_and_variance():
    ours, reference = LinearDiscriminantAnalysis(), theirs.LinearDiscriminantAnalysis()
    assert ours.get_params() == {**reference.get_params(), "variance": "population"}
    ours, reference = QuadraticDiscriminantAnalysis(), theirs.QuadraticDiscriminantAnalysis()
    assert ours.get_params() == {**reference.get_params(), "variance": "population"}
    with pytest.raises(ValueError, match="shrinkage"):
        LinearDiscriminantAnalysis(shrinkage=1.5).fit([[0.0], [1.0]], [0, 1])
