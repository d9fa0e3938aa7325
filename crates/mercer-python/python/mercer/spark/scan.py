"""The first pass over a data frame: rows per partition, classes with their weights, levels of strings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer import _mercer

from . import arrow

# A target with more distinct values is not one of classes.
MAX_CLASSES = 1000
# A column of strings with more distinct values is text, or too large for a categorical column.
MAX_LEVELS = 1_000_000
# Vectors of which at most this fraction is stored are read as sparse rows.
MAX_SPARSE_FRACTION = 0.3

SCHEMA = "part long, rows long, state binary"


@dataclass
class Strings:
    """The distinct strings of a column, and totals that distinguish text from categories."""

    levels: dict[str, int] = field(default_factory=dict)
    n_strings: int = 0
    n_tokens: float = 0.0
    length: float = 0.0
    overflow: bool = False

    def observe(self, column: pa.Array) -> None:
        column = pc.drop_null(arrow.strings(column))
        self.n_strings += len(column)
        tokens = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(column)))
        self.n_tokens += float(pc.sum(tokens).as_py() or 0)
        self.length += float(pc.sum(pc.binary_length(column)).as_py() or 0)
        if self.overflow:
            return
        counts = pc.value_counts(column)
        values, totals = counts.field(0).to_pylist(), counts.field(1).to_pylist()
        self.add(zip(values, totals, strict=True))

    def add(self, counts: Any) -> None:
        for value, count in counts:
            self.levels[value] = self.levels.get(value, 0) + count
        if len(self.levels) > MAX_LEVELS:
            self.overflow, self.levels = True, {}

    def merge(self, other: Strings) -> None:
        self.n_strings += other.n_strings
        self.n_tokens += other.n_tokens
        self.length += other.length
        self.overflow |= other.overflow
        if self.overflow:
            self.levels = {}
        else:
            self.add(other.levels.items())

    def is_text(self) -> bool:
        n_distinct = MAX_LEVELS if self.overflow else len(self.levels)
        return _mercer.is_free_text(self.n_strings, n_distinct, self.n_tokens, self.length)


@dataclass
class Scan:
    """What the first pass finds out about some rows."""

    rows: int = 0
    weight: float = 0.0
    missing_labels: int = 0
    classes: dict[Any, float] = field(default_factory=dict)
    """The weight of each class, in a classification."""
    mean: float = 0.0
    squares: float = 0.0
    """The mean and the centered squares of a regression target."""
    width: int = 0
    peeked: int = 0
    stored: int = 0
    """The length of the vectors, and of some of them the number of elements and of those that are stored."""
    strings: dict[str, Strings] = field(default_factory=dict)
    parts: dict[int, int] = field(default_factory=dict)
    """The number of rows of each partition."""

    def observe(self, table: pa.Table, columns: arrow.Input, regression: bool) -> None:
        """Adds rows."""
        n = table.num_rows
        self.rows += n
        weights = arrow.weights(table, columns)
        self.weight += float(n if weights is None else weights.sum())
        label = arrow.whole(table.column(columns.label))
        if regression:
            self._observe_target(arrow.numbers(label, columns.label), weights)
        else:
            self._observe_classes(arrow.label_values(label), weights)
        for column in columns.fields:
            if column.kind in ("string", "categories"):
                strings = self.strings.setdefault(column.name, Strings())
                strings.observe(arrow.whole(table.column(column.name)))

    def _observe_target(self, values: np.ndarray, weights: np.ndarray | None) -> None:
        present = np.isfinite(values)
        self.missing_labels += int(len(values) - present.sum())
        values = values[present]
        each = np.ones(len(values)) if weights is None else weights[present]
        total = float(each.sum())
        if total > 0:
            mean = float((each * values).sum() / total)
            squares = float((each * (values - mean) ** 2).sum())
            self._add_target(total, mean, squares, self.weight - total)

    def _add_target(self, total: float, mean: float, squares: float, before: float) -> None:
        delta, n = mean - self.mean, before + total
        self.squares += squares + delta * delta * before * total / n
        self.mean += delta * total / n

    def _observe_classes(self, values: pa.Array, weights: np.ndarray | None) -> None:
        self.missing_labels += values.null_count
        encoded = pc.dictionary_encode(values)
        codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        totals = np.bincount(codes + 1, weights, len(encoded.dictionary) + 1)[1:]
        for value, total in zip(encoded.dictionary.to_pylist(), totals.tolist(), strict=True):
            self.classes[value] = self.classes.get(value, 0.0) + total
        if len(self.classes) > MAX_CLASSES:
            raise ValueError(
                f"labelCol has more than {MAX_CLASSES} distinct values, too many for classes; choose a"
                " regressor, or group rare labels"
            )

    def peek(self, vectors: list[Any]) -> None:
        """Takes the length of the vectors, and whether they are sparse, from the first of them."""
        for vector in vectors:
            if vector is not None:
                self.width = len(vector)
                self.peeked += len(vector)
                self.stored += len(getattr(vector, "indices", vector))

    def merge(self, other: Scan) -> None:
        """Adds the scan of other rows."""
        self.parts.update(other.parts)
        if other.rows == 0:
            return
        if other.weight > 0:
            self._add_target(other.weight, other.mean, other.squares, self.weight)
        self.rows += other.rows
        self.weight += other.weight
        self.missing_labels += other.missing_labels
        for value, total in other.classes.items():
            self.classes[value] = self.classes.get(value, 0.0) + total
        for name, strings in other.strings.items():
            self.strings.setdefault(name, Strings()).merge(strings)

    def to_bytes(self) -> bytes:
        state = {**vars(self), "classes": list(self.classes.items())}
        state["parts"] = list(self.parts.items())
        state["strings"] = {name: vars(strings) for name, strings in self.strings.items()}
        return json.dumps(state).encode()

    @staticmethod
    def from_bytes(state: bytes) -> Scan:
        fields = json.loads(state)
        fields["classes"] = {value: total for value, total in fields["classes"]}
        fields["parts"] = {part: rows for part, rows in fields["parts"]}
        fields["strings"] = {name: Strings(**part) for name, part in fields["strings"].items()}
        return Scan(**fields)

    @property
    def is_sparse(self) -> bool:
        return self.stored <= MAX_SPARSE_FRACTION * self.peeked

    @property
    def deviation(self) -> float:
        """The standard deviation of a regression target."""
        return float(np.sqrt(self.squares / self.weight))


def worker(columns: arrow.Input, regression: bool) -> Callable[..., Iterator[pa.RecordBatch]]:
    """The function that scans a partition."""

    def scan_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context else 0
        scan = Scan()
        scan.parts[part] = 0
        for batch in batches:
            if batch.num_rows:
                scan.observe(pa.Table.from_batches([batch]), columns, regression)
        scan.parts[part] = scan.rows
        yield state_batch(part, scan)

    return scan_partition


def state_batch(part: int, scan: Scan) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"part": [part], "rows": [scan.rows], "state": [scan.to_bytes()]},
        pa.schema([("part", pa.int64()), ("rows", pa.int64()), ("state", pa.binary())]),
    )


def merge_group(table: pa.Table) -> pa.Table:
    """Merges the scans of some partitions, in their order."""
    table = table.sort_by("part")
    total = Scan()
    for state in table.column("state").to_pylist():
        total.merge(Scan.from_bytes(state))
    return pa.Table.from_batches([state_batch(table.column("part")[0].as_py(), total)])
