"""Records the model and the predictions of every estimator in the catalog, to compare two builds bit by bit.

    python3 bench/snapshot.py target/release/mercer before.json
    python3 bench/snapshot.py target/release/mercer after.json --compare before.json

A snapshot holds, for every estimator and data set, a hash of each tensor in the model file (names left out, so that
renamed fields do not matter) and a hash of the predictions without their header line. Fits that fail are recorded as
such; a comparison that finds any difference lists it and exits with 1.
"""

import argparse
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLASSIFICATION = [
    ("examples/data/penguins.csv", "species"),
    ("examples/data/wine.csv", "cultivar"),
    ("examples/data/iris.csv", "species"),
    ("examples/data/mail.tsv", "label"),
    ("testdata/libsvm/heart_scale", "label"),
]
REGRESSION = [("examples/data/wine.csv", "alcohol"), ("examples/data/iris.csv", "petal_length")]
# Parameters that choose another solver, loss or kernel than the defaults do.
VARIANTS = {
    "svc": [
        "kernel=linear",
        "kernel=poly",
        "probability=true",
        "multiclass=crammer_singer",
        "multiclass=ovr",
        "slack_power=2",
        "approx=40",
        "margin=hard",
        "class_weight=balanced",
        "cache_size=0.01",
    ],
    "nu-svc": ["nu=0.1", "probability=true"],
    "svr": ["kernel=linear", "C=100"],
    "linear-svc": [
        "loss=hinge",
        "multi_class=crammer_singer",
        "penalty=l1",
        "dual=true",
        "dual=false",
        "C=100",
        "probability=true",
    ],
    "linear-svr": ["loss=squared_epsilon_insensitive", "dual=true", "dual=false"],
    "logistic": ["penalty=l1", "penalty=elasticnet", "penalty=none", "C=100"],
    "sgd": [
        "loss=log_loss",
        "loss=modified_huber",
        "penalty=l1",
        "penalty=elasticnet",
        "average=true",
        "learning_rate=adaptive",
        "early_stopping=true",
    ],
    "sgd-regressor": ["loss=huber", "loss=epsilon_insensitive"],
    "lda": ["solver=lsqr", "solver=eigen", "shrinkage=auto"],
    "ridge": ["alpha_from=evidence"],
    "kernel-ridge": ["kernel=rbf", "solver=cg", "solver=approx"],
    "kernel-pca": ["kernel=rbf"],
    "kernel-k-means": ["kernel=rbf"],
    "nystroem": ["landmarks=k-means", "landmarks=pivoted-cholesky", "basis=cholesky"],
    "rbf-sampler": ["directions=orthogonal", "directions=structured"],
    "mixed-nb": ["weights=learned"],
    "mlp": ["activation=tanh"],
}
# Variants under the names that earlier snapshots recorded.
RENAMED = {
    "landmarks=k-means": "centers=k-means",
    "landmarks=pivoted-cholesky": "centers=pivots",
    "basis=cholesky": "basis=triangle",
}

# Option values that were renamed; a snapshot keeps the older name as its key, so that builds stay comparable.
RENAMED = {
    "centers=k-means": "landmarks=k-means",
    "centers=pivots": "landmarks=pivoted-cholesky",
    "basis=triangle": "basis=cholesky",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=lambda path: Path(path).resolve())
    parser.add_argument("out", type=Path)
    parser.add_argument("--compare", type=Path, help="an earlier snapshot")
    args = parser.parse_args()

    snapshot = {}
    for card in json.loads(subprocess.check_output([args.binary, "models", "--json"])):
        for data, target in data_sets(card["capabilities"]):
            for variant in [None, *VARIANTS.get(card["id"], [])]:
                key = " ".join(
                    filter(None, [card["id"], RENAMED.get(variant, variant), data, target])
                )
                snapshot[key] = record(args.binary, card["id"], variant, data, target)
    args.out.write_text(json.dumps(snapshot, indent=1) + "\n")
    fitted = sum("tensors" in entry for entry in snapshot.values())
    print(f"{len(snapshot)} fits, {fitted} of them with a model")
    if args.compare:
        sys.exit(compare(json.loads(args.compare.read_text()), snapshot))


def data_sets(capabilities):
    if "regressor" in capabilities:
        return REGRESSION
    if "classifier" in capabilities:
        return CLASSIFICATION
    return [(data, None) for data, _ in CLASSIFICATION[1:3]]


def record(binary, model, variant, data, target):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model.mercer"
        goal = ["--target", target] if target else ["--ignore", dict(CLASSIFICATION)[data]]
        command = [
            binary,
            "train",
            ROOT / data,
            *goal,
            "--model",
            model,
            "--out",
            out,
            "--folds",
            "3",
            "--quiet",
        ]
        command += ["--set", variant] if variant else []
        command += ["--time-limit", "20s"]
        fit = subprocess.run(command, cwd=folder, capture_output=True)
        if fit.returncode != 0 and variant in RENAMED:
            command[command.index(variant)] = RENAMED[variant]
            fit = subprocess.run(command, cwd=folder, capture_output=True)
        if fit.returncode != 0:
            return {"exit": fit.returncode}
        predicted = subprocess.run(
            [binary, "predict", out, ROOT / data, "--quiet"], cwd=folder, capture_output=True
        )
        rows = predicted.stdout.split(b"\n", 1)[-1]
        return {"tensors": tensors(out.read_bytes()), "predictions": digest(rows)}


def tensors(blob):
    """Sorted hashes of the tensors of a safetensors file."""
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8 : 8 + length])
    header.pop("__metadata__", None)
    start = 8 + length
    return sorted(
        digest(blob[start + a : start + b]) for a, b in (t["data_offsets"] for t in header.values())
    )


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def compare(before, after):
    differing = [key for key in before if before[key] != after.get(key)]
    for key in differing:
        print("differs:", key, before[key], after.get(key))
    print(f"{len(before) - len(differing)} of {len(before)} fits are the same")
    return 1 if differing else 0


if __name__ == "__main__":
    main()
