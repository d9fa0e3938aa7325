//! Prior class probabilities.

use crate::error::{Error, Result};

/// `log P(class)`: the given priors, or the class frequencies (`fit_prior`), or equal probabilities.
///
/// # Errors
/// [`Error::Parameter`] unless there is one prior per class; [`Error::NoRows`] if the total weight is zero.
pub(crate) fn log_priors(priors: &[f64], fit_prior: bool, weights: &[f64]) -> Result<Vec<f64>> {
    if !priors.is_empty() && priors.len() != weights.len() {
        return Err(Error::Parameter {
            name: "priors".into(),
            found: format!("a list of {} values", priors.len()),
            expected: format!("one prior per class ({})", weights.len()),
        });
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::NoRows);
    }
    Ok(match (priors, fit_prior) {
        ([], true) => weights.iter().map(|w| (w / total).ln()).collect(),
        ([], false) => vec![-(weights.len() as f64).ln(); weights.len()],
        (priors, _) => priors.iter().map(|p| p.ln()).collect(),
    })
}
