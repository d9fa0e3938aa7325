//! How the values of a column are written in a text: as plain numbers, with thousands separators, a decimal comma or a
//! unit, or as dates.
//!
//! A notation is inferred from all cells of a column, stored in the schema of the model, and used again to parse the
//! cells of new files.

mod date;
mod detect;
mod number;

pub use date::{DateOrder, DatePart, calendar};
pub use detect::{NotationCounts, is_boolean, parse_boolean};
pub use number::NumberNotation;

use serde::{Deserialize, Serialize};
use std::fmt;

/// How the cells of a numeric column are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notation {
    /// Digits with a decimal point and an optional exponent.
    #[default]
    Plain,
    /// Numbers with separators or a unit.
    Number(NumberNotation),
    /// Dates and timestamps; their value is the number of days since 1970-01-01 00:00.
    Date(DateOrder),
}

impl Notation {
    /// Whether cells are plain numbers.
    pub fn is_plain(&self) -> bool {
        *self == Notation::Plain
    }

    /// Whether cells are dates.
    pub fn is_date(&self) -> bool {
        matches!(self, Notation::Date(_))
    }

    /// The unit that is written beside the numbers.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Notation::Number(number) => number.unit.as_deref(),
            Notation::Plain | Notation::Date(_) => None,
        }
    }

    /// The value of a trimmed cell; `None` if it is not written in this notation. Plain numbers are parsed by the
    /// reader of the file format, which is faster.
    pub fn parse(&self, text: &str) -> Option<f64> {
        match self {
            Notation::Plain => text.parse().ok().filter(|x: &f64| x.is_finite()),
            Notation::Number(number) => number.parse(text),
            Notation::Date(order) => date::parse(text, *order),
        }
    }

    /// A value as a cell of a report: dates as dates, other values with their unit.
    pub fn format(&self, value: f64) -> String {
        match self {
            Notation::Date(_) => date::format(value),
            _ => match self.unit() {
                Some(unit) => format!("{} {unit}", crate::explain::short(value)),
                None => crate::explain::short(value),
            },
        }
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notation::Plain => f.write_str("plain numbers"),
            Notation::Number(number) => number.fmt(f),
            Notation::Date(order) => write!(f, "dates written as {order}"),
        }
    }
}
