"""How the time of a kernel machine grows with its rows: SVC on 15,000, 30,000 and 60,000 digits.

    bench/.venv/bin/python bench/growth.py [--peers]

Every fit runs in a process of its own; with `--peers` the peers fit all 60,000 rows too. Twice the rows may take
at most five times as long. Writes `bench/growth.json`.
"""

import argparse
import json
import sys

import contest
from contest import SHARED, measured, python

FIT = """
import json, sys, time, numpy as np
from {module} import SVC
data, n = np.load(sys.argv[1]), int(sys.argv[2])
x, y = (data["X_train"][:n].reshape(n, -1) / 255.0).astype({dtype!r}), data["y_train"][:n].astype(int)
xt, yt = (data["X_test"].reshape(10_000, -1) / 255.0).astype({dtype!r}), data["y_test"]
model = SVC(C=10, gamma=0.02)
start = time.perf_counter(); model.fit(x, y); middle = time.perf_counter()
right = float((model.predict(xt) == yt).mean()); end = time.perf_counter()
told = getattr(model, "certificate_", {{}}).get("text")
print(json.dumps({{"rows": n, "fit": middle - start, "predict": end - middle, "accuracy": right, "told": told}}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="the peers on all rows too")
    args = parser.parse_args()
    digits = SHARED / "mnist" / "mnist.npz"
    if not digits.exists():
        sys.exit(f"there is no {digits}")
    contestants = [("mercer", "mercer.svm", "float64", n) for n in (15_000, 30_000, 60_000)]
    if args.peers:
        contestants.append(("scikit-learn-intelex, f32", "sklearnex.svm", "float32", 60_000))
        contestants.append(("scikit-learn-intelex", "sklearnex.svm", "float64", 60_000))
        contestants.append(("scikit-learn", "sklearn.svm", "float64", 60_000))
    runs = []
    for who, module, dtype, n in contestants:
        told, megabytes = measured(python(FIT.format(module=module, dtype=dtype), digits, n))
        runs.append({"who": who, **told, "megabytes": megabytes})
        print(
            f"{who:26} {n:7,} rows {told['fit']:8.2f} s {told['predict']:7.2f} s {megabytes:6.0f} MB "
            f"{100 * told['accuracy']:6.2f} %  {told['told'] or ''}",
            flush=True,
        )
        (contest.BENCH / "growth.json").write_text(json.dumps(runs, indent=1) + "\n")


main()
