//! The score of every class as a sum: an intercept and one term per column.

use super::factors::difference;
use super::{column_name, ranked_by};
use crate::data::Label;
use crate::error::{Error, Result};
use crate::model::Model;
use mercer_num::Rows;
use serde::Serialize;
use std::fmt;

/// What the score of a class, or a difference of two, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ScoreMeasure {
    /// Differences of scores are log-odds.
    #[serde(rename = "log-odds")]
    LogOdds,
    /// The decision value `w·x + b` of a margin classifier. Two classes share one decision function, whose terms are
    /// explained as they are, with the sign of the predicted class.
    #[serde(rename = "decision value")]
    DecisionValue,
}

impl fmt::Display for ScoreMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScoreMeasure::LogOdds => "log-odds",
            ScoreMeasure::DecisionValue => "decision value",
        })
    }
}

/// The scores of one row, term by term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreExplanation {
    /// The classes in code order.
    pub classes: Vec<Label>,
    /// The intercept of every class.
    pub intercepts: Vec<f64>,
    /// The row whose scores are the intercepts, if the terms are integrated gradients from there; empty otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<f64>,
    /// One entry per column, in column order.
    pub terms: Vec<ScoreTerm>,
    /// Squared Mahalanobis distances to the class means; empty if the model has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<f64>,
    /// `intercept + Σ term`.
    pub scores: Vec<f64>,
    /// `P(class | row)`; empty if the model has no probabilities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub posterior: Vec<f64>,
    /// What the scores are.
    pub measure: ScoreMeasure,
    /// The index of the predicted class in `classes`.
    pub winner: usize,
    /// The index of the runner-up in `classes`.
    pub runner_up: usize,
}

/// The terms of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreTerm {
    /// The column's name.
    pub column: String,
    /// Its value.
    pub value: f64,
    /// The value in the units of the column, if it was scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<f64>,
    /// Its term in the score of every class.
    pub terms: Vec<f64>,
    /// Its contribution to the score difference of the predicted class and the runner-up; to the decision value of
    /// the predicted class if two classes share one decision function.
    pub contribution: f64,
}

impl ScoreExplanation {
    /// The contribution of the intercepts, predicted class against runner-up.
    pub fn intercept_contribution(&self) -> f64 {
        self.measure.between(&self.intercepts, self.winner, self.runner_up)
    }

    /// The sum of all contributions.
    pub fn total(&self) -> f64 {
        self.measure.between(&self.scores, self.winner, self.runner_up)
    }

    /// The columns by magnitude of their contribution, the largest first.
    pub fn ranked_contributions(&self) -> Vec<&ScoreTerm> {
        ranked_by(self.terms.iter().collect(), |t| t.contribution)
    }
}

impl ScoreMeasure {
    /// The score of one class against that of another.
    fn between(self, scores: &[f64], winner: usize, runner_up: usize) -> f64 {
        match self {
            // The scores are `f(x)` and `−f(x)`: their difference would count everything twice.
            ScoreMeasure::DecisionValue if scores.len() == 2 => scores[winner],
            _ => difference(scores, winner, runner_up),
        }
    }
}

/// Explains the scores of one row.
///
/// # Errors
/// If the row has another number of columns than the model, or the model's scores are not sums.
pub fn explain_scores(
    model: &dyn Model,
    row: &[f64],
    names: &[String],
) -> Result<ScoreExplanation> {
    let summed = model.additive_scores().ok_or_else(|| Error::Unable {
        estimator: "this model".to_owned(),
        what: "explain its scores term by term".to_owned(),
    })?;
    let (intercepts, terms) = summed.terms(row)?;
    let rows = Rows::from(ndarray::ArrayView1::from(row));
    let distances = match model.discriminant() {
        Some(model) => model.distances(&rows)?.row(0).to_vec(),
        None => Vec::new(),
    };
    let posterior = match model.probabilistic() {
        Some(model) => model.log_proba(&rows)?.row(0).mapv(f64::exp).to_vec(),
        None => Vec::new(),
    };
    let mut scores = intercepts.clone();
    for terms in terms.outer_iter() {
        scores.iter_mut().zip(terms).for_each(|(score, term)| *score += term);
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // The predicted class is the most probable one, even if calibration gives another class the highest score.
    let probability = |c: usize| posterior.get(c).copied().unwrap_or(0.0);
    order.sort_by(|a, b| {
        probability(*b).total_cmp(&probability(*a)).then_with(|| scores[*b].total_cmp(&scores[*a]))
    });
    let (winner, runner_up) = (order[0], order[1]);
    let measure = match summed.scores_are_log_odds() {
        true => ScoreMeasure::LogOdds,
        false => ScoreMeasure::DecisionValue,
    };
    let terms = terms
        .outer_iter()
        .enumerate()
        .map(|(j, terms)| ScoreTerm {
            column: column_name(names, j),
            value: row[j],
            original: None,
            contribution: measure.between(&terms.to_vec(), winner, runner_up),
            terms: terms.to_vec(),
        })
        .collect();
    Ok(ScoreExplanation {
        classes: summed.classes().labels().to_vec(),
        intercepts,
        baseline: summed.baseline().map(<[f64]>::to_vec).unwrap_or_default(),
        terms,
        distances,
        scores,
        posterior,
        measure,
        winner,
        runner_up,
    })
}
