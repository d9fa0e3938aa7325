//! A naive Bayes prediction as a product: the prior times one likelihood per column, normalized.
//!
//! `P(c | x) = P(c) Πⱼ p(xⱼ | c) / Σ_c′ P(c′) Πⱼ p(xⱼ | c′)`

use super::{column_name, ranked_by, short};
use crate::data::Label;
use crate::error::Result;
use crate::model::{FactorizedLikelihood, is_impossible, normalize_row};
use serde::Serialize;

/// The posterior of one row, factor by factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The classes in code order.
    pub classes: Vec<Label>,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// One entry per column, in column order.
    pub factors: Vec<Factor>,
    /// `Σ log factor`: the logarithm of the likelihood `p(row | class)`, before the prior.
    pub log_likelihood: Vec<f64>,
    /// `log P(class) + Σ log factor`.
    pub log_joint: Vec<f64>,
    /// `P(class | row)`; the priors if the row is impossible.
    pub posterior: Vec<f64>,
    /// Whether the likelihood is zero in every class.
    pub impossible: bool,
    /// The index of the predicted class in `classes`.
    pub winner: usize,
    /// The index of the runner-up in `classes`.
    pub runner_up: usize,
}

/// The likelihood of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Factor {
    /// The column's name.
    pub column: String,
    /// Its value; `None` if it is missing and has no factor.
    pub value: Option<f64>,
    /// The category (level) that the value encodes, if the column is not numeric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// `log p(value | class)` for every class.
    pub log_factors: Vec<f64>,
    /// The formula of the likelihood for every class, with the numbers filled in.
    pub formulas: Vec<String>,
    /// Its contribution to the log-odds of the predicted class over the runner-up.
    pub log_odds: f64,
}

impl Explanation {
    /// The same explanation with the levels of categorical columns: `level` maps a feature index and a
    /// value to the level it encodes.
    #[must_use]
    pub fn with_levels(mut self, level: impl Fn(usize, f64) -> Option<String>) -> Explanation {
        for (j, factor) in self.factors.iter_mut().enumerate() {
            factor.level = factor.level.take().or_else(|| factor.value.and_then(|x| level(j, x)));
        }
        self
    }

    /// The log-odds of the prior, predicted class over runner-up.
    pub fn prior_log_odds(&self) -> f64 {
        difference(&self.log_priors, self.winner, self.runner_up)
    }

    /// The log-odds of the predicted class over the runner-up: that of the prior plus those of all factors; `None` if
    /// the row is impossible.
    pub fn total_log_odds(&self) -> Option<f64> {
        (!self.impossible).then(|| difference(&self.log_joint, self.winner, self.runner_up))
    }

    /// The factors of columns that are not missing, by magnitude of their contribution, the largest first.
    pub fn ranked_contributions(&self) -> Vec<&Factor> {
        let present = self.factors.iter().filter(|f| f.value.is_some());
        ranked_by(present.collect(), |f| f.log_odds)
    }
}

/// Explains the posterior of one row.
///
/// # Errors
/// If the row has another number of columns than the model, or a cell that the model refuses.
pub fn explain(
    model: &dyn FactorizedLikelihood,
    row: &[f64],
    names: &[String],
) -> Result<Explanation> {
    explain_shown(model, row, names, |_| true)
}

/// Explains the posterior of one row with many columns: the columns that are not `shown`, such as terms that
/// do not occur in a text, are combined into one factor, unless that factor is one.
///
/// # Errors
/// If the row has another number of columns than the model, or a cell that the model refuses.
pub fn explain_shown(
    model: &dyn FactorizedLikelihood,
    row: &[f64],
    names: &[String],
    shown: impl Fn(usize) -> bool,
) -> Result<Explanation> {
    let log_factors = model.log_factors(row)?;
    let log_priors = model.log_priors().to_vec();
    let mut log_likelihood = vec![0.0; log_priors.len()];
    for factors in log_factors.outer_iter() {
        log_likelihood.iter_mut().zip(factors).for_each(|(total, f)| *total += f);
    }
    let log_joint: Vec<f64> = log_priors.iter().zip(&log_likelihood).map(|(p, l)| p + l).collect();
    let impossible = is_impossible(&log_joint);
    let mut posterior = log_joint.clone();
    normalize_row(&mut posterior, Some(&log_priors));
    let mut order: Vec<usize> = (0..log_joint.len()).collect();
    order.sort_by(|a, b| posterior[*b].total_cmp(&posterior[*a]));
    let (winner, runner_up) = (order[0], order[1]);
    let mut factors: Vec<Factor> = log_factors
        .outer_iter()
        .enumerate()
        .filter(|(j, _)| shown(*j))
        .map(|(j, factors)| {
            let present = !row[j].is_nan();
            Factor {
                column: column_name(names, j),
                value: present.then_some(row[j]),
                level: None,
                formulas: (0..factors.len() as u32)
                    .filter(|_| present)
                    .map(|c| model.factor_formula_in(j, c, row))
                    .collect(),
                log_odds: difference(&factors.to_vec(), winner, runner_up),
                log_factors: factors.to_vec(),
            }
        })
        .collect();
    let hidden: Vec<usize> = (0..row.len()).filter(|j| !shown(*j)).collect();
    let mut combined = vec![0.0; log_joint.len()];
    for j in &hidden {
        combined.iter_mut().zip(log_factors.row(*j)).for_each(|(sum, f)| *sum += f);
    }
    if combined.iter().any(|sum| *sum != 0.0) {
        factors.push(Factor {
            column: "absent".to_owned(),
            value: Some(hidden.len() as f64),
            level: Some(format!("{} terms that do not occur", hidden.len())),
            formulas: combined.iter().map(|sum| format!("exp({})", short(*sum))).collect(),
            log_odds: difference(&combined, winner, runner_up),
            log_factors: combined,
        });
    }
    Ok(Explanation {
        classes: model.classes().labels().to_vec(),
        log_priors,
        factors,
        log_likelihood,
        log_joint,
        impossible,
        posterior: posterior.iter().map(|p| p.exp()).collect(),
        winner,
        runner_up,
    })
}

/// `a[winner] − a[loser]`; zero if both are `−∞`.
pub(super) fn difference(a: &[f64], winner: usize, loser: usize) -> f64 {
    if a[winner] == a[loser] { 0.0 } else { a[winner] - a[loser] }
}
