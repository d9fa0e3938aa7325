"""The estimators of ``svm``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from numpy.random import RandomState

from .base import (
    LinearModel,
    Calibrated,
    Classifier,
    DecisionFunction,
    OutlierDetector,
    Honored,
    Regressor,
    AdditiveScores,
    SupportVectors,
    Unused,
    WarmStart,
)

__all__ = [
    "SVC",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "KernelPerceptron",
]


class SVC(WarmStart, DecisionFunction, SupportVectors, Calibrated, Classifier):
    """Support vector classification: the boundary that keeps farthest from both sides.

    Parameters
    ----------
    C : float, default=1.0
        The price on rows inside the margin or on the wrong side. Larger values fit the rows more
        closely.
        It must be a number above 0.
    margin : {"soft", "hard"}, default="soft"
        Whether rows may be inside the margin for the price ``C`` (``soft``), or none may at any
        price (``hard``): where the classes cannot be told apart then, the mixtures of both that
        meet are named.
    slack_power : float, default=1.0
        The power of the distance behind the margin that is priced: 1 for the distance itself, 2 for
        its square, or any number from 1 on. Larger values spare rows just behind it and punish
        those far behind.
        It must be a number from 1 to 100.
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    gamma : number, "scale" or "auto", default="scale"
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Larger values make the boundary bend more.
        It must be a number of at least 0.
    coef0 : float, default=0.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    tol : float, default=0.001
        The largest violation of the optimum's conditions to stop at. Smaller values are nearer to
        the optimum and take longer.
        It must be a number above 0.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
    class_weight : "balanced", weights by class, or None, default=None
        How much each class counts: ``balanced``, or a weight by class. Nothing counts all the same.
        It must be a number above 0.
    shrinking : bool, default=True
        Whether rows that are far from mattering may be set aside until the end.
    cache_size : float, default=256.0
        Most memory for kernel values, in millions of bytes; taken as it is needed.
        It must be a number above 0.
    max_iter : int, default=-1
        Most steps for a problem; -1 sets no limit.
        It must be a number of at least -1.
    multiclass : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        Many classes by a machine for every pair (``ovo``), for every class against the rest
        (``ovr``), or by functions without constants that are learned together so that each row's
        own is highest (``crammer_singer``).
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether decisions about more than two classes are a column a class (``ovr``) or a column a
        pair of classes (``ovo``).
    break_ties : bool, default=False
        Whether classes with equally many votes are told apart by the sum of their decisions, not by
        their order.
    probability : bool, default=False
        Whether to learn probabilities too, from what the machine would have said of each row
        without it. Predictions then go to the most probable class.
    calibration : {"sigmoid", "isotonic", "venn-abers"}, default="sigmoid"
        How decisions become probabilities, where ``probability`` asks for them: by a ``sigmoid``,
        by the best function that rises (``isotonic``), or by two of those, one for either answer
        (``venn-abers``). The last two want more rows and take any shape.
    approx : int, default=0
        How many rows stand for all where the exact machine would take too long; 0 is the exact
        machine. With them the squares of distances behind the margin are priced, and every class is
        told from the rest.
        It must be a number from 0 to 1000000.
    polish : bool, default=False
        Whether the exact machine is learned after all, beginning at the rows that the approximate
        one finds behind the margin.
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
    _inputs = ("sparse", "asked_texts")
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
        class_weight=None,
        shrinking=True,
        cache_size=256.0,
        max_iter=-1,
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
        self.class_weight = class_weight
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
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


class LinearSVC(DecisionFunction, AdditiveScores, Calibrated, Classifier):
    """Linear support vector classification: the hyperplane that keeps farthest from both sides.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        What large weights cost: half their squared length (``l2``) or the sum of their absolute
        values (``l1``, with the loss ``squared_hinge``), which leaves many at zero.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        What a row inside the margin costs: its distance (``hinge``) or the square of it
        (``squared_hinge``).
    tol : float, default=0.0001
        The fit is done when no condition of the optimum is violated by more, and the objective is
        proved to be within this share of the best. Smaller values take longer.
        It must be a number above 0.
    dual : "auto", true or false, default="auto"
        Whether to begin with passes over the rows' pulls, which is fast where columns are many and
        distances count as they are: ``auto`` does just there. The last digits come from Newton's
        method in any case.
    C : float, default=1.0
        The price on rows inside the margin or on the wrong side. Larger values fit the rows more
        closely.
        It must be a number above 0.
    fit_intercept : bool, default=True
        Whether there are constant terms.
    intercept_scaling : float, default=1.0
        The value of the column whose weight is the constant term. Larger values make the constant
        cheaper.
        It must be a number above 0.
    intercept : {"scaled", "free"}, default="scaled"
        Whether the constant term has the price of that weight (``scaled``) or none (``free``).
    class_weight : "balanced", weights by class, or None, default=None
        How much each class counts: ``balanced``, or a weight by class. Nothing counts all the same.
        It must be a number above 0.
    max_iter : int, default=1000
        Steps after which to stop in any case; the certificate then says so. For planes learned
        together, a step is a hundred passes over the rows.
        It must be a number of at least 1.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Many classes by a plane for every class against the rest (``ovr``), or by planes that are
        learned together so that each row's own is highest (``crammer_singer``, which prices
        distances as they are, whatever the loss).
    probability : bool, default=False
        Whether to learn probabilities too, from what the planes would have said of each row without
        it. Predictions then go to the most probable class.
    calibration : {"sigmoid", "isotonic", "venn-abers"}, default="sigmoid"
        How decisions become probabilities, where ``probability`` asks for them: by a ``sigmoid``,
        by the best function that rises (``isotonic``), or by two of those, one for either answer
        (``venn-abers``). The last two want more rows and take any shape.
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
    _inputs = ("sparse", "texts")
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
        intercept="scaled",
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
    """Linear support vector regression: the flattest plane that most rows are within a tube of.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube: errors below this cost nothing.
        It must be a number of at least 0.
    tol : float, default=0.0001
        The fit is done when no condition of the optimum is violated by more, in units of the
        target's spread, and the objective is proved to be within this share of the best. Smaller
        values take longer.
        It must be a number above 0.
    C : float, default=1.0
        The price on rows outside the tube. Larger values fit the rows more closely.
        It must be a number above 0.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        What a row outside the tube costs: its distance (``epsilon_insensitive``) or the square of
        it (``squared_epsilon_insensitive``).
    fit_intercept : bool, default=True
        Whether there is a constant term.
    intercept_scaling : float, default=1.0
        The value of the column whose weight is the constant term. Larger values make the constant
        cheaper.
        It must be a number above 0.
    intercept : {"scaled", "free"}, default="scaled"
        Whether the constant term has the price of that weight (``scaled``) or none (``free``).
    dual : "auto", true or false, default="auto"
        Whether to begin with passes over the rows' pulls, which is fast where columns are many and
        distances count as they are: ``auto`` does just there. The last digits come from Newton's
        method in any case.
    max_iter : int, default=1000
        Steps after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
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
    _inputs = ("sparse", "texts")
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
        intercept="scaled",
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


class NuSVC(DecisionFunction, SupportVectors, Calibrated, Classifier):
    """Support vector classification by the share of rows that may come too near.

    Parameters
    ----------
    nu : float, default=0.5
        At most this share of the rows is inside the margin, and at least this share are support
        vectors. Larger values make the margin wider.
        It must be a number from 0.000000001 to 1.
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    gamma : number, "scale" or "auto", default="scale"
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Larger values make the boundary bend more.
        It must be a number of at least 0.
    coef0 : float, default=0.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    tol : float, default=0.001
        The largest violation of the optimum's conditions to stop at. Smaller values are nearer to
        the optimum and take longer.
        It must be a number above 0.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
    class_weight : "balanced", weights by class, or None, default=None
        How much each class counts: ``balanced``, or a weight by class. Nothing counts all the same.
        It must be a number above 0.
    shrinking : bool, default=True
        Whether rows that are far from mattering may be set aside until the end.
    cache_size : float, default=256.0
        Most memory for kernel values, in millions of bytes; taken as it is needed.
        It must be a number above 0.
    max_iter : int, default=-1
        Most steps for a problem; -1 sets no limit.
        It must be a number of at least -1.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether decisions about more than two classes are a column a class (``ovr``) or a column a
        pair of classes (``ovo``).
    break_ties : bool, default=False
        Whether classes with equally many votes are told apart by the sum of their decisions, not by
        their order.
    probability : bool, default=False
        Whether to learn probabilities too, from what the machine would have said of each row
        without it. Predictions then go to the most probable class.
    calibration : {"sigmoid", "isotonic", "venn-abers"}, default="sigmoid"
        How decisions become probabilities, where ``probability`` asks for them: by a ``sigmoid``,
        by the best function that rises (``isotonic``), or by two of those, one for either answer
        (``venn-abers``). The last two want more rows and take any shape.
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
    _inputs = ("sparse", "asked_texts")
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
        class_weight=None,
        shrinking=True,
        cache_size=256.0,
        max_iter=-1,
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
        self.class_weight = class_weight
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.probability = probability
        self.calibration = calibration
        self.verbose = verbose
        self.random_state = random_state


class SVR(SupportVectors, Regressor):
    """Support vector regression: the flattest function that most rows are within a tube of.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    gamma : number, "scale" or "auto", default="scale"
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Larger values make the function bend more.
        It must be a number of at least 0.
    coef0 : float, default=0.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    tol : float, default=0.001
        The largest violation of the optimum's conditions to stop at. Smaller values are nearer to
        the optimum and take longer.
        It must be a number above 0.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
    C : float, default=1.0
        The price on rows outside the tube. Larger values fit the rows more closely.
        It must be a number above 0.
    epsilon : float, default=0.1
        Half the width of the tube: errors below this cost nothing.
        It must be a number of at least 0.
    shrinking : bool, default=True
        Whether rows that are far from mattering may be set aside until the end.
    cache_size : float, default=256.0
        Most memory for kernel values, in millions of bytes; taken as it is needed.
        It must be a number above 0.
    max_iter : int, default=-1
        Most steps; -1 sets no limit.
        It must be a number of at least -1.
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
    _inputs = ("sparse", "asked_texts")
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
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=256.0,
        max_iter=-1,
        verbose=False,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.verbose = verbose


class NuSVR(SupportVectors, Regressor):
    """Support vector regression where the share of rows outside the tube is given, not its width.

    Parameters
    ----------
    nu : float, default=0.5
        At most this share of the rows is outside the tube, and at least this share are support
        vectors. Larger values make the tube narrower.
        It must be a number from 0.000000001 to 1.
    C : float, default=1.0
        The price on rows outside the tube. Larger values fit the rows more closely.
        It must be a number above 0.
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    gamma : number, "scale" or "auto", default="scale"
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Larger values make the function bend more.
        It must be a number of at least 0.
    coef0 : float, default=0.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    tol : float, default=0.001
        The largest violation of the optimum's conditions to stop at. Smaller values are nearer to
        the optimum and take longer.
        It must be a number above 0.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
    shrinking : bool, default=True
        Whether rows that are far from mattering may be set aside until the end.
    cache_size : float, default=256.0
        Most memory for kernel values, in millions of bytes; taken as it is needed.
        It must be a number above 0.
    max_iter : int, default=-1
        Most steps; -1 sets no limit.
        It must be a number of at least -1.
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
    _inputs = ("sparse", "asked_texts")
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
    """One-class machine: the region that holds most of the rows, to recognize strangers by.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    gamma : number, "scale" or "auto", default="scale"
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Larger values make the function bend more.
        It must be a number of at least 0.
    coef0 : float, default=0.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    tol : float, default=0.001
        The largest violation of the optimum's conditions to stop at. Smaller values are nearer to
        the optimum and take longer.
        It must be a number above 0.
    gap : float or None, default=None
        Where given, the fit ends when the objective is proved to be within this share of the best,
        in place of ``tol``.
        It must be a number above 0.
    nu : float, default=0.5
        At most this share of the rows is left outside, and at least this share are support vectors.
        It must be a number from 0.000000001 to 1.
    shrinking : bool, default=True
        Whether rows that are far from mattering may be set aside until the end.
    cache_size : float, default=256.0
        Most memory for kernel values, in millions of bytes; taken as it is needed.
        It must be a number above 0.
    max_iter : int, default=-1
        Most steps; -1 sets no limit.
        It must be a number of at least -1.
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
        nu=0.5,
        shrinking=True,
        cache_size=256.0,
        max_iter=-1,
        verbose=False,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.verbose = verbose


class KernelPerceptron(DecisionFunction, SupportVectors, Classifier):
    """The perceptron with a kernel: a boundary from the rows it was wrong about.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    gamma : number, "scale", "auto", or None, default=None
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Nothing is ``auto``, and 1 for ``chi2``.
        It must be a number of at least 0.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    coef0 : float, default=1.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    fit_intercept : bool, default=True
        Whether the function has a constant, which mistakes move too.
    max_iter : int, default=100
        Passes over the rows at most; a pass without a mistake is the last.
        It must be a number from 1 to 1000000000.
    average : bool, default=False
        Whether the mean of all functions on the way is kept in place of the last.
    budget : int or None, default=None
        Most rows that the function may be a sum of. Nothing sets no limit. Where one too many is
        added, the one that weighs least goes.
        It must be a number of at least 1.
    shuffle : bool, default=True
        Whether rows are looked at in another order in every pass, not as they stand.
    random_state : int, default=0
        The seed of those orders.

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
        gamma=None,
        degree=3,
        coef0=1.0,
        fit_intercept=True,
        max_iter=100,
        average=False,
        budget=None,
        shuffle=True,
        random_state=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.budget = budget
        self.shuffle = shuffle
        self.random_state = random_state
