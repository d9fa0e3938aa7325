"""The estimators of ``svm``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from numpy.random import RandomState

from .base import (
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
)

__all__ = [
    "LinearSVC",
    "LinearSVR",
    "SVC",
    "NuSVC",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "KernelPerceptron",
]


class LinearSVC(DecisionFunction, AdditiveScores, Calibrated, Classifier):
    """Linear support vector classification: the separating hyperplane with the largest margin.

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
        Whether a fit prints once a second how far it is.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
    _beside = {
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
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
    """Linear support vector regression: the flattest linear function that keeps most rows within ``epsilon``.

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
        Whether a fit prints once a second how far it is.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
    _beside = {
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
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
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=256.0
        Size of the kernel cache in megabytes, allocated as needed. Larger values recompute fewer
        kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, sets no limit. A fit that
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
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
    _inputs = ("sparse", "text-on-request")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
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
        cache_size=256.0,
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
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=256.0
        Size of the kernel cache in megabytes, allocated as needed. Larger values recompute fewer
        kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, sets no limit. A fit that
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
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
    _inputs = ("sparse", "text-on-request")
    _beside = {
        "verbose": Honored(),
        "random_state": Unused(int, RandomState, None),
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
        cache_size=256.0,
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


class SVR(SupportVectors, Regressor):
    """ε-support vector regression: errors within a tube around the function cost nothing.

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
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=256.0
        Size of the kernel cache in megabytes, allocated as needed. Larger values recompute fewer
        kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, sets no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    C : float > 0, default=1.0
        Inverse regularization strength: the cost of errors outside the tube. Larger values fit the
        training rows more closely.
    epsilon : float >= 0, default=0.1
        Half-width of the insensitive tube, in units of the target: errors up to ``epsilon`` cost
        nothing. Larger values give fewer support vectors.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
    _inputs = ("sparse", "text-on-request")
    _beside = {
        "verbose": Honored(),
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
        cache_size=256.0,
        max_iter=-1,
        C=1.0,
        epsilon=0.1,
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
        self.verbose = verbose


class NuSVR(SupportVectors, Regressor):
    """ν-support vector regression: the fraction of rows outside the tube is given instead of its width.

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
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=256.0
        Size of the kernel cache in megabytes, allocated as needed. Larger values recompute fewer
        kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, sets no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
    _inputs = ("sparse", "text-on-request")
    _beside = {
        "verbose": Honored(),
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
        cache_size=256.0,
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
    """One-class support vector machine for novelty detection: the region that contains most training rows.

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
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    tol : float > 0, default=0.001
        Stop when the largest KKT violation is at most ``tol``. Smaller values come closer to the
        optimum and take longer.
    gap : float > 0 or None, default=None
        Stop when the relative duality gap is at most ``gap``, instead of by ``tol``. ``None``, the
        default, stops by ``tol``.
    shrinking : bool, default=True
        Remove variables that are stuck at a bound from the working problem until the final check.
        Changes speed only.
    cache_size : float > 0, default=256.0
        Size of the kernel cache in megabytes, allocated as needed. Larger values recompute fewer
        kernel values.
    max_iter : int >= -1, default=-1
        Largest number of iterations per binary problem; -1, the default, sets no limit. A fit that
        reaches the limit returns its current model, marked in the certificate.
    nu : float in [0.000000001, 1], default=0.5
        Upper bound on the fraction of training rows outside the region and lower bound on the
        fraction of support vectors. Larger values give a smaller region.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "one-class-svm"
    _inputs = ("sparse",)
    _beside = {
        "verbose": Honored(),
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
        cache_size=256.0,
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
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    fit_intercept : bool, default=True
        Fit an intercept. If ``false``, the hyperplane passes through the origin.
    max_iter : int in [1, 1000000000], default=100
        Maximum number of epochs. Training stops after an epoch without a mistake.
    average : bool, default=False
        Return the average of the functions after every row (averaged perceptron) instead of the
        last one.
    budget : int >= 1 or None, default=None
        Maximum number of support vectors. If it is exceeded, the support vector with the smallest
        norm is removed. ``None`` sets no limit.
    shuffle : bool, default=True
        Shuffle the rows before every epoch.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.

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
