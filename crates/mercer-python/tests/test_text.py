"""Text vectorizers: the vocabularies and matrices of scikit-learn."""

import io
import pickle
import unicodedata
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.feature_extraction.text as theirs
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import mercer
from mercer.feature_extraction import text as ours
from mercer.naive_bayes import MultinomialNB

TRICKY = [
    "The quick brown fox doesn't jump: it's 42 years old_er, isn't it?",
    "",
    "   \t\n  ",
    "İstanbul'da ISPARTA ıslak; STRASSE straße GROẞ ﬁne ﬂy ⅷ ½ ² ٣٤ 你好 世界",
    "cafe\u0301 café CAFÉ na\u00efve \u0130 ΟΔΟΣ ΣΑΣ Σ σς ǅ ŉ",
    "emoji 😀😀 a😀b x\u200dy zero\u200bwidth soft\u00adhyphen हिन्दी ไทย 한국어",
    "snake_case __init__ _ __ 1_000 3.14 1e-9 C++ c# .net",
    "tabs\tand\x1cseparators\x1f \xa0 nbsp\x85next   many    spaces\r\n\r\nlines",
    "a b c I x y z",
    "THE the The tHe",
    "№5 ℡ ㎏ Ⅻ ª º",
    "don’t ‘quote’ l'été c’est—dash – en … dots",
    "repeat repeat repeat word word",
    "\ufeffbom first",
    "ｆｕｌｌ ｗｉｄｔｈ １２３",
]


def same(a, b):
    """Two matrices of the same numbers, to the bit."""
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    b = b.copy()
    b.sort_indices()
    assert np.array_equal(a.indptr, b.indptr)
    assert np.array_equal(a.indices, b.indices)
    assert np.array_equal(a.data, b.data)


READINGS = [
    {},
    {"lowercase": False},
    {"strip_accents": "ascii"},
    {"strip_accents": "unicode"},
    {"strip_accents": "unicode", "lowercase": False},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"\w\w\w+"},
    {"token_pattern": r"(?u)\b[a-z]+\b"},
    {"token_pattern": r"(\w)\w+"},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"stop_words": "english"},
    {"stop_words": ["the", "it"], "ngram_range": (1, 3)},
    {"analyzer": "char"},
    {"analyzer": "char", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 1)},
    {"analyzer": "char_wb", "ngram_range": (3, 5), "strip_accents": "ascii"},
    {"tokenizer": str.split, "token_pattern": None},
    {"preprocessor": lambda text: text.replace("o", "0").upper()},
    {"preprocessor": str.upper, "analyzer": "char_wb", "ngram_range": (2, 2)},
    {"strip_accents": lambda text: text.replace("é", "E")},
    {"analyzer": lambda text: text.split()},
    {"binary": True},
    {"min_df": 2},
    {"max_df": 0.2},
    {"min_df": 2, "max_df": 5, "max_features": 4},
    {"max_features": 10},
    {"max_features": 7, "binary": True},
    {"dtype": np.float32},
]


def options(given):
    """The name of a case, the same in every process: functions go by their names."""
    return ", ".join(f"{key}={getattr(value, '__name__', value)}" for key, value in given.items())


@pytest.mark.parametrize("given", READINGS, ids=options)
def test_counts_equal_scikit_learn(given):
    their, our = theirs.CountVectorizer(**given), ours.CountVectorizer(**given)

    same(our.fit_transform(TRICKY), their.fit_transform(TRICKY))
    assert our.vocabulary_ == their.vocabulary_
    assert np.array_equal(our.get_feature_names_out(), their.get_feature_names_out())
    new = [*reversed(TRICKY), "something quite new the 42"]
    same(our.transform(new), their.transform(new))
    their_terms, our_terms = their.build_analyzer(), our.build_analyzer()
    for text in TRICKY:
        assert our_terms(text) == list(their_terms(text))


@pytest.mark.parametrize("given", READINGS, ids=options)
def test_tfidf_equals_scikit_learn(given):
    given = {"norm": "l2", **given}
    their = theirs.TfidfVectorizer(**given).fit(TRICKY)
    our = ours.TfidfVectorizer(**given)

    weights = our.fit_transform(TRICKY)

    # Scikit-learn's own fit_transform adds squares in another order than its transform.
    same(weights, their.transform(TRICKY))
    same(our.transform(TRICKY), weights)
    assert np.array_equal(our.idf_, their.idf_)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
@pytest.mark.parametrize("use_idf", [True, False])
@pytest.mark.parametrize("smooth_idf", [True, False])
@pytest.mark.parametrize("sublinear_tf", [True, False])
def test_tfidf_options_equal_scikit_learn(norm, use_idf, smooth_idf, sublinear_tf):
    given = dict(norm=norm, use_idf=use_idf, smooth_idf=smooth_idf, sublinear_tf=sublinear_tf)
    their = theirs.TfidfVectorizer(**given).fit(TRICKY)
    same(ours.TfidfVectorizer(**given).fit_transform(TRICKY), their.transform(TRICKY))
    counts = theirs.CountVectorizer().fit(TRICKY).transform(TRICKY)
    their = theirs.TfidfTransformer(**given).fit_transform(counts)
    same(ours.TfidfTransformer(**given).fit_transform(counts), their)
    same(ours.TfidfTransformer(**given).fit_transform(counts.toarray()), their)


@pytest.mark.parametrize("given", READINGS[:22], ids=options)
@pytest.mark.parametrize("n_features", [7, 2**20])
@pytest.mark.parametrize("alternate_sign", [True, False])
def test_hashing_equals_scikit_learn(given, n_features, alternate_sign):
    given = {**given, "n_features": n_features, "alternate_sign": alternate_sign}
    for more in ({}, {"norm": None}, {"binary": True, "norm": "l1"}):
        their = theirs.HashingVectorizer(**given, **more).transform(TRICKY)
        same(ours.HashingVectorizer(**given, **more).transform(TRICKY), their)


def test_random_unicode_equals_scikit_learn():
    rng = np.random.default_rng(0)
    # Code points that this Python knows; newer ones are letters to us and unassigned to it.
    known = [c for c in map(chr, range(1, 0x11000)) if unicodedata.category(c) not in ("Cn", "Cs")]
    texts = ["".join(rng.choice(known, 200)) for _ in range(200)]
    for given in (
        {},
        {"strip_accents": "unicode"},
        {"strip_accents": "ascii"},
        {"analyzer": "char_wb", "ngram_range": (1, 3)},
    ):
        their, our = theirs.CountVectorizer(**given), ours.CountVectorizer(**given)
        same(our.fit_transform(texts), their.fit_transform(texts))
        assert our.vocabulary_ == their.vocabulary_


def test_the_definitions_of_the_lecture_are_options():
    documents = ["spam spam eggs", "eggs ham", "ham ham ham"]
    counts = ours.CountVectorizer().fit_transform(documents)

    def weights(**options):
        vectorizer = ours.TfidfVectorizer(norm=None, **options)
        transformer = ours.TfidfTransformer(norm=None, **options)
        found = vectorizer.fit_transform(documents).toarray()
        np.testing.assert_array_equal(transformer.fit_transform(counts).toarray(), found)
        np.testing.assert_array_equal(vectorizer.transform(documents).toarray(), found)
        return found

    # Columns eggs, ham, spam; eggs and ham are in two of three documents, spam is in one.
    tf = [[1 / 3, 0, 2 / 3], [1 / 2, 1 / 2, 0], [0, 1, 0]]
    idf = np.log([3 / 2, 3 / 2, 3])
    np.testing.assert_allclose(weights(tf="frequency", idf="none"), tf)
    np.testing.assert_allclose(weights(tf="frequency", idf="information"), tf * idf)
    np.testing.assert_allclose(
        weights(tf="count", idf="information-plus-one"),
        counts.toarray() * np.log([1, 1, 3 / 2]),
    )
    np.testing.assert_array_equal(
        weights(tf="binary", idf="none"), [[1, 0, 1], [1, 1, 0], [0, 1, 0]]
    )
    # The names of scikit-learn's own definitions.
    np.testing.assert_array_equal(
        weights(idf="plain", tf="log"), weights(smooth_idf=False, sublinear_tf=True)
    )
    np.testing.assert_array_equal(weights(idf="smooth"), weights())
    with pytest.raises(ValueError, match="'tf' parameter"):
        ours.TfidfVectorizer(tf="often").fit(documents)


def test_given_vocabulary_has_its_order():
    for vocabulary in (["the", "42", "fox"], {"fox": 0, "the": 1}, {"zebra", "the"}):
        given = {"vocabulary": vocabulary}
        their, our = theirs.CountVectorizer(**given), ours.CountVectorizer(**given)
        same(our.transform(TRICKY), their.transform(TRICKY))
        same(our.fit_transform(TRICKY), their.fit_transform(TRICKY))
        assert our.vocabulary_ == their.vocabulary_
        assert our.fixed_vocabulary_ is True


def test_documents_come_as_bytes_files_arrays_and_generators(tmp_path):
    texts = ["naïve café", "plain"]
    expected = theirs.CountVectorizer().fit_transform(texts)
    encoded = [t.encode("latin-1") for t in texts]
    same(ours.CountVectorizer(encoding="latin-1").fit_transform(encoded), expected)
    with pytest.raises(UnicodeDecodeError):
        ours.CountVectorizer().fit(encoded)
    ignored = theirs.CountVectorizer(decode_error="ignore").fit(encoded).vocabulary_
    assert ours.CountVectorizer(decode_error="ignore").fit(encoded).vocabulary_ == ignored
    paths = [tmp_path / f"{i}.txt" for i in range(2)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    same(ours.CountVectorizer(input="filename").fit_transform(paths), expected)
    files = [io.BytesIO(t.encode()) for t in texts]
    same(ours.CountVectorizer(input="file").fit_transform(files), expected)
    same(ours.CountVectorizer().fit_transform(t for t in texts), expected)
    same(ours.CountVectorizer().fit_transform(np.array(texts, dtype=object)), expected)
    same(ours.CountVectorizer().fit_transform(np.array(texts)), expected)


def test_what_cannot_be_is_refused_as_scikit_learn_does():
    for bad, texts, message in [
        ({}, "one string", "Iterable over raw text documents expected"),
        ({}, ["", "a b"], "empty vocabulary"),
        ({"ngram_range": (2, 1)}, TRICKY, "Invalid value for ngram_range"),
        ({"min_df": 10, "max_df": 2}, TRICKY, "max_df corresponds to"),
        ({"min_df": 15}, TRICKY, "no terms remain"),
        ({"vocabulary": ["a", "a"]}, TRICKY, "Duplicate term"),
        ({"vocabulary": {"a": 0, "b": 2}}, TRICKY, "doesn't contain index 1"),
        ({"token_pattern": r"(a)(b)"}, TRICKY, "More than 1 capturing group"),
        ({"min_df": 0}, TRICKY, "min_df"),
        ({"analyzer": "sentence"}, TRICKY, "analyzer"),
        ({}, ["ok", np.nan], "np.nan is an invalid document"),
        ({"stem": "klingon"}, TRICKY, "finnish"),
        ({"stem": "english", "tokenizer": str.split, "token_pattern": None}, TRICKY, "tokenizer"),
    ]:
        with pytest.raises(ValueError, match=message):
            ours.CountVectorizer(**bad).fit(texts)
        if "stem" not in bad:
            with pytest.raises(ValueError, match=message):
                theirs.CountVectorizer(**bad).fit(texts)
    with pytest.raises(ValueError, match="document 1 is of type"):
        ours.CountVectorizer().fit(["ok", 5])


def test_terms_come_back_and_copies_work():
    our = ours.TfidfVectorizer(ngram_range=(1, 2), stop_words="english").fit(TRICKY)
    their = theirs.TfidfVectorizer(ngram_range=(1, 2), stop_words="english").fit(TRICKY)
    X = their.transform(TRICKY)
    for a, b in zip(our.inverse_transform(X), their.inverse_transform(X), strict=True):
        assert sorted(a) == sorted(b)
    again = pickle.loads(pickle.dumps(our))
    same(again.transform(TRICKY), our.transform(TRICKY))
    assert again.vocabulary_ == our.vocabulary_
    fresh = clone(our)
    assert not hasattr(fresh, "vocabulary_")
    assert fresh.get_params() == our.get_params()
    assert len(fresh.set_params(max_features=5).fit(TRICKY).vocabulary_) == 5
    analyze = pickle.loads(pickle.dumps(our.build_analyzer()))
    assert analyze("The Green fox") == ["green", "fox", "green fox"]


def test_unfitted_vectorizers_raise():
    with pytest.raises(NotFittedError):
        ours.CountVectorizer().transform(TRICKY)
    with pytest.raises(NotFittedError):
        ours.TfidfVectorizer().transform(TRICKY)
    with pytest.raises(NotFittedError):
        _ = ours.TfidfVectorizer().idf_


def test_unused_parameters_warn():
    for given in (
        {"tokenizer": str.split},
        {"analyzer": "char", "stop_words": "english"},
        {"analyzer": str.split, "ngram_range": (1, 2)},
        {"stop_words": ["Don't"]},
    ):
        for module in (theirs, ours):
            with pytest.warns(UserWarning):
                module.CountVectorizer(**given).fit(TRICKY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.CountVectorizer(stop_words="english", ngram_range=(1, 2)).fit(TRICKY)


def test_unicode_tokenizer_and_stemmer():
    texts = ["The engines' engineers don't engineer 3.14 engines"]
    unicode = ours.CountVectorizer(tokenizer="unicode").fit(texts)
    assert {"don't", "3.14"} <= set(unicode.vocabulary_)
    stemmed = ours.CountVectorizer(stem="english").fit(texts)
    assert list(stemmed.get_feature_names_out()) == ["14", "don", "engin", "the"]


def test_hashing_stores_names():
    vectorizer = ours.HashingVectorizer(n_features=1024, norm=None, store_names=True)
    X = vectorizer.fit_transform(["ham ham eggs", "ham"])
    assert {vectorizer.names_[j] for j in X.indices} == {"ham", "eggs"}


@pytest.mark.parametrize("threads", [1, 3])
def test_result_does_not_depend_on_the_number_of_threads(threads):
    texts = [f"w{i % 97} w{i * i % 89} v{i % 7} " * (i % 13) + "é" for i in range(5000)]
    before = mercer.get_threads()
    mercer.set_threads(threads)
    try:
        our = ours.TfidfVectorizer().fit_transform(texts)
    finally:
        mercer.set_threads(before)
    same(our, theirs.TfidfVectorizer().fit(texts).transform(texts))


def test_text_pipeline():
    texts = ["win money now", "cheap money win", "meeting at noon", "lunch at noon"]
    labels = ["spam", "spam", "ham", "ham"]
    for vectorizer in (
        ours.CountVectorizer(),
        ours.TfidfVectorizer(),
        ours.HashingVectorizer(alternate_sign=False, n_features=64),
    ):
        model = make_pipeline(vectorizer, MultinomialNB()).fit(texts, labels)
        assert list(model.predict(["win cheap", "noon meeting"])) == ["spam", "ham"]


def test_idf_can_be_set():
    fitted = ours.TfidfVectorizer().fit(TRICKY)
    other = ours.TfidfVectorizer(vocabulary=fitted.vocabulary_)
    other.idf_ = fitted.idf_
    same(other.transform(TRICKY), fitted.transform(TRICKY))
    assert sp.issparse(other.transform(TRICKY))
