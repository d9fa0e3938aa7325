//! The leaderboard: candidates on the same folds with intervals, and the curves of one of them.

use super::Message;
use super::code::Snippets;
use super::data::Data;
use super::session::Session;
use crate::error::{ApiError, ApiResult};
use mercer::evaluate::{Evaluation, Predictions, RegressionEvaluation};
use mercer::train::select::{Leaderboard, LeaderboardRow};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Points of a curve.
const MAX_POINTS: usize = 240;
/// Classes whose curves are sent; of more, those with most rows.
const MAX_CLASSES: usize = 12;
/// Points of a plot of predictions against targets.
const MAX_SCATTER_POINTS: usize = 1_500;

/// A leaderboard with the table that it belongs to.
pub(super) struct Board {
    pub data: Arc<Data>,
    pub board: Leaderboard,
}

impl Board {
    /// The candidates of a new comparison together with those of earlier ones on the same folds.
    pub fn merged(earlier: Option<&Board>, data: Arc<Data>, new: Leaderboard) -> Board {
        if let Some(earlier) = earlier.filter(|earlier| Arc::ptr_eq(&earlier.data, &data)) {
            let mut board = earlier.board.clone();
            if board.merge(new.clone()).is_ok() {
                return Board { data, board };
            }
        }
        Board { data, board: new }
    }

    pub fn row(&self, name: &str) -> ApiResult<&LeaderboardRow> {
        let found = self.board.rows.iter().find(|row| row.name == name);
        found.ok_or_else(|| ApiError::bad(format!("there is no candidate `{name}`")))
    }

    pub fn best(&self) -> ApiResult<&LeaderboardRow> {
        self.board.best().ok_or_else(|| ApiError::bad("no candidate could be fitted"))
    }

    /// The named row, or the best.
    pub fn row_or_best(&self, name: Option<&str>) -> ApiResult<&LeaderboardRow> {
        name.map_or_else(|| self.best(), |name| self.row(name))
    }

    /// The out-of-fold predictions of a row.
    pub fn predictions<'b>(&self, row: &'b LeaderboardRow) -> ApiResult<&'b Predictions> {
        row.predictions.as_ref().ok_or_else(|| {
            ApiError::bad(format!(
                "`{}` was not compared on all rows, so there are no held-out predictions of it; fit it by name",
                row.name
            ))
        })
    }
}

/// `board`: all candidates.
pub(super) fn describe(session: &Session, _message: Message) -> ApiResult<Value> {
    let shown = session.board()?;
    let fitted = session.held().fit.as_ref().map(|fit| fit.name.clone());
    let board = &shown.board;
    let rows: Vec<Value> = board
        .rows
        .iter()
        .map(|row| {
            let mut value = serde_json::to_value(row).unwrap_or_default();
            value["has_predictions"] = json!(row.predictions.is_some());
            value["estimator"] = json!(row.candidate.estimator.id());
            value["is_fitted"] = json!(fitted.as_deref() == Some(row.name.as_str()));
            value
        })
        .collect();
    Ok(json!({
        "metric": board.metric.name(),
        "greater_is_better": board.metric.greater_is_better(),
        "task": shown.data.target()?.task.to_string(),
        "rows": rows,
        "baseline": board.baseline,
        "corrected": board.corrected,
        "beats_baseline": board.beats_baseline(),
        "n_rows": board.n_rows,
        "is_sample": board.is_sample,
        "splitting": board.splitting,
        "cut_short": board.cut_short,
        "seconds": board.seconds,
        "code": Snippets::of_board(&shown.data, board),
    }))
}

/// A row of the leaderboard.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    #[serde(default)]
    pub name: Option<String>,
}

/// `board.row`: the scores and curves of a candidate on held-out rows.
pub(super) fn row(session: &Session, message: Message) -> ApiResult<Value> {
    let Named { name } = message.parse()?;
    let shown = session.board()?;
    let row = shown.row_or_best(name.as_deref())?;
    let predictions = shown.predictions(row)?;
    let target = shown.data.target()?;
    let mut answer = json!({
        "name": row.name,
        "options": row.candidate.options(),
        "command": super::code::train_command(&shown.data, &row.candidate.options()),
    });
    if let Some(evaluation) = Evaluation::of_predictions(predictions, &target.classes) {
        let report = evaluation.report();
        let mut order: Vec<usize> = (0..report.curves.len()).collect();
        order.sort_by_key(|c| std::cmp::Reverse(report.classes[*c].support));
        let curves: Vec<Value> = order
            .iter()
            .take(MAX_CLASSES)
            .map(|c| {
                let curves = &report.curves[*c];
                json!({
                    "class": report.classes[*c].class.to_string(),
                    "support": report.classes[*c].support,
                    "roc_auc": curves.roc_auc,
                    "average_precision": curves.average_precision,
                    "roc": thinned(&curves.roc),
                    "precision_recall": thinned(&curves.precision_recall),
                })
            })
            .collect();
        answer["curves"] = json!(curves);
        answer["n_curves"] = json!(report.curves.len());
        answer["report"] = json!(report);
    }
    if let Predictions::Regression { truth, predicted, weights } = predictions {
        let mut evaluation = RegressionEvaluation::default();
        evaluation.push_weighted(truth, predicted, weights);
        answer["regression"] = json!(evaluation.report());
        answer["points"] = scatter(truth, predicted);
    }
    Ok(answer)
}

/// Targets and predictions of an even subsample.
pub(super) fn scatter(truth: &[f64], predicted: &[f64]) -> Value {
    let stride = truth.len().div_ceil(MAX_SCATTER_POINTS).max(1);
    let points = truth.iter().zip(predicted).step_by(stride);
    json!(points.map(|(y, p)| (*y, *p)).collect::<Vec<(f64, f64)>>())
}

/// A curve with at most so many points, evenly taken, with both ends.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stride = points.len().div_ceil(MAX_POINTS).max(1);
    let mut kept: Vec<(f64, f64)> = points.iter().copied().step_by(stride).collect();
    if let Some(last) = points.last().filter(|last| kept.last() != Some(last)) {
        kept.push(*last);
    }
    kept
}
