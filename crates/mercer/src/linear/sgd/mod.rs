//! Linear models that learn one row at a time: the perceptron, stochastic gradients, passive-aggressive
//! steps. They can go on at any time, and another order of the rows gives another model.

/// The ways to learn of an estimator by rows: afresh, from another model's weights, on, and in parts.
macro_rules! by_rows {
    ($Params:ty => $Model:ty) => {
        impl Fit for $Params {
            type Model = $Model;

            fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<$Model>> {
                self.learn(Begin::Start(None), data, monitor)
            }

            fn fit_from(
                &self,
                start: &$Model,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<$Model>> {
                self.learn(Begin::Start(Some(start)), data, monitor)
            }

            fn learn_on(
                &self,
                before: Option<&$Model>,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<$Model>> {
                self.learn(Begin::On(before), data, monitor)
            }

            fn in_parts(&self, shape: &Shape<'_>) -> Result<BoxedParts<$Model>> {
                self.begin_parts(shape)
            }
        }
    };
}

mod descent;
mod duality_gap;
mod learning_rate;
mod linear_classifier;
mod linear_regressor;
mod loss;
mod out_of_core;
mod passive_aggressive;
mod perceptron;
mod rows;
mod sgd;
mod weights;

pub use learning_rate::{Average, LearningRate};
pub use linear_classifier::LinearClassifier;
pub use linear_regressor::LinearRegressor;
pub use loss::{ClassificationLoss, SgdRegressionLoss};
pub use passive_aggressive::{
    PassiveAggressive, PassiveAggressiveLoss, PassiveAggressiveModel,
    PassiveAggressiveRegressionLoss, PassiveAggressiveRegressor, PassiveAggressiveRegressorModel,
};
pub use perceptron::{Perceptron, PerceptronModel};
pub use sgd::{SgdClassifier, SgdClassifierModel, SgdRegressor, SgdRegressorModel};
