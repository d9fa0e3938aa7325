"""Classification by ridge regression of the class indicators, and ridge regression as a function."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from .least_squares import Ridge
from .ridge_cv import RidgeCV

__all__ = ["RidgeClassifier", "RidgeClassifierCV", "ridge_regression"]


class _ClassIndicators(ClassifierMixin, BaseEstimator):
    """A classifier that fits a regressor to targets of -1 and 1, one column per class."""

    _regressor: Any
    classes_: np.ndarray
    intercept_: Any

    def _indicators(self, y: Any) -> np.ndarray:
        self._binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        indicators = self._binarizer.fit_transform(y).astype(np.float64)
        if not self._binarizer.y_type_.startswith("multilabel"):
            y = np.ravel(y)
        self.classes_ = self._binarizer.classes_
        return indicators

    def _weights(self, y: Any, sample_weight: Any) -> Any:
        """The sample weights times those of the classes."""
        if self.class_weight is None:
            return sample_weight
        y = np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        by_class = compute_sample_weight(self.class_weight, y)
        if sample_weight is None:
            return by_class
        return _check_sample_weight(sample_weight, by_class, dtype=np.float64) * by_class

    def _fit_indicators(self, regressor: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        indicators = self._indicators(y)
        single = indicators.shape[1] == 1
        self._regressor = regressor.fit(X, indicators, self._weights(y, sample_weight))
        self.n_features_in_ = regressor.n_features_in_
        if hasattr(regressor, "feature_names_in_"):
            self.feature_names_in_ = regressor.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.coef_ = np.ravel(regressor.coef_) if single else np.asarray(regressor.coef_)
        self.intercept_ = np.atleast_1d(regressor.intercept_)
        if not self.fit_intercept:
            self.intercept_ = 0.0
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    @property
    def certificate_(self) -> dict[str, Any]:
        """How the fit of the indicators ended."""
        check_is_fitted(self)
        return self._regressor.certificate_

    def decision_function(self, X: Any) -> np.ndarray:
        """The predicted indicators: positive for the second class, or one column per class."""
        check_is_fitted(self)
        scores = self._regressor.predict(X)
        return scores.ravel() if scores.ndim == 2 and scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row; a matrix of indicators if ``y`` was one."""
        scores = self.decision_function(X)
        if self._binarizer.y_type_.startswith("multilabel"):
            return self._binarizer.inverse_transform(2.0 * (scores > 0) - 1)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]


class RidgeClassifier(_ClassIndicators):
    """Classification by ridge regression of the class indicators.

    Formula::

        min Σᵢ (tᵢ − w·xᵢ − b)² + α‖w‖²,  t = ±1

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength. Larger values shrink the coefficients more.
    fit_intercept : bool, default=True
        Fit an intercept.
    copy_X : bool, default=True
        Accepted without effect: the training rows are never modified.
    max_iter : int or None, default=None
        Accepted without effect: the normal equations are solved exactly.
    tol : float, default=1e-4
        Accepted without effect: the normal equations are solved exactly.
    class_weight : "balanced", dict of class to float or None, default=None
        Weight of each class in the loss.
    solver : str, default="auto"
        Accepted without effect: the normal equations are solved exactly for every value.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    random_state : int, RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Weights of each class; for two classes a vector, positive for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of each row of ``coef_``.
    n_iter_ : None
        The normal equations are solved directly.
    solver_ : str
        The solver that was used.

    Examples
    --------
    >>> from mercer.linear_model import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> print(*model.predict([[0.5], [3.5]]))
    a b
    """

    __module__ = "mercer.linear_model"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,), or indicators of shape (n_samples, n_labels)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        names = ("alpha", "fit_intercept", "copy_X", "max_iter", "tol", "solver", "positive")
        regressor = Ridge(**{name: getattr(self, name) for name in names})
        self._fit_indicators(regressor, X, y, sample_weight)
        self.n_iter_ = regressor.n_iter_
        self.solver_ = regressor.solver_
        return self


class RidgeClassifierCV(_ClassIndicators):
    """Classification by ridge regression, with the regularization strength chosen by cross-validation.

    Parameters
    ----------
    alphas : array of float > 0, default=(0.1, 1.0, 10.0)
        Candidate regularization strengths.
    fit_intercept : bool, default=True
        Fit an intercept.
    scoring : str, callable or None, default=None
        Metric of the selection; ``None`` is the squared error of the indicators for leave-one-out
        cross-validation and accuracy otherwise.
    cv : int, splitter, iterable or None, default=None
        Cross-validation scheme; ``None`` is leave-one-out.
    class_weight : "balanced", dict of class to float or None, default=None
        Weight of each class in the loss.
    store_cv_results : bool, default=False
        Store the leave-one-out errors or predictions of every alpha in ``cv_results_``.

    Attributes
    ----------
    alpha_ : float
        Chosen regularization strength.
    best_score_ : float
        Its score.
    coef_, intercept_, classes_ : ndarray
        As those of :class:`RidgeClassifier`.

    Examples
    --------
    >>> from mercer.linear_model import RidgeClassifierCV
    >>> model = RidgeClassifierCV().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> print(model.alpha_)
    1.0
    """

    __module__ = "mercer.linear_model"

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,), or indicators of shape (n_samples, n_labels)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        names = ("alphas", "fit_intercept", "scoring", "cv", "store_cv_results")
        regressor = RidgeCV(**{name: getattr(self, name) for name in names})
        regressor._scores_classes = True
        self._fit_indicators(regressor, X, y, sample_weight)
        self.alpha_, self.best_score_ = regressor.alpha_, regressor.best_score_
        if self.store_cv_results:
            self.cv_results_ = regressor.cv_results_
        return self


def ridge_regression(
    X: Any,
    y: Any,
    alpha: Any,
    *,
    sample_weight: Any = None,
    solver: str = "auto",
    max_iter: int | None = None,
    tol: float = 1e-4,
    verbose: int = 0,
    positive: bool = False,
    random_state: Any = None,
    return_n_iter: bool = False,
    return_intercept: bool = False,
    check_input: bool = True,
) -> Any:
    """The coefficients of ridge regression without an intercept.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Training rows.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Regression targets.
    alpha : float >= 0 or array of shape (n_targets,)
        Regularization strength, of all targets or of each.
    sample_weight : float or array of shape (n_samples,), default=None
        Sample weights.
    solver, max_iter, tol, verbose, random_state, check_input
        As in :class:`Ridge`.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    return_n_iter : bool, default=False
        Also return the number of iterations.
    return_intercept : bool, default=False
        Fit an intercept, and return it too.

    Returns
    -------
    coefficients, or a tuple of them with the number of iterations and the intercept.

    Examples
    --------
    >>> from mercer.linear_model import ridge_regression
    >>> ridge_regression([[1.0], [2.0]], [1.0, 2.0], alpha=0.0)
    array([1.])
    """
    if positive and solver not in ("auto", "lbfgs"):
        raise ValueError(
            "When positive=True, only 'lbfgs' solver can be used. Please change solver "
            f"{solver} to 'lbfgs' or set positive=False."
        )
    if return_intercept and solver not in ("auto", "sag"):
        raise ValueError(
            "In Ridge, only 'sag' solver can directly fit the intercept. Please change solver to 'sag' "
            "or set return_intercept=False."
        )
    model: Any = Ridge(
        alpha=float(alpha) if isinstance(alpha, Real) else alpha,
        fit_intercept=return_intercept,
        solver=solver,  # type: ignore[arg-type]
        max_iter=max_iter,
        tol=tol,
        positive=positive,  # type: ignore[arg-type]
        random_state=random_state,
    )
    model.fit(X, y, sample_weight)
    extra = ([model.n_iter_] if return_n_iter else []) + (
        [model.intercept_] if return_intercept else []
    )
    return (model.coef_, *extra) if extra else model.coef_
