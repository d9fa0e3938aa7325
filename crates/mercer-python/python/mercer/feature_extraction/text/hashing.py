"""Feature hashing of text: document-term matrices without a vocabulary."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ... import _mercer
from .matrix import apply_tfidf, matrix_of
from .vectorizer import ANALYZER_CONSTRAINTS, TOKEN_PATTERN, Vectorizer


class HashingVectorizer(Vectorizer):
    r"""Term counts by feature hashing, without a vocabulary.

    The column of a term is its MurmurHash3 modulo ``n_features``.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
token_pattern, ngram_range, analyzer, stem
        As in :class:`CountVectorizer`.
    n_features : int, default=2**20
        Number of columns. Fewer columns need less memory and have more collisions.
    binary : bool, default=False
        Replaces every count by 1.
    norm : {'l1', 'l2'} or None, default='l2'
        Norm by which each row is divided.
    alternate_sign : bool, default=True
        Gives half of the terms a negative sign, so that collisions cancel in expectation.
    dtype : dtype, default=np.float64
        Type of the values.
    store_names : bool, default=False
        Lets ``fit`` store the most frequent term of each column. The memory grows with the number of
        distinct terms.

    Attributes
    ----------
    names_ : dict
        The most frequent term of each column, if ``store_names``.

    Examples
    --------
    >>> from mercer.feature_extraction.text import HashingVectorizer
    >>> vectorizer = HashingVectorizer(n_features=1024, norm=None, store_names=True)
    >>> vectorizer.fit_transform(["ham ham eggs"]).toarray().sum()
    np.float64(3.0)
    >>> sorted(vectorizer.names_.values())
    ['eggs', 'ham']
    """

    _parameter_constraints: dict = {
        **ANALYZER_CONSTRAINTS,
        "n_features": [Interval(Integral, 1, np.iinfo(np.int32).max, closed="left")],
        "binary": ["boolean"],
        "norm": [StrOptions({"l1", "l2"}), None],
        "alternate_sign": ["boolean"],
        "dtype": "no_validation",
        "store_names": ["boolean"],
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
        store_names: bool = False,
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
        self.store_names = store_names

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Validates the parameters and, if ``store_names``, stores the terms of the columns.

        Parameters
        ----------
        X : iterable
            The documents.
        y : None
            Ignored.
        """
        self._check_documents(X)
        self._warn_unused_parameters()
        if self.store_names:
            compiled = self._compiled_analyzer()
            if compiled is None:
                raise ValueError(
                    "store_names does not support a callable analyzer or tokenizer, nor other token "
                    "patterns than runs of word characters"
                )
            names = _mercer.hash_names(
                self._documents(X, compiled[1]), compiled[0], int(self.n_features)
            )
            self.names_ = {j: name for j, name in enumerate(names) if name is not None}
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Validates the parameters.

        Parameters
        ----------
        X : iterable
            Ignored.
        y : None
            Ignored.
        """
        return self

    def fit_transform(self, X: Iterable[Any], y: Any = None) -> Any:
        """The document-term matrix of documents.

        Parameters
        ----------
        X : iterable
            The documents.
        y : None
            Ignored.
        """
        if not isinstance(X, str | list):
            X = list(X)
        return self.fit(X, y).transform(X)

    def transform(self, X: Iterable[Any]) -> Any:
        """The document-term matrix of documents.

        Parameters
        ----------
        X : iterable
            The documents.

        Returns
        -------
        X : sparse matrix of shape (n_documents, n_features)
        """
        self._check_documents(X)
        compiled, n = self._compiled_analyzer(), int(self.n_features)
        if compiled is not None:
            texts = self._documents(X, compiled[1])
            csr = _mercer.hash_texts(texts, compiled[0], n, bool(self.alternate_sign))
        else:
            csr = self._hash_in_python(X, n)
        if self.binary:
            csr[2].fill(1)
        return apply_tfidf(matrix_of(csr, n, self.dtype), None, self.norm)

    def _hash_in_python(self, X: Iterable[Any], n: int) -> tuple:
        offsets, columns = [0], list[int]()
        values: list[float] = []
        for document in map(self.build_analyzer(), X):
            counts: dict[int, float] = {}
            for term in document:
                j, positive = _mercer.hash_term(term, n)
                sign = 1.0 if positive or not self.alternate_sign else -1.0
                counts[j] = counts.get(j, 0.0) + sign
            row = sorted(counts)
            columns.extend(row)
            values.extend(counts[j] for j in row)
            offsets.append(len(columns))
        return (
            np.array(offsets, dtype=np.int64),
            np.array(columns, dtype=np.int32),
            np.array(values, dtype=np.float64),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
