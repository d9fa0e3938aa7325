"""Scikit-learn's manners around the one compiled class.

The classes users see are generated from the catalog; each puts together the parts of this package that
its model can do. What is learned lives in ``_fitted``, a compiled object that never changes.
"""

from .capabilities import (
    Calibrated,
    DecisionFunction,
    Discriminant,
    FactorizedLikelihood,
    Generative,
    Probabilistic,
    AdditiveScores,
    SupportVectors,
    WarmStart,
)
from .classifier import Classifier, Mergeable, Online
from .drop_in import Honored, Only, Unused
from .estimator import Estimator
from .files import load
from .regressor import LinearModel, MergeableRegressor, OnlineRegressor, Regressor
from .unsupervised import Clusterer, OutlierDetector, Transformer

__all__ = [
    "LinearModel",
    "Calibrated",
    "Classifier",
    "Clusterer",
    "DecisionFunction",
    "OutlierDetector",
    "Discriminant",
    "Estimator",
    "FactorizedLikelihood",
    "Generative",
    "Honored",
    "Mergeable",
    "MergeableRegressor",
    "Online",
    "OnlineRegressor",
    "Only",
    "Probabilistic",
    "Regressor",
    "AdditiveScores",
    "SupportVectors",
    "Transformer",
    "Unused",
    "WarmStart",
    "load",
]
