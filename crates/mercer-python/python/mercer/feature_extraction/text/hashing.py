"""Counts in columns that a hash of the term says: no vocabulary."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ... import _mercer
from .matrix import matrix_of, weigh
from .reading import READING, TOKEN_PATTERN, Texts


class HashingVectorizer(Texts):
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
        **READING,
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
        return weigh(matrix_of(parts, n, self.dtype), None, self.norm)

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
