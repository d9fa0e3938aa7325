//! Prior class probabilities.

use crate::error::{Error, Result};
use mercer_num::random::Random;

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

/// The classes of sampled rows: drawn from the priors, or all the given one.
pub(crate) fn drawn_classes(
    log_priors: &[f64],
    n: usize,
    given: Option<u32>,
    random: &mut Random,
) -> Vec<u32> {
    if let Some(class) = given {
        return vec![class; n];
    }
    let priors: Vec<f64> = log_priors.iter().map(|p| p.exp()).collect();
    (0..n).map(|_| random.choice(&priors) as u32).collect()
}
