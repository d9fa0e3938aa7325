"""The estimators of ``linear_model``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from numpy.random import RandomState

from .base import (
    DEFAULT,
    AdditiveScores,
    Calibrated,
    Classifier,
    DecisionFunction,
    Honored,
    LinearModel,
    MergeableRegressor,
    Online,
    OnlineRegressor,
    Only,
    OutlierDetector,
    Probabilistic,
    Regressor,
    Unused,
    WarmStart,
    sklearn_attributes,
    sklearn_parameters,
)

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDOneClassSVM",
    "SGDRegressor",
    "enet_path",
    "lasso_path",
    "ridge_regression",
]


class LinearRegression(MergeableRegressor, LinearModel, Regressor):
    """Ordinary least squares linear regression, with standard errors.

    Formula::

        min Σᵢ (yᵢ − w·xᵢ − b)²

    Parameters
    ----------
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.
    copy_X : bool, default=True
        Accepted without effect: the training rows are never modified.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative, by coordinate descent instead of the normal
        equations.
    tol : float, default=1e-06
        Accepted without effect: the normal equations are solved exactly.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weight ``w`` of each feature.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept ``b``.
    rank_ : int
        Numerical rank of the features, scaled to unit norm.
    condition_ : float
        Upper bound on the condition number of the features, scaled to unit norm.
    residual_squares_ : float
        Sum of squared residuals.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import LinearRegression
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = LinearRegression().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "ols"
    _inputs = ("sparse", "multi-output")
    _extra_parameters: ClassVar = {
        "n_jobs": Honored(),
        "copy_X": Unused(bool),
        "positive": Honored(),
        "tol": Unused(float),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
    }

    def __init__(self, *, fit_intercept=True, n_jobs=None, copy_X=True, positive=False, tol=1e-06):
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.copy_X = copy_X
        self.positive = positive
        self.tol = tol


class Ridge(MergeableRegressor, LinearModel, Regressor):
    """Ridge regression: linear regression with an L2 penalty on the coefficients.

    Formula::

        min Σᵢ (yᵢ − w·xᵢ − b)² + α‖w‖²

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength: the coefficient of the squared norm of the coefficients. Larger
        values shrink them more; 0 is ordinary least squares.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    alpha_from : {"given", "evidence"}, default="given"
        Use the parameter ``alpha`` (``given``), or the value that maximizes the evidence of the
        training rows (``evidence``), jointly over all targets.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.
    copy_X : bool, default=True
        Accepted without effect: the training rows are never modified.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative, by coordinate descent instead of the normal
        equations.
    tol : float, default=0.0001
        Accepted without effect: the normal equations are solved exactly.
    max_iter : int or None, default=None
        Accepted without effect: the normal equations are solved exactly.
    solver : str, default="auto"
        Accepted without effect: the normal equations are solved exactly for every value.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weight ``w`` of each feature.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept ``b``.
    alpha_ : float
        Regularization strength, given or chosen by the evidence.
    noise_variance_ : float
        Residual variance that maximizes the evidence.
    log_evidence_ : float
        Logarithm of the evidence ``p(y | alpha, noise_variance)``; 0 without a penalty.
    effective_degrees_ : float
        Effective degrees of freedom ``Σ λ / (λ + α)``.
    posterior_covariance_ : ndarray of shape (n_features, n_features)
        Posterior covariance of the coefficients (of the first target), ``σ² (XᵀX + αI)⁻¹`` with
        ``σ²`` the noise variance.
    n_iter_ : int
        1: the normal equations are solved directly.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import Ridge
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = Ridge().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "ridge"
    _inputs = ("sparse", "multi-output")
    _extra_parameters: ClassVar = {
        "random_state": Unused(int, RandomState, None),
        "copy_X": Unused(bool),
        "positive": Honored(),
        "tol": Unused(float),
        "max_iter": Unused(int, None),
        "solver": Unused("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "posterior_covariance_": (None, sklearn_attributes.posterior_covariance),
        "n_iter_": (None, sklearn_attributes.one_iteration),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        alpha_from="given",
        random_state=None,
        copy_X=True,
        positive=False,
        tol=0.0001,
        max_iter=None,
        solver="auto",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.alpha_from = alpha_from
        self.random_state = random_state
        self.copy_X = copy_X
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver


class LogisticRegression(WarmStart, AdditiveScores, Probabilistic, Classifier):
    """Logistic regression: the log odds of the classes are linear functions of the features.

    Formula::

        min ½‖w‖² − C Σᵢ log P(yᵢ | xᵢ),  P(c | x) = exp(w_c·x + b_c) / Σₖ exp(wₖ·x + bₖ)

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "none", "deprecated"} or None, default="deprecated"
        Penalty on the weights: ``l2`` (half the squared norm), ``l1`` (the sum of absolute values,
        which makes many weights zero), ``elasticnet`` (a mix of both, see ``l1_ratio``) or
        ``none``. ``None`` is ``none``. The default of scikit-learn, ``deprecated``, lets
        ``l1_ratio`` choose: 0 is ``l2``, 1 is ``l1``, values between are ``elasticnet``.
    C : float > 0, default=1.0
        Inverse regularization strength. Larger values fit the training rows more closely, smaller
        values shrink the weights.
    l1_ratio : float or None, default=0.0
        Fraction of the L1 penalty in ``penalty=elasticnet``: 0 is ``l2``, 1 is ``l1``. ``None`` is
        0.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    class_weight : "balanced", dict of class to float >= 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    tol : float > 0, default=0.0001
        Stop when the largest entry of the gradient of the penalized mean loss is at most ``tol``.
    max_iter : int >= 1, default=1000
        Maximum number of iterations.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : int, default=0
        Print the progress of the fit once per second.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        Solver of scikit-learn. Every fit converges to the same certified optimum; only
        ``liblinear`` penalizes the intercept of two classes, as LIBLINEAR does.
    dual : bool, default=False
        Accepted without effect: the primal and the dual problem have the same optimum.
    intercept_scaling : float, default=1
        Value of the constant column whose weight is the intercept if ``solver`` is ``liblinear``:
        larger values penalize the intercept less.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights ``w`` of each class; for two classes one row, positive for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept ``b`` of each row of ``coef_``.
    n_iter_ : int
        Number of iterations of the solver.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import LogisticRegression
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "logistic"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
        "random_state": Unused(int, RandomState, None),
        "solver": Honored(),
        "dual": Unused(bool),
        "intercept_scaling": Honored(),
    }
    _spellings: ClassVar = {
        "penalty": {None: "none", "deprecated": DEFAULT},
        "l1_ratio": {None: 0.0},
    }
    _translations = (sklearn_parameters.l1_ratio_chooses_penalty,)
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        fit_intercept=True,
        class_weight=None,
        tol=0.0001,
        max_iter=1000,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
        solver="lbfgs",
        dual=False,
        intercept_scaling=1,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.solver = solver
        self.dual = dual
        self.intercept_scaling = intercept_scaling


class RidgeCV(LinearModel, Regressor):
    """Ridge regression with the regularization strength chosen by leave-one-out cross-validation.

    Formula::

        min_α Σᵢ ((yᵢ − ŷᵢ) / (1 − hᵢ))²,  ŷ from ridge regression with α, leverage hᵢ

    Parameters
    ----------
    alphas : list of float >= 0 or None, default=None
        Candidate regularization strengths. The default, an empty list, tries 0.1, 1 and 10.
        ``None`` is the empty list.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    scoring : str or Callable[..., float} or None, default=None
        Metric of the selection; ``None`` is the squared error of the leave-one-out predictions, or
        R² with ``cv``.
    cv : Any, default=None
        Cross-validation scheme: number of folds, splitter or iterable of splits; ``None`` is exact
        leave-one-out.
    gcv_mode : {"auto", "svd", "eigen"} or None, default=None
        Accepted without effect: the normal equations are solved exactly.
    store_cv_results : bool, default=False
        Store the leave-one-out errors of every row for every alpha in ``cv_results_``; with
        ``scoring``, the predictions.
    alpha_per_target : bool, default=False
        Choose alpha for each target separately.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight ``w`` of each feature.
    intercept_ : float
        Intercept ``b``.
    alpha_ : float
        Chosen regularization strength.
    alphas_ : ndarray of shape (n_alphas,)
        Candidate regularization strengths.
    errors_ : ndarray of shape (n_alphas,)
        Leave-one-out mean squared error of each candidate.
    best_score_ : float
        Minus the smallest of these errors.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import RidgeCV
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = RidgeCV().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "ridge-cv"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "scoring": Honored(),
        "cv": Honored(),
        "gcv_mode": Unused("auto", "svd", "eigen", None),
        "store_cv_results": Honored(),
        "alpha_per_target": Honored(),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
    }

    def __init__(
        self,
        alphas=None,
        *,
        fit_intercept=True,
        scoring=None,
        cv=None,
        gcv_mode=None,
        store_cv_results=False,
        alpha_per_target=False,
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target


class Lasso(WarmStart, LinearModel, Regressor):
    """Lasso: linear regression with an L1 penalty, which sets many coefficients to zero.

    Formula::

        min 1/(2n) Σᵢ (yᵢ − w·xᵢ − b)² + α‖w‖₁

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength: the coefficient of the L1 norm of the weights. Larger values set
        more of them to zero; 0 is ordinary least squares.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    max_iter : int >= 0, default=1000
        Maximum number of passes over the columns.
    tol : float >= 0, default=0.0001
        Stop when the duality gap is at most ``tol`` times the sum of squares of the centered
        target. Smaller values take longer.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    joint : bool, default=False
        Select the same columns for all targets (multi-task lasso): the L1 norm becomes the sum over
        the columns of the norm of their weights.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    precompute : bool or list, default=False
        Compute the Gram matrix first, or use the given one: only its shape and values are checked,
        the model does not depend on it.
    copy_X : bool, default=True
        Accepted without effect: the training rows are never modified.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.
    selection : {"cyclic", "random"}, default="cyclic"
        Accepted without effect: the columns are visited in order; every order has the same optimum.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weight ``w`` of each feature.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept ``b``.
    n_iter_ : int or list of int
        Number of passes over the columns, for each target.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap at the end of the fit, for each target.
    sparse_coef_ : sparse array of shape (1, n_features)
        ``coef_`` as a sparse array.
    converged_ : bool
        Whether the solver reached its tolerance.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import Lasso
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = Lasso().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "lasso"
    _inputs = ("sparse", "multi-output", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "precompute": Honored(),
        "copy_X": Unused(bool),
        "random_state": Unused(int, RandomState, None),
        "selection": Unused("cyclic", "random"),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "n_iter_": ("n_iters", sklearn_attributes.one_or_list),
        "dual_gap_": ("dual_gaps", sklearn_attributes.one_or_array),
        "sparse_coef_": ("coefficients", sklearn_attributes.sparse_matrix),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        max_iter=1000,
        tol=0.0001,
        positive=False,
        joint=False,
        warm_start=False,
        precompute=False,
        copy_X=True,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.positive = positive
        self.joint = joint
        self.warm_start = warm_start
        self.precompute = precompute
        self.copy_X = copy_X
        self.random_state = random_state
        self.selection = selection


class ElasticNet(WarmStart, LinearModel, Regressor):
    """Elastic net: linear regression with a mix of the L1 and the L2 penalty.

    Formula::

        min 1/(2n) Σᵢ (yᵢ − w·xᵢ − b)² + α (ρ‖w‖₁ + ½ (1 − ρ)‖w‖²)

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength. Larger values shrink the weights more; 0 is ordinary least squares.
    l1_ratio : float in [0, 1], default=0.5
        Fraction of the L1 penalty: 0 is ridge regression, 1 is the lasso. Larger values set more
        weights to zero.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    max_iter : int >= 0, default=1000
        Maximum number of passes over the columns.
    tol : float >= 0, default=0.0001
        Stop when the duality gap is at most ``tol`` times the sum of squares of the centered
        target. Smaller values take longer.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    joint : bool, default=False
        Select the same columns for all targets (multi-task elastic net): the L1 norm becomes the
        sum over the columns of the norm of their weights.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    precompute : bool or list, default=False
        Compute the Gram matrix first, or use the given one: only its shape and values are checked,
        the model does not depend on it.
    copy_X : bool, default=True
        Accepted without effect: the training rows are never modified.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.
    selection : {"cyclic", "random"}, default="cyclic"
        Accepted without effect: the columns are visited in order; every order has the same optimum.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weight ``w`` of each feature.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept ``b``.
    n_iter_ : int or list of int
        Number of passes over the columns, for each target.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap at the end of the fit, for each target.
    sparse_coef_ : sparse array of shape (1, n_features)
        ``coef_`` as a sparse array.
    converged_ : bool
        Whether the solver reached its tolerance.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import ElasticNet
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = ElasticNet().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "elastic-net"
    _inputs = ("sparse", "multi-output", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "precompute": Honored(),
        "copy_X": Unused(bool),
        "random_state": Unused(int, RandomState, None),
        "selection": Unused("cyclic", "random"),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "n_iter_": ("n_iters", sklearn_attributes.one_or_list),
        "dual_gap_": ("dual_gaps", sklearn_attributes.one_or_array),
        "sparse_coef_": ("coefficients", sklearn_attributes.sparse_matrix),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        max_iter=1000,
        tol=0.0001,
        positive=False,
        joint=False,
        warm_start=False,
        precompute=False,
        copy_X=True,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.positive = positive
        self.joint = joint
        self.warm_start = warm_start
        self.precompute = precompute
        self.copy_X = copy_X
        self.random_state = random_state
        self.selection = selection


class LogisticRegressionCV(AdditiveScores, Probabilistic, Classifier):
    """Logistic regression with the regularization strength chosen by cross-validation.

    Formula::

        max_C Σ_f score_f(w, b),  (w, b) = argmin ½‖w‖² − C Σ_{i∉f} log P(yᵢ | xᵢ) for every fold f

    Parameters
    ----------
    Cs : int > 0 or list of float, default=10
        Inverse regularization strengths to choose from: a list of values, or a number of values
        between 0.0001 and 10000 on a logarithmic scale. Larger values fit the training rows more
        closely.
    l1_ratios : list of float in [0, 1] or None, default=None
        Fractions of the L1 penalty to choose from, between 0 (``l2``) and 1 (``l1``). A list that
        is not empty overrides ``penalty``. ``None`` is the empty list.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    cv : int >= 2 or None, default=None
        Number of cross-validation folds. ``None`` uses 5.
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        Penalty on the weights: ``l2`` (half the squared norm), ``l1`` (the sum of absolute values)
        or ``elasticnet`` (a mix of both, see ``l1_ratios``).
    scoring : {"accuracy", "neg_log_loss"}, default="accuracy"
        Score of a fold: the fraction of correct predictions (``accuracy``) or minus the mean log
        loss (``neg_log_loss``).
    tol : float > 0, default=0.0001
        Stop a fit when the largest entry of the gradient of the penalized mean loss is at most
        ``tol``.
    max_iter : int >= 1, default=1000
        Maximum number of iterations of each fit.
    class_weight : "balanced", dict of class to float >= 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    refit : bool, default=True
        Fit all rows with the chosen value. Otherwise the coefficients are the mean over the folds
        of the best fit in each.
    verbose : int, default=0
        Print the progress of the fit once per second.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        Solver of scikit-learn. Every fit converges to the same certified optimum; only
        ``liblinear`` penalizes the intercept of two classes, as LIBLINEAR does.
    dual : bool, default=False
        Accepted without effect: the primal and the dual problem have the same optimum.
    intercept_scaling : float, default=1.0
        Value of the constant column whose weight is the intercept if ``solver`` is ``liblinear``:
        larger values penalize the intercept less.
    use_legacy_attributes : {False, "warn"}, default=False
        Repeat the cross-validation results for every class. Only ``False`` or ``"warn"`` is
        supported.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights ``w`` of each class; for two classes one row, positive for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept ``b`` of each row of ``coef_``.
    C_ : float
        Chosen inverse regularization strength; without ``refit``, the mean over the folds.
    l1_ratio_ : float
        Chosen fraction of the L1 penalty.
    Cs_ : ndarray of shape (n_cs,)
        Candidate inverse regularization strengths.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        Candidate fractions of the L1 penalty.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        Score of each fold.
    n_iter_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        Number of iterations of each fit.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_features + 1)
        Coefficients of each fit, intercepts last; empty beyond ten million of them.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import LogisticRegressionCV
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LogisticRegressionCV(cv=3).fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "logistic-cv"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
        "n_jobs": Honored(),
        "random_state": Unused(int, RandomState, None),
        "solver": Honored(),
        "dual": Unused(bool),
        "intercept_scaling": Honored(),
        "use_legacy_attributes": Only(
            False,
            "warn",
            instead="read C_, scores_ and coefs_paths_ as scikit-learn 1.10 has them",
        ),
    }
    _spellings: ClassVar = {
        "penalty": {"deprecated": DEFAULT},
        "l1_ratios": {"warn": DEFAULT, "deprecated": DEFAULT},
        "scoring": {None: DEFAULT, "warn": DEFAULT, "deprecated": DEFAULT},
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        *,
        Cs=10,
        l1_ratios=None,
        fit_intercept=True,
        cv=None,
        penalty="l2",
        scoring="accuracy",
        tol=0.0001,
        max_iter=1000,
        class_weight=None,
        refit=True,
        verbose=0,
        n_jobs=None,
        random_state=None,
        solver="lbfgs",
        dual=False,
        intercept_scaling=1.0,
        use_legacy_attributes=False,
    ):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.penalty = penalty
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.refit = refit
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.solver = solver
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.use_legacy_attributes = use_legacy_attributes


class Perceptron(Online, WarmStart, DecisionFunction, AdditiveScores, Classifier):
    """Perceptron: a linear classifier updated on each misclassified row.

    Formula::

        if yᵢ(w·xᵢ + b) ≤ 0:  w ← w + η yᵢ xᵢ,  b ← b + η yᵢ

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "none"}, default="none"
        Regularization term: ``l2`` (half the squared norm of the weights), ``l1`` (the sum of their
        absolute values, which gives sparse weights), ``elasticnet`` (a mixture of both) or
        ``none``.
    alpha : float >= 0, default=0.0001
        Regularization strength. Larger values give smaller weights. The learning rate ``optimal``
        depends on it.
    l1_ratio : float in [0, 1], default=0.15
        Fraction of the L1 penalty in ``elasticnet``: 0 is ``l2``, 1 is ``l1``.
    fit_intercept : bool, default=True
        Fit an intercept, which is not penalized. If ``false``, the hyperplane passes through the
        origin.
    max_iter : int >= 1, default=1000
        Largest number of passes over the training rows (epochs). A fit that reaches it is marked in
        the certificate.
    tol : float >= 0 or None, default=0.001
        Stop when ``n_iter_no_change`` epochs in a row improve the mean training objective by less
        than ``tol``. ``None`` runs all ``max_iter`` epochs.
    shuffle : bool, default=True
        Shuffle the rows before each epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    early_stopping : bool, default=False
        Stop by the score on held-out rows instead of by the training objective.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : int >= 1, default=5
        Number of epochs without improvement after which the fit stops, or after which the learning
        rate ``adaptive`` decreases.
    average : bool or int >= 1, default=False
        Average the weights over all steps, or over the steps from this one on. Averaging reduces
        the variance of the solution.
    intercept_decay : float > 0 or None, default=None
        Learning rate of the intercept relative to that of the weights. ``None`` is 1, and 0.01 for
        sparse rows.
    eta0 : float > 0, default=1.0
        Learning rate: the factor of every update. Without a penalty it only scales the weights.
    class_weight : "balanced", dict of class to float >= 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : int, default=0
        Print the progress of the fit once per second.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights ``w`` of each class; for two classes one row, positive for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept ``b`` of each row of ``coef_``.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of the next update, counted from one.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import Perceptron
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = Perceptron().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "perceptron"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
    }
    _spellings: ClassVar = {
        "penalty": {None: "none"},
        "l1_ratio": {None: DEFAULT},
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        *,
        penalty="none",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        shuffle=True,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        average=False,
        intercept_decay=None,
        eta0=1.0,
        class_weight=None,
        warm_start=False,
        verbose=0,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.average = average
        self.intercept_decay = intercept_decay
        self.eta0 = eta0
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs


class SGDClassifier(Online, WarmStart, DecisionFunction, AdditiveScores, Calibrated, Classifier):
    """Linear classifier trained by stochastic gradient descent.

    Formula::

        min (1/n) Σᵢ ℓ(yᵢ, w·xᵢ + b) + α R(w),  R = ½‖w‖², ‖w‖₁ or a mixture

    Parameters
    ----------
    loss : str, default="hinge"
        Loss function: ``hinge`` (linear support vector machine), ``log_loss`` (logistic
        regression), ``modified_huber``, ``squared_hinge`` or ``perceptron``; or a regression loss
        on targets ±1: ``squared_error``, ``huber``, ``epsilon_insensitive`` or
        ``squared_epsilon_insensitive``.
    penalty : {"l2", "l1", "elasticnet", "none"}, default="l2"
        Regularization term: ``l2`` (half the squared norm of the weights), ``l1`` (the sum of their
        absolute values, which gives sparse weights), ``elasticnet`` (a mixture of both) or
        ``none``.
    alpha : float >= 0, default=0.0001
        Regularization strength. Larger values give smaller weights. The learning rate ``optimal``
        depends on it.
    l1_ratio : float in [0, 1], default=0.15
        Fraction of the L1 penalty in ``elasticnet``: 0 is ``l2``, 1 is ``l1``.
    fit_intercept : bool, default=True
        Fit an intercept, which is not penalized. If ``false``, the hyperplane passes through the
        origin.
    max_iter : int >= 1, default=1000
        Largest number of passes over the training rows (epochs). A fit that reaches it is marked in
        the certificate.
    tol : float >= 0 or None, default=0.001
        Stop when ``n_iter_no_change`` epochs in a row improve the mean training objective by less
        than ``tol``. ``None`` runs all ``max_iter`` epochs.
    shuffle : bool, default=True
        Shuffle the rows before each epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    early_stopping : bool, default=False
        Stop by the score on held-out rows instead of by the training objective.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : int >= 1, default=5
        Number of epochs without improvement after which the fit stops, or after which the learning
        rate ``adaptive`` decreases.
    average : bool or int >= 1, default=False
        Average the weights over all steps, or over the steps from this one on. Averaging reduces
        the variance of the solution.
    intercept_decay : float > 0 or None, default=None
        Learning rate of the intercept relative to that of the weights. ``None`` is 1, and 0.01 for
        sparse rows.
    epsilon : float >= 0, default=0.1
        Residual beyond which ``huber`` is linear; residual up to which the losses with ``epsilon``
        in their name are zero.
    learning_rate : str, default="optimal"
        Learning rate schedule: ``constant`` (``eta0``), ``optimal`` (``1 / (alpha t)``),
        ``invscaling`` (``eta0 / t^power_t``), ``adaptive`` (``eta0``, decreased when the objective
        stops improving), or the passive-aggressive steps ``pa1`` and ``pa2``.
    eta0 : float > 0, default=0.01
        Initial learning rate; for ``pa1`` the largest step, for ``pa2`` the aggressiveness. Larger
        values take larger steps. ``optimal`` ignores it.
    power_t : float >= 0, default=0.5
        Exponent of ``invscaling``. Larger values decrease the learning rate faster.
    class_weight : "balanced", dict of class to float >= 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : int, default=0
        Print the progress of the fit once per second.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights ``w`` of each class; for two classes one row, positive for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept ``b`` of each row of ``coef_``.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of the next update, counted from one.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import SGDClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = SGDClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "sgd"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
    }
    _spellings: ClassVar = {
        "penalty": {None: "none"},
        "l1_ratio": {None: DEFAULT},
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        loss="hinge",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        shuffle=True,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        average=False,
        intercept_decay=None,
        epsilon=0.1,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        class_weight=None,
        warm_start=False,
        verbose=0,
        n_jobs=None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.average = average
        self.intercept_decay = intercept_decay
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs


class SGDRegressor(OnlineRegressor, WarmStart, LinearModel, Regressor):
    """Linear regressor trained by stochastic gradient descent.

    Formula::

        min (1/n) Σᵢ ℓ(yᵢ, w·xᵢ + b) + α R(w),  R = ½‖w‖², ‖w‖₁ or a mixture

    Parameters
    ----------
    loss : str, default="squared_error"
        Loss function: ``squared_error``, ``huber`` (linear for residuals beyond ``epsilon``),
        ``epsilon_insensitive`` or ``squared_epsilon_insensitive``.
    penalty : {"l2", "l1", "elasticnet", "none"}, default="l2"
        Regularization term: ``l2`` (half the squared norm of the weights), ``l1`` (the sum of their
        absolute values, which gives sparse weights), ``elasticnet`` (a mixture of both) or
        ``none``.
    alpha : float >= 0, default=0.0001
        Regularization strength. Larger values give smaller weights. The learning rate ``optimal``
        depends on it.
    l1_ratio : float in [0, 1], default=0.15
        Fraction of the L1 penalty in ``elasticnet``: 0 is ``l2``, 1 is ``l1``.
    fit_intercept : bool, default=True
        Fit an intercept, which is not penalized. If ``false``, the hyperplane passes through the
        origin.
    max_iter : int >= 1, default=1000
        Largest number of passes over the training rows (epochs). A fit that reaches it is marked in
        the certificate.
    tol : float >= 0 or None, default=0.001
        Stop when ``n_iter_no_change`` epochs in a row improve the mean training objective by less
        than ``tol``. ``None`` runs all ``max_iter`` epochs.
    shuffle : bool, default=True
        Shuffle the rows before each epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    early_stopping : bool, default=False
        Stop by the score on held-out rows instead of by the training objective.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : int >= 1, default=5
        Number of epochs without improvement after which the fit stops, or after which the learning
        rate ``adaptive`` decreases.
    average : bool or int >= 1, default=False
        Average the weights over all steps, or over the steps from this one on. Averaging reduces
        the variance of the solution.
    intercept_decay : float > 0 or None, default=None
        Learning rate of the intercept relative to that of the weights. ``None`` is 1, and 0.01 for
        sparse rows.
    epsilon : float >= 0, default=0.1
        Residual beyond which ``huber`` is linear; residual up to which the losses with ``epsilon``
        in their name are zero.
    learning_rate : str, default="invscaling"
        Learning rate schedule: ``constant`` (``eta0``), ``optimal`` (``1 / (alpha t)``),
        ``invscaling`` (``eta0 / t^power_t``), ``adaptive`` (``eta0``, decreased when the objective
        stops improving), or the passive-aggressive steps ``pa1`` and ``pa2``.
    eta0 : float > 0, default=0.01
        Initial learning rate; for ``pa1`` the largest step, for ``pa2`` the aggressiveness. Larger
        values take larger steps. ``optimal`` ignores it.
    power_t : float >= 0, default=0.25
        Exponent of ``invscaling``. Larger values decrease the learning rate faster.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : int, default=0
        Print the progress of the fit once per second.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight ``w`` of each feature.
    intercept_ : ndarray of shape (1,)
        Intercept ``b``.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of the next update, counted from one.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import SGDRegressor
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = SGDRegressor().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    34.599083
    """

    _id = "sgd-regressor"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
    }
    _spellings: ClassVar = {
        "penalty": {None: "none"},
        "l1_ratio": {None: DEFAULT},
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        loss="squared_error",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        shuffle=True,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        average=False,
        intercept_decay=None,
        epsilon=0.1,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        warm_start=False,
        verbose=0,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.average = average
        self.intercept_decay = intercept_decay
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.warm_start = warm_start
        self.verbose = verbose


class SGDOneClassSVM(WarmStart, DecisionFunction, OutlierDetector):
    """Linear one-class support vector machine for novelty detection, trained by stochastic gradient
    descent.

    Formula::

        min ½ν‖w‖² − νρ + (1/n) Σᵢ max(0, ρ − w·xᵢ),  inlier if w·x ≥ ρ

    Parameters
    ----------
    nu : float in [0.000000001, 1], default=0.5
        Upper bound on the fraction of training rows outside the region and lower bound on the
        fraction of support vectors. Larger values give a smaller region.
    fit_intercept : bool, default=True
        Fit the offset ``ρ``. If ``false``, it is zero.
    max_iter : int >= 1, default=1000
        Largest number of passes over the training rows (epochs). A fit that reaches it is marked in
        the certificate.
    tol : float >= 0 or None, default=0.001
        Stop when five epochs in a row improve the mean training objective by less than ``tol``.
        ``None`` runs all ``max_iter`` epochs.
    shuffle : bool, default=True
        Shuffle the rows before each epoch.
    verbose : int, default=0
        Print the progress of the fit once per second.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    learning_rate : str, default="optimal"
        Learning rate schedule: ``constant`` (``eta0``), ``optimal`` (``1 / (alpha t)``),
        ``invscaling`` (``eta0 / t^power_t``), ``adaptive`` (``eta0``, decreased when the objective
        stops improving), or the passive-aggressive steps ``pa1`` and ``pa2``.
    eta0 : float > 0, default=0.01
        Initial learning rate; for ``pa1`` the largest step, for ``pa2`` the aggressiveness. Larger
        values take larger steps. ``optimal`` ignores it.
    power_t : float >= 0, default=0.5
        Exponent of ``invscaling``. Larger values decrease the learning rate faster.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    average : bool or int >= 1, default=False
        Average the weights over all steps, or over the steps from this one on. Averaging reduces
        the variance of the solution.
    intercept_decay : float > 0 or None, default=None
        Learning rate of the offset relative to that of the weights. ``None`` is 1, and 0.01 for
        sparse rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight ``w`` of each feature.
    offset_ : ndarray of shape (1,)
        Offset ``ρ`` of the decision function.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of the next update, counted from one.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import SGDOneClassSVM
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(SGDOneClassSVM().fit(X).predict(X).shape)
    (4,)
    """

    _id = "sgd-one-class"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "offset_": ("offset", None),
    }

    def __init__(
        self,
        nu=0.5,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        shuffle=True,
        verbose=0,
        random_state=0,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        warm_start=False,
        average=False,
        *,
        intercept_decay=None,
    ):
        self.nu = nu
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.warm_start = warm_start
        self.average = average
        self.intercept_decay = intercept_decay


class PassiveAggressiveClassifier(Online, WarmStart, DecisionFunction, AdditiveScores, Classifier):
    """Passive-aggressive classifier: each misclassified row makes the smallest update that corrects
    it.

    Formula::

        min_w ½‖w − wₜ‖² + Cξ  subject to  yᵢ(w·xᵢ + b) ≥ 1 − ξ, ξ ≥ 0  (PA-I; PA-II: Cξ²)

    Parameters
    ----------
    C : float > 0, default=1.0
        Upper limit of the step size. Smaller values make smaller updates and tolerate label noise.
    fit_intercept : bool, default=True
        Fit an intercept, which is not penalized. If ``false``, the hyperplane passes through the
        origin.
    max_iter : int >= 1, default=1000
        Largest number of passes over the training rows (epochs). A fit that reaches it is marked in
        the certificate.
    tol : float >= 0 or None, default=0.001
        Stop when ``n_iter_no_change`` epochs in a row improve the mean training objective by less
        than ``tol``. ``None`` runs all ``max_iter`` epochs.
    shuffle : bool, default=True
        Shuffle the rows before each epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    early_stopping : bool, default=False
        Stop by the score on held-out rows instead of by the training objective.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : int >= 1, default=5
        Number of epochs without improvement after which the fit stops, or after which the learning
        rate ``adaptive`` decreases.
    average : bool or int >= 1, default=False
        Average the weights over all steps, or over the steps from this one on. Averaging reduces
        the variance of the solution.
    intercept_decay : float > 0 or None, default=None
        Learning rate of the intercept relative to that of the weights. ``None`` is 1, and 0.01 for
        sparse rows.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Slack penalty: ``hinge`` for linear slack (PA-I) or ``squared_hinge`` for quadratic slack
        (PA-II).
    class_weight : "balanced", dict of class to float >= 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : int, default=0
        Print the progress of the fit once per second.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights ``w`` of each class; for two classes one row, positive for the second class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept ``b`` of each row of ``coef_``.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of the next update, counted from one.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import PassiveAggressiveClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = PassiveAggressiveClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "passive-aggressive"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        shuffle=True,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        average=False,
        intercept_decay=None,
        loss="hinge",
        class_weight=None,
        warm_start=False,
        verbose=0,
        n_jobs=None,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.average = average
        self.intercept_decay = intercept_decay
        self.loss = loss
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs


class PassiveAggressiveRegressor(OnlineRegressor, WarmStart, LinearModel, Regressor):
    """Passive-aggressive regressor: each row makes the smallest update that brings its residual
    within ``epsilon``.

    Formula::

        min_w ½‖w − wₜ‖² + Cξ  subject to  |yᵢ − w·xᵢ − b| ≤ ε + ξ, ξ ≥ 0  (PA-I; PA-II: Cξ²)

    Parameters
    ----------
    C : float > 0, default=1.0
        Upper limit of the step size. Smaller values make smaller updates and tolerate label noise.
    fit_intercept : bool, default=True
        Fit an intercept, which is not penalized. If ``false``, the hyperplane passes through the
        origin.
    max_iter : int >= 1, default=1000
        Largest number of passes over the training rows (epochs). A fit that reaches it is marked in
        the certificate.
    tol : float >= 0 or None, default=0.001
        Stop when ``n_iter_no_change`` epochs in a row improve the mean training objective by less
        than ``tol``. ``None`` runs all ``max_iter`` epochs.
    shuffle : bool, default=True
        Shuffle the rows before each epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    early_stopping : bool, default=False
        Stop by the score on held-out rows instead of by the training objective.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : int >= 1, default=5
        Number of epochs without improvement after which the fit stops, or after which the learning
        rate ``adaptive`` decreases.
    average : bool or int >= 1, default=False
        Average the weights over all steps, or over the steps from this one on. Averaging reduces
        the variance of the solution.
    intercept_decay : float > 0 or None, default=None
        Learning rate of the intercept relative to that of the weights. ``None`` is 1, and 0.01 for
        sparse rows.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Slack penalty: ``epsilon_insensitive`` for linear slack (PA-I) or
        ``squared_epsilon_insensitive`` for quadratic slack (PA-II).
    epsilon : float >= 0, default=0.1
        Residuals up to this size have no loss and make no update.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : int, default=0
        Print the progress of the fit once per second.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight ``w`` of each feature.
    intercept_ : ndarray of shape (1,)
        Intercept ``b``.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of the next update, counted from one.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.linear_model import PassiveAggressiveRegressor
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = PassiveAggressiveRegressor().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    34.999998
    """

    _id = "passive-aggressive-regressor"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        shuffle=True,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        average=False,
        intercept_decay=None,
        loss="epsilon_insensitive",
        epsilon=0.1,
        warm_start=False,
        verbose=0,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.average = average
        self.intercept_decay = intercept_decay
        self.loss = loss
        self.epsilon = epsilon
        self.warm_start = warm_start
        self.verbose = verbose


from .elastic_net import ElasticNet, Lasso  # noqa: E402, F811
from .elastic_net_cv import (  # noqa: E402
    ElasticNetCV,
    LassoCV,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    enet_path,
    lasso_path,
)
from .least_squares import LinearRegression, Ridge  # noqa: E402, F811
from .logistic import LogisticRegression  # noqa: E402, F811
from .logistic_cv import LogisticRegressionCV  # noqa: E402, F811
from .one_class import SGDOneClassSVM  # noqa: E402, F811
from .ridge_classifier import RidgeClassifier, RidgeClassifierCV, ridge_regression  # noqa: E402
from .ridge_cv import RidgeCV  # noqa: E402, F811
