"""The estimators of ``naive_bayes``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Classifier, FactorizedLikelihood, Generative, Mergeable, Probabilistic, AdditiveScores

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
    priors : array of float or None, default=None
        Class priors in class order; empty takes the shares seen in the data.
        It must be numbers of at least 0 that add up to 1.
        ``None`` is the empty list.
    var_smoothing : float, default=1e-09
        Share of the largest feature variance added to every variance. Larger values make the bell
        curves wider and more alike.
        It must be a number of at least 0.
    variance : {"population", "sample"}, default="population"
        Whether variances are divided by the weight (``population``) or by the weight less one
        (``sample``).

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
    _inputs = ("missing", "sparse")

    def __init__(self, *, priors=None, var_smoothing=1e-09, variance="population"):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance


class MultinomialNB(Mergeable, FactorizedLikelihood, Probabilistic, Classifier):
    """Multinomial naive Bayes, for counts such as words in documents.

    Parameters
    ----------
    alpha : number or list of numbers, default=1.0
        Added to every count: 1 is Laplace's rule, 0 none; one number, or one a feature. Larger
        values pull the classes together.
        It must be a number of at least 0.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is taken as it is; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Whether priors are the shares seen in the data; otherwise all classes are alike.
    class_prior : array of float or None, default=None
        Class priors in class order; empty leaves them to ``fit_prior``.
        It must be numbers of at least 0 that add up to 1.
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
    """Complement naive Bayes, for counts in classes of very different size.

    Parameters
    ----------
    alpha : number or list of numbers, default=1.0
        Added to every count: 1 is Laplace's rule, 0 none; one number, or one a feature. Larger
        values pull the classes together.
        It must be a number of at least 0.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is taken as it is; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Kept for likeness with its siblings; the scores use no priors.
    class_prior : array of float or None, default=None
        Class priors in class order; the scores use none.
        It must be numbers of at least 0 that add up to 1.
        ``None`` is the empty list.
    norm : bool, default=False
        Whether the weights of a class are divided by their sum.

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
    """Bernoulli naive Bayes, for features that are there or not.

    Parameters
    ----------
    alpha : number or list of numbers, default=1.0
        Added to the rows with and to the rows without a feature: 1 is Laplace's rule, 0 none; one
        number, or one a feature. Larger values pull the classes together.
        It must be a number of at least 0.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is taken as it is; otherwise it is raised to 1e-10.
    binarize : float or None, default=0.0
        A feature is there if its number is above this; ``null`` takes the numbers as zeros and ones
        already.
    fit_prior : bool, default=True
        Whether priors are the shares seen in the data; otherwise all classes are alike.
    class_prior : array of float or None, default=None
        Class priors in class order; empty leaves them to ``fit_prior``.
        It must be numbers of at least 0 that add up to 1.
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
    """Categorical naive Bayes, for features that are one of a few values: codes from 0.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the count of every value: 1 is Laplace's rule, 0 none. Larger values pull the
        classes together.
        It must be a number of at least 0.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is taken as it is; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Whether priors are the shares seen in the data; otherwise all classes are alike.
    class_prior : array of float or None, default=None
        Class priors in class order; empty leaves them to ``fit_prior``.
        It must be numbers of at least 0 that add up to 1.
        ``None`` is the empty list.
    min_categories : number or list of numbers or None, default=None
        How many values each feature has at least: one number, or one a feature; empty takes those
        seen.
        It must be a number from 0 to 16777216.
    unseen : {"ignore", "other", "error"}, default="ignore"
        What becomes of a value that training never saw: it has no say (``ignore``), counts as seen
        zero times (``other``), or is refused (``error``).

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
    _inputs = ("missing", "categories")

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
    """Naive Bayes for tables as they are: every column has its own kind of likelihood.

    Parameters
    ----------
    likelihood : word, list of words, or words by column, default="auto"
        What ``p(x | class)`` is: ``auto`` takes the one that foresees held-out rows best,
        ``schema`` a bell curve for numbers and shares for words; or ``gaussian``, ``kernel``,
        ``equal-width``, ``equal-frequency``, ``entropy``, ``split``, ``poisson``, ``exponential``,
        ``bernoulli``, ``multinomial`` for numbers, ``categorical`` or ``bernoulli`` for words. One
        for all columns, one a column, or by column name.
    estimate : {"lidstone", "laplace-by-classes", "m-estimate", "held-out"}, default="lidstone"
        How a share follows from a count: ``lidstone`` adds ``alpha`` to every value's count,
        ``laplace-by-classes`` divides by the number of classes more as some lectures print it,
        ``m-estimate`` adds ``m`` rows of prior ``p``, ``held-out`` adds for each column the number
        that foresees held-out rows best.
    alpha : float, default=1.0
        Added to every count: 1 is Laplace's rule, 0 none. Larger values pull the classes together.
        It must be a number of at least 0.
    m : float, default=1.0
        How many rows the prior of an m-estimate is worth.
        It must be a number of at least 0.
    p : float or None, default=None
        The prior of an m-estimate; ``null`` takes all values as equally likely.
        It must be a number from 0 to 1.
    dirichlet : lists of numbers by column or None, default=None
        A Dirichlet prior for some columns: what is added to the count of each value, in the order
        of the values, by column name.
        It must be a number of at least 0.
        ``None`` is the empty list.
    weights : {"equal", "learned"}, default="equal"
        How much each column counts: ``equal`` is naive Bayes; ``learned`` takes the factor of each
        column to a power, such that the classes of rows are most probable and columns that repeat
        each other do not count twice. It keeps up to 4096 rows in the summary.
    bins : int, default=10
        How many bins ``equal-width`` and ``equal-frequency`` make.
        It must be a number from 2 to 1000.
    variance : {"population", "sample"}, default="population"
        Whether variances are divided by the weight (``population``) or by the weight less one
        (``sample``).
    var_smoothing : float, default=1e-09
        Share of a column's variance added to the variance of each class; means of counts are kept
        above the same share of theirs.
        It must be a number of at least 0.
    unseen : {"ignore", "other", "error"}, default="ignore"
        What becomes of a word that training never saw: it has no say (``ignore``), counts as seen
        zero times (``other``), or is refused (``error``).
    fit_prior : bool, default=True
        Whether priors are the shares seen in the data; otherwise all classes are alike.
    class_prior : array of float or None, default=None
        Class priors in class order; empty leaves them to ``fit_prior``.
        It must be numbers of at least 0 that add up to 1.
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
    _inputs = ("missing", "sparse", "mixed")

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
    """Tree-augmented naive Bayes, for columns of categories that depend on each other.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to every count: 1 is Laplace's rule, 0 none. Larger values pull the tables towards
        even odds.
        It must be a number of at least 0.
    min_gain : float, default=0.0
        Columns are joined only if that gains more than this many nats of likelihood a row. Larger
        values leave fewer edges; without any it is categorical naive Bayes.
        It must be a number of at least 0.
    root : int, default=0
        The column the tree hangs from, counted from 0.
    fit_prior : bool, default=True
        Whether priors are the shares seen in the data; otherwise all classes are alike.
    class_prior : array of float or None, default=None
        Class priors in class order; empty leaves them to ``fit_prior``.
        It must be numbers of at least 0 that add up to 1.
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
    _inputs = ("missing", "categories")

    def __init__(self, *, alpha=1.0, min_gain=0.0, root=0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.min_gain = min_gain
        self.root = root
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class BayesNetworkClassifier(Mergeable, AdditiveScores, Generative, Probabilistic, Classifier):
    """A Bayesian network with the class in it, for columns of categories that depend on each other.

    Parameters
    ----------
    criterion : {"bic", "bdeu"}, default="bic"
        What arrows are judged by: ``bic``, the likelihood less a price for every number to choose,
        or ``bdeu``, the probability of the rows under even Dirichlet priors.
    sample_size : float, default=10.0
        How many rows the prior of ``bdeu`` is worth. Larger values draw more arrows.
        It must be a number above 0.
    max_parents : int, default=3
        No column gets more parents than this, the class among them.
        It must be a number from 1 to 20.
    tabu : int, default=0
        How many of the last steps may not be undone while the climb goes on over worse networks; 0
        climbs to the first top and stays. Larger values look further.
    augment : bool, default=False
        Whether the class is a parent of every column from the start, as in naive Bayes; otherwise
        its arrows are found as all others are.
    alpha : float, default=1.0
        Added to every count: 1 is Laplace's rule, 0 none. Larger values pull the tables towards
        even odds.
        It must be a number of at least 0.

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
    _inputs = ("missing", "categories")

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
