//! The result of a hyperparameter search.

use super::grid::Grid;
use crate::evaluate::{Metric, Predictions};
use crate::train::select::{Candidate, CorrectedScore};
use serde::Serialize;
use serde_json::Value;

/// How far a setting got.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "standing", content = "reason")]
pub enum TuningStanding {
    /// It was scored on all folds.
    Finished,
    /// It was far behind the best after the first fold, or in an earlier round.
    Pruned,
    /// The budget ended before all folds were fitted.
    OverBudget,
    /// A fit failed.
    Failed(String),
}

/// A setting with its score.
#[derive(Clone, Debug, Serialize)]
pub struct TunedSetting {
    /// The values of the hyperparameters of the search.
    pub settings: Vec<(String, Value)>,
    /// The score on the test rows of all folds that were fitted.
    pub score: Option<f64>,
    /// The scores of the folds.
    pub fold_scores: Vec<f64>,
    /// How far it got.
    #[serde(flatten)]
    pub standing: TuningStanding,
    /// Whether every fit converged.
    pub converged: bool,
    /// The seconds of its fits.
    pub fit_seconds: f64,
    /// The estimator with the setting.
    #[serde(skip)]
    pub candidate: Candidate,
    /// The predictions of the test rows, if all folds were fitted.
    #[serde(skip)]
    pub predictions: Option<Predictions>,
}

/// A hyperparameter whose best value is the smallest or the largest of its axis: a better one may lie beyond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// The hyperparameter.
    pub name: String,
    /// Its best value.
    pub value: Value,
    /// Whether it is the largest one.
    pub is_largest: bool,
}

/// The scores of all settings.
#[derive(Clone, Debug, Serialize)]
pub struct Tuning {
    /// The id of the estimator.
    pub model: String,
    /// The metric.
    pub metric: Metric,
    /// The hyperparameters and their values.
    pub grid: Grid,
    /// The settings, the best first.
    pub settings: Vec<TunedSetting>,
    /// Hyperparameters whose best value lies at the edge of the grid.
    pub edges: Vec<Edge>,
    /// The score of the best setting, corrected for the selection.
    pub corrected: Option<CorrectedScore>,
    /// The number of rows.
    pub n_rows: usize,
    /// Whether these are a sample of the input.
    pub is_sample: bool,
    /// How the rows were split, in words.
    pub splitting: String,
    /// Whether the budget ended the search before every setting was scored.
    pub cut_short: bool,
    /// The seconds of the search.
    pub seconds: f64,
}

impl Tuning {
    /// The best setting, if any was fitted.
    pub fn best(&self) -> Option<&TunedSetting> {
        self.settings.first().filter(|setting| setting.score.is_some())
    }
}

/// The hyperparameters of the best setting that lie at the edge of the values that were tried.
pub(super) fn edges(settings: &[TunedSetting]) -> Vec<Edge> {
    let Some(best) = settings.first().filter(|best| best.score.is_some()) else {
        return Vec::new();
    };
    let mut edges = Vec::new();
    for (k, (name, value)) in best.settings.iter().enumerate() {
        let tried = settings.iter().filter_map(|s| s.settings[k].1.as_f64());
        let (low, high) =
            tried.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let Some(own) = value.as_f64().filter(|_| low < high) else { continue };
        if own == low || own == high {
            edges.push(Edge { name: name.clone(), value: value.clone(), is_largest: own == high });
        }
    }
    edges
}
