"""Passes over a data frame: every partition observes its rows, and the sums are merged in the order of partitions.

A pass is ``mapInArrow`` with one row of sums per partition. Sums of more than :data:`MAX_COLLECTED` partitions are
first merged by ``groupBy(...).applyInArrow`` in groups of :data:`MERGED`, along the same tree of partitions, so that
the result depends on the partitions only, not on executors or on which task ends first.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from mercer import _mercer

from . import arrow, scan

logger = logging.getLogger("mercer.spark")

# The first vectors, whose length all must have.
PEEKED = 100
# Sums of at most this many partitions are merged on the driver.
MAX_COLLECTED = 64
# The number of partitions that one task merges; a power of two, as the subtrees are.
MERGED = 32

STATE = pa.schema([("part", pa.int64()), ("rows", pa.int64()), ("state", pa.binary())])
BLOCK = pa.schema(
    [
        ("part", pa.int64()),
        ("block", pa.int64()),
        ("rows", pa.int64()),
        ("x", pa.binary()),
        ("indices", pa.binary()),
        ("offsets", pa.binary()),
        ("y", pa.binary()),
        ("w", pa.binary()),
    ]
)
FOLD = pa.schema([*STATE, ("fold", pa.int64())])
FOLD_TYPES = "part long, rows long, state binary, fold long"
STATE_TYPES = "part long, rows long, state binary"
BLOCK_TYPES = (
    "part long, block long, rows long, x binary, indices binary, offsets binary, y binary, w binary"
)


def partition_id() -> int:
    """The number of the partition of this task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0


def use_task_threads() -> None:
    """As many threads as the task has cores."""
    from pyspark import TaskContext

    context = TaskContext.get()
    _mercer.set_threads(max(1, context.cpus() if context else 1))


@lru_cache(maxsize=4)
def fit_of(description: bytes) -> Any:
    """The fit of its description, read once per process."""
    return _mercer.PartitionedFit.from_bytes(description)


def state_batch(part: int, rows: int, state: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"part": [part], "rows": [rows], "state": [state]}, STATE)


def check_whole(rows: Any, weights: np.ndarray | None) -> None:
    """Refuses values whose sums depend on their order."""
    cells = rows[0] if isinstance(rows, tuple) else rows
    if not arrow.are_whole(cells[~np.isnan(cells)]):
        raise ValueError(
            "exactSums=True needs counts: a feature has a value that is not a whole number, whose sums"
            " depend on the order of the rows; set exactSums=False"
        )
    if weights is not None and not arrow.are_whole(weights):
        raise ValueError("exactSums=True needs weights that are whole numbers; set exactSums=False")


def observe_raw(
    description: bytes, columns: arrow.Input, first_rows: dict[int, int]
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Observes rows as they are read: for preprocessing, and for the sample of a kernel map."""

    def observe_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_task_threads()
        part, fit = partition_id(), fit_of(description)
        observer = fit.observer(first_rows.get(part, 0))
        n_rows = 0
        for table in arrow.regroup(batches, fit.group_rows):
            rows, target = arrow.rows(table, columns), arrow.target(table, columns)
            observer.observe(rows, target, arrow.weights(table, columns))
            n_rows += table.num_rows
        state = observer.finish()
        if state is not None:
            yield state_batch(part, n_rows, state)

    return observe_partition


def observe_statistics(
    description: bytes, columns: arrow.Input, exact: bool
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Encodes rows and observes their sufficient statistics."""

    def observe_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_task_threads()
        part, fit = partition_id(), fit_of(description)
        observer, n_rows = fit.observer(), 0
        for table in arrow.regroup(batches, fit.group_rows):
            rows = fit.encode(arrow.rows(table, columns))
            weights = arrow.weights(table, columns)
            if exact:
                check_whole(rows, weights)
            observer.observe(rows, arrow.target(table, columns), weights)
            n_rows += table.num_rows
        state = observer.finish()
        if state is not None:
            yield state_batch(part, n_rows, state)

    return observe_partition


def encode_blocks(
    description: bytes, columns: arrow.Input
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Encodes rows into blocks of bytes, which the rounds read without conversion."""

    def encode_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_task_threads()
        part, fit = partition_id(), fit_of(description)
        for block, table in enumerate(arrow.regroup(batches, fit.group_rows)):
            rows = fit.encode(arrow.rows(table, columns))
            weights = arrow.weights(table, columns)
            x, indices, offsets = rows[:3] if isinstance(rows, tuple) else (rows, None, None)
            yield pa.RecordBatch.from_pydict(
                {
                    "part": [part],
                    "block": [block],
                    "rows": [table.num_rows],
                    "x": [np.ascontiguousarray(x).data.cast("B")],
                    "indices": [None if indices is None else indices.tobytes()],
                    "offsets": [None if offsets is None else offsets.tobytes()],
                    "y": [arrow.target(table, columns).tobytes()],
                    "w": [None if weights is None else weights.tobytes()],
                },
                BLOCK,
            )

    return encode_partition


def read_blocks(
    batches: Iterator[pa.RecordBatch], n_features: int, regression: bool
) -> Iterator[tuple[int, int, Any, np.ndarray, np.ndarray | None]]:
    """The partition, the number of rows, the rows, the target and the weights of every block."""

    def array(batch: pa.RecordBatch, name: str, i: int, kind: Any) -> np.ndarray | None:
        value = batch.column(name)[i]
        return np.frombuffer(value.as_buffer(), kind) if value.is_valid else None

    for batch in batches:
        for i in range(batch.num_rows):
            n = batch.column("rows")[i].as_py()
            x: Any = array(batch, "x", i, np.float64)
            indices = array(batch, "indices", i, np.int32)
            if indices is None:
                x = x.reshape(n, n_features)
            else:
                x = (x, indices, array(batch, "offsets", i, np.int64), n_features)
            y = array(batch, "y", i, np.float64 if regression else np.uint32)
            assert y is not None
            yield batch.column("part")[i].as_py(), n, x, y, array(batch, "w", i, np.float64)


def observe_round(
    description: bytes, point: bytes | None, regression: bool
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Observes encoded blocks at the point of a round."""

    def observe_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_task_threads()
        fit = fit_of(description)
        observer, part, n_rows = fit.observer(0, point), 0, 0
        for part, n, rows, target, weights in read_blocks(batches, fit.n_features, regression):  # noqa: B007
            observer.observe(rows, target, weights)
            n_rows += n
        state = observer.finish()
        if state is not None:
            yield state_batch(part, n_rows, state)

    return observe_partition


def observe_folds(
    description: bytes, columns: arrow.Input, fold: str, n_folds: int
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Observes the sufficient statistics of every fold, one row of sums per partition and fold."""

    def observe_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_task_threads()
        part, fit = partition_id(), fit_of(description)
        observers = [fit.observer() for _ in range(n_folds)]
        n_rows = [0] * n_folds
        for table in arrow.regroup(batches, fit.group_rows):
            folds = arrow.whole(table.column(fold)).to_numpy(zero_copy_only=False)
            for k, observer in enumerate(observers):
                rows = table.filter(pa.array(folds == k))
                if rows.num_rows:
                    features = fit.encode(arrow.rows(rows, columns))
                    target, weights = arrow.target(rows, columns), arrow.weights(rows, columns)
                    observer.observe(features, target, weights)
                    n_rows[k] += rows.num_rows
        for k, observer in enumerate(observers):
            state = observer.finish()
            if state is not None:
                batch = state_batch(part, n_rows[k], state)
                yield pa.RecordBatch.from_arrays(
                    [*batch.columns, pa.array([k], pa.int64())], schema=FOLD
                )

    return observe_partition


def merge_group(description: bytes) -> Callable[[pa.Table], pa.Table]:
    """Merges the sums of some partitions, in their order."""

    def merge(table: pa.Table) -> pa.Table:
        table = table.sort_by("part")
        merged = fit_of(description).merge(table.column("state").to_pylist())
        part = table.column("part")[0].as_py() // MERGED
        n_rows = sum(table.column("rows").to_pylist())
        return pa.Table.from_batches([state_batch(part, n_rows, merged)])

    return merge


def group_of_parts() -> Any:
    """The column that groups neighboring partitions."""
    from pyspark.sql import functions

    return functions.floor(functions.col("part") / MERGED).alias("group")


class Passes:
    """Passes over the rows of a data frame with a known number of partitions."""

    def __init__(self, dataset: Any, columns: arrow.Input, regression: bool) -> None:
        self.dataset = dataset.select(*columns.columns)
        self.columns = columns
        self.regression = regression
        self.n_parts = 1
        self.first_rows: dict[int, int] = {}

    def scan(self) -> scan.Scan:
        """The first pass."""
        observe = scan.worker(self.columns, self.regression)
        strings = [f.name for f in self.columns.fields if f.kind in ("string", "categories")]
        # Vectors and numbers need not travel for this.
        names = [name for name in (self.columns.label, self.columns.weight, *strings) if name]
        states = self.dataset.select(*names).mapInArrow(observe, scan.SCHEMA)
        if strings:
            # Distinct strings of many partitions could be too many for the driver.
            states = states.groupBy(group_of_parts()).applyInArrow(scan.merge_group, scan.SCHEMA)
        total, first_row = scan.Scan(), 0
        for row in sorted(states.collect(), key=lambda row: row["part"]):
            total.merge(scan.Scan.from_bytes(bytes(row["state"])))
        for part, n_rows in sorted(total.parts.items()):
            self.first_rows[part] = first_row
            first_row += n_rows
        self.n_parts = 1 + max(self.first_rows, default=0)
        if self.columns.features:
            vectors = self.dataset.select(self.columns.features).limit(PEEKED).collect()
            total.peek([row[0] for row in vectors])
        return total

    def merged(self, fit: Any, states: Any) -> bytes:
        """The merged sums of all partitions."""
        n_parts, description = self.n_parts, fit.of_encoded_rows().to_bytes()
        while n_parts > MAX_COLLECTED:
            merge = merge_group(description)
            states = states.groupBy(group_of_parts()).applyInArrow(merge, STATE_TYPES)
            n_parts = -(-n_parts // MERGED)
        rows = sorted(states.collect(), key=lambda row: row["part"])
        sums = fit.merge([bytes(row["state"]) for row in rows])
        if sums is None:
            raise ValueError("found no rows; the data frame is empty")
        return sums

    def prepare(self, fit: Any) -> Any:
        """Fits the preprocessing and the kernel map, one pass each, where they depend on the rows."""
        while fit.stage != "fit":
            start = time.monotonic()
            observe = observe_raw(fit.to_bytes(), self.columns, self.first_rows)
            states = self.dataset.mapInArrow(observe, STATE_TYPES)
            stage, fit = fit.stage, fit.advance(self.merged(fit, states))
            logger.info("%s fitted in %.2f s", stage, time.monotonic() - start)
        return fit

    def statistics(self, fit: Any, exact: bool) -> bytes:
        """The sufficient statistics of all rows."""
        start = time.monotonic()
        observe = observe_statistics(fit.to_bytes(), self.columns, exact)
        sums = self.merged(fit, self.dataset.mapInArrow(observe, STATE_TYPES))
        logger.info(
            "statistics of %d partitions, %d bytes, in %.2f s",
            self.n_parts,
            len(sums),
            time.monotonic() - start,
        )
        return sums

    def fold_statistics(self, fit: Any, dataset: Any, fold: str, n_folds: int) -> list[bytes]:
        """The sufficient statistics of every fold, in one pass."""
        columns = [*self.columns.columns, fold]
        observe = observe_folds(fit.to_bytes(), self.columns, fold, n_folds)
        states = dataset.select(*columns).mapInArrow(observe, FOLD_TYPES)
        rows = sorted(states.collect(), key=lambda row: row["part"])
        sums = []
        for k in range(n_folds):
            merged = fit.merge([bytes(row["state"]) for row in rows if row["fold"] == k])
            if merged is None:
                raise ValueError(f"fold {k} has no rows; use fewer folds")
            sums.append(merged)
        return sums

    def blocks(self, fit: Any) -> Any:
        """The encoded rows, kept by Spark for the rounds; to be released by ``unpersist``."""
        return self.dataset.mapInArrow(
            encode_blocks(fit.to_bytes(), self.columns), BLOCK_TYPES
        ).persist()

    def rounds(self, fit: Any, blocks: Any, time_limit: float | None) -> Any:
        """Fits by rounds: one pass over the blocks each."""
        rounds, start, n_rounds = fit.rounds(), time.monotonic(), 0
        description = fit.of_encoded_rows().to_bytes()
        while True:
            observe = observe_round(description, rounds.point(), self.regression)
            sums = self.merged(fit, blocks.mapInArrow(observe, STATE_TYPES))
            more = rounds.step(sums)
            n_rounds += 1
            seconds = time.monotonic() - start
            report(n_rounds, rounds.progress(), len(sums), seconds)
            if not more:
                return rounds.finish()
            # Before the first evaluation there is no model to return.
            evaluated = rounds.progress() is not None
            if time_limit is not None and seconds >= time_limit and evaluated:
                logger.warning(
                    "the time limit of %g s ended the fit after %d rounds", time_limit, n_rounds
                )
                return rounds.finish(stopped=True)


def report(n_rounds: int, progress: dict[str, Any] | None, n_bytes: int, seconds: float) -> None:
    """One line of the log per round."""
    if progress is None:
        logger.info("round %d: %d bytes of sums, %.2f s", n_rounds, n_bytes, seconds)
        return
    gap = progress["duality_gap"]
    logger.info(
        "round %d: objective %.10g, %s, largest gradient entry %.2e, %d bytes of sums, %.2f s",
        n_rounds,
        progress["objective"],
        "no duality gap without a penalty" if gap is None else f"duality gap {gap:.2e}",
        progress["violation"],
        n_bytes,
        seconds,
    )
