"""Cross-validation and grid search with scikit-learn's results and shared fits.

The fits of a grid search have much in common. For an estimator of this package, :class:`GridSearchCV` and
:func:`cross_validate` fit all settings and folds in one call of the core: kernel support vector machines share one
kernel matrix per kernel over all ``C`` and all folds and start from the dual variables of the next smaller ``C``.
Scoring, ``cv_results_``, ``refit`` and the splitter are scikit-learn's own. Everything that has no fast path
(other estimators, sample weights, training scores) is left to scikit-learn.
"""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn import model_selection
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if

from . import _mercer, labels
from .base.classifier import Classifier
from .base.estimator import Estimator
from .base.inputs import n_rows
from .base.regressor import Regressor

__all__ = ["GridSearchCV", "cross_validate"]

#: The training and test rows of every fold.
Splits = list[tuple[np.ndarray, np.ndarray]]


class GridSearchCV(model_selection.GridSearchCV):
    """Grid search with cross-validation, as ``sklearn.model_selection.GridSearchCV``.

    For an estimator of this package all settings and folds are fitted in one call, which shares kernel values
    and initial points among them; ``n_jobs`` is then the number of threads. The scores are those of separate
    fits within the tolerance of the solver.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.model_selection import GridSearchCV
    >>> from mercer.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}, cv=5).fit(X, y)
    >>> len(search.cv_results_["params"])
    6
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Scores all settings and fits the best one to all rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Class labels or regression targets.
        **params : dict
            ``groups`` for the splitter, or arguments of ``fit``, which are left to scikit-learn.
        """
        groups = params.pop("groups", None)
        replay = None
        if not params and not self.return_train_score:
            candidates = list(ParameterGrid(self.param_grid))
            options = (self.cv, groups, self.scoring, self.n_jobs)
            replay = _replay(self.estimator, candidates, X, y, *options)
        if replay is None:
            if groups is not None:
                params["groups"] = groups
            return super().fit(X, y, **params)
        surrogate, splits = replay
        search = model_selection.GridSearchCV(
            surrogate,
            self.param_grid,
            scoring=self.scoring,
            refit=self.refit,
            cv=splits,
            verbose=self.verbose,
            error_score=self.error_score,
        )
        search.fit(surrogate.row_numbers(), y)
        _set_times(search.cv_results_, surrogate)
        names = (
            "cv_results_",
            "scorer_",
            "multimetric_",
            "n_splits_",
            "best_index_",
            "best_params_",
        )
        for name in (*names, "best_score_", "refit_time_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        if self.refit:
            best = clone(self.estimator).set_params(**clone(search.best_params_, safe=False))
            self.best_estimator_ = best.fit(X, y)
            if hasattr(best, "feature_names_in_"):
                self.feature_names_in_ = best.feature_names_in_
        return self


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Cross-validated scores, as ``sklearn.model_selection.cross_validate``.

    For an estimator of this package all folds are fitted in one call. Options that need the fitted estimators
    (``return_estimator``, ``return_train_score``, ``params``) are left to scikit-learn.

    Parameters
    ----------
    estimator, X, y, groups, scoring, cv, n_jobs, **options
        As in scikit-learn.

    Returns
    -------
    dict of str to ndarray
        ``test_score`` (or one entry per metric), ``fit_time`` and ``score_time``, one value per fold.
    """
    plain = set(options) <= {"error_score", "verbose"}
    replay = _replay(estimator, [{}], X, y, cv, groups, scoring, n_jobs) if plain else None
    if replay is None:
        return model_selection.cross_validate(
            estimator, X, y, groups=groups, scoring=scoring, cv=cv, n_jobs=n_jobs, **options
        )
    surrogate, splits = replay
    rows = surrogate.row_numbers()
    scores = model_selection.cross_validate(
        surrogate, rows, y, scoring=scoring, cv=splits, **options
    )
    for name in ("fit_time", "score_time"):
        scores[name] = np.array([fold.get(name, 0.0) for fold in surrogate.results[0]])
    return scores


class _Replay(BaseEstimator):
    """Stands for the estimator in scikit-learn's own search: its rows are row numbers, its fits look the predictions
    of the core up."""

    def __init__(
        self,
        estimator: Estimator,
        candidates: Sequence[dict[str, Any]],
        results: list[list[dict[str, Any]]],
        splits: Splits,
        classes: np.ndarray | None,
        n_rows: int,
    ) -> None:
        self.estimator = estimator
        self.candidates = candidates
        self.results = results
        self.classes = classes
        self.setting: dict[str, Any] = {}
        self.n_rows = n_rows
        self.fold_of = {train.tobytes(): k for k, (train, _) in enumerate(splits)}
        self.splits = splits
        self.fold: dict[str, Any] = {}

    def row_numbers(self) -> np.ndarray:
        return np.arange(self.n_rows, dtype=np.int64).reshape(-1, 1)

    def __sklearn_clone__(self) -> "_Replay":
        other = _Replay.__new__(_Replay)
        other.__dict__ = dict(self.__dict__)
        other.setting = dict(self.setting)
        return other

    def __sklearn_tags__(self) -> Any:
        return self.estimator.__sklearn_tags__()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {**self.estimator.get_params(deep), **self.setting}

    def set_params(self, **params: Any) -> "_Replay":
        self.setting = {**self.setting, **params}
        return self

    def fit(self, X: np.ndarray, y: Any = None) -> "_Replay":
        fold = self.fold_of.get(np.ascontiguousarray(X[:, 0]).tobytes())
        # Only the fit to all rows, which the caller repeats with the estimator itself, is none of the folds.
        if self.classes is not None:
            self.classes_ = self.classes
        if fold is None:
            return self
        chosen = next(k for k, c in enumerate(self.candidates) if _same(c, self.setting))
        self.fold = self.results[chosen][fold]
        if self.fold["error"] is not None:
            raise ValueError(self.fold["error"])
        self.position = {int(row): k for k, row in enumerate(self.splits[fold][1])}
        return self

    def _rows(self, values: np.ndarray, X: np.ndarray) -> np.ndarray:
        return values[[self.position[int(row)] for row in X[:, 0]]]

    def predict(self, X: np.ndarray) -> np.ndarray:
        predicted = self._rows(self.fold["predicted"], X)
        return predicted if self.classes is None else self.classes[predicted]

    def _has(self, name: str) -> bool:
        return self.fold.get(name) is not None

    @available_if(lambda self: self._has("log_proba"))
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.exp(self._rows(self.fold["log_proba"], X))

    @available_if(lambda self: self._has("decisions"))
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        decisions = self._rows(self.fold["decisions"], X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def score(self, X: np.ndarray, y: Any) -> float:
        # The score of the estimator is that of its mixin, accuracy or R².
        return type(self.estimator).score(self, X, y)  # type: ignore[arg-type]


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(a[k] is b[k] or np.array_equal(a[k], b[k]) for k in a)


def _replay(
    estimator: Any,
    candidates: Sequence[dict[str, Any]],
    X: Any,
    y: Any,
    cv: Any,
    groups: Any,
    scoring: Any,
    n_jobs: int | None,
) -> tuple[_Replay, Splits] | None:
    """The predictions of all settings on all folds; ``None`` if there is no fast path for them."""
    if not isinstance(estimator, Classifier | Regressor) or y is None:
        return None
    X, y, groups = indexable(X, y, groups)
    if np.ndim(y) != 1 or getattr(estimator, "warm_start", False):
        return None
    try:
        models = [clone(estimator).set_params(**clone(c, safe=False)) for c in candidates]
        if any(callable(getattr(m, "kernel", None)) or _is_precomputed(m) for m in models):
            return None
        matrix = models[0]._rows(X, reset=True)
        settings = [model._params() for model in models]
    except (TypeError, ValueError, NotImplementedError):
        # scikit-learn reports the setting or the rows that are refused.
        return None
    if models[0]._levels is not None:
        return None
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits: Splits = [
        (_row_numbers(train), _row_numbers(test)) for train, test in splitter.split(X, y, groups)
    ]
    # Folds are recognized by their training rows.
    if len({train.tobytes() for train, _ in splits}) < len(splits):
        return None
    classes = None
    if isinstance(estimator, Classifier):
        target, classes = labels.encode(y)
    else:
        target = np.ascontiguousarray(y, dtype=np.float64)
    if len(target) != n_rows(matrix):
        return None
    names = [] if classes is None else labels.to_python(classes)
    limits = estimator._limits()
    if n_jobs is not None:
        limits = _with_jobs(models[0], n_jobs)._limits()
    # The score of the estimator itself needs predictions only.
    with_decisions = scoring is not None
    results = _mercer.evaluate_settings(
        estimator._id, settings, matrix, target, names, splits, with_decisions, limits
    )
    n_open = sum(not fold.get("converged", True) for folds in results for fold in folds)
    if n_open:
        n_fits = len(candidates) * len(splits)
        warnings.warn(
            f"{n_open} of {n_fits} fits did not converge", ConvergenceWarning, stacklevel=3
        )
    return _Replay(estimator, candidates, results, splits, classes, len(target)), splits


def _row_numbers(rows: Any) -> np.ndarray:
    """The rows of a fold as numbers; a splitter may also give a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)


def _with_jobs(model: Any, n_jobs: int) -> Any:
    if "n_jobs" in model.get_params():
        return clone(model).set_params(n_jobs=n_jobs)
    model.n_jobs = n_jobs
    return model


def _is_precomputed(model: Any) -> bool:
    return getattr(model, "kernel", None) == "precomputed"


def _set_times(results: dict[str, Any], surrogate: _Replay) -> None:
    """Replaces the times of looking predictions up by those of the fits."""
    for name in ("fit_time", "score_time"):
        times = np.array([[fold.get(name, 0.0) for fold in folds] for folds in surrogate.results])
        results[f"mean_{name}"] = times.mean(axis=1)
        results[f"std_{name}"] = times.std(axis=1)
