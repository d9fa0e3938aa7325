//! Posteriors of a parameter under conjugate priors: prior and posterior are of the same family.
//!
//! | data | prior and posterior | type |
//! |---|---|---|
//! | successes and failures | beta | [`Beta`] |
//! | counts of several outcomes | Dirichlet | [`Dirichlet`] |
//! | numbers of known variance | normal | [`NormalMean`] |
//! | numbers | normal and inverse gamma | [`NormalInverseGamma`] |
//! | counts of events | gamma | [`Gamma`] |
//!
//! Each type is a distribution over the parameter; `updated` gives the one after the data. Formulas as in
//! Gelman and others, Bayesian Data Analysis, 3rd edition, chapters 2 and 3.

mod beta;
mod dirichlet;
mod gamma;
mod normal;
mod normal_inverse_gamma;

pub use beta::Beta;
pub use dirichlet::Dirichlet;
pub use gamma::Gamma;
pub use normal::NormalMean;
pub use normal_inverse_gamma::NormalInverseGamma;

use crate::error::{Error, Result};
use mercer_num::special::Tails;
use serde::Serialize;

/// Point estimates of a parameter: maximum likelihood, maximum a posteriori, posterior mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Which parameter.
    pub parameter: String,
    /// What makes the data most probable; `None` where the data leave it open.
    pub maximum_likelihood: Option<f64>,
    /// What is itself most probable after the data: the posterior's mode, where it has one.
    pub map: Option<f64>,
    /// The posterior's mean, where it has one.
    pub mean: Option<f64>,
    /// Equal-tailed: as much posterior lies below the interval as above it.
    pub interval: Interval,
}

/// A credible interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The posterior probability of the interval.
    pub level: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval that leaves equal tails, by a quantile function.
    fn equal_tailed(level: f64, quantile: impl Fn(Tails) -> f64) -> Result<Interval> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Number {
                what: "the level of the interval".into(),
                value: level,
                expected: "between 0 and 1".into(),
            });
        }
        let tail = 0.5 * (1.0 - level);
        let below = Tails { lower: tail, upper: 1.0 - tail };
        Ok(Interval { level, low: quantile(below), high: quantile(below.mirrored()) })
    }
}

/// Numbers summed up: how many, their mean, and the squares around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// How many.
    pub n: f64,
    /// Their mean; zero without values.
    pub mean: f64,
    /// `Σ (x − mean)²`.
    pub squares: f64,
}

impl Sample {
    /// Sums numbers up.
    ///
    /// # Errors
    /// If one is not finite.
    pub fn of(values: &[f64]) -> Result<Sample> {
        let mut sample = Sample::default();
        for (row, x) in values.iter().enumerate() {
            if !x.is_finite() {
                return Err(Error::NotFinite { row, column: 0, value: *x });
            }
            sample.n += 1.0;
            let d = x - sample.mean;
            sample.mean += d / sample.n;
            sample.squares += d * (x - sample.mean);
        }
        Ok(sample)
    }
}
