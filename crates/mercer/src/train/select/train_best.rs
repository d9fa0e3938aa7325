//! Selects an estimator for a table in memory and trains it on all rows.

use super::candidate::Candidate;
use super::halving::{Round, SelectionOptions, select_model};
use super::leaderboard::Leaderboard;
use super::portfolio::portfolio;
use crate::calibrate::Conformal;
use crate::data::{Field, Schema, SelectedRows, Table, Values};
use crate::error::{Error, Result};
use crate::model::Monitor;
use crate::train::{Task, Trained, Training, train};
use std::sync::Arc;

/// Compares candidates on the rows of a table, those of the portfolio if none are given, and trains the best one on all
/// rows. The model keeps the nonconformity scores of the held-out rows for prediction intervals and sets.
///
/// # Errors
/// As [`select_model`], or the error of the last fit.
pub fn select_and_train(
    candidates: Option<Vec<Candidate>>,
    table: &Table,
    (target, task): (&str, Task<'_>),
    options: &SelectionOptions<'_>,
    monitor: &Monitor<'_>,
    on_round: &mut dyn FnMut(&Round<'_>),
) -> Result<(Trained, Leaderboard)> {
    let schema = schema_of(table);
    let n_rows = table.n_rows() as u64;
    let rows: Vec<usize> = (0..table.n_rows()).collect();
    let stream = SelectedRows { table, rows: &rows };
    let candidates = match candidates {
        Some(candidates) => candidates,
        None => portfolio(&schema, n_rows, (target, task), options.columns)?,
    };
    let on = (target, task);
    let board = select_model(candidates, &schema, n_rows, on, &stream, options, monitor, on_round)?;
    let best = board.best().ok_or(Error::Stopped)?;
    let (mut features, recipe) =
        best.candidate.plan(options.columns, &schema, target, options.steps)?;
    features.weights = options.weights.map(str::to_owned);
    let features = features.fit(&recipe, &stream, &monitor.silent())?;
    let training = Training {
        estimator: best.candidate.estimator.clone(),
        features,
        task,
        n_rows: Some(n_rows),
        n_folds: 0,
        seed: options.splitting.seed,
        recipe,
    };
    let mut trained = train(training, &stream, monitor)?.trained;
    trained.conformal = best.predictions.as_ref().and_then(Conformal::of);
    Ok((trained, board))
}

/// The names, kinds and levels of the columns of a table.
fn schema_of(table: &Table) -> Schema {
    let fields = table.columns().iter().map(|column| match &column.values {
        Values::Categorical { levels, .. } => Field::categorical(&*column.name, Arc::clone(levels)),
        values => Field::new(&*column.name, values.kind()),
    });
    Schema { fields: fields.collect() }
}
