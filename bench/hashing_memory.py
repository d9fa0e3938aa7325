"""Trains out of core from a large text file and reports peak memory and throughput.

    python bench/hashing_memory.py --megabytes 200
    python bench/hashing_memory.py --megabytes 2000 --models multinomial-nb,sgd --keep

The texts are drawn from a Zipf distribution, half of them in each class, with some class-specific terms. Beyond 200 MB they
repeat, which does not affect memory or throughput. The file is written to `bench/data` and removed afterwards. Memory is the
peak resident set size; throughput is the size of the file divided by the time of the whole command, which reads the file
several times.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"
WORDS = 200_000
"""Size of the vocabulary."""
BATCH = 2_000
"""Texts drawn in one batch."""
DISTINCT = 200_000_000
"""Bytes of distinct texts; beyond this size the texts repeat."""


def vocabulary(random):
    """Random terms; frequent ones are short."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    lengths = (
        2
        + np.minimum(np.log2(np.arange(1, WORDS + 1)) / 2, 9).astype(int)
        + random.integers(0, 3, WORDS)
    )
    return np.array(["".join(random.choice(letters[:20], n)) for n in lengths], dtype=object)


def write(path, megabytes, length, form):
    """Writes a file of about `megabytes` with one text of about `length` tokens per line."""
    random = np.random.default_rng(5)
    known = vocabulary(random)
    written, batches, k = 0, [], 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        if form == "tsv":
            written += file.write("label\tbody\n")
        while written < megabytes * 1_000_000:
            if written >= DISTINCT:
                written += file.write(batches[k % len(batches)])
                k += 1
                continue
            sizes = random.poisson(length, BATCH) + 1
            draws = (random.zipf(1.2, sizes.sum()) - 1) % WORDS
            classes = random.integers(0, 2, BATCH)
            # One token in twenty is class-specific: an even or odd rare term.
            own = random.random(len(draws)) < 0.05
            draws[own] = (
                1_000 + random.integers(0, 2_000, own.sum()) * 2 + np.repeat(classes, sizes)[own]
            )
            texts = np.split(known[draws], np.cumsum(sizes)[:-1])
            lines = []
            for c, text in zip(classes, texts, strict=True):
                label, body = ("spam" if c else "ham"), " ".join(text)
                lines.append(
                    json.dumps({"label": label, "body": body}) + "\n"
                    if form == "jsonl"
                    else f"{label}\t{body}\n"
                )
            batches.append("".join(lines))
            written += file.write(batches[-1])


def train(mercer, path, model, columns, folds, more):
    """Runs the command and returns the seconds, the peak memory in megabytes and the JSON report."""
    out = DATA / "hashing.mercer"
    command = [mercer, "train", path, "--target", "label", "--text", "body", "--model", model]
    command += [
        "--prepare",
        f"hash=2^{columns}",
        "--folds",
        folds,
        "--no-report",
        "--json",
        "--out",
        out,
    ]
    if model != "multinomial-nb":
        command += ["--prepare", "hash-sign=alternate", "--prepare", "norm=l2"]
    if model == "sgd":
        # Few terms are informative, so the regularization must be weak.
        command += ["--set", "alpha=1e-6"]
    command = [str(word) for word in [*command, *more]]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    result, messages = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    out.unlink(missing_ok=True)
    if status != 0:
        sys.exit(messages.decode())
    return seconds, usage.ru_maxrss / 1024, json.loads(result)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--models", default="multinomial-nb,sgd", help="comma-separated estimators")
    parser.add_argument(
        "--columns", type=int, default=18, help="log2 of the number of hashed features"
    )
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--length", type=float, default=100, help="tokens per text")
    parser.add_argument("--form", choices=["tsv", "jsonl"], default="tsv")
    parser.add_argument("--mercer", type=Path, default=BENCH.parent / "target/release/mercer")
    parser.add_argument("--keep", action="store_true", help="do not remove the file")
    parser.add_argument("more", nargs="*", help="further arguments of `mercer train`, after --")
    args = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    path = DATA / f"hashing-{args.megabytes:.0f}-{args.length:.0f}.{args.form}"
    if not path.exists():
        part = path.with_suffix(".part")
        write(part, args.megabytes, args.length, args.form)
        part.rename(path)
    size = path.stat().st_size / 1e6
    try:
        for model in args.models.split(","):
            seconds, megabytes, result = train(
                args.mercer, path, model, args.columns, args.folds, args.more
            )
            validated = result["cross_validation"]
            print(
                f"{model:20} {size:6.0f} MB, {result['rows']} texts, 2^{args.columns} columns, {args.folds} folds: "
                f"{seconds:6.1f} s, {size / seconds:6.1f} MB/s, {result['certificate']['iterations']} passes, "
                f"peak {megabytes:.0f} MB, accuracy {validated['accuracy']['value']:.4f}"
                if validated
                else f"{model:20} {size:6.0f} MB, {result['rows']} texts, 2^{args.columns} columns, no folds: "
                f"{seconds:6.1f} s, {size / seconds:6.1f} MB/s, {result['certificate']['iterations']} passes, "
                f"peak {megabytes:.0f} MB",
                flush=True,
            )
    finally:
        if not args.keep:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
