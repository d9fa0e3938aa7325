"""Document-term matrices of term counts."""

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
from .vectorizer import ANALYZER_CONSTRAINTS, TOKEN_PATTERN, Vectorizer


class CountVectorizer(Vectorizer):
    r"""The counts of the terms of a vocabulary in each document.

    Parameters
    ----------
    input : {'filename', 'file', 'content'}, default='content'
        Whether documents are file names, open files, or strings.
    encoding : str, default='utf-8'
        Encoding of documents that are bytes.
    decode_error : {'strict', 'ignore', 'replace'}, default='strict'
        How bytes that cannot be decoded are handled, as in ``bytes.decode``.
    strip_accents : {'ascii', 'unicode'} or callable, default=None
        Removes accents; 'ascii' also removes all characters that are then not ASCII.
    lowercase : bool, default=True
        Converts the text to lower case before tokenizing.
    preprocessor : callable, default=None
        Replaces ``strip_accents`` and ``lowercase`` by a Python function.
    tokenizer : callable or 'unicode', default=None
        A Python function that returns the tokens of a string; 'unicode' uses the word boundaries of
        Unicode (UAX #29).
    stop_words : {'english'}, list, default=None
        Words that are removed.
    token_pattern : str or None, default=r"(?u)\\b\\w\\w+\\b"
        Regular expression of a token. Runs of ``\\w`` are compiled; other patterns run in Python.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        Minimum and maximum length of the n-grams, in words or characters.
    analyzer : {'word', 'char', 'char_wb'} or callable, default='word'
        Whether terms are n-grams of words or of characters; 'char_wb' forms n-grams of characters
        within word boundaries only.
    max_df : float in [0, 1] or int, default=1.0
        Maximum document frequency of a term, as a fraction or a number of documents.
    min_df : float in [0, 1] or int, default=1
        Minimum document frequency of a term, as a fraction or a number of documents.
    max_features : int, default=None
        Maximum size of the vocabulary, of the terms with the highest counts.
    vocabulary : Mapping or iterable, default=None
        The vocabulary; other terms are ignored.
    binary : bool, default=False
        Replaces every count by 1.
    dtype : dtype, default=np.int64
        Type of the counts.
    stem : str, default=None
        Language of the Snowball stemmer, such as 'english' or 'german'; ``None`` does not stem.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term.
    fixed_vocabulary_ : bool
        Whether the vocabulary was passed as a parameter.

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
        **ANALYZER_CONSTRAINTS,
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

    #: The compiled vocabulary in the order of the columns; ``None`` if some terms are not strings.
    _terms: _mercer.Vocabulary | None = None
    #: The column of each term; ``None`` until it is built from ``_terms``.
    _vocabulary: dict[Any, int] | None = None

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
        """The column of each term."""
        vocabulary = self.__dict__.get("_vocabulary")
        if vocabulary is None:
            if self._terms is None:
                raise AttributeError("the vectorizer is not fitted and has no vocabulary_")
            vocabulary = dict(zip(self._terms.terms(), range(len(self._terms)), strict=True))
            self._vocabulary = vocabulary
        return vocabulary

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
            Ignored.
        """
        self.fit_transform(raw_documents)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> Any:
        """Learns the vocabulary and returns the document-term matrix.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Ignored.

        Returns
        -------
        X : sparse matrix of shape (n_documents, n_terms)
        """
        return self._fit_transform(raw_documents)

    def _fit_transform(self, raw_documents: Iterable[Any]) -> Any:
        self._check_documents(raw_documents)
        self._warn_unused_parameters()
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
        compiled = self._compiled_analyzer()
        if compiled is None:
            return self._fit_in_python(raw_documents)
        analyzer, preprocess = compiled
        counts = _mercer.count_terms(self._documents(raw_documents, preprocess), analyzer)
        frequencies = counts.document_frequencies()
        totals = frequencies if self.binary else counts.occurrences
        selected = self._selected_terms(frequencies, counts.n_documents, totals)
        self._terms, csr = counts.select(selected)
        self._vocabulary = None
        if self.binary:
            csr[2].fill(1)
        return matrix_of(csr, len(self._terms), self.dtype)

    def _selected_terms(self, frequencies: np.ndarray, n_documents: int, totals: Any) -> np.ndarray:
        """The terms that ``min_df``, ``max_df`` and ``max_features`` select.

        ``totals`` are the total counts of the terms, or a function that returns them.
        """
        if not len(frequencies):
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        high = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_documents
        low = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_documents
        if high < low:
            raise ValueError("max_df corresponds to < documents than min_df")
        selected = (frequencies <= high) & (frequencies >= low)
        if self.max_features is not None and selected.sum() > self.max_features:
            totals = totals() if callable(totals) else totals
            # The same call as in scikit-learn, so that ties are broken in the same way.
            largest = (-totals[selected]).argsort()[: self.max_features]
            indices = np.flatnonzero(selected)[largest]
            selected = np.zeros_like(selected)
            selected[indices] = True
        if not selected.any():
            raise ValueError(
                "After pruning, no terms remain. Try a lower min_df or a higher max_df."
            )
        return selected

    def _fit_in_python(self, raw_documents: Iterable[Any]) -> Any:
        """The same for analyzers that are Python functions."""
        found: dict[Any, int] = {}
        csr = _count_in_python(
            map(self.build_analyzer(), raw_documents),
            lambda term: found.setdefault(term, len(found)),
        )
        matrix = matrix_of(csr, len(found), np.int64)
        if self.binary:
            matrix.data.fill(1)
        terms = sorted(found)
        matrix = matrix[:, [found[term] for term in terms]]
        frequencies = np.bincount(matrix.indices, minlength=len(terms))
        totals = np.asarray(matrix.sum(axis=0)).ravel()
        selected = self._selected_terms(frequencies, matrix.shape[0], totals)
        matrix = matrix[:, np.flatnonzero(selected)]
        matrix.sort_indices()
        remaining = (term for term, is_selected in zip(terms, selected, strict=True) if is_selected)
        self._set_vocabulary({term: j for j, term in enumerate(remaining)})
        return matrix.astype(self.dtype)

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """The document-term matrix of documents.

        Parameters
        ----------
        raw_documents : iterable
            The documents.

        Returns
        -------
        X : sparse matrix of shape (n_documents, n_terms)
        """
        self._check_documents(raw_documents)
        self._check_vocabulary()
        return self._count(raw_documents)

    def _count(self, raw_documents: Iterable[Any]) -> Any:
        compiled = self._compiled_analyzer()
        if compiled is not None and self._terms is not None:
            analyzer, preprocess = compiled
            documents = self._documents(raw_documents, preprocess)
            csr, n = self._terms.count(documents, analyzer), len(self._terms)
        else:
            find, n = self.vocabulary_.get, len(self.vocabulary_)
            csr = _count_in_python(map(self.build_analyzer(), raw_documents), find)
        if self.binary:
            csr[2].fill(1)
        return matrix_of(csr, n, self.dtype)

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
            columns: dict[Any, int] = {}
            for i, term in enumerate(vocabulary):
                if columns.setdefault(term, i) != i:
                    raise ValueError(f"Duplicate term in vocabulary: {term!r}")
            vocabulary = columns
        if not vocabulary:
            raise ValueError("empty vocabulary passed to fit")
        self._set_vocabulary(dict(vocabulary))

    def _check_vocabulary(self) -> None:
        if self._terms is None and self.__dict__.get("_vocabulary") is None:
            self._validate_vocabulary()
            if not self.fixed_vocabulary_:
                raise NotFittedError("Vocabulary not fitted or provided")

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """The terms of each row whose value is not zero.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_documents, n_terms)
            Document-term matrix.
        """
        self._check_vocabulary()
        X = check_array(X, accept_sparse="csr")
        terms = np.array(self._names())
        if sp.issparse(X):
            ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
            return [terms[np.sort(X.indices[a:b][X.data[a:b] != 0])] for a, b in ends]
        return [terms[np.flatnonzero(row)] for row in X]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms in the order of the columns.

        Parameters
        ----------
        input_features : None
            Ignored.
        """
        self._check_vocabulary()
        return np.asarray(self._names(), dtype=object)

    def _names(self) -> list[Any]:
        if self._terms is not None:
            return self._terms.terms()
        return sorted(self.vocabulary_, key=self.vocabulary_.__getitem__)

    def __getstate__(self) -> dict[str, Any]:
        """Without the dictionary, which can be rebuilt from the smaller compiled vocabulary."""
        state = dict(super().__getstate__())
        if self._terms is not None:
            state["_vocabulary"] = None
        return state

    def __sklearn_is_fitted__(self) -> bool:
        known = self._terms is not None or self.__dict__.get("_vocabulary") is not None
        return known or self.vocabulary is not None


def _count_in_python(
    terms: Iterable[Iterable[Any]], column_of: Callable[[Any], int | None]
) -> tuple:
    """The counts of terms as CSR arrays; terms whose column is ``None`` are ignored."""
    offsets, columns, values = [0], list[int](), list[int]()
    for document in terms:
        counts: dict[int, int] = {}
        for term in document:
            j = column_of(term)
            if j is not None:
                counts[j] = counts.get(j, 0) + 1
        row = sorted(counts)
        columns.extend(row)
        values.extend(counts[j] for j in row)
        offsets.append(len(columns))
    return (
        np.array(offsets, dtype=np.int64),
        np.array(columns, dtype=np.int32),
        np.array(values, dtype=np.float64),
    )
