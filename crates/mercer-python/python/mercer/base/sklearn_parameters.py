"""Interprets what the generated classes declare about the parameters of scikit-learn's classes.

A script written for scikit-learn may pass every parameter of its classes. A parameter that cannot
change the model is accepted and unused; a value that would change it and is not implemented is
refused. The declarations stand beside the parameters of each estimator in Rust.
"""

import math
import warnings
from functools import cache
from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

__all__ = [
    "DEFAULT",
    "Honored",
    "Only",
    "Unused",
    "core_parameters",
    "invalid_parameter",
    "kernel_in_python",
    "parameter_defaults",
    "refuse_early_stopping",
]

#: In a table of spellings, the default of the core.
DEFAULT: Any = object()

#: Smaller pseudocounts are raised to it, unless ``force_alpha``.
SMALLEST_ALPHA = 1e-10

#: The kernels of scikit-learn's ``pairwise_kernels`` that the core does not have.
PYTHON_KERNELS = frozenset({"additive_chi2", "cosine"})

#: The estimators whose ``C`` may be infinite, and the value that stands for it.
SVM_IDS = frozenset({"svc", "svr", "linear-svc", "linear-svr"})
INFINITE_C = 1e10

#: The types in a declaration: what they accept, and their description in messages.
TYPES: dict[Any, tuple[Any, str]] = {
    bool: ((bool, np.bool_), "True or False"),
    int: (Integral, "an integer of at least 0"),
    float: (Real, "a number of at least 0"),
    np.random.RandomState: (np.random.RandomState, "a RandomState"),
}


@cache
def parameter_defaults(cls: Any) -> dict[str, Any]:
    """The defaults of the constructor."""
    parameters = signature(cls.__init__).parameters
    return {name: p.default for name, p in parameters.items() if name != "self"}


def invalid_parameter(estimator: Any, name: str, expected: str) -> InvalidParameterError:
    """scikit-learn's exception for a parameter, in its words."""
    return InvalidParameterError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {expected}. "
        f"Got {getattr(estimator, name)!r} instead."
    )


class Honored:
    """A parameter that has its documented effect in Python."""

    def check(self, estimator: Any, name: str, value: Any) -> None:
        """Accepts every value; the code that uses the parameter checks it."""


class Unused:
    """A parameter without effect, whose value must be one of the given types and values."""

    def __init__(self, *takes: Any) -> None:
        self.takes = takes

    def check(self, estimator: Any, name: str, value: Any) -> None:
        """Refuses values that scikit-learn refuses, so that a typo is an error here too."""
        if not any(_matches(value, accepted) for accepted in self.takes):
            expected = " or ".join(TYPES[t][1] if t in TYPES else repr(t) for t in self.takes)
            raise invalid_parameter(estimator, name, expected)


class Only:
    """A parameter of which only some values are implemented."""

    def __init__(self, *takes: Any, instead: str) -> None:
        self.takes = takes
        self.instead = instead

    def check(self, estimator: Any, name: str, value: Any) -> None:
        """Refuses any other value and names the remedy."""
        if not any(_matches(value, accepted) for accepted in self.takes):
            accepted = " or ".join(map(repr, self.takes))
            raise ValueError(
                f"{type(estimator).__name__} does not support {name}={value!r}, only {accepted}; "
                f"{self.instead}"
            )


def _matches(value: Any, accepted: Any) -> bool:
    if accepted not in TYPES:
        # `==` of arrays and of arbitrary objects need not return a bool.
        return value is accepted or (isinstance(value, str | bool | np.bool_) and value == accepted)
    types, _ = TYPES[accepted]
    return isinstance(value, types) and not (isinstance(value, Real) and not float(value) >= 0)


def refuse_early_stopping(estimator: Any) -> None:
    """``partial_fit`` makes one epoch and cannot stop early."""
    if getattr(estimator, "early_stopping", False):
        raise ValueError("early_stopping should be False with partial_fit")


def core_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of the core, translated from those of scikit-learn."""
    params = {name: getattr(estimator, name) for name in parameter_defaults(estimator.__class__)}
    for name, declared in estimator._extra_parameters.items():
        if name in params:
            declared.check(estimator, name, params[name])
    if isinstance(params.get("power_t"), Real) and params["power_t"] < 0 and "eta0" in params:
        warnings.warn(
            "Negative values for `power_t` are deprecated in scikit-learn and are set to zero here.",
            FutureWarning,
            stacklevel=5,
        )
        params["power_t"] = 0.0
    if params.get("learning_rate") == "optimal" and params.get("eta0") == 0:
        # The default before scikit-learn 1.8; the schedule does not use it.
        del params["eta0"]
    if (
        params.get("penalty") == "elasticnet"
        and hasattr(estimator, "eta0")
        and params["l1_ratio"] is None
    ):
        raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")
    for name, values in estimator._spellings.items():
        _respell(params, name, values)
    for translate in estimator._translations:
        translate(params)
    if params.get("force_alpha") is False and np.min(params["alpha"]) < SMALLEST_ALPHA:
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged.",
            UserWarning,
            stacklevel=5,
        )
    if kernel_in_python(estimator):
        # The kernel matrix is computed in Python.
        params["kernel"] = "precomputed"
        if not isinstance(params.get("degree"), Integral):
            params.pop("degree", None)
    if isinstance(params.get("C"), Real) and params["C"] == math.inf and estimator._id in SVM_IDS:
        params["C"] = INFINITE_C
    return {k: v for k, v in params.items() if k not in estimator._extra_parameters}


def kernel_in_python(estimator: Any) -> bool:
    """Whether the kernel is callable, or one of scikit-learn's that the core does not have."""
    kernel: Any = getattr(estimator, "kernel", None)
    if callable(kernel) or not estimator._kernel_of_two_rows or not isinstance(kernel, str):
        return callable(kernel)
    degree = getattr(estimator, "degree", None)
    fractional = isinstance(degree, Real) and not float(degree).is_integer()
    return kernel in PYTHON_KERNELS or (kernel in ("poly", "polynomial") and fractional)


def _respell(params: dict[str, Any], name: str, values: dict[Any, Any]) -> None:
    """Replaces a value that scikit-learn spells differently; one that means the default is removed."""
    for theirs, ours in values.items():
        if _matches(params[name], theirs):
            if ours is DEFAULT:
                del params[name]
            else:
                params[name] = ours
            return


def l1_ratio_chooses_penalty(params: dict[str, Any]) -> None:
    """Without a penalty, ``l1_ratio`` chooses it; ``C=inf`` means no penalty."""
    ratio = params["l1_ratio"]
    if params.get("penalty") == "none" and (params["C"] != 1.0 or ratio not in (0.0, None)):
        warnings.warn(
            "Setting penalty=None will ignore the C and l1_ratio parameters",
            UserWarning,
            stacklevel=6,
        )
    params.setdefault("penalty", "l2" if ratio == 0 else "l1" if ratio == 1 else "elasticnet")
    if isinstance(params["C"], Real) and params["C"] == math.inf:
        params |= {"penalty": "none", "C": 1.0}


def kernel_params_supply_missing(params: dict[str, Any]) -> None:
    """The parameters of a named kernel may be given in ``kernel_params``."""
    if callable(params["kernel"]):
        return
    supplied = params["kernel_params"] or {}
    for name in ("gamma", "coef0", "degree"):
        if params.get(name) is None and supplied.get(name) is not None:
            params[name] = supplied[name]


def max_fun_limits_iterations(params: dict[str, Any]) -> None:
    """An iteration of L-BFGS evaluates the function at least once."""
    if params["solver"] == "lbfgs":
        params["max_iter"] = min(params["max_iter"], params["max_fun"])


def infinite_no_change(params: dict[str, Any]) -> None:
    """An infinite number of epochs without improvement never ends the fit."""
    value = params["n_iter_no_change"]
    if isinstance(value, Real) and value == math.inf:
        params["n_iter_no_change"] = np.iinfo(np.int32).max
