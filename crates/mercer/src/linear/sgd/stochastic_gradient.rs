//! Linear classification and regression by stochastic gradient descent.
//!
//! The objective and the updates are at the head of `descent.rs`. The loss `hinge` gives a linear support vector
//! machine, `log_loss` logistic regression and `squared_error` ridge regression: the same optimum as the dedicated
//! solvers at lower accuracy, in time proportional to the number of nonzero cells.

use super::learning_rate::{Average, LearningRate};
use super::linear_classifier::{Initialization, LinearClassifier};
use super::linear_regressor::LinearRegressor;
use super::loss::{ClassificationLoss, SgdRegressionLoss};
use super::options::SgdSettings;
use super::params::{EpochParams, LearningRateParams, PenaltyParams};
use crate::data::ClassWeightParam;
use crate::linear::logistic::Penalty;
use crate::model::{BoxedOutOfCoreFit, Shape};
use crate::prelude::*;

params! {
    /// Linear classifier trained by stochastic gradient descent.
    pub struct SgdClassifier {
        /// Loss function: `hinge` (linear support vector machine), `log_loss` (logistic regression),
        /// `modified_huber`, `squared_hinge` or `perceptron`; or a regression loss on targets ±1:
        /// `squared_error`, `huber`, `epsilon_insensitive` or `squared_epsilon_insensitive`.
        loss: ClassificationLoss = ClassificationLoss::Hinge, OneOf(ClassificationLoss::VALUES);
        ..PenaltyParams(Penalty::L2);
        ..EpochParams;
        /// Residual beyond which `huber` is linear; residual up to which the losses with `epsilon` in their name are zero.
        epsilon: f64 = 0.1, AtLeast(0.0);
        ..LearningRateParams(LearningRate::Optimal, power_t = 0.5);
        ..ClassWeightParam(AtLeast(0.0));
    }
    formula = "min (1/n) Σᵢ ℓ(yᵢ, w·xᵢ + b) + α R(w),  R = ½‖w‖², ‖w‖₁ or a mixture";
    lecture = 14;
    attributes = [CLASS_COEF, CLASS_INTERCEPT, EPOCHS, UPDATES];
    sklearn {
        positional: &["loss"],
        extra: &[VERBOSE_LEVEL, N_JOBS],
        spellings: SGD,
    }
}

params! {
    /// Linear regressor trained by stochastic gradient descent.
    pub struct SgdRegressor {
        /// Loss function: `squared_error`, `huber` (linear for residuals beyond `epsilon`),
        /// `epsilon_insensitive` or `squared_epsilon_insensitive`.
        loss: SgdRegressionLoss = SgdRegressionLoss::SquaredError, OneOf(SgdRegressionLoss::VALUES);
        ..PenaltyParams(Penalty::L2);
        ..EpochParams;
        /// Residual beyond which `huber` is linear; residual up to which the losses with `epsilon` in their name are zero.
        epsilon: f64 = 0.1, AtLeast(0.0);
        ..LearningRateParams(LearningRate::InvScaling, power_t = 0.25);
    }
    formula = "min (1/n) Σᵢ ℓ(yᵢ, w·xᵢ + b) + α R(w),  R = ½‖w‖², ‖w‖₁ or a mixture";
    lecture = 14;
    attributes = [COEF, SGD_INTERCEPT, EPOCHS, UPDATES];
    sklearn {
        positional: &["loss"],
        extra: &[VERBOSE_LEVEL],
        spellings: SGD,
    }
}

/// The estimator of [`SgdClassifierModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfSgdClassifier;

/// A linear classifier trained by stochastic gradient descent.
pub type SgdClassifierModel = LinearClassifier<OfSgdClassifier>;

/// The estimator of [`SgdRegressorModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfSgdRegressor;

/// A linear regressor trained by stochastic gradient descent.
pub type SgdRegressorModel = LinearRegressor<OfSgdRegressor>;

impl SgdClassifier {
    fn sgd_settings(&self) -> SgdSettings {
        sgd_settings! { self;
            loss: self.loss.with(self.epsilon),
            penalty: self.penalty,
            alpha: self.alpha,
            l1_ratio: self.l1_ratio,
            rate: self.learning_rate,
            eta0: self.eta0,
            power_t: self.power_t,
            class_weight: self.class_weight.clone(),
        }
    }
}

impl SgdRegressor {
    fn sgd_settings(&self) -> SgdSettings {
        sgd_settings! { self;
            loss: self.loss.with(self.epsilon),
            penalty: self.penalty,
            alpha: self.alpha,
            l1_ratio: self.l1_ratio,
            rate: self.learning_rate,
            eta0: self.eta0,
            power_t: self.power_t,
            class_weight: None,
        }
    }
}

fit_by_sgd!(SgdClassifier => SgdClassifierModel);
fit_by_sgd!(SgdRegressor => SgdRegressorModel);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LogisticRegression, Ridge};
    use mercer_num::random::Random;

    fn rows(n: usize, seed: u64) -> (Matrix, Vec<u32>, Vec<f64>) {
        let mut random = Random::new(seed);
        let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let x = Matrix::from_shape_fn((n, 3), |(i, j)| {
            random.normal() + f64::from(codes[i]) * (j as f64 - 0.5)
        });
        let y = x.outer_iter().map(|row| row[0] - 2.0 * row[2] + 0.1 * random.normal()).collect();
        (x, codes, y)
    }

    #[test]
    fn duality_gap_contains_the_optimum_of_logistic_regression() {
        let (x, codes, _) = rows(400, 3);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let alpha = 0.01;
        // C Σ log-loss + ½‖w‖² is n C times the mean with alpha = 1 / (n C).
        let exact = LogisticRegression::new().C(1.0 / (alpha * 400.0)).tol(1e-10);
        let best = exact.fit(&data, &Monitor::quiet()).unwrap();
        let optimum = best.certificate.primal().unwrap() * alpha;

        let fitted = SgdClassifier::new()
            .loss(ClassificationLoss::Log)
            .alpha(alpha)
            .average(Average::Switch(true))
            .tol(None)
            .max_iter(300)
            .fit(&data, &Monitor::quiet())
            .unwrap();

        let certificate = &fitted.certificate;
        let (value, bound) = (certificate.primal().unwrap(), certificate.dual.unwrap());
        assert!(bound <= optimum + 1e-12 && optimum <= value + 1e-12, "{bound} {optimum} {value}");
        assert!(value - bound < 1e-3, "{bound} {optimum} {value}");
    }

    #[test]
    fn duality_gap_contains_the_optimum_of_ridge_regression() {
        let (x, _, y) = rows(300, 4);
        let data = Dataset::regression(&x, &y).unwrap();
        let alpha = 0.1;
        let ridge = Ridge::new().alpha(alpha * 300.0).fit(&data, &Monitor::quiet()).unwrap();
        let residuals = ridge.predict(&Rows::from(&x)).unwrap();
        let loss: f64 = residuals.iter().zip(&y).map(|(p, y)| 0.5 * (p - y).powi(2)).sum();
        let square: f64 = ridge.coefficients.iter().map(|w| w * w).sum();
        let optimum = loss / 300.0 + 0.5 * alpha * square;

        for penalty in [Penalty::L2, Penalty::ElasticNet, Penalty::L1] {
            let params = SgdRegressor::new().penalty(penalty).alpha(alpha).tol(None).max_iter(200);
            let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

            let certificate = &fitted.certificate;
            let (value, bound) = (certificate.primal().unwrap(), certificate.dual.unwrap());
            assert!(bound <= value && value - bound < 0.02 * value, "{penalty:?}: {bound} {value}");
            if penalty == Penalty::L2 {
                assert!(bound <= optimum + 1e-12 && optimum <= value + 1e-12);
            }
        }
    }

    #[test]
    fn l1_penalty_gives_sparse_weights() {
        let (x, codes, _) = rows(200, 5);
        let mut random = Random::new(1);
        let noisy =
            Matrix::from_shape_fn(
                (200, 8),
                |(i, j)| {
                    if j < 3 { x[[i, j]] } else { random.normal() }
                },
            );
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&noisy, &codes, &classes).unwrap();

        let params = SgdClassifier::new().penalty(Penalty::L1).alpha(0.05);
        let model = params.fit(&data, &Monitor::quiet()).unwrap().model;

        assert!(model.coefficients.iter().skip(3).filter(|w| **w == 0.0).count() >= 3);
        assert!(model.coefficients.iter().any(|w| *w != 0.0));
    }

    #[test]
    fn divergence_is_an_error() {
        let x = Matrix::from_elem((10, 2), 1e100);
        let y: Vec<f64> = (0..10).map(f64::from).collect();

        let refused =
            SgdRegressor::new().fit(&Dataset::regression(&x, &y).unwrap(), &Monitor::quiet());

        assert_eq!(refused.err(), Some(Error::Diverged { pass: 1 }));
    }

    #[test]
    fn early_stopping_ends_the_fit() {
        let (x, codes, y) = rows(200, 6);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let regression = Dataset::regression(&x, &y).unwrap();

        let classifier = SgdClassifier::new().early_stopping(true).fit(&data, &Monitor::quiet());
        let regressor =
            SgdRegressor::new().early_stopping(true).fit(&regression, &Monitor::quiet());
        let refused =
            SgdClassifier::new().early_stopping(true).partial_fit(None, &data, &Monitor::quiet());

        assert!(classifier.unwrap().n_iter < 1000 && regressor.unwrap().n_iter < 1000);
        assert!(matches!(refused, Err(Error::Parameter { name, .. }) if name == "early_stopping"));
    }
}
