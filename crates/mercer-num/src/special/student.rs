//! Student's t distribution, by way of the beta distribution.

use super::Tails;
use super::beta::{beta_log_odds, share};

/// The shares of a Student t distribution below and above `t`.
pub fn student_share(t: f64, degrees: f64) -> Tails {
    if degrees == f64::INFINITY {
        return super::normal_share(t);
    }
    let square = t * t;
    let (x, y) = if square < degrees {
        let r = square / degrees;
        (1.0 / (1.0 + r), r / (1.0 + r))
    } else {
        let r = degrees / square;
        (r / (1.0 + r), 1.0 / (1.0 + r))
    };
    let inside = share(0.5 * degrees, 0.5, x, y);
    let outer = 0.5 * inside.lower;
    let tails = Tails { lower: outer, upper: 0.5 + 0.5 * inside.upper };
    if t > 0.0 { tails.mirrored() } else { tails }
}

/// Where a Student t distribution has these tails.
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
