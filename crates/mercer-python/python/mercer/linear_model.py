"""The estimators of ``linear_model``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from numpy.random import RandomState

from .base import (
    LinearModel,
    Calibrated,
    Classifier,
    DecisionFunction,
    Honored,
    MergeableRegressor,
    Online,
    OnlineRegressor,
    Only,
    Probabilistic,
    Regressor,
    AdditiveScores,
    Unused,
    WarmStart,
)

__all__ = [
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "LogisticRegression",
    "LogisticRegressionCV",
    "Perceptron",
    "SGDClassifier",
    "SGDRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
]


class LinearRegression(MergeableRegressor, LinearModel, Regressor):
    """Least squares: a weighted sum of the columns, with standard errors.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a constant term. Without one, the sum is zero where all columns are.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.
    copy_X : bool, default=True
        Makes no difference: rows are never changed.
    positive : {False}, default=False
        Whether weights are kept from going below zero. Only ``False`` is taken.
    tol : float, default=1e-06
        Makes no difference: the equations are solved exactly.

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
    >>> from mercer.linear_model import LinearRegression
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = LinearRegression().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "ols"
    _inputs = ("sparse", "targets", "asked_texts")
    _beside = {
        "n_jobs": Honored(),
        "copy_X": Unused(bool),
        "positive": Only(False, instead="use scipy.optimize.nnls or scikit-learn's class"),
        "tol": Unused(float),
    }

    def __init__(self, *, fit_intercept=True, n_jobs=None, copy_X=True, positive=False, tol=1e-06):
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.copy_X = copy_X
        self.positive = positive
        self.tol = tol


class Ridge(MergeableRegressor, LinearModel, Regressor):
    """Ridge regression: a weighted sum of the columns whose weights are kept small.

    Parameters
    ----------
    alpha : float, default=1.0
        The price on the squared length of the coefficients. Larger values make them smaller; zero
        is least squares.
        It must be a number of at least 0.
    fit_intercept : bool, default=True
        Whether there is a constant term, which is free of the price.
    alpha_from : {"given", "evidence"}, default="given"
        Whether the price is ``alpha`` (``given``) or the one that makes the evidence of the rows
        largest (``evidence``), of all numbers together where several are learned.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.
    copy_X : bool, default=True
        Makes no difference: rows are never changed.
    positive : {False}, default=False
        Whether weights are kept from going below zero. Only ``False`` is taken.
    tol : float, default=0.0001
        Makes no difference: the equations are solved exactly.
    max_iter : int or None, default=None
        Makes no difference: the equations are solved exactly.
    solver : str, default="auto"
        Makes no difference: the equations are solved exactly, whichever of scikit-learn's words it
        is.

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
    >>> from mercer.linear_model import Ridge
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = Ridge().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "ridge"
    _inputs = ("sparse", "targets", "asked_texts")
    _beside = {
        "random_state": Unused(int, RandomState, None),
        "copy_X": Unused(bool),
        "positive": Only(False, instead="use scipy.optimize.nnls or scikit-learn's class"),
        "tol": Unused(float),
        "max_iter": Unused(int, None),
        "solver": Unused("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
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


class RidgeCV(LinearModel, Regressor):
    """Ridge regression whose price is chosen by leaving every row out once.

    Parameters
    ----------
    alphas : array of float or None, default=None
        The prices on the squared length of the coefficients to choose from; empty takes 0.1, 1 and
        10.
        It must be a number of at least 0.
        ``None`` is the empty list.
    fit_intercept : bool, default=True
        Whether there is a constant term, which is free of the price.
    scoring : {None, "neg_mean_squared_error"}, default=None
        What the rows that are left out are judged by: the squared error. Only ``None`` or
        ``"neg_mean_squared_error"`` is taken.
    cv : {None}, default=None
        How rows are left out: every one of them once. Only ``None`` is taken.
    gcv_mode : {"auto", "svd", "eigen"} or None, default=None
        Makes no difference: the equations are solved exactly.
    store_cv_results : {False}, default=False
        Whether the error of every row at every price is kept. Only ``False`` is taken.
    alpha_per_target : {False}, default=False
        Whether every number of a row has a price of its own. Only ``False`` is taken.

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
    >>> from mercer.linear_model import RidgeCV
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = RidgeCV().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    35.0
    """

    _id = "ridge-cv"
    _inputs = ("sparse", "asked_texts")
    _beside = {
        "scoring": Only(
            None,
            "neg_mean_squared_error",
            instead="use sklearn.model_selection.GridSearchCV(Ridge(), {'alpha': alphas})",
        ),
        "cv": Only(
            None,
            instead="use sklearn.model_selection.GridSearchCV(Ridge(), {'alpha': alphas})",
        ),
        "gcv_mode": Unused("auto", "svd", "eigen", None),
        "store_cv_results": Only(
            False,
            instead="fit Ridge with each price to see what it says of every row",
        ),
        "alpha_per_target": Only(False, instead="fit an estimator for every number"),
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


class LogisticRegression(WarmStart, AdditiveScores, Probabilistic, Classifier):
    """Logistic regression: log-odds that are a weighted sum of the columns.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "none"}, default="deprecated"
        What large weights cost: half their squared length (``l2``), the sum of their absolute
        values (``l1``), a mix of both (``elasticnet``) or nothing (``none``).
        ``None`` is ``none``. Scikit-learn's word ``deprecated`` leaves it to ``l1_ratio``: 0 is
        ``l2``, 1 is ``l1``, and between them is ``elasticnet``.
    C : float, default=1.0
        How much the rows count against the price on large weights. Smaller values keep them
        smaller.
        It must be a number above 0.
    l1_ratio : float, default=0.0
        The share of the absolute values in the price ``elasticnet``.
        It must be a number from 0 to 1.
        ``None`` is 0.
    fit_intercept : bool, default=True
        Whether there are constant terms, which are free of the price.
    class_weight : "balanced", weights by class, or None, default=None
        How much the rows of each class count: ``balanced``, or a number for every class.
        It must be a number of at least 0.
    tol : float, default=0.0001
        The fit is done when no entry of the gradient of the mean loss, price included, is larger.
        It must be a number above 0.
    max_iter : int, default=1000
        Steps after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        Makes no difference: every fit goes to the optimum, and measures how far it is. The constant
        term is free of the price, as it is in scikit-learn with every solver but ``liblinear``.
    dual : bool, default=False
        Makes no difference: the optimum is the same from both sides.
    intercept_scaling : float, default=1
        Makes no difference: the constant term is free of the price.

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
    >>> from mercer.linear_model import LogisticRegression
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "logistic"
    _inputs = ("sparse", "texts")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
        "random_state": Unused(int, RandomState, None),
        "solver": Unused("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
        "dual": Unused(bool),
        "intercept_scaling": Unused(float),
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


class LogisticRegressionCV(AdditiveScores, Probabilistic, Classifier):
    """Logistic regression whose price on large weights is chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array of float, default=10
        How much the rows count against the price on large weights: the values to choose from, or
        how many of them from 0.0001 to 10000.
        It must be a number above 0.
    l1_ratios : array of float or None, default=None
        The shares of absolute values in the price to choose from; where there are any, they say
        what large weights cost.
        It must be a number from 0 to 1.
        ``None`` is the empty list.
    fit_intercept : bool, default=True
        Whether there are constant terms, which are free of the price.
    cv : int or None, default=None
        How many folds judge; nothing is 5.
        It must be a number of at least 2.
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        What large weights cost: half their squared length (``l2``), the sum of their absolute
        values (``l1``), a mix of both by ``l1_ratios`` (``elasticnet``).
    scoring : {"accuracy", "neg_log_loss"}, default="accuracy"
        What a fold is judged by: the share of classes found (``accuracy``) or the probabilities of
        the true ones (``neg_log_loss``).
    tol : float, default=0.0001
        A fit is done when no entry of the gradient of the mean loss, price included, is larger.
        It must be a number above 0.
    max_iter : int, default=1000
        Steps after which to stop a fit in any case.
        It must be a number of at least 1.
    class_weight : "balanced", weights by class, or None, default=None
        How much the rows of each class count: ``balanced``, or a number for every class.
        It must be a number of at least 0.
    refit : bool, default=True
        Whether all rows are learned with the chosen price; else the weights are the means over
        folds, of the best in each.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        Makes no difference: every fit goes to the optimum, and measures how far it is. The constant
        term is free of the price, as it is in scikit-learn with every solver but ``liblinear``.
    dual : bool, default=False
        Makes no difference: the optimum is the same from both sides.
    intercept_scaling : float, default=1.0
        Makes no difference: the constant term is free of the price.
    use_legacy_attributes : {False, "warn"}, default=False
        Whether what was found by folds is kept once for every class. Only ``False`` or ``"warn"``
        is taken.

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
    >>> from mercer.linear_model import LogisticRegressionCV
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LogisticRegressionCV(cv=3).fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "logistic-cv"
    _inputs = ("sparse", "texts")
    _beside = {
        "verbose": Honored(),
        "n_jobs": Honored(),
        "random_state": Unused(int, RandomState, None),
        "solver": Unused("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
        "dual": Unused(bool),
        "intercept_scaling": Unused(float),
        "use_legacy_attributes": Only(
            False,
            "warn",
            instead="read C_, scores_ and coefs_paths_ as scikit-learn 1.10 has them",
        ),
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
    """The perceptron: a plane that moves towards every row on its wrong side.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "none"}, default="none"
        What large weights cost: half their squared length (``l2``), the sum of their absolute
        values (``l1``), a mix of both (``elasticnet``) or nothing (``none``).
    alpha : float, default=0.0001
        The price on large weights, if they have one. Larger values keep them smaller.
        It must be a number of at least 0.
    l1_ratio : float, default=0.15
        The share of the absolute values in the price ``elasticnet``.
        It must be a number from 0 to 1.
    fit_intercept : bool, default=True
        Whether there are constant terms.
    max_iter : int, default=1000
        Passes over the rows after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float or None, default=0.001
        Passes that lower the mean loss by less than this gain nothing. Nothing makes all passes.
        It must be a number of at least 0.
    shuffle : bool, default=True
        Whether every pass takes the rows in another order.
    eta0 : float, default=1.0
        How far a mistake moves the plane. Without a price it scales the weights and nothing else.
        It must be a number above 0.
    random_state : int, default=0
        What the order of rows is drawn by.
    early_stopping : bool, default=False
        Whether some rows are kept to judge the passes by, instead of the mean loss.
    validation_fraction : float, default=0.1
        The share of such rows.
        It must be a number from 0 to 1.
    n_iter_no_change : int, default=5
        The fit ends after so many passes in a row that gain nothing.
        It must be a number of at least 1.
    class_weight : "balanced", weights by class, or None, default=None
        How much the rows of each class count: ``balanced``, or a number for every class.
        It must be a number of at least 0.
    average : bool or int, default=False
        Whether the planes that are kept are the means over all steps, or over those from this one
        on: they do better where no plane separates the rows.
        It must be a number of at least 1.
    intercept_decay : float or None, default=None
        How far the constant term moves beside the weights. Nothing is 1, and 0.01 for sparse rows.
        It must be a number above 0.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.

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
    >>> from mercer.linear_model import Perceptron
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = Perceptron().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "perceptron"
    _inputs = ("sparse", "texts")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
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
        eta0=1.0,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        average=False,
        intercept_decay=None,
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
        self.eta0 = eta0
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.average = average
        self.intercept_decay = intercept_decay
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs


class SGDClassifier(Online, WarmStart, DecisionFunction, AdditiveScores, Calibrated, Classifier):
    """Classes told apart by planes that follow the slope of one row after the other.

    Parameters
    ----------
    loss : str, default="hinge"
        What a row costs: ``hinge`` (a linear support vector machine), ``log_loss`` (logistic
        regression), ``modified_huber``, ``squared_hinge``, ``perceptron``; or what it costs to miss
        1 and −1: ``squared_error``, ``huber``, ``epsilon_insensitive``,
        ``squared_epsilon_insensitive``.
    penalty : {"l2", "l1", "elasticnet", "none"}, default="l2"
        What large weights cost: half their squared length (``l2``), the sum of their absolute
        values (``l1``), a mix of both (``elasticnet``) or nothing (``none``).
    alpha : float, default=0.0001
        The price on large weights. Larger values keep them smaller; ``optimal`` steps follow it.
        It must be a number of at least 0.
    l1_ratio : float, default=0.15
        The share of the absolute values in the price ``elasticnet``.
        It must be a number from 0 to 1.
    fit_intercept : bool, default=True
        Whether there are constant terms, which are free of the price.
    max_iter : int, default=1000
        Passes over the rows after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float or None, default=0.001
        Passes that lower the mean of loss and price by less than this gain nothing. Nothing makes
        all passes.
        It must be a number of at least 0.
    shuffle : bool, default=True
        Whether every pass takes the rows in another order.
    epsilon : float, default=0.1
        Where ``huber`` becomes straight, and how near is near enough to the losses with an epsilon.
        It must be a number of at least 0.
    random_state : int, default=0
        What the order of rows is drawn by.
    learning_rate : str, default="optimal"
        How long the steps are: ``constant``, ``optimal`` (1 / (alpha t)), ``invscaling`` (eta0 /
        t^power_t), ``adaptive`` (shorter when nothing is gained), or as long as the row needs
        (``pa1``, ``pa2``).
    eta0 : float, default=0.01
        The first length of steps; for ``pa1`` the largest, for ``pa2`` the more the less they are
        drawn back. ``optimal`` does not ask for it.
        It must be a number above 0.
    power_t : float, default=0.5
        How fast ``invscaling`` steps grow shorter.
        It must be a number of at least 0.
    early_stopping : bool, default=False
        Whether some rows are kept to judge the passes by, instead of the mean of loss and price.
    validation_fraction : float, default=0.1
        The share of such rows.
        It must be a number from 0 to 1.
    n_iter_no_change : int, default=5
        The fit ends, or steps that adapt grow shorter, after so many passes in a row that gain
        nothing.
        It must be a number of at least 1.
    class_weight : "balanced", weights by class, or None, default=None
        How much the rows of each class count: ``balanced``, or a number for every class.
        It must be a number of at least 0.
    average : bool or int, default=False
        Whether the planes that are kept are the means over all steps, or over those from this one
        on.
        It must be a number of at least 1.
    intercept_decay : float or None, default=None
        How long the steps of the constant term are beside those of the weights. Nothing is 1, and
        0.01 for sparse rows.
        It must be a number above 0.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.

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
    >>> from mercer.linear_model import SGDClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = SGDClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "sgd"
    _inputs = ("sparse", "texts")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
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
        epsilon=0.1,
        random_state=0,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        average=False,
        intercept_decay=None,
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
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.average = average
        self.intercept_decay = intercept_decay
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs


class SGDRegressor(OnlineRegressor, WarmStart, LinearModel, Regressor):
    """Numbers predicted by a plane that follows the slope of one row after the other.

    Parameters
    ----------
    loss : str, default="squared_error"
        What a row costs: ``squared_error``, ``huber`` (straight beyond ``epsilon``),
        ``epsilon_insensitive``, ``squared_epsilon_insensitive``.
    penalty : {"l2", "l1", "elasticnet", "none"}, default="l2"
        What large weights cost: half their squared length (``l2``), the sum of their absolute
        values (``l1``), a mix of both (``elasticnet``) or nothing (``none``).
    alpha : float, default=0.0001
        The price on large weights. Larger values keep them smaller; ``optimal`` steps follow it.
        It must be a number of at least 0.
    l1_ratio : float, default=0.15
        The share of the absolute values in the price ``elasticnet``.
        It must be a number from 0 to 1.
    fit_intercept : bool, default=True
        Whether there is a constant term, which is free of the price.
    max_iter : int, default=1000
        Passes over the rows after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float or None, default=0.001
        Passes that lower the mean of loss and price by less than this gain nothing. Nothing makes
        all passes.
        It must be a number of at least 0.
    shuffle : bool, default=True
        Whether every pass takes the rows in another order.
    epsilon : float, default=0.1
        Where ``huber`` becomes straight, and how near is near enough to the losses with an epsilon.
        It must be a number of at least 0.
    random_state : int, default=0
        What the order of rows is drawn by.
    learning_rate : str, default="invscaling"
        How long the steps are: ``constant``, ``optimal`` (1 / (alpha t)), ``invscaling`` (eta0 /
        t^power_t), ``adaptive`` (shorter when nothing is gained), or as long as the row needs
        (``pa1``, ``pa2``).
    eta0 : float, default=0.01
        The first length of steps; for ``pa1`` the largest, for ``pa2`` the more the less they are
        drawn back. ``optimal`` does not ask for it.
        It must be a number above 0.
    power_t : float, default=0.25
        How fast ``invscaling`` steps grow shorter.
        It must be a number of at least 0.
    early_stopping : bool, default=False
        Whether some rows are kept to judge the passes by, instead of the mean of loss and price.
    validation_fraction : float, default=0.1
        The share of such rows.
        It must be a number from 0 to 1.
    n_iter_no_change : int, default=5
        The fit ends, or steps that adapt grow shorter, after so many passes in a row that gain
        nothing.
        It must be a number of at least 1.
    average : bool or int, default=False
        Whether the plane that is kept is the mean over all steps, or over those from this one on.
        It must be a number of at least 1.
    intercept_decay : float or None, default=None
        How long the steps of the constant term are beside those of the weights. Nothing is 1, and
        0.01 for sparse rows.
        It must be a number above 0.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.

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
    >>> from mercer.linear_model import SGDRegressor
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = SGDRegressor().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    34.599083
    """

    _id = "sgd-regressor"
    _inputs = ("sparse", "texts")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
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
        epsilon=0.1,
        random_state=0,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        average=False,
        intercept_decay=None,
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
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.average = average
        self.intercept_decay = intercept_decay
        self.warm_start = warm_start
        self.verbose = verbose


class PassiveAggressiveClassifier(Online, WarmStart, DecisionFunction, AdditiveScores, Classifier):
    """Passive-aggressive classification: the smallest step that puts a row right.

    Parameters
    ----------
    C : float, default=1.0
        How large a step may be. Smaller values bear rows that are wrong.
        It must be a number above 0.
    fit_intercept : bool, default=True
        Whether there are constant terms.
    max_iter : int, default=1000
        Passes over the rows after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float or None, default=0.001
        Passes that lower the mean loss by less than this gain nothing. Nothing makes all passes.
        It must be a number of at least 0.
    early_stopping : bool, default=False
        Whether some rows are kept to judge the passes by, instead of the mean loss.
    validation_fraction : float, default=0.1
        The share of such rows.
        It must be a number from 0 to 1.
    n_iter_no_change : int, default=5
        The fit ends after so many passes in a row that gain nothing.
        It must be a number of at least 1.
    shuffle : bool, default=True
        Whether every pass takes the rows in another order.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Whether what a step leaves wrong costs as it is (``hinge``, PA-I) or its square
        (``squared_hinge``, PA-II).
    random_state : int, default=0
        What the order of rows is drawn by.
    class_weight : "balanced", weights by class, or None, default=None
        How much the rows of each class count: ``balanced``, or a number for every class.
        It must be a number of at least 0.
    average : bool or int, default=False
        Whether the planes that are kept are the means over all steps, or over those from this one
        on.
        It must be a number of at least 1.
    intercept_decay : float or None, default=None
        How far the constant term moves beside the weights. Nothing is 1, and 0.01 for sparse rows.
        It must be a number above 0.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.

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
    >>> from mercer.linear_model import PassiveAggressiveClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = PassiveAggressiveClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "passive-aggressive"
    _inputs = ("sparse", "texts")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "n_jobs": Honored(),
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        loss="hinge",
        random_state=0,
        class_weight=None,
        average=False,
        intercept_decay=None,
        warm_start=False,
        verbose=0,
        n_jobs=None,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.loss = loss
        self.random_state = random_state
        self.class_weight = class_weight
        self.average = average
        self.intercept_decay = intercept_decay
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs


class PassiveAggressiveRegressor(OnlineRegressor, WarmStart, LinearModel, Regressor):
    """Passive-aggressive regression: the smallest step that brings a row near enough to its number.

    Parameters
    ----------
    C : float, default=1.0
        How large a step may be. Smaller values bear rows that are wrong.
        It must be a number above 0.
    fit_intercept : bool, default=True
        Whether there is a constant term.
    max_iter : int, default=1000
        Passes over the rows after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float or None, default=0.001
        Passes that lower the mean loss by less than this gain nothing. Nothing makes all passes.
        It must be a number of at least 0.
    early_stopping : bool, default=False
        Whether some rows are kept to judge the passes by, instead of the mean loss.
    validation_fraction : float, default=0.1
        The share of such rows.
        It must be a number from 0 to 1.
    n_iter_no_change : int, default=5
        The fit ends after so many passes in a row that gain nothing.
        It must be a number of at least 1.
    shuffle : bool, default=True
        Whether every pass takes the rows in another order.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether what a step leaves wrong costs as it is (``epsilon_insensitive``, PA-I) or its
        square (``squared_epsilon_insensitive``, PA-II).
    epsilon : float, default=0.1
        How near is near enough.
        It must be a number of at least 0.
    random_state : int, default=0
        What the order of rows is drawn by.
    average : bool or int, default=False
        Whether the plane that is kept is the mean over all steps, or over those from this one on.
        It must be a number of at least 1.
    intercept_decay : float or None, default=None
        How far the constant term moves beside the weights. Nothing is 1, and 0.01 for sparse rows.
        It must be a number above 0.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : int, default=0
        Whether a fit prints once a second how far it is.

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
    >>> from mercer.linear_model import PassiveAggressiveRegressor
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = PassiveAggressiveRegressor().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    34.999998
    """

    _id = "passive-aggressive-regressor"
    _inputs = ("sparse", "texts")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=0.001,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        loss="epsilon_insensitive",
        epsilon=0.1,
        random_state=0,
        average=False,
        intercept_decay=None,
        warm_start=False,
        verbose=0,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.average = average
        self.intercept_decay = intercept_decay
        self.warm_start = warm_start
        self.verbose = verbose
