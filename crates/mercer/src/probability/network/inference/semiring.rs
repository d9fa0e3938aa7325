//! What it means to multiply and to add up, so that one set of loops serves three purposes.
//!
//! Products of many small numbers underflow. Most queries never come near that, so they run on plain
//! numbers, scaled after every step, and notice when a number gets too small to be multiplied safely;
//! only then the same loops run again on logarithms, which cannot underflow but cost an `exp` each.

/// Numbers below this, next to a largest of one, make a query start over in logarithms: two of them
/// multiplied are still far from the smallest double.
const SMALLEST: f64 = 1e-100;

/// A way to multiply and to add up.
pub(super) trait Semiring {
    /// What changes nothing when added.
    const ZERO: f64;
    /// What changes nothing when multiplied.
    const ONE: f64;

    /// The cell of a probability.
    fn lift(p: f64) -> f64;

    /// The product.
    fn times(a: f64, b: f64) -> f64;

    /// What `times` undoes; `0 / 0` is 0: where nothing was, nothing is passed on.
    fn over(a: f64, b: f64) -> f64;

    /// The sum.
    fn plus(a: f64, b: f64) -> f64;

    /// The sum of a run of cells, at its fastest.
    fn sum(cells: &[f64]) -> f64 {
        cells.iter().fold(Self::ZERO, |sum, c| Self::plus(sum, *c))
    }

    /// Scales cells so that the next product is safe and returns the log of what was taken out, or
    /// `None` where plain numbers do not suffice.
    fn settle(cells: &mut [f64]) -> Option<f64>;

    /// Probabilities that are in proportion to cells, and the log of what the cells added up to.
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
