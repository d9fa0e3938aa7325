"""Cross-validation whose fits need one pass over the rows, for estimators by statistics.

The statistics of every fold are observed in one pass; the model that validates a fold is finished from the merged
statistics of the others, for every setting, and the best model from those of all folds.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from pyspark.ml import tuning
from pyspark.ml.tuning import CrossValidatorModel
from pyspark.sql import functions

from .classification import (
    LinearDiscriminantAnalysis,
    MixedNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from .estimator import described, model_of, scanned
from .regression import Ridge
from .scan import Scan

__all__ = ["CrossValidator", "CrossValidatorModel"]

ONE_PASS = (NaiveBayes, MixedNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, Ridge)


class CrossValidator(tuning.CrossValidator):
    """pyspark.ml's cross-validation, with the same folds, from statistics of the folds where the estimator has them.

    That is so for :data:`ONE_PASS` if the settings differ in the penalty or smoothing only and nothing of the
    preprocessing depends on the rows; other searches run as in pyspark.ml.
    """

    def _fit(self, dataset: Any) -> CrossValidatorModel:
        estimator, settings = self.getEstimator(), self.getEstimatorParamMaps()
        shared = isinstance(estimator, ONE_PASS) and all(
            param.name in estimator._at_finish for setting in settings for param in setting
        )
        if not shared or self.getCollectSubModels():
            return super()._fit(dataset)
        estimators = [estimator.copy(setting) for setting in settings]
        passes, found = scanned(estimators[0], dataset)
        columns = passes.columns
        fit = described(estimators[0], estimators[0]._problem(found, columns.sparse), columns)
        if fit.stage != "fit":
            return super()._fit(dataset)
        folds, fold = self._with_folds(dataset)
        sums = passes.fold_statistics(fit, folds, fold, self.getNumFolds())
        evaluator = self.getEvaluator()
        metrics = np.zeros((len(sums), len(estimators)))
        for k in range(len(sums)):
            others = fit.merge([part for j, part in enumerate(sums) if j != k])
            held_out = folds.where(functions.col(fold) == k)
            for j, each in enumerate(estimators):
                model = model_of(each, finished(each, fit, others, found, columns), columns)
                metrics[k, j] = evaluator.evaluate(model.transform(held_out))
        mean = metrics.mean(axis=0)
        best = int(np.argmax(mean) if evaluator.isLargerBetter() else np.argmin(mean))
        everything = finished(estimators[best], fit, fit.merge(sums), found, columns)
        model = model_of(estimators[best], everything, columns)
        spread = metrics.std(axis=0).tolist()
        return self._copyValues(CrossValidatorModel(model, mean.tolist(), None, spread))

    def _with_folds(self, dataset: Any) -> tuple[Any, str]:
        """The data frame with a column of fold numbers: those of pyspark.ml for the same seed."""
        given, n_folds = self.getFoldCol(), self.getNumFolds()
        if given:
            inside = (functions.col(given) >= 0) & (functions.col(given) < n_folds)
            if dataset.where(~inside).head(1):
                raise ValueError(f"foldCol {given!r} has numbers outside 0 to {n_folds - 1}")
            return dataset, given
        name = f"{self.uid}_fold"
        number = functions.floor(functions.rand(self.getSeed()) * n_folds).cast("int")
        return dataset.withColumn(name, number), name


def finished(estimator: Any, fit: Any, sums: bytes, scan: Scan, columns: Any) -> Any:
    """The model of some folds, with the class totals of those folds where a parameter depends on them."""
    if isinstance(estimator, NaiveBayes) and estimator.getModelType() != "gaussian":
        plain = fit.with_params("{}").finish(sums)
        totals = np.asarray(plain.field("class_weights")).tolist()
        scan = replace(
            scan, classes=dict(zip(columns.labels, totals, strict=True)), weight=sum(totals)
        )
    params = estimator._problem(scan, columns.sparse).params
    return fit.with_params(json.dumps(params)).finish(sums)
