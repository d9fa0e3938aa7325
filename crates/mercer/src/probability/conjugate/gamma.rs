//! The gamma prior of a Poisson rate: `λ ~ Gamma(shape, rate)`; the posterior after `k` events in time `t` is
//! `Gamma(shape + k, rate + t)`.

use super::{Estimate, Interval, MEDIAN};
use crate::error::Result;
use crate::probability::{check_count, check_positive};
use mercer_num::special::{gamma_quantile, gamma_tails, ln_gamma};
use serde::Serialize;

/// A gamma distribution over the expected number of events per unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gamma {
    shape: f64,
    rate: f64,
}

impl Gamma {
    /// The parameters act as `shape` events observed in time `rate`.
    ///
    /// # Errors
    /// If a parameter is not positive.
    pub fn new(shape: f64, rate: f64) -> Result<Gamma> {
        check_positive("the shape", shape)?;
        check_positive("the rate", rate)?;
        Ok(Gamma { shape, rate })
    }

    /// The shape: the number of pseudo-observed events.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// The rate: their time.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The posterior after events in some time; for counts of unit intervals, their sum and their number.
    ///
    /// # Errors
    /// If a value is negative.
    pub fn updated(&self, events: f64, time: f64) -> Result<Gamma> {
        check_count(|| "the number of events".into(), events)?;
        check_count(|| "the time".into(), time)?;
        Gamma::new(self.shape + events, self.rate + time)
    }

    /// `shape / rate`.
    pub fn mean(&self) -> f64 {
        self.shape / self.rate
    }

    /// `(shape − 1) / rate`, at least zero.
    pub fn mode(&self) -> f64 {
        ((self.shape - 1.0) / self.rate).max(0.0)
    }

    /// The median.
    pub fn median(&self) -> f64 {
        gamma_quantile(self.shape, MEDIAN) / self.rate
    }

    /// `shape / rate²`.
    pub fn variance(&self) -> f64 {
        self.shape / self.rate / self.rate
    }

    /// The logarithm of the density.
    pub fn ln_density(&self, x: f64) -> f64 {
        if x < 0.0 {
            return f64::NEG_INFINITY;
        }
        let power = if self.shape == 1.0 { 0.0 } else { (self.shape - 1.0) * x.ln() };
        self.shape * self.rate.ln() - ln_gamma(self.shape) + power - self.rate * x
    }

    /// The distribution function.
    pub fn cdf(&self, x: f64) -> f64 {
        gamma_tails(self.shape, x * self.rate).lower
    }

    /// The credible interval of a level.
    ///
    /// # Errors
    /// If the level is not between zero and one.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        Interval::equal_tailed(level, |at| gamma_quantile(self.shape, at) / self.rate)
    }

    /// `log P(k)` of `k` events in some time to come: the negative binomial distribution.
    ///
    /// # Errors
    /// If a value is negative.
    pub fn ln_predictive(&self, k: f64, time: f64) -> Result<f64> {
        check_count(|| "the number of events".into(), k)?;
        check_count(|| "the time".into(), time)?;
        let n = self.rate + time;
        let events = if k == 0.0 { 0.0 } else { k * (time / n).ln() };
        Ok(ln_gamma(self.shape + k) - ln_gamma(self.shape) - ln_gamma(k + 1.0)
            + self.shape * (self.rate / n).ln()
            + events)
    }

    /// The point estimates of this prior after events.
    ///
    /// # Errors
    /// As [`Gamma::updated`] and [`Gamma::interval`].
    pub fn estimate(&self, events: f64, time: f64, level: f64) -> Result<Estimate> {
        let posterior = self.updated(events, time)?;
        Ok(Estimate {
            parameter: "rate".into(),
            maximum_likelihood: (time > 0.0).then(|| events / time),
            map: Some(posterior.mode()),
            mean: Some(posterior.mean()),
            median: posterior.median(),
            interval: posterior.interval(level)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictive_probabilities_sum_to_one() {
        let belief = Gamma::new(3.0, 2.0).unwrap().updated(4.0, 1.0).unwrap();

        let chance = |k: i32| belief.ln_predictive(f64::from(k), 1.0).unwrap().exp();
        let total: f64 = (0..200).map(chance).sum();
        let mean: f64 = (0..200).map(|k| f64::from(k) * chance(k)).sum();

        assert!((total - 1.0).abs() < 1e-12);
        assert!((mean - belief.mean()).abs() < 1e-10);
        assert_eq!((belief.mean(), belief.mode()), (7.0 / 3.0, 2.0));
        assert!(Gamma::new(1.0, 0.0).is_err() && belief.updated(-1.0, 1.0).is_err());
    }
}
