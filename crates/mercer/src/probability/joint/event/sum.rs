//! Sums of numeric variables: `2*x - y + 1`.

use crate::error::{Error, Result};

/// A linear combination of variables.
pub(super) struct Sum {
    pub(super) constant: f64,
    /// Coefficients and indices of the variables.
    pub(super) terms: Vec<(f64, usize)>,
}

impl Sum {
    /// Reads a sum over variables with these names. A name may contain spaces and signs; the longest one counts.
    ///
    /// # Errors
    /// If a term is neither a variable nor a number.
    pub(super) fn parse(text: &str, names: &[String]) -> Result<Sum> {
        let mut sum = Sum { constant: 0.0, terms: Vec::new() };
        let mut rest = text.trim();
        let mut first = true;
        while first || !rest.is_empty() {
            let signed = rest.strip_prefix('-').map(|r| (-1.0, r));
            let (sign, after) = match signed.or(rest.strip_prefix('+').map(|r| (1.0, r))) {
                Some(signed) => signed,
                None if first => (1.0, rest),
                None => return Err(unknown(text, rest, names)),
            };
            let (factor, after) = factor(after.trim_start(), names);
            match (variable(after, names), factor) {
                (Some((index, after)), factor) => {
                    sum.terms.push((sign * factor.value(), index));
                    rest = after.trim_start();
                }
                (None, Factor::Number(value)) => {
                    sum.constant += sign * value;
                    rest = after.trim_start();
                }
                (None, _) => return Err(unknown(text, after, names)),
            }
            first = false;
        }
        Ok(sum)
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().map(|(_, index)| *index)
    }
}

/// What precedes the variable of a term.
enum Factor {
    None,
    /// `2`, a constant or the coefficient of `2x`.
    Number(f64),
    /// `2*`, which a variable has to follow.
    Product(f64),
}

impl Factor {
    fn value(&self) -> f64 {
        match self {
            Factor::None => 1.0,
            Factor::Number(value) | Factor::Product(value) => *value,
        }
    }
}

/// The leading number of a term, and what follows it. A name that starts with a digit is not a number.
fn factor<'a>(text: &'a str, names: &[String]) -> (Factor, &'a str) {
    match number(text) {
        Some((value, after)) if variable(text, names).is_none() => {
            match after.trim_start().strip_prefix('*') {
                Some(after) => (Factor::Product(value), after.trim_start()),
                None => (Factor::Number(value), after.trim_start()),
            }
        }
        _ => (Factor::None, text),
    }
}

/// The longest name at the start of a text that ends there at a sign, a space or the end.
fn variable<'a>(text: &'a str, names: &[String]) -> Option<(usize, &'a str)> {
    let ends = |after: &str| {
        after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || "+-*".contains(c))
    };
    (names.iter().enumerate())
        .filter_map(|(i, name)| text.strip_prefix(name.as_str()).map(|after| (i, after)))
        .filter(|(_, after)| ends(after))
        .min_by_key(|(_, after)| after.len())
}

/// The longest finite number at the start of a text.
fn number(text: &str) -> Option<(f64, &str)> {
    let digits = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let length = text.find(|c| !digits(c)).unwrap_or(text.len());
    (1..=length).rev().find_map(|end| {
        let value: f64 = text[..end].parse().ok().filter(|x: &f64| x.is_finite())?;
        Some((value, &text[end..]))
    })
}

fn unknown(text: &str, rest: &str, names: &[String]) -> Error {
    let known = super::super::listed(names.iter());
    if rest == text.trim() {
        return Error::UnknownVariable { name: text.to_owned(), known };
    }
    Error::Parameter {
        name: "event".into(),
        found: format!("`{rest}` in `{text}`"),
        expected: format!("a sum of numbers and of the variables {known}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_coefficients_and_constants() {
        let names = ["x".to_owned(), "petal-length".into(), "2nd".into()];

        let sum = Sum::parse("2*x - petal-length + 1.5e1 + 2nd", &names).unwrap();

        assert_eq!(sum.terms, [(2.0, 0), (-1.0, 1), (1.0, 2)]);
        assert_eq!(sum.constant, 15.0);
        assert_eq!(Sum::parse("-3", &names).unwrap().constant, -3.0);
        for wrong in ["", "y", "x+", "x y", "2*", "x+y", "1 2"] {
            assert!(Sum::parse(wrong, &names).is_err(), "{wrong}");
        }
    }
}
