//! Special functions, distribution functions and quantiles.

mod beta;
mod fisher;
mod gamma;
mod normal;
mod root;
mod student;

pub use beta::{beta_quantile, beta_tails, binomial_pmf, ln_beta};
pub use fisher::fisher_p_value;
pub use gamma::{chi_squared_sf, gamma_quantile, gamma_tails, ln_choose, ln_gamma, poisson_pmf};
pub use normal::{normal_quantile, normal_tails};
pub use student::{student_critical_value, student_p_value, student_quantile, student_tails};

use std::f64::consts::TAU;

/// The lower and upper tail probabilities of a point. Both are computed, because `1 − p` loses the digits of a small
/// tail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// `P(X ≤ x)`.
    pub lower: f64,
    /// `P(X > x)`.
    pub upper: f64,
}

impl Tails {
    /// The tails at the `p` quantile.
    pub fn at(p: f64) -> Tails {
        Tails { lower: p, upper: 1.0 - p }
    }

    /// The tails of the mirrored distribution.
    #[must_use]
    pub fn mirrored(self) -> Tails {
        Tails { lower: self.upper, upper: self.lower }
    }
}

/// `log Σ exp(xᵢ)`, exact for any magnitude; `-inf` for no terms.
///
/// ```
/// let tiny = mercer_num::special::log_sum_exp(&[-1000.0, -1000.0]);
/// assert_eq!(tiny, -1000.0 + 2f64.ln());
/// ```
pub fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + x.iter().map(|v| (v - largest).exp()).sum::<f64>().ln()
}

/// Normalizes log-weights to log-probabilities and returns the log of their sum.
///
/// If every weight is zero, the result is uniform; infinite weights share the probability equally.
pub fn log_normalize(x: &mut [f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        x.fill(-(x.len() as f64).ln());
        return largest;
    }
    if largest == f64::INFINITY {
        let n = x.iter().filter(|v| **v == largest).count() as f64;
        x.iter_mut().for_each(|v| *v = if *v == largest { -n.ln() } else { f64::NEG_INFINITY });
        return largest;
    }
    // The largest is subtracted first; otherwise the log of the sum would lose its last digits.
    x.iter_mut().for_each(|v| *v -= largest);
    let rest = x.iter().map(|v| v.exp()).sum::<f64>().ln();
    x.iter_mut().for_each(|v| *v -= rest);
    largest + rest
}

/// `log N(x; mean, variance)`.
pub fn normal_log_density(x: f64, mean: f64, variance: f64) -> f64 {
    let d = x - mean;
    -0.5 * ((TAU * variance).ln() + d * d / variance)
}

/// The index of the largest entry; ties go to the first. NaN is never larger than another entry, and an initial NaN is
/// the largest.
pub fn argmax(x: &[f64]) -> usize {
    let Some(first) = x.first() else { return 0 };
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    // The maximum first, and then its index: the branch of a running argmax is unpredictable.
    let (fours, rest) = x.as_chunks::<4>();
    let mut lanes = [*first; 4];
    for four in fours {
        for k in 0..4 {
            lanes[k] = larger(lanes[k], four[k]);
        }
    }
    let most = rest.iter().chain(&lanes).fold(*first, |most, v| larger(most, *v));
    x.iter().position(|v| *v == most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argmax_returns_the_first_maximum() {
        let plain = |x: &[f64]| {
            let mut best = 0;
            (0..x.len()).for_each(|i| best = if x[i] > x[best] { i } else { best });
            best
        };
        let mut random = crate::random::Random::new(3);
        for n in 0..40 {
            let mut x: Vec<f64> = (0..n).map(|_| (3.0 * random.normal()).round()).collect();
            assert_eq!(argmax(&x), plain(&x), "{x:?}");
            for strange in [f64::NAN, f64::NEG_INFINITY, f64::INFINITY] {
                if n > 0 {
                    x[(7 * n + 3) % n] = strange;
                    assert_eq!(argmax(&x), plain(&x), "{x:?}");
                }
            }
            x.fill(f64::NEG_INFINITY);
            assert_eq!(argmax(&x), 0);
        }
    }

    #[test]
    fn log_sum_exp_does_not_underflow() {
        let mut joint = [-1e6, -1e6 - 1.0];

        let total = log_normalize(&mut joint);

        assert!((joint[0].exp() - 1.0 / (1.0 + (-1f64).exp())).abs() < 1e-15);
        assert!((total - (-1e6 + (-1f64).exp().ln_1p())).abs() < 1e-9);
    }

    #[test]
    fn zero_weights_normalize_to_a_uniform_distribution() {
        let mut joint = [f64::NEG_INFINITY; 4];

        log_normalize(&mut joint);

        assert_eq!(joint.map(f64::exp), [0.25; 4]);
    }

    #[test]
    fn ties_go_to_the_first() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(argmax(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), 0);
    }
}
