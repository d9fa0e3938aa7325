"""Least squares and ridge regression with nonnegative coefficients or one strength per target."""

import json
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from . import _mercer, rows
from .base import Honored
from .base.inputs import n_rows
from .linear_model import LinearRegression as CoreLinearRegression
from .linear_model import Ridge as CoreRidge

__all__ = ["LinearRegression", "Ridge"]

#: The accuracy of nonnegative least squares, which has no closed form.
NONNEGATIVE = {"tol": 1e-14, "max_iter": 100_000, "positive": True, "l1_ratio": 0.0}


class _Nonnegative:
    """Fits nonnegative coefficients by coordinate descent instead of the normal equations."""

    def _request(self, training_rows: Any, target: Any, **arguments: Any) -> Any:
        request = super()._request(training_rows, target, **arguments)  # type: ignore[misc]
        if not self.positive:  # type: ignore[attr-defined]
            return request
        if arguments.get("partial"):
            raise ValueError("partial_fit does not support positive=True; use fit")
        weights = arguments.get("weights")
        total = n_rows(training_rows) if weights is None else float(weights.sum())
        strength = float(getattr(self, "alpha", 0.0)) / max(total, 1e-300)
        params = NONNEGATIVE | {"alpha": strength, "fit_intercept": bool(self.fit_intercept)}  # type: ignore[attr-defined]
        return request | {"id": "elastic-net", "params": json.dumps(params), "start": None}


class LinearRegression(_Nonnegative, CoreLinearRegression):
    __doc__ = CoreLinearRegression.__doc__
    __module__ = "mercer.linear_model"
    _extra_parameters: ClassVar = CoreLinearRegression._extra_parameters | {"positive": Honored()}

    @property
    def singular_(self) -> np.ndarray:
        """Singular values of the centered training rows, in descending order."""
        check_is_fitted(self)
        whitener = self._fitted.field("whitener")
        inverse = np.linalg.svd(whitener, compute_uv=False)
        return np.sort(1.0 / inverse[inverse > 0])[::-1]


class Ridge(_Nonnegative, CoreRidge):
    __doc__ = CoreRidge.__doc__
    __module__ = "mercer.linear_model"
    _extra_parameters: ClassVar = CoreRidge._extra_parameters | {"positive": Honored()}
    #: The models of the targets, if each has its own ``alpha``.
    _of_targets: list[_mercer.Fitted] | None = None

    @property
    def solver_(self) -> str:
        """The solver that scikit-learn would use: the optimum is the same for all."""
        check_is_fitted(self)
        if self.positive:
            return "lbfgs"
        return "cholesky" if self.solver == "auto" else self.solver

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Regression targets.
        sample_weight : float or array of shape (n_samples,), default=None
            Sample weights.
        """
        self._of_targets = None
        self._check_solver(X)
        strengths = np.ravel(self.alpha) if not isinstance(self.alpha, Real) else None
        if strengths is None:
            return super().fit(X, y, sample_weight)
        n_targets = 1 if np.ndim(y) == 1 else np.shape(y)[1]
        if len(strengths) not in (1, n_targets):
            raise ValueError(
                "Number of targets and number of penalties do not correspond: "
                f"{len(strengths)} != {n_targets}"
            )
        return self._fit_each(X, y, sample_weight, np.resize(strengths, n_targets))

    def _check_solver(self, X: Any) -> None:
        """Refuses the combinations that scikit-learn refuses; the solution would be the same."""
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(
                f"solver='{self.solver}' does not support positive fitting. Please set the solver to "
                "'auto' or 'lbfgs', or set `positive=False`"
            )
        if sp.issparse(X) and self.fit_intercept and self.solver in ("svd", "cholesky", "saga"):
            raise ValueError(
                f"solver='{self.solver}' does not support fitting the intercept on sparse data. Please "
                "set the solver to 'auto' or 'lsqr', 'sparse_cg', 'sag', 'lbfgs' or set "
                "`fit_intercept=False`"
            )

    def _fit_each(self, X: Any, y: Any, sample_weight: Any, strengths: np.ndarray) -> Self:
        """Fits every target with its own strength."""
        models = []
        targets = np.asarray(y).reshape(len(y), -1).T
        for target, alpha in zip(targets, strengths, strict=True):
            model = type(self)(**self.get_params() | {"alpha": float(alpha)})
            models.append(model.fit(X, target, sample_weight))
        self.__dict__.update(
            {k: v for k, v in models[0].__dict__.items() if k not in self.get_params()}
        )
        self._multi_output = np.ndim(y) == 2
        self._of_targets = [model._fitted for model in models] if self._multi_output else None
        return self

    def __getattr__(self, name: str) -> Any:
        of_targets = self.__dict__.get("_of_targets")
        if of_targets is not None and name in ("coef_", "intercept_"):
            field = {"coef_": "coefficients", "intercept_": "intercept"}[name]
            values = np.array([fitted.field(field) for fitted in of_targets])
            return values.astype(np.float32) if self._single else values
        return super().__getattr__(name)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted target of each row; one column per target if ``y`` had several."""
        if self._of_targets is None:
            return super().predict(X)
        matrix: np.ndarray | rows.Csr = self._known_rows(X)
        return np.column_stack([fitted.predict_target(matrix) for fitted in self._of_targets])
