"""The estimators of ``svm``.

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
    OutlierDetector,
    Regressor,
    SupportVectors,
    Unused,
    WarmStart,
    sklearn_attributes,
)

__all__ = [
    "SVC",
    "SVR",
    "Hyperplane",
    "KernelPerceptron",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "l1_min_c",
]


class LinearSVC(DecisionFunction, AdditiveScores, Calibrated, Classifier):
    """Linear support vector classification: the separating hyperplane with the largest margin.

    Formula::

        min ½‖w‖² + C Σᵢ max(0, 1 − yᵢ(w·xᵢ + b))ᵖ,  p = 1 (hinge) or 2 (squared hinge)

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Penalty on the weights: ``l2`` (half the squared norm) or ``l1`` (the sum of absolute
        values, which makes many weights zero; only with ``loss=squared_hinge``).
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss of a row inside the margin: its distance from the margin (``hinge``) or the squared
        distance (``squared_hinge``).
    tol : float > 0, default=0.0001
        Stop when the optimality conditions are violated by at most ``tol`` and the relative duality
        gap is at most ``tol``. Smaller values take longer.
    dual : bool or "auto", default="auto"
        Solve the dual problem by coordinate descent first. Fast for many features with the hinge
        loss; ``auto`` chooses it there. Newton's method on the primal problem gives the last digits
        in any case.
    C : float > 0, default=1.0
        Inverse regularization strength. Larger values fit the training rows more closely and allow
        a smaller margin.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    intercept_scaling : float > 0, default=1.0
        Value of the constant column whose weight gives the intercept. Larger values penalize the
        intercept less.
    intercept : {"penalized", "unpenalized"}, default="penalized"
        Whether the penalty includes the intercept: ``penalized`` like the weight of the constant
        column, as LIBLINEAR does, or ``unpenalized``.
    class_weight : "balanced", dict of class to float > 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    max_iter : int >= 1, default=1000
        Maximum number of iterations. For ``multi_class=crammer_singer`` an iteration is a hundred
        epochs over the rows.
    gap : float > 0 or None, default=None
        Stop at this relative duality gap instead of at ``tol``. ``None`` stops at ``tol``.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Multiclass strategy: one problem per class against the rest (``ovr``), or all classes
        jointly (``crammer_singer``, which uses the hinge loss whatever ``loss`` is).
    probability : bool, default=False
        Estimate class probabilities, calibrated on approximate leave-one-out scores. Predictions
        are then the most probable class.
    calibration : {"sigmoid", "isotonic", "venn-abers"}, default="sigmoid"
        Calibration of scores to probabilities if ``probability`` is true: ``sigmoid`` (Platt),
        ``isotonic`` or ``venn-abers`` (two isotonic fits, one per assumed label). The last two need
        more rows and adapt to any monotonic shape.
    verbose : int, default=0
        Print the progress of the fit once per second.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.

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
    >>> from mercer.svm import LinearSVC
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LinearSVC().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "linear-svc"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
    }

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        tol=0.0001,
        dual="auto",
        C=1.0,
        fit_intercept=True,
        intercept_scaling=1.0,
        intercept="penalized",
        class_weight=None,
        max_iter=1000,
        gap=None,
        multi_class="ovr",
        probability=False,
        calibration="sigmoid",
        verbose=0,
        random_state=None,
    ):
        self.penalty = penalty
        self.loss = loss
        self.tol = tol
        self.dual = dual
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.intercept = intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.gap = gap
        self.multi_class = multi_class
        self.probability = probability
        self.calibration = calibration
        self.verbose = verbose
        self.random_state = random_state


class LinearSVR(LinearModel, Regressor):
    """Linear support vector regression: the flattest linear function that keeps most rows within
    ``epsilon``.

    Formula::

        min ½‖w‖² + C Σᵢ max(0, |yᵢ − w·xᵢ − b| − ε)ᵖ,  p = 1 or 2 (squared loss)

    Parameters
    ----------
    epsilon : float >= 0, default=0.0
        Half the width of the ε-tube: smaller errors have no loss.
    tol : float > 0, default=0.0001
        Stop when the optimality conditions are violated by at most ``tol`` standard deviations of
        the target and the relative duality gap is at most ``tol``. Smaller values take longer.
    C : float > 0, default=1.0
        Inverse regularization strength. Larger values fit the training rows more closely.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Loss of a row outside the ε-tube: its distance from the tube (``epsilon_insensitive``) or
        the squared distance (``squared_epsilon_insensitive``).
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    intercept_scaling : float > 0, default=1.0
        Value of the constant column whose weight gives the intercept. Larger values penalize the
        intercept less.
    intercept : {"penalized", "unpenalized"}, default="penalized"
        Whether the penalty includes the intercept: ``penalized`` like the weight of the constant
        column, as LIBLINEAR does, or ``unpenalized``.
    dual : bool or "auto", default="auto"
        Solve the dual problem by coordinate descent first. Fast for many features with the linear
        loss; ``auto`` chooses it there. Newton's method on the primal problem gives the last digits
        in any case.
    max_iter : int >= 1, default=1000
        Maximum number of iterations.
    gap : float > 0 or None, default=None
        Stop at this relative duality gap instead of at ``tol``. ``None`` stops at ``tol``.
    verbose : int, default=0
        Print the progress of the fit once per second.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight ``w`` of each feature.
    intercept_ : float
        Intercept ``b``.
    n_iter_ : int
        Number of iterations of the solver.
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
    >>> from mercer.svm import LinearSVR
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = LinearSVR().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    29.0
    """

    _id = "linear-svr"
    _inputs = ("sparse", "text")
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
    }
    _fitted_attributes: ClassVar = {
        "coef_": ("coefficients", None),
    }

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=0.0001,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        intercept="penalized",
        dual="auto",
        max_iter=1000,
        gap=None,
        verbose=0,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.intercept = intercept
        self.dual = dual
        self.max_iter = max_iter
        self.gap = gap
        self.verbose = verbose
        self.random_state = random_state


class SVC(WarmStart, DecisionFunction, SupportVectors, Calibrated, Classifier):
    """Support vector classification (C-SVC): maximum-margin classification with a kernel.

    Formula::

        min ½‖w‖² + C Σᵢ ξᵢ  subject to  yᵢ(w·φ(xᵢ) + b) ≥ 1 − ξᵢ, ξᵢ ≥ 0

    Parameters
    ----------
    C : float > 0, default=1.0
        Inverse regularization strength: the cost of margin violations. Larger values fit the
        training rows more closely and allow a smaller margin.
    margin : {"soft", "hard"}, default="soft"
        ``soft`` allows margin violations at the cost ``C``, ``hard`` allows none. If the classes
        are not separable with a hard margin, the fit fails and returns a witness: convex
        combinations of both classes that coincide.
    slack_power : float in [1, 100], default=1.0
        Exponent of the slack in the loss: 1 for the hinge loss, 2 for the squared hinge loss, or
        any number from 1 on. Larger values penalize small margin violations less and large ones
        more.
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale" or "auto", default="scale"
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
    coef0 : float, default=0.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=1500.0
        Size of the kernel cache in megabytes, allocated as needed. A kernel matrix that fits is
        cached whole; of a larger one, at most 256 MB of columns are cached before the solver goes
        on with working sets. Larger values recompute fewer kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, means no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    class_weight : "balanced", dict of class to float > 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    multiclass : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        Reduction of more than two classes: one classifier per pair of classes (``ovo``), one per
        class against the rest (``ovr``), or all classes jointly, without intercepts
        (``crammer_singer``).
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of the decision function of more than two classes: one column per class (``ovr``) or
        one column per pair of classes (``ovo``).
    break_ties : bool, default=False
        Break ties between classes with equally many votes by the sum of their decision values
        instead of by class order.
    probability : bool, default=False
        Fit calibration maps to leave-one-out decision values, so that the model predicts class
        probabilities. Predictions are then the most probable classes.
    calibration : {"sigmoid", "isotonic", "venn-abers"}, default="sigmoid"
        Calibration method if ``probability`` is true: Platt scaling (``sigmoid``), isotonic
        regression (``isotonic``), or Venn-Abers prediction (``venn-abers``). The last two need more
        rows and make no assumption about the shape of the map.
    approx : int in [0, 1000000], default=0
        Number of landmark rows of a Nyström approximation of the kernel, for data with many rows; 0
        solves the exact problem. The approximation uses the squared hinge loss and one-vs-rest.
        Larger values are more accurate and slower.
    polish : bool, default=False
        Solve the exact problem after the approximate one, with its decision values as the warm
        start.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Dual coefficients ``yᵢαᵢ`` of the support vectors; with one-vs-rest, one row per class.
    intercept_ : ndarray of shape (n_decisions,)
        Intercept ``b`` of each decision function.
    coef_ : ndarray of shape (n_decisions, n_features)
        Weights ``w`` of each decision function; only for a linear kernel.
    class_weight_ : ndarray of shape (n_classes,)
        Weight of each class in the loss.
    n_iter_ : ndarray of shape (n_subproblems,)
        Number of iterations of the solver in each binary subproblem.
    fit_status_ : int
        0 if the solver converged, else 1.
    margins_ : ndarray of shape (n_subproblems,)
        Margin ``1/‖w‖`` of each subproblem: the distance between the hyperplane and the edge of the
        margin.
    slacks_ : ndarray of the shape of dual_coef_
        Slack ``ξ`` of each support vector; above one the row is misclassified.
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
    >>> from mercer.svm import SVC
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = SVC().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "svc"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
        "probability": {"deprecated": DEFAULT, "warn": DEFAULT},
    }
    _fitted_attributes: ClassVar = {
        "support_": ("support", sklearn_attributes.int32),
        "support_vectors_": ("expansion", sklearn_attributes.expansion_rows),
        "dual_coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
        "coef_": (None, sklearn_attributes.pairwise_weights),
        "class_weight_": ("class_weights", None),
        "fit_status_": ("converged", sklearn_attributes.fit_status),
    }

    def __init__(
        self,
        *,
        C=1.0,
        margin="soft",
        slack_power=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=0.001,
        gap=None,
        shrinking=True,
        cache_size=1500.0,
        max_iter=-1,
        class_weight=None,
        multiclass="ovo",
        decision_function_shape="ovr",
        break_ties=False,
        probability=False,
        calibration="sigmoid",
        approx=0,
        polish=False,
        warm_start=False,
        verbose=False,
        random_state=None,
    ):
        self.C = C
        self.margin = margin
        self.slack_power = slack_power
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.probability = probability
        self.calibration = calibration
        self.approx = approx
        self.polish = polish
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state


class NuSVC(DecisionFunction, SupportVectors, Calibrated, Classifier):
    """ν-support vector classification: the fraction of margin errors is given instead of ``C``.

    Formula::

        min ½‖w‖² − νρ + (1/n) Σᵢ ξᵢ  subject to  yᵢ(w·φ(xᵢ) + b) ≥ ρ − ξᵢ, ξᵢ ≥ 0, ρ ≥ 0

    Parameters
    ----------
    nu : float in [0.000000001, 1], default=0.5
        Upper bound on the fraction of margin errors and lower bound on the fraction of support
        vectors. Larger values widen the margin.
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale" or "auto", default="scale"
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
    coef0 : float, default=0.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=1500.0
        Size of the kernel cache in megabytes, allocated as needed. A kernel matrix that fits is
        cached whole; of a larger one, at most 256 MB of columns are cached before the solver goes
        on with working sets. Larger values recompute fewer kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, means no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    class_weight : "balanced", dict of class to float > 0 or None, default=None
        Weight of each class in the loss: ``balanced`` (inversely proportional to the class
        frequencies), a weight per class, or ``None`` for equal weights.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of the decision function of more than two classes: one column per class (``ovr``) or
        one column per pair of classes (``ovo``).
    break_ties : bool, default=False
        Break ties between classes with equally many votes by the sum of their decision values
        instead of by class order.
    probability : bool, default=False
        Fit calibration maps to leave-one-out decision values, so that the model predicts class
        probabilities. Predictions are then the most probable classes.
    calibration : {"sigmoid", "isotonic", "venn-abers"}, default="sigmoid"
        Calibration method if ``probability`` is true: Platt scaling (``sigmoid``), isotonic
        regression (``isotonic``), or Venn-Abers prediction (``venn-abers``). The last two need more
        rows and make no assumption about the shape of the map.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Dual coefficients ``yᵢαᵢ`` of the support vectors; with one-vs-rest, one row per class.
    intercept_ : ndarray of shape (n_decisions,)
        Intercept ``b`` of each decision function.
    coef_ : ndarray of shape (n_decisions, n_features)
        Weights ``w`` of each decision function; only for a linear kernel.
    class_weight_ : ndarray of shape (n_classes,)
        Weight of each class in the loss.
    n_iter_ : ndarray of shape (n_subproblems,)
        Number of iterations of the solver in each binary subproblem.
    fit_status_ : int
        0 if the solver converged, else 1.
    equivalent_c_ : ndarray of shape (n_subproblems,)
        The ``C`` at which C-SVC has the same decision function.
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
    >>> from mercer.svm import NuSVC
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = NuSVC().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "nu-svc"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
        "probability": {"deprecated": DEFAULT, "warn": DEFAULT},
    }
    _fitted_attributes: ClassVar = {
        "support_": ("support", sklearn_attributes.int32),
        "support_vectors_": ("expansion", sklearn_attributes.expansion_rows),
        "dual_coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
        "coef_": (None, sklearn_attributes.pairwise_weights),
        "class_weight_": ("class_weights", None),
        "fit_status_": ("converged", sklearn_attributes.fit_status),
    }

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=0.001,
        gap=None,
        shrinking=True,
        cache_size=1500.0,
        max_iter=-1,
        class_weight=None,
        decision_function_shape="ovr",
        break_ties=False,
        probability=False,
        calibration="sigmoid",
        verbose=False,
        random_state=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.probability = probability
        self.calibration = calibration
        self.verbose = verbose
        self.random_state = random_state


class SVR(WarmStart, SupportVectors, Regressor):
    """ε-support vector regression: errors within a tube around the function cost nothing.

    Formula::

        min ½‖w‖² + C Σᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε)

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale" or "auto", default="scale"
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
    coef0 : float, default=0.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=1500.0
        Size of the kernel cache in megabytes, allocated as needed. A kernel matrix that fits is
        cached whole; of a larger one, at most 256 MB of columns are cached before the solver goes
        on with working sets. Larger values recompute fewer kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, means no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    C : float > 0, default=1.0
        Inverse regularization strength: the cost of errors outside the tube. Larger values fit the
        training rows more closely.
    epsilon : float >= 0, default=0.1
        Half-width of the insensitive tube, in units of the target: errors up to ``epsilon`` cost
        nothing. Larger values give fewer support vectors.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Support vectors.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Dual coefficients of the support vectors in the kernel expansion.
    intercept_ : ndarray of shape (1,)
        Intercept ``b``.
    coef_ : ndarray of shape (n_decisions, n_features)
        Weights ``w``; only for a linear kernel.
    n_iter_ : int
        Number of iterations of the solver.
    fit_status_ : int
        0 if the solver converged, else 1.
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
    >>> from mercer.svm import SVR
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = SVR().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "svr"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "support_": ("support", sklearn_attributes.int32),
        "support_vectors_": ("expansion", sklearn_attributes.expansion_rows),
        "n_support_": ("support", sklearn_attributes.support_count),
        "dual_coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
        "coef_": ("expansion", sklearn_attributes.linear_weights),
        "fit_status_": ("converged", sklearn_attributes.fit_status),
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=0.001,
        gap=None,
        shrinking=True,
        cache_size=1500.0,
        max_iter=-1,
        C=1.0,
        epsilon=0.1,
        warm_start=False,
        verbose=False,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.C = C
        self.epsilon = epsilon
        self.warm_start = warm_start
        self.verbose = verbose


class NuSVR(SupportVectors, Regressor):
    """ν-support vector regression: the fraction of rows outside the tube is given instead of its
    width.

    Formula::

        min ½‖w‖² + C Σᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε) + C n ν ε  over w, b and ε ≥ 0

    Parameters
    ----------
    nu : float in [0.000000001, 1], default=0.5
        Upper bound on the fraction of rows outside the tube and lower bound on the fraction of
        support vectors. Larger values narrow the tube.
    C : float > 0, default=1.0
        Inverse regularization strength: the cost of errors outside the tube. Larger values fit the
        training rows more closely.
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale" or "auto", default="scale"
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
    coef0 : float, default=0.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=1500.0
        Size of the kernel cache in megabytes, allocated as needed. A kernel matrix that fits is
        cached whole; of a larger one, at most 256 MB of columns are cached before the solver goes
        on with working sets. Larger values recompute fewer kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, means no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Support vectors.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Dual coefficients of the support vectors in the kernel expansion.
    intercept_ : ndarray of shape (1,)
        Intercept ``b``.
    coef_ : ndarray of shape (n_decisions, n_features)
        Weights ``w``; only for a linear kernel.
    n_iter_ : int
        Number of iterations of the solver.
    fit_status_ : int
        0 if the solver converged, else 1.
    epsilon_ : float
        Half-width ``ε`` of the insensitive tube.
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
    >>> from mercer.svm import NuSVR
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = NuSVR().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "nu-svr"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "support_": ("support", sklearn_attributes.int32),
        "support_vectors_": ("expansion", sklearn_attributes.expansion_rows),
        "n_support_": ("support", sklearn_attributes.support_count),
        "dual_coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
        "coef_": ("expansion", sklearn_attributes.linear_weights),
        "fit_status_": ("converged", sklearn_attributes.fit_status),
    }

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=0.001,
        gap=None,
        shrinking=True,
        cache_size=1500.0,
        max_iter=-1,
        verbose=False,
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.verbose = verbose


class OneClassSVM(DecisionFunction, SupportVectors, OutlierDetector):
    """One-class support vector machine for novelty detection: the region that contains most
    training rows.

    Formula::

        min ½‖w‖² − ν n ρ + Σᵢ max(0, ρ − w·φ(xᵢ)),  inlier if w·φ(x) ≥ ρ

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale" or "auto", default="scale"
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
    coef0 : float, default=0.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=1500.0
        Size of the kernel cache in megabytes, allocated as needed. A kernel matrix that fits is
        cached whole; of a larger one, at most 256 MB of columns are cached before the solver goes
        on with working sets. Larger values recompute fewer kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, means no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    nu : float in [0.000000001, 1], default=0.5
        Upper bound on the fraction of training rows outside the region and lower bound on the
        fraction of support vectors. Larger values give a smaller region.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Support vectors.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Dual coefficients of the support vectors in the kernel expansion.
    intercept_ : ndarray of shape (1,)
        Intercept ``b``.
    coef_ : ndarray of shape (n_decisions, n_features)
        Weights ``w``; only for a linear kernel.
    n_iter_ : int
        Number of iterations of the solver.
    fit_status_ : int
        0 if the solver converged, else 1.
    offset_ : ndarray of shape (1,)
        Offset ``ρ`` of the decision function: minus the intercept.
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
    >>> from mercer.svm import OneClassSVM
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(OneClassSVM().fit(X).predict(X).shape)
    (4,)
    """

    _id = "one-class-svm"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "support_": ("support", sklearn_attributes.int32),
        "support_vectors_": ("expansion", sklearn_attributes.expansion_rows),
        "n_support_": ("support", sklearn_attributes.support_count),
        "dual_coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
        "coef_": ("expansion", sklearn_attributes.linear_weights),
        "fit_status_": ("converged", sklearn_attributes.fit_status),
        "offset_": ("intercepts", sklearn_attributes.negated),
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=0.001,
        gap=None,
        shrinking=True,
        cache_size=1500.0,
        max_iter=-1,
        nu=0.5,
        verbose=False,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.nu = nu
        self.verbose = verbose


class KernelPerceptron(DecisionFunction, SupportVectors, Classifier):
    """Kernel perceptron: a kernel expansion over the rows that were misclassified during training.

    Formula::

        if yᵢ f(xᵢ) ≤ 0:  f ← f + yᵢ K(xᵢ, ·),  b ← b + yᵢ

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale", "auto" or None, default=None
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
        ``None`` is ``auto``, and 1 for ``chi2``.
    coef0 : float, default=1.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    max_iter : int in [1, 1000000000], default=100
        Maximum number of epochs. Training stops after an epoch without a mistake.
    average : bool, default=False
        Return the average of the functions after every row (averaged perceptron) instead of the
        last one.
    budget : int >= 1 or None, default=None
        Maximum number of support vectors. If it is exceeded, the support vector with the smallest
        norm is removed. ``None`` keeps all of them.
    shuffle : bool, default=True
        Shuffle the rows before every epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Support vectors.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (n_decisions, n_support)
        Coefficients of the support vectors in each decision function.
    intercept_ : ndarray of shape (n_decisions,)
        Intercept ``b`` of each decision function.
    coef_ : ndarray of shape (n_decisions, n_features)
        Weights ``w``; only for a linear kernel.
    mistakes_ : ndarray of shape (n_iter_,)
        Number of mistakes of all decision functions in each epoch.
    n_iter_ : int
        Number of epochs.
    dropped_ : int
        Number of support vectors removed because of the budget.
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
    >>> from mercer.svm import KernelPerceptron
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = KernelPerceptron().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "kernel-perceptron"
    _inputs = ("sparse",)
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "support_": ("support", sklearn_attributes.int32),
        "support_vectors_": ("expansion", sklearn_attributes.expansion_rows),
        "n_support_": ("support", sklearn_attributes.support_count),
        "dual_coef_": ("coefficients", None),
        "intercept_": ("intercepts", None),
        "coef_": ("expansion", sklearn_attributes.linear_weights),
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma=None,
        coef0=1.0,
        fit_intercept=True,
        max_iter=100,
        average=False,
        budget=None,
        shuffle=True,
        random_state=0,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.budget = budget
        self.shuffle = shuffle
        self.random_state = random_state


from .hyperplane import Hyperplane  # noqa: E402
from .l1_min_c import l1_min_c  # noqa: E402
from .support_vectors import SVC, SVR, NuSVC, NuSVR, OneClassSVM  # noqa: E402, F811
