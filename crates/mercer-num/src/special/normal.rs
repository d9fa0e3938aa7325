//! The standard normal distribution.

use super::Tails;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The tail probabilities of the standard normal distribution at `z`.
///
/// ```
/// let far = mercer_num::special::normal_tails(-30.0);
/// assert!((far.lower / 4.906713927148187e-198 - 1.0).abs() < 1e-13);
/// ```
pub fn normal_tails(z: f64) -> Tails {
    let half = |z: f64| 0.5 * libm::erfc(z * FRAC_1_SQRT_2);
    Tails { lower: half(-z), upper: half(z) }
}

/// The quantile of the standard normal distribution with these tail probabilities.
pub fn normal_quantile(at: Tails) -> f64 {
    if at.lower == at.upper {
        return 0.0;
    }
    if at.lower > at.upper {
        return -normal_quantile(at.mirrored());
    }
    let p = at.lower;
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // Abramowitz & Stegun, 26.2.23, is accurate to 4.5e-4; Halley steps on the logarithm triple its digits.
    let t = (-2.0 * p.ln()).sqrt();
    let mut z = (2.515_517 + t * (0.802_853 + t * 0.010_328))
        / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
        - t;
    for _ in 0..3 {
        let lower = normal_tails(z).lower;
        let slope = (-0.5 * z * z).exp() / TAU.sqrt() / lower;
        let miss = (lower.ln() - p.ln()) / slope;
        // The ratio of the second to the first derivative of the log is −(z + slope).
        z -= miss / (1.0 + 0.5 * miss * (z + slope));
    }
    z
}
