"""The estimators of ``neural_network``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import (
    AdditiveScores,
    Classifier,
    Honored,
    Only,
    Probabilistic,
    Regressor,
    Unused,
    WarmStart,
    sklearn_attributes,
    sklearn_parameters,
)

__all__ = ["MLPClassifier", "MLPRegressor"]


class MLPClassifier(WarmStart, AdditiveScores, Probabilistic, Classifier):
    """Multilayer perceptron classifier: a neural network with hidden layers, trained by L-BFGS.

    Formula::

        min −(1/n) Σᵢ log P(yᵢ | xᵢ) + (α/2n) Σₗ ‖Wₗ‖²,  P = softmax of the network output

    Parameters
    ----------
    hidden_layer_sizes : int >= 1 or list of int, default=(100,)
        Sizes of the hidden layers: one number, or a list in order from input to output. An empty
        list gives logistic regression.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation function of the hidden layers: ``relu``, ``tanh``, ``logistic`` (the sigmoid) or
        ``identity``.
    solver : {"lbfgs", "adam", "sgd"}, default="lbfgs"
        Optimization algorithm: ``lbfgs``, limited-memory BFGS on the full training data. ``adam``
        and ``sgd`` are replaced by ``lbfgs``, with a warning.
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
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : bool, default=False
        Print the progress of the fit once per second.
    batch_size : int or {"auto"}, default="auto"
        Accepted without effect: every iteration uses all rows.
    shuffle : bool, default=True
        Accepted without effect: every iteration uses all rows.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Accepted without effect: step sizes are found by a line search.
    learning_rate_init : float, default=0.001
        Accepted without effect: step sizes are found by a line search.
    power_t : float, default=0.5
        Accepted without effect: step sizes are found by a line search.
    momentum : float, default=0.9
        Accepted without effect: step sizes are found by a line search.
    nesterovs_momentum : bool, default=True
        Accepted without effect: step sizes are found by a line search.
    beta_1 : float, default=0.9
        Accepted without effect: step sizes are found by a line search.
    beta_2 : float, default=0.999
        Accepted without effect: step sizes are found by a line search.
    epsilon : float, default=1e-08
        Accepted without effect: step sizes are found by a line search.
    early_stopping : {False}, default=False
        Stop when the score on held-out rows no longer improves. Only ``False`` is supported.
    validation_fraction : float, default=0.1
        Accepted without effect: no rows are held out.
    n_iter_no_change : float, default=10
        Accepted without effect: the fit stops by ``tol`` or ``max_iter``.
    max_fun : int, default=15000
        Maximum number of iterations, as ``max_iter``; the smaller of the two applies.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coefs_ : list of ndarray of shape (n_inputs, n_outputs)
        Weights of each layer, one row per input and one column per output.
    intercepts_ : list of ndarray of shape (n_outputs,)
        Intercepts of each layer.
    loss_ : float
        Penalized mean loss of the training rows.
    n_iter_ : int
        Number of iterations of the solver.
    n_layers_ : int
        Number of layers, input and output included.
    n_outputs_ : int
        Number of units of the output layer: 1 for two classes.
    out_activation_ : str
        Activation function of the output layer: ``logistic`` or ``softmax``.
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
    >>> from mercer.neural_network import MLPClassifier
    >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = MLPClassifier().fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "mlp"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
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
            instead="increase alpha, or choose max_iter by cross-validation",
        ),
        "validation_fraction": Unused(float),
        "n_iter_no_change": Unused(float),
        "max_fun": Honored(),
    }
    _translations = (
        sklearn_parameters.max_fun_limits_iterations,
        sklearn_parameters.stochastic_solvers_are_lbfgs,
    )
    _fitted_attributes: ClassVar = {
        "n_layers_": ("coefs", sklearn_attributes.layer_count),
        "n_outputs_": ("intercepts", sklearn_attributes.output_count),
        "out_activation_": ("intercepts", sklearn_attributes.classifier_activation),
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

    Formula::

        min (1/2n) Σᵢ ‖yᵢ − f(xᵢ)‖² + (α/2n) Σₗ ‖Wₗ‖²,  f the network

    Parameters
    ----------
    loss : {"squared_error"}, default="squared_error"
        Loss: half the squared error. Only ``"squared_error"`` is supported.
    hidden_layer_sizes : int >= 1 or list of int, default=(100,)
        Sizes of the hidden layers: one number, or a list in order from input to output. An empty
        list gives ridge regression.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation function of the hidden layers: ``relu``, ``tanh``, ``logistic`` (the sigmoid) or
        ``identity``.
    solver : {"lbfgs", "adam", "sgd"}, default="lbfgs"
        Optimization algorithm: ``lbfgs``, limited-memory BFGS on the full training data. ``adam``
        and ``sgd`` are replaced by ``lbfgs``, with a warning.
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
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : bool, default=False
        Print the progress of the fit once per second.
    batch_size : int or {"auto"}, default="auto"
        Accepted without effect: every iteration uses all rows.
    shuffle : bool, default=True
        Accepted without effect: every iteration uses all rows.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Accepted without effect: step sizes are found by a line search.
    learning_rate_init : float, default=0.001
        Accepted without effect: step sizes are found by a line search.
    power_t : float, default=0.5
        Accepted without effect: step sizes are found by a line search.
    momentum : float, default=0.9
        Accepted without effect: step sizes are found by a line search.
    nesterovs_momentum : bool, default=True
        Accepted without effect: step sizes are found by a line search.
    beta_1 : float, default=0.9
        Accepted without effect: step sizes are found by a line search.
    beta_2 : float, default=0.999
        Accepted without effect: step sizes are found by a line search.
    epsilon : float, default=1e-08
        Accepted without effect: step sizes are found by a line search.
    early_stopping : {False}, default=False
        Stop when the score on held-out rows no longer improves. Only ``False`` is supported.
    validation_fraction : float, default=0.1
        Accepted without effect: no rows are held out.
    n_iter_no_change : float, default=10
        Accepted without effect: the fit stops by ``tol`` or ``max_iter``.
    max_fun : int, default=15000
        Maximum number of iterations, as ``max_iter``; the smaller of the two applies.

    Attributes
    ----------
    coefs_ : list of ndarray of shape (n_inputs, n_outputs)
        Weights of each layer, one row per input and one column per output.
    intercepts_ : list of ndarray of shape (n_outputs,)
        Intercepts of each layer.
    loss_ : float
        Penalized mean loss of the training rows.
    n_iter_ : int
        Number of iterations of the solver.
    n_layers_ : int
        Number of layers, input and output included.
    n_outputs_ : int
        Number of targets.
    out_activation_ : str
        Activation function of the output layer: ``identity``.
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
    >>> from mercer.neural_network import MLPRegressor
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = MLPRegressor().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0]))
    35
    """

    _id = "mlp-regressor"
    _inputs = ("sparse", "multi-output")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "loss": Only("squared_error", instead="use scikit-learn's class"),
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
            instead="increase alpha, or choose max_iter by cross-validation",
        ),
        "validation_fraction": Unused(float),
        "n_iter_no_change": Unused(float),
        "max_fun": Honored(),
    }
    _translations = (
        sklearn_parameters.max_fun_limits_iterations,
        sklearn_parameters.stochastic_solvers_are_lbfgs,
    )
    _fitted_attributes: ClassVar = {
        "n_layers_": ("coefs", sklearn_attributes.layer_count),
        "n_outputs_": (None, sklearn_attributes.target_count),
        "out_activation_": (None, sklearn_attributes.identity_activation),
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
