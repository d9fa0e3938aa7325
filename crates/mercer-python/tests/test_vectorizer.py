"""TableVectorizer and mercer.check: the preprocessing and the checks of the command line."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import mercer
from mercer.preprocessing import TableVectorizer


def customers(n: int = 200) -> pd.DataFrame:
    i = np.arange(n)
    income = (i * 7919) % 1000 * 12.5
    return pd.DataFrame(
        {
            "id": i + 1,
            "joined": pd.Timestamp("2023-01-01") + pd.to_timedelta(i * 3, unit="D"),
            # 1,234.50 as 1.234,50 €.
            "income": [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in income],
            "city": np.array(["Ulm", "Bonn", "Köln"])[i % 3],
            "active": np.array(["yes", "No", "Y", "no"])[i % 4],
            "country": "DE",
            "churned": np.where(income < 5000, "yes", "no"),
        }
    )


def test_columns_are_understood() -> None:
    table = customers().drop(columns="churned")

    vectorizer = TableVectorizer().fit(table)

    assert vectorizer.types_ == {
        "joined": "date",
        "income": "numeric",
        "city": "categorical",
        "active": "boolean",
    }
    assert set(vectorizer.dropped_) == {"id", "country"}
    x = vectorizer.transform(table)
    assert x.shape == (200, len(vectorizer.get_feature_names_out()))
    assert np.isfinite(x).all()


def test_pipelines_of_scikit_learn_accept_it() -> None:
    table = customers()
    x, y = table.drop(columns="churned"), table["churned"]
    pipeline = make_pipeline(TableVectorizer(), LogisticRegression())

    scores = cross_val_score(pipeline, x, y, cv=3)

    assert scores.mean() > 0.9
    again = pickle.loads(pickle.dumps(clone(pipeline).fit(x, y)))
    np.testing.assert_array_equal(again.predict(x), pipeline.fit(x, y).predict(x))


def test_new_rows_are_parsed_as_the_training_rows() -> None:
    table = customers().drop(columns="churned")
    vectorizer = TableVectorizer(scale="none").fit(table)

    new = table.head(2).assign(income=["1.234,50 €", "7 €"])

    column = list(vectorizer.get_feature_names_out()).index("income")
    np.testing.assert_array_equal(vectorizer.transform(new)[:, column], [1234.5, 7.0])
    with pytest.raises(ValueError, match="income"):
        vectorizer.transform(new.assign(income=["many", "7 €"]))
    with pytest.raises(ValueError, match="city"):
        vectorizer.transform(new.drop(columns="city"))


def test_texts_give_a_sparse_matrix() -> None:
    words = ["good film with a happy end", "a bad film that was far too long", "what a good day"]
    table = pd.DataFrame({"review": [f"{words[i % 3]} {i}" for i in range(60)], "n": range(60)})

    x = TableVectorizer(drop=False).fit_transform(table)

    assert x.shape[0] == 60
    assert x.nnz < x.shape[0] * x.shape[1]


def test_findings_are_those_of_the_command_line() -> None:
    table = customers()
    table["leak"] = table["churned"].str.upper()

    findings = mercer.check(table, "churned")

    codes = [finding["code"] for finding in findings]
    assert codes == ["MRC001", "MRC008"]
    assert findings[0]["columns"] == ["leak"]
    assert findings[0]["remedy"]["options"] == ["--ignore", "leak"]
