"""Estimators from model files."""

import importlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import _mercer, labels
from .classifier import Classifier

#: The package that the classes of estimators are in.
PACKAGE = __package__.rpartition(".")[0]


def load(path: str | os.PathLike) -> Any:
    """Reads a ``.mercer`` model file as an estimator of the right class.

    A classifier that has costs, a reject zone or new priors stored with it comes as a
    :class:`mercer.decision.DecisionClassifier` around it.
    """
    model = read(path)
    if isinstance(model, Classifier) and model._fitted.decision is not None:
        return importlib.import_module(f"{PACKAGE}.decision")._restored(model)
    return model


def read(path: str | os.PathLike) -> Any:
    """The same without its decision."""
    fitted = _mercer.load(Path(path))
    if fitted.map is not None:
        raise ValueError(
            f"{path} sends its columns through a kernel map ({fitted.map}); predict with it from the "
            "command line (mercer predict), or put the map and the estimator into a pipeline in Python"
        )
    prepared = fitted.prepared
    if prepared:
        raise ValueError(
            f"{path} prepares columns before it uses them ({', '.join(prepared)}); "
            "predict with it from the command line: mercer predict"
        )
    place = next(card["python"] for card in _mercer.catalog() if card["id"] == fitted.id)
    module, _, name = place.rpartition(".")
    found = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    params = {k: None if v in ([], {}) else v for k, v in json.loads(fitted.params).items()}
    model = found(**params)
    model._fitted = fitted
    names = fitted.table_names if fitted.table_names is not None else fitted.names
    model.n_features_in_ = fitted.n_columns if names is None else len(names)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(model, Classifier):
        model.classes_ = labels.array(fitted.labels)
        model._classes_grow = False
    return model
