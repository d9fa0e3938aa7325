"""Accuracy of naive Bayes on mixed tables: Mercer against scikit-learn after encoding, and Weka's configuration (Gaussian
numeric features, relative frequencies of categories, missing values ignored).

    bench/.venv/bin/python bench/accuracy.py [FOLDER WITH adult, mushroom, housevotes84]

Cross-validates with ten folds over all rows of each table and prints a table for HISTORY.md.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

from mercer.naive_bayes import BayesNetworkClassifier, MixedNB, TreeAugmentedNB

DATA = (
    Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared/data"
)
TARGETS = {"adult": "income", "mushroom": "class", "housevotes84": "Class"}


def filled(*steps):
    return make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), *steps)


def columns(numeric, categorical):
    return make_column_transformer(
        (numeric, make_column_selector(dtype_include="number")),
        (categorical, make_column_selector(dtype_exclude="number")),
    )


def peers():
    """scikit-learn's naive Bayes after one-hot or ordinal encoding."""
    one_hot = filled(OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    ordinal = filled(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=119))
    bins = KBinsDiscretizer(
        10, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    indicators = KBinsDiscretizer(
        10, encode="onehot-dense", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    yield "GaussianNB, one-hot", make_pipeline(columns("passthrough", one_hot), GaussianNB())
    yield "GaussianNB, ordinal", make_pipeline(columns("passthrough", ordinal), GaussianNB())
    yield (
        "CategoricalNB, bins",
        make_pipeline(columns(bins, ordinal), CategoricalNB(min_categories=120)),
    )
    yield "BernoulliNB, one-hot", make_pipeline(columns(indicators, one_hot), BernoulliNB())


def ours(frame):
    yield "Mercer MixedNB", MixedNB()
    yield "MixedNB, estimate held-out", MixedNB(estimate="held-out")
    yield "MixedNB, weights learned", MixedNB(weights="learned")
    yield "Weka's configuration", MixedNB(likelihood="schema")
    if not len(frame.select_dtypes("number").columns):
        yield "Mercer TreeAugmentedNB", TreeAugmentedNB()
        yield "Mercer BayesNetworkClassifier", BayesNetworkClassifier()


def accuracy(model, x, y):
    """Cross-validated accuracy."""
    hits = 0
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(x, y):
        model.fit(x.iloc[train], y.iloc[train])
        hits += np.sum(model.predict(x.iloc[test]) == y.iloc[test])
    return hits / len(y)


def main():
    warnings.simplefilter("ignore")
    rows = {}
    for column, (name, target) in enumerate(TARGETS.items()):
        table = pd.concat(
            [pd.read_csv(DATA / name / f"{part}.csv") for part in ("train", "test")],
            ignore_index=True,
        )
        x, y = table.drop(columns=target), table[target]
        for label, model in [*ours(x), *peers()]:
            rows.setdefault(label, [""] * len(TARGETS))[column] = f"{accuracy(model, x, y):.4f}"
    print("| | " + " | ".join(TARGETS) + " |\n|---|" + "---|" * len(TARGETS))
    for label, accuracies in rows.items():
        print(f"| {label} | " + " | ".join(accuracies) + " |")


if __name__ == "__main__":
    main()
