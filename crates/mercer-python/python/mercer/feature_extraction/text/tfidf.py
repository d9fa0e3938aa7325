"""Tf-idf weights: term frequency times inverse document frequency."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from .count import CountVectorizer
from .matrix import apply_tfidf, returns_sparse_arrays
from .vectorizer import TOKEN_PATTERN

TFIDF_CONSTRAINTS = {
    "norm": [StrOptions({"l1", "l2"}), None],
    "use_idf": ["boolean"],
    "smooth_idf": ["boolean"],
    "sublinear_tf": ["boolean"],
    "tf": [StrOptions({"count", "log", "frequency", "binary"}), None],
    "idf": [StrOptions({"none", "smooth", "plain", "information", "information-plus-one"}), None],
}


class TfidfTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transforms term counts into tf-idf weights.

    The inverse document frequency of a term in ``m`` of ``M`` documents is
    ``log((1 + M) / (1 + m)) + 1``, or ``log(M / m) + 1`` without smoothing. ``tf`` and ``idf`` select
    other definitions: ``tf='frequency', idf='information', norm=None`` is the relative term frequency
    times the self-information ``log(M / m)`` of the event that a document contains the term.

    Parameters
    ----------
    norm : {'l1', 'l2'} or None, default='l2'
        Norm by which each row is divided.
    use_idf : bool, default=True
        Whether to multiply by the inverse document frequency.
    smooth_idf : bool, default=True
        Adds one document that contains every term, which avoids zero document frequencies.
    sublinear_tf : bool, default=False
        Replaces a count ``tf`` by ``1 + log(tf)``.
    tf : {'count', 'log', 'frequency', 'binary'} or None, default=None
        Term frequency of a term with ``n`` occurrences: ``n``, ``1 + log(n)``, ``n`` divided by the sum
        of the row, or 1. ``None``: as ``sublinear_tf`` says.
    idf : {'none', 'smooth', 'plain', 'information', 'information-plus-one'} or None, default=None
        Inverse document frequency: 1, ``log((1 + M) / (1 + m)) + 1``, ``log(M / m) + 1``,
        ``log(M / m)``, or ``log(M / (m + 1))``. ``None``: as ``use_idf`` and ``smooth_idf`` say.

    Attributes
    ----------
    idf_ : array of shape (n_terms,)
        The inverse document frequency of each term, unless it is 1 for all.

    Examples
    --------
    >>> from mercer.feature_extraction.text import TfidfTransformer
    >>> TfidfTransformer().fit([[3, 0], [2, 1]]).idf_
    array([1.        , 1.40546511])
    >>> notes = TfidfTransformer(tf="frequency", idf="information", norm=None)
    >>> notes.fit_transform([[3, 0], [2, 2]]).toarray().round(4)
    array([[0.    , 0.    ],
           [0.    , 0.3466]])
    """

    _parameter_constraints: dict = TFIDF_CONSTRAINTS

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        tf: str | None = None,
        idf: str | None = None,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.tf = tf
        self.idf = idf

    def _term_frequency(self) -> str:
        return self.tf or ("log" if self.sublinear_tf else "count")

    def _inverse_document_frequency(self) -> str:
        if self.idf is not None:
            return self.idf
        if not self.use_idf:
            return "none"
        return "smooth" if self.smooth_idf else "plain"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Computes the inverse document frequencies.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_documents, n_terms)
            Term counts.
        y : None
            Ignored.
        """
        X = validate_data(self, X, accept_sparse=("csr", "csc"))
        X = X if sp.issparse(X) and X.format == "csr" else sp.csr_array(X)
        return self._fit_idf(X)

    def _fit_idf(self, X: Any) -> Self:
        idf = self._inverse_document_frequency()
        if idf != "none":
            dtype = X.dtype if X.dtype in (np.float64, np.float32) else np.float64
            n_documents = X.shape[0] + int(idf == "smooth")
            documents = np.bincount(X.indices, minlength=X.shape[1]).astype(dtype)
            documents += float(idf in ("smooth", "information-plus-one"))
            self.idf_ = np.full_like(documents, fill_value=n_documents)
            # A term in no document has an infinite weight, which no row of the training data meets.
            with np.errstate(divide="ignore" if idf == "information" else "warn"):
                self.idf_ /= documents
            np.log(self.idf_, out=self.idf_)
            if idf in ("smooth", "plain"):
                self.idf_ += 1.0
        return self

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Transforms counts into tf-idf weights.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_documents, n_terms)
            Term counts.
        copy : bool, default=True
            Whether to copy ``X`` instead of changing it in place.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], copy=copy, reset=False
        )
        if not sp.issparse(X):
            kind = sp.csr_array if returns_sparse_arrays() else sp.csr_matrix
            X = kind(X)
        return self._transform(X)

    def _transform(self, X: Any) -> Any:
        tf = self._term_frequency()
        if tf == "log":
            np.log(X.data, X.data)
            X.data += 1.0
        elif tf == "frequency":
            lengths = np.asarray(X.sum(axis=1)).ravel()
            X.data /= np.repeat(lengths, np.diff(X.indptr))
        elif tf == "binary":
            X.data[:] = 1.0
        return apply_tfidf(X, getattr(self, "idf_", None), self.norm)

    def __sklearn_is_fitted__(self) -> bool:
        weightless = self._inverse_document_frequency() == "none"
        return hasattr(self, "idf_") or (weightless and hasattr(self, "n_features_in_"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class TfidfVectorizer(CountVectorizer):
    r"""The tf-idf weights of documents: :class:`CountVectorizer`, then :class:`TfidfTransformer`.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer, \
stop_words, token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, stem
        As in :class:`CountVectorizer`.
    dtype : dtype, default=np.float64
        What the weights are.
    norm, use_idf, smooth_idf, sublinear_tf, tf, idf
        As those of :class:`TfidfTransformer`.

    Attributes
    ----------
    vocabulary_ : dict
        The terms and their columns.
    idf_ : array of shape (n_terms,)
        The inverse document frequency of each term, if ``use_idf``.

    Examples
    --------
    >>> from mercer.feature_extraction.text import TfidfVectorizer
    >>> weights = TfidfVectorizer().fit_transform(["the cat sat", "the dog sat"])
    >>> weights.toarray().round(3)
    array([[0.705, 0.   , 0.502, 0.502],
           [0.   , 0.705, 0.502, 0.502]])
    """

    _parameter_constraints: dict = {**CountVectorizer._parameter_constraints, **TFIDF_CONSTRAINTS}

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
        tf: str | None = None,
        idf: str | None = None,
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
        self.tf = tf
        self.idf = idf

    @property
    def idf_(self) -> np.ndarray:
        """The inverse document frequency of each term."""
        if not hasattr(self, "_tfidf"):
            raise NotFittedError(
                f"{type(self).__name__} is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this attribute."
            )
        return self._tfidf.idf_

    @idf_.setter
    def idf_(self, value: np.ndarray) -> None:
        if self._transformer()._inverse_document_frequency() == "none":
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
            tf=self.tf,
            idf=self.idf,
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
        """Learns the vocabulary and the inverse document frequencies.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Ignored.
        """
        self._fit_counts(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> Any:
        """Learns the vocabulary and the inverse document frequencies; returns the tf-idf matrix.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        y : None
            Ignored.
        """
        return self._apply_tfidf(self._fit_counts(raw_documents))

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit_counts(self, raw_documents: Iterable[Any]) -> Any:
        self._check_dtype()
        X = self._fit_transform(raw_documents)
        self._tfidf = self._transformer()._fit_idf(X)
        return X

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """The tf-idf matrix of documents.

        Parameters
        ----------
        raw_documents : iterable
            The documents.
        """
        check_is_fitted(self, msg="The TF-IDF vectorizer is not fitted")
        return self._apply_tfidf(super().transform(raw_documents))

    def _apply_tfidf(self, X: Any) -> Any:
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        return self._tfidf._transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_tfidf")
