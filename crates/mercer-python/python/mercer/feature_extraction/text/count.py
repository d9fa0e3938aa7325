"""How often every term occurs in every text."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt

from ... import _mercer
from .matrix import matrix_of
from .reading import READING, TOKEN_PATTERN, Texts


class CountVectorizer(Texts):
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
        **READING,
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
        return matrix_of(parts, len(self._terms), self.dtype)

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
        matrix = matrix_of(parts, len(found), np.int64)
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
        return matrix_of(parts, n, self.dtype)

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
