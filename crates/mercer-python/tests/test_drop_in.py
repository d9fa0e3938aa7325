"""A script written for scikit-learn runs with another import: its parameters are all taken."""

import importlib
import inspect
import itertools
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.base import Only, Unused
from mercer.decomposition import KernelPCA
from mercer.kernel_approximation import Nystroem
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from mercer.neural_network import MLPClassifier
from mercer.svm import SVC


def twins():
    """Our classes that scikit-learn has too, with theirs."""
    texts = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
    places = [card["python"] for card in mercer.catalog()]
    places += [f"feature_extraction.text.{name}" for name in texts]
    for place in places:
        module, _, name = place.rpartition(".")
        theirs = getattr(importlib.import_module(f"sklearn.{module}"), name, None)
        if theirs is not None:
            yield name, getattr(importlib.import_module(f"mercer.{module}"), name), theirs


TWINS = {name: (ours, theirs) for name, ours, theirs in twins()}
BESIDE = {name: ours for name, (ours, _) in TWINS.items() if getattr(ours, "_beside", None)}

#: What is not as in scikit-learn although its name is, and why.
OTHER_DEFAULTS = {
    # Scikit-learn's default asks users to choose before it becomes this one.
    ("LogisticRegressionCV", "use_legacy_attributes"),
}


def parameters(of):
    return {p.name: p for p in inspect.signature(of).parameters.values()}


def kind_of(estimator):
    return estimator.__sklearn_tags__().estimator_type


def data_for(estimator, n_classes=3):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    X, y = X[y < n_classes], y[y < n_classes]
    return (X[:, :3], X[:, 3]) if kind_of(estimator) == "regressor" else (X, y)


def told(estimator, n_classes=3):
    """What an estimator says after it has learned."""
    X, y = data_for(estimator, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Scikit-learn's may change the rows it learns from.
        estimator.fit(X.copy(), y)
    return estimator.predict(X) if hasattr(estimator, "predict") else estimator.transform(X)


@pytest.mark.parametrize("name", TWINS)
def test_every_parameter_of_scikit_learn_is_taken(name):
    ours, theirs = TWINS[name]

    assert set(parameters(theirs)) <= set(parameters(ours))


@pytest.mark.parametrize("name", TWINS)
def test_what_scikit_learn_takes_by_position_is_taken_by_position(name):
    ours, theirs = (
        [p.name for p in parameters(of).values() if p.kind == p.POSITIONAL_OR_KEYWORD]
        for of in TWINS[name]
    )

    assert ours == theirs


@pytest.mark.parametrize("name", BESIDE)
def test_parameters_that_only_python_has_begin_as_scikit_learns(name):
    ours, theirs = map(parameters, TWINS[name])

    for parameter in BESIDE[name]._beside:
        if parameter in theirs and (name, parameter) not in OTHER_DEFAULTS:
            assert ours[parameter].default == theirs[parameter].default, parameter


@pytest.mark.parametrize("name", [name for name in TWINS if hasattr(TWINS[name][0], "_id")])
def test_the_parameters_of_scikit_learns_estimator_are_ours(name):
    ours, theirs = TWINS[name]

    model = ours(**theirs().get_params())

    assert clone(model).get_params() == model.get_params()
    assert np.isfinite(told(model)).all()


def others(declared):
    """Values that an unused parameter may have."""
    samples = {
        bool: [True, False],
        int: [3],
        float: [0.25],
        np.random.RandomState: [np.random.RandomState(3)],
    }
    return itertools.chain.from_iterable(samples.get(what, [what]) for what in declared.takes)


def of_kind(kind):
    return [
        (name, parameter)
        for name, ours in BESIDE.items()
        for parameter, declared in ours._beside.items()
        if isinstance(declared, kind)
    ]


@pytest.mark.parametrize(("name", "parameter"), of_kind(Unused))
def test_parameters_without_use_change_nothing(name, parameter):
    ours = BESIDE[name]
    expected = told(ours())

    for value in others(ours._beside[parameter]):
        np.testing.assert_array_equal(told(ours(**{parameter: value})), expected)

    _, entry, text = ours.__doc__.partition(f"\n    {parameter} : ")
    assert entry
    assert "Makes no difference" in text.split(" : ")[0]


@pytest.mark.parametrize(("name", "parameter"), of_kind(Unused))
def test_what_scikit_learn_refuses_is_refused(name, parameter):
    ours, theirs = TWINS[name]

    for estimator in (ours, theirs):
        model = estimator(**{parameter: "no such word"})
        with pytest.raises(ValueError, match=parameter):
            model.fit(*data_for(model))


@pytest.mark.parametrize(("name", "parameter"), of_kind(Only))
def test_what_would_change_the_answer_is_refused_by_name(name, parameter):
    ours = BESIDE[name]
    declared = ours._beside[parameter]
    other = True if False in declared.takes else "another"

    for value in declared.takes:
        told(ours(**{parameter: value}))
    model = ours(**{parameter: other})
    refused = f"{name} does not take {parameter}={other!r}, only .*; {re.escape(declared.instead)}"
    with pytest.raises(ValueError, match=refused):
        model.fit(*data_for(model))


def test_a_search_goes_over_parameters_without_use():
    X, y = load_iris(return_X_y=True)

    search = GridSearchCV(
        LogisticRegression(max_iter=1000, random_state=0),
        {"solver": ["lbfgs", "liblinear", "saga"], "C": [0.1, 1.0], "n_jobs": [None, 1]},
        cv=3,
    ).fit(X, y)

    scores = search.cv_results_["mean_test_score"].reshape(2, 2, 3)
    assert (scores == scores[:, :1, :1]).all()
    assert pickle.loads(pickle.dumps(search.best_estimator_)).random_state == 0


def test_a_loaded_model_has_the_parameters_it_was_made_with_and_defaults_for_the_rest(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression("l1", C=0.5, solver="saga", n_jobs=2).fit(X, y)

    model.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")

    assert (again.penalty, again.C, again.solver, again.n_jobs) == ("l1", 0.5, "lbfgs", None)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(clone(again).fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("n_jobs", [1, 3, -1, -2])
@pytest.mark.parametrize(
    "name", [name for name, ours in BESIDE.items() if "n_jobs" in ours._beside]
)
def test_any_number_of_threads_gives_the_same_bits(name, n_jobs):
    np.testing.assert_array_equal(told(BESIDE[name](n_jobs=n_jobs)), told(BESIDE[name]()))


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        LinearRegression(n_jobs=0).fit([[1.0], [2.0]], [1.0, 2.0])


def squared(x, z, scale=1.0):
    return (scale * x @ z) ** 2


@pytest.mark.parametrize("estimator", [KernelPCA(3), KernelRidge(0.5), Nystroem(n_components=20)])
def test_a_kernel_in_python_is_called_with_its_parameters(estimator):
    given = clone(estimator).set_params(kernel=squared, kernel_params={"scale": 0.1})
    written = clone(estimator).set_params(kernel=lambda x, z: squared(x, z, scale=0.1))

    np.testing.assert_array_equal(told(given), told(written))
    assert not np.allclose(told(given), told(clone(estimator).set_params(kernel=squared)))


def test_the_parameters_of_a_named_kernel_may_come_in_a_table():
    by_table = Nystroem("rbf", kernel_params={"gamma": 0.2})

    np.testing.assert_array_equal(told(by_table), told(Nystroem(gamma=0.2)))
    np.testing.assert_array_equal(
        told(Nystroem("polynomial", kernel_params={"degree": 2, "coef0": 0.5})),
        told(Nystroem("poly", degree=2, coef0=0.5)),
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"l1_ratio": 1.0, "solver": "saga"}, {"penalty": "l1"}),
        ({"l1_ratio": 0.4}, {"penalty": "elasticnet", "l1_ratio": 0.4}),
        ({"l1_ratio": None}, {"penalty": "l2"}),
        ({"penalty": "elasticnet", "l1_ratio": None}, {"penalty": "elasticnet", "l1_ratio": 0.0}),
        ({"penalty": "l2", "l1_ratio": 0.4}, {"penalty": "l2"}),
        ({"C": np.inf}, {"penalty": None}),
    ],
)
def test_the_share_says_what_large_weights_cost_where_nothing_else_does(said, meant):
    X, y = load_iris(return_X_y=True)

    np.testing.assert_array_equal(
        LogisticRegression(**said).fit(X, y).coef_, LogisticRegression(**meant).fit(X, y).coef_
    )


def test_a_network_that_is_asked_for_another_way_says_which_it_takes():
    X, y = load_iris(return_X_y=True)

    with pytest.warns(UserWarning, match='solver="adam" is taken as "lbfgs"'):
        other = MLPClassifier((5,), solver="adam", max_fun=20).fit(X, y)

    same = MLPClassifier((5,), solver="lbfgs", max_iter=20).fit(X, y)
    np.testing.assert_array_equal(other.predict_proba(X), same.predict_proba(X))


def test_probabilities_that_were_not_asked_for_are_not_there():
    assert not hasattr(SVC(probability="deprecated"), "predict_proba")
    assert hasattr(SVC(probability=True), "predict_proba")


#: Constructors as scikit-learn's user guide and examples have them.
SCRIPTS = """
linear_model.LinearRegression(n_jobs=-1, copy_X=False)
linear_model.Ridge(alpha=.5)
linear_model.Ridge(0.5, solver="cholesky", max_iter=1000, random_state=42)
linear_model.RidgeCV(alphas=np.logspace(-6, 6, 13))
linear_model.LogisticRegression(solver="liblinear", n_jobs=-1, random_state=0)
linear_model.LogisticRegression(solver="sag", tol=1e-2, max_iter=1000)
linear_model.LogisticRegression(l1_ratio=0.5, solver="saga", C=0.5, max_iter=5000)
linear_model.LogisticRegressionCV(cv=5, random_state=0, solver="newton-cholesky", verbose=0)
linear_model.make_pipeline(StandardScaler(), SGDClassifier("hinge", n_jobs=-1, random_state=1))
linear_model.make_pipeline(StandardScaler(), SGDRegressor(max_iter=1000, random_state=0, verbose=0))
linear_model.make_pipeline(StandardScaler(), Perceptron(tol=1e-3, random_state=0, n_jobs=2))
svm.SVC(kernel="linear", C=0.5, random_state=0)
svm.SVC(gamma=0.5, decision_function_shape="ovo", cache_size=500, verbose=False)
svm.LinearSVC("l2", "hinge", C=1.0, random_state=42, max_iter=10_000)
svm.LinearSVC(dual=False, penalty="l1", C=0.5, random_state=0, tol=1e-5)
svm.LinearSVR(dual="auto", random_state=0, tol=1e-5, verbose=0, max_iter=100_000)
svm.NuSVC(nu=0.2, random_state=1)
svm.SVR(kernel="rbf", C=100, gamma=0.1, epsilon=0.1)
svm.OneClassSVM(nu=0.1, kernel="rbf", gamma=0.1)
kernel_ridge.KernelRidge(0.1, kernel="polynomial", degree=2)
discriminant_analysis.LinearDiscriminantAnalysis("svd", None, None, 2, True)
discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
discriminant_analysis.QuadraticDiscriminantAnalysis(store_covariance=True)
naive_bayes.GaussianNB()
neural_network.MLPClassifier((5, 2), "tanh", solver="lbfgs", alpha=1e-2, random_state=1)
preprocessing.PolynomialFeatures(2, interaction_only=True)
decomposition.KernelPCA(2, kernel="rbf", gamma=0.04, eigen_solver="dense", n_jobs=-1)
kernel_approximation.AdditiveChi2Sampler(sample_steps=2)
""".strip().splitlines()


TOOLS = {"make_pipeline": make_pipeline, "np": np, "StandardScaler": StandardScaler}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs_with_another_import(script):
    module, _, call = script.partition(".")
    # Scikit-learn's liblinear tells two classes.
    n_classes = 2 if "liblinear" in script else 3
    said = {}
    for package in ("mercer", "sklearn"):
        names = vars(importlib.import_module(f"{package}.{module}"))
        model = eval(call, {**TOOLS, **names})
        said[package] = told(model, n_classes)

    ours, theirs = said["mercer"], said["sklearn"]
    assert ours.shape == theirs.shape
    if kind_of(model) == "regressor":
        np.testing.assert_allclose(ours, theirs, atol=0.05)
    elif kind_of(model) is None:
        np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-6)
    elif kind_of(model) == "classifier":
        # Those that draw the order of rows draw another one.
        right = data_for(model, n_classes)[1]
        assert (ours == right).mean() > (theirs == right).mean() - 0.1
    else:
        assert (ours == theirs).mean() > 0.9


METHODS = [
    "fit",
    "fit_transform",
    "inverse_transform",
    "partial_fit",
    "predict",
    "score",
    "transform",
]


@pytest.mark.parametrize("name", TWINS)
def test_methods_take_what_scikit_learns_take_in_the_same_order(name):
    for method in METHODS:
        if all(hasattr(of, method) for of in TWINS[name]):
            ours, theirs = (parameters(getattr(of, method)).values() for of in TWINS[name])
            named = [p.name for p in theirs if p.kind != p.VAR_KEYWORD]
            assert [p.name for p in ours][: len(named)] == named, method


@pytest.mark.parametrize("estimator", [Perceptron(), SGDClassifier(), SGDRegressor()])
def test_weights_to_begin_at_are_refused(estimator):
    X, y = data_for(estimator)

    with pytest.raises(ValueError, match="does not take coef_init.*; fit with warm_start=True"):
        estimator.fit(X, y, np.zeros((3, X.shape[1])))
