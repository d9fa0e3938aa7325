//! A weighted sum told term by term: which column pushed the prediction where.

use crate::error::{Error, Result};
use crate::model::Additive;
use serde::Serialize;

/// A prediction that is `intercept + Σⱼ coefficientⱼ · xⱼ`.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The constant term.
    pub intercept: f64,
    /// The weight of each column.
    pub coefficients: &'a [f64],
    /// Where each column stands on average, zero where that is not part of the model.
    pub means: &'a [f64],
}

/// Why a row got its number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermExplanation {
    /// The constant term.
    pub intercept: f64,
    /// One entry a column, in column order.
    pub terms: Vec<Term>,
    /// What an average row gets.
    pub average: f64,
    /// `intercept + Σ term`.
    pub prediction: f64,
}

/// What one column adds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// The column's name.
    pub column: String,
    /// Its value.
    pub value: f64,
    /// Its weight.
    pub coefficient: f64,
    /// Weight times value.
    pub term: f64,
    /// How far it moves the prediction from that of an average row.
    pub push: f64,
}

impl TermExplanation {
    /// The terms, the strongest push first.
    pub fn ladder(&self) -> Vec<&Term> {
        let mut rungs: Vec<&Term> = self.terms.iter().collect();
        rungs.sort_by(|a, b| b.push.abs().total_cmp(&a.push.abs()));
        rungs
    }
}

/// Explains one row.
///
/// # Errors
/// If the row does not fit the model or has a cell that is not finite.
pub fn explain_terms(
    model: &dyn Additive,
    row: &[f64],
    names: &[String],
) -> Result<TermExplanation> {
    let Terms { intercept, coefficients, means } = model.terms();
    if row.len() != coefficients.len() {
        return Err(Error::Columns { found: row.len(), expected: coefficients.len() });
    }
    if let Some(column) = row.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite { row: 0, column, value: row[column] });
    }
    let terms: Vec<Term> = row
        .iter()
        .enumerate()
        .map(|(j, value)| Term {
            column: names.get(j).cloned().unwrap_or_else(|| format!("x{j}")),
            value: *value,
            coefficient: coefficients[j],
            term: coefficients[j] * value,
            push: coefficients[j] * (value - means[j]),
        })
        .collect();
    let at = |x: &[f64]| coefficients.iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
    Ok(TermExplanation {
        intercept,
        average: intercept + at(means),
        prediction: intercept + at(row),
        terms,
    })
}
