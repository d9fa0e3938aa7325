//! The gamma function and the regularized incomplete gamma functions.
//!
//! A direct evaluation of `x^a e^-x / Γ(a+1)` loses digits, because three large logarithms nearly cancel. Loader
//! (2000), "Fast and accurate computation of binomial probabilities", expresses it by two small terms, the error of
//! Stirling's formula and a deviance, on which all functions here are based.

use super::Tails;
use super::normal::normal_tails;
use super::root::root;
use std::f64::consts::{SQRT_2, TAU};

/// Above this shape the uniform expansion is exact in double precision, and the series would be long.
const MAX_SERIES_SHAPE: f64 = 1e8;

/// `log Γ(x)` for `x > 0`.
///
/// ```
/// assert!((mercer_num::special::ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// `log (n over k)`, also for non-integers.
pub fn ln_choose(n: f64, k: f64) -> f64 {
    ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
}

/// `x^k e^-x / Γ(k+1)`: the Poisson probability of `k` events with the mean `x`, also for non-integer `k`.
pub fn poisson_pmf(k: f64, x: f64) -> f64 {
    if k == 0.0 {
        return (-x).exp();
    }
    if x == 0.0 || k < 0.0 || !x.is_finite() {
        return 0.0;
    }
    (-stirling_error(k) - deviance(k, x)).exp() / (TAU * k).sqrt()
}

/// `log Γ(n+1)` minus Stirling's formula `(n + ½) log n − n + ½ log 2π`.
pub(super) fn stirling_error(n: f64) -> f64 {
    if n <= 15.0 {
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * TAU.ln();
    }
    let s = 1.0 / (n * n);
    let terms = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| sum * s + term) / n
}

/// `x log(x/m) + m − x`, without the cancellation near `x = m`.
pub(super) fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for j in 1..1000 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// The tail probabilities at `x` of a gamma distribution with this shape and rate one: the regularized incomplete gamma
/// functions `P(shape, x)` and `Q(shape, x)`.
pub fn gamma_tails(shape: f64, x: f64) -> Tails {
    if x <= 0.0 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if x == f64::INFINITY {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    if shape > MAX_SERIES_SHAPE {
        return uniform(shape, x);
    }
    if x < shape + 1.0 {
        let lower = (poisson_pmf(shape, x) * series(shape, x)).min(1.0);
        return Tails { lower, upper: 1.0 - lower };
    }
    let upper = (shape * poisson_pmf(shape, x) * fraction(shape, x)).min(1.0);
    Tails { lower: 1.0 - upper, upper }
}

/// `Σ xⁿ / ((a+1) … (a+n))`.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    while term > sum * 1e-17 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// `1/(x+1−a− 1(1−a)/(x+3−a− …))` by Lentz's method, for `x > a + 1`.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    let mut i = 0.0;
    loop {
        i += 1.0;
        let an = -i * (i - a);
        b += 2.0;
        d = an * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + an / c;
        c = if c.abs() < TINY { TINY } else { c };
        let factor = d * c;
        value *= factor;
        // A shape that needs more than a million terms takes the other branch.
        if (factor - 1.0).abs() < f64::EPSILON || i > 1e6 {
            return value;
        }
    }
}

/// The first term of Temme's expansion (1979); for shapes above [`MAX_SERIES_SHAPE`] the second is below rounding.
fn uniform(a: f64, x: f64) -> Tails {
    let half = deviance(a, x);
    let eta = (2.0 * half / a).sqrt().copysign(x - a);
    let mu = (x - a) / a;
    let c = if eta.abs() < 0.02 {
        let terms = [-1.0 / 3.0, 1.0 / 12.0, -2.0 / 135.0, 1.0 / 864.0, 1.0 / 2835.0];
        terms.iter().rev().fold(0.0, |sum, term| sum * eta + term)
    } else {
        1.0 / mu - 1.0 / eta
    };
    let normal = normal_tails(half.sqrt().copysign(x - a) * SQRT_2);
    let rest = (-half).exp() / (TAU * a).sqrt() * c;
    Tails { lower: (normal.lower - rest).max(0.0), upper: (normal.upper + rest).max(0.0) }
}

/// The quantile of a gamma distribution with this shape and rate one.
pub fn gamma_quantile(shape: f64, at: Tails) -> f64 {
    if at.lower <= 0.0 {
        return 0.0;
    }
    if at.upper <= 0.0 {
        return f64::INFINITY;
    }
    // The logarithm of the tail as a function of the logarithm of `x` is concave, so that Newton's method converges.
    let from_below = at.lower <= at.upper;
    let wanted = if from_below { at.lower.ln() } else { at.upper.ln() };
    let t = root(-800.0, 800.0, gamma_quantile_start(shape, at), |t| {
        let x = t.exp();
        let found = gamma_tails(shape, x);
        let density = shape * poisson_pmf(shape, x);
        if from_below {
            (found.lower.ln() - wanted, density / found.lower)
        } else {
            (wanted - found.upper.ln(), density / found.upper)
        }
    });
    t.exp()
}

/// The logarithm of an initial point: Wilson & Hilferty (1931), or the first term of the series if that is not
/// positive.
fn gamma_quantile_start(shape: f64, at: Tails) -> f64 {
    let z = super::normal_quantile(at);
    let cube = 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt());
    if cube > 0.3 {
        shape.ln() + 3.0 * cube.ln()
    } else {
        (at.lower.ln() + ln_gamma(shape + 1.0)) / shape
    }
}

/// `P(X > x)` of a chi-squared distribution, the p-value of a test.
///
/// ```
/// // The 5 % point of one degree of freedom, from any table.
/// assert!((mercer_num::special::chi_squared_sf(3.841458820694124, 1.0) - 0.05).abs() < 1e-15);
/// ```
pub fn chi_squared_sf(x: f64, degrees: f64) -> f64 {
    if degrees <= 0.0 {
        return if x > 0.0 { 0.0 } else { 1.0 };
    }
    gamma_tails(0.5 * degrees, 0.5 * x).upper
}
