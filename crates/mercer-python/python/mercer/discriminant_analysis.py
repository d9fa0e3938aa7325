"""The estimators of ``discriminant_analysis``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import (
    AdditiveScores,
    Classifier,
    Discriminant,
    Generative,
    Mergeable,
    Only,
    Probabilistic,
    Transformer,
    sklearn_attributes,
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

    Formula::

        argmax_c log P(c) − ½ (x − μ_c)ᵀ Σ⁻¹ (x − μ_c)

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Accepted for compatibility with scikit-learn; all values give the same model. The
        factorization is chosen by the condition number of the covariance.
    shrinkage : float in [0, 1], "auto", "oas" or None, default=None
        Shrinkage intensity: the weight of a multiple of the identity in the covariance, between 0
        and 1. ``auto`` estimates it by Ledoit and Wolf, ``oas`` by oracle approximating shrinkage,
        for each class; ``None`` does not shrink. Larger values shrink correlations more.
    priors : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, uses the class
        frequencies of the training rows. ``None`` is the empty list.
    n_components : int >= 1 or None, default=None
        Number of columns of ``transform``. ``None`` uses the number of classes less one, at most
        the number of columns.
    store_covariance : bool, default=False
        Accepted for compatibility with scikit-learn; the covariance is stored in any case.
    tol : float >= 0, default=0.0001
        Directions with a standard deviation of at most ``tol``, relative to those of the columns,
        are dropped as the null space of the covariance.
    covariance_estimator : {None}, default=None
        A custom covariance estimator. Only ``None`` is supported.
    variance : {"population", "sample"}, default="population"
        Divisor of the scatter matrix: the total weight (``population``) or the total weight less
        the number of classes (``sample``).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    priors_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each feature in each class.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance ``Σ`` within classes, shrinkage included.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the class scores; for two classes their difference.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of each row of ``coef_``.
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, weighted by the priors.
    scalings_ : ndarray of shape (n_features, n_components)
        Directions of the projection of ``transform``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the variance between classes along each direction.
    rank_ : int
        Numerical rank of the covariance.
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
    >>> from mercer.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "lda"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "covariance_estimator": Only(None, instead='use shrinkage, a number or "auto"'),
    }
    _fitted_attributes: ClassVar = {
        "priors_": ("log_priors", sklearn_attributes.exp),
        "coef_": ("coefficients", sklearn_attributes.class_contrast),
        "intercept_": ("intercepts", sklearn_attributes.class_contrast_of_intercepts),
        "xbar_": ("center", sklearn_attributes.ravel),
        "scalings_": ("axes", None),
        "explained_variance_ratio_": ("explained_variance_ratio", sklearn_attributes.ravel),
        "rank_": ("rank", sklearn_attributes.integer),
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

    Formula::

        argmax_c log P(c) − ½ log det Σ_c − ½ (x − μ_c)ᵀ Σ_c⁻¹ (x − μ_c)

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Accepted for compatibility with scikit-learn; both values give the same model. The
        factorization is chosen by the condition number of the covariances.
    shrinkage : float in [0, 1], "auto", "oas" or None, default=None
        Shrinkage intensity: the weight of a multiple of the identity in each covariance, between 0
        and 1. ``auto`` estimates it by Ledoit and Wolf, ``oas`` by oracle approximating shrinkage,
        for each class; ``None`` does not shrink. Larger values shrink correlations more.
    priors : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, uses the class
        frequencies of the training rows. ``None`` is the empty list.
    reg_param : float in [0, 1], default=0.0
        Regularization: each covariance becomes ``(1 - reg_param) * covariance + reg_param *
        identity``, which depends on the units of the columns. Larger values make the class
        distributions more spherical.
    store_covariance : bool, default=False
        Accepted for compatibility with scikit-learn; the covariances are stored in any case.
    tol : float >= 0, default=0.0001
        Smallest standard deviation of a direction, relative to those of the columns within the
        class. A class with a direction below it has a singular covariance and is refused; raise
        ``reg_param`` then.
    variance : {"population", "sample"}, default="population"
        Divisor of the scatter matrix of a class: its weight (``population``) or its weight less one
        (``sample``).
    covariance_estimator : {None}, default=None
        A custom covariance estimator. Only ``None`` is supported.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    priors_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each feature in each class.
    covariance_ : list of ndarray of shape (n_features, n_features)
        Covariance ``Σ_c`` of each class.
    ranks_ : ndarray of shape (n_classes,)
        Numerical rank of each covariance.
    log_determinants_ : ndarray of shape (n_classes,)
        Logarithm of the determinant of each covariance.
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
    >>> from mercer.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "qda"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "covariance_estimator": Only(None, instead='use shrinkage, a number or "auto"'),
    }
    _fitted_attributes: ClassVar = {
        "priors_": ("log_priors", sklearn_attributes.exp),
        "covariance_": ("covariances", sklearn_attributes.list_of),
        "ranks_": ("ranks", sklearn_attributes.integers),
        "log_determinants_": ("log_determinants", sklearn_attributes.ravel),
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
    """Regularized discriminant analysis: Gaussian classes with covariances shrunk towards a simpler
    matrix.

    Formula::

        argmax_c log P(c) − ½ log det S_c − ½ (x − μ_c)ᵀ S_c⁻¹ (x − μ_c),  S_c = (1 − λ) Σ_c + λ
        diag Σ_c

    Parameters
    ----------
    strategy : {"identity", "diagonal", "friedman"}, default="diagonal"
        Shrinkage target of the class covariances: the ``identity``, the ``diagonal`` of the
        covariance, or, after Friedman, the pooled covariance (``alpha``) and then a multiple of the
        identity (``gamma``).
    reg_param : float in [0, 1] or "auto", default="auto"
        Shrinkage intensity: the weight of the identity or diagonal, between 0 and 1. ``auto``
        maximizes the leave-one-out likelihood. Unused by the strategy ``friedman``.
    alpha : float in [0, 1], default=0.5
        Weight of the pooled covariance in Friedman's estimate: 0 is quadratic, 1 linear
        discriminant analysis. Used by the strategy ``friedman`` only.
    gamma : float in [0, 1], default=0.1
        Weight of the multiple of the identity with the same trace in Friedman's estimate. Used by
        the strategy ``friedman`` only.
    priors : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, uses the class
        frequencies of the training rows. ``None`` is the empty list.
    tol : float >= 0, default=0.0001
        Smallest standard deviation of a direction, relative to those of the columns within the
        class. Directions with a smaller one are set to it.
    variance : {"population", "sample"}, default="population"
        Divisor of the scatter matrix of a class: its weight (``population``) or its weight less one
        (``sample``).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    priors_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each feature in each class.
    covariance_ : list of ndarray of shape (n_features, n_features)
        Covariance ``Σ_c`` of each class.
    ranks_ : ndarray of shape (n_classes,)
        Numerical rank of each covariance.
    log_determinants_ : ndarray of shape (n_classes,)
        Logarithm of the determinant of each covariance.
    shrinkage_ : float or None
        Shrinkage intensity ``λ``, given or estimated; ``None`` for the strategy ``friedman``.
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
    >>> from mercer.discriminant_analysis import RegularizedDiscriminantAnalysis
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = RegularizedDiscriminantAnalysis().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "rda"
    _inputs = ("sparse",)
    _fitted_attributes: ClassVar = {
        "priors_": ("log_priors", sklearn_attributes.exp),
        "covariance_": ("covariances", sklearn_attributes.list_of),
        "ranks_": ("ranks", sklearn_attributes.integers),
        "log_determinants_": ("log_determinants", sklearn_attributes.ravel),
    }

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


from .discriminants import (  # noqa: E402, F811
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
