//! Multilayer perceptrons: feedforward networks trained by backpropagation with L-BFGS, Adam or stochastic gradient
//! descent.
//!
//! The hidden layers learn a feature map in which a linear model is sufficient: [`MlpClassifier`] for classification,
//! [`MlpRegressor`] for regression. The loss is not convex, so the certificate reports a stationary point and claims no
//! global minimum.

mod activation;
mod architecture;
mod classifier;
mod integrated_gradients;
mod loss;
mod network;
mod params;
mod regressor;
mod stochastic;
mod training;

pub use activation::Activation;
pub use architecture::Sizes;
pub use classifier::{MlpClassifier, MlpClassifierModel};
pub use loss::MlpSolver;
pub use regressor::{MlpRegressionLoss, MlpRegressor, MlpRegressorModel, OutputActivation};
pub use stochastic::{MlpLearningRate, StochasticState};
