"""Parameters of scikit-learn's classes that the core does not have, and scikit-learn's spelling of the
others.

A script written for scikit-learn may pass every parameter of its classes. A parameter that cannot change
the model is accepted and unused; a value that would change it and is not implemented is refused.
"""

import math
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["Honored", "Only", "Unused", "core_parameters", "refuse_initial_weights"]

#: The types in a declaration: what they accept, and their description in messages.
TYPES: dict[Any, tuple[Any, str]] = {
    bool: ((bool, np.bool_), "True or False"),
    int: (Integral, "an integer of at least 0"),
    float: (Real, "a number of at least 0"),
    np.random.RandomState: (np.random.RandomState, "a RandomState"),
}


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
            raise ValueError(f"{name} is {value!r}; it must be {expected}")


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


def refuse_initial_weights(estimator: Any, coef_init: Any, intercept_init: Any) -> None:
    """Refuses the initial weights that ``fit`` of scikit-learn's online estimators takes."""
    for name, value in [("coef_init", coef_init), ("intercept_init", intercept_init)]:
        if value is not None:
            raise ValueError(
                f"{type(estimator).__name__} does not support {name}, only None; fit with "
                "warm_start=True to continue from the previous model"
            )


def core_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of the core, with scikit-learn's special values translated."""
    params = estimator.get_params(deep=False)
    for name, taken in estimator._beside.items():
        taken.check(estimator, name, params[name])
    for translate in (_penalty, _kernel, _network):
        translate(params, estimator._id)
    # scikit-learn's placeholders for a default that depends on other parameters or is about to change.
    for name in ("coef0", "degree", "l1_ratio", "scoring"):
        if params.get(name, "") is None:
            del params[name]
    for name in ("l1_ratios", "probability", "scoring"):
        if isinstance(params.get(name), str) and params[name] in ("warn", "deprecated"):
            del params[name]
    return {name: value for name, value in params.items() if name not in estimator._beside}


def _penalty(params: dict[str, Any], estimator_id: str) -> None:
    """``penalty=None`` and ``C=inf`` mean no penalty; an unset penalty follows from ``l1_ratio``."""
    if "penalty" in params and params["penalty"] is None:
        params["penalty"] = "none"
    if "penalty" in params and params["penalty"] == "deprecated":
        del params["penalty"]
    if estimator_id != "logistic":
        return
    if params["l1_ratio"] is None:
        params["l1_ratio"] = 0.0
    ratio = params["l1_ratio"]
    params.setdefault("penalty", "l2" if ratio == 0 else "l1" if ratio == 1 else "elasticnet")
    if isinstance(params["C"], Real) and params["C"] == math.inf:
        params |= {"penalty": "none", "C": 1.0}


def _kernel(params: dict[str, Any], estimator_id: str) -> None:
    """A callable kernel is a precomputed one for the core; Nystroem takes the parameters of a named kernel
    also from ``kernel_params``."""
    kernel = params.get("kernel")
    if callable(kernel):
        params["kernel"] = "precomputed"
    elif isinstance(kernel, str) and kernel == "polynomial":
        params["kernel"] = "poly"
    if estimator_id == "nystroem" and not callable(kernel):
        more = params["kernel_params"] or {}
        for name in ("gamma", "coef0", "degree"):
            params[name] = more.get(name) if params[name] is None else params[name]


def _network(params: dict[str, Any], estimator_id: str) -> None:
    """Multilayer perceptrons are always trained by L-BFGS on all rows."""
    if estimator_id not in ("mlp", "mlp-regressor"):
        return
    params["max_iter"] = min(params["max_iter"], params["max_fun"])
    if params["solver"] in ("adam", "sgd"):
        warnings.warn(
            f'solver="{params["solver"]}" is not implemented, "lbfgs" is used: it minimizes the same '
            "loss over all rows until the gradient is below tol",
            UserWarning,
            stacklevel=5,
        )
        params["solver"] = "lbfgs"
