//! A linear prediction as a sum: the intercept and one term per column.

use super::{column_name, ranked_by};
use crate::error::{Error, Result};
use crate::model::LinearModel;
use serde::Serialize;

/// A prediction that is `intercept + Σⱼ coefficientⱼ · xⱼ`.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The intercept.
    pub intercept: f64,
    /// The coefficient of each column.
    pub coefficients: &'a [f64],
    /// The training mean of each column, zero if the model does not store it.
    pub means: &'a [f64],
}

/// The prediction of a linear model for one row, term by term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermExplanation {
    /// The intercept.
    pub intercept: f64,
    /// One entry per column, in column order.
    pub terms: Vec<Term>,
    /// The prediction for a row of column means.
    pub average: f64,
    /// `intercept + Σ term`.
    pub prediction: f64,
}

/// The term of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// The column's name.
    pub column: String,
    /// Its value.
    pub value: f64,
    /// The value in the units of the column, if it was scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<f64>,
    /// Its coefficient.
    pub coefficient: f64,
    /// `coefficient · value`.
    pub term: f64,
    /// `coefficient · (value − mean)`: by how much the column moves the prediction away from `average`.
    pub contribution: f64,
}

impl TermExplanation {
    /// The terms by magnitude of their contribution, the largest first.
    pub fn ranked_contributions(&self) -> Vec<&Term> {
        ranked_by(self.terms.iter().collect(), |t| t.contribution)
    }
}

/// Explains the prediction for one row.
///
/// # Errors
/// If the row has another number of columns than the model, or a cell that is not finite.
pub fn explain_terms(
    model: &dyn LinearModel,
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
            column: column_name(names, j),
            value: *value,
            original: None,
            coefficient: coefficients[j],
            term: coefficients[j] * value,
            contribution: coefficients[j] * (value - means[j]),
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
