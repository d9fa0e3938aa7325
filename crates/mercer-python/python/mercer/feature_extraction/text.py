"""From texts to counts of words and their weights, with scikit-learn's names and numbers.

Vocabularies and matrices are those of scikit-learn; columns are in order within a row, so that
``fit_transform`` and ``transform`` give the same bits. A preprocessor, tokenizer or analyzer of your
own, or a token pattern other than runs of word characters, is Python code and runs as such; all else
is compiled, takes texts where Python keeps them and uses all threads.
"""

import json
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.preprocessing import normalize
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from .. import _mercer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]

#: Scikit-learn's token pattern: words of at least two letters, digits or underscores.
TOKEN_PATTERN = r"(?u)\b\w\w+\b"

#: Patterns that say no more than how long a run of word characters is.
_RUNS = re.compile(r"(?:\(\?u\))?(?:\\b)?(?P<more>(?:\\w)*)\\w\+(?:\\b)?")

_WHITE_SPACES = re.compile(r"\s\s+")

_READING = {
    "input": [StrOptions({"filename", "file", "content"})],
    "encoding": [str],
    "decode_error": [StrOptions({"strict", "ignore", "replace"})],
    "strip_accents": [StrOptions({"ascii", "unicode"}), None, callable],
    "lowercase": ["boolean"],
    "preprocessor": [callable, None],
    "tokenizer": [callable, StrOptions({"unicode"}), None],
    "stop_words": [StrOptions({"english"}), list, None],
    "token_pattern": [str, None],
    "ngram_range": [tuple],
    "analyzer": [StrOptions({"word", "char", "char_wb"}), callable],
    "stem": [str, None],
}

_WEIGHING = {
    "norm": [StrOptions({"l1", "l2"}), None],
    "use_idf": ["boolean"],
    "smooth_idf": ["boolean"],
    "sublinear_tf": ["boolean"],
}


def _strip_accents_unicode(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _strip_accents_ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ASCII", "ignore").decode("ASCII")


class _Preprocess:
    """Lower case, then accents; a class so that it can be pickled."""

    def __init__(self, lowercase: bool, strip: Callable[[str], str] | None) -> None:
        self.lowercase = lowercase
        self.strip = strip

    def __call__(self, text: str) -> str:
        if self.lowercase:
            text = text.lower()
        return text if self.strip is None else self.strip(text)


class _Analyze:
    """From a document to its terms, step by step in Python."""

    def __init__(self, *steps: Callable[[Any], Any]) -> None:
        self.steps = steps

    def __call__(self, document: Any) -> Any:
        for step in self.steps:
            document = step(document)
        return document


class _Texts(TransformerMixin, BaseEstimator):
    """How documents are read; what the vectorizers have in common."""

    def decode(self, doc: Any) -> str:
        """The text of a document: read from its file and decoded, as ``input`` says."""
        if self.input == "filename":
            with open(doc, "rb") as file:
                doc = file.read()
        elif self.input == "file":
            doc = doc.read()
        if isinstance(doc, bytes):
            doc = doc.decode(self.encoding, self.decode_error)
        if doc is np.nan:
            raise ValueError("np.nan is an invalid document, expected byte or unicode string.")
        return doc

    def build_preprocessor(self) -> Callable[[str], str]:
        """What makes letters alike before words are looked for."""
        if self.preprocessor is not None:
            return self.preprocessor
        known = {"ascii": _strip_accents_ascii, "unicode": _strip_accents_unicode}
        strip = self.strip_accents
        if not strip:
            return _Preprocess(self.lowercase, None)
        if not callable(strip) and strip not in known:
            raise ValueError(f'Invalid value for "strip_accents": {strip}')
        return _Preprocess(self.lowercase, strip if callable(strip) else known[strip])

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """What splits a string into words."""
        if self.tokenizer == "unicode":
            reading = {"unit": "unicode-words", "case": "keep"}
            return _mercer.Analyzer(json.dumps(_reading(**reading)))
        if self.tokenizer is not None:
            return self.tokenizer
        pattern = re.compile(self.token_pattern)
        if pattern.groups > 1:
            raise ValueError(
                "More than 1 capturing group in token pattern. Only a single group should be captured."
            )
        return pattern.findall

    def get_stop_words(self) -> frozenset[str] | None:
        """The words that are left out."""
        if self.stop_words == "english":
            return ENGLISH_STOP_WORDS
        if isinstance(self.stop_words, str):
            raise ValueError(f"not a built-in stop list: {self.stop_words}")
        return None if self.stop_words is None else frozenset(self.stop_words)

    def build_analyzer(self) -> Callable[[Any], list[Any]]:
        """What makes the terms of a document: decoding, preprocessing, words, n-grams."""
        native = self._native()
        if native is not None:
            reading, before = native
            steps = [self.decode] if before is None else [self.decode, before]
            return _Analyze(*steps, _mercer.Analyzer(reading))
        if callable(self.analyzer):
            return _Analyze(self.decode, self.analyzer)
        preprocess, tokenize = self.build_preprocessor(), self.build_tokenizer()
        self._check_stop_words(preprocess, tokenize)
        return _Analyze(self.decode, preprocess, tokenize, self._word_ngrams)

    def _word_ngrams(self, tokens: Iterable[Any]) -> list[Any]:
        """Words in a row, after those left out are gone."""
        stop_words = self.get_stop_words()
        words = list(tokens) if stop_words is None else [w for w in tokens if w not in stop_words]
        low, high = self.ngram_range
        if (low, high) == (1, 1):
            return words
        terms = list(words) if low == 1 else []
        for n in range(max(low, 2), min(high, len(words)) + 1):
            terms.extend(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
        return terms

    def _native(self) -> tuple[str, Callable[[str], str] | None] | None:
        """How compiled code can read the texts, and what Python must do before; None if it cannot."""
        own = callable(self.analyzer) or (self.analyzer == "word" and callable(self.tokenizer))
        unit: Any = {"char": "characters", "char_wb": "characters-in-words"}.get(
            self.analyzer if isinstance(self.analyzer, str) else ""
        )
        if not own and self.analyzer == "word":
            runs = _RUNS.fullmatch(self.token_pattern or "")
            if self.tokenizer == "unicode":
                unit = "unicode-words"
            elif runs:
                unit = {"words": len(runs["more"]) // 2 + 1}
        if unit is None:
            if self.stem is not None:
                raise ValueError(
                    "stem works on words that mercer finds itself; with an analyzer, tokenizer or "
                    "token pattern of your own, take endings off in your tokenizer"
                )
            return None
        before = None
        case, accents = "lower" if self.lowercase else "keep", self.strip_accents or "keep"
        if self.preprocessor is not None or callable(self.strip_accents):
            before, case, accents = self.build_preprocessor(), "keep", "keep"
        stop_words: Any = "keep"
        if self.analyzer == "word" and self.stop_words is not None:
            words = self.get_stop_words()
            stop_words = "english" if self.stop_words == "english" else {"own": sorted(words)}
            if self.stop_words != "english" or before is not None or accents != "keep":
                self._check_stop_words(self.build_preprocessor(), self.build_tokenizer())
        stem = self.stem if self.analyzer == "word" else None
        reading = _reading(
            case=case,
            accents=accents,
            unit=unit,
            ngrams=[int(n) for n in self.ngram_range],
            stop_words=stop_words,
            stem=stem,
        )
        return json.dumps(reading), before

    def _check_stop_words(self, preprocess: Callable, tokenize: Callable) -> None:
        """Warns of words that are to be left out and never found as such."""
        if id(self.stop_words) == getattr(self, "_stop_words_id", None):
            return
        self._stop_words_id = id(self.stop_words)
        stop_words = self.get_stop_words() or ()
        try:
            found = {token for word in stop_words for token in tokenize(preprocess(word))}
        except Exception:
            return  # A preprocessor of the user's may not take a bare word.
        inconsistent = sorted(found - set(stop_words))
        if inconsistent:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop "
                f"words generated tokens {inconsistent!r} not in stop_words.",
                stacklevel=2,
            )

    def _check_reading(self, raw_documents: Any) -> None:
        if isinstance(raw_documents, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        low, high = self.ngram_range
        if low > high:
            raise ValueError(
                f"Invalid value for ngram_range={self.ngram_range} "
                "lower boundary larger than the upper boundary."
            )

    def _warn_of_unused(self) -> None:
        unused = []
        if callable(self.tokenizer) and self.token_pattern is not None:
            unused.append(("token_pattern", "'tokenizer' is not None'"))
        if callable(self.analyzer):
            if self.preprocessor is not None:
                unused.append(("preprocessor", "'analyzer' is callable'"))
            if self.ngram_range not in ((1, 1), None):
                unused.append(("ngram_range", "'analyzer' is callable'"))
        if self.analyzer != "word":
            for name, usual in (("stop_words", None), ("token_pattern", TOKEN_PATTERN)):
                if getattr(self, name) not in (None, usual):
                    unused.append((name, "'analyzer' != 'word'"))
            if self.tokenizer is not None:
                unused.append(("tokenizer", "'analyzer' != 'word'"))
            if self.stem is not None and not callable(self.analyzer):
                unused.append(("stem", "'analyzer' != 'word'"))
        for name, why in unused:
            warnings.warn(f"The parameter '{name}' will not be used since {why}", stacklevel=3)

    def _documents(self, raw: Iterable[Any], before: Callable[[str], str] | None) -> list[str]:
        """The documents as a list of strings."""
        documents = raw if type(raw) is list else list(raw)
        if self.input != "content" or not all(type(d) is str for d in documents):
            documents = [self.decode(d) for d in documents]
        return documents if before is None else [before(d) for d in documents]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _reading(**given: Any) -> dict[str, Any]:
    plain = {
        "case": "lower",
        "accents": "keep",
        "unit": {"words": 2},
        "ngrams": [1, 1],
        "stop_words": "keep",
        "stem": None,
    }
    return plain | given


def _matrix(parts: tuple, n_columns: int, dtype: Any) -> Any:
    """Compressed rows as scikit-learn hands them out."""
    starts, columns, values = parts
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)
    else:
        columns = columns.astype(np.int64)
    kind = sp.csr_array if _arrays() else sp.csr_matrix
    shape = (len(starts) - 1, n_columns)
    matrix = kind((values.astype(dtype, copy=False), columns, starts), shape=shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def _weigh(matrix: Any, idf: np.ndarray | None, norm: str | None) -> Any:
    """Weights and norms in place."""
    if matrix.data.dtype == np.float64 and matrix.indices.dtype == np.int32:
        idf = None if idf is None else np.ascontiguousarray(idf, dtype=np.float64)
        starts = matrix.indptr.astype(np.int64)
        _mercer.weigh_rows(starts, matrix.indices, matrix.data, idf, norm)
        return matrix
    if idf is not None:
        matrix.data *= idf[matrix.indices]
    return matrix if norm is None else normalize(matrix, norm=norm, copy=False)


class CountVectorizer(_Texts):
    r"""Counts how often every term occurs in every text.

    Parameters
    ----------
    input : {'filename', 'file', 'content'}, default='content'
        What documents are: names of files, open files, or texts themselves.
    encoding : str, default='utf-8'
        How bytes are decoded.
    decode_error : {'strict', 'ignore', 'replace'}, default='strict'
        What happens to bytes that cannot be decoded.
    strip_accents : {'ascii', 'unicode'} or callable, default=None
        Takes accents off; 'ascii' drops what is then still not ASCII.
    lowercase : bool, default=True
        Makes capitals small first.
    preprocessor : callable, default=None
        Takes the place of both, in Python.
    tokenizer : callable or 'unicode', default=None
        Finds words, in Python; 'unicode' finds them as Unicode separates words (UAX #29).
    stop_words : {'english'}, list, default=None
        Words to leave out.
    token_pattern : str or None, default=r"(?u)\\b\\w\\w+\\b"
        What a word is. Runs of ``\\w`` are compiled, others are found by Python.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        Terms are this many words or characters in a row.
    analyzer : {'word', 'char', 'char_wb'} or callable, default='word'
        What terms are made of; 'char_wb' takes characters within words only.
    max_df : float in [0, 1] or int, default=1.0
        Terms in more texts (a share, or a number) are left out.
    min_df : float in [0, 1] or int, default=1
        Terms in fewer texts are left out.
    max_features : int, default=None
        Of more terms than this, those that occur most often stay.
    vocabulary : Mapping or iterable, default=None
        The terms to count; all others are passed over.
    binary : bool, default=False
        Writes 1 for every count.
    dtype : dtype, default=np.int64
        What the counts are.
    stem : str, default=None
        The language whose endings are taken off words (Snowball), like 'english' or 'german'.

    Attributes
    ----------
    vocabulary_ : dict
        The terms and their columns.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

    Examples
    --------
    >>> from mercer.feature_extraction.text import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> counts = vectorizer.fit_transform(["the cat sat", "the cat, the dog"])
    >>> vectorizer.get_feature_names_out()
    array(['cat', 'dog', 'sat', 'the'], dtype=object)
    >>> counts.toarray()
    array([[1, 0, 1, 1],
           [1, 1, 0, 2]])
    """

    _parameter_constraints: dict = {
        **_READING,
        "max_df": [
            Interval(RealNotInt, 0, 1, closed="both"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "min_df": [
            Interval(RealNotInt, 0, 1, closed="both"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "vocabulary": [Mapping, HasMethods("__iter__"), None],
        "binary": ["boolean"],
        "dtype": "no_validation",
    }

    #: The compiled vocabulary, in the order of columns; None if terms are not all strings.
    _terms: _mercer.Vocabulary | None = None

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable | None = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float | int = 1.0,
        min_df: float | int = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        stem: str | None = None,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.stem = stem

    @property
    def vocabulary_(self) -> dict[Any, int]:
        """The terms and their columns."""
        made = self.__dict__.get("_vocabulary")
        if made is None:
            if self._terms is None:
                raise AttributeError("vocabulary_ is there after a fit")
            made = dict(zip(self._terms.terms(), range(len(self._terms)), strict=True))
            self._vocabulary = made
        return made

    @vocabulary_.setter
    def vocabulary_(self, vocabulary: Mapping[Any, int]) -> None:
        self._set_vocabulary(dict(vocabulary))

    def _set_vocabulary(self, vocabulary: dict[Any, int]) -> None:
        self._vocabulary = vocabulary
        terms = sorted(vocabulary, key=vocabulary.__getitem__)
        self._terms = _mercer.Vocabulary(terms) if all(type(t) is str for t in terms) else None

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """Learns the vocabulary.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Not used.
        """
        self.fit_transform(raw_documents)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> Any:
        """Learns the vocabulary and counts its terms.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Not used.

        Returns
        -------
        X : sparse matrix of shape (n_documents, n_terms)
        """
        return self._fit_transform(raw_documents)

    def _fit_transform(self, raw_documents: Iterable[Any]) -> Any:
        self._check_reading(raw_documents)
        self._warn_of_unused()
        self._validate_vocabulary()
        if self.fixed_vocabulary_:
            if self.lowercase and any(
                isinstance(term, str) and any(map(str.isupper, term)) for term in self.vocabulary
            ):
                warnings.warn(
                    "Upper case characters found in vocabulary while 'lowercase' is True. "
                    "These entries will not be matched with any documents",
                    stacklevel=3,
                )
            return self._count(raw_documents)
        native = self._native()
        if native is None:
            return self._fit_slowly(raw_documents)
        reading, before = native
        tallied = _mercer.tally_texts(self._documents(raw_documents, before), reading)
        documents = tallied.documents()
        n_texts = tallied.n_texts
        keep = self._keep(
            documents, n_texts, documents if self.binary else lambda: tallied.occurrences()
        )
        self._terms, parts = tallied.counts(keep)
        self._vocabulary = None
        if self.binary:
            parts[2].fill(1)
        return _matrix(parts, len(self._terms), self.dtype)

    def _keep(self, documents: np.ndarray, n_texts: int, occurrences: Any) -> np.ndarray:
        """Which terms stay."""
        if not len(documents):
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        high = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_texts
        low = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_texts
        if high < low:
            raise ValueError("max_df corresponds to < documents than min_df")
        keep = (documents <= high) & (documents >= low)
        if self.max_features is not None and keep.sum() > self.max_features:
            occurrences = occurrences() if callable(occurrences) else occurrences
            # The same call as scikit-learn's, so that equals are told apart the same way.
            most = (-occurrences[keep]).argsort()[: self.max_features]
            places = np.flatnonzero(keep)[most]
            keep = np.zeros_like(keep)
            keep[places] = True
        if not keep.any():
            raise ValueError(
                "After pruning, no terms remain. Try a lower min_df or a higher max_df."
            )
        return keep

    def _fit_slowly(self, raw_documents: Iterable[Any]) -> Any:
        """Terms by the user's own code."""
        found: dict[Any, int] = {}
        parts = _count_slowly(
            map(self.build_analyzer(), raw_documents), lambda term: found.setdefault(term, len(found))
        )
        matrix = _matrix(parts, len(found), np.int64)
        if self.binary:
            matrix.data.fill(1)
        terms = sorted(found)
        matrix = matrix[:, [found[term] for term in terms]]
        documents = np.bincount(matrix.indices, minlength=len(terms))
        keep = self._keep(documents, matrix.shape[0], lambda: np.asarray(matrix.sum(axis=0)).ravel())
        matrix = matrix[:, np.flatnonzero(keep)]
        matrix.sort_indices()
        kept = (term for term, stays in zip(terms, keep, strict=True) if stays)
        self._set_vocabulary({term: j for j, term in enumerate(kept)})
        return matrix.astype(self.dtype)

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Counts the terms of the vocabulary.

        Parameters
        ----------
        raw_documents : iterable
            The documents.

        Returns
        -------
        X : sparse matrix of shape (n_documents, n_terms)
        """
        self._check_reading(raw_documents)
        self._check_vocabulary()
        return self._count(raw_documents)

    def _count(self, raw_documents: Iterable[Any]) -> Any:
        native = self._native()
        if native is not None and self._terms is not None:
            reading, before = native
            documents = self._documents(raw_documents, before)
            parts, n = self._terms.count(documents, reading), len(self._terms)
        else:
            find, n = self.vocabulary_.get, len(self.vocabulary_)
            parts = _count_slowly(map(self.build_analyzer(), raw_documents), find)
        if self.binary:
            parts[2].fill(1)
        return _matrix(parts, n, self.dtype)

    def _validate_vocabulary(self) -> None:
        vocabulary = self.vocabulary
        self.fixed_vocabulary_ = vocabulary is not None
        if vocabulary is None:
            return
        if isinstance(vocabulary, set):
            vocabulary = sorted(vocabulary)
        if isinstance(vocabulary, Mapping):
            indices = set(vocabulary.values())
            if len(indices) != len(vocabulary):
                raise ValueError("Vocabulary contains repeated indices.")
            for i in range(len(vocabulary)):
                if i not in indices:
                    raise ValueError(
                        f"Vocabulary of size {len(vocabulary)} doesn't contain index {i}."
                    )
        else:
            places: dict[Any, int] = {}
            for i, term in enumerate(vocabulary):
                if places.setdefault(term, i) != i:
                    raise ValueError(f"Duplicate term in vocabulary: {term!r}")
            vocabulary = places
        if not vocabulary:
            raise ValueError("empty vocabulary passed to fit")
        self._set_vocabulary(dict(vocabulary))

    def _check_vocabulary(self) -> None:
        if self._terms is None and self.__dict__.get("_vocabulary") is None:
            self._validate_vocabulary()
            if not self.fixed_vocabulary_:
                raise NotFittedError("Vocabulary not fitted or provided")

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """The terms of every row that have a number other than zero.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_documents, n_terms)
            Counts or weights.
        """
        self._check_vocabulary()
        X = check_array(X, accept_sparse="csr")
        terms = np.array(self._names())
        if sp.issparse(X):
            ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
            return [terms[np.sort(X.indices[a:b][X.data[a:b] != 0])] for a, b in ends]
        return [terms[np.flatnonzero(row)] for row in X]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms in the order of columns.

        Parameters
        ----------
        input_features : None
            Not used.
        """
        self._check_vocabulary()
        return np.asarray(self._names(), dtype=object)

    def _names(self) -> list[Any]:
        if self._terms is not None:
            return self._terms.terms()
        return sorted(self.vocabulary_, key=self.vocabulary_.__getitem__)

    def __getstate__(self) -> dict[str, Any]:
        """The compiled vocabulary is small in a pickle; the dictionary can be made again."""
        state = dict(super().__getstate__())
        if self._terms is not None:
            state["_vocabulary"] = None
        return state

    def __sklearn_is_fitted__(self) -> bool:
        known = self._terms is not None or self.__dict__.get("_vocabulary") is not None
        return known or self.vocabulary is not None


def _count_slowly(terms: Iterable[Iterable[Any]], place: Callable[[Any], int | None]) -> tuple:
    """Counts terms that Python made, by the place of each; terms without one are passed over."""
    starts, columns, values = [0], [], []
    for document in terms:
        counts: dict[int, int] = {}
        for term in document:
            j = place(term)
            if j is not None:
                counts[j] = counts.get(j, 0) + 1
        row = sorted(counts)
        columns.extend(row)
        values.extend(counts[j] for j in row)
        starts.append(len(columns))
    return (
        np.array(starts, dtype=np.int64),
        np.array(columns, dtype=np.int32),
        np.array(values, dtype=np.float64),
    )


class TfidfTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turns counts into tf-idf weights.

    A term that occurs in ``m`` of ``M`` texts weighs ``log((1 + M) / (1 + m)) + 1``, or
    ``log(M / m) + 1`` without smoothing.

    Parameters
    ----------
    norm : {'l1', 'l2'} or None, default='l2'
        What is one for every row in the end.
    use_idf : bool, default=True
        Whether rare terms weigh more.
    smooth_idf : bool, default=True
        Counts one more text that has every term.
    sublinear_tf : bool, default=False
        Replaces a count by one and its logarithm.

    Attributes
    ----------
    idf_ : array of shape (n_terms,)
        The weight of every term; there if ``use_idf``.

    Examples
    --------
    >>> from mercer.feature_extraction.text import TfidfTransformer
    >>> TfidfTransformer().fit([[3, 0], [2, 1]]).idf_
    array([1.        , 1.40546511])
    """

    _parameter_constraints: dict = _WEIGHING

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns the weight of every term.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_documents, n_terms)
            Counts.
        y : None
            Not used.
        """
        X = validate_data(self, X, accept_sparse=("csr", "csc"))
        X = X if sp.issparse(X) and X.format == "csr" else sp.csr_array(X)
        return self._learn(X)

    def _learn(self, X: Any) -> Self:
        if self.use_idf:
            dtype = X.dtype if X.dtype in (np.float64, np.float32) else np.float64
            n_texts = X.shape[0] + int(self.smooth_idf)
            documents = np.bincount(X.indices, minlength=X.shape[1]).astype(dtype)
            documents += float(self.smooth_idf)
            self.idf_ = np.full_like(documents, fill_value=n_texts)
            self.idf_ /= documents
            np.log(self.idf_, out=self.idf_)
            self.idf_ += 1.0
        return self

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weighs counts.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_documents, n_terms)
            Counts.
        copy : bool, default=True
            Whether to leave X as it is.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], copy=copy, reset=False
        )
        if not sp.issparse(X):
            kind = sp.csr_array if _arrays() else sp.csr_matrix
            X = kind(X)
        return self._transform(X)

    def _transform(self, X: Any) -> Any:
        if self.sublinear_tf:
            np.log(X.data, X.data)
            X.data += 1.0
        return _weigh(X, getattr(self, "idf_", None), self.norm)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "idf_") or (not self.use_idf and hasattr(self, "n_features_in_"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class TfidfVectorizer(CountVectorizer):
    r"""Weighs how often every term occurs in every text: counts, then tf-idf.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer, \
stop_words, token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, stem
        As those of :class:`CountVectorizer`.
    dtype : dtype, default=np.float64
        What the weights are.
    norm, use_idf, smooth_idf, sublinear_tf
        As those of :class:`TfidfTransformer`.

    Attributes
    ----------
    vocabulary_ : dict
        The terms and their columns.
    idf_ : array of shape (n_terms,)
        The weight of every term; there if ``use_idf``.

    Examples
    --------
    >>> from mercer.feature_extraction.text import TfidfVectorizer
    >>> weights = TfidfVectorizer().fit_transform(["the cat sat", "the dog sat"])
    >>> weights.toarray().round(3)
    array([[0.705, 0.   , 0.502, 0.502],
           [0.   , 0.705, 0.502, 0.502]])
    """

    _parameter_constraints: dict = {**CountVectorizer._parameter_constraints, **_WEIGHING}

    _tfidf: TfidfTransformer

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable | None = None,
        tokenizer: Any = None,
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: str | None = TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float | int = 1.0,
        min_df: float | int = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        stem: str | None = None,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
            stem=stem,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    @property
    def idf_(self) -> np.ndarray:
        """The weight of every term."""
        if not hasattr(self, "_tfidf"):
            raise NotFittedError(
                f"{type(self).__name__} is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this attribute."
            )
        return self._tfidf.idf_

    @idf_.setter
    def idf_(self, value: np.ndarray) -> None:
        if not self.use_idf:
            raise ValueError("`idf_` cannot be set when `use_idf=False`.")
        if not hasattr(self, "_tfidf"):
            self._tfidf = self._transformer()
        self._check_vocabulary()
        if len(self.vocabulary_) != len(value):
            raise ValueError(
                f"idf length = {len(value)} must be equal to vocabulary size = {len(self.vocabulary_)}"
            )
        self._tfidf.idf_ = np.asarray(value, dtype=np.float64)

    def _transformer(self) -> TfidfTransformer:
        return TfidfTransformer(
            norm=self.norm,
            use_idf=self.use_idf,
            smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf,
        )

    def _check_dtype(self) -> None:
        if self.dtype not in FLOAT_DTYPES:
            warnings.warn(
                f"Only {FLOAT_DTYPES} 'dtype' should be used. {self.dtype} 'dtype' will "
                "be converted to np.float64.",
                UserWarning,
                stacklevel=3,
            )

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """Learns the vocabulary and the weights.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Not used.
        """
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> Any:
        """Learns the vocabulary and the weights, and weighs the documents.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Not used.
        """
        return self._weighed(self._learn(raw_documents))

    @_fit_context(prefer_skip_nested_validation=True)
    def _learn(self, raw_documents: Iterable[Any]) -> Any:
        self._check_dtype()
        X = self._fit_transform(raw_documents)
        self._tfidf = self._transformer()._learn(X)
        return X

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Weighs the terms of the vocabulary.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        """
        check_is_fitted(self, msg="The TF-IDF vectorizer is not fitted")
        return self._weighed(super().transform(raw_documents))

    def _weighed(self, X: Any) -> Any:
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        return self._tfidf._transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_tfidf")


class HashingVectorizer(_Texts):
    r"""Counts terms by their hash: no vocabulary to learn, to keep or to outgrow.

    A term's column is its MurmurHash3 modulo ``n_features``.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
token_pattern, ngram_range, analyzer, stem
        As those of :class:`CountVectorizer`.
    n_features : int, default=2**20
        How many columns there are; fewer take less memory and mix up more terms.
    binary : bool, default=False
        Writes 1 for every count.
    norm : {'l1', 'l2'} or None, default='l2'
        What is one for every row in the end.
    alternate_sign : bool, default=True
        Lets half of the terms count negative, so that terms in one column cancel on average.
    dtype : dtype, default=np.float64
        What the numbers are.
    keep_names : bool, default=False
        Has ``fit`` remember for every column the term that brought most documents to it. Takes
        memory by the number of distinct terms.

    Attributes
    ----------
    names_ : dict
        Columns and terms; there after ``fit`` if ``keep_names``.

    Examples
    --------
    >>> from mercer.feature_extraction.text import HashingVectorizer
    >>> vectorizer = HashingVectorizer(n_features=1024, norm=None, keep_names=True)
    >>> vectorizer.fit_transform(["ham ham eggs"]).toarray().sum()
    np.float64(3.0)
    >>> sorted(vectorizer.names_.values())
    ['eggs', 'ham']
    """

    _parameter_constraints: dict = {
        **_READING,
        "n_features": [Interval(Integral, 1, np.iinfo(np.int32).max, closed="left")],
        "binary": ["boolean"],
        "norm": [StrOptions({"l1", "l2"}), None],
        "alternate_sign": ["boolean"],
        "dtype": "no_validation",
        "keep_names": ["boolean"],
    }

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable | None = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: Any = np.float64,
        stem: str | None = None,
        keep_names: bool = False,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype
        self.stem = stem
        self.keep_names = keep_names

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Checks the parameters; learns nothing but names, and those only if asked.

        Parameters
        ----------
        X : iterable
            The documents.
        y : None
            Not used.
        """
        self._check_reading(X)
        self._warn_of_unused()
        if self.keep_names:
            native = self._native()
            if native is None:
                raise ValueError("keep_names needs terms that mercer finds itself")
            names = _mercer.hash_names(
                self._documents(X, native[1]), native[0], int(self.n_features)
            )
            self.names_ = {j: name for j, name in enumerate(names) if name is not None}
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Checks the parameters.

        Parameters
        ----------
        X : iterable
            Not used.
        y : None
            Not used.
        """
        return self

    def fit_transform(self, X: Iterable[Any], y: Any = None) -> Any:
        """Counts the terms of documents.

        Parameters
        ----------
        X : iterable
            The documents.
        y : None
            Not used.
        """
        if not isinstance(X, str | list):
            X = list(X)
        return self.fit(X, y).transform(X)

    def transform(self, X: Iterable[Any]) -> Any:
        """Counts the terms of documents.

        Parameters
        ----------
        X : iterable
            The documents.

        Returns
        -------
        X : sparse matrix of shape (n_documents, n_features)
        """
        self._check_reading(X)
        native, n = self._native(), int(self.n_features)
        if native is not None:
            texts = self._documents(X, native[1])
            parts = _mercer.hash_texts(texts, native[0], n, bool(self.alternate_sign))
        else:
            parts = self._count_slowly(X, n)
        if self.binary:
            parts[2].fill(1)
        return _weigh(_matrix(parts, n, self.dtype), None, self.norm)

    def _count_slowly(self, X: Iterable[Any], n: int) -> tuple:
        starts, columns, values = [0], [], []
        for document in map(self.build_analyzer(), X):
            counts: dict[int, float] = {}
            for term in document:
                j, positive = _mercer.hash_term(term, n)
                step = 1.0 if positive or not self.alternate_sign else -1.0
                counts[j] = counts.get(j, 0.0) + step
            row = sorted(counts)
            columns.extend(row)
            values.extend(counts[j] for j in row)
            starts.append(len(columns))
        return (
            np.array(starts, dtype=np.int64),
            np.array(columns, dtype=np.int32),
            np.array(values, dtype=np.float64),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _arrays() -> bool:
    """Whether sparse arrays are wanted rather than matrices."""
    return sklearn.get_config().get("sparse_interface") == "sparray"
