//! A class told as a sum: where each class starts, and what each column adds.

use super::factors::difference;
use crate::data::Label;
use crate::error::{Error, Result};
use crate::model::Model;
use mercer_num::Rows;
use serde::Serialize;

/// Why a row got its class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreExplanation {
    /// The classes in code order.
    pub classes: Vec<Label>,
    /// The scores before any column is looked at.
    pub starts: Vec<f64>,
    /// One entry a column, in column order.
    pub terms: Vec<ScoreTerm>,
    /// Squared Mahalanobis distances from the centers, where the model has centers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<f64>,
    /// `start + Σ term`.
    pub scores: Vec<f64>,
    /// `P(class | row)`, where the model has probabilities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub posterior: Vec<f64>,
    /// The class that wins, as a place in `classes`.
    pub winner: usize,
    /// The class that comes second.
    pub runner_up: usize,
}

/// What one column adds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreTerm {
    /// The column's name.
    pub column: String,
    /// Its value.
    pub value: f64,
    /// What it adds to the score of every class.
    pub terms: Vec<f64>,
    /// How much it speaks for the winner against the runner-up; in log-odds, where scores are such.
    pub log_odds: f64,
}

impl ScoreExplanation {
    /// The log-odds before any column is looked at, winner against runner-up.
    pub fn start_log_odds(&self) -> f64 {
        difference(&self.starts, self.winner, self.runner_up)
    }

    /// The terms, the strongest first.
    pub fn ladder(&self) -> Vec<&ScoreTerm> {
        let mut rungs: Vec<&ScoreTerm> = self.terms.iter().collect();
        rungs.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
        rungs
    }
}

/// Explains one row.
///
/// # Errors
/// If the row does not fit the model, or the model's scores are no sums.
pub fn explain_scores(
    model: &dyn Model,
    row: &[f64],
    names: &[String],
) -> Result<ScoreExplanation> {
    let summed = model.summed().ok_or_else(|| Error::Unable {
        estimator: "this model".to_owned(),
        what: "tell its scores term by term".to_owned(),
    })?;
    let (starts, terms) = summed.terms(row)?;
    let rows = Rows::from(ndarray::ArrayView1::from(row));
    let distances = match model.discriminant() {
        Some(model) => model.distances(&rows)?.row(0).to_vec(),
        None => Vec::new(),
    };
    let posterior = match model.probabilistic() {
        Some(model) => model.log_proba(&rows)?.row(0).mapv(f64::exp).to_vec(),
        None => Vec::new(),
    };
    let mut scores = starts.clone();
    for terms in terms.outer_iter() {
        scores.iter_mut().zip(terms).for_each(|(score, term)| *score += term);
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // The most probable class is the predicted one, also where that is not the highest score.
    let chance = |c: usize| posterior.get(c).copied().unwrap_or(0.0);
    order.sort_by(|a, b| {
        chance(*b).total_cmp(&chance(*a)).then_with(|| scores[*b].total_cmp(&scores[*a]))
    });
    let (winner, runner_up) = (order[0], order[1]);
    let terms = terms
        .outer_iter()
        .enumerate()
        .map(|(j, terms)| ScoreTerm {
            column: names.get(j).cloned().unwrap_or_else(|| format!("x{j}")),
            value: row[j],
            log_odds: difference(&terms.to_vec(), winner, runner_up),
            terms: terms.to_vec(),
        })
        .collect();
    Ok(ScoreExplanation {
        classes: summed.classes().labels().to_vec(),
        starts,
        terms,
        distances,
        scores,
        posterior,
        winner,
        runner_up,
    })
}
