"""A Spark session for all tests: `local[2]`, or the master in MERCER_SPARK_MASTER."""

import os
import sys
import tempfile

import numpy as np
import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    remote = os.environ.get("MERCER_SPARK_REMOTE")
    if remote:
        session = SparkSession.builder.remote(remote).getOrCreate()
    else:
        master = os.environ.get("MERCER_SPARK_MASTER", "local[2]")
        session = (
            SparkSession.builder.master(master)
            .appName("mercer")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.executor.memory", "1g")
            .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
            .config("spark.local.dir", tempfile.gettempdir())
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def blobs():
    """Three classes in five columns, badly scaled, with weights."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 1500)
    x = rng.normal(size=(1500, 5)) + y[:, None] * np.array([1.0, -0.5, 0.3, 0.0, 0.7])
    x = x * np.array([1.0, 10.0, 0.1, 3.0, 1.0]) + np.array([0.0, 100.0, 0.0, -5.0, 2.0])
    return x, y.astype(float), rng.integers(1, 4, 1500).astype(float)


@pytest.fixture(scope="session")
def vectors(spark):
    """Makes a data frame of features, label and weight, in a number of partitions that keeps the order of the rows."""
    import pyarrow as pa
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    def make(x, y, weight=None, parts=4):
        columns = {
            "row": np.arange(len(y)),
            "cells": pa.array(list(np.asarray(x, dtype=float))),
            "label": pa.array(y),
        }
        if weight is not None:
            columns["weight"] = weight
        frame = spark.createDataFrame(pa.table(columns))
        frame = frame.repartitionByRange(parts, "row").sortWithinPartitions("row")
        return frame.withColumn("features", array_to_vector(F.col("cells"))).cache()

    return make
