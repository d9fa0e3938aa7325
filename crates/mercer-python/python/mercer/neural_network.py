"""The estimators of ``neural_network``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import (
    DEFAULT,
    AdditiveScores,
    Classifier,
    Honored,
    Probabilistic,
    Regressor,
    WarmStart,
    sklearn_attributes,
    sklearn_parameters,
)

__all__ = ["MLPClassifier", "MLPRegressor"]


class MLPClassifier(WarmStart, AdditiveScores, Probabilistic, Classifier):
    """Multilayer perceptron classifier: a neural network with hidden layers, trained by L-BFGS,
    Adam or stochastic gradient descent.

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
    solver : {"lbfgs", "adam", "sgd"}, default="adam"
        Optimization algorithm: ``lbfgs`` (limited-memory BFGS on the full training data), or
        ``adam`` and ``sgd`` (stochastic gradient methods on minibatches).
    alpha : float >= 0, default=0.0001
        L2 regularization strength, divided by the sum of the sample weights. Larger values give
        smaller weights.
    max_iter : int >= 1, default=200
        Maximum number of iterations of ``lbfgs``, or of epochs of ``adam`` and ``sgd``. The
        certificate reports if the fit stops here.
    tol : float >= 0, default=0.0001
        Stop when the largest component of the gradient of the penalized loss is at most ``tol``;
        ``adam`` and ``sgd`` stop when ``n_iter_no_change`` epochs improve the loss by less than
        ``tol``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    batch_size : int or {"auto"}, default="auto"
        Rows of a minibatch of ``adam`` and ``sgd``. ``None`` is 200, or all rows if there are
        fewer. Larger values give less noisy and fewer updates per epoch. ``"auto"`` is the default
        of the core.
    shuffle : bool, default=True
        Shuffle the rows before each epoch of ``adam`` and ``sgd``.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Learning rate schedule of ``sgd``: ``constant`` (``learning_rate_init``), ``invscaling``
        (``learning_rate_init / t^power_t``) or ``adaptive`` (divided by five when the loss stops
        improving).
    learning_rate_init : float > 0, default=0.001
        Initial step size of ``adam`` and ``sgd``. Larger values take larger steps.
    power_t : float >= 0, default=0.5
        Exponent of ``invscaling``. Larger values decrease the learning rate faster.
    momentum : float in [0, 1], default=0.9
        Momentum of ``sgd``: the fraction of the previous update that is added to the next.
    nesterovs_momentum : bool, default=True
        Nesterov's momentum for ``sgd``: the step is taken from the point that the momentum leads
        to.
    beta_1 : float in [0, 0.999999999], default=0.9
        Decay of the mean of the gradients in ``adam``, below 1.
    beta_2 : float in [0, 0.999999999], default=0.999
        Decay of the mean of the squared gradients in ``adam``, below 1.
    epsilon : float > 0, default=1e-08
        Added to the root of the mean squared gradient in ``adam``, so that no step divides by zero.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows and stop ``adam`` and ``sgd`` when their score
        no longer improves; the weights of the best score are returned.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : float, default=10
        Number of epochs without an improvement of ``tol`` that ``adam`` and ``sgd`` tolerate before
        they stop. ``inf`` never stops before ``max_iter``.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : bool, default=False
        Print the progress of the fit once per second.
    max_fun : int, default=15000
        Maximum number of iterations of ``lbfgs``, as ``max_iter``; the smaller of the two applies.

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
    loss_curve_ : ndarray of shape (n_iter_,)
        Loss of each epoch of ``adam`` or ``sgd``, each minibatch evaluated before its update.
    best_loss_ : float or None
        Smallest loss of an epoch; ``None`` with ``early_stopping``.
    validation_scores_ : ndarray of shape (n_iter_,)
        Score of the held-out rows after each epoch, with ``early_stopping``: accuracy or R².
    best_validation_score_ : float or None
        Largest score of the held-out rows, with ``early_stopping``.
    t_ : int
        Number of rows visited by ``adam`` or ``sgd``.
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
    >>> model = MLPClassifier(solver="lbfgs").fit(X, y)
    >>> print(*model.predict([[3, 0], [0, 3]]))
    a b
    """

    _id = "mlp"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "max_fun": Honored(),
    }
    _spellings: ClassVar = {
        "batch_size": {"auto": DEFAULT},
    }
    _translations = (
        sklearn_parameters.max_fun_limits_iterations,
        sklearn_parameters.infinite_no_change,
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
        solver="adam",
        alpha=0.0001,
        max_iter=200,
        tol=0.0001,
        random_state=0,
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
        warm_start=False,
        verbose=False,
        max_fun=15000,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
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
        self.warm_start = warm_start
        self.verbose = verbose
        self.max_fun = max_fun


class MLPRegressor(WarmStart, Regressor):
    """Multilayer perceptron regressor: a neural network with hidden layers, trained by L-BFGS, Adam
    or stochastic gradient descent.

    Formula::

        min (1/2n) Σᵢ ‖yᵢ − f(xᵢ)‖² + (α/2n) Σₗ ‖Wₗ‖²,  f the network

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        Loss: ``squared_error`` (half the squared error), or ``poisson`` (the deviance of counts,
        with the exponential of the network output as the mean).
    hidden_layer_sizes : int >= 1 or list of int, default=(100,)
        Sizes of the hidden layers: one number, or a list in order from input to output. An empty
        list gives ridge regression.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
        Activation function of the hidden layers: ``relu``, ``tanh``, ``logistic`` (the sigmoid) or
        ``identity``.
    solver : {"lbfgs", "adam", "sgd"}, default="adam"
        Optimization algorithm: ``lbfgs`` (limited-memory BFGS on the full training data), or
        ``adam`` and ``sgd`` (stochastic gradient methods on minibatches).
    alpha : float >= 0, default=0.0001
        L2 regularization strength, divided by the sum of the sample weights. Larger values give
        smaller weights.
    max_iter : int >= 1, default=200
        Maximum number of iterations of ``lbfgs``, or of epochs of ``adam`` and ``sgd``. The
        certificate reports if the fit stops here.
    tol : float >= 0, default=0.0001
        Stop when the largest component of the gradient of the penalized loss is at most ``tol``;
        ``adam`` and ``sgd`` stop when ``n_iter_no_change`` epochs improve the loss by less than
        ``tol``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
    batch_size : int or {"auto"}, default="auto"
        Rows of a minibatch of ``adam`` and ``sgd``. ``None`` is 200, or all rows if there are
        fewer. Larger values give less noisy and fewer updates per epoch. ``"auto"`` is the default
        of the core.
    shuffle : bool, default=True
        Shuffle the rows before each epoch of ``adam`` and ``sgd``.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Learning rate schedule of ``sgd``: ``constant`` (``learning_rate_init``), ``invscaling``
        (``learning_rate_init / t^power_t``) or ``adaptive`` (divided by five when the loss stops
        improving).
    learning_rate_init : float > 0, default=0.001
        Initial step size of ``adam`` and ``sgd``. Larger values take larger steps.
    power_t : float >= 0, default=0.5
        Exponent of ``invscaling``. Larger values decrease the learning rate faster.
    momentum : float in [0, 1], default=0.9
        Momentum of ``sgd``: the fraction of the previous update that is added to the next.
    nesterovs_momentum : bool, default=True
        Nesterov's momentum for ``sgd``: the step is taken from the point that the momentum leads
        to.
    beta_1 : float in [0, 0.999999999], default=0.9
        Decay of the mean of the gradients in ``adam``, below 1.
    beta_2 : float in [0, 0.999999999], default=0.999
        Decay of the mean of the squared gradients in ``adam``, below 1.
    epsilon : float > 0, default=1e-08
        Added to the root of the mean squared gradient in ``adam``, so that no step divides by zero.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows and stop ``adam`` and ``sgd`` when their score
        no longer improves; the weights of the best score are returned.
    validation_fraction : float in [0, 1], default=0.1
        Fraction of the rows held out for ``early_stopping``.
    n_iter_no_change : float, default=10
        Number of epochs without an improvement of ``tol`` that ``adam`` and ``sgd`` tolerate before
        they stop. ``inf`` never stops before ``max_iter``.
    warm_start : bool, default=False
        Start the fit from the model of the previous call to ``fit``, if there is one.
    verbose : bool, default=False
        Print the progress of the fit once per second.
    max_fun : int, default=15000
        Maximum number of iterations of ``lbfgs``, as ``max_iter``; the smaller of the two applies.

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
    loss_curve_ : ndarray of shape (n_iter_,)
        Loss of each epoch of ``adam`` or ``sgd``, each minibatch evaluated before its update.
    best_loss_ : float or None
        Smallest loss of an epoch; ``None`` with ``early_stopping``.
    validation_scores_ : ndarray of shape (n_iter_,)
        Score of the held-out rows after each epoch, with ``early_stopping``: accuracy or R².
    best_validation_score_ : float or None
        Largest score of the held-out rows, with ``early_stopping``.
    t_ : int
        Number of rows visited by ``adam`` or ``sgd``.
    n_outputs_ : int
        Number of targets.
    out_activation_ : str
        Activation function of the output layer: ``identity``, or ``exp`` for the Poisson loss.
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
    >>> model = MLPRegressor(solver="lbfgs").fit(X, y)
    >>> print(round(model.predict([[2.5]])[0]))
    35
    """

    _id = "mlp-regressor"
    _inputs = ("sparse", "multi-output")
    _extra_parameters: ClassVar = {
        "warm_start": Honored(),
        "verbose": Honored(),
        "max_fun": Honored(),
    }
    _spellings: ClassVar = {
        "batch_size": {"auto": DEFAULT},
    }
    _translations = (
        sklearn_parameters.max_fun_limits_iterations,
        sklearn_parameters.infinite_no_change,
    )
    _fitted_attributes: ClassVar = {
        "n_layers_": ("coefs", sklearn_attributes.layer_count),
        "n_outputs_": (None, sklearn_attributes.target_count),
        "out_activation_": ("output", None),
    }

    def __init__(
        self,
        loss="squared_error",
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="adam",
        alpha=0.0001,
        max_iter=200,
        tol=0.0001,
        random_state=0,
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
        warm_start=False,
        verbose=False,
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
        self.warm_start = warm_start
        self.verbose = verbose
        self.max_fun = max_fun


from .perceptrons import MLPClassifier, MLPRegressor  # noqa: E402, F811
