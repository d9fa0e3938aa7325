"""A CSV file to a matrix of features, types inferred: against pandas, polars and duckdb; and training
from it in bounded memory."""

import benchmark
from benchmark import Cell, Implementation, python

TIMED = """
import json, sys, time
import numpy as np
import {module}
path = sys.argv[1]
start = time.perf_counter()
{body}
print(json.dumps({{"seconds": time.perf_counter() - start, "sum": float(x.sum())}}))
"""
PANDAS = """frame = pandas.read_csv(path)
x = frame.drop(columns="y").to_numpy()"""
POLARS = """frame = polars.read_csv(path)
x = frame.drop("y").to_numpy()"""
DUCKDB = """duckdb.sql("set threads to 2")
duckdb.sql("set enable_progress_bar to false")
frame = duckdb.read_csv(path).fetchnumpy()
x = np.column_stack([frame[name] for name in frame if name != "y"])"""

TRAIN = """
import json, subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.argv[1], "train", sys.argv[2], "--target", "y", "--quiet", "--no-report",
                "--out", sys.argv[3]], check=True, stdout=subprocess.DEVNULL)
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
TRAIN_PEER = """
import json, sys, time
start = time.perf_counter()
import polars as pl
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
frame = pl.read_csv(sys.argv[1])
x, y = frame.drop("y").to_numpy(), frame["y"].to_numpy()
model = GaussianNB().fit(x, y)
cross_val_predict(GaussianNB(), x, y, cv=10, method="predict_proba")
print(json.dumps({"seconds": time.perf_counter() - start}))
"""


def make(path, n):
    import numpy as np

    if path.exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    random = np.random.default_rng(1)
    with open(path, "w") as out:
        out.write(",".join(f"x{j}" for j in range(20)) + ",y\n")
        for start in range(0, n, 50_000):
            rows = random.normal(size=(min(50_000, n - start), 20)) * 100
            labels = random.integers(0, 3, len(rows))
            out.writelines(
                ",".join(f"{v:.5f}" for v in row) + f",{'abc'[label]}\n"
                for row, label in zip(rows, labels, strict=True)
            )


def same_sum(answers):
    sums = [a["sum"] for a in answers.values()]
    assert max(sums) - min(sums) <= 1e-6 * max(map(abs, sums)), answers


def cells(quick):
    n = 50_000 if quick else 2_600_000
    path = benchmark.DATA / f"numbers-{n}.csv"
    release = benchmark.BENCH.parent / "target/release"
    peers = [("pandas", PANDAS), ("polars", POLARS), ("duckdb", DUCKDB)]
    yield Cell(
        "csv-read",
        f"CSV of {n} x 21 to features, types inferred",
        [Implementation("mercer", [release / "examples/to_features", path, "y"], ours=True)]
        + [
            Implementation(name, python(TIMED.format(module=name, body=body), path))
            for name, body in peers
        ],
        prepare=lambda: make(path, n),
        check=same_sum,
    )
    model = benchmark.DATA / "model.mercer"
    yield Cell(
        "csv-train",
        f"CSV of {n} x 21 to a Gaussian NB with 10-fold cross-validation, whole process",
        [
            Implementation("mercer", python(TRAIN, release / "mercer", path, model), ours=True),
            Implementation("polars + scikit-learn", python(TRAIN_PEER, path)),
        ],
        prepare=lambda: make(path, n),
    )
