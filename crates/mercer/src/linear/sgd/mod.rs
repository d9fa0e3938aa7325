//! Linear models trained by stochastic gradient descent (SGD): `SgdClassifier`, `SgdRegressor`, the perceptron and
//! passive-aggressive algorithms, and the linear one-class support vector machine.
//!
//! All of them run [`descent`] with their own loss and learning rate schedule. They support `partial_fit`, and the
//! fitted model depends on the order of the rows.

/// The [`SgdSettings`](options::SgdSettings) of an estimator: the listed fields, and those that all of them have.
macro_rules! sgd_settings {
    ($self:ident; $($field:ident: $value:expr),* $(,)?) => {
        SgdSettings {
            $($field: $value,)*
            fit_intercept: $self.fit_intercept,
            intercept_decay: $self.intercept_decay,
            average: $self.average,
            max_iter: $self.max_iter,
            tol: $self.tol,
            n_iter_no_change: $self.n_iter_no_change,
            shuffle: $self.shuffle,
            random_state: $self.random_state,
            validation: $self.early_stopping.then_some($self.validation_fraction),
        }
    };
}

/// Implements [`Fit`](crate::model::Fit) by stochastic gradient descent: a new fit, a warm start, `partial_fit` and an
/// out-of-core fit.
macro_rules! fit_by_sgd {
    ($Params:ty => $Model:ty) => {
        impl Fit for $Params {
            type Model = $Model;

            fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<$Model>> {
                self.check()?;
                <$Model>::fit_in_memory(
                    &self.sgd_settings(),
                    Initialization::Fresh(None),
                    data,
                    monitor,
                )
            }

            fn fit_from(
                &self,
                start: &$Model,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<$Model>> {
                self.check()?;
                let from = Initialization::Fresh(Some(start));
                <$Model>::fit_in_memory(&self.sgd_settings(), from, data, monitor)
            }

            fn partial_fit(
                &self,
                before: Option<&$Model>,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<$Model>> {
                self.check()?;
                let from = Initialization::Continue(before);
                <$Model>::fit_in_memory(&self.sgd_settings(), from, data, monitor)
            }

            fn out_of_core(&self, shape: &Shape<'_>) -> Result<BoxedOutOfCoreFit<$Model>> {
                self.check()?;
                <$Model>::fit_out_of_core(self.sgd_settings(), shape)
            }
        }
    };
}

mod descent;
mod duality_gap;
mod lazy_weights;
mod learning_rate;
mod linear_classifier;
mod linear_regressor;
mod loss;
mod one_class;
mod options;
mod out_of_core;
mod params;
mod passive_aggressive;
mod perceptron;
mod stochastic_gradient;

pub use learning_rate::{Average, LearningRate};
pub use linear_classifier::LinearClassifier;
pub use linear_regressor::LinearRegressor;
pub use loss::{ClassificationLoss, SgdRegressionLoss};
pub use one_class::{SgdOneClassSvm, SgdOneClassSvmModel};
pub use passive_aggressive::{
    PassiveAggressive, PassiveAggressiveLoss, PassiveAggressiveModel,
    PassiveAggressiveRegressionLoss, PassiveAggressiveRegressor, PassiveAggressiveRegressorModel,
};
pub use perceptron::{Perceptron, PerceptronModel};
pub use stochastic_gradient::{SgdClassifier, SgdClassifierModel, SgdRegressor, SgdRegressorModel};
