//! The doors that a fit goes through, and those that a saved model comes back by.

use super::Fitted;
use super::columns::{described, features};
use super::state::{Learned, State};
use crate::array::{self, Batch, Table, Target};
use crate::error::raised;
use crate::limits::{Bounds, Limits};
use crate::table;
use crate::work;
use mercer::catalog::Estimator;
use mercer::data::Dataset;
use mercer::preprocess::{CategoryEncoding, Features, Recipe};
use mercer::train::{EmOptions, Trained};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Learns from rows. `params` is a JSON object; `target` holds numbers, or codes of the classes in
/// `labels`. With `wait`, rows too few for a model are kept until more are observed. `levels` has the
/// words of the columns that hold codes. The fit begins at the model of `start`, if any. One that Ctrl-C ended
/// hands back what it had learned; the interrupt is raised when the caller has kept that.
#[pyfunction]
#[pyo3(signature = (id, params, x, target, labels, weights=None, names=None, levels=None, bounds=None, wait=false, start=None))]
#[expect(clippy::too_many_arguments, reason = "the door takes a fit's arguments one by one")]
pub fn fit<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    x: Table<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    levels: Option<Vec<Option<Vec<String>>>>,
    bounds: Option<Bounds>,
    wait: bool,
    start: Option<Bound<'py, Fitted>>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let features = features(names, levels, x.n_columns()?, x.is_sparse())?;
    let start = start.as_ref().map(|start| start.get().ready()).transpose()?;
    let columns = described(&estimator, &features);
    let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
    let data = batch.dataset()?;
    let limits = Limits::new(bounds)?;
    let (state, interrupt) = work::run_kept(py, limits.threads, |cancel| {
        let began = Instant::now();
        let monitor = limits.monitor(cancel);
        if estimator.no_rows().is_none() {
            let fitted = match start {
                Some(start) => estimator.fit_from(&start.fitted.model, &data, &monitor)?,
                None => estimator.fit(&data, &monitor)?,
            };
            return Ok(State::ready(Trained::new(estimator, features, fitted, None)));
        }
        let part = estimator.gather(&data, &monitor)?;
        let learned = Learned { estimator, features, stats: part.stats, rows: part.rows };
        match learned.finish(part.stopped, began, &monitor)? {
            State::Waiting(_, why) if !wait => Err(why),
            state => Ok(state),
        }
    })?;
    Ok(Fitted { interrupt: Mutex::new(interrupt), ..Fitted::of(state) })
}

/// Goes on from a model, or from nothing, with one pass over more rows; the rest is as in `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, before, x, target, labels, weights=None, names=None, bounds=None))]
#[expect(clippy::too_many_arguments, reason = "the door takes a fit's arguments one by one")]
pub fn learn_on<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    before: Option<Bound<'py, Fitted>>,
    x: Table<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    bounds: Option<Bounds>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let before = before.as_ref().map(|before| before.get().ready()).transpose()?;
    let features = match before {
        Some(before) => before.features.clone(),
        None => features(names, None, x.n_columns()?, x.is_sparse())?,
    };
    let columns = Arc::default();
    let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
    let data = batch.dataset()?;
    let limits = Limits::new(bounds)?;
    let trained = work::run_by(py, limits.threads, |cancel| {
        let fitted = before.map(|before| &before.fitted);
        let fitted = estimator.learn_on(fitted, &data, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, None))
    })?;
    Ok(Fitted::of(State::ready(trained)))
}

/// Learns several numbers a row at once; the rest is as in `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, x, targets, weights=None, names=None, bounds=None))]
#[expect(clippy::too_many_arguments, reason = "the door takes a fit's arguments one by one")]
pub fn fit_many<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    x: Table<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    bounds: Option<Bounds>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let features = features(names, None, x.n_columns()?, x.is_sparse())?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let rows = x.rows()?;
    let targets = targets.as_array();
    let limits = Limits::new(bounds)?;
    let trained = work::run_by(py, limits.threads, |cancel| {
        let data = Dataset::multi_output(rows, targets)?;
        let data = match weights {
            Some(weights) => data.weighted(weights)?,
            None => data,
        };
        let fitted = estimator.fit(&data, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, None))
    })?;
    Ok(Fitted::of(State::ready(trained)))
}

/// Learns from a table with texts in it, whose words become columns; the rest is as in `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, columns, target, labels, weights=None, bounds=None, wait=false))]
#[expect(clippy::too_many_arguments, reason = "the door takes a fit's arguments one by one")]
pub fn fit_table<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    columns: Vec<table::Column<'py>>,
    target: PyReadonlyArray1<'py, u32>,
    labels: &Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    bounds: Option<Bounds>,
    wait: bool,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let table = table::read(columns)?;
    let classes = array::classes(labels)?;
    let codes = target.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let limits = Limits::new(bounds)?;
    let state = work::run_by(py, limits.threads, |cancel| {
        let start = Instant::now();
        let monitor = limits.monitor(cancel);
        let schema = table::schema(&table);
        let reads = estimator.card().reads();
        let (features, _) = Features::plan_for(&schema, None, CategoryEncoding::Auto, reads)?;
        let features = features.fit(&Recipe::default(), &table, &monitor)?;
        let encoded = features.encode(&table, None)?;
        let columns = features.descriptions();
        let mut data =
            Dataset::classes(encoded.rows(), codes, &classes)?.with_descriptions(&columns)?;
        if let Some(weights) = weights {
            data = data.weighted(weights)?;
        }
        let part = estimator.gather(&data, &monitor)?;
        let learned = Learned { estimator, features, stats: part.stats, rows: part.rows };
        match learned.finish(part.stopped, start, &monitor)? {
            State::Waiting(_, why) if !wait => Err(why),
            state => Ok(state),
        }
    })?;
    Ok(Fitted::of(state))
}

/// Learns from rows with classes and rows without, by rounds of expectation maximization; the rest is
/// as in `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, x, target, labels, more, how, weights=None, more_weights=None, names=None, levels=None, bounds=None))]
#[expect(clippy::too_many_arguments, reason = "the door takes a fit's arguments one by one")]
pub fn fit_partly<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    x: Table<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    more: Table<'py>,
    how: (f64, f64, u64),
    weights: Option<PyReadonlyArray1<'py, f64>>,
    more_weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    levels: Option<Vec<Option<Vec<String>>>>,
    bounds: Option<Bounds>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let features = features(names, levels, x.n_columns()?, x.is_sparse())?;
    let columns = described(&estimator, &features);
    let of_more = Arc::clone(&columns);
    let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
    let data = batch.dataset()?;
    let mut open = Dataset::unlabeled(more.rows()?);
    if !of_more.is_empty() {
        open = open.with_descriptions(&of_more).map_err(raised)?;
    }
    if let Some(weights) = &more_weights {
        open = open.weighted(weights.as_slice()?).map_err(raised)?;
    }
    let (weight, tolerance, max_iterations) = how;
    let how = EmOptions { weight, tolerance, max_iterations };
    let limits = Limits::new(bounds)?;
    let trained = work::run_by(py, limits.threads, |cancel| {
        let (fitted, stats) = how.fit(&estimator, &data, &open, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, Some(stats)))
    })?;
    Ok(Fitted::of(State::ready(trained)))
}

/// The model in the bytes of a model file.
#[pyfunction]
pub fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Fitted> {
    let state = work::run(py, |_| match Trained::from_bytes(bytes) {
        Ok(trained) => Ok(State::ready(trained)),
        Err(why) => Learned::from_bytes(bytes).unwrap_or(Err(why)),
    })?;
    Ok(Fitted::of(state))
}

/// The model in a file.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Fitted> {
    let trained = work::run(py, |_| Trained::load(&path))?;
    Ok(Fitted::of(State::ready(trained)))
}

/// The estimator with parameters from a JSON object.
pub(super) fn with_params(estimator: Estimator, params: &str) -> PyResult<Estimator> {
    let params: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(params).map_err(|e| PyValueError::new_err(e.to_string()))?;
    params
        .into_iter()
        .try_fold(estimator, |estimator, (name, value)| estimator.set(&name, value))
        .map_err(raised)
}
