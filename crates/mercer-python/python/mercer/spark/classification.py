"""Classifiers for Spark, with the parameters of pyspark.ml.classification where it has the class.

``featuresCol`` is a column of vectors or arrays, or ``inputCols`` names numeric, string and boolean columns, with
missing values, which are preprocessed as ``mercer train`` does. Naive Bayes and discriminant analysis take one pass
over the rows for their statistics; logistic regression and linear support vector machines one pass per round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pyspark.ml.classification import (
    ClassificationModel,
    Classifier,
    ProbabilisticClassificationModel,
    ProbabilisticClassifier,
    _LinearSVCParams,
    _LogisticRegressionParams,
    _NaiveBayesParams,
)
from pyspark.ml.linalg import DenseMatrix, DenseVector, Vectors
from pyspark.ml.param import Param

from .estimator import Problem, SparkEstimator
from .model import LinearCoefficients, SparkClassificationModel
from .params import HasFeatureMap, accessors, float_param, string_param
from .scan import Scan

__all__ = [
    "KernelSVC",
    "KernelSVCModel",
    "LinearDiscriminantAnalysis",
    "LinearDiscriminantAnalysisModel",
    "LinearSVC",
    "LinearSVCModel",
    "LogisticRegression",
    "LogisticRegressionModel",
    "MixedNB",
    "MixedNBModel",
    "NaiveBayes",
    "NaiveBayesModel",
    "QuadraticDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysisModel",
]

OUTPUTS = frozenset(
    {"predictionCol", "probabilityCol", "rawPredictionCol", "threshold", "thresholds"}
)


def inverse_penalty(reg_param: float, weight: float) -> float:
    """Mercer's ``C`` of MLlib's ``regParam``, which weighs the penalty against the mean loss."""
    return 1.0 / (reg_param * weight)


def linear_problem(estimator: Any, scan: Scan, id: str, params: dict[str, Any]) -> Problem:
    """The problem of a linear classifier by rounds, with MLlib's penalty."""
    value = estimator.getOrDefault
    reg_param = check_reg_param(value(estimator.regParam))
    params = {
        "C": inverse_penalty(reg_param, scan.weight) if reg_param > 0 else 1.0 / scan.weight,
        "tol": value(estimator.tol),
        "max_iter": value(estimator.maxIter),
        "fit_intercept": value(estimator.fitIntercept),
        **params,
    }
    standardized = "standardized" if value(estimator.standardization) else "columns"
    return Problem(id, params, penalty=standardized if reg_param > 0 else "none")


def check_reg_param(value: float) -> float:
    if value < 0:
        raise ValueError(f"regParam={value}; it is at least 0")
    return value


class NaiveBayesModel(
    SparkClassificationModel, ProbabilisticClassificationModel, _NaiveBayesParams
):
    """Naive Bayes, fitted."""

    @property
    def pi(self) -> DenseVector:
        """The logarithms of the class priors."""
        return Vectors.dense(np.asarray(self._fitted.field("log_priors")))

    @property
    def theta(self) -> DenseMatrix:
        """``log P(feature | class)``, or the means of a Gaussian model."""
        name = "means" if self._fitted.id == "gaussian-nb" else "log_probabilities"
        matrix = np.asarray(self._fitted.field(name))
        return DenseMatrix(*matrix.shape, matrix.ravel(order="F"))

    @property
    def sigma(self) -> DenseMatrix:
        """The variances of a Gaussian model; empty for the others."""
        if self._fitted.id != "gaussian-nb":
            return DenseMatrix(0, 0, [])
        matrix = np.asarray(self._fitted.field("variances"))
        return DenseMatrix(*matrix.shape, matrix.ravel(order="F"))


@accessors
class NaiveBayes(SparkEstimator, ProbabilisticClassifier, _NaiveBayesParams):
    """Multinomial, complement, Bernoulli and Gaussian naive Bayes in one pass, with MLlib's priors.

    ``modelType`` is multinomial, complement, bernoulli or gaussian. Class priors of the first three are smoothed by
    ``smoothing``, as MLlib's are.
    """

    _model = NaiveBayesModel
    _at_finish = OUTPUTS | {"smoothing"}
    _exact = True

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        kind, smoothing = self.getModelType(), self.getSmoothing()
        if kind not in ("multinomial", "complement", "bernoulli", "gaussian"):
            raise ValueError(
                f"modelType={kind!r}; it is 'multinomial', 'complement', 'bernoulli' or 'gaussian'"
            )
        if kind == "gaussian":
            if self.getOrDefault(self.exactSums):
                raise ValueError(
                    "exactSums=True is not supported for modelType='gaussian', whose statistics are means and"
                    " variances of real numbers"
                )
            return Problem("gaussian-nb", {})
        totals = np.array([scan.classes[value] for value in sorted(scan.classes)])
        priors = (totals + smoothing) / (totals.sum() + smoothing * len(totals))
        params: dict[str, Any] = {"alpha": smoothing, "force_alpha": True}
        if kind != "complement":
            params["class_prior"] = priors.tolist()
        if kind == "bernoulli":
            params["binarize"] = None
        return Problem(f"{kind}-nb", params)


class MixedNBModel(SparkClassificationModel, ProbabilisticClassificationModel):
    """Naive Bayes of mixed columns, fitted."""


@accessors
class MixedNB(SparkEstimator, ProbabilisticClassifier):
    """Naive Bayes of numeric, categorical, boolean and text columns with missing values, in one pass."""

    alpha: Param[float] = float_param(
        "alpha", "additive smoothing of categories and terms, at least 0"
    )
    varSmoothing: Param[float] = float_param(
        "varSmoothing", "the fraction of the largest variance that is added to all variances"
    )
    _model = MixedNBModel
    _at_finish = OUTPUTS | {"alpha", "varSmoothing"}
    _exact = True

    def _defaults(self) -> dict[str, Any]:
        return {"alpha": 1.0, "varSmoothing": 1e-9}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        value = self.getOrDefault
        return Problem(
            "mixed-nb", {"alpha": value(self.alpha), "var_smoothing": value(self.varSmoothing)}
        )


class LogisticRegressionModel(
    SparkClassificationModel,
    LinearCoefficients,
    ProbabilisticClassificationModel,
    _LogisticRegressionParams,
):
    """Logistic regression, fitted."""


@accessors
class LogisticRegression(SparkEstimator, ProbabilisticClassifier, _LogisticRegressionParams):
    """Logistic regression by rounds of Newton's method, for two or more classes.

    The objective is MLlib's, with an L2 penalty of ``regParam`` on the weights of standardized columns unless
    ``standardization`` is false. ``aggregationDepth`` and ``maxBlockSizeInMB`` have no effect.
    """

    _model = LogisticRegressionModel
    _at_finish = OUTPUTS | {"regParam", "maxIter", "tol", "fitIntercept", "standardization"}
    _refused = {
        name: "coefficients cannot be bounded; use pyspark.ml.classification.LogisticRegression"
        for name in (
            "lowerBoundsOnCoefficients",
            "upperBoundsOnCoefficients",
            "lowerBoundsOnIntercepts",
            "upperBoundsOnIntercepts",
        )
    }

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        value = self.getOrDefault
        check_elastic_net(value(self.elasticNetParam), "L1")
        for name in self._refused:
            if self.isSet(name):
                raise ValueError(f"{name} is not supported: {self._refused[name]}")
        family, n_classes = value(self.family), len(scan.classes)
        if family not in ("auto", "binomial", "multinomial"):
            raise ValueError(f"family={family!r}; it is 'auto', 'binomial' or 'multinomial'")
        if family == "binomial" and n_classes > 2:
            raise ValueError(f"family='binomial' has two classes, and labelCol has {n_classes}")
        if family == "multinomial" and n_classes == 2:
            raise ValueError(
                "family='multinomial' with two classes is not supported: it has two sets of coefficients for"
                " the same model; set family='auto'"
            )
        return linear_problem(self, scan, "logistic", {})


def check_elastic_net(value: float, what: str) -> None:
    if value != 0:
        raise ValueError(
            f"elasticNetParam={value} is not supported: an {what} penalty has no fit by rounds. Set"
            " elasticNetParam=0, or train on one machine by mercer (penalty elasticnet, or lasso)"
        )


class LinearSVCModel(
    SparkClassificationModel, LinearCoefficients, ClassificationModel, _LinearSVCParams
):
    """A linear support vector machine, fitted."""

    _has_probabilities = False


@accessors
class LinearSVC(SparkEstimator, Classifier, _LinearSVCParams):
    """Linear support vector machine with the squared hinge loss, for two or more classes (one-vs-rest).

    MLlib's class has the hinge loss and two classes. The penalty of ``regParam`` is on the weights of standardized
    columns unless ``standardization`` is false. ``aggregationDepth`` and ``maxBlockSizeInMB`` have no effect.
    """

    _model = LinearSVCModel
    _at_finish = OUTPUTS | {"regParam", "maxIter", "tol", "fitIntercept", "standardization"}
    _refused = {
        "probabilityCol": "the machine has no probabilities; use LogisticRegression",
        "thresholds": "thresholds are for probabilities; use threshold, or LogisticRegression",
    }

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        squared_hinge = {"loss": "squared_hinge", "intercept": "unpenalized"}
        return linear_problem(self, scan, "linear-svc", squared_hinge)


class KernelSVCModel(SparkClassificationModel, ClassificationModel, _LinearSVCParams):
    """A support vector machine over a kernel approximation, fitted."""

    _has_probabilities = False


@accessors
class KernelSVC(SparkEstimator, HasFeatureMap, Classifier, _LinearSVCParams):
    """Support vector machine with a kernel, approximated by a feature map (Nystroem or random Fourier features).

    ``model.featureMap`` has the measured error of the approximation. The squared hinge loss is minimized by rounds over
    the mapped rows.
    """

    _model = KernelSVCModel
    _at_finish = OUTPUTS | {"regParam", "maxIter", "tol", "fitIntercept"}
    _refused = {
        "probabilityCol": "the machine has no probabilities; use LogisticRegression",
        "standardization": "columns are scaled before the kernel: set inputCols, or scale the vectors",
    }

    def _defaults(self) -> dict[str, Any]:
        return {"regParam": 1e-4, "standardization": False}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        if check_reg_param(self.getOrDefault(self.regParam)) == 0:
            raise ValueError("regParam=0: the penalty must be positive, for example regParam=1e-4")
        squared_hinge = {"loss": "squared_hinge", "intercept": "unpenalized"}
        return linear_problem(self, scan, "linear-svc", squared_hinge)


class LinearDiscriminantAnalysisModel(SparkClassificationModel, ProbabilisticClassificationModel):
    """Linear discriminant analysis, fitted."""


@accessors
class LinearDiscriminantAnalysis(SparkEstimator, ProbabilisticClassifier):
    """Linear discriminant analysis in one pass: Gaussian classes with a common covariance matrix."""

    shrinkage: Param[str] = string_param(
        "shrinkage", "none, auto (Ledoit-Wolf), or a number from 0 to 1"
    )
    _model = LinearDiscriminantAnalysisModel
    _at_finish = OUTPUTS | {"shrinkage"}

    def _defaults(self) -> dict[str, Any]:
        return {"shrinkage": "none"}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        text = self.getOrDefault(self.shrinkage)
        if text == "none":
            return Problem("lda", {})
        shrinkage: Any = text if text == "auto" else float(text)
        return Problem("lda", {"shrinkage": shrinkage, "solver": "lsqr"})


class QuadraticDiscriminantAnalysisModel(
    SparkClassificationModel, ProbabilisticClassificationModel
):
    """Quadratic discriminant analysis, fitted."""


@accessors
class QuadraticDiscriminantAnalysis(SparkEstimator, ProbabilisticClassifier):
    """Quadratic discriminant analysis in one pass: Gaussian classes, each with its covariance matrix."""

    regParam: Param[float] = float_param(
        "regParam",
        "the fraction of each covariance matrix that is replaced by the identity, from 0 to 1",
    )
    _model = QuadraticDiscriminantAnalysisModel
    _at_finish = OUTPUTS | {"regParam"}

    def _defaults(self) -> dict[str, Any]:
        return {"regParam": 0.0}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        return Problem("qda", {"reg_param": self.getOrDefault(self.regParam)})
