"""The estimators of ``neural_network``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Classifier, Probabilistic, Regressor, Warm

__all__ = ["MLPClassifier", "MLPRegressor"]


class MLPClassifier(Warm, Probabilistic, Classifier):
    """A multilayer perceptron for classes: a network of a few layers.

    Parameters
    ----------
    hidden_layer_sizes : int or array of int, default=(100,)
        How wide the layers between columns and classes are: a number, or a list of them in order.
        An empty list leaves logistic regression.
        It must be a number of at least 1.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        How the sums of a layer are bent: zero below zero (``relu``), ``tanh``, ``logistic``, or not
        at all (``identity``).
    solver : {"lbfgs"}, default="lbfgs"
        How the loss is made small: by all rows at once, and what the last steps say about curvature
        (``lbfgs``).
    alpha : float, default=0.0001
        The price on half the squared weights, over the weight of all rows. Larger values keep them
        smaller.
        It must be a number of at least 0.
    max_iter : int, default=200
        Steps after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float, default=0.0001
        The fit is done when no entry of the gradient of loss and price is larger.
        It must be a number above 0.
    random_state : int, default=0
        The seed of the weights at the start.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.

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
    >>> from mercer.neural_network import MLPClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = MLPClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "mlp"
    _takes = ("sparse", "asked_texts")

    def __init__(
        self,
        *,
        hidden_layer_sizes=(100,),
        activation="relu",
        solver="lbfgs",
        alpha=0.0001,
        max_iter=200,
        tol=0.0001,
        random_state=0,
        warm_start=False,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start


class MLPRegressor(Warm, Regressor):
    """A multilayer perceptron for numbers: a network of a few layers.

    Parameters
    ----------
    hidden_layer_sizes : int or array of int, default=(100,)
        How wide the layers between columns and numbers are: a number, or a list of them in order.
        An empty list leaves ridge regression.
        It must be a number of at least 1.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        How the sums of a layer are bent: zero below zero (``relu``), ``tanh``, ``logistic``, or not
        at all (``identity``).
    solver : {"lbfgs"}, default="lbfgs"
        How the loss is made small: by all rows at once, and what the last steps say about curvature
        (``lbfgs``).
    alpha : float, default=0.0001
        The price on half the squared weights, over the weight of all rows. Larger values keep them
        smaller.
        It must be a number of at least 0.
    max_iter : int, default=200
        Steps after which to stop in any case; the certificate then says so.
        It must be a number of at least 1.
    tol : float, default=0.0001
        The fit is done when no entry of the gradient of loss and price is larger.
        It must be a number above 0.
    random_state : int, default=0
        The seed of the weights at the start.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.

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
    >>> from mercer.neural_network import MLPRegressor
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = MLPRegressor().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0]))
    35
    """

    _id = "mlp-regressor"
    _takes = ("sparse", "targets", "asked_texts")

    def __init__(
        self,
        *,
        hidden_layer_sizes=(100,),
        activation="relu",
        solver="lbfgs",
        alpha=0.0001,
        max_iter=200,
        tol=0.0001,
        random_state=0,
        warm_start=False,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
