//! A naive Bayes prediction as the lecture writes it: prior times one factor a column, normalized.

use super::short;
use crate::data::Label;
use crate::error::Result;
use crate::model::Factored;
use mercer_num::special::log_normalize;
use serde::Serialize;

/// Why a row got its class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The classes in code order.
    pub classes: Vec<Label>,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// One entry a column, in column order.
    pub factors: Vec<Factor>,
    /// `log P(class) + Σ log factor`.
    pub log_joint: Vec<f64>,
    /// `P(class | row)`.
    pub posterior: Vec<f64>,
    /// The class that wins, as a place in `classes`.
    pub winner: usize,
    /// The class that comes second.
    pub runner_up: usize,
}

/// What one column says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Factor {
    /// The column's name.
    pub column: String,
    /// Its value; `None` where it is missing and has no say.
    pub value: Option<f64>,
    /// The value as the table has it, where that is not the number itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// `log p(value | class)` for every class.
    pub log_factors: Vec<f64>,
    /// The same with the numbers put in.
    pub formulas: Vec<String>,
    /// How much it speaks for the winner against the runner-up, in log-odds.
    pub log_odds: f64,
}

impl Explanation {
    /// The same with values as the table has them: `word` gets the place of a feature and its number.
    #[must_use]
    pub fn in_words(mut self, word: impl Fn(usize, f64) -> Option<String>) -> Explanation {
        for (j, factor) in self.factors.iter_mut().enumerate() {
            factor.word = factor.word.take().or_else(|| factor.value.and_then(|x| word(j, x)));
        }
        self
    }

    /// The log-odds of the prior, winner against runner-up.
    pub fn prior_log_odds(&self) -> f64 {
        difference(&self.log_priors, self.winner, self.runner_up)
    }

    /// The factors that have a say, the strongest first.
    pub fn ladder(&self) -> Vec<&Factor> {
        let mut rungs: Vec<&Factor> = self.factors.iter().filter(|f| f.value.is_some()).collect();
        rungs.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
        rungs
    }
}

/// Explains one row.
///
/// # Errors
/// If the row does not fit the model.
pub fn explain(model: &dyn Factored, row: &[f64], names: &[String]) -> Result<Explanation> {
    explain_shown(model, row, names, |_| true)
}

/// Explains one row of many columns: those that are not `shown`, as the words a text does not have,
/// are told as one factor, if they have any say.
///
/// # Errors
/// If the row does not fit the model.
pub fn explain_shown(
    model: &dyn Factored,
    row: &[f64],
    names: &[String],
    shown: impl Fn(usize) -> bool,
) -> Result<Explanation> {
    let log_factors = model.log_factors(row)?;
    let log_priors = model.log_priors().to_vec();
    let mut log_joint = log_priors.clone();
    for factors in log_factors.outer_iter() {
        log_joint.iter_mut().zip(factors).for_each(|(total, f)| *total += f);
    }
    let mut posterior = log_joint.clone();
    log_normalize(&mut posterior);
    let mut order: Vec<usize> = (0..log_joint.len()).collect();
    order.sort_by(|a, b| log_joint[*b].total_cmp(&log_joint[*a]));
    let (winner, runner_up) = (order[0], order[1]);
    let mut factors: Vec<Factor> = log_factors
        .outer_iter()
        .enumerate()
        .filter(|(j, _)| shown(*j))
        .map(|(j, factors)| {
            let present = !row[j].is_nan();
            Factor {
                column: names.get(j).cloned().unwrap_or_else(|| format!("x{j}")),
                value: present.then_some(row[j]),
                word: None,
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
    let mut together = vec![0.0; log_joint.len()];
    for j in &hidden {
        together.iter_mut().zip(log_factors.row(*j)).for_each(|(sum, f)| *sum += f);
    }
    if together.iter().any(|sum| *sum != 0.0) {
        factors.push(Factor {
            column: "absent".to_owned(),
            value: Some(hidden.len() as f64),
            word: Some(format!("{} words that do not occur", hidden.len())),
            formulas: together.iter().map(|sum| format!("exp({})", short(*sum))).collect(),
            log_odds: difference(&together, winner, runner_up),
            log_factors: together,
        });
    }
    Ok(Explanation {
        classes: model.classes().labels().to_vec(),
        log_priors,
        factors,
        log_joint,
        posterior: posterior.iter().map(|p| p.exp()).collect(),
        winner,
        runner_up,
    })
}

/// `a[winner] − a[loser]`, zero where both are impossible.
pub(super) fn difference(a: &[f64], winner: usize, loser: usize) -> f64 {
    if a[winner] == a[loser] { 0.0 } else { a[winner] - a[loser] }
}
