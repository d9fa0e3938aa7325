//! Hyperparameter search and model selection.

use crate::array::{self, Matrix, Target};
use crate::error::raised;
use crate::fitted::Fitted;
use crate::fitted::fit::with_params;
use crate::limits::{LimitArguments, Limits};
use crate::table::{self, Column};
use crate::work;
use mercer::catalog::Estimator;
use mercer::data::Classes;
use mercer::evaluate::{Metric, Predictions, Split, Splitting};
use mercer::train::select::{SelectionOptions, select_and_train};
use mercer::train::tune::{SettingScores, evaluate_settings};
use mercer::train::{ColumnSelection, Task};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::time::Duration;

/// The predictions of several settings of an estimator on the test rows of some splits: for every setting, for every
/// split, a dictionary with the predictions or the error of the fit.
#[pyfunction]
#[pyo3(name = "evaluate_settings")]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of a fit, the settings and the splits"
)]
pub fn evaluate<'py>(
    py: Python<'py>,
    id: &str,
    settings: Vec<String>,
    rows: Matrix<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    with_decisions: bool,
    limits: Option<LimitArguments>,
) -> PyResult<Vec<Vec<Bound<'py, PyDict>>>> {
    let base = Estimator::from_id(id).map_err(raised)?;
    let estimators =
        settings.iter().map(|s| with_params(base.clone(), s)).collect::<PyResult<Vec<_>>>()?;
    let classes = array::classes(labels)?;
    let (codes, targets, task) = match &target {
        Target::Classes(codes) => (codes.as_slice()?, &[][..], Task::Classification(&classes)),
        Target::Regression(y) => (&[][..], y.as_slice()?, Task::Regression),
        _ => return Err(PyTypeError::new_err("expected one target per row")),
    };
    let splits: Vec<Split> =
        splits.into_iter().map(|(train, test)| Split { train, test }).collect();
    let limits = Limits::new(limits)?;
    let x = rows.rows()?;
    let results = work::run_by(py, limits.n_threads, |cancel| {
        let monitor = limits.monitor(cancel);
        let target = (codes, targets);
        evaluate_settings(&estimators, &x, target, task, &splits, with_decisions, &monitor)
    })?;
    let fold = |result: mercer::Result<SettingScores>| match result {
        Ok(scores) => scores_object(py, scores),
        Err(error) => {
            let entry = PyDict::new(py);
            entry.set_item("error", error.to_string())?;
            Ok(entry)
        }
    };
    results.into_iter().map(|folds| folds.into_iter().map(fold).collect()).collect()
}

fn scores_object(py: Python<'_>, scores: SettingScores) -> PyResult<Bound<'_, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("error", py.None())?;
    match scores.predictions {
        Predictions::Classes { predicted, log_proba, .. } => {
            entry.set_item("predicted", predicted.into_pyarray(py))?;
            entry.set_item("log_proba", log_proba.map(|p| p.into_pyarray(py)))?;
        }
        Predictions::Regression { predicted, .. } => {
            entry.set_item("predicted", predicted.into_pyarray(py))?;
            entry.set_item("log_proba", py.None())?;
        }
    }
    entry.set_item("decisions", scores.decisions.map(|d| d.into_pyarray(py)))?;
    entry.set_item("converged", scores.converged)?;
    entry.set_item("fit_time", scores.fit_seconds)?;
    entry.set_item("score_time", scores.predict_seconds)?;
    Ok(entry)
}

/// What a selection is given: a dictionary of Python with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SelectionRequest<'py> {
    /// The columns of the table with the target, and the sample weights if there are any.
    columns: Vec<Column<'py>>,
    target: String,
    weights: Option<String>,
    /// The classes; `None` for a regression.
    labels: Option<Bound<'py, PyList>>,
    metric: String,
    folds: usize,
    seed: u64,
    /// Seconds.
    budget: Option<f64>,
    limits: Option<LimitArguments>,
}

/// Compares the candidates of the portfolio and trains the best one: the model, and the leaderboard as JSON.
#[pyfunction]
pub fn select<'py>(py: Python<'py>, request: SelectionRequest<'py>) -> PyResult<(Fitted, String)> {
    let classes = match &request.labels {
        Some(labels) => array::classes(labels)?,
        None => Classes::default(),
    };
    let task = match request.labels {
        Some(_) => Task::Classification(&classes),
        None => Task::Regression,
    };
    let table = table::read(request.columns)?;
    let limits = Limits::new(request.limits)?;
    let budget = request.budget.map(Duration::try_from_secs_f64).transpose();
    let budget = budget.map_err(|e| PyValueError::new_err(format!("budget: {e}")))?;
    let ignore: Vec<String> = request.weights.iter().cloned().collect();
    let options = SelectionOptions {
        metric: Metric::parse(&request.metric).map_err(raised)?,
        splitting: Splitting::folds(request.folds, request.seed),
        group: None,
        time: None,
        budget,
        columns: ColumnSelection { ignore: &ignore, only: &[], unusable: &[] },
        weights: request.weights.as_deref(),
        steps: &[],
    };
    let (trained, board) = work::run_by(py, limits.n_threads, |cancel| {
        let monitor = limits.monitor(cancel);
        select_and_train(None, &table, (&request.target, task), &options, &monitor, &mut |_| ())
    })?;
    let command: Vec<Vec<String>> = board.rows.iter().map(|row| row.candidate.options()).collect();
    let mut value =
        serde_json::to_value(&board).map_err(|e| PyValueError::new_err(e.to_string()))?;
    for (row, options) in value["rows"].as_array_mut().into_iter().flatten().zip(command) {
        row["options"] = options.into();
    }
    Ok((Fitted::of_trained(trained), value.to_string()))
}
