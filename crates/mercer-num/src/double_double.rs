//! Double-double arithmetic: an unevaluated sum of two doubles, about 32 digits.
//!
//! Dekker (1971); Hida, Li & Bailey (2001). The cross-products of nearly collinear columns need this precision.

use multiversion::multiversion;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `low` is the rounding error of `high`.
///
/// ```
/// use mercer_num::double_double::DoubleDouble;
/// let third = DoubleDouble::from(1.0) / DoubleDouble::from(3.0);
/// let one = third * DoubleDouble::from(3.0);
/// assert!((one - DoubleDouble::from(1.0)).value().abs() < 1e-31);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DoubleDouble {
    /// The value rounded to a double.
    pub high: f64,
    /// The rounding error.
    pub low: f64,
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: DoubleDouble = DoubleDouble { high: 0.0, low: 0.0 };

    /// The exact sum of two doubles (Knuth).
    #[inline(always)]
    pub fn sum(a: f64, b: f64) -> DoubleDouble {
        let high = a + b;
        let part = high - a;
        DoubleDouble { high, low: (a - (high - part)) + (b - part) }
    }

    /// The exact product of two doubles.
    #[inline(always)]
    pub fn product(a: f64, b: f64) -> DoubleDouble {
        let high = a * b;
        DoubleDouble { high, low: a.mul_add(b, -high) }
    }

    /// Rounded to a double.
    #[inline(always)]
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// The square root; zero for values that are not positive.
    pub fn sqrt(self) -> DoubleDouble {
        if self.high <= 0.0 {
            return DoubleDouble::ZERO;
        }
        // One Newton step from the root of the leading part doubles its digits.
        let root = self.high.sqrt();
        let rest = self - DoubleDouble::product(root, root);
        quick_sum(root, rest.high / (2.0 * root))
    }
}

/// The exact sum for `|a| ≥ |b|`.
#[inline(always)]
fn quick_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

impl From<f64> for DoubleDouble {
    #[inline(always)]
    fn from(high: f64) -> Self {
        DoubleDouble { high, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;

    #[inline(always)]
    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (s, t) =
            (DoubleDouble::sum(self.high, other.high), DoubleDouble::sum(self.low, other.low));
        let s = quick_sum(s.high, s.low + t.high);
        quick_sum(s.high, s.low + t.low)
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;

    #[inline(always)]
    fn neg(self) -> DoubleDouble {
        DoubleDouble { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;

    #[inline(always)]
    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;

    #[inline(always)]
    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let p = DoubleDouble::product(self.high, other.high);
        quick_sum(p.high, p.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;

    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.high / other.high;
        let rest = self - other * DoubleDouble::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * DoubleDouble::from(second);
        quick_sum(first, second) + DoubleDouble::from(rest.high / other.high)
    }
}

impl PartialOrd for DoubleDouble {
    fn partial_cmp(&self, other: &DoubleDouble) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high)? {
            Ordering::Equal => self.low.partial_cmp(&other.low),
            order => Some(order),
        }
    }
}

/// `(high, low) += x`, element by element.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub fn add_doubles(high: &mut [f64], low: &mut [f64], x: &[f64]) {
    for ((h, l), x) in high.iter_mut().zip(low).zip(x) {
        let sum = DoubleDouble { high: *h, low: *l } + DoubleDouble::from(*x);
        (*h, *l) = (sum.high, sum.low);
    }
}

/// `(high, low) += (other high, other low)`, element by element.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub fn add(high: &mut [f64], low: &mut [f64], other_high: &[f64], other_low: &[f64]) {
    let others = other_high.iter().zip(other_low);
    for ((h, l), (oh, ol)) in high.iter_mut().zip(low).zip(others) {
        let sum = DoubleDouble { high: *h, low: *l } + DoubleDouble { high: *oh, low: *ol };
        (*h, *l) = (sum.high, sum.low);
    }
}

/// `Σ aᵢ bᵢ`, in eight lanes that are added in a fixed order.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
pub fn dot(a_high: &[f64], a_low: &[f64], b_high: &[f64], b_low: &[f64]) -> DoubleDouble {
    let n = a_high.len();
    let mut lanes = [DoubleDouble::ZERO; 8];
    let mut k = 0;
    while k + 8 <= n {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            let i = k + lane;
            let a = DoubleDouble { high: a_high[i], low: a_low[i] };
            let b = DoubleDouble { high: b_high[i], low: b_low[i] };
            *sum = *sum + a * b;
        }
        k += 8;
    }
    for (lane, i) in (k..n).enumerate() {
        let a = DoubleDouble { high: a_high[i], low: a_low[i] };
        let b = DoubleDouble { high: b_high[i], low: b_low[i] };
        lanes[lane] = lanes[lane] + a * b;
    }
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
        + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(x: DoubleDouble, expected: f64) -> bool {
        (x - DoubleDouble::from(expected)).value().abs() <= 1e-30 * expected.abs()
    }

    #[test]
    fn thirty_digits_survive() {
        let (a, b) = (DoubleDouble::sum(1e16, 1.0), DoubleDouble::sum(1.0, 1e-17));

        assert_eq!((a - DoubleDouble::from(1e16)).value(), 1.0);
        assert_eq!((b - DoubleDouble::from(1.0)).value(), 1e-17);
        // (10^13 + 1/64)(10^13 − 1/64) = 10^26 − 1/4096
        let product = DoubleDouble::sum(1e13, 1.0 / 64.0) * DoubleDouble::sum(1e13, -1.0 / 64.0);
        assert_eq!((product - DoubleDouble::product(1e13, 1e13)).value(), -1.0 / 4096.0);
    }

    #[test]
    fn quotients_and_roots_invert_products() {
        for x in [2.0, 3.0, 0.1, 7e20, 1e-9] {
            let x = DoubleDouble::from(x);
            assert!(is(x / DoubleDouble::from(7.0) * DoubleDouble::from(7.0), x.high));
            assert!(is(x.sqrt() * x.sqrt(), x.high));
        }
        assert_eq!(DoubleDouble::from(-1.0).sqrt(), DoubleDouble::ZERO);
    }

    #[test]
    fn dot_products_survive_cancellation() {
        let a = [1e20, 3.0, -1e20, 5.0, 0.0, 0.0, 0.0, 0.0, 1e-20];
        let ones = [1.0; 9];

        let sum = dot(&a, &[0.0; 9], &ones, &[0.0; 9]);

        assert_eq!(sum.value(), 8.0);
        assert_eq!(sum.low, 1e-20);
    }
}
