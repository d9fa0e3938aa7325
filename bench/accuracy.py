"""How often naive Bayes is right on tables of words and numbers: Mercer's against scikit-learn's after encoding, and
Weka's recipe (bell curves for numbers, shares for words, gaps skipped).

    bench/.venv/bin/python bench/accuracy.py [FOLDER WITH adult, mushroom, housevotes84]

Trains on the training part of each table, judges on its test part, and prints a table for REPORT.md.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

from mercer.naive_bayes import MixedNB

DATA = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared/data"
TARGETS = {"adult": "income", "mushroom": "class", "housevotes84": "Class"}


def filled(*steps):
    return make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), *steps)


def columns(numbers, words):
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )


def peers():
    """scikit-learn's naive Bayes after one-hot or ordinal encoding."""
    one_hot = filled(OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    ordinal = filled(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=119))
    bins = KBinsDiscretizer(10, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    indicators = KBinsDiscretizer(
        10, encode="onehot-dense", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    yield "GaussianNB, one-hot", make_pipeline(columns("passthrough", one_hot), GaussianNB())
    yield "GaussianNB, ordinal", make_pipeline(columns("passthrough", ordinal), GaussianNB())
    yield "CategoricalNB, bins", make_pipeline(columns(bins, ordinal), CategoricalNB(min_categories=120))
    yield "BernoulliNB, one-hot", make_pipeline(columns(indicators, one_hot), BernoulliNB())


def main():
    warnings.simplefilter("ignore")
    rows = {}
    for name, target in TARGETS.items():
        train, test = (pd.read_csv(DATA / name / f"{part}.csv") for part in ("train", "test"))
        x, y = train.drop(columns=target), train[target]
        z, truth = test.drop(columns=target), test[target]
        contestants = [("Mercer MixedNB", MixedNB()), ("Weka's recipe", MixedNB(likelihood="schema"))]
        for who, model in [*contestants, *peers()]:
            right = np.mean(model.fit(x, y).predict(z) == truth)
            rows.setdefault(who, []).append(right)
    print("| | " + " | ".join(TARGETS) + " |\n|---|" + "---|" * len(TARGETS))
    for who, shares in rows.items():
        print(f"| {who} | " + " | ".join(f"{share:.4f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
