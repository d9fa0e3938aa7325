"""Scikit-learn's parameters: those that the core does not have, and its words for the others.

A script written for scikit-learn may pass anything that its classes take. What cannot change the
model is taken and not used; what would, and cannot be done, is refused.
"""

import math
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["Honored", "Only", "Unused", "in_our_words", "refuse_start"]

#: What a type in a declaration takes, and what it is called.
KINDS = {
    bool: ((bool, np.bool_), "true or false"),
    int: (Integral, "a whole number of at least 0"),
    float: (Real, "a number of at least 0"),
    np.random.RandomState: (np.random.RandomState, "a RandomState"),
}


class Honored:
    """A parameter that does what it says."""

    def check(self, estimator: Any, name: str, value: Any) -> None:
        """Leaves the value to whoever uses it."""


class Unused:
    """A parameter that makes no difference, if its value is one of these types and values."""

    def __init__(self, *takes: Any) -> None:
        self.takes = takes

    def check(self, estimator: Any, name: str, value: Any) -> None:
        """Refuses what scikit-learn would refuse: a slip of the pen is a mistake here too."""
        if not any(_is(value, what) for what in self.takes):
            words = " or ".join(KINDS[w][1] if w in KINDS else repr(w) for w in self.takes)
            raise ValueError(f"{name} is {value!r}; it must be {words}")


class Only:
    """A parameter that would make a difference, and that there is one way of here."""

    def __init__(self, *takes: Any, instead: str) -> None:
        self.takes = takes
        self.instead = instead

    def check(self, estimator: Any, name: str, value: Any) -> None:
        """Refuses any other value, and says what to do."""
        if not any(_is(value, what) for what in self.takes):
            words = " or ".join(map(repr, self.takes))
            ours = type(estimator).__name__
            raise ValueError(
                f"{ours} does not take {name}={value!r}, only {words}; {self.instead}"
            )


def _is(value: Any, what: Any) -> bool:
    if what not in KINDS:
        # Arrays and objects have a comparison of their own.
        return value is what or (isinstance(value, str | bool | np.bool_) and value == what)
    takes, _ = KINDS[what]
    return isinstance(value, takes) and not (isinstance(value, Real) and not value >= 0)


def refuse_start(estimator: Any, coef_init: Any, intercept_init: Any) -> None:
    """Refuses weights to begin at, which fits of one row at a time have in scikit-learn."""
    for name, value in [("coef_init", coef_init), ("intercept_init", intercept_init)]:
        if value is not None:
            raise ValueError(
                f"{type(estimator).__name__} does not take {name}, only None; fit with "
                "warm_start=True to go on from the model before"
            )


def in_our_words(estimator: Any) -> dict[str, Any]:
    """The parameters that the core has, with what scikit-learn means by its words."""
    params = estimator.get_params(deep=False)
    for name, taken in estimator._beside.items():
        taken.check(estimator, name, params[name])
    for read in (_penalty, _kernel, _network):
        read(params, estimator._id)
    # What scikit-learn writes where it is about to change a default, or has no use for a number.
    for name in ("coef0", "degree", "l1_ratio", "scoring"):
        if params.get(name, "") is None:
            del params[name]
    for name in ("l1_ratios", "probability", "scoring"):
        if isinstance(params.get(name), str) and params[name] in ("warn", "deprecated"):
            del params[name]
    return {name: value for name, value in params.items() if name not in estimator._beside}


def _penalty(params: dict[str, Any], of: str) -> None:
    """No price is none, and so is one that rows outweigh; what is not said, the share says."""
    if "penalty" in params and params["penalty"] is None:
        params["penalty"] = "none"
    if "penalty" in params and params["penalty"] == "deprecated":
        del params["penalty"]
    if of != "logistic":
        return
    if params["l1_ratio"] is None:
        params["l1_ratio"] = 0.0
    share = params["l1_ratio"]
    params.setdefault("penalty", "l2" if share == 0 else "l1" if share == 1 else "elasticnet")
    if isinstance(params["C"], Real) and params["C"] == math.inf:
        params |= {"penalty": "none", "C": 1.0}


def _kernel(params: dict[str, Any], of: str) -> None:
    """A kernel's parameters may come in a table of their own."""
    kernel = params.get("kernel")
    if callable(kernel):
        params["kernel"] = "precomputed"
    elif isinstance(kernel, str) and kernel == "polynomial":
        params["kernel"] = "poly"
    if of == "nystroem" and not callable(kernel):
        more = params["kernel_params"] or {}
        for name in ("gamma", "coef0", "degree"):
            params[name] = more.get(name) if params[name] is None else params[name]


def _network(params: dict[str, Any], of: str) -> None:
    """All networks go by all rows at once."""
    if of not in ("mlp", "mlp-regressor"):
        return
    params["max_iter"] = min(params["max_iter"], params["max_fun"])
    if params["solver"] in ("adam", "sgd"):
        warnings.warn(
            f'solver="{params["solver"]}" is taken as "lbfgs": the loss is the same, and every step '
            "looks at all rows until the gradient is below tol",
            UserWarning,
            stacklevel=5,
        )
        params["solver"] = "lbfgs"
