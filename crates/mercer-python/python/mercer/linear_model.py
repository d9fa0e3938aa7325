"""The estimators of ``linear_model``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Additive, Classifier, MergeableRegressor, Probabilistic, Regressor, Summed

__all__ = ["LinearRegression", "Ridge", "RidgeCV", "LogisticRegression"]


class LinearRegression(MergeableRegressor, Additive, Regressor):
    """Least squares: a weighted sum of the columns, with standard errors.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a constant term. Without one, the sum is zero where all columns are.

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
    _takes = ("sparse",)

    def __init__(self, *, fit_intercept=True):
        self.fit_intercept = fit_intercept


class Ridge(MergeableRegressor, Additive, Regressor):
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
        largest (``evidence``).

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
    _takes = ("sparse",)

    def __init__(self, *, alpha=1.0, fit_intercept=True, alpha_from="given"):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.alpha_from = alpha_from


class RidgeCV(Additive, Regressor):
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
    _takes = ("sparse",)

    def __init__(self, *, alphas=None, fit_intercept=True):
        self.alphas = alphas
        self.fit_intercept = fit_intercept


class LogisticRegression(Summed, Probabilistic, Classifier):
    """Logistic regression: log-odds that are a weighted sum of the columns.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "none"}, default="l2"
        What large weights cost: half their squared length (``l2``), the sum of their absolute
        values (``l1``), a mix of both (``elasticnet``) or nothing (``none``).
    C : float, default=1.0
        How much the rows count against the price on large weights. Smaller values keep them
        smaller.
        It must be a number above 0.
    l1_ratio : float, default=0.5
        The share of the absolute values in the price ``elasticnet``.
        It must be a number from 0 to 1.
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
    _takes = ("sparse", "texts")

    def __init__(
        self,
        *,
        penalty="l2",
        C=1.0,
        l1_ratio=0.5,
        fit_intercept=True,
        class_weight=None,
        tol=0.0001,
        max_iter=1000,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
