//! Reasoning with probabilities, before any classifier.
//!
//! - [`joint`]: tables over discrete variables
//! - [`bayes_rule`]: from prior and likelihood to posterior, with the steps
//! - [`belief`]: one observation after the other
//! - [`conjugate`]: a parameter's posterior in closed form
//! - [`density`]: the distributions the lectures count with
//! - [`gaussian`]: the bell curve over several numbers
//! - [`network`]: Bayesian networks over discrete variables

pub mod bayes_rule;
pub mod belief;
pub mod conjugate;
pub mod density;
pub mod gaussian;
pub mod joint;
pub mod network;
mod share;

pub use bayes_rule::{BayesRule, Hypothesis};
pub use belief::{Belief, Update};
pub use gaussian::MultivariateNormal;
pub use joint::{Event, JointTable, Variable};
pub use share::Share;

use crate::error::{Error, Result};

/// How far probabilities that were typed in may be from adding up to one.
pub(crate) const SLACK: f64 = 1e-6;

/// Refuses what is no probability.
pub(crate) fn check_probability(what: impl FnOnce() -> String, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::Number { what: what(), value, expected: "a probability between 0 and 1".into() })
}

/// Refuses what is no positive, finite number.
pub(crate) fn check_positive(what: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Number { what: what.into(), value, expected: "a number above 0".into() })
}

/// Refuses what is no finite number of at least zero.
pub(crate) fn check_count(what: impl FnOnce() -> String, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Number { what: what(), value, expected: "a finite number of at least 0".into() })
}

/// Refuses numbers that are no probabilities or do not add up to one.
pub(crate) fn check_distribution(what: &str, names: &[String], values: &[f64]) -> Result<()> {
    for (name, value) in names.iter().zip(values) {
        check_probability(|| format!("the {what} of `{name}`"), *value)?;
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > SLACK {
        let parts = format!("the {what}s of {}", names.join(", "));
        return Err(Error::NotOne { what: parts, sum });
    }
    Ok(())
}

/// Refuses names that are empty or come twice.
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
        Some((_, name)) if name.is_empty() => Err(wrong("a name without letters".into())),
        Some((_, name)) => Err(wrong(format!("`{name}` twice"))),
        None => Ok(()),
    }
}
