//! Passive-aggressive algorithms (Crammer et al. 2006).
//!
//! Each update solves `min ½‖w − wₜ‖² + penalty(ξ)` subject to the loss of the row being at most the slack `ξ`, with
//! penalty `C ξ` (PA-I) or `C ξ²` (PA-II). The solution is `w ← w + τ y x` with `τ = min(C, ℓ/‖x‖²)` or
//! `τ = ℓ / (‖x‖² + 1/(2C))`; a row with zero loss changes nothing. `SgdClassifier` makes the same updates with
//! `learning_rate` `pa1` and `pa2`.

use super::learning_rate::{Average, LearningRate};
use super::linear_classifier::{Initialization, LinearClassifier};
use super::linear_regressor::LinearRegressor;
use super::loss::Loss;
use super::options::SgdSettings;
use super::params::EpochParams;
use crate::data::ClassWeightParam;
use crate::linear::logistic::Penalty;
use crate::model::{BoxedOutOfCoreFit, Shape};
use crate::prelude::*;

choice! {
    /// The slack penalty of passive-aggressive classification.
    pub enum PassiveAggressiveLoss {
        /// Linear slack penalty (PA-I).
        Hinge = "hinge",
        /// Quadratic slack penalty (PA-II).
        SquaredHinge = "squared_hinge",
    }
}

choice! {
    /// The slack penalty of passive-aggressive regression.
    pub enum PassiveAggressiveRegressionLoss {
        /// Linear slack penalty (PA-I).
        EpsilonInsensitive = "epsilon_insensitive",
        /// Quadratic slack penalty (PA-II).
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

params! {
    /// Passive-aggressive classifier: each misclassified row makes the smallest update that corrects it.
    pub struct PassiveAggressive {
        /// Upper limit of the step size. Smaller values make smaller updates and tolerate label noise.
        C: f64 = 1.0, Above(0.0);
        ..EpochParams;
        /// Slack penalty: `hinge` for linear slack (PA-I) or `squared_hinge` for quadratic slack (PA-II).
        loss: PassiveAggressiveLoss = PassiveAggressiveLoss::Hinge, OneOf(PassiveAggressiveLoss::VALUES);
        ..ClassWeightParam(AtLeast(0.0));
    }
    formula = "min_w ½‖w − wₜ‖² + Cξ  subject to  yᵢ(w·xᵢ + b) ≥ 1 − ξ, ξ ≥ 0  (PA-I; PA-II: Cξ²)";
    lecture = 14;
    attributes = [CLASS_COEF, CLASS_INTERCEPT, EPOCHS, UPDATES];
    sklearn {
        extra: &[VERBOSE_LEVEL, N_JOBS],
    }
}

params! {
    /// Passive-aggressive regressor: each row makes the smallest update that brings its residual within `epsilon`.
    pub struct PassiveAggressiveRegressor {
        /// Upper limit of the step size. Smaller values make smaller updates and tolerate label noise.
        C: f64 = 1.0, Above(0.0);
        ..EpochParams;
        /// Slack penalty: `epsilon_insensitive` for linear slack (PA-I) or `squared_epsilon_insensitive` for
        /// quadratic slack (PA-II).
        loss: PassiveAggressiveRegressionLoss = PassiveAggressiveRegressionLoss::EpsilonInsensitive, OneOf(PassiveAggressiveRegressionLoss::VALUES);
        /// Residuals up to this size have no loss and make no update.
        epsilon: f64 = 0.1, AtLeast(0.0);
    }
    formula = "min_w ½‖w − wₜ‖² + Cξ  subject to  |yᵢ − w·xᵢ − b| ≤ ε + ξ, ξ ≥ 0  (PA-I; PA-II: Cξ²)";
    lecture = 14;
    attributes = [COEF, SGD_INTERCEPT, EPOCHS, UPDATES];
    sklearn {
        extra: &[VERBOSE_LEVEL],
    }
}

/// The estimator of [`PassiveAggressiveModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfPassiveAggressive;

/// A fitted passive-aggressive classifier.
pub type PassiveAggressiveModel = LinearClassifier<OfPassiveAggressive>;

/// The estimator of [`PassiveAggressiveRegressorModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfPassiveAggressiveRegressor;

/// A fitted passive-aggressive regressor.
pub type PassiveAggressiveRegressorModel = LinearRegressor<OfPassiveAggressiveRegressor>;

impl PassiveAggressive {
    fn sgd_settings(&self) -> SgdSettings {
        sgd_settings! { self;
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
            class_weight: self.class_weight.clone(),
        }
    }
}

impl PassiveAggressiveRegressor {
    fn sgd_settings(&self) -> SgdSettings {
        sgd_settings! { self;
            loss: Loss::EpsilonInsensitive(self.epsilon),
            penalty: Penalty::None,
            alpha: 1.0,
            l1_ratio: 0.0,
            rate: match self.loss {
                PassiveAggressiveRegressionLoss::EpsilonInsensitive => LearningRate::Pa1,
                PassiveAggressiveRegressionLoss::SquaredEpsilonInsensitive => LearningRate::Pa2,
            },
            eta0: self.C,
            power_t: 0.5,
            class_weight: None,
        }
    }
}

fit_by_sgd!(PassiveAggressive => PassiveAggressiveModel);
fit_by_sgd!(PassiveAggressiveRegressor => PassiveAggressiveRegressorModel);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn updates_match_a_hand_calculation() {
        // From zero weights the hinge loss is 1 and ‖x‖² is 5: τ = 1/5 gives the row margin 1, without an intercept.
        let x = array![[1.0, 2.0], [1.0, 2.0]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[1, 1], &classes).unwrap();
        let params = PassiveAggressive::new().fit_intercept(false).shuffle(false);

        let unlimited = params.partial_fit(None, &data, &Monitor::quiet()).unwrap().model;
        let limited =
            params.clone().C(0.01).partial_fit(None, &data, &Monitor::quiet()).unwrap().model;
        let second = params.loss(PassiveAggressiveLoss::SquaredHinge).C(0.5);
        let second = second.partial_fit(None, &data.slice(0..1), &Monitor::quiet()).unwrap().model;

        assert_eq!(unlimited.coefficients, array![[0.2, 0.4]]);
        assert_eq!(limited.coefficients, array![[0.02, 0.04]]);
        // τ = 1 / (5 + 1).
        assert!((second.coefficients[[0, 1]] - 2.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn residuals_within_epsilon_make_no_update() {
        let x = array![[2.0], [2.0]];
        let data = Dataset::regression(&x, &[1.0, 1.05]).unwrap();
        let params = PassiveAggressiveRegressor::new().fit_intercept(false).shuffle(false);

        let model = params.partial_fit(None, &data, &Monitor::quiet()).unwrap().model;

        // The first residual is 1, so τ = 0.9 / 4; the second is then 0.15, which is 0.05 beyond epsilon.
        assert!((model.coefficients[0] - (0.45 + 0.05 / 2.0)).abs() < 1e-15);
    }
}
