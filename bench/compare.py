"""Measures Mercer and its peers side by side in one run.

    python3 bench/compare.py            # every cell
    python3 bench/compare.py csv        # cells whose name has "csv" in it
    python3 bench/compare.py --quick    # small data, to see that everything runs

Builds Mercer, installs the peers in a virtual environment (bench/.venv), runs every
implementation of a cell several times in its own process, keeps the minimum time of each,
and prints the ratio to the strongest peer. Writes bench/results.json cell by cell; `bench/report.py` makes
bench/REPORT.md from it. Run nothing else meanwhile.
"""

import argparse
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
VENV = BENCH / ".venv"
RESULTS = BENCH / "results.json"
PYTHON = VENV / "bin" / "python"
THREADS = 2
CELLS = [
    "gaussian_nb",
    "counting_nb",
    "text",
    "csv_read",
    "mixed_nb",
    "linear_models",
    "logistic",
    "linear_svm",
    "discriminants",
    "bayes_network",
    "kernel_svm",
    "kernel_maps",
]

# Idle OpenMP and BLAS threads spin by default, which slows the other process.
QUIET = {
    "OMP_WAIT_POLICY": "passive",
    "OMP_NUM_THREADS": str(THREADS),
    "OPENBLAS_NUM_THREADS": str(THREADS),
    "RAYON_NUM_THREADS": str(THREADS),
    "POLARS_MAX_THREADS": str(THREADS),
}


def main():
    args = parse()
    if Path(sys.prefix) != VENV:
        prepare()
        os.execve(PYTHON, [str(PYTHON), __file__, *sys.argv[1:]], {**os.environ, **QUIET})
    sys.path.insert(0, str(BENCH))
    for name in CELLS:
        for cell in importlib.import_module(f"cells.{name}").cells(args.quick):
            if args.only in cell.name:
                for result in cell.run(args.repeat):
                    show(result)
                    keep(result, args.quick)
    print("\nwrote", RESULTS.relative_to(ROOT))


def keep(result, quick):
    """Writes a result immediately and replaces an older one of the same name."""
    summary = {"machine": machine(), "threads": THREADS, "quick": quick, "cells": []}
    if RESULTS.exists():
        older = json.loads(RESULTS.read_text())
        # Results of another machine or of small data are not mixed with these.
        if all(older[key] == summary[key] for key in ("machine", "threads", "quick")):
            summary = older
    names = [cell["name"] for cell in summary["cells"]]
    if result["name"] in names:
        summary["cells"][names.index(result["name"])] = result
    else:
        summary["cells"].append(result)
    RESULTS.write_text(json.dumps(summary, indent=2) + "\n")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "only", nargs="?", default="", help="run the cells whose name contains this"
    )
    parser.add_argument("--quick", action="store_true", help="small data")
    parser.add_argument(
        "--repeat",
        type=int,
        default=5,
        help="runs of each implementation; the minimum time is reported",
    )
    return parser.parse_args()


def prepare():
    """Builds Mercer and installs the peers."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", BENCH / "requirements.txt"], check=True)
    # A wheel, not `maturin develop`, which would overwrite the unoptimized library of the tests.
    wheels = VENV / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    subprocess.run(
        [VENV / "bin" / "maturin", "build", "--release", "--quiet", "--out", wheels],
        cwd=ROOT,
        check=True,
    )
    subprocess.run([*pip, "--force-reinstall", "--no-deps", *wheels.glob("*.whl")], check=True)
    build = ["cargo", "build", "--release", "--quiet"]
    subprocess.run([*build, "-p", "mercer-cli"], cwd=ROOT, check=True)
    subprocess.run([*build, "-p", "mercer-io", "--example", "to_features"], cwd=ROOT, check=True)
    subprocess.run(
        [*build, "--manifest-path", "bench/peers/linfa/Cargo.toml"], cwd=ROOT, check=True
    )


def show(result):
    print(f"\n{result['name']}: {result['what']}")
    best = min((p["seconds"] for p in result["runs"] if not p["ours"]), default=None)
    for run in result["runs"]:
        ratio = f"{best / run['seconds']:6.2f}x the strongest peer" if run["ours"] and best else ""
        memory = f"{run['megabytes']:7.0f} MB" if run.get("megabytes") else " " * 10
        print(f"  {run['implementation']:24} {run['seconds']:9.4f} s {memory}  {ratio}")


def machine():
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version()}


if __name__ == "__main__":
    main()
