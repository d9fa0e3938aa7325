//! The normal-inverse-gamma prior of mean and variance of a normal distribution: `σ² ~ InvGamma(α, β)`, `μ | σ² ~ N(m,
//! σ²/κ)`.
//!
//! After `n` values with mean `x̄` and centered sum of squares `S`: `κ' = κ + n`, `m' = m + n (x̄ − m)/κ'`, `α' = α +
//! n/2`, `β' = β + S/2 + κ n (x̄ − m)² / (2κ')`. The marginal distribution of the mean is Student's t with `2α` degrees
//! of freedom.

use super::{Estimate, Interval, MEDIAN, Sample};
use crate::error::{Error, Result};
use crate::probability::{check_count, check_positive};
use mercer_num::special::{gamma_quantile, ln_gamma, student_quantile};
use serde::Serialize;
use std::f64::consts::PI;

/// A distribution over the mean and the variance of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NormalInverseGamma {
    mean: f64,
    kappa: f64,
    alpha: f64,
    beta: f64,
}

impl NormalInverseGamma {
    /// The parameters act as `kappa` values with this mean, and `2 alpha` values with the sum of squares `2 beta`.
    ///
    /// # Errors
    /// If the mean is not finite or another parameter is not positive.
    pub fn new(mean: f64, kappa: f64, alpha: f64, beta: f64) -> Result<NormalInverseGamma> {
        if !mean.is_finite() {
            let expected = "a finite number".into();
            return Err(Error::Number { what: "the mean".into(), value: mean, expected });
        }
        check_positive("kappa", kappa)?;
        check_positive("alpha", alpha)?;
        check_positive("beta", beta)?;
        Ok(NormalInverseGamma { mean, kappa, alpha, beta })
    }

    /// Mean, `κ`, `α` and `β`.
    pub fn parameters(&self) -> [f64; 4] {
        [self.mean, self.kappa, self.alpha, self.beta]
    }

    /// The posterior after values.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn updated(&self, values: &[f64]) -> Result<NormalInverseGamma> {
        self.updated_by(&Sample::of(values)?)
    }

    /// The posterior after summarized values.
    ///
    /// # Errors
    /// If their number or sum of squares is negative or their mean is not finite.
    pub fn updated_by(&self, sample: &Sample) -> Result<NormalInverseGamma> {
        check_count(|| "the number of values".into(), sample.n)?;
        check_count(|| "the sum of squares".into(), sample.squares)?;
        let kappa = self.kappa + sample.n;
        let shift = sample.mean - self.mean;
        NormalInverseGamma::new(
            self.mean + sample.n / kappa * shift,
            kappa,
            self.alpha + 0.5 * sample.n,
            self.beta + 0.5 * (sample.squares + self.kappa * sample.n / kappa * shift * shift),
        )
    }

    /// The posterior mean of the mean, which is also its mode.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The posterior mean of the variance; `None` if `α ≤ 1`.
    pub fn mean_variance(&self) -> Option<f64> {
        (self.alpha > 1.0).then(|| self.beta / (self.alpha - 1.0))
    }

    /// The joint mode of mean and variance.
    pub fn mode(&self) -> (f64, f64) {
        (self.mean, self.beta / (self.alpha + 1.5))
    }

    /// The credible interval of the mean.
    ///
    /// # Errors
    /// If the level is not between zero and one.
    pub fn mean_interval(&self, level: f64) -> Result<Interval> {
        self.student_critical_value(level, 1.0 / self.kappa)
    }

    /// The credible interval of the variance.
    ///
    /// # Errors
    /// As [`NormalInverseGamma::mean_interval`].
    pub fn variance_interval(&self, level: f64) -> Result<Interval> {
        // The variance is β divided by a gamma variable, so its tails are exchanged.
        Interval::equal_tailed(level, |at| self.beta / gamma_quantile(self.alpha, at.mirrored()))
    }

    /// The logarithm of the marginal density of the mean, Student's t.
    pub fn mean_ln_density(&self, mean: f64) -> f64 {
        self.student_ln_density(mean, 1.0 / self.kappa)
    }

    /// The logarithm of the marginal density of the variance, inverse gamma.
    pub fn variance_ln_density(&self, variance: f64) -> f64 {
        if variance <= 0.0 {
            return f64::NEG_INFINITY;
        }
        self.alpha * self.beta.ln()
            - ln_gamma(self.alpha)
            - (self.alpha + 1.0) * variance.ln()
            - self.beta / variance
    }

    /// `log p(next value)`, Student's t.
    pub fn ln_predictive(&self, x: f64) -> f64 {
        self.student_ln_density(x, 1.0 + 1.0 / self.kappa)
    }

    /// The logarithm of Student's t density around the mean, with a multiple of the scale of the values.
    fn student_ln_density(&self, x: f64, factor: f64) -> f64 {
        let degrees = 2.0 * self.alpha;
        let scale2 = self.scale2(factor);
        let z2 = (x - self.mean).powi(2) / scale2;
        ln_gamma(self.alpha + 0.5)
            - ln_gamma(self.alpha)
            - 0.5 * (PI * degrees * scale2).ln()
            - (self.alpha + 0.5) * (z2 / degrees).ln_1p()
    }

    /// The prediction interval of the next value.
    ///
    /// # Errors
    /// As [`NormalInverseGamma::mean_interval`].
    pub fn predictive_interval(&self, level: f64) -> Result<Interval> {
        self.student_critical_value(level, 1.0 + 1.0 / self.kappa)
    }

    /// The point estimates of this prior after values: of the mean and of the variance.
    ///
    /// # Errors
    /// As [`NormalInverseGamma::updated`] and [`NormalInverseGamma::mean_interval`].
    pub fn estimate(&self, values: &[f64], level: f64) -> Result<[Estimate; 2]> {
        let sample = Sample::of(values)?;
        let posterior = self.updated_by(&sample)?;
        let (mean, variance) = posterior.mode();
        Ok([
            Estimate {
                parameter: "mean".into(),
                maximum_likelihood: (sample.n > 0.0).then_some(sample.mean),
                map: Some(mean),
                // A t distribution with one degree of freedom or less has no mean.
                mean: (posterior.alpha > 0.5).then_some(mean),
                median: mean,
                interval: posterior.mean_interval(level)?,
            },
            Estimate {
                parameter: "variance".into(),
                maximum_likelihood: (sample.n > 0.0).then(|| sample.squares / sample.n),
                map: Some(variance),
                mean: posterior.mean_variance(),
                // β divided by a gamma variable: the medians correspond.
                median: posterior.beta / gamma_quantile(posterior.alpha, MEDIAN),
                interval: posterior.variance_interval(level)?,
            },
        ])
    }

    fn scale2(&self, factor: f64) -> f64 {
        self.beta / self.alpha * factor
    }

    fn student_critical_value(&self, level: f64, factor: f64) -> Result<Interval> {
        let scale = self.scale2(factor).sqrt();
        let degrees = 2.0 * self.alpha;
        Interval::equal_tailed(level, |at| self.mean + scale * student_quantile(degrees, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_is_all_at_once() {
        let prior = NormalInverseGamma::new(1.0, 0.5, 2.0, 3.0).unwrap();
        let values = [4.0, 5.0, 7.5, 3.0];

        let whole = prior.updated(&values).unwrap().parameters();
        let parts = values.iter().fold(prior, |b, x| b.updated(&[*x]).unwrap()).parameters();

        for (a, b) in whole.iter().zip(parts) {
            assert!((a - b).abs() < 1e-12, "{whole:?} {parts:?}");
        }
    }

    #[test]
    fn a_vague_prior_gives_the_interval_of_the_t_test() {
        let values = [4.0, 5.0, 7.5, 3.0];
        let vague = NormalInverseGamma::new(0.0, 1e-12, 1e-12, 1e-12).unwrap();

        // The improper prior p(μ, σ²) ∝ 1/σ² has α = −1/2.
        let posterior = vague.updated(&values).unwrap();
        let [mean, kappa, alpha, beta] = posterior.parameters();
        let classical = NormalInverseGamma::new(mean, kappa, alpha - 0.5, beta).unwrap();
        let interval = classical.mean_interval(0.95).unwrap();

        // scipy 1.17: t.interval(0.95, 3, 4.875, sem([4, 5, 7.5, 3])).
        assert!((interval.low - 1.802_180_953_813_464_5).abs() < 1e-9, "{}", interval.low);
        assert!((interval.high - 7.947_819_046_186_535_5).abs() < 1e-9);
    }
}
