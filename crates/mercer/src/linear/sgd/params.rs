//! The parameters of stochastic gradient descent, shared by its estimators.

use crate::param_group;

/// The regularization term. `..PenaltyParams(Penalty::L2);` names the default.
macro_rules! PenaltyParams {
    ($state:tt $penalty:expr) => {
        $crate::params! { @group $state {
            /// Regularization term: `l2` (half the squared norm of the weights), `l1` (the sum of their
            /// absolute values, which gives sparse weights), `elasticnet` (a mixture of both) or `none`.
            penalty: Penalty = $penalty, OneOf(Penalty::VALUES);
            /// Regularization strength. Larger values give smaller weights. The learning rate `optimal` depends
            /// on it.
            alpha: f64 = 0.0001, AtLeast(0.0);
            /// Fraction of the L1 penalty in `elasticnet`: 0 is `l2`, 1 is `l1`.
            l1_ratio: f64 = 0.15, Between(0.0, 1.0);
        } }
    };
}
pub(crate) use PenaltyParams;

/// The step size. `..LearningRateParams(LearningRate::Optimal, power_t = 0.5);` names the defaults.
macro_rules! LearningRateParams {
    ($state:tt $rate:expr, power_t = $power_t:expr) => {
        $crate::params! { @group $state {
            /// Learning rate schedule: `constant` (`eta0`), `optimal` (`1 / (alpha t)`), `invscaling`
            /// (`eta0 / t^power_t`), `adaptive` (`eta0`, decreased when the objective stops improving), or the
            /// passive-aggressive steps `pa1` and `pa2`.
            learning_rate: LearningRate = $rate, OneOf(LearningRate::VALUES);
            /// Initial learning rate; for `pa1` the largest step, for `pa2` the aggressiveness. Larger values take
            /// larger steps. `optimal` ignores it.
            eta0: f64 = 0.01, Above(0.0);
            /// Exponent of `invscaling`. Larger values decrease the learning rate faster.
            power_t: f64 = $power_t, AtLeast(0.0);
        } }
    };
}
pub(crate) use LearningRateParams;

param_group! {
    /// Epochs, stopping and averaging.
    EpochParams {
        /// Fit an intercept, which is not penalized. If `false`, the hyperplane passes through the origin.
        fit_intercept: bool = true, Any;
        /// Largest number of passes over the training rows (epochs). A fit that reaches it is marked in the
        /// certificate.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Stop when `n_iter_no_change` epochs in a row improve the mean training objective by less than
        /// `tol`. `None` runs all `max_iter` epochs.
        tol: Option<f64> = Some(1e-3), AtLeast(0.0);
        /// Shuffle the rows before each epoch.
        shuffle: bool = true, Any;
        /// Seed of the random number generator. The same seed gives the same model, on any number of
        /// threads.
        random_state: usize = 0, Any;
        /// Stop by the score on held-out rows instead of by the training objective.
        early_stopping: bool = false, Any;
        /// Fraction of the rows held out for `early_stopping`.
        validation_fraction: f64 = 0.1, Between(0.0, 1.0);
        /// Number of epochs without improvement after which the fit stops, or after which the learning rate
        /// `adaptive` decreases.
        n_iter_no_change: usize = 5, AtLeast(1.0);
        /// Average the weights over all steps, or over the steps from this one on. Averaging reduces the
        /// variance of the solution.
        average: Average = Average::Switch(false), AtLeast(1.0);
        /// Learning rate of the intercept relative to that of the weights. `None` is 1, and 0.01 for sparse
        /// rows.
        intercept_decay: Option<f64> = None, Above(0.0);
    }
}
