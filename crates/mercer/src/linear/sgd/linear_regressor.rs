//! A plane through numbers that was found by steps.

use super::descent::{Aims, Ended, Start, descend};
use super::duality_gap::certificate;
use super::linear_classifier::{Begin, at_zero};
use super::rows::Asked;
use super::weights::Plain;
use crate::explain::Terms;
use crate::linear::svc::check_rows;
use crate::linear::weighted_sums;
use crate::prelude::*;
use std::marker::PhantomData;
use std::time::Instant;

/// A plane of an estimator `K`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearRegressor<K> {
    /// The weights.
    pub coefficients: Vec<f64>,
    /// The constant term.
    pub intercepts: Vec<f64>,
    /// Where the columns stand on average.
    pub means: Vec<f64>,
    /// The weight of the rows those are averages of.
    pub weight: f64,
    /// Passes over the rows.
    pub n_iter: u64,
    /// Rows looked at, and one: the number of the next step.
    pub t: u64,
    /// Where the weights are means: the ones that step.
    pub last: Option<LastRegressor>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// A plane as the last step left it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastRegressor {
    /// The weights.
    pub last_coefficients: Vec<f64>,
    /// The constant term.
    pub last_intercepts: Vec<f64>,
}

impl<K> LinearRegressor<K> {
    /// Learns rows.
    ///
    /// # Errors
    /// If the rows cannot be learned from.
    pub(crate) fn learn(
        asked: &Asked,
        from: Begin<'_, Self>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self>> {
        let began = Instant::now();
        let y = data.number_target()?;
        check_rows(data)?;
        let width = data.n_columns();
        let (once, before) = match from {
            Begin::Start(_) => (false, None),
            Begin::On(model) => (true, model),
        };
        let start = match from {
            Begin::Start(model) => Start { mean: None, t: 1, ..at(model, width)? },
            Begin::On(model) => at(model, width)?,
        };
        let t = start.t;
        let plan = asked.plan(data.rows(), once)?;
        let ground = asked.ground(data, Aims::Numbers(y), 1, monitor)?;
        let ended = descend(&plan, &ground, start, monitor)?;
        let plane = ended.mean.as_ref().unwrap_or(&ended.now);
        let certificate = certificate(&plan, &ground, &ended, plane)
            .rows(data.n_rows() as u64)
            .iterations(ended.passes)
            .since(began);
        let weights: Vec<f64> = (0..data.n_rows()).map(|i| ground.weight(i)).collect();
        let mut sums = vec![0.0; ground.design.n_weights()];
        ground.design.back(&weights, 1, &mut sums);
        let mut weight: f64 = weights.iter().sum();
        if let Some(before) = before {
            let sums = sums.iter_mut().zip(&before.means);
            sums.for_each(|(sum, mean)| *sum += before.weight * mean);
            weight += before.weight;
        }
        sums.truncate(width);
        let t = t + ended.passes * data.n_rows() as u64;
        Ok(Fitted { model: LinearRegressor::of(ended, At { sums, weight, t }), certificate })
    }

    /// The plane that steps ended at.
    pub(crate) fn of(ended: Ended, at: At) -> Self {
        let plane = ended.mean.as_ref().unwrap_or(&ended.now);
        let last = ended.mean.is_some().then(|| LastRegressor {
            last_coefficients: ended.now.cells.clone(),
            last_intercepts: ended.now.constants.clone(),
        });
        LinearRegressor {
            coefficients: plane.cells.clone(),
            intercepts: plane.constants.clone(),
            means: at.sums.iter().map(|sum| sum / at.weight).collect(),
            weight: at.weight,
            n_iter: ended.passes,
            t: at.t,
            last,
            kind: PhantomData,
        }
    }
}

/// The rows that a plane was learned from.
pub(crate) struct At {
    /// The weighted sum of each column.
    pub sums: Vec<f64>,
    /// The weight of all rows.
    pub weight: f64,
    /// The number of the next step.
    pub t: u64,
}

/// Where a model stands.
fn at<K>(model: Option<&LinearRegressor<K>>, width: usize) -> Result<Start> {
    let Some(model) = model else { return Ok(at_zero(width, 1)) };
    if model.coefficients.len() != width {
        return Err(Error::Columns { found: width, expected: model.coefficients.len() });
    }
    let shown = Plain { cells: model.coefficients.clone(), constants: model.intercepts.clone() };
    Ok(match &model.last {
        Some(last) => {
            let cells = last.last_coefficients.clone();
            let now = Plain { cells, constants: last.last_intercepts.clone() };
            Start { now, mean: Some(shown), t: model.t }
        }
        None => Start { now: shown, mean: None, t: model.t },
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
        if fits { Ok(()) } else { Err(Error::File("a plane that no rows could give".into())) }
    }
}

impl<K: Send + Sync> Regressor for LinearRegressor<K> {
    fn n_columns(&self) -> usize {
        self.coefficients.len()
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        weighted_sums(x, &self.coefficients, self.intercepts[0])
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
