"""A script written for scikit-learn runs with the import of mercer: all parameters are accepted."""

import importlib
import inspect
import itertools
import pickle
import re
import warnings

import numpy as np
import pytest
import sklearn
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
from mercer.svm import SVC

#: The classes declare the parameters, defaults and signatures of scikit-learn 1.8 and later.
pytestmark = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="the interface of scikit-learn 1.8",
)


def common_classes():
    """The classes of mercer that scikit-learn has too."""
    texts = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
    paths = [card["python"] for card in mercer.catalog()]
    paths += [f"feature_extraction.text.{name}" for name in texts]
    for path in paths:
        module, _, name = path.rpartition(".")
        theirs = getattr(importlib.import_module(f"sklearn.{module}"), name, None)
        if theirs is not None:
            yield name, getattr(importlib.import_module(f"mercer.{module}"), name), theirs


COMMON = {name: (ours, theirs) for name, ours, theirs in common_classes()}
BESIDE = {
    name: ours for name, (ours, _) in COMMON.items() if getattr(ours, "_extra_parameters", None)
}

#: Parameters whose default differs from that of scikit-learn, and why.
OTHER_DEFAULTS = {
    # scikit-learn's default is a placeholder that warns of the change to this default.
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


def fitted_output(estimator, n_classes=3):
    """The predictions or transformed rows after a fit."""
    X, y = data_for(estimator, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # scikit-learn may change X in place.
        estimator.fit(X.copy(), y)
    return estimator.predict(X) if hasattr(estimator, "predict") else estimator.transform(X)


@pytest.mark.parametrize("name", COMMON)
def test_accepts_every_parameter_of_scikit_learn(name):
    ours, theirs = COMMON[name]

    assert set(parameters(theirs)) <= set(parameters(ours))


@pytest.mark.parametrize("name", COMMON)
def test_positional_parameters_equal_scikit_learn(name):
    ours, theirs = (
        [p.name for p in parameters(of).values() if p.kind == p.POSITIONAL_OR_KEYWORD]
        for of in COMMON[name]
    )

    assert ours == theirs


@pytest.mark.parametrize("name", BESIDE)
def test_defaults_of_python_only_parameters_equal_scikit_learn(name):
    ours, theirs = map(parameters, COMMON[name])

    for parameter in BESIDE[name]._extra_parameters:
        if parameter in theirs and (name, parameter) not in OTHER_DEFAULTS:
            assert ours[parameter].default == theirs[parameter].default, parameter


@pytest.mark.parametrize("name", [name for name in COMMON if hasattr(COMMON[name][0], "_id")])
def test_parameters_of_a_scikit_learn_estimator_are_accepted(name):
    ours, theirs = COMMON[name]

    model = ours(**theirs().get_params())

    assert clone(model).get_params() == model.get_params()
    assert np.isfinite(fitted_output(model)).all()


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
        for parameter, declared in ours._extra_parameters.items()
        if isinstance(declared, kind)
    ]


@pytest.mark.parametrize(("name", "parameter"), of_kind(Unused))
def test_unused_parameters_do_not_change_the_model(name, parameter):
    ours = BESIDE[name]
    expected = fitted_output(ours())

    for value in others(ours._extra_parameters[parameter]):
        np.testing.assert_array_equal(fitted_output(ours(**{parameter: value})), expected)

    _, entry, text = ours.__doc__.partition(f"\n    {parameter} : ")
    assert entry
    assert "Accepted without effect" in text.split(" : ")[0]


@pytest.mark.parametrize(("name", "parameter"), of_kind(Unused))
def test_invalid_values_of_unused_parameters_are_refused(name, parameter):
    ours, theirs = COMMON[name]

    for estimator in (ours, theirs):
        model = estimator(**{parameter: "invalid"})
        with pytest.raises(ValueError, match=parameter):
            model.fit(*data_for(model))


@pytest.mark.parametrize(("name", "parameter"), of_kind(Only))
def test_values_that_are_not_implemented_are_refused(name, parameter):
    ours = BESIDE[name]
    declared = ours._extra_parameters[parameter]
    other = True if False in declared.takes else "another"

    for value in declared.takes:
        fitted_output(ours(**{parameter: value}))
    model = ours(**{parameter: other})
    refused = (
        f"{name} does not support {parameter}={other!r}, only .*; {re.escape(declared.instead)}"
    )
    with pytest.raises(ValueError, match=refused):
        model.fit(*data_for(model))


def test_grid_search_over_unused_parameters():
    X, y = load_iris(return_X_y=True)

    search = GridSearchCV(
        LogisticRegression(max_iter=1000, random_state=0),
        {"solver": ["lbfgs", "newton-cg", "saga"], "C": [0.1, 1.0], "n_jobs": [None, 1]},
        cv=3,
    ).fit(X, y)

    scores = search.cv_results_["mean_test_score"].reshape(2, 2, 3)
    assert (scores == scores[:, :1, :1]).all()
    assert pickle.loads(pickle.dumps(search.best_estimator_)).random_state == 0


def test_loaded_model_has_its_core_parameters_and_defaults_for_the_others(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression("l1", C=0.5, solver="saga", n_jobs=2).fit(X, y)

    model.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")

    assert (again.penalty, again.C, again.solver, again.n_jobs) == ("l1", 0.5, "lbfgs", None)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(clone(again).fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("n_jobs", [1, 3, -1, -2])
@pytest.mark.parametrize(
    "name", [name for name, ours in BESIDE.items() if "n_jobs" in ours._extra_parameters]
)
def test_result_does_not_depend_on_the_number_of_threads(name, n_jobs):
    np.testing.assert_array_equal(
        fitted_output(BESIDE[name](n_jobs=n_jobs)), fitted_output(BESIDE[name]())
    )


def test_n_jobs_of_zero_is_refused():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        LinearRegression(n_jobs=0).fit([[1.0], [2.0]], [1.0, 2.0])


def squared(x, z, scale=1.0):
    return (scale * x @ z) ** 2


@pytest.mark.parametrize("estimator", [KernelPCA(3), KernelRidge(0.5), Nystroem(n_components=20)])
def test_callable_kernel_gets_kernel_params(estimator):
    given = clone(estimator).set_params(kernel=squared, kernel_params={"scale": 0.1})
    written = clone(estimator).set_params(kernel=lambda x, z: squared(x, z, scale=0.1))

    np.testing.assert_array_equal(fitted_output(given), fitted_output(written))
    assert not np.allclose(
        fitted_output(given), fitted_output(clone(estimator).set_params(kernel=squared))
    )


def test_kernel_params_apply_to_named_kernels():
    by_table = Nystroem("rbf", kernel_params={"gamma": 0.2})

    np.testing.assert_array_equal(fitted_output(by_table), fitted_output(Nystroem(gamma=0.2)))
    np.testing.assert_array_equal(
        fitted_output(Nystroem("polynomial", kernel_params={"degree": 2, "coef0": 0.5})),
        fitted_output(Nystroem("poly", degree=2, coef0=0.5)),
    )


@pytest.mark.parametrize(
    ("given", "equivalent"),
    [
        ({"l1_ratio": 1.0, "solver": "saga"}, {"penalty": "l1"}),
        ({"l1_ratio": 0.4}, {"penalty": "elasticnet", "l1_ratio": 0.4}),
        ({"l1_ratio": None}, {"penalty": "l2"}),
        ({"penalty": "l2", "l1_ratio": 0.4}, {"penalty": "l2"}),
        ({"C": np.inf}, {"penalty": None}),
    ],
)
def test_l1_ratio_determines_an_unset_penalty(given, equivalent):
    X, y = load_iris(return_X_y=True)

    np.testing.assert_array_equal(
        LogisticRegression(**given).fit(X, y).coef_,
        LogisticRegression(**equivalent).fit(X, y).coef_,
    )


def test_predict_proba_exists_only_if_requested():
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
def test_scikit_learn_script_runs_with_the_import_of_mercer(script):
    module, _, call = script.partition(".")
    # scikit-learn's liblinear solver supports two classes.
    n_classes = 2 if "liblinear" in script else 3
    outputs = {}
    for package in ("mercer", "sklearn"):
        names = vars(importlib.import_module(f"{package}.{module}"))
        model = eval(call, {**TOOLS, **names})
        outputs[package] = fitted_output(model, n_classes)

    ours, theirs = outputs["mercer"], outputs["sklearn"]
    assert ours.shape == theirs.shape
    if kind_of(model) == "regressor":
        np.testing.assert_allclose(ours, theirs, atol=0.05)
    elif kind_of(model) is None:
        np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-6)
    elif kind_of(model) == "classifier":
        # Estimators that shuffle the rows have another order.
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


@pytest.mark.parametrize("name", COMMON)
def test_method_signatures_equal_scikit_learn(name):
    for method in METHODS:
        if all(hasattr(of, method) for of in COMMON[name]):
            ours, theirs = (parameters(getattr(of, method)).values() for of in COMMON[name])
            named = [p.name for p in theirs if p.kind != p.VAR_KEYWORD]
            assert [p.name for p in ours][: len(named)] == named, method


@pytest.mark.parametrize("estimator", [Perceptron(), SGDClassifier(), SGDRegressor()])
def test_initial_weights_are_those_of_a_warm_start(estimator):
    X, y = data_for(estimator)
    first = clone(estimator).set_params(shuffle=False).fit(X, y)
    given = clone(first).fit(X, y, first.coef_, first.intercept_)

    continued = first.set_params(warm_start=True).fit(X, y)

    np.testing.assert_array_equal(given.coef_, continued.coef_)
    with pytest.raises(ValueError, match="does not match dataset"):
        estimator.fit(X, y, np.zeros((3, 7)))
