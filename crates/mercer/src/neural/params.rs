//! The parameters of the stochastic solvers, shared by the classifier and the regressor.

use super::stochastic::MlpLearningRate;
use crate::param_group;

param_group! {
    /// Minibatches, step sizes and stopping of `adam` and `sgd`.
    StochasticParams as StochasticOptions {
        /// Rows of a minibatch of `adam` and `sgd`. `None` is 200, or all rows if there are fewer. Larger values give
        /// less noisy and fewer updates per epoch.
        batch_size: Option<usize> = None, AtLeast(1.0);
        /// Shuffle the rows before each epoch of `adam` and `sgd`.
        shuffle: bool = true, Any;
        /// Learning rate schedule of `sgd`: `constant` (`learning_rate_init`), `invscaling`
        /// (`learning_rate_init / t^power_t`) or `adaptive` (divided by five when the loss stops improving).
        learning_rate: MlpLearningRate = MlpLearningRate::Constant, OneOf(MlpLearningRate::VALUES);
        /// Initial step size of `adam` and `sgd`. Larger values take larger steps.
        learning_rate_init: f64 = 0.001, Above(0.0);
        /// Exponent of `invscaling`. Larger values decrease the learning rate faster.
        power_t: f64 = 0.5, AtLeast(0.0);
        /// Momentum of `sgd`: the fraction of the previous update that is added to the next.
        momentum: f64 = 0.9, Between(0.0, 1.0);
        /// Nesterov's momentum for `sgd`: the step is taken from the point that the momentum leads to.
        nesterovs_momentum: bool = true, Any;
        /// Decay of the mean of the gradients in `adam`, below 1.
        beta_1: f64 = 0.9, Between(0.0, 0.999_999_999);
        /// Decay of the mean of the squared gradients in `adam`, below 1.
        beta_2: f64 = 0.999, Between(0.0, 0.999_999_999);
        /// Added to the root of the mean squared gradient in `adam`, so that no step divides by zero.
        epsilon: f64 = 1e-8, Above(0.0);
        /// Hold out `validation_fraction` of the rows and stop `adam` and `sgd` when their score no longer improves; the
        /// weights of the best score are returned.
        early_stopping: bool = false, Any;
        /// Fraction of the rows held out for `early_stopping`.
        validation_fraction: f64 = 0.1, Between(0.0, 1.0);
        /// Number of epochs without an improvement of `tol` that `adam` and `sgd` tolerate before they stop.
        n_iter_no_change: usize = 10, AtLeast(1.0);
    }
}
