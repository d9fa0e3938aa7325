"""What the fitted models share: predictions of data frames, persistence, certificates and model files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyspark.ml.linalg import DenseMatrix, DenseVector, Vector, Vectors, VectorUDT
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions, types
from pyspark.sql.functions import ArrowUDFType
from pyspark.sql.pandas.functions import arrow_udf

from mercer import _mercer

from . import arrow
from .arrow import Field, Input
from .params import HasTable


@lru_cache(maxsize=4)
def fitted_of(model: bytes) -> Any:
    """The model of its bytes, read once per process."""
    return _mercer.from_bytes(model)


def encoded(fitted: Any, rows: Any) -> Any:
    """The features of rows, as the model reads them."""
    if isinstance(rows, list):
        return fitted.encode_rows(rows)
    features = fitted.encode_matrix(rows)
    return rows if features is None else features


def predictor(
    model: bytes, columns: Input, outputs: tuple[str, ...], rule: Callable[[np.ndarray], np.ndarray]
) -> Callable[[Iterator[pa.Array]], Iterator[pa.Array]]:
    """The function that predicts batches: a structure with one field per output."""

    def predict(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        from .passes import use_task_threads

        use_task_threads()
        fitted = fitted_of(model)
        for batch in batches:
            table = pa.Table.from_arrays(batch.flatten(), names=[f.name for f in batch.type])
            features = encoded(fitted, arrow.rows(table, columns))
            yield pa.StructArray.from_arrays(
                [output_column(fitted, features, name, columns, rule) for name in outputs],
                names=list(outputs),
            )

    return predict


def output_column(
    fitted: Any, features: Any, name: str, columns: Input, rule: Callable[[np.ndarray], np.ndarray]
) -> pa.Array:
    """One output for all rows of a batch."""
    if name == "value":
        return pa.array(fitted.predict_target(features))
    if name == "raw":
        return arrow.vector_column(raw_scores(fitted, features))
    if name == "probability":
        return arrow.vector_column(np.exp(fitted.log_proba(features)))
    codes = rule_codes(fitted, features, rule)
    kind = pa.string() if columns.label_is_text else pa.float64()
    return pa.array(columns.labels, kind).take(pa.array(codes))


def raw_scores(fitted: Any, features: Any) -> np.ndarray:
    """MLlib's raw predictions: joint log-probabilities, log-odds or margins."""
    if fitted.id in GENERATIVE:
        return fitted.log_joint(features)
    scores = fitted.scores(features)
    # For two classes the core has half the log-odds.
    return 2.0 * scores if fitted.id == "logistic" and scores.shape[1] == 2 else scores


GENERATIVE = ("gaussian-nb", "multinomial-nb", "bernoulli-nb", "mixed-nb", "lda", "qda")


def rule_codes(fitted: Any, features: Any, rule: Any) -> np.ndarray:
    """The class codes by the thresholds of the model, or by the largest probability."""
    if rule is None:
        return fitted.predict(features).astype(np.int64)
    kind, limits = rule
    if kind == "margin":
        return (raw_scores(fitted, features)[:, 1] > limits).astype(np.int64)
    probabilities = np.exp(fitted.log_proba(features))
    if kind == "threshold":
        return (probabilities[:, 1] > limits).astype(np.int64)
    limits = np.asarray(limits)
    # A threshold of zero always wins, unless the probability is zero, as in MLlib.
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(
            limits > 0, probabilities / limits, np.where(probabilities > 0, np.inf, 0)
        )
    return np.argmax(scaled, axis=1)


class SparkModel(HasTable, MLWritable, MLReadable[Any]):
    """A fitted model of Mercer that transforms data frames."""

    def __init__(self, fitted: Any = None, columns: Input | None = None) -> None:
        super().__init__()
        self._fitted = fitted
        self._columns = columns

    @property
    def certificate(self) -> dict[str, Any]:
        """How the fit ended and how far from the optimum it can be."""
        return self._fitted.certificate

    @property
    def featureMap(self) -> str | None:
        """The kernel approximation with its measured error, if the model has one."""
        return self._fitted.feature_map

    @property
    def numFeatures(self) -> int:
        """The number of features of the model, after preprocessing."""
        return self._fitted.n_columns

    def toMercer(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file that the command ``mercer`` and the Python package read."""
        self._fitted.save(os.fspath(path))

    def write(self) -> MLWriter:
        """The writer of the model, for ``save`` and pipelines."""
        return ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """The reader of saved models."""
        return ModelReader(cls)

    def copy(self, extra: Any = None) -> Any:
        """A copy with the same model and other parameters."""
        that = super().copy(extra)
        that._fitted, that._columns = self._fitted, self._columns
        return that

    def _input(self) -> Input:
        """The input columns under the names that the parameters have now."""
        assert self._columns is not None, "a model exists only after a fit"
        if not self._columns.features:
            return self._columns
        from dataclasses import replace

        return replace(self._columns, features=self.getOrDefault("featuresCol"))

    def _predicted(self, dataset: Any, outputs: dict[str, tuple[str, Any]], rule: Any) -> Any:
        """The data frame with a column per output: its name and its type."""
        outputs = {key: (name, kind) for key, (name, kind) in outputs.items() if name}
        if not outputs:
            return dataset
        columns = self._input()
        missing = [name for name in columns.feature_columns if name not in dataset.columns]
        if missing:
            raise ValueError(f"the columns {missing} of the model are not in the data frame")
        kind = types.StructType(
            [types.StructField(key, kind) for key, (_, kind) in outputs.items()]
        )
        predict = arrow_udf(
            predictor(self._fitted.to_bytes(), columns, tuple(outputs), rule),
            kind,
            ArrowUDFType.SCALAR_ITER,
        )
        needed = functions.struct(*[functions.col(f"`{name}`") for name in columns.feature_columns])
        hidden = f"{self.uid}_outputs"
        dataset = dataset.withColumn(hidden, predict(needed))
        for key, (name, _) in outputs.items():
            dataset = dataset.withColumn(name, functions.col(hidden)[key])
        return dataset.drop(hidden)

    def _rows_of(self, value: Vector) -> Any:
        cells = np.ascontiguousarray(value.toArray(), dtype=np.float64)[None, :]
        return encoded(self._fitted, cells)


class ModelWriter(MLWriter):
    """Writes ``metadata`` as pyspark.ml does, and the bytes of the model file as a table of one row."""

    def __init__(self, instance: SparkModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        columns = self.instance._columns
        assert columns is not None, "a model exists only after a fit"
        description = {
            **vars(columns),
            "fields": [[f.name, f.kind, f.levels] for f in columns.fields],
        }
        DefaultParamsWriter.saveMetadata(
            self.instance, path, self.sparkSession, extraMetadata={"mercerInput": description}
        )
        rows = [(bytearray(self.instance._fitted.to_bytes()),)]
        table = self.sparkSession.createDataFrame(rows, "model binary")
        table.coalesce(1).write.parquet(os.path.join(path, "data"))


class ModelReader(MLReader[Any]):
    """Reads what :class:`ModelWriter` wrote; the model is checked as every model file is."""

    def __init__(self, cls: type[SparkModel]) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        row = self.sparkSession.read.parquet(os.path.join(path, "data")).first()
        if row is None:
            raise ValueError(f"{path!r} holds no model")
        description = metadata["mercerInput"]
        fields = tuple(
            Field(name, kind, None if levels is None else tuple(levels))
            for name, kind, levels in description.pop("fields")
        )
        labels = description.pop("labels")
        columns = Input(
            fields=fields, labels=None if labels is None else tuple(labels), **description
        )
        model = self.cls(_mercer.from_bytes(bytes(row["model"])), columns)
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


class SparkClassificationModel(SparkModel):
    """A fitted classifier."""

    _has_probabilities: ClassVar[bool] = True

    @property
    def numClasses(self) -> int:
        """The number of classes."""
        return len(self._fitted.labels)

    @property
    def classes(self) -> list[Any]:
        """The labels, in the order of raw predictions and probabilities."""
        return self._fitted.labels

    def _rule(self) -> Any:
        """The decision rule of the parameters: thresholds, a threshold for two classes, or ``None``."""
        if self.hasParam("thresholds") and self.isSet("thresholds"):
            limits = self.getOrDefault("thresholds")
            if len(limits) != self.numClasses:
                raise ValueError(
                    f"thresholds has {len(limits)} values, and the model has {self.numClasses} classes"
                )
            return ("thresholds", list(limits))
        if self.hasParam("threshold") and self.isSet("threshold") and self.numClasses == 2:
            kind = "threshold" if self._has_probabilities else "margin"
            return (kind, self.getOrDefault("threshold"))
        return None

    def _transform(self, dataset: Any) -> Any:
        assert self._columns is not None, "a model exists only after a fit"
        text = self._columns.label_is_text
        outputs = {
            "raw": (self.getOrDefault("rawPredictionCol"), VectorUDT()),
            "prediction": (
                self.getOrDefault("predictionCol"),
                types.StringType() if text else types.DoubleType(),
            ),
        }
        if self._has_probabilities:
            outputs["probability"] = (self.getOrDefault("probabilityCol"), VectorUDT())
        return self._predicted(dataset, outputs, self._rule())

    def predict(self, value: Vector) -> Any:
        """The label of one vector."""
        assert self._columns is not None and self._columns.labels is not None
        code = rule_codes(self._fitted, self._rows_of(value), self._rule())[0]
        label = self._columns.labels[code]
        return label if self._columns.label_is_text else float(label)

    def predictRaw(self, value: Vector) -> Vector:
        """The raw prediction of one vector."""
        return Vectors.dense(raw_scores(self._fitted, self._rows_of(value))[0])

    def predictProbability(self, value: Vector) -> Vector:
        """The class probabilities of one vector."""
        return Vectors.dense(np.exp(self._fitted.log_proba(self._rows_of(value)))[0])


class LinearCoefficients:
    """Coefficients and intercepts under MLlib's names."""

    _fitted: Any

    @property
    def coefficientMatrix(self) -> DenseMatrix:
        """The coefficients, one row per class; one row for two classes."""
        matrix = np.atleast_2d(np.asarray(self._fitted.field("coefficients")))
        return DenseMatrix(matrix.shape[0], matrix.shape[1], matrix.ravel(order="F"))

    @property
    def interceptVector(self) -> DenseVector:
        """The intercepts, one per class; one for two classes."""
        return Vectors.dense(np.atleast_1d(np.asarray(self._fitted.field("intercepts"))))

    @property
    def coefficients(self) -> DenseVector:
        """The coefficients of a model of two classes."""
        matrix = np.atleast_2d(np.asarray(self._fitted.field("coefficients")))
        if len(matrix) > 1:
            raise ValueError("the model has several classes; use coefficientMatrix")
        return Vectors.dense(matrix[0])

    @property
    def intercept(self) -> float:
        """The intercept of a model of two classes."""
        values = np.atleast_1d(np.asarray(self._fitted.field("intercepts")))
        if len(values) > 1:
            raise ValueError("the model has several classes; use interceptVector")
        return float(values[0])


class SparkRegressionModel(SparkModel):
    """A fitted regressor."""

    def _transform(self, dataset: Any) -> Any:
        outputs = {"value": (self.getOrDefault("predictionCol"), types.DoubleType())}
        return self._predicted(dataset, outputs, None)

    def predict(self, value: Vector) -> float:
        """The prediction of one vector."""
        return float(self._fitted.predict_target(self._rows_of(value))[0])
