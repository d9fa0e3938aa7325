"""Linear and quadratic discriminant analysis: fit and predict, against scikit-learn's best solver.

Letters and digits where their files are there; rows of the same shape are made where they are not.
"""

import benchmark
from benchmark import SHARED, Cell, Implementation, python

PEER = """
import json, sys, time, numpy as np
from {module} import {name}
n, d, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
x = np.fromfile(path + ".x").reshape(n, d)
y = np.fromfile(path + ".y", dtype=np.int64)
x.sum()
times = {{"fit": [], "predict": []}}
for _ in range({repeat}):
    start = time.perf_counter(); model = {name}(**{params}).fit(x, y); middle = time.perf_counter()
    label = model.predict(x); end = time.perf_counter()
    times["fit"].append(middle - start); times["predict"].append(end - middle)
print(json.dumps({{"fit": min(times["fit"]), "predict": min(times["predict"]),
                  "accuracy": float((label == y).mean())}}))
"""


def made(n, d, n_classes):
    """Correlated integer features, many of them zero."""
    import numpy as np

    random = np.random.default_rng(1)
    y = random.integers(0, n_classes, n)
    mix = random.normal(size=(d, d)) / np.sqrt(d) + np.eye(d)
    x = random.normal(size=(n, d)) @ mix + random.normal(size=(n_classes, d))[y] * 0.5
    return np.maximum(np.round(4 * x), 0), y


def letter():
    import numpy as np

    rows = np.loadtxt(SHARED / "letter" / "train.csv", delimiter=",", skiprows=1, dtype=str)
    return rows[:, 1:].astype(float), np.unique(rows[:, 0], return_inverse=True)[1]


def mnist():
    import numpy as np

    with np.load(SHARED / "mnist" / "mnist.npz") as file:
        return file["X_train"].reshape(-1, 784) / 255, file["y_train"].astype(int)


def make(path, n, d, n_classes, read):
    if path.with_suffix(".x").exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    x, y = read() if SHARED.exists() and read else made(n, d, n_classes)
    x[:n].astype(float).tofile(path.with_suffix(".x"))
    y[:n].astype(int).tofile(path.with_suffix(".y"))


def same_accuracy(answers):
    accuracies = [a["accuracy"] for a in answers.values()]
    # The two implementations truncate nearly singular directions at slightly different thresholds.
    assert max(accuracies) - min(accuracies) < 5e-3, answers


def cells(quick):
    sets = [("letter", 15_000, 16, 26, letter), ("mnist", 60_000, 784, 10, mnist)]
    if quick:
        sets = [("small", 5_000, 30, 5, None)]
    rules = [
        ("lda", "LinearDiscriminantAnalysis", {}, [{"solver": "svd"}, {"solver": "lsqr"}]),
        ("qda", "QuadraticDiscriminantAnalysis", {"reg_param": 0.1}, [{"reg_param": 0.1}]),
    ]
    for name, n, d, n_classes, read in sets:
        path = benchmark.DATA / f"discriminants-{name}"
        for rule, class_name, ours, theirs in rules:
            # Millisecond fits need many repetitions for a stable minimum.
            repeat = 2 if d > 100 else 30

            def run(module, params, class_name=class_name, repeat=repeat, n=n, d=d, path=path):
                code = PEER.format(module=module, name=class_name, params=params, repeat=repeat)
                return python(code, n, d, path)

            implementations = [
                Implementation("mercer", run("mercer.discriminant_analysis", ours), True)
            ]
            for params in theirs:
                words = " ".join(str(v) for k, v in params.items() if k == "solver")
                implementations.append(
                    Implementation(
                        f"scikit-learn {words}".strip(),
                        run("sklearn.discriminant_analysis", params),
                    )
                )
            yield Cell(
                f"{rule}-{name}",
                f"{class_name}, {name}: {n} x {d}, {n_classes} classes",
                implementations,
                stages=("fit", "predict"),
                prepare=lambda path=path, n=n, d=d, k=n_classes, read=read: make(
                    path, n, d, k, read
                ),
                check=same_accuracy,
            )
