"""Kernel approximation, kernel ridge regression and kernel PCA, against scikit-learn.

Kernel approximation: 1,000 features of the 60,000 x 784 pixels of MNIST (random rows of that shape if the file is missing),
in single and double precision. Kernel ridge: 20,000 rows, Gaussian kernel. Kernel PCA: the first 50 components of 10,000
rows; scikit-learn uses its randomized solver, which is its fastest and less accurate.
"""

import benchmark
from benchmark import Cell, Implementation, python

from cells.logistic import digits

MAP = """
import json, sys, time, numpy as np
from {module}.kernel_approximation import {name}
x = np.load(sys.argv[1])["x"].astype({dtype!r})
start = time.perf_counter(); model = {make}.fit(x); middle = time.perf_counter()
new = model.transform(x); end = time.perf_counter()
some = x[:200].astype(float)
squares = (some**2).sum(1)
exact = np.exp(-0.02 * (squares[:, None] + squares - 2 * some @ some.T))
error = float(np.sqrt(np.mean((new[:200].astype(float) @ new[:200].T.astype(float) - exact) ** 2)))
print(json.dumps({{"fit": middle - start, "transform": end - middle, "error": error}}))
"""

RIDGE = """
import json, sys, time, numpy as np
from {module}.kernel_ridge import KernelRidge
data = np.load(sys.argv[1])
x, y = data["x"], data["y"]
model = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.05)
start = time.perf_counter(); model.fit(x, y); middle = time.perf_counter()
predicted = model.predict(x[:5000]); end = time.perf_counter()
error = float(np.sqrt(np.mean((predicted - y[:5000]) ** 2)))
print(json.dumps({{"fit": middle - start, "predict": end - middle, "error": error}}))
"""

COMPONENTS = """
import json, sys, time, numpy as np
from {module}.decomposition import KernelPCA
x = np.load(sys.argv[1])["x"]
model = KernelPCA(n_components=50, kernel="rbf", gamma=0.05{more})
start = time.perf_counter(); model.fit(x); middle = time.perf_counter()
model.transform(x); end = time.perf_counter()
kept = float(model.eigenvalues_.sum())
print(json.dumps({{"fit": middle - start, "transform": end - middle, "kept": kept}}))
"""


def make(path, n, width):
    import numpy as np

    if path.exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    random = np.random.default_rng(9)
    centers = random.normal(size=(20, width))
    x = centers[random.integers(0, 20, n)] + 0.7 * random.normal(size=(n, width))
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] / 4 + 0.1 * random.normal(size=n)
    np.savez(path, x=x, y=y)


def pixels(path, n):
    import numpy as np

    if not path.exists():
        benchmark.DATA.mkdir(exist_ok=True)
        np.savez(path, x=digits(n)[0])


def close(name, tolerance):
    def check(answers):
        found = [a[name] for a in answers.values()]
        assert max(found) <= (1 + tolerance) * min(found), answers

    return check


def pair(code, path, ours=None, **more):
    """Mercer and scikit-learn with the same parameters, or with `ours` for Mercer."""
    mine = {**more, "more": "", **(ours or {})}
    return [
        Implementation("mercer", python(code.format(module="mercer", **mine), path), True),
        Implementation("scikit-learn", python(code.format(module="sklearn", **more), path)),
    ]


def cells(quick):
    ending = "-quick" if quick else ""
    n, m = (2_000, 100) if quick else (60_000, 1_000)
    path = benchmark.DATA / f"kernel-maps-digits{ending}.npz"
    for name, kind, option in [
        ("RBFSampler", "", ""),
        ("RBFSampler", "-structured", ', directions="structured"'),
        ("Nystroem", "", ""),
    ]:
        for dtype in ("float64", "float32"):
            made = f"{name}(gamma=0.02, n_components={m}, random_state=0"
            ours = {"make": f"{made}{option})"}
            yield Cell(
                f"{name.lower()}{kind}-{dtype}",
                f"{name} of {n:,} x 784 to {m} features, {dtype}{kind.replace('-', ', Mercer with directions=')}",
                pair(MAP, path, ours, name=name, make=f"{made})", dtype=dtype),
                stages=("fit", "transform"),
                prepare=lambda path=path, n=n: pixels(path, n),
                # Both draw their own frequencies and landmarks.
                check=close("error", 0.5),
            )
    n = 1_000 if quick else 20_000
    ridge = benchmark.DATA / f"kernel-ridge{ending}.npz"
    yield Cell(
        "kernel-ridge",
        f"kernel ridge regression of {n:,} x 10",
        pair(RIDGE, ridge),
        stages=("fit", "predict"),
        prepare=lambda n=n: make(ridge, n, 10),
        check=close("error", 1e-6),
    )
    n = 1_000 if quick else 10_000
    components = benchmark.DATA / f"kernel-pca{ending}.npz"
    yield Cell(
        "kernel-pca",
        f"50 kernel principal components of {n:,} x 10",
        pair(COMPONENTS, components, more=', eigen_solver="randomized", random_state=0'),
        stages=("fit", "transform"),
        prepare=lambda n=n: make(components, n, 10),
        check=close("kept", 0.02),
    )
