//! The step of a column of dates: elapsed days and the parts of the calendar, each a numeric feature.

use super::NumericStep;
use crate::data::DatePart;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The fitted step of a column of dates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateStep {
    /// The date that elapsed days are counted from, the first of the training data, in days since 1970-01-01.
    pub origin: Option<f64>,
    /// The parts that vary in the training data, with the numeric step of each.
    pub parts: Vec<(DatePart, NumericStep)>,
}

impl Default for DateStep {
    /// All parts, to be fitted.
    fn default() -> Self {
        let parts = DatePart::ALL.map(|part| (part, NumericStep::default()));
        DateStep { origin: None, parts: parts.into() }
    }
}

impl DateStep {
    /// The number of features.
    pub fn width(&self) -> usize {
        self.parts.iter().map(|(_, step)| step.width()).sum()
    }

    /// The value of part `k` of a date.
    pub(crate) fn value(&self, k: usize, days: f64) -> f64 {
        self.parts[k].0.of(days, self.origin.unwrap_or(0.0))
    }

    /// Writes the features of a date.
    pub(crate) fn write(&self, days: f64, out: &mut [f64]) {
        let mut at = 0;
        for (k, (_, step)) in self.parts.iter().enumerate() {
            let width = step.width();
            step.write(self.value(k, days), &mut out[at..at + width]);
            at += width;
        }
    }

    /// The names of the features.
    pub fn names(&self, column: &str) -> Vec<String> {
        self.parts.iter().flat_map(|(part, step)| step.names(&part.feature(column))).collect()
    }

    /// Checks a step that was read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        if self.parts.is_empty() || !self.origin.is_none_or(f64::is_finite) {
            return Err(Error::File(
                "the preprocessing step of a column of dates is invalid".into(),
            ));
        }
        self.parts.iter().try_for_each(|(_, step)| step.check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_its_parts() {
        let step = DateStep { origin: Some(10.0), ..DateStep::default() };
        let mut out = vec![f64::NAN; step.width()];

        // 1970-01-15 06:00, a Thursday.
        step.write(14.25, &mut out);

        assert_eq!(out, [4.25, 1.0, 15.0, 3.0, 6.0]);
        assert_eq!(step.names("d"), ["d.days", "d.month", "d.day", "d.weekday", "d.hour"]);
    }
}
