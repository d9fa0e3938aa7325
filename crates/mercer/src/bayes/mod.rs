//! Naive Bayes: within a class, the columns are independent.
//!
//! `P(c | x) ∝ P(c) Πⱼ p(xⱼ | c)`; the members of the family differ in what they take `p(xⱼ | c)` to be.

mod bernoulli;
mod complement;
mod counted;
mod gaussian;
mod multinomial;

pub use bernoulli::{BernoulliNb, BernoulliNbModel};
pub use complement::{ComplementNb, ComplementNbModel};
pub use gaussian::{GaussianNb, GaussianNbModel, Variance};
pub use multinomial::{MultinomialNb, MultinomialNbModel};

use crate::error::{Error, Result};

/// `log P(class)`: the given priors, the shares of the weights, or all alike.
pub(crate) fn log_priors(priors: &[f64], fit_prior: bool, weights: &[f64]) -> Result<Vec<f64>> {
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
    Ok(match (priors, fit_prior) {
        ([], true) => weights.iter().map(|w| (w / total).ln()).collect(),
        ([], false) => vec![-(weights.len() as f64).ln(); weights.len()],
        (priors, _) => priors.iter().map(|p| p.ln()).collect(),
    })
}
