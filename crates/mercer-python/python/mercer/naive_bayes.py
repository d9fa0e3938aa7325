"""The estimators of ``naive_bayes``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import (
    AdditiveScores,
    Classifier,
    FactorizedLikelihood,
    Generative,
    Mergeable,
    Probabilistic,
    sklearn_attributes,
)

__all__ = [
    "BayesNetworkClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "TreeAugmentedNB",
]


class GaussianNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Gaussian naive Bayes, for real-valued features.

    Formula::

        argmax_c log P(c) + Σⱼ log N(xⱼ; μ_cj, σ²_cj)

    Parameters
    ----------
    priors : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. The default, an empty list, uses the class
        frequencies of the training rows. ``None`` is the empty list.
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
    class_count_ : ndarray of shape (n_classes,)
        Number of training rows of each class, by sample weight.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean ``μ`` of each feature in each class.
    var_ : ndarray of shape (n_classes, n_features)
        Variance ``σ²`` of each feature in each class, smoothing included.
    epsilon_ : float
        Value added to all variances.
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
    Missing values (NaN) are ignored: they have no factor in the likelihood.

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
    _fitted_attributes: ClassVar = {
        "class_count_": ("class_weights", None),
        "class_prior_": ("log_priors", sklearn_attributes.exp),
        "theta_": ("means", None),
        "var_": ("variances", None),
        "epsilon_": ("smoothing", None),
    }

    def __init__(self, *, priors=None, var_smoothing=1e-09, variance="population"):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance


class MultinomialNB(Mergeable, FactorizedLikelihood, Generative, Probabilistic, Classifier):
    """Multinomial naive Bayes, for count features such as term counts of documents.

    Formula::

        argmax_c log P(c) + Σⱼ xⱼ log θ_cj,  θ_cj = (N_cj + αⱼ) / Σₖ (N_ck + αₖ)

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
        ``fit_prior``. ``None`` is the empty list.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of training rows of each class, by sample weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Total count of each feature in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithm of the smoothed probability ``θ`` of each feature given each class.
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
    >>> from mercer.naive_bayes import MultinomialNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = MultinomialNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "multinomial-nb"
    _inputs = ("sparse", "counts")
    _fitted_attributes: ClassVar = {
        "class_count_": ("class_weights", None),
        "class_log_prior_": ("log_priors", None),
        "feature_count_": ("counts", None),
        "feature_log_prob_": ("log_probabilities", None),
    }

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class ComplementNB(Mergeable, AdditiveScores, Probabilistic, Classifier):
    """Complement naive Bayes, for count features and imbalanced classes.

    Formula::

        argmax_c −Σⱼ xⱼ log θ̃_cj,  θ̃_cj = (αⱼ + Σ_{d≠c} N_dj) / Σₖ (αₖ + Σ_{d≠c} N_dk)

    Parameters
    ----------
    alpha : float >= 0 or list of float, default=1.0
        Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
        Larger values make the estimated distributions more uniform. One value, or one per feature.
    force_alpha : bool, default=True
        Use ``alpha`` as given. If ``false``, values below 1e-10 are raised to 1e-10, for numerical
        stability.
    fit_prior : bool, default=True
        Accepted for compatibility with scikit-learn; the scores use no priors.
    class_prior : list of float >= 0 with sum 1 or None, default=None
        Prior class probabilities, in class order. Accepted for compatibility with scikit-learn; the
        scores use no priors. ``None`` is the empty list.
    norm : bool, default=False
        Divide the weights of every class by their sum, as in Rennie et al. (2003), table 4, step 5.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of training rows of each class, by sample weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Total count of each feature in each class.
    feature_all_ : ndarray of shape (n_features,)
        Total count of each feature in all classes.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weight of a count in the score of each class: ``−log θ̃``, normalized if ``norm`` is set.
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
    >>> from mercer.naive_bayes import ComplementNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = ComplementNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "complement-nb"
    _inputs = ("sparse", "counts")
    _fitted_attributes: ClassVar = {
        "class_count_": ("class_weights", None),
        "class_log_prior_": ("log_priors", None),
        "feature_count_": ("counts", None),
        "feature_all_": ("counts", sklearn_attributes.sum_over_classes),
        "feature_log_prob_": ("log_probabilities", None),
    }

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

    Formula::

        argmax_c log P(c) + Σⱼ [xⱼ log θ_cj + (1 − xⱼ) log(1 − θ_cj)],  θ_cj = (N_cj + αⱼ) / (N_c +
        2αⱼ)

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
        ``fit_prior``. ``None`` is the empty list.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of training rows of each class, by sample weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Number of rows of each class in which each feature is one, by sample weight.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithm of the smoothed probability ``θ`` of each feature given each class.
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
    >>> from mercer.naive_bayes import BernoulliNB
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = BernoulliNB().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "bernoulli-nb"
    _inputs = ("sparse", "binary")
    _fitted_attributes: ClassVar = {
        "class_count_": ("class_weights", None),
        "class_log_prior_": ("log_priors", None),
        "feature_count_": ("counts", None),
        "feature_log_prob_": ("log_probabilities", None),
    }

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

    Formula::

        argmax_c log P(c) + Σⱼ log θ_cj(xⱼ),  θ_cj(v) = (N_cjv + α) / (N_cj + α kⱼ)

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
        ``fit_prior``. ``None`` is the empty list.
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
    class_count_ : ndarray of shape (n_classes,)
        Number of training rows of each class, by sample weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the prior probability of each class.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        For each feature, the count of each category in each class.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        For each feature, the logarithm of the smoothed probability ``θ`` of each category given
        each class.
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each feature.
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
    Missing values (NaN) are ignored: they have no factor in the likelihood.

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
    _fitted_attributes: ClassVar = {
        "class_count_": ("class_weights", None),
        "class_log_prior_": ("log_priors", None),
        "category_count_": ("columns", sklearn_attributes.column_counts),
        "feature_log_prob_": ("columns", sklearn_attributes.column_log_probabilities),
        "n_categories_": ("columns", sklearn_attributes.category_counts),
    }

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

    Formula::

        argmax_c log P(c) + Σⱼ log pⱼ(xⱼ | c)

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
        ``fit_prior``. ``None`` is the empty list.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of training rows of each class, by sample weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the prior probability of each class.
    likelihoods_ : list of dict
        Family and parameters of the likelihood of each column that is not text.
    texts_ : list of dict
        Multinomial distribution of the terms of each text column.
    weights_ : ndarray of shape (n_columns,)
        Weight of each column, then of each text; empty for equal weights.
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
    Missing values (NaN) are ignored: they have no factor in the likelihood.

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
    _fitted_attributes: ClassVar = {
        "class_count_": ("class_weights", None),
        "class_log_prior_": ("log_priors", None),
    }

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

    Formula::

        argmax_c log P(c) + Σⱼ log p(xⱼ | x_parent(j), c),  tree: max Σⱼ I(Xⱼ; X_parent(j) | C)

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
        ``fit_prior``. ``None`` is the empty list.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the prior probability of each class.
    levels_ : list of int
        Number of categories of each column.
    parents_ : list of int or None
        Index of the parent of each column besides the class.
    counts_ : ndarray
        Counts of all tables, concatenated by column: parent code, column code, class.
    log_probabilities_ : ndarray
        ``log p(code | code of the parent, class)``, in the order of ``counts_``.
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
    Missing values (NaN) are ignored: they have no factor in the likelihood.

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
    _fitted_attributes: ClassVar = {
        "class_log_prior_": ("log_priors", None),
    }

    def __init__(self, *, alpha=1.0, min_gain=0.0, root=0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.min_gain = min_gain
        self.root = root
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class BayesNetworkClassifier(Mergeable, AdditiveScores, Generative, Probabilistic, Classifier):
    """Bayesian network classifier, for dependent categorical columns.

    Formula::

        argmax_c log P(c | parents(c)) + Σⱼ log p(xⱼ | parents(xⱼ))

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
    levels_ : list of int
        Number of categories of each column.
    parents_ : list of list of int
        Parents of each variable in ascending order; the class is the last variable.
    tables_ : list of ndarray
        ``p(code | codes of the parents)`` of each variable, in row-major order.
    score_ : float
        Score of the structure.
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
    Missing values (NaN) are ignored: they have no factor in the likelihood.

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
