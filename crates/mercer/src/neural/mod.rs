//! Layers of weighted sums, each bent before the next: columns that are learned instead of drawn.
//!
//! A kernel map writes down columns in which a plane is enough. A network looks for such columns itself, by the
//! loss of the plane that stands behind them: [`MlpClassifier`] for classes, [`MlpRegressor`] for numbers.
//! What it finds is a point where the loss is flat; the loss has many, and its certificate says no more.

mod activation;
mod architecture;
mod classifier;
mod loss;
mod network;
mod regressor;

pub use activation::Activation;
pub use architecture::Sizes;
pub use classifier::{MlpClassifier, MlpClassifierModel};
pub use loss::MlpSolver;
pub use regressor::{MlpRegressor, MlpRegressorModel};
