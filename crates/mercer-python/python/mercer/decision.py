"""Bayesian decision theory: actions of minimum expected cost.

:class:`DecisionClassifier` adds a cost matrix, a reject option and new class priors to a probabilistic
classifier; the functions apply the same rules to a matrix of probabilities.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from . import _mercer, labels
from ._mercer import two_normals_error, two_normals_regions
from .base import Estimator

__all__ = [
    "OperatingPoint",
    "OptimalRule",
    "DecisionClassifier",
    "Decisions",
    "bayes_risk",
    "decide",
    "minimax",
    "minimax_threshold",
    "neyman_pearson",
    "optimal_rule",
    "outlier_threshold",
    "point_estimate",
    "two_normals_error",
    "two_normals_regions",
]


class Decisions(NamedTuple):
    """The decisions for the rows of a matrix of probabilities."""

    #: The index of the chosen class, or -1 for a rejected row.
    actions: NDArray[np.int64]
    #: The expected cost of each action.
    risks: NDArray[np.float64]
    #: The posterior probabilities under the new priors.
    proba: NDArray[np.float64]


class OperatingPoint(NamedTuple):
    """A threshold and its rates: a row is predicted positive if its score is at least the threshold."""

    threshold: float
    false_positive_rate: float
    true_positive_rate: float


class OptimalRule(NamedTuple):
    """The optimal decision rule of a joint distribution ``p(x, y)``."""

    #: The index of the predicted class for each ``x``, or -1 for a rejection.
    actions: NDArray[np.int64]
    #: The expected cost given each ``x``.
    risks: NDArray[np.float64]
    #: The Bayes risk.
    risk: float


def decide(
    proba: ArrayLike,
    *,
    cost: ArrayLike | None = None,
    reject: float | None = None,
    old_priors: Sequence[float] | None = None,
    new_priors: Sequence[float] | None = None,
) -> Decisions:
    """The action of minimum expected cost for each row of probabilities.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Posterior probabilities.
    cost : array-like of shape (n_classes, n_classes), optional
        ``cost[true class, predicted class]``. The default is the zero-one cost.
    reject : float, optional
        Cost of rejecting a row, that is of predicting no class.
    old_priors, new_priors : sequences of floats, optional
        Class priors of the training data, and of the data to predict; both or neither.

    Examples
    --------
    >>> from mercer.decision import decide
    >>> decide([[0.85, 0.15]], cost=[[0, 1], [10, 0]]).actions
    array([1])
    """
    if (old_priors is None) != (new_priors is None):
        raise ValueError("pass both old_priors and new_priors, or neither")
    with np.errstate(divide="ignore", invalid="ignore"):
        log_proba = np.log(np.asarray(proba, np.float64))
    old = None if old_priors is None else list(map(float, old_priors))
    new = None if new_priors is None else list(map(float, new_priors))
    return Decisions(*_mercer.decide(log_proba, _matrix(cost), reject, old, new))


def neyman_pearson(scores: ArrayLike, positive: ArrayLike, max_rate: float) -> OperatingPoint:
    """The threshold of the highest true-positive rate whose false-positive rate is at most
    ``max_rate``."""
    return OperatingPoint(*_mercer.neyman_pearson(_floats(scores), _booleans(positive), max_rate))


def minimax_threshold(
    scores: ArrayLike, positive: ArrayLike, alarm_cost: float = 1.0, miss_cost: float = 1.0
) -> OperatingPoint:
    """The threshold that minimizes the larger of the two error rates, each multiplied by its cost."""
    return OperatingPoint(
        *_mercer.minimax_threshold(_floats(scores), _booleans(positive), alarm_cost, miss_cost)
    )


def outlier_threshold(log_densities: ArrayLike, fraction: float) -> float:
    """The threshold below which at most a fraction of the given log-densities lies.

    Examples
    --------
    >>> from mercer.decision import outlier_threshold
    >>> outlier_threshold([-1.0, -2.0, -9.0, -1.5, -3.0], 0.2)
    -3.0
    """
    return _mercer.outlier_threshold(_floats(log_densities), fraction)


def minimax(cost: ArrayLike) -> int:
    """The minimax action: the column whose maximum over the rows (the true states) is smallest."""
    return _mercer.minimax(_matrix(cost))


def point_estimate(
    values: ArrayLike, weights: ArrayLike, loss: str = "squared", quantile: float = 0.5
) -> float:
    """The point estimate of minimum expected loss for a weighted sample, such as a discrete posterior:
    the mean for ``squared``, the median for ``absolute``, the mode for ``zero-one``, and the given
    quantile for ``quantile``.

    Examples
    --------
    >>> from mercer.decision import point_estimate
    >>> point_estimate([0.0, 1.0, 10.0], [0.3, 0.4, 0.3], "absolute")
    1.0
    """
    return _mercer.point_estimate(_floats(values), _floats(weights), loss, quantile)


def bayes_risk(
    joint: ArrayLike, *, cost: ArrayLike | None = None, reject: float | None = None
) -> float:
    """The Bayes risk, the minimum risk of any decision rule, of a joint distribution ``p(x, y)`` with
    one row per ``x`` and one column per class."""
    return _mercer.bayes_risk(_matrix(joint), _matrix(cost), reject)


def optimal_rule(
    joint: ArrayLike, *, cost: ArrayLike | None = None, reject: float | None = None
) -> OptimalRule:
    """The decision of minimum expected cost for each ``x`` of a joint distribution ``p(x, y)`` with one
    row per ``x`` and one column per class.

    Examples
    --------
    >>> from mercer.decision import optimal_rule
    >>> rule = optimal_rule([[0.3, 0.1], [0.1, 0.5]])
    >>> rule.actions
    array([0, 1])
    >>> round(rule.risk, 10)
    0.2
    """
    return OptimalRule(*_mercer.optimal_rule(_matrix(joint), _matrix(cost), reject))


class DecisionClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A probabilistic classifier that predicts the class of minimum expected cost.

    Costs, reject cost and priors are parameters: ``set_params`` changes them without another fit.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba``; a clone of it is fitted.
    cost : array-like of shape (n_classes, n_classes) or mapping of mappings, optional
        ``cost[true class][predicted class]``; an array is in the order of ``classes_``. The default is
        the zero-one cost.
    reject : float, optional
        Cost of rejecting a row. ``predict`` returns ``reject_label`` if the expected cost of every
        class is larger.
    prior : mapping or array-like, optional
        Class priors of the data to predict. Classes that are not in a mapping have the remaining
        probability, in proportion to their priors in training.
    reject_label : object, default=None
        The prediction for rejected rows.

    Attributes
    ----------
    classes_ : ndarray
    priors_ : ndarray
        Class priors of the training data.
    estimator_ : classifier
        The fitted clone.

    Examples
    --------
    >>> from mercer.decision import DecisionClassifier
    >>> from mercer.naive_bayes import GaussianNB
    >>> X = [[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]]
    >>> y = ["well", "well", "well", "ill", "ill", "ill"]
    >>> model = DecisionClassifier(GaussianNB(), reject=0.05).fit(X, y)
    >>> print(*model.predict([[2.0], [4.5], [7.0]]))
    well None ill
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = None,
        reject: float | None = None,
        prior: Any = None,
        reject_label: Any = None,
    ):
        self.estimator = estimator
        self.cost = cost
        self.reject = reject
        self.prior = prior
        self.reject_label = reject_label

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits a clone of the estimator and stores the class priors."""
        codes, self.classes_ = labels.encode(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        counts = np.bincount(codes, weights, minlength=len(self.classes_))
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        if not np.array_equal(self.estimator_.classes_, self.classes_):
            raise ValueError("the classes_ of the estimator are not in ascending order")
        self.priors_ = counts / counts.sum()
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes a ``.mercer`` model file with the costs, the reject cost and the priors.

        The command ``mercer predict`` applies them, and :func:`mercer.load` returns a
        ``DecisionClassifier``. Only estimators of this package can be saved.
        """
        check_is_fitted(self)
        if not isinstance(self.estimator_, Estimator):
            raise TypeError(
                f"{type(self.estimator_).__name__} cannot be saved as a .mercer file; use pickle"
            )
        new = self._new_priors()
        old = None if new is None else self.priors_.tolist()
        fitted = self.estimator_._fitted.with_decision_rule(self._costs(), self.reject, old, new)
        fitted.save(Path(path))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inputs = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inputs.sparse
        tags.input_tags.allow_nan = inputs.allow_nan
        return tags

    def decide(self, X: Any) -> Decisions:
        """The actions by class index, their expected costs, and the posterior probabilities."""
        check_is_fitted(self)
        new = self._new_priors()
        return decide(
            self.estimator_.predict_proba(X),
            cost=self._costs(),
            reject=self.reject,
            old_priors=None if new is None else self.priors_,
            new_priors=new,
        )

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row, or ``reject_label`` for a rejected row."""
        actions = self.decide(X).actions
        if self.reject is None:
            return self.classes_[actions]
        predicted = self.classes_.astype(object)[actions]
        predicted[actions < 0] = self.reject_label
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The posterior probabilities under the new priors."""
        return self.decide(X).proba

    def expected_risk(self, X: Any) -> float:
        """The mean expected cost of the predictions under the posterior probabilities."""
        return float(self.decide(X).risks.mean())

    def empirical_risk(self, X: Any, y: Any) -> float:
        """The mean cost of the predictions for rows with known classes."""
        actions = self.decide(X).actions
        y = np.asarray(y)
        unknown = y[~np.isin(y, self.classes_)]
        if len(unknown):
            raise ValueError(
                f"y has the label {unknown[0]!r}; the classes are {self.classes_.tolist()}"
            )
        truth = np.searchsorted(self.classes_, y)
        cost = self._costs()
        if cost is None:
            cost = 1.0 - np.eye(len(self.classes_))
        reject = 0.0 if self.reject is None else self.reject
        return float(np.where(actions < 0, reject, cost[truth, actions]).mean())

    def _costs(self) -> NDArray[np.float64] | None:
        if not isinstance(self.cost, Mapping):
            return _matrix(self.cost)
        try:
            rows = [[self.cost[c][a] for a in self.classes_] for c in self.classes_]
        except KeyError as missing:
            raise ValueError(f"cost has no entry for class {missing}") from None
        return _matrix(rows)

    def _new_priors(self) -> list[float] | None:
        if self.prior is None:
            return None
        if not isinstance(self.prior, Mapping):
            return _floats(self.prior)
        index = {label: c for c, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in self.prior if label not in index]
        if unknown:
            raise ValueError(f"prior has the class {unknown[0]!r}; the classes are {list(index)}")
        given = [(index[label], float(p)) for label, p in self.prior.items()]
        return _mercer.new_priors(self.priors_.tolist(), given)


def _matrix(values: Any) -> Any:
    if values is None:
        return None
    return np.ascontiguousarray(np.atleast_2d(np.asarray(values, np.float64)))


def _floats(values: Any) -> list[float]:
    return np.asarray(values, np.float64).ravel().tolist()


def _booleans(values: Any) -> list[bool]:
    return np.asarray(values).astype(bool).ravel().tolist()


def _restored(model: Any) -> DecisionClassifier:
    """The ``DecisionClassifier`` of a classifier that was saved with a decision rule."""
    cost, reject, shift = model._fitted.decision_rule
    n = len(model.classes_)
    old = np.asarray(getattr(model, "class_prior_", np.full(n, 1.0 / n)))
    new = None
    if shift:
        new = old * np.exp(shift)
        new = (new / new.sum()).tolist()
    zero_one = np.array_equal(cost, 1.0 - np.eye(n))
    restored = DecisionClassifier(
        clone(model), cost=None if zero_one else cost, reject=reject, prior=new
    )
    restored.estimator_ = model
    restored.classes_ = model.classes_
    restored.priors_ = old
    restored.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        restored.feature_names_in_ = model.feature_names_in_
    return restored
