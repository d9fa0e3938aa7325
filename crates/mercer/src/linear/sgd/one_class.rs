//! Linear one-class support vector machine trained by stochastic gradient descent, for novelty detection.
//!
//! Minimize `½ ν ‖w‖² − ν ρ + 1/n Σᵢ sᵢ max(0, ρ − w·xᵢ)` (Schölkopf et al. 2001, divided by `n ν`); a row is an inlier if
//! `w·x ≥ ρ`. With `b = 1 − ρ` this is the hinge loss of rows that all have the target `+1`, the L2 penalty `ν` and the
//! linear term `ν b`, up to the constant `ν`, so that the updates are those of `descent.rs`.
//!
//! The dual point `αᵢ` with `0 ≤ αᵢ ≤ 1` and `1/n Σᵢ sᵢ αᵢ = ν` gives the lower bound `−‖1/n Σᵢ sᵢ αᵢ xᵢ‖² / 2ν`.

use super::descent::{SgdData, SgdOptions, SgdResult, SgdTargets, Start, minimize};
use super::lazy_weights::LinearWeights;
use super::learning_rate::{Average, LearningRate};
use super::linear_classifier::{Initialization, zero_start};
use super::loss::Loss;
use super::options::SgdSettings;
use super::params::LearningRateParams;
use crate::linear::linear_predictions;
use crate::linear::logistic::Penalty;
use crate::linear::svc::check_rows;
use crate::model::Certificate;
use crate::prelude::*;
use std::time::Instant;

params! {
    /// Linear one-class support vector machine for novelty detection, trained by stochastic gradient descent.
    pub struct SgdOneClassSvm {
        /// Upper bound on the fraction of training rows outside the region and lower bound on the
        /// fraction of support vectors. Larger values give a smaller region.
        nu: f64 = 0.5, Between(1e-9, 1.0);
        /// Fit the offset `ρ`. If `false`, it is zero.
        fit_intercept: bool = true, Any;
        /// Largest number of passes over the training rows (epochs). A fit that reaches it is marked in the
        /// certificate.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Stop when five epochs in a row improve the mean training objective by less than `tol`. `None` runs all
        /// `max_iter` epochs.
        tol: Option<f64> = Some(1e-3), AtLeast(0.0);
        /// Shuffle the rows before each epoch.
        shuffle: bool = true, Any;
        ..RandomState;
        ..LearningRateParams(LearningRate::Optimal, power_t = 0.5);
        /// Average the weights over all steps, or over the steps from this one on. Averaging reduces the
        /// variance of the solution.
        average: Average = Average::Switch(false), AtLeast(1.0);
        /// Learning rate of the offset relative to that of the weights. `None` is 1, and 0.01 for sparse
        /// rows.
        intercept_decay: Option<f64> = None, Above(0.0);
    }
    formula = "min ½ν‖w‖² − νρ + (1/n) Σᵢ max(0, ρ − w·xᵢ),  inlier if w·x ≥ ρ";
    lecture = 14;
    attributes = [
        COEF,
        field("offset_", "offset", "ndarray of shape (1,)", "Offset `ρ` of the decision function."),
        EPOCHS,
        UPDATES,
    ];
    sklearn {
        positional: &[
            "nu", "fit_intercept", "max_iter", "tol", "shuffle", "verbose", "random_state", "learning_rate", "eta0",
            "power_t", "warm_start", "average",
        ],
        extra: &[VERBOSE_LEVEL],
    }
}

/// A fitted linear one-class support vector machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SgdOneClassSvmModel {
    /// The weights.
    pub coefficients: Vec<f64>,
    /// The offset `ρ`, one element.
    pub offset: Vec<f64>,
    /// Epochs.
    pub n_iter: u64,
    /// The number of the next update, counted from one.
    pub t: u64,
    /// For averaged SGD: the weights of the last update, from which training continues.
    pub last: Option<LastOneClass>,
}

/// The weights after the last update, before averaging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastOneClass {
    /// The weights.
    pub last_coefficients: Vec<f64>,
    /// The offset, one element.
    pub last_offset: Vec<f64>,
}

impl Fit for SgdOneClassSvm {
    type Model = SgdOneClassSvmModel;

    /// Unsupervised: a target is ignored.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        self.train(Initialization::Fresh(None), data, monitor)
    }

    fn fit_from(
        &self,
        start: &SgdOneClassSvmModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.train(Initialization::Fresh(Some(start)), data, monitor)
    }

    fn partial_fit(
        &self,
        before: Option<&SgdOneClassSvmModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.train(Initialization::Continue(before), data, monitor)
    }
}

impl SgdOneClassSvm {
    fn sgd_settings(&self) -> SgdSettings {
        SgdSettings {
            class_weight: None,
            loss: Loss::Hinge(1.0),
            penalty: Penalty::L2,
            alpha: self.nu,
            l1_ratio: 0.0,
            rate: self.learning_rate,
            eta0: self.eta0,
            power_t: self.power_t,
            fit_intercept: self.fit_intercept,
            intercept_decay: self.intercept_decay,
            average: self.average,
            max_iter: self.max_iter,
            tol: self.tol,
            n_iter_no_change: 5,
            shuffle: self.shuffle,
            random_state: self.random_state,
            validation: None,
        }
    }

    fn train(
        &self,
        from: Initialization<'_, SgdOneClassSvmModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<SgdOneClassSvmModel>> {
        let began = Instant::now();
        self.check()?;
        check_rows(data)?;
        let width = data.n_columns();
        let single_epoch = matches!(from, Initialization::Continue(_));
        let start = match from {
            Initialization::Fresh(model) => {
                Start { average: None, t: 1, ..start_from(model, width)? }
            }
            Initialization::Continue(model) => start_from(model, width)?,
        };
        let t = start.t;
        let settings = self.sgd_settings();
        let options = settings.options(data.rows(), single_epoch)?;
        let options = SgdOptions { intercept_gradient: self.nu, ..options };
        let training = settings.training_data(data, SgdTargets::Positive, 1, monitor)?;
        let result = minimize(&options, &training, start, monitor)?;
        let certificate = self
            .certificate(&options, &training, &result)
            .rows(data.n_rows() as u64)
            .iterations(result.epochs)
            .since(began);
        let t = t + result.epochs * data.n_rows() as u64;
        Ok(Fitted { model: SgdOneClassSvmModel::from_result(&result, t), certificate })
    }

    /// The objective and the bound of a dual point that is made feasible from the subgradients of the loss.
    fn certificate(
        &self,
        options: &SgdOptions,
        data: &SgdData<'_>,
        result: &SgdResult,
    ) -> Certificate {
        let weights = result.fitted();
        let n = data.design.n_rows();
        let mut cells = weights.coefficients.clone();
        if data.design.intercept {
            cells.extend(&weights.intercepts);
        }
        let mut scores = vec![0.0; n];
        data.design.scores(&cells, 1, &mut scores);
        if !data.design.intercept {
            scores.iter_mut().for_each(|score| *score += weights.intercepts[0]);
        }
        let row_weight = |i: usize| data.sample_weight(i) / n as f64;
        let losses = scores.iter().enumerate().map(|(i, p)| row_weight(i) * (1.0 - p).max(0.0));
        let squares: f64 = weights.coefficients.iter().map(|w| w * w).sum();
        let offset = 1.0 - weights.intercepts[0];
        let value = losses.sum::<f64>() + self.nu * (0.5 * squares - offset);
        let certificate = Certificate::stochastic(result.met_rule(options), result.stopped)
            .objective("penalized mean loss", value)
            .note(format!("{} updates", result.updates.iter().sum::<u64>()));
        if !self.fit_intercept {
            return certificate;
        }
        let outside: f64 = (0..n).filter(|i| scores[*i] < 1.0).map(row_weight).sum();
        let total: f64 = (0..n).map(row_weight).sum();
        if total < self.nu {
            // No dual point exists: the objective decreases without bound as the offset grows.
            return certificate;
        }
        // Rows outside have the dual variable one, the others zero; both move until the sum is `ν`.
        let (of_outside, of_inside) = match outside >= self.nu {
            true => (self.nu / outside, 0.0),
            false => (1.0, (self.nu - outside) / (total - outside)),
        };
        let dual = |i: usize| if scores[i] < 1.0 { of_outside } else { of_inside };
        let multipliers: Vec<f64> = (0..n).map(|i| row_weight(i) * dual(i)).collect();
        let mut sums = vec![0.0; data.design.n_weights()];
        data.design.transpose_product(&multipliers, 1, &mut sums);
        let squares: f64 = sums[..data.design.width()].iter().map(|s| s * s).sum();
        certificate.dual(-0.5 * squares / self.nu)
    }
}

impl SgdOneClassSvmModel {
    fn from_result(result: &SgdResult, t: u64) -> SgdOneClassSvmModel {
        let offset = |weights: &LinearWeights| vec![1.0 - weights.intercepts[0]];
        let fitted = result.fitted();
        let last = result.average.is_some().then(|| LastOneClass {
            last_coefficients: result.weights.coefficients.clone(),
            last_offset: offset(&result.weights),
        });
        SgdOneClassSvmModel {
            coefficients: fitted.coefficients.clone(),
            offset: offset(fitted),
            n_iter: result.epochs,
            t,
            last,
        }
    }
}

/// The state of a model; without one, zero weights and the offset zero.
fn start_from(model: Option<&SgdOneClassSvmModel>, width: usize) -> Result<Start> {
    let Some(model) = model else {
        let mut start = zero_start(width, 1);
        start.weights.intercepts[0] = 1.0;
        return Ok(start);
    };
    if model.coefficients.len() != width {
        return Err(Error::Columns { found: width, expected: model.coefficients.len() });
    }
    let weights = |coefficients: &[f64], offset: &[f64]| LinearWeights {
        coefficients: coefficients.to_vec(),
        intercepts: vec![1.0 - offset[0]],
    };
    let reported = weights(&model.coefficients, &model.offset);
    Ok(match &model.last {
        Some(last) => {
            let weights = weights(&last.last_coefficients, &last.last_offset);
            Start { weights, average: Some(reported), t: model.t }
        }
        None => Start { weights: reported, average: None, t: model.t },
    })
}

impl OutlierDetector for SgdOneClassSvmModel {
    fn n_columns(&self) -> usize {
        self.coefficients.len()
    }

    fn inlier_scores(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        linear_predictions(x, &self.coefficients, -self.offset[0])
    }
}

impl DecisionFunction for SgdOneClassSvmModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        let scores = self.inlier_scores(x)?;
        Ok(Matrix::from_shape_fn((scores.len(), 1), |(i, _)| scores[i]))
    }
}

impl Check for SgdOneClassSvmModel {
    fn check(&self) -> Result<()> {
        let width = self.coefficients.len();
        let fits = |coefficients: &[f64], offset: &[f64]| {
            coefficients.len() == width
                && offset.len() == 1
                && coefficients.iter().chain(offset).all(|w| w.is_finite())
        };
        let last = |last: &LastOneClass| fits(&last.last_coefficients, &last.last_offset);
        let fits = width >= 1
            && self.t >= 1
            && fits(&self.coefficients, &self.offset)
            && self.last.as_ref().is_none_or(last);
        if fits {
            Ok(())
        } else {
            Err(Error::File(
                "one-class model with inconsistent shapes or non-finite weights".into(),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    fn cloud(n: usize) -> Matrix {
        let mut random = Random::new(11);
        Matrix::from_shape_fn((n, 2), |_| 3.0 + random.normal())
    }

    #[test]
    fn a_larger_nu_leaves_more_rows_outside() {
        let x = cloud(400);
        let fractions = [0.1, 0.5].map(|nu| {
            let params = SgdOneClassSvm::new().nu(nu).tol(None).max_iter(300).random_state(1);
            let params = params.average(Average::Switch(true));

            let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

            let scores = fitted.inlier_scores(&Rows::from(&x)).unwrap();
            let outside = scores.iter().filter(|z| **z < 0.0).count() as f64 / 400.0;
            let (value, bound) =
                (fitted.certificate.primal().unwrap(), fitted.certificate.dual.unwrap());
            assert!(bound <= value, "{bound} {value}");
            outside
        });

        assert!(0.0 < fractions[0] && fractions[0] < fractions[1], "{fractions:?}");
    }

    #[test]
    fn one_update_follows_the_formula() {
        // Zero weights and ρ = 0, so that p = b = 1: the row is on the hinge, whose derivative there is −1.
        let x = ndarray::array![[2.0, -1.0]];
        let params = SgdOneClassSvm::new().nu(0.5).learning_rate(LearningRate::Constant).eta0(0.1);

        let fitted = params.partial_fit(None, &Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        // w = 0.1 (2, −1); b = 1 + 0.1 (1 − 0.5).
        assert!((fitted.coefficients[0] - 0.2).abs() < 1e-15);
        assert!((fitted.coefficients[1] + 0.1).abs() < 1e-15);
        assert!((fitted.offset[0] + 0.05).abs() < 1e-15);
    }

    #[test]
    fn batches_continue_the_fit() {
        let x = cloud(60);
        let params = SgdOneClassSvm::new().shuffle(false).tol(None).max_iter(2);
        let data = Dataset::unlabeled(&x);

        let whole = params.fit(&data, &Monitor::quiet()).unwrap();
        let once = params.partial_fit(None, &data, &Monitor::quiet()).unwrap();
        let twice = params.partial_fit(Some(&once.model), &data, &Monitor::quiet()).unwrap();

        assert_eq!(whole.coefficients, twice.coefficients);
        assert_eq!((whole.offset.clone(), whole.t), (twice.offset.clone(), twice.t));
    }
}
