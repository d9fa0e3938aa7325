"""The estimators of ``linear_model``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Additive, MergeableRegressor, Regressor

__all__ = ["LinearRegression", "Ridge"]


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
