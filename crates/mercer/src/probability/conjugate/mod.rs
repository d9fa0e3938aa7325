//! Posteriors of a parameter under conjugate priors: prior and posterior are of the same family.
//!
//! | data | prior and posterior | type |
//! |---|---|---|
//! | successes and failures | beta | [`Beta`] |
//! | counts of several outcomes | Dirichlet | [`Dirichlet`] |
//! | values of known variance | normal | [`NormalMean`] |
//! | values | normal and inverse gamma | [`NormalInverseGamma`] |
//! | counts of events | gamma | [`Gamma`] |
//!
//! Each type is a distribution over the parameter; `updated` returns the posterior. Formulas as in Gelman et al.,
//! Bayesian Data Analysis, 3rd edition, chapters 2 and 3.

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

/// Point estimates of a parameter: maximum likelihood, maximum a posteriori, posterior mean and median.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The name of the parameter.
    pub parameter: String,
    /// The maximum likelihood estimate; `None` if the data do not determine it.
    pub maximum_likelihood: Option<f64>,
    /// The maximum a posteriori estimate, the mode of the posterior, if it exists: the Bayes estimate under 0-1 loss.
    pub map: Option<f64>,
    /// The posterior mean, if it exists: the Bayes estimate under squared loss.
    pub mean: Option<f64>,
    /// The posterior median: the Bayes estimate under absolute loss.
    pub median: f64,
    /// The equal-tailed credible interval.
    pub interval: Interval,
}

/// A credible interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The posterior probability of the interval.
    pub level: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// The equal-tailed interval, by a quantile function.
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

/// Both tails at the median.
const MEDIAN: Tails = Tails { lower: 0.5, upper: 0.5 };

/// Summary of a sample: size, mean and centered sum of squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// The number of values.
    pub n: f64,
    /// Their mean; zero without values.
    pub mean: f64,
    /// `Σ (x − mean)²`.
    pub squares: f64,
}

impl Sample {
    /// Summarizes values.
    ///
    /// # Errors
    /// If a value is not finite.
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
