//! Linear regressor trained by stochastic gradient descent.

use super::descent::{SgdResult, SgdTargets, Start, minimize};
use super::duality_gap::certificate;
use super::lazy_weights::LinearWeights;
use super::linear_classifier::{Initialization, zero_start};
use super::options::SgdSettings;
use crate::explain::Terms;
use crate::linear::linear_predictions;
use crate::linear::svc::check_rows;
use crate::prelude::*;
use std::marker::PhantomData;
use std::time::Instant;

/// A linear regressor of estimator `K`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearRegressor<K> {
    /// The weights.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercepts: Vec<f64>,
    /// The weighted column means of the training data.
    pub means: Vec<f64>,
    /// The total sample weight of the training data.
    pub weight: f64,
    /// Epochs.
    pub n_iter: u64,
    /// The number of the next update, counted from one.
    pub t: u64,
    /// For averaged SGD: the weights of the last update, from which training continues.
    pub last: Option<LastRegressor>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// The weights after the last update, before averaging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastRegressor {
    /// The weights.
    pub last_coefficients: Vec<f64>,
    /// The intercept.
    pub last_intercepts: Vec<f64>,
}

impl<K> LinearRegressor<K> {
    /// Fits the rows in memory.
    ///
    /// # Errors
    /// If the data or parameters are invalid, or the weights diverge.
    pub(crate) fn fit_in_memory(
        params: &SgdSettings,
        from: Initialization<'_, Self>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self>> {
        let began = Instant::now();
        let y = data.regression_target()?;
        check_rows(data)?;
        let width = data.n_columns();
        let (single_epoch, before) = match from {
            Initialization::Fresh(_) => (false, None),
            Initialization::Continue(model) => (true, model),
        };
        let start = match from {
            Initialization::Fresh(model) => {
                Start { average: None, t: 1, ..start_from(model, width)? }
            }
            Initialization::Continue(model) => start_from(model, width)?,
        };
        let t = start.t;
        let options = params.options(data.rows(), single_epoch)?;
        let training = params.training_data(data, SgdTargets::Regression(y), 1, monitor)?;
        let result = minimize(&options, &training, start, monitor)?;
        let certificate = certificate(&options, &training, &result, monitor)
            .rows(data.n_rows() as u64)
            .iterations(result.epochs)
            .since(began);
        let weights: Vec<f64> = (0..data.n_rows()).map(|i| training.sample_weight(i)).collect();
        let mut sums = vec![0.0; training.design.n_weights()];
        training.design.transpose_product(&weights, 1, &mut sums);
        let mut weight: f64 = weights.iter().sum();
        if let Some(before) = before {
            let sums = sums.iter_mut().zip(&before.means);
            sums.for_each(|(sum, mean)| *sum += before.weight * mean);
            weight += before.weight;
        }
        sums.truncate(width);
        let t = t + result.epochs * data.n_rows() as u64;
        Ok(Fitted {
            model: LinearRegressor::from_result(
                result,
                TrainingTotals { column_sums: sums, weight, t },
            ),
            certificate,
        })
    }

    /// The model of a finished descent.
    pub(crate) fn from_result(result: SgdResult, totals: TrainingTotals) -> Self {
        let fitted = result.fitted();
        let last = result.average.is_some().then(|| LastRegressor {
            last_coefficients: result.weights.coefficients.clone(),
            last_intercepts: result.weights.intercepts.clone(),
        });
        LinearRegressor {
            coefficients: fitted.coefficients.clone(),
            intercepts: fitted.intercepts.clone(),
            means: totals.column_sums.iter().map(|sum| sum / totals.weight).collect(),
            weight: totals.weight,
            n_iter: result.epochs,
            t: totals.t,
            last,
            kind: PhantomData,
        }
    }
}

/// Totals of the training data.
pub(crate) struct TrainingTotals {
    /// The weighted sum of each column.
    pub column_sums: Vec<f64>,
    /// The sum of the sample weights.
    pub weight: f64,
    /// The number of the next update.
    pub t: u64,
}

/// The state of a model.
fn start_from<K>(model: Option<&LinearRegressor<K>>, width: usize) -> Result<Start> {
    let Some(model) = model else { return Ok(zero_start(width, 1)) };
    if model.coefficients.len() != width {
        return Err(Error::Columns { found: width, expected: model.coefficients.len() });
    }
    let reported = LinearWeights {
        coefficients: model.coefficients.clone(),
        intercepts: model.intercepts.clone(),
    };
    Ok(match &model.last {
        Some(last) => {
            let coefficients = last.last_coefficients.clone();
            let weights = LinearWeights { coefficients, intercepts: last.last_intercepts.clone() };
            Start { weights, average: Some(reported), t: model.t }
        }
        None => Start { weights: reported, average: None, t: model.t },
    })
}

impl<K> Check for LinearRegressor<K> {
    fn check(&self) -> Result<()> {
        let width = self.coefficients.len();
        let fits = |coefficients: &[f64], intercepts: &[f64]| {
            coefficients.len() == width
                && intercepts.len() == 1
                && coefficients.iter().chain(intercepts).all(|w| w.is_finite())
        };
        let last = |last: &LastRegressor| fits(&last.last_coefficients, &last.last_intercepts);
        let fits = width >= 1
            && self.t >= 1
            && self.weight > 0.0
            && fits(&self.coefficients, &self.intercepts)
            && self.means.len() == width
            && self.means.iter().chain([&self.weight]).all(|x| x.is_finite())
            && self.last.as_ref().is_none_or(last);
        if fits {
            Ok(())
        } else {
            Err(Error::File(
                "linear regressor with inconsistent shapes or non-finite weights".into(),
            ))
        }
    }
}

impl<K: Send + Sync> Regressor for LinearRegressor<K> {
    fn n_columns(&self) -> usize {
        self.coefficients.len()
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        linear_predictions(x, &self.coefficients, self.intercepts[0])
    }
}

impl<K: Send + Sync> LinearModel for LinearRegressor<K> {
    fn terms(&self) -> Terms<'_> {
        Terms {
            intercept: self.intercepts[0],
            coefficients: &self.coefficients,
            means: &self.means,
        }
    }
}
