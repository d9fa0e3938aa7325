"""Multilayer perceptrons with scikit-learn's incremental fits, attributes and messages."""

import warnings
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from . import labels
from .base.inputs import n_rows
from .neural_network import MLPClassifier as CoreMLPClassifier
from .neural_network import MLPRegressor as CoreMLPRegressor

__all__ = ["MLPClassifier", "MLPRegressor"]

#: The solvers that learn from minibatches.
STOCHASTIC = ("adam", "sgd")


def _check_solver(estimator: Any) -> bool:
    """``partial_fit`` exists for stochastic solvers only."""
    if estimator.solver not in STOCHASTIC:
        raise AttributeError(
            f"partial_fit is only available for stochastic optimizers. {estimator.solver} is not stochastic."
        )
    return True


class _Stochastic:
    """What the classifier and the regressor share."""

    solver: Any
    verbose: Any
    early_stopping: Any
    batch_size: Any
    n_iter_no_change: Any
    _fitted: Any

    def _check_batches(self, n_samples: int) -> None:
        batch_size = self.batch_size
        if self.solver not in STOCHASTIC or isinstance(batch_size, str):
            return
        if not batch_size <= n_samples:
            warnings.warn(
                "Got `batch_size` less than 1 or larger than sample size. It is going to be clipped",
                UserWarning,
                stacklevel=4,
            )

    def _refuse_early_stopping(self) -> None:
        if self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")

    def _print_epochs(self, before: int) -> None:
        if not self.verbose or self.solver not in STOCHASTIC:
            return
        for epoch, loss in enumerate(self.loss_curve_[before:], start=1):  # type: ignore[attr-defined]
            print(f"Iteration {epoch}, loss = {loss:.8f}")

    def _n_epochs(self) -> int:
        """The epochs of earlier fits."""
        state = self.__dict__.get("_fitted")
        curve = None if state is None else state.field("training")
        return 0 if curve is None else len(curve["loss_curve"])

    def __getattr__(self, name: str) -> Any:
        if name in TRAINING_ATTRIBUTES:
            return self._training(name)
        return super().__getattr__(name)  # type: ignore[misc]

    def _training(self, name: str) -> Any:
        """An attribute of the stochastic solver."""
        state = self._fitted.field("training") if "_fitted" in self.__dict__ else None
        if state is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "_no_improvement_count":
            return state["epochs_without_improvement"]
        if name == "_optimizer":
            return SimpleNamespace(learning_rate=state["step_size"])
        if name == "validation_scores_":
            return state["validation_scores"].tolist() if self.early_stopping else None
        value = state[name[:-1]]
        return value.tolist() if isinstance(value, np.ndarray) else value


#: The attributes that only the stochastic solvers have.
TRAINING_ATTRIBUTES = frozenset(
    {
        "_no_improvement_count",
        "_optimizer",
        "best_loss_",
        "best_validation_score_",
        "loss_curve_",
        "t_",
        "validation_scores_",
    }
)


class MLPClassifier(_Stochastic, CoreMLPClassifier):
    __doc__ = CoreMLPClassifier.__doc__
    __module__ = "mercer.neural_network"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels: booleans, integers, floats or strings.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        if self.warm_start and "_fitted" in self.__dict__ and y is not None:
            classes = labels.encode(y)[1]
            if not np.array_equal(classes, self.classes_):
                raise ValueError(
                    "warm_start can only be used where `y` has the same classes as in the previous call to "
                    f"fit. Previously got {self.classes_}, `y` has {classes}"
                )
        before = self._n_epochs() if self.warm_start else 0
        super().fit(X, y, sample_weight)
        self._print_epochs(before)
        return self

    def _target(self, matrix: Any, y: Any, sample_weight: Any) -> Any:
        codes, classes, weights = super()._target(matrix, y, sample_weight)
        self._check_batches(len(codes))
        if self.early_stopping and self.solver in STOCHASTIC and len(classes) > 1:
            counts = np.bincount(codes, minlength=len(classes))
            if 0 < counts[counts > 0].min() < 2:
                few = [str(c) for c in np.asarray(classes)[counts == 1]]
                raise ValueError(
                    "The least populated classes in y have only 1 member, which is too few to hold out rows of "
                    f"every class. Classes with too few members are: {few}"
                )
        return codes, classes, weights

    @available_if(_check_solver)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Continues the fit with one epoch over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        classes : array of shape (n_classes,), default=None
            All classes; required in the first call.
        """
        first = not self.__sklearn_is_fitted__()
        self._refuse_early_stopping()
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        matrix = self._rows(X, reset=first)
        codes, observed, weights = self._target(matrix, y, sample_weight)
        known = self._known_classes(classes, first=first)
        codes = labels.recode(codes, observed, known)
        before = self._n_epochs()
        request = self._request(
            matrix,
            codes,
            labels=labels.to_python(known),
            weights=weights,
            start=None if first else self._fitted,
            partial=True,
        )
        fitted = self._fit_core(request)
        self.classes_ = known
        self._set_fitted(fitted, len(codes))
        self._print_epochs(before)
        return self


class MLPRegressor(_Stochastic, CoreMLPRegressor):
    __doc__ = CoreMLPRegressor.__doc__
    __module__ = "mercer.neural_network"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        before = self._n_epochs() if self.warm_start else 0
        super().fit(X, y, sample_weight)
        self._print_epochs(before)
        return self

    def _request(self, training_rows: Any, *args: Any, **options: Any) -> Any:
        self._check_batches(n_rows(training_rows))
        return super()._request(training_rows, *args, **options)

    @available_if(_check_solver)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Continues the fit with one epoch over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        first = not self.__sklearn_is_fitted__()
        self._refuse_early_stopping()
        matrix = self._rows(X, reset=first)
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            raise ValueError("partial_fit takes one target; fit takes several")
        self._multi_output = False
        target, weights = self._target(matrix, y, sample_weight)
        before = self._n_epochs()
        start = None if first else self._fitted
        request = self._request(matrix, target, weights=weights, start=start, partial=True)
        self._set_fitted(self._fit_core(request), len(target))
        self._print_epochs(before)
        return self
