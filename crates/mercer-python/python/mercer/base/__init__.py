"""The scikit-learn API around the compiled class :class:`mercer._mercer.Fitted`.

The public estimator classes are generated from the catalog; each inherits the mixins of this package
that correspond to the capabilities of its model. The fitted model is ``_fitted``, an immutable compiled
object.
"""

from .capabilities import (
    AdditiveScores,
    Calibrated,
    DecisionFunction,
    Discriminant,
    FactorizedLikelihood,
    Generative,
    Probabilistic,
    SupportVectors,
    WarmStart,
)
from .classifier import Classifier, Mergeable, Online
from .estimator import Estimator
from .files import load
from .regressor import LinearModel, MergeableRegressor, OnlineRegressor, Regressor
from .sklearn_parameters import DEFAULT, Honored, Only, Unused
from .unsupervised import Clusterer, OutlierDetector, Transformer

__all__ = [
    "DEFAULT",
    "AdditiveScores",
    "Calibrated",
    "Classifier",
    "Clusterer",
    "DecisionFunction",
    "Discriminant",
    "Estimator",
    "FactorizedLikelihood",
    "Generative",
    "Honored",
    "LinearModel",
    "Mergeable",
    "MergeableRegressor",
    "Online",
    "OnlineRegressor",
    "Only",
    "OutlierDetector",
    "Probabilistic",
    "Regressor",
    "SupportVectors",
    "Transformer",
    "Unused",
    "WarmStart",
    "load",
]
