"""Scikit-learn's manners around the one compiled class.

The classes users see are generated from the catalog; each puts together the parts of this package that
its model can do. What is learned lives in ``_fitted``, a compiled object that never changes.
"""

from .capabilities import (
    Calibrated,
    Decides,
    Discriminant,
    Factored,
    Generative,
    Probabilistic,
    Summed,
    Supported,
    Warm,
)
from .classifier import Classifier, Mergeable, Online
from .drop_in import Honored, Only, Unused
from .estimator import Estimator
from .files import load
from .regressor import Additive, MergeableRegressor, OnlineRegressor, Regressor
from .unsupervised import Clusterer, Detector, Transformer

__all__ = [
    "Additive",
    "Calibrated",
    "Classifier",
    "Clusterer",
    "Decides",
    "Detector",
    "Discriminant",
    "Estimator",
    "Factored",
    "Generative",
    "Honored",
    "Mergeable",
    "MergeableRegressor",
    "Online",
    "OnlineRegressor",
    "Only",
    "Probabilistic",
    "Regressor",
    "Summed",
    "Supported",
    "Transformer",
    "Unused",
    "Warm",
    "load",
]
