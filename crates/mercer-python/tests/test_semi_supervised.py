"""Learning from rows without a class."""

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


def hidden(y, known):
    some = y.copy()
    some[known:] = -1
    return some


def test_unlabeled_rows_help_where_labels_are_few(heaps):
    X, y = heaps

    alone = GaussianNB().fit(X[:10], y[:10]).score(X, y)
    model = ExpectationMaximization(GaussianNB()).fit(X, hidden(y, 10))

    assert model.score(X, y) > alone + 0.02
    assert model.certificate_["rows"] == 2000
    assert model.certificate_["violation"] <= 1e-6
    assert 1 < model.certificate_["iterations"] <= 100


def test_none_nan_and_minus_one_all_mean_no_class(heaps):
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


def test_no_unlabeled_rows_is_a_plain_fit(heaps):
    X, y = heaps

    plain = LinearDiscriminantAnalysis().fit(X, y)
    model = ExpectationMaximization(LinearDiscriminantAnalysis()).fit(X, y)

    assert np.array_equal(plain.predict_proba(X), model.predict_proba(X))


def test_tables_with_words_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"color": ["red", "blue"] * 20, "size": [1.0, 5.0] * 20})
    y = (["a", "b"] * 20)[:6] + [None] * 34

    model = ExpectationMaximization(MixedNB(), weight=0.5).fit(frame, y)
    model.estimator_.save(tmp_path / "m.mercer")

    assert model.predict(frame[:2]).tolist() == ["a", "b"]
    assert load(tmp_path / "m.mercer").predict(frame[:2]).tolist() == ["a", "b"]


def test_what_cannot_be_is_refused(heaps):
    X, y = heaps

    with pytest.raises(TypeError, match="no likelihood"):
        ExpectationMaximization(ComplementNB()).fit(abs(X), hidden(y, 10))
    with pytest.raises(ValueError, match="no row has a class"):
        ExpectationMaximization(GaussianNB()).fit(X, np.full(2000, -1))
    with pytest.raises(ValueError, match="weight"):
        ExpectationMaximization(GaussianNB(), weight=-1).fit(X, hidden(y, 10))
    with pytest.raises(ValueError, match="cannot learn"):
        ExpectationMaximization(ExpectationMaximization(GaussianNB())).fit(X, hidden(y, 10))
