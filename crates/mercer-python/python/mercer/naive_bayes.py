"""The estimators of ``naive_bayes``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import (
    AdditiveScores,
    Classifier,
    FactorizedLikelihood,
    Generative,
    Mergeable,
    Probabilistic,
)

__all__ = [
    "GaussianNB",
    "MultinomialNB",
    "ComplementNB",
    "BernoulliNB",
    "CategoricalNB",
    "MixedNB",
    "TreeAugmentedNB",
    "BayesNetworkClassifier",
]


class GaussianNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Gaussian naive Bayes, for real-valued features.

    Parameters
    ----------
    priors : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, uses the class
        frequencies of the training rows.
        ``None`` is the empty list.
    var_smoothing : float >= 0, default=1e-09
        Fraction of the largest feature variance that is added to all variances. Larger values make
        the densities wider and more similar.
    variance : {"population", "sample"}, default="population"
        Denominator of the variances: the weight (``population``, maximum likelihood) or the weight
        minus one (``sample``, unbiased).

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
    NaN is a missing value: it is left out, not filled in.

    Examples
    --------
    >>> from mercer.naive_bayes import GaussianNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = GaussianNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "gaussian-nb"
    _inputs = ("missing-values", "sparse")

    def __init__(self, *, priors=None, var_smoothing=1e-09, variance="population"):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance


class MultinomialNB(Mergeable, FactorizedLikelihood, Probabilistic, Classifier):
    """Multinomial naive Bayes, for count features such as term counts of documents.

    Parameters
    ----------
    alpha : float >= 0 or list of float, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform. One value, or one per feature.
    force_alpha : bool, default=True
        Use ``alpha`` as given. If ``false``, values below 1e-10 are raised to 1e-10, for numerical
        stability.
    fit_prior : bool, default=True
        Estimate the class priors from the class frequencies. If ``false``, all classes are equally
        probable.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, follows
        ``fit_prior``.
        ``None`` is the empty list.

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
    >>> from mercer.naive_bayes import MultinomialNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = MultinomialNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "multinomial-nb"
    _inputs = ("sparse", "counts")

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class ComplementNB(Mergeable, AdditiveScores, Probabilistic, Classifier):
    """Complement naive Bayes, for count features and imbalanced classes.

    Parameters
    ----------
    alpha : float >= 0 or list of float, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform. One value, or one per feature.
    force_alpha : bool, default=True
        Use ``alpha`` as given. If ``false``, values below 1e-10 are raised to 1e-10, for numerical
        stability.
    fit_prior : bool, default=True
        Kept for likeness with its siblings; the scores use no priors.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Class priors in class order; the scores use none.
        ``None`` is the empty list.
    norm : bool, default=False
        Divide the weights of every class by their sum, as in Rennie et al. (2003), table 4, step 5.

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
    >>> from mercer.naive_bayes import ComplementNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = ComplementNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "complement-nb"
    _inputs = ("sparse", "counts")

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        norm=False,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm


class BernoulliNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Bernoulli naive Bayes, for binary features.

    Parameters
    ----------
    alpha : float >= 0 or list of float, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform. One value, or one per feature.
    force_alpha : bool, default=True
        Use ``alpha`` as given. If ``false``, values below 1e-10 are raised to 1e-10, for numerical
        stability.
    binarize : float or None, default=0.0
        Threshold of binarization: a feature is one if its value is above it, else zero. ``None``
        expects values of 0 and 1.
    fit_prior : bool, default=True
        Estimate the class priors from the class frequencies. If ``false``, all classes are equally
        probable.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, follows
        ``fit_prior``.
        ``None`` is the empty list.

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
    >>> from mercer.naive_bayes import BernoulliNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = BernoulliNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "bernoulli-nb"
    _inputs = ("sparse", "binary")

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        binarize=0.0,
        fit_prior=True,
        class_prior=None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class CategoricalNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Categorical naive Bayes, for categorical features encoded as integers from 0.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform.
    force_alpha : bool, default=True
        Use ``alpha`` as given. If ``false``, values below 1e-10 are raised to 1e-10, for numerical
        stability.
    fit_prior : bool, default=True
        Estimate the class priors from the class frequencies. If ``false``, all classes are equally
        probable.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, follows
        ``fit_prior``.
        ``None`` is the empty list.
    min_categories : float in [0, 16777216] or list of float or None, default=None
        Minimum number of categories: an integer for all features, or one per feature. ``None`` uses
        the largest code of the training data plus one.
    unseen : {"ignore", "other", "error"}, default="ignore"
        Categories that do not occur in the training data: ``ignore`` omits the factor, as for a
        missing value, ``other`` uses the smoothed probability of a count of zero, ``error`` refuses
        the row.

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
    NaN is a missing value: it is left out, not filled in.

    Examples
    --------
    >>> from mercer.naive_bayes import CategoricalNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = CategoricalNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "categorical-nb"
    _inputs = ("missing-values", "categories")

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        min_categories=None,
        unseen="ignore",
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unseen = unseen


class MixedNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Naive Bayes for mixed tables: every column has its own likelihood.

    Parameters
    ----------
    likelihood : str, list of str or dict of str to str, default="auto"
        Likelihood ``p(x | class)`` of a column: ``auto`` selects the one with the largest
        leave-one-out log-likelihood, ``schema`` uses a normal density for numeric columns and a
        categorical distribution for the others. For numeric columns: ``gaussian``, ``kernel``
        (kernel density estimate), ``equal-width``, ``equal-frequency``, ``entropy`` or ``split``
        (histograms), ``poisson``, ``exponential``, ``bernoulli`` (above zero), ``multinomial``
        (jointly over all columns of this kind); for the others: ``categorical`` or ``bernoulli``.
        One value for all columns, one per column, or a mapping from column names.
    estimate : {"lidstone", "laplace-by-classes", "m-estimate", "held-out"}, default="lidstone"
        Smoothing of categorical probabilities: ``lidstone`` is ``(n + alpha) / (N + alpha k)`` for
        ``k`` categories, ``laplace-by-classes`` has the number of classes instead of ``k`` in the
        denominator, ``m-estimate`` is ``(n + m p) / (N + m)``, ``held-out`` is ``lidstone`` with
        the ``alpha`` of the largest leave-one-out log-likelihood, chosen for each column.
    alpha : float >= 0, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform.
    m : float >= 0, default=1.0
        Equivalent sample size of the m-estimate. Larger values shrink probabilities towards ``p``.
    p : float in [0, 1] or None, default=None
        Prior probability of the m-estimate; ``None`` is uniform over the categories.
    dirichlet : dict of str to list of float >= 0 or None, default=None
        Dirichlet prior of some columns, by column name: one pseudocount per category, in the order
        of the categories. Overrides ``estimate`` for these columns.
    weights : {"equal", "learned"}, default="equal"
        Weights of the columns: ``equal`` is naive Bayes; ``learned`` raises the likelihood of each
        column to a power that minimizes the log loss, so that redundant columns do not count twice
        (weighted naive Bayes). ``learned`` stores up to 4096 training rows in the statistics.
    bins : int in [2, 1000], default=10
        Number of bins of ``equal-width`` and ``equal-frequency``. More bins follow the data more
        closely.
    variance : {"population", "sample"}, default="population"
        Denominator of the variances: the weight (``population``, maximum likelihood) or the weight
        minus one (``sample``, unbiased).
    var_smoothing : float >= 0, default=1e-09
        Fraction of the variance of a column that is added to the variance of each class; Poisson
        and exponential means are at least this fraction of the mean of the column.
    unseen : {"ignore", "other", "error"}, default="ignore"
        Categories that do not occur in the training data: ``ignore`` omits the factor, as for a
        missing value, ``other`` uses the smoothed probability of a count of zero, ``error`` refuses
        the row.
    fit_prior : bool, default=True
        Estimate the class priors from the class frequencies. If ``false``, all classes are equally
        probable.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, follows
        ``fit_prior``.
        ``None`` is the empty list.

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
    NaN is a missing value: it is left out, not filled in.

    Examples
    --------
    >>> from mercer.naive_bayes import MixedNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = MixedNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "mixed-nb"
    _inputs = ("missing-values", "sparse", "mixed")

    def __init__(
        self,
        *,
        likelihood="auto",
        estimate="lidstone",
        alpha=1.0,
        m=1.0,
        p=None,
        dirichlet=None,
        weights="equal",
        bins=10,
        variance="population",
        var_smoothing=1e-09,
        unseen="ignore",
        fit_prior=True,
        class_prior=None,
    ):
        self.likelihood = likelihood
        self.estimate = estimate
        self.alpha = alpha
        self.m = m
        self.p = p
        self.dirichlet = dirichlet
        self.weights = weights
        self.bins = bins
        self.variance = variance
        self.var_smoothing = var_smoothing
        self.unseen = unseen
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class TreeAugmentedNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Tree-augmented naive Bayes, for dependent categorical columns.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform.
    min_gain : float >= 0, default=0.0
        Minimum conditional mutual information of an edge, in nats per row. Larger values keep fewer
        edges; without edges the model is categorical naive Bayes.
    root : int, default=0
        Index of the column that is the root of the tree.
    fit_prior : bool, default=True
        Estimate the class priors from the class frequencies. If ``false``, all classes are equally
        probable.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, follows
        ``fit_prior``.
        ``None`` is the empty list.

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
    NaN is a missing value: it is left out, not filled in.

    Examples
    --------
    >>> from mercer.naive_bayes import TreeAugmentedNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = TreeAugmentedNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "tan"
    _inputs = ("missing-values", "categories")

    def __init__(self, *, alpha=1.0, min_gain=0.0, root=0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.min_gain = min_gain
        self.root = root
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class BayesNetworkClassifier(Mergeable, AdditiveScores, Generative, Probabilistic, Classifier):
    """Bayesian network classifier, for dependent categorical columns.

    Parameters
    ----------
    criterion : {"bic", "bdeu"}, default="bic"
        Score of the structure: ``bic``, the Bayesian information criterion, or ``bdeu``, the
        marginal likelihood under uniform Dirichlet priors (Bayesian Dirichlet equivalent uniform).
    sample_size : float > 0, default=10.0
        Equivalent sample size of the prior of ``bdeu``. Larger values allow more edges.
    max_parents : int in [1, 20], default=3
        Maximum number of parents of a column, including the class.
    tabu : int, default=0
        Length of the tabu list: the search continues through structures of lower score, and the
        last ``tabu`` steps may not be undone. 0 stops at the first local optimum. Larger values
        search longer.
    augment : bool, default=False
        Make the class a parent of every column, as in naive Bayes; otherwise its edges are learned,
        too.
    alpha : float >= 0, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform.

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
    NaN is a missing value: it is left out, not filled in.

    Examples
    --------
    >>> from mercer.naive_bayes import BayesNetworkClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = BayesNetworkClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "bayes-network"
    _inputs = ("missing-values", "categories")

    def __init__(
        self,
        *,
        criterion="bic",
        sample_size=10.0,
        max_parents=3,
        tabu=0,
        augment=False,
        alpha=1.0,
    ):
        self.criterion = criterion
        self.sample_size = sample_size
        self.max_parents = max_parents
        self.tabu = tabu
        self.augment = augment
        self.alpha = alpha
