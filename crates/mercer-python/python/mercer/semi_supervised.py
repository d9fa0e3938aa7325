"""Learning from rows of which only some have a class."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _mercer, labels, rows
from .base import Mergeable
from .base.inputs import check_lengths, row_weights
from .limits import bounds

__all__ = ["ExpectationMaximization"]


class ExpectationMaximization(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Learns from rows without a class too: each counts in every class by how probable the class is.

    The rounds of expectation maximization go on until the likelihood no longer changes. Any estimator
    of this package that learns by statistics and has a likelihood will do: naive Bayes but
    ``ComplementNB``, and the discriminants.

    Parameters
    ----------
    estimator : classifier
        What learns; a clone of it is fitted.
    weight : float, default=1.0
        How much a row without a class counts beside one with a class. Smaller values trust the
        labels more.
    tol : float, default=1e-6
        The rounds end when the likelihood changes by less than this share of itself.
    max_iter : int, default=100
        Rounds at most.
    unlabeled : object, default=-1
        The label of rows without a class. ``None`` and NaN always stand for no class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    estimator_ : classifier
        The fitted clone; its ``certificate_`` tells the likelihood and the rounds.
    n_features_in_ : int
        How many columns a row has.

    Examples
    --------
    >>> from mercer.naive_bayes import GaussianNB
    >>> from mercer.semi_supervised import ExpectationMaximization
    >>> X = [[0.0], [1.0], [8.0], [9.0], [0.4], [8.7], [0.7], [8.1]]
    >>> y = ["low", "low", "high", "high", None, None, None, None]
    >>> model = ExpectationMaximization(GaussianNB()).fit(X, y)
    >>> print(*model.predict([[1.5], [7.0]]), model.certificate_["rows"])
    low high 8
    """

    def __init__(
        self,
        estimator: Any,
        *,
        weight: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 100,
        unlabeled: Any = -1,
    ):
        self.estimator = estimator
        self.weight = weight
        self.tol = tol
        self.max_iter = max_iter
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows, of which some have a class.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their classes; ``unlabeled``, ``None`` or NaN where there is none.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        model = clone(self.estimator)
        if not isinstance(model, Mergeable):
            raise ValueError(
                f"{type(model).__name__} cannot learn from rows without a class; "
                "take a naive Bayes or discriminant estimator of mercer"
            )
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if "mixed" in model._inputs and rows.with_texts(X) is not None:
            raise ValueError(
                "a table with texts: count their words first, or use `mercer train --unlabeled`"
            )
        matrix = model._rows(X, reset=True)
        y = column_or_1d(labels._column(y), warn=True)
        known = ~self._is_open(y)
        check_lengths(matrix, known)
        if not known.any():
            raise ValueError("no row has a class; at least one of each class is needed")
        shown = y[known]
        if shown.dtype.kind == "f" and (shown % 1 == 0).all() and np.asarray(y).dtype.kind == "f":
            # Whole numbers beside NaN are codes of classes that had to become floats.
            shown = shown.astype(np.int64)
        elif shown.dtype.kind == "O":
            shown = np.array(shown.tolist())
        codes, classes = labels.encode(shown)
        weights = row_weights(sample_weight, known)
        fitted = _mercer.fit_partly(
            model._id,
            model._params(),
            _some(matrix, known),
            codes,
            labels.natives(classes),
            _some(matrix, ~known),
            (float(self.weight), float(self.tol), int(self.max_iter)),
            None if weights is None else np.ascontiguousarray(weights[known]),
            None if weights is None else np.ascontiguousarray(weights[~known]),
            model._names(),
            model._levels,
            bounds(),
        )
        model.classes_ = classes
        model._classes_grow = False
        self.estimator_ = model._keep(fitted, len(known))
        self.classes_ = classes
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self

    def _is_open(self, y: np.ndarray) -> np.ndarray:
        """Whether each label stands for no class."""
        if y.dtype.kind == "O":
            gaps = [value is None or value != value or value == self.unlabeled for value in y]
            return np.array(gaps, dtype=bool)
        gaps = np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
        numeric = y.dtype.kind in "iuf"
        if isinstance(self.unlabeled, str) != numeric and self.unlabeled is not None:
            gaps |= y == self.unlabeled
        return gaps

    @property
    def certificate_(self) -> dict[str, Any]:
        """How the rounds ended: rounds, likelihood, its last change, what cut them short."""
        check_is_fitted(self)
        return self.estimator_.certificate_

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, a column for each of ``classes_``."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, a column for each of ``classes_``."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        taken = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = taken.sparse
        tags.input_tags.allow_nan = taken.allow_nan
        return tags


def _some(matrix: np.ndarray | rows.Compressed, keep: np.ndarray) -> np.ndarray | rows.Compressed:
    """The rows to keep, in the form the core takes."""
    if not isinstance(matrix, tuple):
        return matrix[keep]
    data, places, offsets, width = matrix
    whole = sp.csr_matrix((data, places, offsets), shape=(len(offsets) - 1, width))
    return rows.matrix(whole[np.flatnonzero(keep)])
