//! The multinomial distribution: `P(x) = Γ(n+1) / Π Γ(xⱼ+1) · Π pⱼ^xⱼ` with `n = Σ xⱼ`.

use crate::error::{Error, Result};
use crate::probability::{check_count, check_distribution};
use mercer_num::Matrix;
use mercer_num::special::ln_gamma;

/// A multinomial distribution; the number of trials is the sum of the counts.
///
/// ```
/// use mercer::probability::density::Multinomial;
/// let die = Multinomial::new(vec![1.0 / 6.0; 6])?;
/// // Every face once in six rolls: 6! / 6⁶.
/// assert!((die.ln_pmf(&[1.0; 6])?.exp() - 720.0 / 46656.0).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    p: Vec<f64>,
}

impl Multinomial {
    /// A distribution with these probabilities of the outcomes.
    ///
    /// # Errors
    /// If they are not probabilities that sum to one.
    pub fn new(p: Vec<f64>) -> Result<Multinomial> {
        let names: Vec<String> = (1..=p.len()).map(|j| format!("outcome {j}")).collect();
        check_distribution("probability", &names, &p)?;
        Ok(Multinomial { p })
    }

    /// `log P(counts)`, also for non-integer counts.
    ///
    /// # Errors
    /// If there is not one count per outcome, or a count is negative.
    pub fn ln_pmf(&self, counts: &[f64]) -> Result<f64> {
        if counts.len() != self.p.len() {
            return Err(Error::Length {
                what: "the counts".into(),
                found: counts.len(),
                expected: self.p.len(),
            });
        }
        let mut log = 0.0;
        let mut n = 0.0;
        for (j, (x, p)) in counts.iter().zip(&self.p).enumerate() {
            check_count(|| format!("count {}", j + 1), *x)?;
            // A count of zero contributes no factor, even if its probability is zero.
            if *x > 0.0 {
                log += x * p.ln() - ln_gamma(x + 1.0);
                n += x;
            }
        }
        Ok(log + ln_gamma(n + 1.0))
    }

    /// `P(counts)`.
    ///
    /// # Errors
    /// As [`Multinomial::ln_pmf`].
    pub fn pmf(&self, counts: &[f64]) -> Result<f64> {
        Ok(self.ln_pmf(counts)?.exp())
    }

    /// The probabilities of the outcomes.
    pub fn probabilities(&self) -> &[f64] {
        &self.p
    }

    /// The expected counts of `n` trials, `n pⱼ`.
    pub fn mean(&self, n: f64) -> Vec<f64> {
        self.p.iter().map(|p| n * p).collect()
    }

    /// The covariance matrix of the counts of `n` trials: `n pⱼ (1 − pⱼ)` on the diagonal, `−n pᵢ pⱼ` elsewhere.
    pub fn covariance(&self, n: f64) -> Matrix {
        let k = self.p.len();
        Matrix::from_shape_fn((k, k), |(i, j)| {
            n * self.p[i] * (f64::from(u8::from(i == j)) - self.p[j])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_outcomes_are_binomial_also_for_counts_that_are_not_whole() {
        let two = Multinomial::new(vec![0.3, 0.7]).unwrap();
        let coin = super::super::Binomial::new(7.5, 0.3).unwrap();

        let log = two.ln_pmf(&[2.25, 5.25]).unwrap();

        assert!((log - coin.ln_pmf(2.25)).abs() < 1e-13);
    }

    #[test]
    fn counts_that_compete_have_a_negative_covariance() {
        let three = Multinomial::new(vec![0.5, 0.3, 0.2]).unwrap();

        let covariance = three.covariance(10.0);

        assert_eq!(three.mean(10.0), [5.0, 3.0, 2.0]);
        assert!((covariance[[0, 0]] - 2.5).abs() < 1e-15);
        assert!((covariance[[0, 1]] + 1.5).abs() < 1e-15);
        // 5! / (2! 2! 1!) · 0.5² · 0.3² · 0.2 = 30 · 0.0045.
        assert!((three.pmf(&[2.0, 2.0, 1.0]).unwrap() - 0.135).abs() < 1e-14);
    }

    #[test]
    fn what_cannot_happen_counts_only_where_it_did() {
        let sure = Multinomial::new(vec![1.0, 0.0]).unwrap();

        assert_eq!(sure.ln_pmf(&[3.0, 0.0]).unwrap(), 0.0);
        assert_eq!(sure.ln_pmf(&[2.0, 1.0]).unwrap(), f64::NEG_INFINITY);
        assert!(sure.ln_pmf(&[2.0]).is_err() && sure.ln_pmf(&[2.0, -1.0]).is_err());
        assert!(Multinomial::new(vec![0.5, 0.4]).is_err());
    }
}
