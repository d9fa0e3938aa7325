"""Logistic regression as in scikit-learn: penalized intercepts of ``liblinear``, and weights that a user sets."""

import warnings
from numbers import Integral, Number
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from . import _mercer, labels, rows
from .base.inputs import n_rows
from .base.sklearn_parameters import invalid_parameter
from .linear_model import LogisticRegression as CoreLogisticRegression

__all__ = ["LogisticRegression"]

#: The solvers of scikit-learn.
SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


def check_solver(estimator: Any) -> None:
    if estimator.solver not in SOLVERS:
        raise invalid_parameter(estimator, "solver", f"a str among {set(SOLVERS)}")
    scaling = estimator.intercept_scaling
    if not isinstance(scaling, Number) or isinstance(scaling, bool) or not scaling >= 0:  # type: ignore[operator]
        raise invalid_parameter(estimator, "intercept_scaling", "a number of at least 0")


class LogisticRegression(CoreLogisticRegression):
    __doc__ = CoreLogisticRegression.__doc__
    __module__ = "mercer.linear_model"

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
        check_solver(self)
        self._check_penalty()
        no_iterations = isinstance(self.max_iter, Integral) and self.max_iter == 0
        if no_iterations or (self.solver == "liblinear" and self.fit_intercept):
            return self._fit_outside(X, y, sample_weight, no_iterations=no_iterations)
        return super().fit(X, y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return super().__sklearn_is_fitted__() or {"coef_", "intercept_"} <= self.__dict__.keys()

    def _apply(self, method: str, X: Any) -> Any:
        self._use_set_weights()
        return super()._apply(method, X)

    def _use_set_weights(self) -> None:
        """Predicts with ``coef_`` and ``intercept_`` that a user has set, as after averaging models."""
        state = self.__dict__
        given = [state.get("coef_"), state.get("intercept_")]
        if all(value is None for value in given) or sp.issparse(given[0]):
            return
        coef = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        intercept = np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        if len(intercept) == 1 < len(coef):
            intercept = np.repeat(intercept, len(coef))
        self.n_features_in_ = coef.shape[1]
        fields = {
            "coefficients": np.ascontiguousarray(coef),
            "intercepts": np.ascontiguousarray(intercept),
            "n_iter": 0,
        }
        classes = labels.to_python(labels.encode(self.classes_)[1])
        self._fitted = _mercer.from_fields(
            self._id, self._params(), fields, classes, self._names(), coef.shape[1]
        )

    def _check_penalty(self) -> None:
        """Warns of parameters that contradict each other, and refuses a missing ``l1_ratio``."""
        ratio = self.l1_ratio
        if self.penalty == "elasticnet" and ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        if not isinstance(ratio, Number):
            return
        if self.penalty in ("l1", "l2", None) and 0 < ratio < 1:  # type: ignore[operator]
            warnings.warn(
                "l1_ratio parameter is only used when penalty is 'elasticnet'. Got "
                f"(penalty={self.penalty})",
                UserWarning,
                stacklevel=3,
            )
        # The default of `l1_ratio` is no contradiction: `penalty` alone chooses.
        if (self.penalty == "l2" and ratio != 0) or (self.penalty == "l1" and ratio not in (0, 1)):
            warnings.warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={ratio}; the penalty applies.",
                UserWarning,
                stacklevel=3,
            )

    def _fit_outside(self, X: Any, y: Any, sample_weight: Any, *, no_iterations: bool) -> Self:
        """A fit without iterations, or one whose intercept is the weight of a constant column, as in LIBLINEAR."""
        matrix = self._rows(X, reset=True)
        codes, classes, weights = self._target(matrix, y, sample_weight)
        if len(classes) < 2 or (len(classes) > 2 and not no_iterations):
            # LIBLINEAR has no multinomial model, so that there is no intercept of it to penalize.
            return super().fit(X, y, sample_weight)
        width = self.n_features_in_
        n_outputs = 1 if len(classes) == 2 else len(classes)
        names = labels.to_python(classes)
        if no_iterations:
            coefficients, intercepts = np.zeros((n_outputs, width)), np.zeros(n_outputs)
            n_iter, of = 0, None
            warnings.warn(
                "max_iter is 0: the weights are those before the first iteration",
                ConvergenceWarning,
                stacklevel=3,
            )
        else:
            params = self._params_with(fit_intercept=False)
            request = self._request(
                _with_constant(matrix, float(self.intercept_scaling)),
                codes,
                labels=names,
                weights=weights,
            )
            request["params"], request["names"] = params, None
            of = self._fit_core(request)
            table = of.field("coefficients")
            coefficients = np.ascontiguousarray(table[:, :-1])
            intercepts = table[:, -1] * self.intercept_scaling
            n_iter = of.field("n_iter")
        fields = {
            "coefficients": coefficients,
            "intercepts": np.ascontiguousarray(intercepts),
            "n_iter": n_iter,
        }
        params = self._params_with(max_iter=1) if no_iterations else self._params()
        fitted = _mercer.from_fields(self._id, params, fields, names, self._names(), width, of)
        self.classes_ = classes
        return self._set_fitted(fitted, len(codes))

    def _params_with(self, **changed: Any) -> str:
        """The parameters of the core with some of them changed."""
        old = {name: getattr(self, name) for name in changed}
        try:
            for name, value in changed.items():
                setattr(self, name, value)
            return self._params()
        finally:
            for name, value in old.items():
                setattr(self, name, value)

    def _predict_proba_lr(self, X: Any) -> np.ndarray:
        """scikit-learn's name for one-vs-rest probabilities: the logistic function of every decision value."""
        decisions = self.decision_function(X)
        probabilities = 1.0 / (1.0 + np.exp(-decisions))
        if probabilities.ndim == 1:
            return np.column_stack([1.0 - probabilities, probabilities])
        return probabilities / probabilities.sum(axis=1, keepdims=True)


def _with_constant(matrix: np.ndarray | rows.Csr, value: float) -> np.ndarray | rows.Csr:
    """The rows with a last column of one value."""
    if not isinstance(matrix, tuple):
        constant = np.full((len(matrix), 1), value, dtype=matrix.dtype)
        return np.hstack([matrix, constant])
    data, indices, offsets, width = matrix
    x = sp.csr_matrix((data, indices, offsets), shape=(n_rows(matrix), width))
    constant = sp.csr_matrix(np.full((n_rows(matrix), 1), value))
    return rows.matrix(sp.hstack([x, constant], format="csr"))
