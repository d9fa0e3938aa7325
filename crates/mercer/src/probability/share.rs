//! A probability as the lecture writes it: so many of so many.

use crate::explain::short;
use serde::Serialize;
use std::fmt;

/// Whole numbers above this are not exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A part of a whole. Where both are counts it stays the fraction of the lecture, not reduced, so
/// that its denominator still says how many there were.
///
/// ```
/// use mercer::probability::Share;
/// assert_eq!(Share::new(195.0, 365.0).to_string(), "195/365 = 0.5342");
/// assert_eq!(Share::new(0.2, 1.0).to_string(), "0.2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    part: f64,
    whole: f64,
}

impl Share {
    /// `part` of `whole`.
    pub fn new(part: f64, whole: f64) -> Share {
        Share { part, whole }
    }

    /// As a number.
    pub fn value(&self) -> f64 {
        self.part / self.whole
    }

    /// Numerator and denominator, where both are whole numbers and say more than the number does.
    pub fn fraction(&self) -> Option<(u64, u64)> {
        let whole = |x: f64| (0.0..=EXACT).contains(&x) && x.fract() == 0.0;
        (whole(self.part) && whole(self.whole) && self.whole > 1.0)
            .then_some((self.part as u64, self.whole as u64))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fraction() {
            Some((part, whole)) => write!(f, "{part}/{whole} = {}", short(self.value())),
            None => f.pad(&short(self.value())),
        }
    }
}

impl Serialize for Share {
    /// `{"value": 0.534…, "fraction": [195, 365]}`; the fraction is null where there is none.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Share", 2)?;
        fields.serialize_field("value", &self.value())?;
        fields.serialize_field("fraction", &self.fraction())?;
        fields.end()
    }
}
