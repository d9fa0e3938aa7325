//! Numbers with thousands separators, a decimal comma, a percent sign or a currency.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Units that may stand before or behind a number. Longer ones first, so that `US$` is not read as `$`.
const UNITS: [&str; 22] = [
    "US$", "CHF", "USD", "EUR", "GBP", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "R$", "kr",
    "zł", "%", "‰", "$", "€", "£", "¥", "₹",
];

/// How numbers are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberNotation {
    /// The decimal separator.
    pub decimal: char,
    /// The thousands separator; a space stands for any kind of space.
    pub group: char,
    /// The unit that stands beside the numbers.
    pub unit: Option<String>,
}

impl NumberNotation {
    /// The pairs of a decimal and a thousands separator in use, the most frequent first.
    pub(super) const SEPARATORS: [(char, char); 5] =
        [('.', ','), (',', '.'), (',', ' '), ('.', ' '), ('.', '\'')];

    /// Numbers with a decimal separator and the usual thousands separator.
    pub fn with_decimal(decimal: char) -> NumberNotation {
        let group = if decimal == ',' { '.' } else { ',' };
        NumberNotation { decimal, group, unit: None }
    }

    /// The value of a trimmed cell, with or without the unit.
    pub(super) fn parse(&self, text: &str) -> Option<f64> {
        let parts = Parts::of(text)?;
        if parts.unit.is_some() && parts.unit != self.unit.as_deref() {
            return None;
        }
        parts.value(self.decimal, self.group)
    }
}

impl fmt::Display for NumberNotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "numbers written as 1{}234{}5", self.group, self.decimal)?;
        match &self.unit {
            Some(unit) => write!(f, " with the unit {unit}"),
            None => Ok(()),
        }
    }
}

/// The sign, the digits with their separators, and the unit of a number.
pub(super) struct Parts<'a> {
    negative: bool,
    digits: &'a str,
    pub unit: Option<&'static str>,
}

impl<'a> Parts<'a> {
    /// The parts of a cell; `None` if it is not a number in any notation.
    pub fn of(text: &'a str) -> Option<Parts<'a>> {
        // Accountants write negative amounts in parentheses.
        let inside = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        let mut parts =
            Parts { negative: inside.is_some(), digits: inside.unwrap_or(text), unit: None };
        // The sign may stand before or behind the currency: -$5, $-5.
        parts.take_sign();
        for unit in UNITS {
            let rest = parts.digits.strip_prefix(unit).or_else(|| parts.digits.strip_suffix(unit));
            if let Some(rest) = rest {
                parts.unit = Some(unit);
                parts.digits = rest.trim();
                break;
            }
        }
        if parts.unit.is_some() {
            parts.take_sign();
        }
        let (first, last) = (parts.digits.chars().next()?, parts.digits.chars().next_back()?);
        let begins = first.is_ascii_digit() || ".,".contains(first);
        (begins && last.is_ascii_digit()).then_some(parts)
    }

    fn take_sign(&mut self) {
        if let Some(rest) = self.digits.strip_prefix(['-', '−']) {
            self.negative = !self.negative;
            self.digits = rest.trim_start();
        } else if let Some(rest) = self.digits.strip_prefix('+') {
            self.digits = rest.trim_start();
        }
    }

    /// The value by a pair of separators: groups of three digits, then decimals.
    pub fn value(&self, decimal: char, group: char) -> Option<f64> {
        let is_group = |c: char| match group {
            ' ' => matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'),
            '\'' => matches!(c, '\'' | '’'),
            group => c == group,
        };
        let (whole, fraction) = match self.digits.split_once(decimal) {
            Some((whole, fraction)) => (whole, fraction),
            None => (self.digits, ""),
        };
        if !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut plain = String::with_capacity(self.digits.len() + 1);
        if self.negative {
            plain.push('-');
        }
        let mut groups = whole.split(is_group);
        let first = groups.next().unwrap_or_default();
        let mut n_groups = 0;
        plain.push_str(first);
        for group in groups {
            if group.len() != 3 {
                return None;
            }
            plain.push_str(group);
            n_groups += 1;
        }
        // 0,123 has no thousands.
        if n_groups > 0 && (first.is_empty() || first.len() > 3 || first.starts_with('0')) {
            return None;
        }
        let digits = &plain[usize::from(self.negative)..];
        if !digits.bytes().all(|b| b.is_ascii_digit()) || digits.len() + fraction.len() == 0 {
            return None;
        }
        plain.push('.');
        plain.push_str(fraction);
        plain.parse().ok().filter(|x: &f64| x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(decimal: char, group: char, unit: Option<&str>, text: &str) -> Option<f64> {
        NumberNotation { decimal, group, unit: unit.map(str::to_owned) }.parse(text)
    }

    #[test]
    fn separators_units_and_signs_are_understood() {
        assert_eq!(parse('.', ',', None, "1,234,567.5"), Some(1_234_567.5));
        assert_eq!(parse(',', '.', None, "-1.234,50"), Some(-1234.5));
        assert_eq!(parse(',', ' ', None, "12\u{202f}345,6"), Some(12_345.6));
        assert_eq!(parse('.', '\'', None, "1'000"), Some(1000.0));
        assert_eq!(parse('.', ',', Some("%"), "12.5 %"), Some(12.5));
        assert_eq!(parse('.', ',', Some("$"), "-$1,200"), Some(-1200.0));
        assert_eq!(parse('.', ',', Some("$"), "($3.50)"), Some(-3.5));
        assert_eq!(parse(',', '.', Some("€"), "1.000 €"), Some(1000.0));
        assert_eq!(parse(',', '.', None, ",5"), Some(0.5));
    }

    #[test]
    fn other_cells_are_no_numbers() {
        for text in ["12,34", "1,2345", "0,123", "1,23,456", "abc", "", "-", "$", "1.2.3", "5 kg"] {
            assert_eq!(parse('.', ',', Some("$"), text), None, "{text}");
        }
        assert_eq!(parse('.', ',', Some("$"), "€5"), None, "another unit");
    }
}
