"""Texts to matrices, and from a file of texts to a trained model, against scikit-learn.

Uses the 20 newsgroups and the IMDB reviews where `../shared/data` holds them; otherwise texts of about the
same length are drawn as Zipf's law has it.
"""

import benchmark
from benchmark import SHARED, Cell, Implementation, python

MERCER = benchmark.BENCH.parent / "target/release/mercer"

VECTORIZE = """
import hashlib, json, sys, time, numpy as np
from {module} import {name}
with open(sys.argv[1], encoding="utf-8", newline="\\n") as file:
    texts = [line.split("\\t", 1)[1] for line in file.read().split("\\n")[1:] if line]
times = []
for _ in range(3):
    start = time.perf_counter(); x = {name}().fit_transform(texts); times.append(time.perf_counter() - start)
x.sort_indices()
cells = hashlib.sha256(x.indptr.tobytes() + x.indices.tobytes()).hexdigest()
numbers = float(np.abs(x.data * np.cos(np.arange(x.nnz))).sum())
megabytes = sum(len(text.encode()) for text in texts) / 1e6
print(json.dumps({{"seconds": min(times), "cells": cells, "numbers": numbers, "shape": x.shape, "MB/s": megabytes / min(times)}}))
"""

PIPELINE = """
import json, sys, time
start = time.perf_counter()
import joblib
from sklearn.feature_extraction.text import {vectorizer}
from sklearn.{module} import {estimator}
from sklearn.pipeline import make_pipeline
def read(path):
    with open(path, encoding="utf-8", newline="\\n") as file:
        return zip(*(line.split("\\t", 1) for line in file.read().split("\\n")[1:] if line))
labels, texts = read(sys.argv[1])
model = make_pipeline({vectorizer}(), {estimator}()).fit(texts, labels)
joblib.dump(model, sys.argv[3])
seconds = time.perf_counter() - start
labels, texts = read(sys.argv[2])
print(json.dumps({{"seconds": seconds, "accuracy": model.score(texts, labels)}}))
"""

TRAIN = """
import json, subprocess, sys, time
mercer, train, test, out, *how = sys.argv[1:]
start = time.perf_counter()
subprocess.run([mercer, "train", train, "--target", "label", "--text", "text", *how, "--folds", "0", "--no-report",
                "--out", out, "--threads", "2"], check=True, capture_output=True)
seconds = time.perf_counter() - start
result = subprocess.run([mercer, "evaluate", out, test, "--json"], check=True, capture_output=True).stdout
print(json.dumps({"seconds": seconds, "accuracy": json.loads(result)["accuracy"]["value"]}))
"""

# The name of each job, its description, the options of `mercer train`, and the equivalent scikit-learn pipeline.
LEARNED = [
    (
        "train",
        "a saved naive Bayes model",
        ["--model", "multinomial-nb"],
        {"vectorizer": "CountVectorizer", "module": "naive_bayes", "estimator": "MultinomialNB"},
    ),
    (
        "svc",
        "a saved linear SVM on TF-IDF",
        ["--model", "linear-svc", "--prepare", "text=tf-idf"],
        {"vectorizer": "TfidfVectorizer", "module": "svm", "estimator": "LinearSVC"},
    ),
]


def make(name, n):
    """TSV files with a header and without quotes."""
    for part in ("train", "test"):
        path = benchmark.DATA / f"{name}-{n}-{part}.tsv"
        if path.exists():
            continue
        benchmark.DATA.mkdir(exist_ok=True)
        source = SHARED / name / f"{part}.tsv"
        if source.exists():
            lines = source.read_text(encoding="utf-8").split("\n")
            rows = [line.split("\t", 1) for line in lines if "\t" in line][:n]
        else:
            import numpy as np

            random = np.random.default_rng(3)
            rows = [
                (str(c), " ".join(f"w{k}" for k in random.zipf(1.3, 250) % 100_000 + 37 * c))
                for c in random.integers(0, 20, n)
            ]
        # The two readers treat quotes differently, so they are removed.
        rows = [(label, text.replace('"', " ").replace("\t", " ")) for label, text in rows]
        path.write_text("label\ttext\n" + "".join(f"{y}\t{x}\n" for y, x in rows), encoding="utf-8")


def same_cells(answers):
    assert len({a["cells"] for a in answers.values()}) == 1, answers
    # Weights may differ in their last bit: scikit-learn adds squares in the order of first appearance.
    numbers = [a["numbers"] for a in answers.values()]
    assert max(numbers) - min(numbers) <= 1e-12 * max(numbers), answers


def same_accuracy(answers):
    accuracies = [a["accuracy"] for a in answers.values()]
    assert max(accuracies) - min(accuracies) < 2e-3, answers


def cells(quick):
    for corpus, n in (("20news", 1_000 if quick else 11_314), ("imdb", 1_000 if quick else 25_000)):
        train, test = (benchmark.DATA / f"{corpus}-{n}-{part}.tsv" for part in ("train", "test"))
        for name in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"):
            yield Cell(
                f"text-{corpus}-{name.removesuffix('Vectorizer').lower()}",
                f"{name} on {n} texts of {corpus}",
                [
                    Implementation(
                        label, python(VECTORIZE.format(module=module, name=name), train), ours
                    )
                    for label, module, ours in [
                        ("mercer", "mercer.feature_extraction.text", True),
                        ("scikit-learn", "sklearn.feature_extraction.text", False),
                    ]
                ],
                prepare=lambda corpus=corpus, n=n: make(corpus, n),
                check=same_cells,
            )
        for job, what, how, pipeline in LEARNED:
            saved = [benchmark.DATA / f"text.{end}" for end in ("mercer", "joblib")]
            yield Cell(
                f"text-{corpus}-{job}",
                f"from a file of {n} texts of {corpus} to {what}",
                [
                    Implementation(
                        "mercer", python(TRAIN, MERCER, train, test, saved[0], *how), True
                    ),
                    Implementation(
                        "scikit-learn", python(PIPELINE.format(**pipeline), train, test, saved[1])
                    ),
                ],
                prepare=lambda corpus=corpus, n=n: make(corpus, n),
                check=same_accuracy,
            )
