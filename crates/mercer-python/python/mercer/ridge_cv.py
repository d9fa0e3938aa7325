"""Ridge regression with the strength chosen by any cross-validation scheme and metric."""

import warnings
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted

from .base import Honored
from .base.sklearn_parameters import invalid_parameter
from .least_squares import Ridge
from .linear_model import RidgeCV as CoreRidgeCV

__all__ = ["RidgeCV"]


class RidgeCV(CoreRidgeCV):
    __doc__ = CoreRidgeCV.__doc__
    __module__ = "mercer.linear_model"
    _extra_parameters: ClassVar = CoreRidgeCV._extra_parameters | {
        "scoring": Honored(),
        "cv": Honored(),
        "store_cv_results": Honored(),
        "alpha_per_target": Honored(),
    }
    _inputs = ("sparse", "multi-output")
    cv_results_: np.ndarray
    #: Whether the targets are class indicators, which a scorer compares as labels.
    _scores_classes = False

    def get_metadata_routing(self) -> Any:
        """The routing of metadata to the scorer and the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="score")
        router.add(scorer=check_scoring(Ridge(), self.scoring), method_mapping=mapping)
        if hasattr(self.cv, "get_metadata_routing"):
            router.add(
                splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split")
            )
        return router

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        **params : dict
            Metadata for the scorer and the splitter.
        """
        self.__dict__.pop("cv_results_", None)
        self._check_strengths()
        if self.gcv_mode == "svd" and sp.issparse(X) and self.cv is None:
            warnings.warn(
                "The 'svd' mode is not supported for sparse X and will raise an error in scikit-learn "
                "1.11; Mercer solves the normal equations exactly in any mode.",
                FutureWarning,
                stacklevel=2,
            )
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        one_target = np.asarray(y).ndim == 1
        simple = self.scoring in (None, "neg_mean_squared_error") and one_target
        if self.cv is None and simple and not self.store_cv_results and not self._scores_classes:
            return super().fit(X, y, sample_weight)
        if self.cv is None:
            return self._fit_leave_one_out(X, y, sample_weight, params)
        return self._fit_folds(X, y, sample_weight, params)

    def _check_strengths(self) -> None:
        given: Any = () if self.alphas is None else self.alphas
        alphas: Any = np.atleast_1d(np.asarray(given, dtype=object))
        for index, alpha in enumerate(alphas):
            name = f"alphas[{index}]" if np.ndim(given) else "alphas"
            if not isinstance(alpha, (int, float, np.integer, np.floating)):
                raise TypeError(f"{name} must be an instance of float, not {type(alpha).__name__}")
            bound = "> 0.0" if self.cv is None else ">= 0.0"
            if alpha < 0 or (alpha == 0 and self.cv is None):
                raise ValueError(f"{name} == {alpha}, must be {bound}.")
        for name in ("fit_intercept", "store_cv_results", "alpha_per_target"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise invalid_parameter(self, name, "an instance of 'bool'")

    def _core_parameters(self) -> dict[str, Any]:
        return super()._core_parameters() | {"alphas": self._strengths.tolist()}

    @property
    def _strengths(self) -> np.ndarray:
        given = (0.1, 1.0, 10.0) if self.alphas is None else self.alphas
        return np.atleast_1d(np.asarray(given, dtype=np.float64))

    def _fit_folds(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        if self.store_cv_results:
            raise ValueError("cv!=None and store_cv_results=True are incompatible")
        if self.alpha_per_target:
            raise ValueError("cv!=None and alpha_per_target=True are incompatible")
        model = Ridge(fit_intercept=self.fit_intercept)
        if _routing_enabled():
            model.set_fit_request(sample_weight=True)
        search = GridSearchCV(
            model, {"alpha": self._strengths.tolist()}, cv=self.cv, scoring=self.scoring
        )
        search.fit(X, y, sample_weight=sample_weight, **params)
        best = search.best_estimator_
        self.alpha_, self.best_score_ = search.best_params_["alpha"], search.best_score_
        return self._take(best)

    def _take(self, model: Any) -> Self:
        own = self.get_params(deep=False)
        self.__dict__.pop("feature_names_in_", None)
        kept = {
            k: v for k, v in model.__dict__.items() if k not in own and k not in model.get_params()
        }
        self.__dict__.update(kept)
        self._of_targets = kept.get("_of_targets")
        return self

    def _fit_leave_one_out(
        self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]
    ) -> Self:
        self._rows(X, reset=True)
        matrix = check_array(X, accept_sparse="csr", dtype=np.float64)
        targets = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if len(targets) != matrix.shape[0]:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"{[matrix.shape[0], len(targets)]}"
            )
        weights = np.ones(matrix.shape[0])
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, matrix, dtype=np.float64)
        residuals = _LeaveOneOut(
            matrix, targets.reshape(len(targets), -1), weights, self.fit_intercept
        )
        scorer = None if self.scoring is None else check_scoring(Ridge(), self.scoring)
        score_params = {}
        if _routing_enabled():
            score_params = process_routing(self, "fit", **params).scorer.score
        elif sample_weight is not None and scorer is not None:
            score_params = {"sample_weight": weights}
        scores, results = [], []
        for alpha in self._strengths:
            errors = residuals.at(alpha)
            predictions = targets.reshape(errors.shape) - errors
            squared = weights[:, None] * errors**2
            results.append(squared if scorer is None else predictions)
            scores.append(
                self._score(
                    scorer, squared, predictions, targets.reshape(errors.shape), score_params
                )
            )
        table = np.array(scores)
        best = np.argmax(table, axis=0)
        strengths = self._strengths
        if self.alpha_per_target and targets.ndim == 2:
            self.alpha_ = strengths[best]
            self.best_score_ = table[best, np.arange(table.shape[1])]
        else:
            self.alpha_ = float(strengths[int(best)])
            self.best_score_ = float(table[int(best)])
        if self.store_cv_results:
            stacked = np.stack(results, axis=-1)
            self.cv_results_ = stacked if targets.ndim == 2 else stacked[:, 0]
        model = Ridge(alpha=self.alpha_, fit_intercept=self.fit_intercept)
        return self._take(model.fit(X, y, sample_weight))

    def _score(self, scorer: Any, squared: Any, predictions: Any, targets: Any, params: Any) -> Any:
        """The score of one strength; one score per target if each chooses its own."""
        each = self.alpha_per_target and targets.shape[1] > 1
        if scorer is None:
            return -squared.mean(axis=0) if each else -squared.mean()
        if self._scores_classes:
            return scorer(_Indicators(predictions), predictions, _labels(targets), **params)
        if each:
            return [
                scorer(_Identity(), predictions[:, k], targets[:, k], **params)
                for k in range(targets.shape[1])
            ]
        # Squared errors of all targets count together.
        return scorer(
            _Identity(), predictions.ravel(), targets.ravel(), **_repeated(params, targets)
        )

    def __getattr__(self, name: str) -> Any:
        of_targets = self.__dict__.get("_of_targets")
        if of_targets is not None and name in ("coef_", "intercept_"):
            field = {"coef_": "coefficients", "intercept_": "intercept"}[name]
            return np.array([fitted.field(field) for fitted in of_targets])
        return super().__getattr__(name)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted target of each row; one column per target if ``y`` had several."""
        check_is_fitted(self)
        of_targets = self.__dict__.get("_of_targets")
        if of_targets is None:
            return super().predict(X)
        matrix = self._known_rows(X)
        return np.column_stack([fitted.predict_target(matrix) for fitted in of_targets])


def _repeated(params: dict[str, Any], targets: np.ndarray) -> dict[str, Any]:
    return {
        name: np.repeat(value, targets.shape[1]) if np.ndim(value) == 1 else value
        for name, value in params.items()
    }


def _labels(indicators: np.ndarray) -> np.ndarray:
    """The class codes of indicators."""
    if indicators.shape[1] == 1:
        return (indicators[:, 0] > 0).astype(int)
    return indicators.argmax(axis=1)


class _Identity:
    """A regressor whose rows are its predictions."""

    _estimator_type = "regressor"

    def __sklearn_tags__(self) -> Any:
        return Ridge().__sklearn_tags__()

    def predict(self, predictions: np.ndarray) -> np.ndarray:
        return predictions


class _Indicators(SimpleNamespace):
    """A classifier whose rows are its decision values."""

    def __init__(self, predictions: np.ndarray) -> None:
        super().__init__(classes_=np.arange(max(2, predictions.shape[1])))

    def __sklearn_tags__(self) -> Any:
        from .ridge_classifier import RidgeClassifier

        return RidgeClassifier().__sklearn_tags__()

    def decision_function(self, predictions: np.ndarray) -> np.ndarray:
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions

    def predict(self, predictions: np.ndarray) -> np.ndarray:
        return _labels(predictions)


class _LeaveOneOut:
    """The leave-one-out residuals of every strength, from one eigendecomposition (Golub, Heath & Wahba 1979).

    With ``X = U S Vᵀ`` for centered rows, multiplied by the roots of the weights, the leverage of row ``i`` is
    ``hᵢ = Σₖ Uᵢₖ² sₖ² / (sₖ² + α)``, plus that of the intercept, and its residual without itself
    ``(yᵢ − ŷᵢ) / (1 − hᵢ)``.
    """

    def __init__(self, X: Any, y: np.ndarray, weights: np.ndarray, fit_intercept: bool) -> None:
        X = X.toarray() if sp.issparse(X) else X
        roots, total = np.sqrt(weights)[:, None], weights.sum()
        if fit_intercept:
            X = X - weights @ X / total
            y = y - weights @ y / total
        self.roots = roots
        self.intercept = (weights / total)[:, None] if fit_intercept else 0.0
        self.left, self.values, _ = np.linalg.svd(roots * X, full_matrices=False)
        self.target = roots * y
        self.rotated = self.left.T @ self.target

    def at(self, alpha: float) -> np.ndarray:
        shrunk = self.values**2 / (self.values**2 + alpha)
        leverage = ((self.left**2) @ shrunk)[:, None] + self.intercept
        residual = self.target - self.left @ (shrunk[:, None] * self.rotated)
        roots = np.where(self.roots > 0, self.roots, 1.0)
        return residual / np.maximum(1.0 - leverage, 1e-12) / roots
