"""Least squares and ridge on a million rows, against scikit-learn and scikit-learn-intelex; and ridge regression
over a path of fifty prices, each validated by leaving every row out, against scikit-learn.

scikit-learn's ridge runs its Cholesky solver, the fastest of its exact ones on tall data. Each implementation
also reports the rate of a plain matrix product in the same process, to see how far from it a fit is.
"""

import benchmark
from benchmark import Cell, Implementation, python

PEER = """
import json, sys, time, numpy as np
{imports}
x, y = np.load(sys.argv[1] + "-x.npy"), np.load(sys.argv[1] + "-y.npy")
times = []
for _ in range(3):
    start = time.perf_counter(); model = {make}.fit(x, y); times.append(time.perf_counter() - start)
a = np.ones((1000, 1000)); a @ a
start = time.perf_counter(); a @ a; gemm = 2e-9 * 1000**3 / (time.perf_counter() - start)
print(json.dumps({{"fit": min(times), "first": float(model.coef_[0]), "gemm_gflops": gemm}}))
"""


def make(path, n, width):
    import numpy as np

    if path.with_name(path.name + "-x.npy").exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    random = np.random.default_rng(3)
    x = random.normal(size=(n, width)) + random.normal(size=width)
    y = x @ random.normal(size=width) + random.normal(size=n)
    np.save(f"{path}-x.npy", x)
    np.save(f"{path}-y.npy", y)


def same_coefficient(answers):
    found = [a["first"] for a in answers.values()]
    assert max(found) - min(found) < 1e-8, answers


def cells(quick):
    n, width = (20_000, 100) if quick else (1_000_000, 100)
    path = benchmark.DATA / f"linear-{n}"
    for cell, name, peer_options in [
        ("ols", "LinearRegression", ""),
        ("ridge", "Ridge", "solver='cholesky'"),
    ]:
        implementations = [
            ("mercer", f"from mercer.linear_model import {name}", f"{name}()", True),
            (
                "scikit-learn",
                f"from sklearn.linear_model import {name}",
                f"{name}({peer_options})",
                False,
            ),
            (
                "scikit-learn-intelex",
                f"from sklearnex.linear_model import {name}",
                f"{name}()",
                False,
            ),
        ]
        yield Cell(
            cell,
            f"{name} on {n:,} x {width} float64",
            [
                Implementation(label, python(PEER.format(imports=imports, make=made), path), ours)
                for label, imports, made, ours in implementations
            ],
            stages=("fit",),
            prepare=lambda: make(path, n, width),
            check=same_coefficient,
        )
    n = 5_000 if quick else 200_000
    chosen = benchmark.DATA / f"linear-{n}"
    yield Cell(
        "ridge-cv",
        f"RidgeCV over 50 regularization strengths on {n:,} x {width} float64",
        [
            Implementation(
                label,
                python(
                    PEER.format(
                        imports=f"from {module}.linear_model import RidgeCV",
                        make="RidgeCV(alphas=np.logspace(-3, 5, 50))",
                    ),
                    chosen,
                ),
                label == "mercer",
            )
            for label, module in [("mercer", "mercer"), ("scikit-learn", "sklearn")]
        ],
        stages=("fit",),
        prepare=lambda: make(chosen, n, width),
        check=same_coefficient,
    )
