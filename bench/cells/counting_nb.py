"""Naive Bayes on word counts: fit and predict on sparse text, against scikit-learn.

Uses the 20 newsgroups where `../shared/data/20news` holds them; otherwise documents are drawn with the same
shape: 11,314 x 130,000, about 160 words each, as Zipf's law has them.
"""

import benchmark
from benchmark import Cell, Implementation, python

NEWS = benchmark.BENCH.parent.parent / "shared/data/20news/train.tsv"

PEER = """
import json, sys, time, numpy as np, scipy.sparse
from {module} import {name}
x = scipy.sparse.load_npz(sys.argv[1] + ".npz")
y = np.load(sys.argv[1] + ".npy")
times = {{"fit": [], "predict": []}}
for _ in range(30):
    start = time.perf_counter(); model = {name}().fit(x, y); middle = time.perf_counter()
    label = model.predict(x); end = time.perf_counter()
    times["fit"].append(middle - start); times["predict"].append(end - middle)
print(json.dumps({{"fit": min(times["fit"]), "predict": min(times["predict"]),
                  "accuracy": float((label == y).mean())}}))
"""


def make(path, n, width):
    import numpy as np
    import scipy.sparse

    if path.with_suffix(".npz").exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    if NEWS.exists():
        from sklearn.feature_extraction.text import CountVectorizer

        lines = [
            line.split("\t", 1)
            for line in NEWS.read_text(errors="replace").splitlines()
            if "\t" in line
        ]
        _, y = np.unique([label for label, _ in lines], return_inverse=True)
        x = CountVectorizer(dtype=np.float64).fit_transform(text for _, text in lines)
        x, y = x[:n], y[:n]
    else:
        random = np.random.default_rng(2)
        y = random.integers(0, 20, n)
        words = random.zipf(1.3, size=(n, 160)) + 37 * y[:, None]
        rows = np.repeat(np.arange(n), 160)
        x = scipy.sparse.coo_matrix(
            (np.ones(rows.size), (rows, words.ravel() % width)), (n, width)
        ).tocsr()
        x.sum_duplicates()
    scipy.sparse.save_npz(path.with_suffix(".npz"), x)
    np.save(path.with_suffix(".npy"), y)


def same_accuracy(answers):
    accuracies = [a["accuracy"] for a in answers.values()]
    assert max(accuracies) - min(accuracies) < 1e-6, answers


def cells(quick):
    n, width = (2_000, 20_000) if quick else (11_314, 130_000)
    path = benchmark.DATA / f"words-{n}"
    for name in ("MultinomialNB", "BernoulliNB", "ComplementNB"):
        yield Cell(
            name.removesuffix("NB").lower() + "-nb",
            f"{name} on word counts of {n} documents, 20 classes",
            [
                Implementation(label, python(PEER.format(module=module, name=name), path), ours)
                for label, module, ours in [
                    ("mercer", "mercer.naive_bayes", True),
                    ("scikit-learn", "sklearn.naive_bayes", False),
                ]
            ],
            stages=("fit", "predict"),
            prepare=lambda: make(path, n, width),
            check=same_accuracy,
        )
