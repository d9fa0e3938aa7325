"""scikit-learn's estimator checks for every class of the catalog."""

import importlib

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.decision import DecisionClassifier
from mercer.naive_bayes import GaussianNB

#: The parameters of the checked estimators by class; a class that is not listed is checked with its defaults.
PARAMETERS = {
    "GaussianNB": [{}, {"var_smoothing": 1e-3, "variance": "sample"}],
    "LinearDiscriminantAnalysis": [{}, {"shrinkage": "auto"}],
    # The checks have classes with singular covariances, which are refused without regularization.
    "QuadraticDiscriminantAnalysis": [{"reg_param": 0.1}],
    "RegularizedDiscriminantAnalysis": [{}, {"strategy": "friedman", "alpha": 0.3}],
    "LinearRegression": [{}, {"fit_intercept": False}],
    "Ridge": [{}, {"alpha_from": "evidence"}],
    "LogisticRegression": [{"warm_start": True}],
    "LogisticRegressionCV": [{"cv": 3, "Cs": 3}],
    "Perceptron": [{}, {"average": True}],
    "SGDClassifier": [{}, {"loss": "log_loss"}],
    # The check of sample weights compares with duplicated rows more strictly than the default tolerance, and the
    # variance in `gamma="scale"` is not weighted, as in scikit-learn.
    "SVC": [{"tol": 1e-10, "gamma": "auto"}],
    # The checks have unbalanced classes, for which the default of 0.5 is infeasible.
    "NuSVC": [{"tol": 1e-10, "gamma": "auto", "nu": 0.2}],
    "SVR": [{"tol": 1e-10, "gamma": "auto"}],
    "NuSVR": [{"tol": 1e-10, "gamma": "auto"}],
    "OneClassSVM": [{"tol": 1e-10}],
    "LinearSVC": [{"tol": 1e-10}],
    "LinearSVR": [{"tol": 1e-10}],
    "KernelPerceptron": [{}, {"average": True, "budget": 100}],
    "KernelKMeans": [{"n_clusters": 3}],
    "KernelPCA": [{"n_components": 2}],
    "KernelRidge": [
        {},
        {"kernel": "rbf", "variance": True},
        {"solver": "cg", "tol": 1e-13},
        {"kernel": "rbf", "solver": "approx", "tol": 1e-13},
        {"kernel": "rbf+0.5*linear"},
    ],
    "Nystroem": [{}, {"landmarks": "pivoted-cholesky"}, {"error": 0.1}],
    "RBFSampler": [{}, {"error": 0.2}],
    "PolynomialFeatures": [{}, {"kernel": True, "degree": 3}],
    "MLPClassifier": [
        # The penalty keeps the probabilities, whose logarithms are compared, away from zero.
        {"solver": "lbfgs", "max_iter": 100, "alpha": 0.1},
        {"solver": "lbfgs", "hidden_layer_sizes": (8, 4), "activation": "tanh", "warm_start": True},
        {"max_iter": 100, "hidden_layer_sizes": 20},
    ],
    "MLPRegressor": [
        {"solver": "lbfgs", "max_iter": 100},
        {"solver": "lbfgs", "hidden_layer_sizes": 12, "activation": "logistic"},
        {"learning_rate_init": 0.05, "hidden_layer_sizes": 20},
    ],
}

WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
ONLINE = "an online update with weight two differs from two updates"
#: The checks that do not hold, by class and with the reason; scikit-learn exempts its own classes from them.
EXPECTED_FAILURES = {
    "KernelPerceptron": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "PassiveAggressiveClassifier": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "PassiveAggressiveRegressor": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "Perceptron": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "SGDClassifier": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "SGDOneClassSVM": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "SGDRegressor": dict.fromkeys(WEIGHT_CHECKS, ONLINE),
    "LogisticRegressionCV": dict.fromkeys(WEIGHT_CHECKS, "duplicates may be in different folds"),
    "OneClassSVM": dict.fromkeys(WEIGHT_CHECKS, "the sign of rows on the boundary is undetermined"),
    "NuSVC": {"check_class_weight_classifiers": "nu is infeasible for these class weights"},
}


def expected_failures(estimator):
    """The exemptions of an estimator; minibatches of a network are drawn from the rows, whatever their weights."""
    if getattr(estimator, "solver", None) in ("adam", "sgd"):
        return dict.fromkeys(WEIGHT_CHECKS, "duplicates may be in different minibatches")
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


def catalog_classes():
    for card in mercer.catalog():
        module, _, name = card["python"].rpartition(".")
        yield getattr(importlib.import_module(f"mercer.{module}"), name)


def configured_estimators():
    for cls in catalog_classes():
        for params in PARAMETERS.get(cls.__name__, [{}]):
            yield cls(**params)
    yield DecisionClassifier(GaussianNB())


@parametrize_with_checks(
    list(configured_estimators()),
    expected_failed_checks=expected_failures,
)
def test_estimator_check_passes(estimator, check):
    check(estimator)


def test_parameters_and_exemptions_name_classes_of_the_catalog():
    names = {cls.__name__ for cls in catalog_classes()}

    assert set(PARAMETERS) <= names
    assert set(EXPECTED_FAILURES) <= names


@pytest.mark.parametrize("card", mercer.catalog(), ids=lambda card: card["id"])
def test_catalog_entry_has_its_class(card):
    module, name = card["python"].split(".")

    found = getattr(getattr(mercer, module), name)

    assert found._id == card["id"]
    unwrapped = " ".join(found.__doc__.replace("``", "`").split())
    assert unwrapped.startswith(" ".join(card["doc"].split()))
    assert module in dir(mercer)
