//! Semirings for operations on tables: plain probabilities and log-probabilities.
//!
//! Products of many small numbers underflow. Queries first run on plain numbers, scaled after every step, and detect
//! numbers that are too small to be multiplied safely; only then they run again on logarithms, which cannot underflow
//! but cost an `exp` each.

/// Numbers below this, relative to a maximum of one, restart a query in logarithms: the product of two is still far
/// from underflow.
const SMALLEST: f64 = 1e-100;

/// A semiring.
pub(super) trait Semiring {
    /// The neutral element of addition.
    const ZERO: f64;
    /// The neutral element of multiplication.
    const ONE: f64;

    /// The cell of a probability.
    fn lift(p: f64) -> f64;

    /// The product.
    fn times(a: f64, b: f64) -> f64;

    /// The inverse of `times`, with `0 / 0 = 0`.
    fn over(a: f64, b: f64) -> f64;

    /// The sum.
    fn plus(a: f64, b: f64) -> f64;

    /// The sum of contiguous cells.
    fn sum(cells: &[f64]) -> f64 {
        cells.iter().fold(Self::ZERO, |sum, c| Self::plus(sum, *c))
    }

    /// Scales cells so that the next product does not underflow and returns the logarithm of the scale, or `None` if plain
    /// numbers do not suffice.
    fn settle(cells: &mut [f64]) -> Option<f64>;

    /// The normalized probabilities of cells, and the logarithm of their sum.
    fn normalize(cells: &[f64]) -> (Vec<f64>, f64);
}

/// Plain numbers.
pub(super) struct Plain;

impl Semiring for Plain {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn lift(p: f64) -> f64 {
        p
    }

    fn times(a: f64, b: f64) -> f64 {
        a * b
    }

    fn over(a: f64, b: f64) -> f64 {
        if a == 0.0 { 0.0 } else { a / b }
    }

    fn plus(a: f64, b: f64) -> f64 {
        a + b
    }

    fn settle(cells: &mut [f64]) -> Option<f64> {
        let largest = cells.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Some(f64::NEG_INFINITY);
        }
        let mut smallest = f64::INFINITY;
        let scale = 1.0 / largest;
        if !scale.is_finite() {
            return None;
        }
        for c in cells.iter_mut() {
            *c *= scale;
            smallest = smallest.min(if *c > 0.0 { *c } else { f64::INFINITY });
        }
        (smallest >= SMALLEST).then(|| largest.ln())
    }

    fn normalize(cells: &[f64]) -> (Vec<f64>, f64) {
        let sum: f64 = cells.iter().sum();
        (cells.iter().map(|c| c / sum).collect(), sum.ln())
    }
}

/// Logarithms.
pub(super) struct Log;

impl Semiring for Log {
    const ZERO: f64 = f64::NEG_INFINITY;
    const ONE: f64 = 0.0;

    fn lift(p: f64) -> f64 {
        p.ln()
    }

    fn times(a: f64, b: f64) -> f64 {
        a + b
    }

    fn over(a: f64, b: f64) -> f64 {
        if a == f64::NEG_INFINITY { a } else { a - b }
    }

    fn plus(a: f64, b: f64) -> f64 {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
    }

    fn settle(_: &mut [f64]) -> Option<f64> {
        Some(0.0)
    }

    fn normalize(cells: &[f64]) -> (Vec<f64>, f64) {
        let mut p = cells.to_vec();
        let log_sum = mercer_num::special::log_normalize(&mut p);
        p.iter_mut().for_each(|p| *p = p.exp());
        (p, log_sum)
    }
}
