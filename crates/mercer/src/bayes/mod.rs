//! Naive Bayes: within a class, the columns are independent.

mod gaussian;

pub use gaussian::{GaussianNb, GaussianNbModel, Variance};

use crate::error::{Error, Result};

/// `log P(class)`: the given priors, or the shares of the weights.
fn log_priors(priors: &[f64], weights: &[f64]) -> Result<Vec<f64>> {
    if !priors.is_empty() && priors.len() != weights.len() {
        return Err(Error::Parameter {
            name: "priors".into(),
            found: format!("{} numbers", priors.len()),
            expected: format!("one number for each of the {} classes", weights.len()),
        });
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::NoRows);
    }
    Ok(if priors.is_empty() {
        weights.iter().map(|w| (w / total).ln()).collect()
    } else {
        priors.iter().map(|p| p.ln()).collect()
    })
}
