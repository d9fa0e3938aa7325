//! The leaderboard: every candidate with its score, and how far it got.

use super::bias_correction::{CorrectedScore, corrected_score};
use super::candidate::Candidate;
use super::paired_test::{corrected_interval, corrected_p_value, holm};
use crate::error::{Error, Result};
use crate::evaluate::{Metric, Predictions};
use serde::Serialize;
use std::cmp::Ordering;

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
    /// The 95 % confidence interval of the score, from the scores of the folds; `None` with a single fold.
    pub interval: Option<(f64, f64)>,
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
    /// The out-of-fold predictions of the last round, if it was on all rows.
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
    /// The number of rows that the candidates were compared on.
    pub n_rows: usize,
    /// Whether these are a sample of the input.
    pub is_sample: bool,
    /// The number of folds.
    pub n_folds: usize,
    /// The folds in words.
    pub splitting: String,
    /// The rows of the comparison in the order of the out-of-fold predictions, which is that of the folds.
    #[serde(skip)]
    pub held_out: Vec<usize>,
    /// The ratio of test to training rows.
    #[serde(skip)]
    pub test_to_train: f64,
    /// The seed of the folds.
    #[serde(skip)]
    pub seed: u64,
    /// Whether the budget ended the comparison before every candidate was done.
    pub cut_short: bool,
    /// The seconds of the comparison.
    pub seconds: f64,
}

impl Leaderboard {
    /// Adds the candidates of another comparison on the same folds, and ranks all of them anew. A candidate that occurs
    /// twice keeps the later result.
    ///
    /// # Errors
    /// If the metrics, the rows or the folds differ.
    pub fn merge(&mut self, other: Leaderboard) -> Result<()> {
        if self.metric != other.metric
            || self.held_out != other.held_out
            || self.n_folds != other.n_folds
        {
            return Err(Error::Merge { why: "the comparisons are not on the same folds".into() });
        }
        let is_new = |row: &LeaderboardRow| other.rows.iter().all(|new| new.name != row.name);
        self.rows.retain(is_new);
        self.rows.extend(other.rows);
        self.cut_short |= other.cut_short;
        self.seconds += other.seconds;
        sort(&mut self.rows, self.metric);
        self.compare();
        Ok(())
    }

    /// Computes the intervals, the p-values against the best row and the corrected score, of sorted rows.
    pub(super) fn compare(&mut self) {
        for row in &mut self.rows {
            let interval = row
                .score
                .and_then(|score| corrected_interval(score, &row.fold_scores, self.test_to_train));
            // The best value of a score is one, that of a loss zero.
            row.interval = interval.map(|(low, high)| match self.metric.greater_is_better() {
                true => (low, high.min(1.0)),
                false => (low.max(0.0), high),
            });
        }
        add_p_values(&mut self.rows, self.test_to_train);
        let finalists: Vec<&Predictions> =
            self.rows.iter().filter_map(|row| row.predictions.as_ref()).collect();
        self.corrected = corrected_score(&finalists, self.metric, self.seed);
    }

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

/// Sorts the best first: candidates of later rounds, then by score; failed ones last.
pub(super) fn sort(rows: &mut [LeaderboardRow], metric: Metric) {
    rows.sort_by(|a, b| order(a, b, metric));
}

/// The order of two rows of a leaderboard.
pub(super) fn order(a: &LeaderboardRow, b: &LeaderboardRow, metric: Metric) -> Ordering {
    let utility = |row: &LeaderboardRow| {
        let score = row.score.filter(|_| !matches!(row.standing, Standing::Failed(_)));
        score.map(|s| if metric.greater_is_better() { s } else { -s })
    };
    match (utility(a), utility(b)) {
        (Some(x), Some(y)) => b.n_rows.cmp(&a.n_rows).then(y.total_cmp(&x)),
        (x, y) => y.is_some().cmp(&x.is_some()),
    }
}

/// The adjusted p-values of the finalists against the best.
fn add_p_values(rows: &mut [LeaderboardRow], test_to_train: f64) {
    let Some(best) = rows.first().map(|row| row.fold_scores.clone()) else { return };
    let n_rows = rows[0].n_rows;
    let p_values: Vec<Option<f64>> = rows
        .iter()
        .enumerate()
        .map(|(k, row)| {
            let comparable = k > 0
                && row.score.is_some()
                && row.n_rows == n_rows
                && row.fold_scores.len() == best.len();
            let differences: Vec<f64> =
                best.iter().zip(&row.fold_scores).map(|(a, b)| a - b).collect();
            corrected_p_value(&differences, test_to_train).filter(|_| comparable)
        })
        .collect();
    rows.iter_mut().zip(holm(&p_values)).for_each(|(row, p)| row.p_value = p);
}
