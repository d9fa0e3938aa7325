//! Functions that return a fitted model: fits of all kinds of data, and model files.

use super::Fitted;
use super::columns::{column_descriptions, features};
use super::state::{State, Statistics};
use crate::array::{self, Batch, Matrix, Target};
use crate::error::raised;
use crate::limits::{LimitArguments, Limits};
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

/// Fits an estimator to rows.
///
/// `params` is a JSON object. `target` has regression targets, or codes of the classes in `labels`. `levels`
/// has the levels of the categorical columns. The fit starts from the model of `start`, if given. With `wait`,
/// the statistics of too few rows for a model are stored until more rows are observed. A fit that Ctrl-C ended
/// returns the model of that moment; `Fitted.raise_interrupt` then raises the interrupt.
#[pyfunction]
#[pyo3(signature = (id, params, x, target, labels, weights=None, names=None, levels=None, limits=None, wait=false, start=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes the arguments of a fit one by one")]
pub fn fit<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    x: Matrix<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    levels: Option<Vec<Option<Vec<String>>>>,
    limits: Option<LimitArguments>,
    wait: bool,
    start: Option<Bound<'py, Fitted>>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let features = features(names, levels, x.n_columns()?, x.is_sparse())?;
    let start = start.as_ref().map(|start| start.get().trained()).transpose()?;
    let columns = column_descriptions(&estimator, &features);
    let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
    let data = batch.dataset()?;
    let limits = Limits::new(limits)?;
    let (state, interrupt) = work::run_interruptible(py, limits.n_threads, |cancel| {
        let start_time = Instant::now();
        let monitor = limits.monitor(cancel);
        if estimator.no_rows().is_none() {
            let fitted = match start {
                Some(start) => estimator.fit_from(&start.fitted.model, &data, &monitor)?,
                None => estimator.fit(&data, &monitor)?,
            };
            return Ok(State::ready(Trained::new(estimator, features, fitted, None)));
        }
        let part = estimator.gather(&data, &monitor)?;
        let statistics = Statistics { estimator, features, stats: part.stats, rows: part.rows };
        match statistics.finish(part.stopped, start_time, &monitor)? {
            State::Waiting(_, why) if !wait => Err(why),
            state => Ok(state),
        }
    })?;
    Ok(Fitted { interrupt: Mutex::new(interrupt), ..Fitted::of(state) })
}

/// Continues the fit of an online estimator with one epoch over more rows, from the model of `start` or from
/// the initial weights; the other arguments are those of `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, start, x, target, labels, weights=None, names=None, limits=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes the arguments of a fit one by one")]
pub fn partial_fit<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    start: Option<Bound<'py, Fitted>>,
    x: Matrix<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    limits: Option<LimitArguments>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let start = start.as_ref().map(|start| start.get().trained()).transpose()?;
    let features = match start {
        Some(start) => start.features.clone(),
        None => features(names, None, x.n_columns()?, x.is_sparse())?,
    };
    let columns = Arc::default();
    let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
    let data = batch.dataset()?;
    let limits = Limits::new(limits)?;
    let trained = work::run_by(py, limits.n_threads, |cancel| {
        let fitted = start.map(|start| &start.fitted);
        let fitted = estimator.learn_on(fitted, &data, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, None))
    })?;
    Ok(Fitted::of(State::ready(trained)))
}

/// Fits a regression with several targets, one column of `targets` each; the other arguments are those of
/// `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, x, targets, weights=None, names=None, limits=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes the arguments of a fit one by one")]
pub fn fit_multi_output<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    x: Matrix<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    limits: Option<LimitArguments>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let features = features(names, None, x.n_columns()?, x.is_sparse())?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let rows = x.rows()?;
    let targets = targets.as_array();
    let limits = Limits::new(limits)?;
    let trained = work::run_by(py, limits.n_threads, |cancel| {
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

/// Fits a classifier to a table with text columns, whose terms become columns; the other arguments are those
/// of `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, columns, target, labels, weights=None, limits=None, wait=false))]
#[expect(clippy::too_many_arguments, reason = "Python passes the arguments of a fit one by one")]
pub fn fit_table<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    columns: Vec<table::Column<'py>>,
    target: PyReadonlyArray1<'py, u32>,
    labels: &Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    limits: Option<LimitArguments>,
    wait: bool,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let table = table::read(columns)?;
    let classes = array::classes(labels)?;
    let codes = target.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let limits = Limits::new(limits)?;
    let state = work::run_by(py, limits.n_threads, |cancel| {
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
        let statistics = Statistics { estimator, features, stats: part.stats, rows: part.rows };
        match statistics.finish(part.stopped, start, &monitor)? {
            State::Waiting(_, why) if !wait => Err(why),
            state => Ok(state),
        }
    })?;
    Ok(Fitted::of(state))
}

/// Fits a classifier to labeled and unlabeled rows by expectation maximization. `em_options` are the weight of
/// an unlabeled row, the tolerance and the maximum number of iterations; the other arguments are those of `fit`.
#[pyfunction]
#[pyo3(signature = (id, params, x, target, labels, unlabeled, em_options, weights=None, unlabeled_weights=None, names=None, levels=None, limits=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes the arguments of a fit one by one")]
pub fn fit_semi_supervised<'py>(
    py: Python<'py>,
    id: &str,
    params: &str,
    x: Matrix<'py>,
    target: Target<'py>,
    labels: &Bound<'py, PyList>,
    unlabeled: Matrix<'py>,
    em_options: (f64, f64, u64),
    weights: Option<PyReadonlyArray1<'py, f64>>,
    unlabeled_weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
    levels: Option<Vec<Option<Vec<String>>>>,
    limits: Option<LimitArguments>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let features = features(names, levels, x.n_columns()?, x.is_sparse())?;
    let columns = column_descriptions(&estimator, &features);
    let descriptions = Arc::clone(&columns);
    let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
    let data = batch.dataset()?;
    let mut unlabeled_data = Dataset::unlabeled(unlabeled.rows()?);
    if !descriptions.is_empty() {
        unlabeled_data = unlabeled_data.with_descriptions(&descriptions).map_err(raised)?;
    }
    if let Some(weights) = &unlabeled_weights {
        unlabeled_data = unlabeled_data.weighted(weights.as_slice()?).map_err(raised)?;
    }
    let (weight, tolerance, max_iterations) = em_options;
    let options = EmOptions { weight, tolerance, max_iterations };
    let limits = Limits::new(limits)?;
    let trained = work::run_by(py, limits.n_threads, |cancel| {
        let (fitted, stats) =
            options.fit(&estimator, &data, &unlabeled_data, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, Some(stats)))
    })?;
    Ok(Fitted::of(State::ready(trained)))
}

/// The model of the bytes of a model file.
#[pyfunction]
pub fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Fitted> {
    let state = work::run(py, |_| match Trained::from_bytes(bytes) {
        Ok(trained) => Ok(State::ready(trained)),
        Err(why) => Statistics::from_bytes(bytes).unwrap_or(Err(why)),
    })?;
    Ok(Fitted::of(state))
}

/// The model of a model file.
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
