"""The estimators of ``neural_network``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Classifier, Honored, Only, Probabilistic, Regressor, Unused, WarmStart

__all__ = ["MLPClassifier", "MLPRegressor"]


class MLPClassifier(WarmStart, Probabilistic, Classifier):
    """Multilayer perceptron classifier: a neural network with hidden layers, trained by L-BFGS.

    Parameters
    ----------
    hidden_layer_sizes : int >= 1 or list of int, default=(100,)
        Sizes of the hidden layers: one number, or a list in order from input to output. An empty
        list gives logistic regression.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation function of the hidden layers: ``relu``, ``tanh``, ``logistic`` (the sigmoid) or
        ``identity``.
    solver : {"lbfgs"}, default="lbfgs"
        Optimization algorithm: ``lbfgs``, limited-memory BFGS on the full training data.
        Scikit-learn's ``adam`` and ``sgd`` are taken as ``lbfgs``, with a warning.
    alpha : float >= 0, default=0.0001
        L2 regularization strength, divided by the sum of the sample weights. Larger values give
        smaller weights.
    max_iter : int >= 1, default=200
        Maximum number of iterations. The certificate reports if the fit stops here.
    tol : float > 0, default=0.0001
        Stop when the largest component of the gradient of the penalized loss is at most ``tol``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : bool, default=False
        Whether a fit prints once a second how far it is.
    batch_size : int or {"auto"}, default="auto"
        Makes no difference: every step looks at all rows.
    shuffle : bool, default=True
        Makes no difference: every step looks at all rows.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Makes no difference: steps go as far as the loss falls.
    learning_rate_init : float, default=0.001
        Makes no difference: steps go as far as the loss falls.
    power_t : float, default=0.5
        Makes no difference: steps go as far as the loss falls.
    momentum : float, default=0.9
        Makes no difference: steps go as far as the loss falls.
    nesterovs_momentum : bool, default=True
        Makes no difference: steps go as far as the loss falls.
    beta_1 : float, default=0.9
        Makes no difference: steps go as far as the loss falls.
    beta_2 : float, default=0.999
        Makes no difference: steps go as far as the loss falls.
    epsilon : float, default=1e-08
        Makes no difference: steps go as far as the loss falls.
    early_stopping : {False}, default=False
        Whether a fit ends when rows that are put aside are told no better. Only ``False`` is taken.
    validation_fraction : float, default=0.1
        Makes no difference: no rows are put aside.
    n_iter_no_change : float, default=10
        Makes no difference: a fit ends by ``tol`` or ``max_iter``.
    max_fun : int, default=15000
        Steps after which to stop in any case, as ``max_iter``: the smaller of both counts.

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
    _inputs = ("sparse", "text-on-request")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "batch_size": Unused(int, "auto"),
        "shuffle": Unused(bool),
        "learning_rate": Unused("constant", "invscaling", "adaptive"),
        "learning_rate_init": Unused(float),
        "power_t": Unused(float),
        "momentum": Unused(float),
        "nesterovs_momentum": Unused(bool),
        "beta_1": Unused(float),
        "beta_2": Unused(float),
        "epsilon": Unused(float),
        "early_stopping": Only(
            False,
            instead="keep weights small by alpha, or choose max_iter by a search over folds",
        ),
        "validation_fraction": Unused(float),
        "n_iter_no_change": Unused(float),
        "max_fun": Honored(),
    }

    def __init__(
        self,
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="lbfgs",
        alpha=0.0001,
        max_iter=200,
        tol=0.0001,
        random_state=0,
        warm_start=False,
        verbose=False,
        batch_size="auto",
        shuffle=True,
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        momentum=0.9,
        nesterovs_momentum=True,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-08,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        max_fun=15000,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun


class MLPRegressor(WarmStart, Regressor):
    """Multilayer perceptron regressor: a neural network with hidden layers, trained by L-BFGS.

    Parameters
    ----------
    loss : {"squared_error"}, default="squared_error"
        What a wrong number costs: half the square of the error. Only ``"squared_error"`` is taken.
    hidden_layer_sizes : int >= 1 or list of int, default=(100,)
        Sizes of the hidden layers: one number, or a list in order from input to output. An empty
        list gives ridge regression.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation function of the hidden layers: ``relu``, ``tanh``, ``logistic`` (the sigmoid) or
        ``identity``.
    solver : {"lbfgs"}, default="lbfgs"
        Optimization algorithm: ``lbfgs``, limited-memory BFGS on the full training data.
        Scikit-learn's ``adam`` and ``sgd`` are taken as ``lbfgs``, with a warning.
    alpha : float >= 0, default=0.0001
        L2 regularization strength, divided by the sum of the sample weights. Larger values give
        smaller weights.
    max_iter : int >= 1, default=200
        Maximum number of iterations. The certificate reports if the fit stops here.
    tol : float > 0, default=0.0001
        Stop when the largest component of the gradient of the penalized loss is at most ``tol``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    warm_start : bool, default=False
        Whether a fit begins at the weights of the fit before, where there is one.
    verbose : bool, default=False
        Whether a fit prints once a second how far it is.
    batch_size : int or {"auto"}, default="auto"
        Makes no difference: every step looks at all rows.
    shuffle : bool, default=True
        Makes no difference: every step looks at all rows.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Makes no difference: steps go as far as the loss falls.
    learning_rate_init : float, default=0.001
        Makes no difference: steps go as far as the loss falls.
    power_t : float, default=0.5
        Makes no difference: steps go as far as the loss falls.
    momentum : float, default=0.9
        Makes no difference: steps go as far as the loss falls.
    nesterovs_momentum : bool, default=True
        Makes no difference: steps go as far as the loss falls.
    beta_1 : float, default=0.9
        Makes no difference: steps go as far as the loss falls.
    beta_2 : float, default=0.999
        Makes no difference: steps go as far as the loss falls.
    epsilon : float, default=1e-08
        Makes no difference: steps go as far as the loss falls.
    early_stopping : {False}, default=False
        Whether a fit ends when rows that are put aside are told no better. Only ``False`` is taken.
    validation_fraction : float, default=0.1
        Makes no difference: no rows are put aside.
    n_iter_no_change : float, default=10
        Makes no difference: a fit ends by ``tol`` or ``max_iter``.
    max_fun : int, default=15000
        Steps after which to stop in any case, as ``max_iter``: the smaller of both counts.

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
    _inputs = ("sparse", "multi-output", "text-on-request")
    _beside = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "loss": Only("squared_error", instead="use scikit-learn's class"),
        "batch_size": Unused(int, "auto"),
        "shuffle": Unused(bool),
        "learning_rate": Unused("constant", "invscaling", "adaptive"),
        "learning_rate_init": Unused(float),
        "power_t": Unused(float),
        "momentum": Unused(float),
        "nesterovs_momentum": Unused(bool),
        "beta_1": Unused(float),
        "beta_2": Unused(float),
        "epsilon": Unused(float),
        "early_stopping": Only(
            False,
            instead="keep weights small by alpha, or choose max_iter by a search over folds",
        ),
        "validation_fraction": Unused(float),
        "n_iter_no_change": Unused(float),
        "max_fun": Honored(),
    }

    def __init__(
        self,
        loss="squared_error",
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="lbfgs",
        alpha=0.0001,
        max_iter=200,
        tol=0.0001,
        random_state=0,
        warm_start=False,
        verbose=False,
        batch_size="auto",
        shuffle=True,
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        momentum=0.9,
        nesterovs_momentum=True,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-08,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        max_fun=15000,
    ):
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
