//! Probability: joint distributions, Bayes' theorem, conjugate priors, Bayesian networks.
//!
//! - [`joint`]: joint distributions of discrete variables
//! - [`bayes_rule`]: Bayes' theorem with its steps
//! - [`belief`]: sequential updating of a posterior
//! - [`conjugate`]: posteriors in closed form under conjugate priors
//! - [`density`]: binomial, multinomial, Poisson and exponential distributions
//! - [`gaussian`]: the multivariate normal distribution
//! - [`network`]: Bayesian networks over discrete variables

pub mod bayes_rule;
pub mod belief;
pub mod conjugate;
pub mod density;
mod fraction;
pub mod gaussian;
pub mod joint;
pub mod network;

pub use bayes_rule::{BayesRule, Hypothesis};
pub use belief::{Belief, Update};
pub use fraction::Fraction;
pub use gaussian::MultivariateNormal;
pub use joint::{Event, JointTable, Variable};

use crate::error::{Error, Result};

/// The tolerance for the sum of probabilities that a user enters.
pub(crate) const SUM_TOLERANCE: f64 = 1e-6;

/// Refuses a number that is not a probability.
pub(crate) fn check_probability(what: impl FnOnce() -> String, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::Number { what: what(), value, expected: "a probability between 0 and 1".into() })
}

/// Refuses a number that is not positive and finite.
pub(crate) fn check_positive(what: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Number { what: what.into(), value, expected: "a number above 0".into() })
}

/// Refuses a number that is negative or not finite.
pub(crate) fn check_count(what: impl FnOnce() -> String, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Number { what: what(), value, expected: "a finite number of at least 0".into() })
}

/// Refuses numbers that are not probabilities or do not sum to one.
pub(crate) fn check_distribution(what: &str, names: &[String], values: &[f64]) -> Result<()> {
    for (name, value) in names.iter().zip(values) {
        check_probability(|| format!("the {what} of `{name}`"), *value)?;
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        let parts = format!("the {what}s of {}", names.join(", "));
        return Err(Error::NotOne { what: parts, sum });
    }
    Ok(())
}

/// Refuses names that are empty or not unique.
pub(crate) fn check_names(what: &str, names: &[String]) -> Result<()> {
    let wrong = |found: String| Error::Parameter {
        name: what.into(),
        found,
        expected: "distinct names, at least one".into(),
    };
    if names.is_empty() {
        return Err(wrong("empty".into()));
    }
    match names.iter().enumerate().find(|(i, name)| name.is_empty() || names[..*i].contains(name)) {
        Some((_, name)) if name.is_empty() => Err(wrong("an empty name".into())),
        Some((_, name)) => Err(wrong(format!("`{name}` twice"))),
        None => Ok(()),
    }
}
