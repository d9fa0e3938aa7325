"""Trains from a file of texts that is larger than memory should be, and reports peak memory and speed.

    python bench/hashing_memory.py --megabytes 200
    python bench/hashing_memory.py --megabytes 2000 --models multinomial-nb,sgd --keep

Texts are drawn as Zipf's law has it, half of them of each class, and words of their own give the classes away.
Beyond 200 MB they repeat, which changes nothing for memory or speed.
The file is written to `bench/data` and removed afterwards. Memory is what the system says the process took at
most; speed is the size of the file by the time of the whole command, which reads it several times.
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
"""Words that are told apart in the texts."""
BATCH = 2_000
"""Texts drawn at a time."""
DISTINCT = 200_000_000
"""Bytes of texts that are drawn; of more, they repeat."""


def words(random):
    """Made-up words: common ones are short."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    lengths = 2 + np.minimum(np.log2(np.arange(1, WORDS + 1)) / 2, 9).astype(int) + random.integers(0, 3, WORDS)
    return np.array(["".join(random.choice(letters[:20], n)) for n in lengths], dtype=object)


def write(path, megabytes, length, form):
    """A file of about so many megabytes, a text of about `length` words a line."""
    random = np.random.default_rng(5)
    known = words(random)
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
            # One word in twenty is of the class: the two halves of the rarer words.
            own = random.random(len(draws)) < 0.05
            draws[own] = 1_000 + random.integers(0, 2_000, own.sum()) * 2 + np.repeat(classes, sizes)[own]
            texts = np.split(known[draws], np.cumsum(sizes)[:-1])
            lines = []
            for c, text in zip(classes, texts):
                label, body = ("spam" if c else "ham"), " ".join(text)
                lines.append(
                    json.dumps({"label": label, "body": body}) + "\n" if form == "jsonl" else f"{label}\t{body}\n"
                )
            batches.append("".join(lines))
            written += file.write(batches[-1])


def train(mercer, path, model, columns, folds, more):
    """Runs the command; gives seconds, megabytes at most, and what it told."""
    out = DATA / "hashing.mercer"
    command = [mercer, "train", path, "--target", "label", "--text", "body", "--model", model]
    command += ["--prepare", f"hash=2^{columns}", "--folds", folds, "--no-report", "--json", "--out", out]
    if model != "multinomial-nb":
        command += ["--prepare", "hash-sign=alternate", "--prepare", "norm=l2"]
    if model == "sgd":
        # Few of the words tell the classes apart, and their weights must be allowed to grow.
        command += ["--set", "alpha=1e-6"]
    command = [str(word) for word in [*command, *more]]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    told, said = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    out.unlink(missing_ok=True)
    if status != 0:
        sys.exit(said.decode())
    return seconds, usage.ru_maxrss / 1024, json.loads(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--models", default="multinomial-nb,sgd", help="estimators, with commas between")
    parser.add_argument("--columns", type=int, default=18, help="words are hashed to 2 to this power of columns")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--length", type=float, default=100, help="words of a text")
    parser.add_argument("--form", choices=["tsv", "jsonl"], default="tsv")
    parser.add_argument("--mercer", type=Path, default=BENCH.parent / "target/release/mercer")
    parser.add_argument("--keep", action="store_true", help="keep the file for another run")
    parser.add_argument("more", nargs="*", help="more words for the command, behind --")
    asked = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    path = DATA / f"hashing-{asked.megabytes:.0f}-{asked.length:.0f}.{asked.form}"
    if not path.exists():
        part = path.with_suffix(".part")
        write(part, asked.megabytes, asked.length, asked.form)
        part.rename(path)
    size = path.stat().st_size / 1e6
    try:
        for model in asked.models.split(","):
            seconds, megabytes, told = train(asked.mercer, path, model, asked.columns, asked.folds, asked.more)
            judged = told["cross_validation"]
            print(
                f"{model:20} {size:6.0f} MB, {told['rows']} texts, 2^{asked.columns} columns, {asked.folds} folds: "
                f"{seconds:6.1f} s, {size / seconds:6.1f} MB/s, {told['certificate']['rounds']} passes, "
                f"peak {megabytes:.0f} MB, accuracy {judged['accuracy']['value']:.4f}"
                if judged
                else f"{model:20} {size:6.0f} MB, {told['rows']} texts, 2^{asked.columns} columns, no folds: "
                f"{seconds:6.1f} s, {size / seconds:6.1f} MB/s, {told['certificate']['rounds']} passes, "
                f"peak {megabytes:.0f} MB",
                flush=True,
            )
    finally:
        if not asked.keep:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
