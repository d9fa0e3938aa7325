//! The binomial distribution: `P(k) = Γ(n+1) / (Γ(k+1) Γ(n−k+1)) · p^k (1−p)^(n−k)`, the number of successes in `n`
//! trials.

use crate::error::Result;
use crate::probability::{check_count, check_probability};
use mercer_num::special::{beta_tails, binomial_pmf, ln_choose};

/// A binomial distribution.
///
/// ```
/// use mercer::probability::density::Binomial;
/// let coin = Binomial::new(4.0, 0.5)?;
/// assert!((coin.pmf(2.0) - 6.0 / 16.0).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binomial {
    n: f64,
    p: f64,
}

impl Binomial {
    /// `n` trials with success probability `p`.
    ///
    /// # Errors
    /// If `n` is negative or `p` is not a probability.
    pub fn new(n: f64, p: f64) -> Result<Binomial> {
        check_count(|| "the number of trials".into(), n)?;
        check_probability(|| "the probability of a success".into(), p)?;
        Ok(Binomial { n, p })
    }

    /// `log P(k)`, also for non-integer `k`.
    pub fn ln_pmf(&self, k: f64) -> f64 {
        if !(k >= 0.0 && k <= self.n) {
            return f64::NEG_INFINITY;
        }
        // A count of zero contributes no factor, even if its probability is zero.
        let factor = |n: f64, ln_p: f64| if n == 0.0 { 0.0 } else { n * ln_p };
        ln_choose(self.n, k) + factor(k, self.p.ln()) + factor(self.n - k, (-self.p).ln_1p())
    }

    /// `P(k)`.
    pub fn pmf(&self, k: f64) -> f64 {
        binomial_pmf(k, self.n, self.p, 1.0 - self.p)
    }

    /// `P(K ≤ k)`, an incomplete beta function.
    pub fn cdf(&self, k: f64) -> f64 {
        if k < 0.0 {
            return 0.0;
        }
        if k >= self.n {
            return 1.0;
        }
        beta_tails(k.floor() + 1.0, self.n - k.floor(), self.p).upper
    }

    /// `n p`.
    pub fn mean(&self) -> f64 {
        self.n * self.p
    }

    /// `n p (1 − p)`.
    pub fn variance(&self) -> f64 {
        self.n * self.p * (1.0 - self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_log_agrees() {
        let some = Binomial::new(10.0, 0.3).unwrap();

        let mut below = 0.0;
        for k in 0..=10 {
            let k = f64::from(k);
            below += some.pmf(k);
            assert!((some.cdf(k) - below).abs() < 1e-14);
            assert!((some.ln_pmf(k).exp() / some.pmf(k) - 1.0).abs() < 1e-12);
        }

        assert!((below - 1.0).abs() < 1e-14);
    }

    #[test]
    fn real_counts_use_the_gamma_function() {
        let some = Binomial::new(7.5, 0.3).unwrap();

        // Γ(8.5) / (Γ(3.25) Γ(6.25)) · 0.3^2.25 · 0.7^5.25
        assert!((some.pmf(2.25) - 0.304_945_890_530_642_4).abs() < 1e-14);
        assert!((some.ln_pmf(2.25).exp() - 0.304_945_890_530_642_4).abs() < 1e-14);
    }

    #[test]
    fn certain_trials_are_certain() {
        let never = Binomial::new(3.0, 0.0).unwrap();

        assert_eq!((never.pmf(0.0), never.ln_pmf(0.0)), (1.0, 0.0));
        assert_eq!((never.pmf(1.0), never.ln_pmf(1.0)), (0.0, f64::NEG_INFINITY));
        assert!(Binomial::new(3.0, 1.5).is_err() && Binomial::new(f64::NAN, 0.5).is_err());
    }
}
