//! The leaderboard: every candidate with its score, and how far it got.

use super::bias_correction::CorrectedScore;
use super::candidate::Candidate;
use crate::evaluate::{Metric, Predictions};
use serde::Serialize;

/// How far a candidate got.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "standing", content = "reason")]
pub enum Standing {
    /// It was cross-validated on all rows of the comparison.
    Finished,
    /// It was dropped after a comparison on fewer rows.
    Dropped,
    /// It would not have finished within the budget.
    OverBudget,
    /// Its fit failed.
    Failed(String),
}

/// A row of the leaderboard.
#[derive(Clone, Debug, Serialize)]
pub struct LeaderboardRow {
    /// The candidate.
    #[serde(skip)]
    pub candidate: Candidate,
    /// Its name.
    pub name: String,
    /// The cross-validated score on the rows of its last round.
    pub score: Option<f64>,
    /// The scores of the folds of its last round.
    pub fold_scores: Vec<f64>,
    /// The number of rows of its last round.
    pub n_rows: usize,
    /// How far it got.
    #[serde(flatten)]
    pub standing: Standing,
    /// The p-value of the paired test against the best candidate, adjusted for the number of tests.
    pub p_value: Option<f64>,
    /// Whether every fit of the last round converged.
    pub converged: bool,
    /// The seconds of all its fits.
    pub fit_seconds: f64,
    /// The out-of-fold predictions of the last round, if it was on as many rows as that of the best candidate.
    #[serde(skip)]
    pub predictions: Option<Predictions>,
}

/// All candidates, the best first.
#[derive(Clone, Debug, Serialize)]
pub struct Leaderboard {
    /// The metric.
    pub metric: Metric,
    /// The rows, the best first.
    pub rows: Vec<LeaderboardRow>,
    /// The score of always predicting the most frequent class or the mean.
    pub baseline: Option<f64>,
    /// The score of the best candidate, corrected for the selection.
    pub corrected: Option<CorrectedScore>,
    /// The number of rows that the best candidates were compared on.
    pub n_rows: usize,
    /// Whether these are a sample of the input.
    pub is_sample: bool,
    /// The number of folds.
    pub n_folds: usize,
    /// The folds in words.
    pub splitting: String,
    /// Whether the budget ended the comparison before every candidate was done.
    pub cut_short: bool,
    /// The seconds of the comparison.
    pub seconds: f64,
}

impl Leaderboard {
    /// The best candidate, if any was fitted.
    pub fn best(&self) -> Option<&LeaderboardRow> {
        self.rows.first().filter(|row| row.score.is_some())
    }

    /// Whether the best candidate is better than the baseline.
    pub fn beats_baseline(&self) -> bool {
        match (self.best().and_then(|row| row.score), self.baseline) {
            (Some(score), Some(baseline)) if self.metric.greater_is_better() => score > baseline,
            (Some(score), Some(baseline)) => score < baseline,
            _ => true,
        }
    }
}
