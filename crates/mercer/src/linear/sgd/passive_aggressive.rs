//! Passive-aggressive learning: the smallest step that puts a row right.
//!
//! `min ½‖w − wₜ‖²` such that the row costs nothing, with slack that costs `C ξ` (PA-I) or `C ξ²` (PA-II):
//! `w ← w + τ y x` with `τ = min(C, ℓ/‖x‖²)` or `τ = ℓ / (‖x‖² + 1/(2C))` (Crammer et al. 2006). A row that
//! costs nothing changes nothing. `SgdClassifier` takes the same steps with `learning_rate` `pa1` and `pa2`.

use super::learning_rate::{Average, LearningRate};
use super::linear_classifier::{Begin, LinearClassifier};
use super::linear_regressor::LinearRegressor;
use super::loss::Loss;
use super::out_of_core;
use super::rows::Asked;
use crate::data::ClassWeight;
use crate::linear::logistic::Penalty;
use crate::model::{BoxedParts, Shape};
use crate::prelude::*;

choice! {
    /// How slack costs a plane between two sides.
    pub enum PassiveAggressiveLoss {
        /// As it is (PA-I).
        Hinge = "hinge",
        /// Its square (PA-II).
        SquaredHinge = "squared_hinge",
    }
}

choice! {
    /// How slack costs a plane through numbers.
    pub enum PassiveAggressiveRegressionLoss {
        /// As it is (PA-I).
        EpsilonInsensitive = "epsilon_insensitive",
        /// Its square (PA-II).
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

params! {
    /// Passive-aggressive classification: the smallest step that puts a row right.
    pub struct PassiveAggressive {
        /// How large a step may be. Smaller values bear rows that are wrong.
        C: f64 = 1.0, Above(0.0);
        /// Whether there are constant terms.
        fit_intercept: bool = true, Any;
        /// Passes over the rows after which to stop in any case; the certificate then says so.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Passes that lower the mean loss by less than this gain nothing. Nothing makes all passes.
        tol: Option<f64> = Some(1e-3), AtLeast(0.0);
        /// Whether some rows are kept to judge the passes by, instead of the mean loss.
        early_stopping: bool = false, Any;
        /// The share of such rows.
        validation_fraction: f64 = 0.1, Between(0.0, 1.0);
        /// The fit ends after so many passes in a row that gain nothing.
        n_iter_no_change: usize = 5, AtLeast(1.0);
        /// Whether every pass takes the rows in another order.
        shuffle: bool = true, Any;
        /// Whether what a step leaves wrong costs as it is (`hinge`, PA-I) or its square (`squared_hinge`,
        /// PA-II).
        loss: PassiveAggressiveLoss = PassiveAggressiveLoss::Hinge, OneOf(PassiveAggressiveLoss::WORDS);
        /// What the order of rows is drawn by.
        random_state: usize = 0, Any;
        /// How much the rows of each class count: `balanced`, or a number for every class.
        class_weight: Option<ClassWeight> = None, AtLeast(0.0);
        /// Whether the planes that are kept are the means over all steps, or over those from this one on.
        average: Average = Average::Switch(false), AtLeast(1.0);
        /// How far the constant term moves beside the weights. Nothing is 1, and 0.01 for sparse rows.
        intercept_decay: Option<f64> = None, Above(0.0);
    }
}

params! {
    /// Passive-aggressive regression: the smallest step that brings a row near enough to its number.
    pub struct PassiveAggressiveRegressor {
        /// How large a step may be. Smaller values bear rows that are wrong.
        C: f64 = 1.0, Above(0.0);
        /// Whether there is a constant term.
        fit_intercept: bool = true, Any;
        /// Passes over the rows after which to stop in any case; the certificate then says so.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Passes that lower the mean loss by less than this gain nothing. Nothing makes all passes.
        tol: Option<f64> = Some(1e-3), AtLeast(0.0);
        /// Whether some rows are kept to judge the passes by, instead of the mean loss.
        early_stopping: bool = false, Any;
        /// The share of such rows.
        validation_fraction: f64 = 0.1, Between(0.0, 1.0);
        /// The fit ends after so many passes in a row that gain nothing.
        n_iter_no_change: usize = 5, AtLeast(1.0);
        /// Whether every pass takes the rows in another order.
        shuffle: bool = true, Any;
        /// Whether what a step leaves wrong costs as it is (`epsilon_insensitive`, PA-I) or its square
        /// (`squared_epsilon_insensitive`, PA-II).
        loss: PassiveAggressiveRegressionLoss = PassiveAggressiveRegressionLoss::EpsilonInsensitive, OneOf(PassiveAggressiveRegressionLoss::WORDS);
        /// How near is near enough.
        epsilon: f64 = 0.1, AtLeast(0.0);
        /// What the order of rows is drawn by.
        random_state: usize = 0, Any;
        /// Whether the plane that is kept is the mean over all steps, or over those from this one on.
        average: Average = Average::Switch(false), AtLeast(1.0);
        /// How far the constant term moves beside the weights. Nothing is 1, and 0.01 for sparse rows.
        intercept_decay: Option<f64> = None, Above(0.0);
    }
}

/// The estimator of [`PassiveAggressiveModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfPassiveAggressive;

/// The planes that passive-aggressive steps came to.
pub type PassiveAggressiveModel = LinearClassifier<OfPassiveAggressive>;

/// The estimator of [`PassiveAggressiveRegressorModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfPassiveAggressiveRegressor;

/// The plane that passive-aggressive steps came to.
pub type PassiveAggressiveRegressorModel = LinearRegressor<OfPassiveAggressiveRegressor>;

impl PassiveAggressive {
    fn asked(&self) -> Asked {
        Asked {
            loss: Loss::Hinge(1.0),
            penalty: Penalty::None,
            alpha: 1.0,
            l1_ratio: 0.0,
            rate: match self.loss {
                PassiveAggressiveLoss::Hinge => LearningRate::Pa1,
                PassiveAggressiveLoss::SquaredHinge => LearningRate::Pa2,
            },
            eta0: self.C,
            power_t: 0.5,
            fit_intercept: self.fit_intercept,
            intercept_decay: self.intercept_decay,
            average: self.average,
            max_iter: self.max_iter,
            tol: self.tol,
            n_iter_no_change: self.n_iter_no_change,
            shuffle: self.shuffle,
            random_state: self.random_state,
            validation: self.early_stopping.then_some(self.validation_fraction),
        }
    }

    fn learn(
        &self,
        from: Begin<'_, PassiveAggressiveModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<PassiveAggressiveModel>> {
        self.check()?;
        LinearClassifier::learn(&self.asked(), self.class_weight.as_ref(), from, data, monitor)
    }

    fn begin_parts(&self, shape: &Shape<'_>) -> Result<BoxedParts<PassiveAggressiveModel>> {
        self.check()?;
        out_of_core::of_classes(self.asked(), self.class_weight.as_ref(), shape)
    }
}

impl PassiveAggressiveRegressor {
    fn asked(&self) -> Asked {
        Asked {
            loss: Loss::Tube(self.epsilon),
            penalty: Penalty::None,
            alpha: 1.0,
            l1_ratio: 0.0,
            rate: match self.loss {
                PassiveAggressiveRegressionLoss::EpsilonInsensitive => LearningRate::Pa1,
                PassiveAggressiveRegressionLoss::SquaredEpsilonInsensitive => LearningRate::Pa2,
            },
            eta0: self.C,
            power_t: 0.5,
            fit_intercept: self.fit_intercept,
            intercept_decay: self.intercept_decay,
            average: self.average,
            max_iter: self.max_iter,
            tol: self.tol,
            n_iter_no_change: self.n_iter_no_change,
            shuffle: self.shuffle,
            random_state: self.random_state,
            validation: self.early_stopping.then_some(self.validation_fraction),
        }
    }

    fn learn(
        &self,
        from: Begin<'_, PassiveAggressiveRegressorModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<PassiveAggressiveRegressorModel>> {
        self.check()?;
        LinearRegressor::learn(&self.asked(), from, data, monitor)
    }

    fn begin_parts(
        &self,
        shape: &Shape<'_>,
    ) -> Result<BoxedParts<PassiveAggressiveRegressorModel>> {
        self.check()?;
        out_of_core::of_numbers(self.asked(), shape)
    }
}

by_rows!(PassiveAggressive => PassiveAggressiveModel);
by_rows!(PassiveAggressiveRegressor => PassiveAggressiveRegressorModel);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_step_is_as_long_as_the_row_needs() {
        // From zero the hinge is 1 and ‖x‖² is 5: τ = 1/5 puts the row at 1 without a constant term.
        let x = array![[1.0, 2.0], [1.0, 2.0]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[1, 1], &classes).unwrap();
        let params = PassiveAggressive::new().fit_intercept(false).shuffle(false);

        let free = params.learn_on(None, &data, &Monitor::quiet()).unwrap().model;
        let held = params.clone().C(0.01).learn_on(None, &data, &Monitor::quiet()).unwrap().model;
        let second = params.loss(PassiveAggressiveLoss::SquaredHinge).C(0.5);
        let second = second.learn_on(None, &data.slice(0..1), &Monitor::quiet()).unwrap().model;

        assert_eq!(free.coefficients, array![[0.2, 0.4]]);
        assert_eq!(held.coefficients, array![[0.02, 0.04]]);
        // τ = 1 / (5 + 1).
        assert!((second.coefficients[[0, 1]] - 2.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn numbers_near_enough_change_nothing() {
        let x = array![[2.0], [2.0]];
        let data = Dataset::numbers(&x, &[1.0, 1.05]).unwrap();
        let params = PassiveAggressiveRegressor::new().fit_intercept(false).shuffle(false);

        let model = params.learn_on(None, &data, &Monitor::quiet()).unwrap().model;

        // The first misses by 1, so that τ = 0.9 / 4; the second is then 0.15 off, 0.05 too far.
        assert!((model.coefficients[0] - (0.45 + 0.05 / 2.0)).abs() < 1e-15);
    }
}
