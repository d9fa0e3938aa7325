//! The Dirichlet prior of the probabilities of several outcomes: `p ~ Dirichlet(α)`; the posterior after counts `n` is
//! `Dirichlet(α + n)`.
//!
//! For `α = 1` the posterior mean is Laplace's rule of succession, `(nⱼ + 1) / (Σ n + k)`.

use super::{Beta, Estimate, Interval};
use crate::error::{Error, Result};
use crate::probability::{check_count, check_positive};
use mercer_num::special::ln_gamma;
use serde::Serialize;

/// A Dirichlet distribution over the probabilities of several outcomes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dirichlet {
    alpha: Vec<f64>,
}

impl Dirichlet {
    /// One pseudo-count per outcome.
    ///
    /// # Errors
    /// If there are fewer than two, or one is not positive.
    pub fn new(alpha: Vec<f64>) -> Result<Dirichlet> {
        if alpha.len() < 2 {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: format!("{} numbers", alpha.len()),
                expected: "one value for each of at least two outcomes".into(),
            });
        }
        for (j, a) in alpha.iter().enumerate() {
            check_positive(&format!("alpha of outcome {}", j + 1), *a)?;
        }
        Ok(Dirichlet { alpha })
    }

    /// `α`.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// The posterior after counts.
    ///
    /// # Errors
    /// If there is not one count per outcome, or a count is negative.
    pub fn updated(&self, counts: &[f64]) -> Result<Dirichlet> {
        self.check_counts(counts)?;
        Dirichlet::new(self.alpha.iter().zip(counts).map(|(a, n)| a + n).collect())
    }

    /// The mean `αⱼ / Σ α`, which is also the probability of the outcome in the next trial.
    pub fn mean(&self) -> Vec<f64> {
        let total: f64 = self.alpha.iter().sum();
        self.alpha.iter().map(|a| a / total).collect()
    }

    /// The mode `(αⱼ − 1) / (Σ α − k)`, if every `α` is at least one and not all are one.
    pub fn mode(&self) -> Option<Vec<f64>> {
        let less: f64 = self.alpha.iter().map(|a| a - 1.0).sum();
        let peaked = self.alpha.iter().all(|a| *a >= 1.0) && less > 0.0;
        peaked.then(|| self.alpha.iter().map(|a| (a - 1.0) / less).collect())
    }

    /// The marginal distribution of one probability, a beta distribution.
    ///
    /// # Errors
    /// If the index is out of range.
    pub fn marginal(&self, outcome: usize) -> Result<Beta> {
        let Some(alpha) = self.alpha.get(outcome) else {
            return Err(Error::Length {
                what: "the list of outcomes".into(),
                found: self.alpha.len(),
                expected: outcome + 1,
            });
        };
        let rest = self.alpha.iter().enumerate().filter(|(j, _)| *j != outcome).map(|(_, a)| a);
        Beta::new(*alpha, rest.sum())
    }

    /// `log P(counts)` of the next trials: the Dirichlet-multinomial distribution.
    ///
    /// # Errors
    /// As [`Dirichlet::updated`].
    pub fn ln_predictive(&self, counts: &[f64]) -> Result<f64> {
        self.check_counts(counts)?;
        let (n, total): (f64, f64) = (counts.iter().sum(), self.alpha.iter().sum());
        let each = self.alpha.iter().zip(counts).map(|(a, n)| {
            if *n == 0.0 { 0.0 } else { ln_gamma(a + n) - ln_gamma(*a) - ln_gamma(n + 1.0) }
        });
        Ok(ln_gamma(n + 1.0) + ln_gamma(total) - ln_gamma(total + n) + each.sum::<f64>())
    }

    /// The point estimates of this prior after counts, one entry per outcome.
    ///
    /// # Errors
    /// As [`Dirichlet::updated`], and if the level is not between zero and one.
    pub fn estimate(&self, counts: &[f64], level: f64) -> Result<Vec<Estimate>> {
        let posterior = self.updated(counts)?;
        let n: f64 = counts.iter().sum();
        let (mode, mean) = (posterior.mode(), posterior.mean());
        (0..counts.len())
            .map(|j| {
                let marginal = posterior.marginal(j)?;
                let interval: Interval = marginal.interval(level)?;
                Ok(Estimate {
                    parameter: format!("probability of outcome {}", j + 1),
                    maximum_likelihood: (n > 0.0).then(|| counts[j] / n),
                    map: mode.as_ref().map(|mode| mode[j]),
                    mean: Some(mean[j]),
                    median: marginal.median(),
                    interval,
                })
            })
            .collect()
    }

    fn check_counts(&self, counts: &[f64]) -> Result<()> {
        if counts.len() != self.alpha.len() {
            return Err(Error::Length {
                what: "the counts".into(),
                found: counts.len(),
                expected: self.alpha.len(),
            });
        }
        for (j, n) in counts.iter().enumerate() {
            check_count(|| format!("the count of outcome {}", j + 1), *n)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_outcomes_are_beta() {
        let two = Dirichlet::new(vec![1.5, 2.5]).unwrap();
        let beta = Beta::new(1.5, 2.5).unwrap();

        let estimate = &two.estimate(&[3.0, 4.0], 0.9).unwrap()[0];
        let expected = beta.estimate(3.0, 4.0, 0.9).unwrap();

        assert_eq!(estimate.mean, expected.mean);
        assert_eq!(estimate.interval, expected.interval);
        let (a, b) = (two.ln_predictive(&[2.0, 3.0]), beta.ln_predictive(2.0, 5.0));
        assert!((a.unwrap() - b.unwrap()).abs() < 1e-13);
    }

    #[test]
    fn bad_counts_are_named() {
        let three = Dirichlet::new(vec![1.0; 3]).unwrap();

        assert!(three.updated(&[1.0, 2.0]).is_err());
        let why = three.updated(&[1.0, -2.0, 0.0]).unwrap_err().to_string();
        assert!(why.contains("outcome 2") && why.contains("-2"), "{why}");
        assert!(Dirichlet::new(vec![1.0]).is_err());
        assert!(three.marginal(3).is_err());
        assert_eq!(three.mode(), None);
    }
}
