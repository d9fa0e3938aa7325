"""Semi-supervised learning: training rows of which only some have a class label."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import labels, rows
from .base import Mergeable
from .base.inputs import check_lengths, checked_weights

__all__ = ["ExpectationMaximization"]


class ExpectationMaximization(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Semi-supervised learning by expectation maximization (EM).

    The E-step weights each unlabeled row in every class by the posterior probability of the class; the
    M-step fits the estimator to these weights. Both are repeated until the likelihood converges. The
    estimator must be generative and fitted from mergeable statistics: a naive Bayes estimator other than
    ``ComplementNB``, or a discriminant analysis.

    Parameters
    ----------
    estimator : classifier
        The estimator; a clone of it is fitted.
    weight : float, default=1.0
        Weight of an unlabeled row relative to a labeled one. Smaller values reduce the influence of
        the unlabeled rows.
    tol : float, default=1e-6
        Stop when the relative change of the likelihood is at most ``tol``.
    max_iter : int, default=100
        Maximum number of iterations.
    unlabeled : object, default=-1
        The label of unlabeled rows. ``None`` and NaN also mark unlabeled rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    estimator_ : classifier
        The fitted clone; its ``certificate_`` has the likelihood and the number of iterations.
    n_features_in_ : int
        The number of columns.

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
        """Fits the estimator to labeled and unlabeled rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels; ``unlabeled``, ``None`` or NaN for unlabeled rows.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        model = clone(self.estimator)
        if not isinstance(model, Mergeable):
            raise ValueError(
                f"{type(model).__name__} does not support unlabeled rows; use a naive Bayes or "
                "discriminant analysis estimator of mercer"
            )
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if "mixed" in model._inputs and rows.text_table(X) is not None:
            raise ValueError(
                "X has text columns, which are not supported here; vectorize them first, or use the "
                "command `mercer train --unlabeled`"
            )
        matrix = model._rows(X, reset=True)
        y = column_or_1d(labels.unboxed(y), warn=True)
        labeled = ~self._is_unlabeled(y)
        check_lengths(matrix, labeled)
        if not labeled.any():
            raise ValueError("no row has a label; at least one labeled row per class is required")
        given = y[labeled]
        if given.dtype.kind == "f" and (given % 1 == 0).all() and np.asarray(y).dtype.kind == "f":
            # numpy stores integer labels next to NaN as floats.
            given = given.astype(np.int64)
        elif given.dtype.kind == "O":
            given = np.array(given.tolist())
        codes, classes = labels.encode(given)
        weights = checked_weights(sample_weight, labeled)
        unlabeled = (
            _selected(matrix, ~labeled),
            None if weights is None else np.ascontiguousarray(weights[~labeled]),
            (float(self.weight), float(self.tol), int(self.max_iter)),
        )
        request = model._request(
            _selected(matrix, labeled),
            codes,
            labels=labels.to_python(classes),
            weights=None if weights is None else np.ascontiguousarray(weights[labeled]),
            unlabeled=unlabeled,
        )
        fitted = model._fit_core(request)
        model.classes_ = classes
        self.estimator_ = model._set_fitted(fitted, len(labeled))
        self.classes_ = classes
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self

    def _is_unlabeled(self, y: np.ndarray) -> np.ndarray:
        """Whether each row is unlabeled."""
        if y.dtype.kind == "O":
            return np.array([v is None or v != v or v == self.unlabeled for v in y], dtype=bool)
        unlabeled = np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
        numeric = y.dtype.kind in "iuf"
        if isinstance(self.unlabeled, str) != numeric and self.unlabeled is not None:
            unlabeled |= y == self.unlabeled
        return unlabeled

    @property
    def certificate_(self) -> dict[str, Any]:
        """How EM ended: status, iterations, likelihood and its last relative change."""
        check_is_fitted(self)
        return self.estimator_.certificate_

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, one column per class in the order of ``classes_``."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, one column per class in the order of ``classes_``."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inputs = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inputs.sparse
        tags.input_tags.allow_nan = inputs.allow_nan
        return tags


def _selected(matrix: np.ndarray | rows.Csr, mask: np.ndarray) -> np.ndarray | rows.Csr:
    """The rows for which ``mask`` is true."""
    if not isinstance(matrix, tuple):
        return matrix[mask]
    data, indices, offsets, width = matrix
    csr = sp.csr_matrix((data, indices, offsets), shape=(len(offsets) - 1, width))
    return rows.matrix(csr[np.flatnonzero(mask)])
