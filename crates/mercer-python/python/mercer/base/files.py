"""Estimators from model files."""

import importlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import _mercer, labels
from .classifier import Classifier

#: The package of the estimator classes.
PACKAGE = __name__.rpartition(".base.")[0]


def load(path: str | os.PathLike) -> Any:
    """Reads a ``.mercer`` model file as an estimator of its class.

    A classifier that was saved with costs, a reject cost or new priors is returned as a
    :class:`mercer.decision.DecisionClassifier`.
    """
    model = read(path)
    if isinstance(model, Classifier) and model._fitted.decision_rule is not None:
        return importlib.import_module(f"{PACKAGE}.decision")._restored(model)
    return model


def read(path: str | os.PathLike) -> Any:
    """``load`` without the decision rule."""
    fitted = _mercer.load(Path(path))
    if fitted.feature_map is not None:
        raise ValueError(
            f"{path} has a feature map in front of the estimator ({fitted.feature_map}); predict with the "
            "command `mercer predict`, or fit a pipeline of the map and the estimator in Python"
        )
    preprocessed = fitted.preprocessed
    if preprocessed:
        raise ValueError(
            f"{path} preprocesses columns ({', '.join(preprocessed)}), which is not supported in Python; "
            "predict with the command `mercer predict`"
        )
    path_of_class = next(card["python"] for card in _mercer.catalog() if card["id"] == fitted.id)
    module, _, name = path_of_class.rpartition(".")
    estimator = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    params = {k: None if v in ([], {}) else v for k, v in json.loads(fitted.params).items()}
    model = estimator(**params)
    model._fitted = fitted
    names = fitted.table_names if fitted.table_names is not None else fitted.names
    model.n_features_in_ = fitted.n_columns if names is None else len(names)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(model, Classifier):
        model.classes_ = labels.to_array(fitted.labels)
    return model
