"""Naive Bayes on mixed tables: the adult census from CSV to a cross-validated, saved model,
whole process; the cost of ten folds; categories in memory.

Uses `../shared/data/adult` where it is; otherwise a table of the same shape is drawn.
"""

import benchmark
from benchmark import Cell, Implementation, python

ADULT = benchmark.BENCH.parent.parent / "shared/data/adult/train.csv"

TRAIN = """
import json, subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.argv[1], "train", sys.argv[2], "--target", "income", "--model", "mixed-nb", "--quiet",
                "--no-report", "--folds", sys.argv[4], "--out", sys.argv[3]], check=True,
               stdout=subprocess.DEVNULL)
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
# The closest equivalent in pandas and scikit-learn: binned numeric columns, coded categories, missing values as a
# category of their own.
TRAIN_PEER = """
import json, sys, time, warnings
start = time.perf_counter()
warnings.simplefilter("ignore")
import joblib
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder
frame = pd.read_csv(sys.argv[1])
x, y = frame.drop(columns="income"), frame["income"]
categorical = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"),
                      OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=119))
numeric = KBinsDiscretizer(10, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
columns = make_column_transformer((numeric, make_column_selector(dtype_include="number")),
                                  (categorical, make_column_selector(dtype_exclude="number")))
model = make_pipeline(columns, CategoricalNB(min_categories=120))
cross_val_predict(model, x, y, cv=10, method="predict_proba")
joblib.dump(model.fit(x, y), sys.argv[2])
print(json.dumps({"seconds": time.perf_counter() - start}))
"""

CODES = """
import json, sys, time, numpy as np
from {module} import CategoricalNB
x, y = np.load(sys.argv[1] + ".x.npy"), np.load(sys.argv[1] + ".y.npy")
times = {{"fit": [], "predict": []}}
for _ in range(5):
    start = time.perf_counter(); model = CategoricalNB().fit(x, y); middle = time.perf_counter()
    label = model.predict(x); end = time.perf_counter()
    times["fit"].append(middle - start); times["predict"].append(end - middle)
print(json.dumps({{"fit": min(times["fit"]), "predict": min(times["predict"]),
                  "accuracy": float((label == y).mean())}}))
"""


def make_table(path, n):
    """The adult census, or random rows with the same column types."""
    if path.exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    if ADULT.exists():
        lines = ADULT.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[: n + 1]))
        return
    import numpy as np

    random = np.random.default_rng(3)
    with open(path, "w") as out:
        words, numbers = [f"w{j}" for j in range(8)], [f"n{j}" for j in range(6)]
        out.write(",".join([*words, *numbers, "income"]) + "\n")
        for _ in range(n):
            label = int(random.random() < 0.24)
            shown = [f"v{int(random.integers(0, 9)) // (1 + label)}" for _ in words]
            shown = ["" if random.random() < 0.01 else word for word in shown]
            counts = [str(int(random.gamma(2 + label, 20))) for _ in numbers]
            out.write(",".join([*shown, *counts, ("<=50K", ">50K")[label]]) + "\n")


def make_codes(path, n):
    import numpy as np

    if path.with_suffix(".x.npy").exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    random = np.random.default_rng(4)
    y = random.integers(0, 5, n)
    x = random.binomial(11, (y[:, None] + np.arange(20) % 7 + 1) / 13.0).astype(np.float64)
    np.save(path.with_suffix(".x.npy"), x)
    np.save(path.with_suffix(".y.npy"), y)


def same_accuracy(answers):
    accuracies = [a["accuracy"] for a in answers.values()]
    assert max(accuracies) - min(accuracies) < 1e-6, answers


def cells(quick):
    mercer = benchmark.BENCH.parent / "target/release/mercer"
    n = 3_000 if quick else 32_561
    path, model = benchmark.DATA / f"adult-{n}.csv", benchmark.DATA / "adult.model"

    def ours(folds):
        return python(TRAIN, mercer, path, model, str(folds))

    yield Cell(
        "adult-train",
        f"CSV of {n} x 15 (adult) to a mixed naive Bayes with 10-fold cross-validation, saved, whole process",
        [
            Implementation("mercer", ours(10), ours=True),
            Implementation("pandas + scikit-learn", python(TRAIN_PEER, path, model)),
        ],
        prepare=lambda: make_table(path, n),
    )
    yield Cell(
        "adult-folds",
        "adult, mixed naive Bayes: 10-fold cross-validation against none",
        [Implementation("ten folds", ours(10), ours=True), Implementation("no folds", ours(0))],
        prepare=lambda: make_table(path, n),
    )
    n = 20_000 if quick else 500_000
    codes = benchmark.DATA / f"codes-{n}"
    yield Cell(
        "categorical-nb",
        f"CategoricalNB on {n} x 20 categories, 5 classes",
        [
            Implementation(label, python(CODES.format(module=module), codes), ours)
            for label, module, ours in [
                ("mercer", "mercer.naive_bayes", True),
                ("scikit-learn", "sklearn.naive_bayes", False),
            ]
        ],
        stages=("fit", "predict"),
        prepare=lambda: make_codes(codes, n),
        check=same_accuracy,
    )
