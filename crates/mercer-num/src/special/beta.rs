//! The beta function and the regularized incomplete beta function.

use super::Tails;
use super::gamma::{deviance, ln_gamma, stirling_error};
use super::root::root;
use std::f64::consts::TAU;

/// `log B(a, b)`.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small < 10.0 {
        return ln_gamma(small) + (ln_gamma(large) - ln_gamma(a + b));
    }
    // The leading terms of Stirling's formula are combined first, because the log-gammas would cancel.
    let n = a + b;
    0.5 * TAU.ln() + 0.5 * (n.ln() - a.ln() - b.ln()) - a * (b / a).ln_1p() - b * (a / b).ln_1p()
        + stirling_error(a)
        + stirling_error(b)
        - stirling_error(n)
}

/// `(n over k) p^k q^(n−k)` with `q = 1 − p`, also for non-integers (Loader 2000).
pub fn binomial_pmf(k: f64, n: f64, p: f64, q: f64) -> f64 {
    if k < 0.0 || k > n {
        return 0.0;
    }
    if p == 0.0 {
        return f64::from(u8::from(k == 0.0));
    }
    if q == 0.0 {
        return f64::from(u8::from(k == n));
    }
    // `ln_1p` of the smaller probability is accurate.
    let ln = |probability: f64, other: f64| {
        if other < 0.5 { (-other).ln_1p() } else { probability.ln() }
    };
    if k == 0.0 {
        return (n * ln(q, p)).exp();
    }
    if k == n {
        return (n * ln(p, q)).exp();
    }
    let rest = n - k;
    let log = stirling_error(n)
        - stirling_error(k)
        - stirling_error(rest)
        - deviance(k, n * p)
        - deviance(rest, n * q);
    log.exp() * (n / (TAU * k * rest)).sqrt()
}

/// The tail probabilities of a beta distribution at `x`: the regularized incomplete beta function.
pub fn beta_tails(a: f64, b: f64, x: f64) -> Tails {
    beta_tails_with_complement(a, b, x, 1.0 - x)
}

/// As [`beta_tails`], with `y = 1 − x` given, which is accurate for `x` close to one.
pub(super) fn beta_tails_with_complement(a: f64, b: f64, x: f64, y: f64) -> Tails {
    if x <= 0.0 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if y <= 0.0 {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return below(b, a, y, x).mirrored();
    }
    below(a, b, x, y)
}

fn below(a: f64, b: f64, x: f64, y: f64) -> Tails {
    let lower = (density(a, b, x, y) / fraction(a, b, x, y)).min(1.0);
    Tails { lower, upper: 1.0 - lower }
}

/// `x^a y^b / B(a, b)`, the density of the log-odds of `x`.
fn density(a: f64, b: f64, x: f64, y: f64) -> f64 {
    a * (b / (a + b)) * binomial_pmf(a, a + b, x, y)
}

/// The continued fraction of DiDonato & Morris (1992, equation 9) by Lentz's method. `y` is given separately, because
/// `1 − x` is inaccurate for `x` close to one.
fn fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let safe = |v: f64| if v.abs() < TINY { TINY } else { v };
    let shift = a * y - b * x + 1.0;
    let mut value = safe(a / (a + 1.0) * shift);
    let (mut c, mut d) = (value, 0.0);
    let mut m = 0.0;
    loop {
        m += 1.0;
        let at = a + 2.0 * m - 1.0;
        let up = (a + m - 1.0) / at * ((a + b + m - 1.0) / at) * m * (b - m) * x * x;
        let down = m + m * (b - m) * x / at + (a + m) / (at + 2.0) * (shift + m * (1.0 + y));
        d = 1.0 / safe(down + up * d);
        c = safe(down + up / c);
        let factor = c * d;
        value *= factor;
        // About the square root of the larger parameter suffices; a million terms serve parameters up to 10^11.
        if (factor - 1.0).abs() < f64::EPSILON || m > 1e6 {
            return value;
        }
    }
}

/// The quantile of a beta distribution with these tail probabilities.
pub fn beta_quantile(a: f64, b: f64, at: Tails) -> f64 {
    if at.lower <= 0.0 {
        return 0.0;
    }
    if at.upper <= 0.0 {
        return 1.0;
    }
    logistic(beta_log_odds(a, b, at))
}

/// The log-odds of the quantile, accurate even if the quantile rounds to zero or one.
pub(super) fn beta_log_odds(a: f64, b: f64, at: Tails) -> f64 {
    let from_below = at.lower <= at.upper;
    let wanted = if from_below { at.lower.ln() } else { at.upper.ln() };
    // The initial point is the mean of the log-odds plus a multiple of their standard deviation.
    let start = (a / b).ln() + super::normal_quantile(at) * (1.0 / a + 1.0 / b).sqrt();
    root(-800.0, 800.0, start, |t| {
        let (x, y) = (logistic(t), logistic(-t));
        let found = beta_tails_with_complement(a, b, x, y);
        let slope = density(a, b, x, y);
        if from_below {
            (found.lower.ln() - wanted, slope / found.lower)
        } else {
            (wanted - found.upper.ln(), slope / found.upper)
        }
    })
}

fn logistic(t: f64) -> f64 {
    if t < 0.0 {
        let e = t.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-t).exp())
    }
}
