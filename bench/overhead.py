"""Small data: the time of a fit on iris (150 rows) and of a prediction of one row, ours and scikit-learn's.

    python bench/overhead.py [--repeats 20] [--out bench/OVERHEAD.md]

needs a module of a release build beside the package, and scikit-learn in the same environment. Every time is the
smallest of several rounds of repeated calls, so that the table shows the cost of the calls and not of the machine.
"""

import argparse
import importlib
import math
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

import mercer

ROUNDS = 5
#: Parameters that make both sides do comparable work on iris.
PARAMETERS = {
    "KernelPCA": {"n_components": 2},
    "LogisticRegressionCV": {"Cs": 3, "cv": 3},
    "MLPClassifier": {"solver": "lbfgs", "max_iter": 20},
    "MLPRegressor": {"solver": "lbfgs", "max_iter": 20},
    "QuadraticDiscriminantAnalysis": {"reg_param": 0.1},
}
#: The imports that are compared, in new processes.
IMPORTS = ["mercer.svm", "sklearn.svm"]


def common_classes():
    for card in mercer.catalog():
        module, _, name = card["python"].rpartition(".")
        theirs = getattr(importlib.import_module(f"sklearn.{module}"), name, None)
        if theirs is not None:
            yield name, getattr(importlib.import_module(f"mercer.{module}"), name), theirs


def smallest_time(call, repeats):
    best = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best


def times(estimator, X, y, repeats):
    """The seconds of a fit and of the prediction or transformation of one row."""
    fit = smallest_time(lambda: estimator.fit(X, y), repeats)
    row = X[:1]
    apply = estimator.predict if hasattr(estimator, "predict") else estimator.transform
    return fit, smallest_time(lambda: apply(row), 10 * repeats)


def measured(repeats):
    X, labels = load_iris(return_X_y=True)
    for name, ours, theirs in common_classes():
        params = PARAMETERS.get(name, {})
        mine, other = ours(**params), theirs(**params)
        tags = other.__sklearn_tags__()
        y = X[:, 3].copy() if tags.estimator_type == "regressor" else labels
        rows = np.floor(X) if name == "CategoricalNB" else X
        yield name, times(mine, rows, y, repeats), times(other, rows, y, repeats)


def table(results):
    lines = [
        "# Overhead on small data",
        "",
        "Microseconds on iris; the ratio is the time of scikit-learn divided by that of Mercer.",
        "",
        "| estimator | fit | scikit-learn | ratio | one row | scikit-learn | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    logs = []
    for name, (fit, predict), (their_fit, their_predict) in results:
        ratios = their_fit / fit, their_predict / predict
        logs.append([math.log(ratio) for ratio in ratios])
        cells = [
            fit * 1e6,
            their_fit * 1e6,
            ratios[0],
            predict * 1e6,
            their_predict * 1e6,
            ratios[1],
        ]
        formats = ["{:,.0f}", "{:,.0f}", "{:.2f}"] * 2
        cells = [form.format(cell) for form, cell in zip(formats, cells, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    means = np.exp(np.mean(logs, axis=0))
    lines.append(f"| **geometric mean** | | | {means[0]:.2f} | | | {means[1]:.2f} |")
    return "\n".join(lines) + "\n"


def import_times(repeats):
    """The milliseconds of an import in a new process."""

    def run(module):
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    seconds = {module: math.inf for module in IMPORTS}
    for _ in range(repeats):
        for module in IMPORTS:
            start = time.perf_counter()
            run(module)
            seconds[module] = min(seconds[module], time.perf_counter() - start)
    parts = [f"`import {module}` {1000 * seconds[module]:,.0f} ms" for module in IMPORTS]
    return f"\nIn a new process: {', '.join(parts)}.\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=20, help="calls per round")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    text = table(list(measured(options.repeats))) + import_times(5)
    print(text)
    if options.out is not None:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
