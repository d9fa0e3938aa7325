//! The exponential distribution: `p(x) = λ e^−λx`, the time until the next event.

use crate::error::Result;
use crate::probability::check_positive;

/// An exponential distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    rate: f64,
}

impl Exponential {
    /// With the rate `λ`, the expected number of events per unit of time.
    ///
    /// # Errors
    /// If the rate is not positive.
    pub fn new(rate: f64) -> Result<Exponential> {
        check_positive("the rate", rate)?;
        Ok(Exponential { rate })
    }

    /// `log p(x)`.
    pub fn ln_pdf(&self, x: f64) -> f64 {
        if x < 0.0 { f64::NEG_INFINITY } else { self.rate.ln() - self.rate * x }
    }

    /// `P(X ≤ x) = 1 − e^−λx`.
    pub fn cdf(&self, x: f64) -> f64 {
        if x < 0.0 { 0.0 } else { -(-self.rate * x).exp_m1() }
    }

    /// `1 / λ`.
    pub fn mean(&self) -> f64 {
        1.0 / self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_gone_after_the_half_life() {
        let decay = Exponential::new(2.0).unwrap();

        assert!((decay.cdf(2f64.ln() / 2.0) - 0.5).abs() < 1e-15);
        assert_eq!(decay.ln_pdf(-1.0), f64::NEG_INFINITY);
        assert!(Exponential::new(0.0).is_err());
    }
}
