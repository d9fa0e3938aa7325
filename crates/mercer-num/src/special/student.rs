//! Student's t distribution, in terms of the beta distribution.

use super::Tails;
use super::beta::{beta_log_odds, beta_tails_with_complement};

/// The tail probabilities of Student's t distribution at `t`.
pub fn student_tails(t: f64, degrees: f64) -> Tails {
    if degrees == f64::INFINITY {
        return super::normal_tails(t);
    }
    let square = t * t;
    let (x, y) = if square < degrees {
        let r = square / degrees;
        (1.0 / (1.0 + r), r / (1.0 + r))
    } else {
        let r = degrees / square;
        (r / (1.0 + r), 1.0 / (1.0 + r))
    };
    let inside = beta_tails_with_complement(0.5 * degrees, 0.5, x, y);
    let outer = 0.5 * inside.lower;
    let tails = Tails { lower: outer, upper: 0.5 + 0.5 * inside.upper };
    if t > 0.0 { tails.mirrored() } else { tails }
}

/// The quantile of Student's t distribution with these tail probabilities.
pub fn student_quantile(degrees: f64, at: Tails) -> f64 {
    if degrees == f64::INFINITY {
        return super::normal_quantile(at);
    }
    if at.lower == at.upper {
        return 0.0;
    }
    if at.lower > at.upper {
        return -student_quantile(degrees, at.mirrored());
    }
    if at.lower <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let both = Tails { lower: 2.0 * at.lower, upper: at.upper - at.lower };
    // x = degrees / (degrees + t²), so the odds of x are degrees / t².
    let log_odds = beta_log_odds(0.5 * degrees, 0.5, both);
    -(degrees.sqrt() * (-0.5 * log_odds).exp())
}

/// The two-sided p-value `P(|T| > |t|)` of Student's t. NaN unless `degrees` is positive.
pub fn student_p_value(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    2.0 * student_tails(-t.abs(), degrees).lower
}

/// The `t` with `P(|T| ≤ t) = level`: half the width of a confidence interval, in standard errors.
///
/// ```
/// let t = mercer_num::special::student_critical_value(0.95, 10.0);
/// assert!((t - 2.228138851986275).abs() < 1e-12);
/// ```
pub fn student_critical_value(level: f64, degrees: f64) -> f64 {
    if level.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    let beyond = 0.5 * (1.0 - level.clamp(0.0, 1.0));
    student_quantile(degrees, Tails { lower: 1.0 - beyond, upper: beyond })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn p_values_and_intervals() {
        // Two degrees of freedom: 1 − t / √(2 + t²); one: 1 − 2 atan(t) / π.
        near(student_p_value(3.0, 2.0), 1.0 - 3.0 / 11f64.sqrt());
        near(student_p_value(-1.0, 1.0), 0.5);
        // Computed by mpmath with forty digits.
        near(student_p_value(30.0, 40.0), 4.850907660590208e-29);
        near(student_p_value(6.0, 1e6), 1.9738498123544347e-9);
        near(student_critical_value(0.95, 9.0), 2.262157162798205);
        assert_eq!(student_p_value(0.0, 5.0), 1.0);
        assert_eq!(student_p_value(f64::INFINITY, 5.0), 0.0);
        assert_eq!(student_critical_value(0.0, 5.0), 0.0);
        assert_eq!(student_critical_value(1.0, 5.0), f64::INFINITY);
        assert!(student_p_value(1.0, 0.0).is_nan() && student_critical_value(0.5, 0.0).is_nan());
    }
}
