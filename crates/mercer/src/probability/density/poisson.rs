//! The Poisson distribution: `P(k) = λ^k e^−λ / Γ(k+1)`.

use crate::error::Result;
use crate::probability::check_count;
use mercer_num::special::{gamma_tails, ln_gamma, poisson_pmf};

/// A Poisson distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    rate: f64,
}

impl Poisson {
    /// With the rate `λ`, the expected number of events.
    ///
    /// # Errors
    /// If the rate is negative or not finite.
    pub fn new(rate: f64) -> Result<Poisson> {
        check_count(|| "the rate".into(), rate)?;
        Ok(Poisson { rate })
    }

    /// `log P(k)`, also for non-integer `k`.
    pub fn ln_pmf(&self, k: f64) -> f64 {
        if k.is_nan() || k < 0.0 {
            return f64::NEG_INFINITY;
        }
        let events = if k == 0.0 { 0.0 } else { k * self.rate.ln() };
        events - self.rate - ln_gamma(k + 1.0)
    }

    /// `P(k)`.
    pub fn pmf(&self, k: f64) -> f64 {
        poisson_pmf(k, self.rate)
    }

    /// `P(K ≤ k)`.
    pub fn cdf(&self, k: f64) -> f64 {
        if k < 0.0 { 0.0 } else { gamma_tails(k.floor() + 1.0, self.rate).upper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_log_agrees() {
        let some = Poisson::new(2.5).unwrap();

        let mut below = 0.0;
        for k in 0..30 {
            let k = f64::from(k);
            below += some.pmf(k);
            assert!((some.cdf(k) - below).abs() < 1e-14);
            assert!((some.ln_pmf(k).exp() / some.pmf(k) - 1.0).abs() < 1e-12);
        }

        assert!((below - 1.0).abs() < 1e-14);
        assert_eq!(Poisson::new(0.0).unwrap().pmf(0.0), 1.0);
        assert!(Poisson::new(-1.0).is_err());
    }
}
