"""Scaling of SVC with the number of rows: 15,000, 30,000 and 60,000 rows of MNIST.

    bench/.venv/bin/python bench/growth.py [--peers]

Every fit runs in its own process; with `--peers` the peers fit all 60,000 rows too. Twice the rows may take at most five
times as long. Writes `bench/growth.json`.
"""

import argparse
import json
import sys

import benchmark
from benchmark import SHARED, measured, python

FIT = """
import json, sys, time, numpy as np
from {module} import SVC
data, n = np.load(sys.argv[1]), int(sys.argv[2])
x, y = (data["X_train"][:n].reshape(n, -1) / 255.0).astype({dtype!r}), data["y_train"][:n].astype(int)
xt, yt = (data["X_test"].reshape(10_000, -1) / 255.0).astype({dtype!r}), data["y_test"]
model = SVC(C=10, gamma=0.02)
start = time.perf_counter(); model.fit(x, y); middle = time.perf_counter()
right = float((model.predict(xt) == yt).mean()); end = time.perf_counter()
certificate = getattr(model, "certificate_", {{}}).get("text")
print(json.dumps({{"rows": n, "fit": middle - start, "predict": end - middle, "accuracy": right, "certificate": certificate}}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="also fit the peers on all rows")
    args = parser.parse_args()
    digits = SHARED / "mnist" / "mnist.npz"
    if not digits.exists():
        sys.exit(f"there is no {digits}")
    implementations = [("mercer", "mercer.svm", "float64", n) for n in (15_000, 30_000, 60_000)]
    if args.peers:
        implementations.append(("scikit-learn-intelex, f32", "sklearnex.svm", "float32", 60_000))
        implementations.append(("scikit-learn-intelex", "sklearnex.svm", "float64", 60_000))
        implementations.append(("scikit-learn", "sklearn.svm", "float64", 60_000))
    runs = []
    for label, module, dtype, n in implementations:
        result, megabytes = measured(python(FIT.format(module=module, dtype=dtype), digits, n))
        runs.append({"implementation": label, **result, "megabytes": megabytes})
        print(
            f"{label:26} {n:7,} rows {result['fit']:8.2f} s {result['predict']:7.2f} s {megabytes:6.0f} MB "
            f"{100 * result['accuracy']:6.2f} %  {result['certificate'] or ''}",
            flush=True,
        )
        (benchmark.BENCH / "growth.json").write_text(json.dumps(runs, indent=1) + "\n")


main()
