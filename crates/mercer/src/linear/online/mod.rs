//! Linear models that learn one row at a time: the perceptron, stochastic gradients, passive-aggressive
//! steps. They can go on at any time, and another order of the rows gives another model.

mod descent;
mod loss;
mod number_plane;
mod pace;
mod passive_aggressive;
mod perceptron;
mod proof;
mod rows;
mod sgd;
mod side_planes;
mod weights;

pub use loss::{NumberLoss, SideLoss};
pub use number_plane::NumberPlane;
pub use pace::{Average, LearningRate};
pub use passive_aggressive::{
    PassiveAggressive, PassiveAggressiveModel, PassiveAggressiveRegressor,
    PassiveAggressiveRegressorModel, PassiveLoss, PassiveTube,
};
pub use perceptron::{Perceptron, PerceptronModel};
pub use sgd::{SgdClassifier, SgdClassifierModel, SgdRegressor, SgdRegressorModel};
pub use side_planes::SidePlanes;
