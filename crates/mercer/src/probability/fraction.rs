//! A probability as a fraction of counts.

use crate::explain::short;
use serde::Serialize;
use std::fmt;

/// 2⁵³: larger integers are not exact in a 64-bit float.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// A ratio of two numbers. A ratio of counts is printed as a fraction that is not reduced, so that the denominator is
/// the number of observations.
///
/// ```
/// use mercer::probability::Fraction;
/// assert_eq!(Fraction::new(195.0, 365.0).to_string(), "195/365 = 0.5342");
/// assert_eq!(Fraction::new(0.2, 1.0).to_string(), "0.2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction {
    numerator: f64,
    denominator: f64,
}

impl Fraction {
    /// `numerator / denominator`.
    pub fn new(numerator: f64, denominator: f64) -> Fraction {
        Fraction { numerator, denominator }
    }

    /// Its value.
    pub fn value(&self) -> f64 {
        self.numerator / self.denominator
    }

    /// `numerator / denominator` in lowest terms; `None` if a 64-bit float cannot hold one of them exactly.
    pub(crate) fn reduced(numerator: i128, denominator: i128) -> Option<Fraction> {
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a).ok().filter(|a| *a > 0)?;
        let (n, d) = (numerator / divisor, denominator / divisor);
        let exact = |x: i128| x.unsigned_abs() <= MAX_EXACT_INTEGER as u128;
        (exact(n) && exact(d)).then(|| Fraction::new(n as f64, d as f64))
    }

    /// Numerator and denominator, if both are integers, not negative, and the denominator is not one.
    pub fn counts(&self) -> Option<(u64, u64)> {
        self.integers().filter(|(n, d)| *n >= 0 && *d > 1).map(|(n, d)| (n as u64, d as u64))
    }

    /// Numerator and denominator, if both are integers.
    pub fn integers(&self) -> Option<(i64, i64)> {
        let is_integer = |x: f64| x.abs() <= MAX_EXACT_INTEGER && x.fract() == 0.0;
        (is_integer(self.numerator) && is_integer(self.denominator) && self.denominator >= 1.0)
            .then_some((self.numerator as i64, self.denominator as i64))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integers() {
            Some((n, d)) if d > 1 => write!(f, "{n}/{d} = {}", short(self.value())),
            _ => f.pad(&short(self.value())),
        }
    }
}

impl Serialize for Fraction {
    /// `{"value": 0.534…, "fraction": [195, 365]}`; the fraction is null if it is not one of counts.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Fraction", 2)?;
        fields.serialize_field("value", &self.value())?;
        fields.serialize_field("fraction", &self.integers().filter(|(_, d)| *d > 1))?;
        fields.end()
    }
}
