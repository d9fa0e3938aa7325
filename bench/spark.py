"""Mercer and MLlib side by side in one Spark session, on generated rows: seconds, objectives, growth.

    make .venv-spark/.ready module                       # or install the wheel into an environment with pyspark
    PYTHONPATH=crates/mercer-python/python .venv-spark/bin/python bench/spark.py --rows 1000000 --out spark.json

Both read the same cached data frame of vectors. A fit is measured twice; the second is reported, when the JVM is warm and
the Python workers run. Objectives are evaluated by the same code for both: the mean loss plus MLlib's penalty.
"""

import argparse
import json
import os
import sys
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import numpy as np
from pyspark.ml import classification as mllib_classification
from pyspark.ml import regression as mllib_regression
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from mercer.spark import classification, regression

COLUMNS = 20
GROWTH = (1, 2, 4, 8)


def session(master):
    spark = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def frame(spark, n_rows, parts):
    """Gaussian columns of unequal scale, a class with noise, a regression target."""
    cells = [F.randn(seed=j) * (1.0 + j % 5) + float(j % 3) for j in range(COLUMNS)]
    table = spark.range(0, n_rows, 1, parts).withColumn("cells", F.array(*cells))
    score = sum(F.col("cells")[j] * ((-1.0) ** j / (j + 2)) for j in range(COLUMNS))
    table = table.withColumn("target", score + F.randn(seed=99))
    table = table.withColumn("label", (F.col("target") > 0.3).cast("double"))
    table = table.withColumn("features", array_to_vector("cells")).select(
        "features", "label", "target"
    )
    table = table.cache()
    table.count()
    return table


def sample(table, n=200_000):
    rows = table.limit(n).select("features", "label", "target").toPandas()
    x = np.stack([v.toArray() for v in rows["features"]])
    return x, rows["label"].to_numpy(), rows["target"].to_numpy()


def mean_loss(kind, model, x, label, target):
    """The objective of MLlib's estimator without its penalty, on a sample of the rows."""
    w, b = model.coefficients.toArray(), model.intercept
    z = x @ w + b
    sign = 2 * label - 1
    if kind == "LogisticRegression":
        return float(np.logaddexp(0, -sign * z).mean())
    if kind == "LinearSVC":
        return float(np.maximum(0, 1 - sign * z).mean())
    return float(0.5 * ((z - target) ** 2).mean())


def estimators():
    """Name, Mercer's estimator, MLlib's estimator and the penalty."""
    reg = 0.01
    nb = {"modelType": "gaussian"}
    linear = {"regParam": reg, "labelCol": "target"}
    return [
        ("NaiveBayes", classification.NaiveBayes(**nb), mllib_classification.NaiveBayes(**nb), 0.0),
        (
            "LogisticRegression",
            classification.LogisticRegression(regParam=reg),
            mllib_classification.LogisticRegression(regParam=reg),
            reg,
        ),
        (
            "LinearSVC",
            classification.LinearSVC(regParam=reg),
            mllib_classification.LinearSVC(regParam=reg),
            reg,
        ),
        (
            "LinearRegression",
            regression.LinearRegression(**linear),
            mllib_regression.LinearRegression(**linear),
            reg,
        ),
    ]


def fit_seconds(estimator, table):
    """The seconds of two fits, and the model."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model = estimator.fit(table)
        seconds.append(time.perf_counter() - start)
    return seconds, model


def compare(table, n_rows):
    x, label, target = sample(table)
    deviations = x.std(axis=0, ddof=1)
    results = []
    for name, ours, theirs, reg in estimators():
        (first, mercer), (mllib_first, mllib) = fit_seconds(ours, table), fit_seconds(theirs, table)
        row = {
            "estimator": name,
            "rows": n_rows,
            "mercer_first": first[0],
            "mercer": first[1],
            "mllib_first": mllib_first[0],
            "mllib": mllib_first[1],
            "ratio": mllib_first[1] / first[1],
        }
        if reg:
            scale = target.std(ddof=1) if name == "LinearRegression" else 1.0
            for who, model in (("mercer", mercer), ("mllib", mllib)):
                penalty = (
                    0.5 * reg / scale * ((model.coefficients.toArray() * deviations) ** 2).sum()
                )
                row[f"{who}_objective"] = mean_loss(name, model, x, label, target) + penalty
        predicted = [
            float((m.transform(table).where("prediction = label").count()) / n_rows)
            for m in (mercer, mllib)
            if name != "LinearRegression"
        ]
        if predicted:
            row["mercer_accuracy"], row["mllib_accuracy"] = predicted
        results.append(row)
        print(json.dumps(row), flush=True)
    return results


def growth(spark, n_rows, parts):
    """Seconds of Mercer for 1, 2, 4 and 8 times the rows, and their ratio to linear growth."""
    results = []
    for factor in GROWTH:
        table = frame(spark, n_rows * factor, parts)
        for name, ours, _, _ in estimators():
            seconds, _ = fit_seconds(ours, table)
            row = {"estimator": name, "rows": n_rows * factor, "seconds": seconds[1]}
            results.append(row)
            print(json.dumps(row), flush=True)
        table.unpersist()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--growth-rows", type=int, default=0, help="rows of the smallest table; 0 skips"
    )
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    spark = session(arguments.master)
    table = frame(spark, arguments.rows, arguments.parts)
    results = {"rows": compare(table, arguments.rows), "load": os.getloadavg()}
    table.unpersist()
    if arguments.growth_rows:
        results["growth"] = growth(spark, arguments.growth_rows, arguments.parts)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(results, file, indent=1)
    spark.stop()


if __name__ == "__main__":
    main()
