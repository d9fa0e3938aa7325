"""From posteriors to answers: what a mistake costs decides.

:class:`DecisionClassifier` puts costs, a reject zone and new priors on any classifier with
probabilities; the functions do the same to a matrix of probabilities.
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
from ._mercer import two_normals_error
from .base import Estimator

__all__ = [
    "OperatingPoint",
    "DecisionClassifier",
    "Decisions",
    "bayes_risk",
    "best_number",
    "decide",
    "minimax",
    "minimax_threshold",
    "neyman_pearson",
    "outlier_threshold",
    "two_normals_error",
]


class Decisions(NamedTuple):
    """What was decided, row by row."""

    #: The place of the class, -1 where no answer is given.
    answers: NDArray[np.int64]
    #: What each answer is expected to cost.
    risks: NDArray[np.float64]
    #: The probabilities under the new priors.
    proba: NDArray[np.float64]


class OperatingPoint(NamedTuple):
    """A cut-off: scores of at least the threshold are answered yes."""

    threshold: float
    false_positive_rate: float
    true_positive_rate: float


def decide(
    proba: ArrayLike,
    *,
    cost: ArrayLike | None = None,
    reject: float | None = None,
    old_priors: Sequence[float] | None = None,
    new_priors: Sequence[float] | None = None,
) -> Decisions:
    """The answer of least expected loss for every row of probabilities.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
    cost : array-like of shape (n_classes, n_classes), optional
        One row a true class, one column an answer; without it every mistake costs one.
    reject : float, optional
        What giving no answer costs.
    old_priors, new_priors : sequences of floats, optional
        The classes' shares in training, and where the answers are used; both or neither.

    Examples
    --------
    >>> from mercer.decision import decide
    >>> decide([[0.85, 0.15]], cost=[[0, 1], [10, 0]]).answers
    array([1])
    """
    if (old_priors is None) != (new_priors is None):
        raise ValueError("give both old_priors and new_priors, or neither")
    with np.errstate(divide="ignore", invalid="ignore"):
        log_proba = np.log(np.asarray(proba, np.float64))
    old = None if old_priors is None else list(map(float, old_priors))
    new = None if new_priors is None else list(map(float, new_priors))
    return Decisions(*_mercer.decide(log_proba, _matrix(cost), reject, old, new))


def neyman_pearson(scores: ArrayLike, positive: ArrayLike, max_rate: float) -> OperatingPoint:
    """The cut-off that finds most while at most ``max_rate`` of the negative rows are called
    positive."""
    return OperatingPoint(*_mercer.neyman_pearson(_floats(scores), _truths(positive), max_rate))


def minimax_threshold(
    scores: ArrayLike, positive: ArrayLike, alarm_cost: float = 1.0, miss_cost: float = 1.0
) -> OperatingPoint:
    """The cut-off whose worse mistake, weighted by its cost, is as rare as it can be."""
    return OperatingPoint(
        *_mercer.minimax_threshold(_floats(scores), _truths(positive), alarm_cost, miss_cost)
    )


def outlier_threshold(log_densities: ArrayLike, share: float) -> float:
    """The log-density below which at most a share of the given rows lie.

    Examples
    --------
    >>> from mercer.decision import outlier_threshold
    >>> outlier_threshold([-1.0, -2.0, -9.0, -1.5, -3.0], 0.2)
    -3.0
    """
    return _mercer.outlier_threshold(_floats(log_densities), share)


def minimax(cost: ArrayLike) -> int:
    """The answer (column) whose worst cost over the truths (rows) is least."""
    return _mercer.minimax(_matrix(cost))


def best_number(
    values: ArrayLike, weights: ArrayLike, loss: str = "squared", quantile: float = 0.5
) -> float:
    """The number of least expected loss: ``squared`` gives the mean, ``absolute`` the median,
    ``quantile`` the quantile.

    Examples
    --------
    >>> from mercer.decision import best_number
    >>> best_number([0.0, 1.0, 10.0], [0.3, 0.4, 0.3], "absolute")
    1.0
    """
    return _mercer.best_number(_floats(values), _floats(weights), loss, quantile)


def bayes_risk(
    joint: ArrayLike, *, cost: ArrayLike | None = None, reject: float | None = None
) -> float:
    """The least risk any rule can reach where p(x, y) is known: a row an x, a column a class."""
    return _mercer.bayes_risk(_matrix(joint), _matrix(cost), reject)


class DecisionClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Any classifier with probabilities, answering by least expected loss.

    Costs, the reject zone and the priors are parameters: ``set_params`` changes them without
    another fit.

    Parameters
    ----------
    estimator : classifier
        Has ``fit`` and ``predict_proba``; a clone of it is fitted.
    cost : array-like of shape (n_classes, n_classes) or mapping of mappings, optional
        ``cost[truth][answer]``; an array follows the order of ``classes_``. Without it every
        mistake costs one.
    reject : float, optional
        What giving no answer costs; ``predict`` then gives ``reject_label`` where every answer is
        expected to cost more.
    prior : mapping or array-like, optional
        The classes' shares where the answers are used. Classes that a mapping leaves out share the
        rest as they did in training.
    reject_label : object, default=None
        What ``predict`` answers where it gives no answer.

    Attributes
    ----------
    classes_ : ndarray
    priors_ : ndarray
        The classes' shares in training.
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
        """Fit a clone of the estimator, and remember the classes' shares."""
        codes, self.classes_ = labels.encode(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        counts = np.bincount(codes, weights, minlength=len(self.classes_))
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        if not np.array_equal(self.estimator_.classes_, self.classes_):
            raise ValueError("the estimator orders its classes in a way of its own")
        self.priors_ = counts / counts.sum()
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes a ``.mercer`` model file with the costs, the reject zone and the priors in it.

        ``mercer predict`` decides by them, and :func:`mercer.load` gives a ``DecisionClassifier`` back.
        Only estimators of this package can be saved.
        """
        check_is_fitted(self)
        if not isinstance(self.estimator_, Estimator):
            raise TypeError(f"{type(self.estimator_).__name__} has no .mercer file; pickle it")
        new = self._new_priors()
        old = None if new is None else self.priors_.tolist()
        self.estimator_._fitted.with_decision(self._costs(), self.reject, old, new).save(Path(path))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        taken = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = taken.sparse
        tags.input_tags.allow_nan = taken.allow_nan
        return tags

    def decide(self, X: Any) -> Decisions:
        """The answers by place, what each is expected to cost, and the probabilities."""
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
        """The answers; ``reject_label`` where none is given."""
        answers = self.decide(X).answers
        if self.reject is None:
            return self.classes_[answers]
        said = self.classes_.astype(object)[answers]
        said[answers < 0] = self.reject_label
        return said

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities under the new priors."""
        return self.decide(X).proba

    def expected_risk(self, X: Any) -> float:
        """The mean cost the answers are expected to have, by the probabilities themselves."""
        return float(self.decide(X).risks.mean())

    def empirical_risk(self, X: Any, y: Any) -> float:
        """The mean cost the answers have in truth."""
        answers = self.decide(X).answers
        y = np.asarray(y)
        strangers = y[~np.isin(y, self.classes_)]
        if len(strangers):
            raise ValueError(f"y holds {strangers[0]!r}; the classes are {self.classes_.tolist()}")
        truth = np.searchsorted(self.classes_, y)
        cost = self._costs()
        if cost is None:
            cost = 1.0 - np.eye(len(self.classes_))
        reject = 0.0 if self.reject is None else self.reject
        return float(np.where(answers < 0, reject, cost[truth, answers]).mean())

    def _costs(self) -> NDArray[np.float64] | None:
        if not isinstance(self.cost, Mapping):
            return _matrix(self.cost)
        try:
            rows = [[self.cost[c][a] for a in self.classes_] for c in self.classes_]
        except KeyError as missing:
            raise ValueError(f"cost says nothing about class {missing}") from None
        return _matrix(rows)

    def _new_priors(self) -> list[float] | None:
        if self.prior is None:
            return None
        if not isinstance(self.prior, Mapping):
            return _floats(self.prior)
        places = {label: k for k, label in enumerate(self.classes_.tolist())}
        strangers = [label for label in self.prior if label not in places]
        if strangers:
            raise ValueError(f"prior names {strangers[0]!r}; the classes are {list(places)}")
        given = [(places[label], float(p)) for label, p in self.prior.items()]
        return _mercer.new_priors(self.priors_.tolist(), given)


def _matrix(cells: Any) -> Any:
    if cells is None:
        return None
    return np.ascontiguousarray(np.atleast_2d(np.asarray(cells, np.float64)))


def _floats(values: Any) -> list[float]:
    return np.asarray(values, np.float64).ravel().tolist()


def _truths(values: Any) -> list[bool]:
    return np.asarray(values).astype(bool).ravel().tolist()


def _restored(model: Any) -> DecisionClassifier:
    """A classifier read from a file that has a decision stored in it."""
    cost, reject, shift = model._fitted.decision
    n = len(model.classes_)
    old = np.asarray(getattr(model, "class_prior_", np.full(n, 1.0 / n)))
    new = None
    if shift:
        new = old * np.exp(shift)
        new = (new / new.sum()).tolist()
    plain = np.array_equal(cost, 1.0 - np.eye(n))
    found = DecisionClassifier(
        clone(model), cost=None if plain else cost, reject=reject, prior=new
    )
    found.estimator_ = model
    found.classes_ = model.classes_
    found.priors_ = old
    found.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        found.feature_names_in_ = model.feature_names_in_
    return found
