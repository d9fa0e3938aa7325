//! The beta prior of a success probability: `p ~ Beta(α, β)`; the posterior after `s` successes and `f` failures is
//! `Beta(α + s, β + f)`.

use super::{Estimate, Interval, MEDIAN};
use crate::error::Result;
use crate::probability::{check_count, check_positive};
use mercer_num::special::{beta_quantile, beta_tails, ln_beta, ln_choose};
use serde::Serialize;

/// A beta distribution over a success probability. `Beta(1, 1)` is uniform.
///
/// ```
/// use mercer::probability::conjugate::Beta;
/// let posterior = Beta::new(1.0, 1.0)?.updated(7.0, 3.0)?;
/// // Laplace's rule of succession.
/// assert_eq!(posterior.mean(), 8.0 / 12.0);
/// assert_eq!(posterior.mode(), Some(0.7));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Beta {
    alpha: f64,
    beta: f64,
}

impl Beta {
    /// The parameters act as pseudo-counts: `alpha − 1` successes and `beta − 1` failures in addition to a uniform
    /// prior.
    ///
    /// # Errors
    /// If a parameter is not positive.
    pub fn new(alpha: f64, beta: f64) -> Result<Beta> {
        check_positive("alpha", alpha)?;
        check_positive("beta", beta)?;
        Ok(Beta { alpha, beta })
    }

    /// `α`.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// `β`.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The posterior after successes and failures.
    ///
    /// # Errors
    /// If a count is negative.
    pub fn updated(&self, successes: f64, failures: f64) -> Result<Beta> {
        check_count(|| "the number of successes".into(), successes)?;
        check_count(|| "the number of failures".into(), failures)?;
        Beta::new(self.alpha + successes, self.beta + failures)
    }

    /// The mean `α / (α + β)`, which is also the probability that the next trial succeeds.
    pub fn mean(&self) -> f64 {
        self.alpha / (self.alpha + self.beta)
    }

    /// The mode, if there is a single one.
    pub fn mode(&self) -> Option<f64> {
        match (self.alpha > 1.0, self.beta > 1.0) {
            (true, true) => Some((self.alpha - 1.0) / (self.alpha + self.beta - 2.0)),
            (true, false) => Some(1.0),
            (false, true) => Some(0.0),
            (false, false) => None,
        }
    }

    /// The median.
    pub fn median(&self) -> f64 {
        beta_quantile(self.alpha, self.beta, MEDIAN)
    }

    /// `αβ / ((α + β)² (α + β + 1))`.
    pub fn variance(&self) -> f64 {
        let n = self.alpha + self.beta;
        self.alpha / n * (self.beta / n) / (n + 1.0)
    }

    /// `log p(p)`: the logarithm of the density.
    pub fn ln_density(&self, p: f64) -> f64 {
        if !(0.0..=1.0).contains(&p) {
            return f64::NEG_INFINITY;
        }
        // An exponent of zero leaves no factor, even at the ends of the interval.
        let power = |exponent: f64, ln: f64| if exponent == 0.0 { 0.0 } else { exponent * ln };
        power(self.alpha - 1.0, p.ln()) + power(self.beta - 1.0, (-p).ln_1p())
            - ln_beta(self.alpha, self.beta)
    }

    /// The distribution function.
    pub fn cdf(&self, p: f64) -> f64 {
        beta_tails(self.alpha, self.beta, p).lower
    }

    /// The credible interval of a level.
    ///
    /// # Errors
    /// If the level is not between zero and one.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        Interval::equal_tailed(level, |at| beta_quantile(self.alpha, self.beta, at))
    }

    /// `log P(k)` of `k` successes in the next `n` trials: the beta-binomial distribution.
    ///
    /// # Errors
    /// If a count is negative or `k` above `n`.
    pub fn ln_predictive(&self, k: f64, n: f64) -> Result<f64> {
        check_count(|| "the number of successes".into(), k)?;
        check_count(|| "the number of failures".into(), n - k)?;
        let after = ln_beta(self.alpha + k, self.beta + n - k);
        Ok(ln_choose(n, k) + after - ln_beta(self.alpha, self.beta))
    }

    /// The point estimates of this prior after successes and failures.
    ///
    /// # Errors
    /// As [`Beta::updated`] and [`Beta::interval`].
    pub fn estimate(&self, successes: f64, failures: f64, level: f64) -> Result<Estimate> {
        let posterior = self.updated(successes, failures)?;
        let n = successes + failures;
        Ok(Estimate {
            parameter: "probability of a success".into(),
            maximum_likelihood: (n > 0.0).then(|| successes / n),
            map: posterior.mode(),
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
        let belief = Beta::new(2.5, 0.7).unwrap();

        let total: f64 =
            (0..=12).map(|k| belief.ln_predictive(f64::from(k), 12.0).unwrap().exp()).sum();

        assert!((total - 1.0).abs() < 1e-13);
        assert!((belief.ln_predictive(1.0, 1.0).unwrap().exp() - belief.mean()).abs() < 1e-15);
        assert!(belief.ln_predictive(3.0, 2.0).is_err());
    }

    #[test]
    fn the_median_has_half_of_the_probability_below() {
        let posterior = Beta::new(1.0, 1.0).unwrap().updated(7.0, 3.0).unwrap();

        assert!((posterior.cdf(posterior.median()) - 0.5).abs() < 1e-14);
        // P(p < x) = x² for Beta(2, 1).
        assert!((Beta::new(2.0, 1.0).unwrap().median() - 0.5f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn nothing_seen_has_no_maximum_likelihood() {
        let estimate = Beta::new(1.0, 1.0).unwrap().estimate(0.0, 0.0, 0.9).unwrap();

        assert_eq!((estimate.maximum_likelihood, estimate.map), (None, None));
        assert!((estimate.interval.low - 0.05).abs() < 1e-14);
        assert!((estimate.interval.high - 0.95).abs() < 1e-14);
        assert!(Beta::new(0.0, 1.0).is_err());
        assert!(Beta::new(1.0, 1.0).unwrap().interval(1.0).is_err());
    }
}
