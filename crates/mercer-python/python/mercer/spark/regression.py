"""Regressors for Spark, with the parameters of pyspark.ml.regression where it has the class."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyspark.ml.linalg import DenseVector, Vectors
from pyspark.ml.param import Param
from pyspark.ml.param.shared import HasFitIntercept, HasMaxIter, HasTol
from pyspark.ml.regression import RegressionModel, Regressor, _LinearRegressionParams

from .classification import check_elastic_net, check_reg_param
from .estimator import Problem, SparkEstimator
from .model import SparkRegressionModel
from .params import HasFeatureMap, accessors, float_param
from .scan import Scan

__all__ = [
    "KernelRidge",
    "KernelRidgeModel",
    "LinearRegression",
    "LinearRegressionModel",
    "LinearSVR",
    "LinearSVRModel",
    "Ridge",
    "RidgeModel",
]

OUTPUTS = frozenset({"predictionCol"})


class Coefficients:
    """The coefficients of the columns, in their units."""

    _fitted: Any

    @property
    def coefficients(self) -> DenseVector:
        """The coefficient of each feature, in the units of the columns."""
        return Vectors.dense(self._in_units()[0])

    @property
    def intercept(self) -> float:
        """The intercept."""
        return self._in_units()[1]

    def _in_units(self) -> tuple[np.ndarray, float]:
        """Undoes a scaling of the columns: the model is affine, and so is the scaling."""
        weights = np.asarray(self._fitted.field("coefficients"))
        intercept = float(self._fitted.field("intercept"))
        if self._fitted.preprocessed and self._fitted.feature_map is None:
            width = len(self._fitted.levels)
            if width != len(weights):
                return weights, intercept
            points = np.vstack([np.zeros(width), np.eye(width)])
            features = self._fitted.encode_matrix(points)
            values = features @ weights + intercept
            return values[1:] - values[0], float(values[0])
        return weights, intercept


class LinearRegressionModel(
    SparkRegressionModel, Coefficients, RegressionModel[Any], _LinearRegressionParams
):
    """Linear regression, fitted."""


@accessors
class LinearRegression(SparkEstimator, Regressor, _LinearRegressionParams):
    """Least squares in one pass, with MLlib's L2 penalty.

    ``regParam`` weighs half the squared coefficients of the standardized columns, divided by the standard deviation of
    the label, against half the mean squared error, as MLlib does; without ``standardization`` those of the columns.
    ``maxIter``, ``tol``, ``aggregationDepth`` and ``maxBlockSizeInMB`` have no effect on a closed form.
    """

    _regression = True
    _model = LinearRegressionModel
    _at_finish = OUTPUTS | {"fitIntercept", "maxIter", "tol"}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        value = self.getOrDefault
        check_elastic_net(value(self.elasticNetParam), "L1")
        if value(self.loss) != "squaredError":
            raise ValueError(
                f"loss={value(self.loss)!r} is not supported; set loss='squaredError', or use LinearSVR for a"
                " loss that is robust to small errors"
            )
        if value(self.solver) not in ("auto", "normal"):
            raise ValueError(
                f"solver={value(self.solver)!r} is not supported: the solution is in closed form; set"
                " solver='auto'"
            )
        intercept = value(self.fitIntercept)
        reg_param = check_reg_param(value(self.regParam))
        if reg_param == 0:
            return Problem("ols", {"fit_intercept": intercept})
        standardized = value(self.standardization)
        if standardized and not intercept:
            raise ValueError(
                "standardization=True with regParam > 0 and fitIntercept=False is not supported; set"
                " standardization=False"
            )
        penalty = reg_param * scan.weight / (scan.deviation or 1.0)
        params = {"alpha": penalty, "fit_intercept": intercept}
        return Problem("ridge", params, scale=standardized)


class RidgeModel(SparkRegressionModel, Coefficients, RegressionModel[Any]):
    """Ridge regression, fitted."""


@accessors
class Ridge(SparkEstimator, Regressor, HasFitIntercept):
    """Ridge regression in one pass: squared errors plus ``alpha`` times the squared coefficients."""

    alpha: Param[float] = float_param("alpha", "the regularization strength, at least 0")
    _regression = True
    _model = RidgeModel
    _at_finish = OUTPUTS | {"alpha", "fitIntercept"}

    def _defaults(self) -> dict[str, Any]:
        return {"alpha": 1.0}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        value = self.getOrDefault
        return Problem(
            "ridge", {"alpha": value(self.alpha), "fit_intercept": value(self.fitIntercept)}
        )


class LinearSVRModel(SparkRegressionModel, Coefficients, RegressionModel[Any]):
    """Linear support vector regression, fitted."""


@accessors
class LinearSVR(SparkEstimator, Regressor, HasFitIntercept, HasMaxIter, HasTol):
    """Linear support vector regression with the squared epsilon-insensitive loss, by rounds."""

    C: Param[float] = float_param("C", "the weight of errors; a larger value fits the rows better")
    epsilon: Param[float] = float_param("epsilon", "errors up to this size cost nothing")
    _regression = True
    _model = LinearSVRModel
    _at_finish = OUTPUTS | {"C", "epsilon", "fitIntercept", "maxIter", "tol"}

    def _defaults(self) -> dict[str, Any]:
        return {"C": 1.0, "epsilon": 0.0, "maxIter": 1000, "tol": 1e-4}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        value = self.getOrDefault
        params = {
            "C": value(self.C),
            "epsilon": value(self.epsilon),
            "loss": "squared_epsilon_insensitive",
            "fit_intercept": value(self.fitIntercept),
            "max_iter": value(self.maxIter),
            "tol": value(self.tol),
        }
        return Problem("linear-svr", params)


class KernelRidgeModel(SparkRegressionModel, RegressionModel[Any]):
    """Ridge regression over a kernel approximation, fitted."""


@accessors
class KernelRidge(SparkEstimator, HasFeatureMap, Regressor):
    """Kernel ridge regression, approximated by a feature map, in one pass after the sample of the map."""

    alpha: Param[float] = float_param("alpha", "the regularization strength, at least 0")
    _regression = True
    _model = KernelRidgeModel
    _at_finish = OUTPUTS | {"alpha"}

    def _defaults(self) -> dict[str, Any]:
        return {"alpha": 1.0}

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        return Problem("ridge", {"alpha": self.getOrDefault(self.alpha), "fit_intercept": False})
