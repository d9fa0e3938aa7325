"""Tables with numeric, categorical, boolean and text columns and missing values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import naive_bayes as theirs

import mercer
from mercer.naive_bayes import CategoricalNB, MixedNB


@pytest.fixture
def table(rng):
    """A numeric, a categorical and a boolean column that depend on the class, with missing values."""
    y = rng.choice(["ham", "spam"], 300)
    spam = y == "spam"
    table = pd.DataFrame(
        {
            "size": rng.normal(size=300) + 2 * spam,
            "domain": np.where(rng.uniform(size=300) < 0.2 + 0.6 * spam, "net", "org"),
            "urgent": rng.uniform(size=300) < 0.1 + 0.5 * spam,
        }
    )
    table["domain"] = table["domain"].astype(object)
    table.loc[::17, "domain"] = None
    table.loc[::13, "size"] = np.nan
    return table, y


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("min_categories", [None, 6])
def test_categorical_naive_bayes_equals_scikit_learn(rng, alpha, min_categories):
    X, y = rng.integers(0, 5, (400, 6)), rng.integers(0, 3, 400)
    weights = rng.uniform(0.5, 2, 400)
    params = {"alpha": alpha, "min_categories": min_categories}

    ours = CategoricalNB(**params).fit(X, y, weights)
    reference = theirs.CategoricalNB(**params).fit(X, y, weights)

    np.testing.assert_allclose(
        ours.predict_log_proba(X), reference.predict_log_proba(X), atol=1e-10
    )
    np.testing.assert_array_equal(ours.n_categories_, reference.n_categories_)
    np.testing.assert_allclose(ours.class_log_prior_, reference.class_log_prior_)
    for mine, other in zip(ours.feature_log_prob_, reference.feature_log_prob_, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10)
    for mine, other in zip(ours.category_count_, reference.category_count_, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10)


def test_mixed_table_with_missing_values(table):
    X, y = table

    model = MixedNB().fit(X, y)

    assert model.score(X, y) > 0.85
    explanation = model.explain(X.iloc[[1]])
    assert "domain" in str(explanation)
    # A missing value has no factor; without any factor the posterior is the prior.
    gaps = X.iloc[[1]].assign(size=np.nan, domain=None).astype({"domain": object})
    gaps["urgent"] = pd.Series([None], index=gaps.index, dtype=object)
    np.testing.assert_allclose(model.predict_proba(gaps)[0], np.exp(model.class_log_prior_))


def test_polars_and_pandas_give_the_same_model(table):
    X, y = table

    ours = MixedNB().fit(X, y)
    same = MixedNB().fit(pl.from_pandas(X), y)

    np.testing.assert_array_equal(ours.predict_proba(X), same.predict_proba(pl.from_pandas(X)))


def test_unseen_categories_are_ignored_other_or_refused(table):
    X, y = table
    new = X.iloc[[1]].assign(domain="gov")
    gap = X.iloc[[1]].assign(domain=None)

    model = MixedNB().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(gap))
    other = MixedNB(unseen="other").fit(X, y)
    assert not np.array_equal(other.predict_proba(new), other.predict_proba(gap))
    with pytest.raises(ValueError, match="does not occur in the training data"):
        MixedNB(unseen="error").fit(X, y).predict(new)


def test_likelihoods_by_column(table):
    X, y = table

    model = MixedNB(likelihood={"size": "gaussian"}).fit(X, y)

    assert [next(iter(kind)) for kind in model.likelihoods_] == [
        "gaussian",
        "categorical",
        "categorical",
    ]
    with pytest.raises(ValueError, match="likelihood"):
        MixedNB(likelihood={"sise": "gaussian"}).fit(X, y)


def test_partial_fit_and_model_files_of_tables(table, tmp_path):
    X, y = table

    whole = MixedNB().fit(X, y)
    parts = MixedNB().partial_fit(X[:150], y[:150], classes=["ham", "spam"])
    parts.partial_fit(X[150:], y[150:])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-9)

    whole.save(tmp_path / "mail.mercer")
    loaded = mercer.load(tmp_path / "mail.mercer")
    np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))


def test_a_column_that_changes_its_kind_is_refused_by_name(table):
    X, y = table
    model = MixedNB().fit(X, y)

    with pytest.raises(ValueError, match="size"):
        model.predict(X.assign(size="large"))


def test_string_columns_are_categories(table):
    X, y = table

    model = CategoricalNB().fit(X[["domain", "urgent"]], y)

    assert model.score(X[["domain", "urgent"]], y) > 0.7


@pytest.fixture
def mails(rng):
    """A text, a numeric and a categorical column; the text determines the class."""
    y = rng.choice(["ham", "spam"], 200)
    words = {
        "spam": ["win", "money", "now", "free", "prize"],
        "ham": ["meet", "lunch", "report", "see", "you"],
    }
    texts = [
        " ".join(rng.choice([*words[label], "the", "a"], 6)) + f" {k}" for k, label in enumerate(y)
    ]
    frame = pd.DataFrame(
        {"subject": texts, "size": rng.normal(size=200), "domain": rng.choice(["net", "org"], 200)}
    )
    frame.loc[3, "subject"] = None
    return frame, y


def test_text_columns_become_term_counts(mails, tmp_path):
    frame, y = mails

    model = MixedNB().fit(frame[:150], y[:150])

    assert model.score(frame[150:], y[150:]) > 0.95
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == ["subject", "size", "domain"]
    assert "money" in str(model.explain(frame.iloc[[0]])) or "lunch" in str(
        model.explain(frame.iloc[[0]])
    )
    # Columns are found by name, also by a loaded model.
    model.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    reordered = frame[["domain", "subject", "size"]]
    assert np.array_equal(again.predict_proba(reordered), model.predict_proba(frame))
    assert np.array_equal(
        model.predict(pl.from_pandas(frame[["size", "subject", "domain"]])), model.predict(frame)
    )


def test_partial_fit_of_a_table_with_text(mails):
    frame, y = mails
    whole = MixedNB(likelihood="gaussian").fit(frame, y)

    parts = MixedNB(likelihood="gaussian").partial_fit(frame, y, classes=np.unique(y))
    parts = parts.partial_fit(frame[:50], y[:50]).forget(frame[:50], y[:50])

    np.testing.assert_allclose(parts.predict_proba(frame), whole.predict_proba(frame), atol=1e-9)


def test_missing_text_column_is_named(mails):
    frame, y = mails
    model = MixedNB().fit(frame, y)

    with pytest.raises(ValueError, match="'subject'"):
        model.predict(frame[["size", "domain"]])
    with pytest.raises(ValueError, match="pass a table"):
        model.predict(np.zeros((2, 3)))
