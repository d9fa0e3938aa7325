"""Runs scripts written for scikit-learn on Mercer without a change of their imports.

:func:`patch_sklearn` replaces the classes and functions of scikit-learn that Mercer has too, in the modules of
scikit-learn; whatever is imported from there afterwards is Mercer's::

    import mercer

    mercer.patch_sklearn()
    from sklearn.svm import SVC  # mercer.svm.SVC

``python -m mercer script.py`` does the same for a whole script.
"""

import importlib
import sys
from collections.abc import Iterable
from typing import Any

__all__ = ["patch_sklearn", "replaced_names", "unpatch_sklearn"]

#: The modules with the same name in both packages.
MODULES = (
    "decomposition",
    "discriminant_analysis",
    "feature_extraction.text",
    "kernel_approximation",
    "kernel_ridge",
    "linear_model",
    "naive_bayes",
    "neural_network",
    "preprocessing",
    "svm",
)

#: The replaced attributes: the module of scikit-learn, the name, and the object that was there.
_originals: list[tuple[Any, str, Any]] = []


def replaced_names() -> dict[str, Any]:
    """What :func:`patch_sklearn` replaces: Mercer's objects by their names in scikit-learn."""
    return {
        f"sklearn.{module}.{name}": getattr(ours, name)
        for module, ours, theirs in _module_pairs()
        for name in ours.__all__
        if hasattr(theirs, name)
    }


def patch_sklearn(names: Iterable[str] | None = None) -> list[str]:
    """Replaces classes and functions of scikit-learn by those of Mercer.

    Objects that were imported before keep their class; call this function before the imports.

    Parameters
    ----------
    names : iterable of str, default=None
        What to replace: names such as ``"SVC"`` or ``"svm.SVC"``. ``None`` replaces everything that
        Mercer has.

    Returns
    -------
    list of str
        The replaced names, such as ``"sklearn.svm.SVC"``.

    Examples
    --------
    >>> import mercer
    >>> mercer.patch_sklearn(["SVC"])
    ['sklearn.svm.SVC']
    >>> from sklearn.svm import SVC
    >>> SVC.__module__
    'mercer.svm'
    >>> mercer.unpatch_sklearn()
    >>> from sklearn.svm import SVC
    >>> SVC.__module__
    'sklearn.svm._classes'
    """
    unpatch_sklearn()
    available = replaced_names()
    chosen = available if names is None else _chosen(available, names)
    for path, ours in chosen.items():
        module_name, _, name = path.rpartition(".")
        module = importlib.import_module(module_name)
        theirs = getattr(module, name)
        # Also where the object is defined: scikit-learn's own modules import it from there.
        for place in {module, sys.modules[theirs.__module__]}:
            if getattr(place, name, None) is theirs:
                _originals.append((place, name, theirs))
                setattr(place, name, ours)
    return list(chosen)


def unpatch_sklearn() -> None:
    """Restores what :func:`patch_sklearn` replaced."""
    while _originals:
        module, name, theirs = _originals.pop()
        setattr(module, name, theirs)


def original(module: str, name: str) -> Any:
    """The object of scikit-learn that was replaced under this name; ``None`` if it was not."""
    for place, replaced, theirs in _originals:
        if place.__name__ == module and replaced == name:
            return theirs
    return None


def _module_pairs() -> Iterable[tuple[str, Any, Any]]:
    for module in MODULES:
        ours = importlib.import_module(f"mercer.{module}")
        yield module, ours, importlib.import_module(f"sklearn.{module}")


def _chosen(available: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for wanted in names:
        found = [path for path in available if path.endswith(f".{wanted}")]
        if not found:
            raise ValueError(
                f"Mercer has no {wanted!r} to replace that of scikit-learn; "
                "mercer.patch.replaced_names() lists what it has"
            )
        chosen |= {path: available[path] for path in found}
    return chosen
