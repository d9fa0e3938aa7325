"""Discriminant analysis with any covariance estimator, and with scikit-learn's attributes and messages."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from . import labels
from .base import Honored
from .base.inputs import check_lengths
from .discriminant_analysis import LinearDiscriminantAnalysis as CoreLda
from .discriminant_analysis import QuadraticDiscriminantAnalysis as CoreQda

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]


class _Covariances:
    """What linear and quadratic discriminant analysis share."""

    covariance_estimator: Any
    shrinkage: Any
    solver: Any
    priors: Any
    classes_: np.ndarray

    def _check_estimator(self) -> None:
        if self.covariance_estimator is None:
            return
        if self.shrinkage is not None:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        if self.solver == "svd":
            raise ValueError(self._needs_another_solver())
        if not hasattr(self.covariance_estimator, "fit"):
            raise ValueError("covariance_estimator must have a method fit")

    def _needs_another_solver(self) -> str:
        return "covariance estimator is not supported with svd solver. Try another solver"

    def _covariance(self, X: np.ndarray) -> np.ndarray:
        """The covariance matrix of rows by the given estimator."""
        estimator = self.covariance_estimator
        estimator = clone(estimator) if hasattr(estimator, "get_params") else estimator
        estimator.fit(X)
        if not hasattr(estimator, "covariance_"):
            raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
        return np.asarray(estimator.covariance_, dtype=np.float64)

    def _core_parameters(self) -> dict[str, Any]:
        """The parameters of the core; priors that do not sum to one are normalized, with a warning."""
        params = super()._core_parameters()  # type: ignore[misc]
        priors = params.get("priors")
        if priors is None:
            return params
        values = np.asarray(priors, dtype=np.float64)
        total = values.sum() if values.ndim == 1 else 0.0
        if len(values) and total > 0 and (values >= 0).all() and abs(total - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=6)
            params["priors"] = (values / total).tolist()
        return params


def _moment_points(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Equally weighted points with the given mean and covariance matrix: ``mean ± √d`` times the columns of a square
    root of the matrix."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0) * len(mean))
    return np.vstack([mean + root.T, mean - root.T])


class LinearDiscriminantAnalysis(_Covariances, CoreLda):
    __doc__ = CoreLda.__doc__
    __module__ = "mercer.discriminant_analysis"
    _extra_parameters: ClassVar = CoreLda._extra_parameters | {"covariance_estimator": Honored()}

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> Self:
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
        self._check_estimator()
        self.__dict__.pop("covariance_", None)
        if self.covariance_estimator is None:
            return super().fit(X, y, sample_weight)
        if sample_weight is not None:
            raise ValueError("covariance_estimator does not support sample_weight; use shrinkage")
        rows = check_array(self._rows(X, reset=True), dtype=np.float64)
        codes, classes = labels.encode(y)
        check_lengths(rows, codes)
        counts = np.bincount(codes, minlength=len(classes))
        priors = (
            counts / len(codes) if self.priors is None else np.asarray(self.priors, dtype=float)
        )
        of_class = [rows[codes == c] for c in range(len(classes))]
        within = sum(
            prior * self._covariance(own)
            for prior, own in zip(priors / priors.sum(), of_class, strict=True)
        )
        points = [_moment_points(own.mean(axis=0), np.asarray(within)) for own in of_class]
        names = self.__dict__.get("feature_names_in_")
        y_points = np.repeat(classes, [len(p) for p in points])
        weights = np.repeat(counts / [len(p) for p in points], [len(p) for p in points])
        super().fit(np.vstack(points), y_points, weights)
        if names is not None:
            self.feature_names_in_ = names
        self.covariance_ = np.asarray(within)
        return self

    def _target(self, matrix: Any, y: Any, sample_weight: Any) -> Any:
        codes, classes, weights = super()._target(matrix, y, sample_weight)
        # Without shrinkage there is no scatter within the classes.
        if 1 < len(codes) == len(classes) and self.shrinkage is None:
            raise ValueError("The number of samples must be more than the number of classes.")
        return codes, classes, weights


class QuadraticDiscriminantAnalysis(_Covariances, CoreQda):
    __doc__ = CoreQda.__doc__
    __module__ = "mercer.discriminant_analysis"
    _extra_parameters: ClassVar = CoreQda._extra_parameters | {"covariance_estimator": Honored()}

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
        self._check_estimator()
        self.__dict__.pop("covariance_", None)
        if self.covariance_estimator is None:
            return super().fit(X, y, sample_weight)
        if sample_weight is not None:
            raise ValueError("covariance_estimator does not support sample_weight; use shrinkage")
        rows = check_array(self._rows(X, reset=True), dtype=np.float64)
        codes, classes = labels.encode(y)
        check_lengths(rows, codes)
        of_class = [rows[codes == c] for c in range(len(classes))]
        covariances = [self._covariance(own) for own in of_class]
        points = [
            _moment_points(own.mean(axis=0), covariance)
            for own, covariance in zip(of_class, covariances, strict=True)
        ]
        names = self.__dict__.get("feature_names_in_")
        sizes = [len(p) for p in points]
        counts = np.array([len(own) for own in of_class])
        super().fit(np.vstack(points), np.repeat(classes, sizes), np.repeat(counts / sizes, sizes))
        if names is not None:
            self.feature_names_in_ = names
        self.covariance_ = np.array(covariances)
        return self

    def _needs_another_solver(self) -> str:
        return "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead"

    def __getattr__(self, name: str) -> Any:
        if name not in ("rotations_", "scalings_"):
            return super().__getattr__(name)
        parts = []
        for covariance in self.covariance_:
            values, vectors = np.linalg.eigh(covariance)
            parts.append((values[::-1], vectors[:, ::-1]))
        return [rotation if name == "rotations_" else values for values, rotation in parts]
