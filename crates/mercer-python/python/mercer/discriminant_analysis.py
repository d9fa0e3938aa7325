"""The estimators of ``discriminant_analysis``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import (
    Classifier,
    Discriminant,
    Generative,
    Mergeable,
    Only,
    Probabilistic,
    AdditiveScores,
    Transformer,
)

__all__ = [
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
]


class LinearDiscriminantAnalysis(
    Mergeable,
    Discriminant,
    AdditiveScores,
    Generative,
    Probabilistic,
    Classifier,
    Transformer,
):
    """Linear discriminant analysis: Gaussian classes with one covariance, and Fisher's projection.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Scikit-learn's name of a way to compute; every one leads to the same numbers here, and the
        condition of the covariance decides how they are found.
    shrinkage : number, "auto", "oas" or None, default=None
        Share of a multiple of the identity in the covariance; ``auto`` takes Ledoit and Wolf's,
        ``oas`` the oracle approximating one, class by class. Larger values trust the columns'
        correlations less.
        It must be a number from 0 to 1.
    priors : array of float or None, default=None
        Class priors in class order; empty takes the shares seen in the data.
        It must be numbers of at least 0 that add up to 1.
        ``None`` is the empty list.
    n_components : int or None, default=None
        How many axes ``transform`` has; by default one fewer than there are classes, or as many as
        there are columns.
        It must be a number of at least 1.
    store_covariance : bool, default=False
        For code written for scikit-learn: the covariance is the model itself, so it is kept either
        way.
    tol : float, default=0.0001
        A direction whose standard deviation, in units of the columns' own, is at most this is left
        out.
        It must be a number of at least 0.
    covariance_estimator : {None}, default=None
        An estimate of covariances of one's own. Only ``None`` is taken.
    variance : {"population", "sample"}, default="population"
        Whether the scatter is divided by the weight (``population``) or by the weight less the
        number of classes (``sample``).

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
    >>> from mercer.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "lda"
    _inputs = ("sparse",)
    _beside = {
        "covariance_estimator": Only(None, instead="use shrinkage, a number or \"auto\""),
    }

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=0.0001,
        covariance_estimator=None,
        *,
        variance="population",
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.variance = variance


class QuadraticDiscriminantAnalysis(
    Mergeable,
    Discriminant,
    AdditiveScores,
    Generative,
    Probabilistic,
    Classifier,
):
    """Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Scikit-learn's name of a way to compute; both lead to the same numbers here, and the
        condition of the covariances decides how they are found.
    shrinkage : number, "auto", "oas" or None, default=None
        Share of a multiple of the identity in each covariance; ``auto`` takes Ledoit and Wolf's,
        ``oas`` the oracle approximating one, class by class. Larger values trust the columns'
        correlations less.
        It must be a number from 0 to 1.
    priors : array of float or None, default=None
        Class priors in class order; empty takes the shares seen in the data.
        It must be numbers of at least 0 that add up to 1.
        ``None`` is the empty list.
    reg_param : float, default=0.0
        Share of the identity itself in each covariance. Larger values make the classes rounder; it
        depends on the units of the columns.
        It must be a number from 0 to 1.
    store_covariance : bool, default=False
        For code written for scikit-learn: the covariances are the model itself, so they are kept
        either way.
    tol : float, default=0.0001
        A direction whose standard deviation, in units of the columns' own in the class, is below
        this is taken to be this wide.
        It must be a number of at least 0.
    variance : {"population", "sample"}, default="population"
        Whether a class's scatter is divided by its weight (``population``) or by its weight less
        one (``sample``).
    covariance_estimator : {None}, default=None
        An estimate of covariances of one's own. Only ``None`` is taken.

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
    >>> from mercer.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "qda"
    _inputs = ("sparse",)
    _beside = {
        "covariance_estimator": Only(None, instead="use shrinkage, a number or \"auto\""),
    }

    def __init__(
        self,
        *,
        solver="svd",
        shrinkage=None,
        priors=None,
        reg_param=0.0,
        store_covariance=False,
        tol=0.0001,
        variance="population",
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.variance = variance
        self.covariance_estimator = covariance_estimator


class RegularizedDiscriminantAnalysis(
    Mergeable,
    Discriminant,
    AdditiveScores,
    Generative,
    Probabilistic,
    Classifier,
):
    """Regularized discriminant analysis: Gaussian classes pulled towards something simpler.

    Parameters
    ----------
    strategy : {"identity", "diagonal", "friedman"}, default="diagonal"
        What each class's covariance is pulled towards: the ``identity``, its own ``diagonal``, or,
        after Friedman, the covariance of all classes (``alpha``) and a sphere (``gamma``).
    reg_param : number or "auto", default="auto"
        Share of the identity or diagonal; ``auto`` takes the share under which left-out rows are
        likeliest. The strategy ``friedman`` has its own two shares and does not read it.
        It must be a number from 0 to 1.
    alpha : float, default=0.5
        Friedman's share of the covariance of all classes: 0 is quadratic, 1 linear. Read by the
        strategy ``friedman`` only.
        It must be a number from 0 to 1.
    gamma : float, default=0.1
        Friedman's share of a sphere of the same mean variance. Read by the strategy ``friedman``
        only.
        It must be a number from 0 to 1.
    priors : array of float or None, default=None
        Class priors in class order; empty takes the shares seen in the data.
        It must be numbers of at least 0 that add up to 1.
        ``None`` is the empty list.
    tol : float, default=0.0001
        A direction whose standard deviation, in units of the columns' own in the class, is below
        this is taken to be this wide.
        It must be a number of at least 0.
    variance : {"population", "sample"}, default="population"
        Whether a class's scatter is divided by its weight (``population``) or by its weight less
        one (``sample``).

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
    >>> from mercer.discriminant_analysis import RegularizedDiscriminantAnalysis
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = RegularizedDiscriminantAnalysis().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "rda"
    _inputs = ("sparse",)

    def __init__(
        self,
        *,
        strategy="diagonal",
        reg_param="auto",
        alpha=0.5,
        gamma=0.1,
        priors=None,
        tol=0.0001,
        variance="population",
    ):
        self.strategy = strategy
        self.reg_param = reg_param
        self.alpha = alpha
        self.gamma = gamma
        self.priors = priors
        self.tol = tol
        self.variance = variance
