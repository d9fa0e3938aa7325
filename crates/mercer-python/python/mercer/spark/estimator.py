"""What the estimators share: columns of a data frame to a fit, and several fits from the same passes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pyspark.ml.linalg import VectorUDT
from pyspark.ml.param import Param
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import types

from mercer import _mercer

from .arrow import Field, Input
from .params import HasFeatureMap, HasTable
from .passes import Passes
from .scan import Scan

NUMERIC = (
    types.ByteType,
    types.ShortType,
    types.IntegerType,
    types.LongType,
    types.FloatType,
    types.DoubleType,
    types.DecimalType,
)


@dataclass(frozen=True)
class Problem:
    """The estimator of the core that a setting of parameters stands for."""

    id: str
    params: dict[str, Any]
    penalty: str = "columns"
    """What a fit by rounds penalizes: the weights of columns, of ``standardized`` ones as MLlib does, or ``none``."""
    scale: bool = False
    """Whether the columns of vectors are standardized first."""


class SparkEstimator(HasTable, DefaultParamsWritable, DefaultParamsReadable):
    """Fits an estimator of Mercer to a data frame."""

    _regression: ClassVar[bool] = False
    """Whether the label is a number to predict."""
    _refused: ClassVar[dict[str, str]] = {}
    """Parameters of MLlib's class that are not supported, with the remedy."""
    _at_finish: ClassVar[frozenset[str]] = frozenset()
    """Parameters that do not change what is observed, so that settings of them share passes."""
    _exact: ClassVar[bool] = False
    """Whether the statistics of whole numbers are sums of whole numbers."""
    _model: ClassVar[type]

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(**self._defaults())
        self.setParams(**params)

    def _defaults(self) -> dict[str, Any]:
        return {}

    def setParams(self, **params: Any) -> Any:
        """Sets parameters by name."""
        for name, value in params.items():
            if name in self._refused:
                raise ValueError(f"{name}={value!r} is not supported: {self._refused[name]}")
            if not self.hasParam(name):
                known = ", ".join(sorted(param.name for param in self.params))
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}; its parameters are {known}"
                )
        return self._set(**params)

    def _problem(self, scan: Scan, sparse: bool) -> Problem:
        """The estimator of the core for these parameters and rows."""
        raise NotImplementedError

    def _fit(self, dataset: Any) -> Any:
        return fit_settings(self, dataset, [{}])[0]

    def fitMultiple(
        self, dataset: Any, paramMaps: Sequence[dict[Param[Any], Any]]
    ) -> Iterator[tuple[int, Any]]:
        """Fits a model for every setting; settings that differ in the penalty only share the passes over the rows."""
        groups: dict[str, list[int]] = {}
        for k, setting in enumerate(paramMaps):
            observed = {p.name: v for p, v in setting.items() if p.name not in self._at_finish}
            groups.setdefault(json.dumps(observed, sort_keys=True, default=str), []).append(k)
        return fit_groups(self.copy(), dataset, paramMaps, list(groups.values()))


def fit_groups(
    estimator: Any, dataset: Any, settings: Sequence[Any], groups: list[list[int]]
) -> Iterator[tuple[int, Any]]:
    """The models of the settings, group by group."""
    return _Models(estimator, dataset, settings, groups)


class _Models:
    """Models in the order of their groups; threads may share the iterator, as those of CrossValidator do."""

    def __init__(
        self, estimator: Any, dataset: Any, settings: Sequence[Any], groups: list[list[int]]
    ) -> None:
        import threading

        self.estimator, self.dataset, self.settings = estimator, dataset, settings
        self.groups, self.ready = groups, []  # type: ignore[var-annotated]
        self.lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self

    def __next__(self) -> tuple[int, Any]:
        with self.lock:
            if not self.ready:
                if not self.groups:
                    raise StopIteration
                group = self.groups.pop(0)
                chosen = [self.settings[k] for k in group]
                models = fit_settings(self.estimator, self.dataset, chosen)
                self.ready = list(zip(group, models, strict=True))
            return self.ready.pop(0)


def scanned(estimator: Any, dataset: Any) -> tuple[Passes, Scan]:
    """The passes over the columns of a fit, and the first of them."""
    regression = estimator._regression
    passes = Passes(dataset, input_columns(estimator, dataset.schema), regression)
    found = passes.scan()
    check_scan(estimator, found, regression)
    passes.columns = resolved(estimator, passes.columns, found)
    if estimator.getOrDefault(estimator.exactSums):
        check_exact(estimator, passes.columns)
    return passes, found


def fit_settings(estimator: Any, dataset: Any, settings: Sequence[Any]) -> list[Any]:
    """The models of settings that observe the same: one preparation, and one pass or one set of rounds each."""
    estimators = [estimator.copy(setting) for setting in settings]
    first = estimators[0]
    passes, found = scanned(first, dataset)
    columns = passes.columns
    problems = [each._problem(found, columns.sparse) for each in estimators]
    fit = passes.prepare(described(first, problems[0], columns))
    exact = first.getOrDefault(first.exactSums)
    limit = first.getOrDefault(first.timeLimit) or None
    fits = [fit.with_params(json.dumps(problem.params)) for problem in problems]
    if fit.by_rounds:
        fits = [each.with_penalty(p.penalty) for each, p in zip(fits, problems, strict=True)]
        blocks = passes.blocks(fit)
        try:
            fitted = [passes.rounds(each, blocks, limit) for each in fits]
        finally:
            blocks.unpersist()
    else:
        sums = passes.statistics(fit, exact)
        fitted = [each.finish(sums) for each in fits]
    return [
        model_of(each, result, columns) for each, result in zip(estimators, fitted, strict=True)
    ]


def model_of(estimator: Any, fitted: Any, columns: Input) -> Any:
    """The model of an estimator, with its parameters and its identifier."""
    return estimator._copyValues(estimator._model(fitted, columns))._resetUid(estimator.uid)


def input_columns(estimator: Any, schema: types.StructType) -> Input:
    """The columns of a fit, with the kinds that the schema tells."""
    value = estimator.getOrDefault
    label = value(estimator.labelCol)
    weight = value(estimator.weightCol) if estimator.isDefined(estimator.weightCol) else None
    weight = weight or None
    for role, name in (("labelCol", label), ("weightCol", weight)):
        if name is not None and name not in schema.names:
            raise ValueError(f"{role} {name!r} is no column; the columns are {schema.names}")
    label_type = schema[label].dataType
    is_text = isinstance(label_type, types.StringType)
    if not isinstance(label_type, (*NUMERIC, types.BooleanType, types.StringType)):
        raise TypeError(f"labelCol {label!r} has the type {label_type.simpleString()}")
    if estimator._regression and not isinstance(label_type, NUMERIC):
        raise TypeError(
            f"labelCol {label!r} has the type {label_type.simpleString()}, and a regression needs numbers"
        )
    if not estimator.isDefined(estimator.inputCols):
        features = value(estimator.featuresCol)
        if features not in schema.names:
            raise ValueError(
                f"featuresCol {features!r} is no column; the columns are {schema.names}. Name columns of"
                " numbers, strings and booleans by inputCols"
            )
        kind = schema[features].dataType
        if not isinstance(kind, (VectorUDT, types.ArrayType)):
            raise TypeError(
                f"featuresCol {features!r} has the type {kind.simpleString()}; it holds vectors or arrays"
                f" of numbers. For columns of other types set inputCols=[{features!r}]"
            )
        return Input(features, label, weight, label_is_text=is_text)
    names = value(estimator.inputCols)
    for name in names:
        if name not in schema.names:
            raise ValueError(f"inputCols {name!r} is no column; the columns are {schema.names}")
        if name in (label, weight):
            raise ValueError(f"inputCols {name!r} is also labelCol or weightCol")
    fields = tuple(Field(name, column_kind(estimator, schema[name])) for name in names)
    return Input(None, label, weight, fields, label_is_text=is_text)


def column_kind(estimator: Any, column: types.StructField) -> str:
    """The kind of a column of a table; ``string`` if the values have to decide."""

    def declared(param: Param[Any]) -> bool:
        return estimator.isDefined(param) and column.name in estimator.getOrDefault(param)

    kind = column.dataType
    if declared(estimator.textCols):
        return "text"
    if declared(estimator.categoricalCols):
        return "categories"
    if isinstance(kind, NUMERIC):
        return "numeric"
    if isinstance(kind, types.BooleanType):
        return "boolean"
    if isinstance(kind, types.StringType):
        return "string"
    raise TypeError(
        f"inputCols {column.name!r} has the type {kind.simpleString()}; use numbers, booleans or strings."
        " Cast dates to numbers (for example by datediff), and pass vectors by featuresCol"
    )


def check_scan(estimator: Any, scan: Scan, regression: bool) -> None:
    """Refuses rows that no model can be fitted to."""
    if scan.rows == 0:
        raise ValueError("found no rows; the data frame is empty")
    if scan.missing_labels:
        label = estimator.getOrDefault(estimator.labelCol)
        raise ValueError(
            f"labelCol {label!r} is missing in {scan.missing_labels} of {scan.rows} rows; remove these rows"
            f" (dataset.na.drop(subset=[{label!r}]))"
        )
    if scan.weight <= 0:
        raise ValueError("all weights are zero")
    present = [value for value, total in scan.classes.items() if total > 0]
    if not regression and len(present) < 2:
        raise ValueError(
            f"found only one class ({present[0]!r}); a classifier needs at least two classes"
        )


def resolved(estimator: Any, columns: Input, scan: Scan) -> Input:
    """The columns with what the first pass found: levels, classes, the length of vectors."""
    fields = []
    for field in columns.fields:
        strings = scan.strings.get(field.name)
        if field.kind not in ("string", "categories"):
            fields.append(field)
        elif field.kind == "string" and strings is not None and strings.is_text():
            fields.append(replace(field, kind="text"))
        else:
            if strings is not None and strings.overflow:
                raise ValueError(
                    f"inputCols {field.name!r} has more than a million distinct values; name it in"
                    " textCols, or leave it out"
                )
            levels = sorted(strings.levels) if strings is not None else []
            if not levels:
                raise ValueError(f"inputCols {field.name!r} has no values; leave it out")
            fields.append(Field(field.name, "categorical", tuple(levels)))
    labels = None if estimator._regression else tuple(sorted(scan.classes))
    sparse = bool(columns.features) and scan.is_sparse
    return replace(columns, fields=tuple(fields), labels=labels, width=scan.width, sparse=sparse)


def core_labels(columns: Input) -> list[Any] | None:
    """The classes as the core stores them: integers where numbers are whole."""
    if columns.labels is None or columns.label_is_text:
        return None if columns.labels is None else list(columns.labels)
    if all(float(value).is_integer() for value in columns.labels):
        return [int(value) for value in columns.labels]
    return [float(value) for value in columns.labels]


def described(estimator: Any, problem: Problem, columns: Input) -> Any:
    """The fit of the core."""
    params, labels = json.dumps(problem.params), core_labels(columns)
    feature_map = estimator._map() if isinstance(estimator, HasFeatureMap) else None
    if columns.features:
        if estimator.isDefined(estimator.prepare):
            raise ValueError(
                "prepare is for inputCols; a column of vectors is used as it is. Set inputCols, or scale"
                " the vectors by a stage of the pipeline"
            )
        if columns.sparse and problem.scale:
            raise ValueError(
                "standardization=True with regParam > 0 is not supported for sparse vectors; set"
                " standardization=False, or scale the vectors by StandardScaler(withMean=False)"
            )
        return _mercer.PartitionedFit.of_matrix(
            problem.id,
            params,
            columns.width,
            columns.sparse,
            None,
            columns.label,
            columns.weight,
            labels,
            problem.scale,
            feature_map,
        )
    steps = (
        list(estimator.getOrDefault(estimator.prepare))
        if estimator.isDefined(estimator.prepare)
        else []
    )
    fields = [
        (f.name, f.kind, list(f.levels) if f.levels is not None else None) for f in columns.fields
    ]
    return _mercer.PartitionedFit.of_table(
        problem.id, params, fields, columns.label, columns.weight, labels, steps, feature_map
    )


def check_exact(estimator: Any, columns: Input) -> None:
    """Refuses exact sums where statistics are not sums of whole numbers."""
    name = type(estimator).__name__
    if not estimator._exact:
        raise ValueError(
            f"exactSums=True is not supported by {name}: its statistics are means and products of real"
            " numbers. A fixed partitioning gives the same bits without it"
        )
    numeric = [f.name for f in columns.fields if f.kind == "numeric"]
    if numeric and name == "MixedNB":
        raise ValueError(
            f"exactSums=True: MixedNB summarizes the numeric columns {numeric} by means and variances, which"
            " depend on the order of the rows; declare them in categoricalCols, or set exactSums=False"
        )
