"""Gaussian naive Bayes on a dense matrix: fit and predict, against scikit-learn and linfa."""

import benchmark
from benchmark import Cell, Implementation, python

PEER = """
import json, sys, time, numpy as np
from {module} import GaussianNB
n, d, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
x = np.fromfile(path + ".x").reshape(n, d)
y = np.fromfile(path + ".y", dtype=np.int64)
x.sum()
times = {{"fit": [], "predict": []}}
for _ in range(3):
    start = time.perf_counter(); model = GaussianNB().fit(x, y); middle = time.perf_counter()
    label = model.predict(x); end = time.perf_counter()
    times["fit"].append(middle - start); times["predict"].append(end - middle)
print(json.dumps({{"fit": min(times["fit"]), "predict": min(times["predict"]),
                  "accuracy": float((label == y).mean())}}))
"""


def make(path, n, d, n_classes):
    import numpy as np

    if path.with_suffix(".x").exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    y = random.integers(0, n_classes, n)
    centers = random.normal(size=(n_classes, d)) * 0.2
    with open(path.with_suffix(".x"), "wb") as out:
        for start in range(0, n, 100_000):
            rows = y[start : start + 100_000]
            (random.normal(size=(len(rows), d)) + centers[rows]).tofile(out)
    y.astype(np.int64).tofile(path.with_suffix(".y"))


def same_accuracy(answers):
    accuracies = [a["accuracy"] for a in answers.values()]
    assert max(accuracies) - min(accuracies) < 1e-4, answers


def cells(quick):
    n, d = (50_000, 20) if quick else (1_000_000, 100)
    linfa = benchmark.BENCH / "peers/linfa/target/release/linfa-peer"
    for n_classes in (2, 10):
        path = benchmark.DATA / f"nb-{n}-{d}-{n_classes}"
        args = [n, d, path]
        implementations = [
            ("mercer", python(PEER.format(module="mercer.naive_bayes"), *args), True),
            ("scikit-learn", python(PEER.format(module="sklearn.naive_bayes"), *args), False),
            ("linfa", [linfa, *args], False),
        ]
        yield Cell(
            f"gaussian-nb-{n_classes}",
            f"GaussianNB, {n} x {d} dense, {n_classes} classes",
            [Implementation(name, command, ours) for name, command, ours in implementations],
            stages=("fit", "predict"),
            prepare=lambda path=path, k=n_classes: make(path, n, d, k),
            check=same_accuracy,
        )
