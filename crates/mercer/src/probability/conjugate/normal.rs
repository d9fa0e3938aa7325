//! The normal prior of the mean of a normal distribution with known variance: `μ ~ N(m, v)`.
//!
//! The posterior has `1/v' = 1/v + n/σ²` and `m' = v' (m/v + Σx/σ²)`.

use super::{Estimate, Interval, Sample};
use crate::error::{Error, Result};
use crate::probability::{check_count, check_positive};
use mercer_num::special::{normal_log_density, normal_quantile};
use serde::Serialize;

/// A normal distribution over the mean of values with known variance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NormalMean {
    mean: f64,
    variance: f64,
    noise: f64,
}

impl NormalMean {
    /// The prior mean and variance of the mean, and the known variance `noise` of a value.
    ///
    /// # Errors
    /// If the mean is not finite or a variance is not positive.
    pub fn new(mean: f64, variance: f64, noise: f64) -> Result<NormalMean> {
        if !mean.is_finite() {
            let expected = "a finite number".into();
            return Err(Error::Number { what: "the mean".into(), value: mean, expected });
        }
        check_positive("the variance of the mean", variance)?;
        check_positive("the variance of the noise", noise)?;
        Ok(NormalMean { mean, variance, noise })
    }

    /// The posterior after values.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn updated(&self, values: &[f64]) -> Result<NormalMean> {
        self.updated_by(&Sample::of(values)?)
    }

    /// The posterior after summarized values.
    ///
    /// # Errors
    /// If their number is negative or their mean is not finite.
    pub fn updated_by(&self, sample: &Sample) -> Result<NormalMean> {
        check_count(|| "the number of values".into(), sample.n)?;
        // A weighted mean instead of a sum of products avoids cancellation.
        let weight = sample.n * self.variance / (sample.n * self.variance + self.noise);
        let mean = self.mean + weight * (sample.mean - self.mean);
        NormalMean::new(mean, self.variance * (1.0 - weight), self.noise)
    }

    /// The mean, which is also the mode.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The logarithm of the density of the mean.
    pub fn ln_density(&self, mean: f64) -> f64 {
        normal_log_density(mean, self.mean, self.variance)
    }

    /// The credible interval of a level.
    ///
    /// # Errors
    /// If the level is not between zero and one.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        Interval::equal_tailed(level, |at| self.mean + self.variance.sqrt() * normal_quantile(at))
    }

    /// `log p(next value)`, the normal predictive density with the sum of both variances.
    pub fn ln_predictive(&self, x: f64) -> f64 {
        normal_log_density(x, self.mean, self.variance + self.noise)
    }

    /// The prediction interval of the next value.
    ///
    /// # Errors
    /// As [`NormalMean::interval`].
    pub fn predictive_interval(&self, level: f64) -> Result<Interval> {
        let deviation = (self.variance + self.noise).sqrt();
        Interval::equal_tailed(level, |at| self.mean + deviation * normal_quantile(at))
    }

    /// The point estimates of this prior after values.
    ///
    /// # Errors
    /// As [`NormalMean::updated`] and [`NormalMean::interval`].
    pub fn estimate(&self, values: &[f64], level: f64) -> Result<Estimate> {
        let sample = Sample::of(values)?;
        let posterior = self.updated_by(&sample)?;
        Ok(Estimate {
            parameter: "mean".into(),
            maximum_likelihood: (sample.n > 0.0).then_some(sample.mean),
            map: Some(posterior.mean),
            mean: Some(posterior.mean),
            median: posterior.mean,
            interval: posterior.interval(level)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_add_up() {
        let prior = NormalMean::new(10.0, 4.0, 2.0).unwrap();

        let posterior = prior.updated(&[12.0, 14.0]).unwrap();

        // 1/v = 1/4 + 2/2 = 5/4; m = 4/5 (10/4 + 26/2) = 12.4.
        assert!((posterior.variance() - 0.8).abs() < 1e-15);
        assert!((posterior.mean() - 12.4).abs() < 1e-14);
    }

    #[test]
    fn one_at_a_time_is_all_at_once() {
        let prior = NormalMean::new(-3.0, 100.0, 0.25).unwrap();
        let values = [1.0, 1.5, 0.5, 2.25];

        let whole = prior.updated(&values).unwrap();
        let parts = values.iter().fold(prior, |belief, x| belief.updated(&[*x]).unwrap());

        assert!((whole.mean() - parts.mean()).abs() < 1e-13);
        assert!((whole.variance() / parts.variance() - 1.0).abs() < 1e-13);
        assert!(prior.updated(&[f64::NAN]).is_err() && NormalMean::new(0.0, 0.0, 1.0).is_err());
    }
}
