"""Times two builds of Mercer side by side, to see what a change costs.

    pip install --target before before.whl; pip install --target after after.whl
    python3 bench/builds.py before after

Every cell runs in a process of its own, the builds in turn, and the best time of each counts. Prints the time of both
and their ratio (above 1: the second build is faster). Run nothing else meanwhile.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETUP = r"""
import json, sys, time
import numpy as np
from sklearn.datasets import load_svmlight_file
DATA = {data!r}
def letters(n=None):
    t = np.loadtxt(f"{{DATA}}/letter/train.csv", delimiter=",", skiprows=1)[:n]
    return np.ascontiguousarray(t[:, 1:]), t[:, 0].astype(int)
def svm(name):
    x, y = load_svmlight_file(f"{{DATA}}/{{name}}/train.svm")
    return x.tocsr(), y
def texts():
    lines = open(f"{{DATA}}/20news/train.tsv", encoding="utf-8", errors="replace").read().split("\n")
    rows = [line.split("\t", 1) for line in lines if "\t" in line]
    return [text for _, text in rows], np.array([label for label, _ in rows])
def digits(n):
    z = np.load(f"{{DATA}}/mnist/mnist.npz")
    return z["X_train"].reshape(len(z["X_train"]), -1)[:n].astype(float) / 255, z["y_train"][:n].astype(int)
{setup}
best = 1e9
for _ in range({repeat}):
    start = time.perf_counter()
    {run}
    best = min(best, time.perf_counter() - start)
print(json.dumps(best))
"""
CELLS = {
    "GaussianNB digits fit": (
        "from mercer.naive_bayes import GaussianNB\nx, y = digits(20000)",
        "GaussianNB().fit(x, y)",
        5,
    ),
    "MultinomialNB a9a fit": (
        "from mercer.naive_bayes import MultinomialNB\nx, y = svm('a9a')",
        "MultinomialNB().fit(x, y)",
        20,
    ),
    "LDA letter fit": (
        "from mercer.discriminant_analysis import LinearDiscriminantAnalysis as L\nx, y = letters()",
        "L().fit(x, y)",
        20,
    ),
    "QDA letter fit": (
        "from mercer.discriminant_analysis import QuadraticDiscriminantAnalysis as Q\nx, y = letters()",
        "Q().fit(x, y)",
        20,
    ),
    "LDA digits fit": (
        "from mercer.discriminant_analysis import LinearDiscriminantAnalysis as L\nx, y = digits(20000)",
        "L().fit(x, y)",
        3,
    ),
    "Ridge digits fit": (
        "from mercer.linear_model import Ridge\nx, y = digits(20000)\ny = y.astype(float)",
        "Ridge().fit(x, y)",
        3,
    ),
    "LogisticRegression a9a": (
        "from mercer.linear_model import LogisticRegression as L\nx, y = svm('a9a')",
        "L().fit(x, y)",
        5,
    ),
    "LinearSVC a9a squared hinge": (
        "from mercer.svm import LinearSVC\nx, y = svm('a9a')",
        "LinearSVC().fit(x, y)",
        10,
    ),
    "LinearSVC w8a hinge": (
        "from mercer.svm import LinearSVC\nx, y = svm('w8a')",
        "LinearSVC(loss='hinge').fit(x, y)",
        3,
    ),
    "LinearSVC 20news": (
        "from mercer.svm import LinearSVC\nfrom sklearn.feature_extraction.text import TfidfVectorizer\nt, y = texts()\nx = TfidfVectorizer().fit_transform(t)",
        "LinearSVC().fit(x, y)",
        2,
    ),
    "SGDClassifier a9a": (
        "from mercer.linear_model import SGDClassifier\nx, y = svm('a9a')",
        "SGDClassifier(max_iter=5, tol=None).fit(x, y)",
        5,
    ),
    "SVC letter 5000 fit": (
        "from mercer.svm import SVC\nx, y = letters(5000)",
        "SVC().fit(x, y)",
        3,
    ),
    "SVC letter 5000 predict": (
        "from mercer.svm import SVC\nx, y = letters(5000)\nm = SVC().fit(x, y)",
        "m.predict(x)",
        5,
    ),
    "SVC digits 4000 fit": (
        "from mercer.svm import SVC\nx, y = digits(4000)",
        "SVC().fit(x, y)",
        2,
    ),
    "KernelRidge digits 3000": (
        "from mercer.kernel_ridge import KernelRidge\nx, y = digits(3000)\ny = y.astype(float)",
        "KernelRidge(kernel='rbf').fit(x, y)",
        3,
    ),
    "RBFSampler digits": (
        "from mercer.kernel_approximation import RBFSampler\nx, y = digits(20000)\nm = RBFSampler(n_components=500).fit(x)",
        "m.transform(x)",
        3,
    ),
    "Nystroem digits": (
        "from mercer.kernel_approximation import Nystroem\nx, y = digits(10000)\nm = Nystroem(n_components=300).fit(x)",
        "m.transform(x)",
        3,
    ),
    "CountVectorizer 20news": (
        "from mercer.feature_extraction.text import CountVectorizer\nt, y = texts()",
        "CountVectorizer().fit_transform(t)",
        3,
    ),
    "MLPClassifier letter": (
        "from mercer.neural_network import MLPClassifier\nx, y = letters(4000)",
        "MLPClassifier(max_iter=20).fit(x, y)",
        2,
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("builds", nargs=2, help="folders with the package of each build")
    parser.add_argument("--only", default="", help="run the cells whose name contains this")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each build")
    parser.add_argument("--json", help="write the times here")
    args = parser.parse_args()
    results = {}
    for name, (setup, run, repeat) in CELLS.items():
        if args.only not in name:
            continue
        code = SETUP.format(data=str(DATA), setup=setup, run=run, repeat=repeat)
        times = [[], []]
        for _ in range(args.rounds):
            for k, build in enumerate(args.builds):
                times[k].append(measure(build, code))
        before, after = min(times[0]), min(times[1])
        results[name] = {"before": before, "after": after, "ratio": before / after}
        print(
            f"{name:32} {1e3 * before:10.2f} ms {1e3 * after:10.2f} ms {before / after:6.2f}x",
            flush=True,
        )
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


def measure(build, code):
    environment = {
        **os.environ,
        "PYTHONPATH": build,
        "OMP_WAIT_POLICY": "passive",
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        print(done.stderr[-500:])
        return float("inf")
    return json.loads(done.stdout.strip().split("\n")[-1])


if __name__ == "__main__":
    main()
