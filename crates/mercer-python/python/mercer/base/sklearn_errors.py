"""Errors of the core in the words of scikit-learn, for scripts that compare types and messages.

The message of the core follows, because it names the row, the column and a remedy.
"""

import importlib
import re
from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints
from sklearn.utils.validation import assert_all_finite

__all__ = ["as_scikit_learn", "convergence_message"]

_SVM = (
    "Solver terminated early (max_iter={max_iter}).  Consider pre-processing your data with StandardScaler or "
    "MinMaxScaler."
)
_LINEAR_SVM = "Liblinear failed to converge, increase the number of iterations."
_LOGISTIC = (
    "{solver} failed to converge after {n_iter} iteration(s). Increase the number of iterations."
)
#: Solvers of logistic regression with another warning.
_LOGISTIC_SOLVERS = {
    "liblinear": _LINEAR_SVM,
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}
_EPOCHS = "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit."
_COORDINATES = (
    "Objective did not converge. You might want to increase the number of iterations, check the scale of the "
    "features or consider increasing regularisation."
)
_NETWORK = "Maximum iterations ({max_iter}) reached and the optimization hasn't converged yet."
#: By estimator, how scikit-learn begins the warning that a fit did not converge.
_CONVERGENCE = {
    "svc": _SVM,
    "nu-svc": _SVM,
    "svr": _SVM,
    "nu-svr": _SVM,
    "one-class-svm": _SVM,
    "linear-svc": _LINEAR_SVM,
    "linear-svr": _LINEAR_SVM,
    "logistic": _LOGISTIC,
    "logistic-cv": _LOGISTIC,
    "sgd": _EPOCHS,
    "sgd-regressor": _EPOCHS,
    "perceptron": _EPOCHS,
    "passive-aggressive": _EPOCHS,
    "passive-aggressive-regressor": _EPOCHS,
    "lasso": _COORDINATES,
    "elastic-net": _COORDINATES,
    "mlp": _NETWORK,
    "mlp-regressor": _NETWORK,
}


_SVM_IDS = frozenset({"svc", "nu-svc", "svr", "nu-svr", "one-class-svm"})


def convergence_message(estimator: Any, certificate: dict[str, Any]) -> str:
    """The warning of a fit that did not converge: scikit-learn's words, then the certificate."""
    known = _CONVERGENCE.get(estimator._id)
    if known is None:
        return certificate["text"]
    solver = getattr(estimator, "solver", "lbfgs")
    if known is _LOGISTIC:
        known = _LOGISTIC_SOLVERS.get(solver, known)
    if known is _NETWORK:
        known = ("Stochastic Optimizer: " if solver in ("adam", "sgd") else "") + known
    values = {
        "max_iter": getattr(estimator, "max_iter", None),
        "n_iter": certificate.get("iterations"),
        "solver": solver,
    }
    return f"{known.format(**values)} {certificate['text']}"


_PARAMETER = re.compile(r"parameter `(\w+)` is .*; it must be ", re.DOTALL)


def as_scikit_learn(estimator: Any, matrix: Any, error: ValueError) -> Exception:
    """The exception to raise for an error of the core."""
    message = str(error)
    if estimator._id in _SVM_IDS and message.startswith("found no rows with a positive weight"):
        return ValueError(f"Invalid input - all samples have zero or negative weights. {message}")
    if estimator._id in _SVM_IDS and message.startswith("found only one class"):
        if estimator._id == "nu-svc" and len(estimator.__dict__.get("classes_", "..")) != 1:
            return ValueError(f"specified nu is infeasible: {message}")
        return ValueError(
            "Invalid input - all samples with positive weights belong to the same class. "
            f"The number of classes has to be greater than one; got 1 class. {message}"
        )
    theirs_too = _known_message(estimator, message)
    if theirs_too is not None:
        return theirs_too
    if message.startswith("Negative values in data"):
        name = type(estimator).__name__
        known = f"Negative values in data passed to {name} (input X)"
        if estimator._id == "additive-chi2":
            known = f"Negative values in data passed to X in {name}.fit"
        return ValueError(message.replace("Negative values in data", known, 1))
    if estimator._id == "additive-chi2" and "sample_interval" in message:
        return ValueError(
            "If sample_steps is not in [1, 2, 3], you need to provide sample_interval"
        )
    found = _PARAMETER.match(message)
    for name in ("priors", "class_prior"):
        if getattr(estimator, name, None) is not None:
            wrong = _prior_error(estimator, getattr(estimator, name))
            if wrong is not None:
                return ValueError(f"{wrong} {message}")
    if found:
        return _with_detail(_parameter_error(estimator, found[1], error), message)
    theirs = finite_error(estimator, matrix)
    return error if theirs is None else _with_detail(theirs, message)


_BALANCED = (
    "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
    "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough sample of the "
    "full training set target to properly estimate the class frequency distributions. Pass the resulting weights as "
    "the class_weight parameter."
)
_NETWORK_DIVERGED = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
    "preprocessed."
)


def _known_message(estimator: Any, message: str) -> Exception | None:
    """Errors of single estimators that scikit-learn raises too."""
    id = estimator._id
    if id in ("mlp", "mlp-regressor") and (
        "diverge" in message or "the loss at the initial" in message
    ):
        return ValueError(f"{_NETWORK_DIVERGED} {message}")
    if id in ("mlp", "mlp-regressor") and "the validation set is too small" in message:
        return ValueError(
            "The validation set is too small. Increase 'validation_fraction' or the size of your dataset. "
            f"{message}"
        )
    found = re.search(r"diverge.*?(\d+)", message)
    if found and hasattr(estimator, "eta0"):
        return ValueError(
            f"Floating-point under-/overflow occurred at epoch #{found[1]}. Scaling input data with StandardScaler "
            f"or MinMaxScaler might help. {message}"
        )
    if "`class_weight` is balanced" in message and hasattr(estimator, "eta0"):
        return ValueError(f"{_BALANCED} {message}")
    if id == "qda":
        return _singular_class(message)
    if id == "linear-svc" and " with `penalty=" in message:
        return ValueError(
            f"Unsupported set of arguments: The combination of penalty={estimator.penalty!r} and "
            f"loss={estimator.loss!r} is not supported, Parameters: penalty={estimator.penalty!r}, "
            f"loss={estimator.loss!r}, dual={estimator.dual!r}. {message}"
        )
    return None


def _singular_class(message: str) -> Exception | None:
    """The error of a class whose covariance matrix has no inverse."""
    found = re.match(r"the covariance of class `(.*)` is singular: .* from (\d+) rows", message)
    if found is None:
        return None
    if found[2] == "1":
        known = f"y has only 1 sample in class {found[1]}, covariance is ill defined."
    else:
        known = (
            f"The covariance matrix of class {found[1]} is not full rank. When using `solver='svd'` the number of "
            "samples in each class should be more than the number of features."
        )
    return np.linalg.LinAlgError(f"{known} {message}")


def _with_detail(theirs: Exception, message: str) -> Exception:
    """scikit-learn's exception followed by the message of the core."""
    if message in str(theirs):
        return theirs
    return type(theirs)(f"{theirs}\n{message}")


def _prior_error(estimator: Any, priors: Any) -> str | None:
    """What is wrong with given class priors, in scikit-learn's words."""
    try:
        values = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if (values < 0).any():
        discriminant = "discriminant" in type(estimator).__module__
        return "priors must be non-negative." if discriminant else "Priors must be non-negative."
    if not np.isclose(values.sum(), 1.0):
        return "The sum of the priors should be 1."
    return "Number of priors must match number of classes."


def finite_error(estimator: Any, matrix: Any) -> ValueError | None:
    """scikit-learn's exception for NaN and infinite values; ``None`` if there are none."""
    values = matrix[0] if isinstance(matrix, tuple) else matrix
    if not isinstance(values, np.ndarray) or "missing-values" in estimator._inputs:
        return None
    try:
        assert_all_finite(values, estimator_name=type(estimator).__name__, input_name="X")
    except ValueError as error:
        return error
    return None


def _parameter_error(estimator: Any, name: str, error: ValueError) -> Exception:
    """scikit-learn's exception for a parameter, if it refuses the value too."""
    value: Any = getattr(estimator, name, None)
    if name == "n_components" and "discriminant" in type(estimator).__module__:
        return ValueError(
            f"n_components cannot be larger than min(n_features, n_classes - 1). {error}"
        )
    if name == "min_categories":
        return ValueError(f"'min_categories' should have shape (X.shape[1],). {error}")
    if name == "alpha" and np.ndim(value) == 1:
        if (np.asarray(value, dtype=np.float64) < 0).any():
            return ValueError(f"All values in alpha must be greater than 0. {error}")
        return ValueError(
            f"When alpha is an array, it should contains `n_features`. Got {len(value)} elements "
            f"instead of {estimator.n_features_in_}."
        )
    theirs = _counterpart(type(estimator))
    constraints = getattr(theirs, "_parameter_constraints", {})
    if name in constraints and hasattr(estimator, name):
        try:
            validate_parameter_constraints(
                {name: constraints[name]},
                {name: getattr(estimator, name)},
                type(estimator).__name__,
            )
        except InvalidParameterError as theirs_error:
            return theirs_error
    return InvalidParameterError(str(error))


def _counterpart(cls: type) -> Any:
    """The class of scikit-learn with the same name."""
    for base in cls.__mro__:
        module = base.__module__.replace("mercer.", "sklearn.", 1)
        if not module.startswith("sklearn.") or module.startswith("sklearn.base"):
            continue
        try:
            found = getattr(importlib.import_module(module), base.__name__, None)
        except ImportError:
            continue
        if found is not None and hasattr(found, "_parameter_constraints"):
            return found
        # After `patch_sklearn` the module has our class.
        patch = importlib.import_module("mercer.patch")
        original = patch.original(module, base.__name__)
        if original is not None:
            return original
    return None
