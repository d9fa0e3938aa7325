"""Semi-supervised learning by expectation maximization."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import load
from mercer.discriminant_analysis import LinearDiscriminantAnalysis
from mercer.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from mercer.semi_supervised import ExpectationMaximization


@pytest.fixture
def heaps():
    random = np.random.default_rng(4)
    y = np.arange(2000) % 2
    X = random.normal(size=(2000, 4)) + 1.2 * y[:, None]
    return X, y


def hidden(y, n_labeled):
    partly = y.copy()
    partly[n_labeled:] = -1
    return partly


def test_unlabeled_rows_help_where_labels_are_few(heaps):
    X, y = heaps

    supervised = GaussianNB().fit(X[:10], y[:10]).score(X, y)
    model = ExpectationMaximization(GaussianNB()).fit(X, hidden(y, 10))

    assert model.score(X, y) > supervised + 0.02
    assert model.certificate_["rows"] == 2000
    assert model.certificate_["violation"] <= 1e-6
    assert 1 < model.certificate_["iterations"] <= 100


def test_none_nan_and_minus_one_mark_unlabeled_rows(heaps):
    X, y = heaps
    minus = hidden(y, 50)
    nan = np.where(minus < 0, np.nan, minus)
    none = np.where(minus < 0, None, minus)

    models = [ExpectationMaximization(GaussianNB()).fit(X, t) for t in (minus, nan, none)]

    for model in models:
        assert model.classes_.tolist() == [0, 1]
        assert np.array_equal(model.predict_proba(X), models[0].predict_proba(X))


def test_sparse_rows_give_the_model_of_dense_ones(heaps):
    X, y = heaps
    X = np.clip(np.round(X + 1), 0, None)
    for estimator in (MultinomialNB(), BernoulliNB()):
        dense = ExpectationMaximization(estimator).fit(X, hidden(y, 30))
        sparse = ExpectationMaximization(estimator).fit(sp.csr_matrix(X), hidden(y, 30))

        np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(X), atol=1e-9)


def test_without_unlabeled_rows_the_fit_is_supervised(heaps):
    X, y = heaps

    plain = LinearDiscriminantAnalysis().fit(X, y)
    model = ExpectationMaximization(LinearDiscriminantAnalysis()).fit(X, y)

    assert np.array_equal(plain.predict_proba(X), model.predict_proba(X))


def test_categorical_tables_and_model_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"color": ["red", "blue"] * 20, "size": [1.0, 5.0] * 20})
    y = (["a", "b"] * 20)[:6] + [None] * 34

    model = ExpectationMaximization(MixedNB(), weight=0.5).fit(frame, y)
    model.estimator_.save(tmp_path / "m.mercer")

    assert model.predict(frame[:2]).tolist() == ["a", "b"]
    assert load(tmp_path / "m.mercer").predict(frame[:2]).tolist() == ["a", "b"]


def test_invalid_arguments_are_refused(heaps):
    X, y = heaps

    with pytest.raises(TypeError, match="no likelihood"):
        ExpectationMaximization(ComplementNB()).fit(abs(X), hidden(y, 10))
    with pytest.raises(ValueError, match="no row has a label"):
        ExpectationMaximization(GaussianNB()).fit(X, np.full(2000, -1))
    with pytest.raises(ValueError, match="weight"):
        ExpectationMaximization(GaussianNB(), weight=-1).fit(X, hidden(y, 10))
    with pytest.raises(ValueError, match="does not support unlabeled rows"):
        ExpectationMaximization(ExpectationMaximization(GaussianNB())).fit(X, hidden(y, 10))
