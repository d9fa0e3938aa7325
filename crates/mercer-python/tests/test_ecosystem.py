"""Libraries that build on scikit-learn accept the estimators; each test is skipped if its library is not installed.

``make sklearn-suite`` installs all of them.
"""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, cross_val_score

from mercer.linear_model import LogisticRegression, Ridge
from mercer.naive_bayes import GaussianNB
from mercer.svm import SVC


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def test_halving_grid_search_selects_the_parameters(iris):
    grid = {"C": [0.01, 1.0, 100.0], "gamma": [0.01, 0.1]}

    search = HalvingGridSearchCV(SVC(), grid, cv=3, random_state=0).fit(*iris)

    assert search.best_score_ > 0.9
    assert search.best_params_.keys() == grid.keys()


def test_skore_reports_the_estimator(iris):
    skore = pytest.importorskip("skore")
    X, y = iris

    report = skore.EstimatorReport(
        LogisticRegression(), X_train=X[::2], y_train=y[::2], X_test=X[1::2], y_test=y[1::2]
    )

    assert report.metrics.accuracy() > 0.9


def test_skrub_builds_a_pipeline_around_the_estimator():
    skrub = pytest.importorskip("skrub")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {"size": rng.normal(size=60), "color": rng.choice(["red", "blue"], 60)}
    )
    y = 2.0 * table["size"] + (table["color"] == "red")

    scores = cross_val_score(skrub.tabular_pipeline(Ridge(alpha=0.1)), table, y, cv=3)

    assert scores.min() > 0.9


def test_optuna_searches_the_parameters(iris):
    integration = pytest.importorskip("optuna_integration")
    optuna = pytest.importorskip("optuna")
    space = {"C": optuna.distributions.FloatDistribution(1e-3, 1e3, log=True)}

    search = integration.OptunaSearchCV(SVC(), space, n_trials=4, cv=3, random_state=0).fit(*iris)

    assert search.best_score_ > 0.8


def test_mlflow_logs_the_parameters_and_the_model(iris, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    sklearn_flavor = pytest.importorskip("mlflow.sklearn")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    model = GaussianNB().fit(*iris)

    sklearn_flavor.save_model(model, tmp_path / "model", serialization_format="cloudpickle")

    loaded = sklearn_flavor.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(iris[0]), model.predict_proba(iris[0]))


def test_shap_explains_the_predictions():
    shap = pytest.importorskip("shap")
    X, y = load_diabetes(return_X_y=True)
    model = Ridge().fit(X, y)

    explanation = shap.Explainer(model.predict, X[:50])(X[:5])

    sums = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(sums, model.predict(X[:5]), rtol=1e-6)


def test_imbalanced_learn_resamples_before_the_estimator(iris):
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampling = pytest.importorskip("imblearn.over_sampling")
    X, y = iris
    kept = np.r_[0:50, 50:60, 100:150]

    model = pipeline.make_pipeline(sampling.RandomOverSampler(random_state=0), GaussianNB())

    np.testing.assert_allclose(model.fit(X[kept], y[kept])[-1].class_prior_, 1 / 3)
