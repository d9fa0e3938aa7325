"""Classical machine learning: probabilistic models, linear models, SVMs and kernel methods.

The estimators follow the API of scikit-learn, in modules with the same names. Every fit has a certificate,
and every prediction can be explained::

    from mercer.naive_bayes import GaussianNB

    model = GaussianNB().fit(X, y)
    print(model.explain(X[0]))
    model.save("model.mercer")
"""

import importlib
from types import ModuleType

from ._mercer import __version__, catalog, get_threads, set_threads
from .auto import AutoClassifier, AutoRegressor
from .base import load
from .kernel import kernel_check
from .limits import memory_limit, time_limit
from .patch import patch_sklearn, unpatch_sklearn
from .tables import check

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "__version__",
    "catalog",
    "check",
    "get_threads",
    "kernel_check",
    "load",
    "memory_limit",
    "patch_sklearn",
    "set_threads",
    "time_limit",
    "unpatch_sklearn",
]

_MODULES = sorted(
    {card["python"].partition(".")[0] for card in catalog()}
    | {
        "decision",
        "feature_extraction",
        "model_selection",
        "network",
        "plot",
        "probability",
        "semi_supervised",
    }
)


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
