"""Grid search and cross-validation: scikit-learn's results from shared fits."""

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.svm import SVC as SklearnSVC

from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression, Ridge
from mercer.model_selection import GridSearchCV, cross_validate
from mercer.naive_bayes import GaussianNB
from mercer.svm import SVC, SVR

GRID = {"C": [0.1, 1.0, 100.0], "gamma": [0.01, 0.1, "scale"]}


@pytest.fixture
def classes():
    return make_classification(240, 6, n_informative=4, n_classes=3, random_state=1)


def test_the_results_are_those_of_scikit_learn(classes):
    X, y = classes
    cv = StratifiedKFold(4, shuffle=True, random_state=0)

    ours = GridSearchCV(SVC(tol=1e-6), GRID, cv=cv).fit(X, y)
    theirs = sklearn.model_selection.GridSearchCV(SklearnSVC(tol=1e-6), GRID, cv=cv).fit(X, y)

    assert set(ours.cv_results_) == set(theirs.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for key in ("mean_test_score", "std_test_score", "split3_test_score", "rank_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-9)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.n_splits_ == 4
    assert ours.n_features_in_ == 6
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert (ours.cv_results_["mean_fit_time"] > 0).all()


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro", ["accuracy", "f1_weighted"]])
def test_any_scoring_is_scikit_learns(classes, scoring):
    X, y = classes
    refit = "accuracy" if isinstance(scoring, list) else True

    ours = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, scoring=scoring, refit=refit, cv=3).fit(X, y)
    theirs = sklearn.model_selection.GridSearchCV(
        SVC(), {"C": [1.0, 10.0]}, scoring=scoring, refit=refit, cv=3
    ).fit(X, y)

    keys = [key for key in theirs.cv_results_ if "_test_" in key]
    assert len(keys) >= 6
    for key in keys:
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=0.02)


def test_decision_values_and_probabilities_are_scored():
    X, y = make_classification(200, 5, random_state=2)
    for model in (SVC(), LogisticRegression(), SVC(probability=True)):
        ours = cross_validate(
            model,
            X,
            y,
            scoring=["roc_auc", "neg_log_loss"][: 1 + hasattr(model, "predict_proba")],
            cv=3,
        )
        theirs = sklearn.model_selection.cross_validate(model, X, y, scoring="roc_auc", cv=3)
        np.testing.assert_allclose(ours["test_roc_auc"], theirs["test_score"], atol=2e-3)


def test_regressors_and_groups():
    X, y = load_diabetes(return_X_y=True)
    X = X * 20
    groups = np.arange(len(y)) % 7
    for model, grid in [
        (SVR(), {"C": [1.0, 100.0], "gamma": [0.05, 0.2]}),
        (Ridge(), {"alpha": [0.1, 10.0]}),
        (KernelRidge(kernel="rbf", gamma=0.05), {"alpha": [0.1, 1.0]}),
    ]:
        ours = GridSearchCV(model, grid, cv=GroupKFold(3)).fit(X, y, groups=groups)
        theirs = sklearn.model_selection.GridSearchCV(model, grid, cv=GroupKFold(3))
        theirs.fit(X, y, groups=groups)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-3
        )


def test_what_has_no_fast_path_is_left_to_scikit_learn(classes):
    X, y = classes
    weights = np.ones(len(y))

    weighted = GridSearchCV(SVC(), {"C": [1.0]}, cv=3).fit(X, y, sample_weight=weights)
    trained = GridSearchCV(SVC(), {"C": [1.0]}, cv=3, return_train_score=True).fit(X, y)
    other = GridSearchCV(SklearnSVC(), {"C": [1.0]}, cv=3).fit(X, y)
    models = cross_validate(GaussianNB(), X, y, cv=3, return_estimator=True)

    assert "mean_train_score" in trained.cv_results_
    assert weighted.best_score_ == pytest.approx(trained.best_score_, abs=0.01)
    assert other.best_score_ == pytest.approx(trained.best_score_, abs=0.01)
    assert len(models["estimator"]) == 3


def test_a_refused_setting_is_reported_as_scikit_learn_does(classes):
    X, y = classes

    with pytest.raises(ValueError, match="C"):
        GridSearchCV(SVC(), {"C": [-1.0]}, cv=3, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter"):
        GridSearchCV(SVC(), {"D": [1.0]}, cv=3).fit(X, y)


def test_string_labels_tables_and_sparse_rows():
    import pandas as pd
    import scipy.sparse as sp

    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]

    table = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3).fit(X, names)
    sparse = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3).fit(sp.csr_matrix(X.to_numpy()), names)

    assert list(table.feature_names_in_) == list(X.columns)
    assert set(table.predict(X)) == set(names)
    assert isinstance(X, pd.DataFrame)
    np.testing.assert_allclose(
        table.cv_results_["mean_test_score"], sparse.cv_results_["mean_test_score"]
    )
