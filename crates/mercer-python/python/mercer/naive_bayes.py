"""The estimators of ``naive_bayes``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Classifier, Factored, Generative, Mergeable, Probabilistic

__all__ = ["GaussianNB"]


class GaussianNB(Mergeable, Factored, Generative, Probabilistic, Classifier):
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
    >>> print(*model.predict([[3, 1], [1, 3]]))
    a b
    """

    _id = "gaussian-nb"
    _takes = ("missing", "sparse")

    def __init__(self, *, priors=None, var_smoothing=1e-09, variance="population"):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance
