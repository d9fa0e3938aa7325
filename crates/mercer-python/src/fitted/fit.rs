//! Functions that return a fitted model: fits of all kinds of data, and model files.

use super::Fitted;
use super::attributes::tree;
use super::columns::{column_descriptions, features};
use super::state::{State, Statistics};
use crate::array::{self, Batch, Matrix, Target};
use crate::error::raised;
use crate::limits::{LimitArguments, Limits};
use crate::table::{self, Column};
use crate::work;
use mercer::Result;
use mercer::catalog::{AnyModel, Estimator};
use mercer::data::{ColumnDescription, Dataset, Table};
use mercer::model::{Certificate, Monitor, Tree};
use mercer::preprocess::{CategoryEncoding, Features, Recipe};
use mercer::train::{EmOptions, Trained};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// What a fit is given: a dictionary of Python with these keys.
pub struct FitRequest<'py> {
    /// The id of the estimator in the catalog.
    id: String,
    /// The parameters, a JSON object.
    params: String,
    rows: Input<'py>,
    target: Target<'py>,
    /// The classes, in the order of the codes in `target`.
    labels: Bound<'py, PyList>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// The names of the columns of a matrix.
    names: Option<Vec<String>>,
    /// The levels of the categorical columns of a matrix.
    levels: Option<Vec<Option<Vec<String>>>>,
    limits: Option<LimitArguments>,
    /// The model that the fit starts from.
    start: Option<Bound<'py, Fitted>>,
    /// Whether more rows may follow: the statistics of too few rows for a model are stored, and an online estimator
    /// makes one epoch.
    partial: bool,
    unlabeled: Option<Unlabeled<'py>>,
}

impl<'py> FromPyObject<'_, 'py> for FitRequest<'py> {
    type Error = PyErr;

    // Not derived: a derived implementation turns the error of a field into a `TypeError`.
    fn extract(request: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(FitRequest {
            id: request.get_item("id")?.extract()?,
            params: request.get_item("params")?.extract()?,
            rows: request.get_item("rows")?.extract()?,
            target: request.get_item("target")?.extract()?,
            labels: request.get_item("labels")?.extract()?,
            weights: request.get_item("weights")?.extract()?,
            names: request.get_item("names")?.extract()?,
            levels: request.get_item("levels")?.extract()?,
            limits: request.get_item("limits")?.extract()?,
            start: request.get_item("start")?.extract()?,
            partial: request.get_item("partial")?.extract()?,
            unlabeled: request.get_item("unlabeled")?.extract()?,
        })
    }
}

/// The rows of a fit.
pub(crate) enum Input<'py> {
    Matrix(Matrix<'py>),
    /// A table with text columns, whose terms become columns.
    Table(Vec<Column<'py>>),
}

impl<'py> FromPyObject<'_, 'py> for Input<'py> {
    type Error = PyErr;

    fn extract(rows: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match rows.is_instance_of::<PyList>() {
            true => rows.extract().map(Input::Table),
            false => rows.extract().map(Input::Matrix),
        }
    }
}

/// Unlabeled rows, their weights, and the weight of each, the tolerance and the maximum number of iterations of
/// expectation maximization.
#[derive(FromPyObject)]
struct Unlabeled<'py>(Matrix<'py>, Option<PyReadonlyArray1<'py, f64>>, (f64, f64, u64));

impl Unlabeled<'_> {
    fn dataset<'a>(&'a self, columns: &'a [ColumnDescription]) -> PyResult<Dataset<'a>> {
        let mut data = Dataset::unlabeled(self.0.rows()?);
        if !columns.is_empty() {
            data = data.with_descriptions(columns).map_err(raised)?;
        }
        match &self.1 {
            Some(weights) => data.weighted(weights.as_slice()?).map_err(raised),
            None => Ok(data),
        }
    }

    fn options(&self) -> EmOptions {
        let (weight, tolerance, max_iterations) = self.2;
        EmOptions { weight, tolerance, max_iterations }
    }
}

/// Fits an estimator. A fit that Ctrl-C ended returns the model of that moment; `Fitted.raise_interrupt` then raises
/// the interrupt.
#[pyfunction]
pub fn fit<'py>(py: Python<'py>, request: FitRequest<'py>) -> PyResult<Fitted> {
    let FitRequest { id, params, rows, target, labels, weights, names, levels, .. } = request;
    let estimator = with_params(Estimator::from_id(&id).map_err(raised)?, &params)?;
    let classes = array::classes(&labels)?;
    let start = request.start.as_ref().map(|start| start.get().trained()).transpose()?;
    let partial = request.partial;
    let limits = Limits::new(request.limits)?;
    let (state, interrupt) = match rows {
        Input::Table(columns) => {
            let table = table::read(columns)?;
            let Target::Classes(codes) = &target else {
                return Err(PyValueError::new_err("a table with text columns needs classes"));
            };
            let codes = codes.as_slice()?;
            let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
            work::run_interruptible(py, limits.n_threads, |cancel| {
                let monitor = limits.monitor(cancel);
                let features = table_features(&estimator, &table, &monitor)?;
                let encoded = features.encode(&table, None)?;
                let columns = features.descriptions();
                let data = Dataset::classes(encoded.rows(), codes, &classes)?;
                let data = data.with_descriptions(&columns)?;
                let data = match weights {
                    Some(weights) => data.weighted(weights)?,
                    None => data,
                };
                from_statistics(estimator, features, &data, partial, &monitor)
            })?
        }
        Input::Matrix(x) => {
            let features = match start {
                Some(start) if partial => start.features.clone(),
                _ => features(names, levels, x.n_columns()?, x.is_sparse())?,
            };
            let columns = column_descriptions(&estimator, &features);
            let batch = Batch { x, target, classes, weights, columns };
            let data = batch.dataset()?;
            let multi_output = matches!(batch.target, Target::MultiOutput(_));
            let unlabeled = request.unlabeled.as_ref();
            let unlabeled = unlabeled
                .map(|rows| Ok::<_, PyErr>((rows.dataset(&batch.columns)?, rows.options())))
                .transpose()?;
            work::run_interruptible(py, limits.n_threads, |cancel| {
                let monitor = limits.monitor(cancel);
                if let Some((unlabeled, options)) = unlabeled {
                    let (fitted, stats) = options.fit(&estimator, &data, &unlabeled, &monitor)?;
                    return Ok(State::ready(Trained::new(
                        estimator,
                        features,
                        fitted,
                        Some(stats),
                    )));
                }
                if estimator.no_rows().is_some() && !multi_output {
                    return from_statistics(estimator, features, &data, partial, &monitor);
                }
                let fitted = match start {
                    start if partial => {
                        estimator.partial_fit(start.map(|start| &start.fitted), &data, &monitor)?
                    }
                    Some(start) => estimator.fit_from(&start.fitted.model, &data, &monitor)?,
                    None => estimator.fit(&data, &monitor)?,
                };
                Ok(State::ready(Trained::new(estimator, features, fitted, None)))
            })?
        }
    };
    Ok(Fitted { interrupt: Mutex::new(interrupt), ..Fitted::of(state) })
}

/// The fitted preprocessing of a table with text columns.
fn table_features(estimator: &Estimator, table: &Table, monitor: &Monitor<'_>) -> Result<Features> {
    let (features, _) = Features::plan_for(
        &table::schema(table),
        None,
        CategoryEncoding::Auto,
        estimator.card().reads(),
    )?;
    features.fit(&Recipe::default(), table, monitor)
}

/// The model of the statistics of the rows; if `partial`, the statistics of too few rows for a model are stored.
fn from_statistics(
    estimator: Estimator,
    features: Features,
    data: &Dataset<'_>,
    partial: bool,
    monitor: &Monitor<'_>,
) -> Result<State> {
    let start = Instant::now();
    let part = estimator.gather(data, monitor)?;
    let statistics = Statistics { estimator, features, stats: part.stats, rows: part.rows };
    match statistics.finish(part.stopped, start, monitor)? {
        State::Waiting(_, why) if !partial => Err(why),
        state => Ok(state),
    }
}

/// The model of an estimator with the given fields, such as weights that were computed elsewhere. `classes` are those of
/// a classifier, an empty list otherwise; `certificate_of` is the fit whose certificate holds for these fields too. The
/// model is checked as if it were read from a file.
#[pyfunction]
#[pyo3(signature = (id, params, fields, labels, names, n_columns, certificate_of=None))]
pub fn from_fields(
    id: &str,
    params: &str,
    fields: &Bound<'_, PyDict>,
    labels: &Bound<'_, PyList>,
    names: Option<Vec<String>>,
    n_columns: usize,
    certificate_of: Option<&Bound<'_, Fitted>>,
) -> PyResult<Fitted> {
    let estimator = with_params(Estimator::from_id(id).map_err(raised)?, params)?;
    let Tree::Map(mut fields) = array::object_tree(fields)? else {
        return Err(PyValueError::new_err("the fields of a model are a dictionary"));
    };
    if !labels.is_empty() {
        fields.push(("classes".to_owned(), tree(&array::classes(labels)?)?));
    }
    let model = Tree::Map(vec![(id.to_owned(), Tree::Map(fields))]);
    let model: AnyModel =
        model.into_value().map_err(|e| PyValueError::new_err(format!("{id}: {e}")))?;
    model.as_model().check().map_err(raised)?;
    let features = features(names, None, n_columns, false)?;
    let certificate = match certificate_of {
        Some(fitted) => fitted.get().trained()?.fitted.certificate.clone(),
        None => Certificate::closed_form().note("the weights were given"),
    };
    let fitted = mercer::model::Fitted { model, certificate };
    Ok(Fitted::of(State::ready(Trained::new(estimator, features, fitted, None))))
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
pub(crate) fn with_params(estimator: Estimator, params: &str) -> PyResult<Estimator> {
    let params: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(params).map_err(|e| PyValueError::new_err(e.to_string()))?;
    params
        .into_iter()
        .try_fold(estimator, |estimator, (name, value)| estimator.set(&name, value))
        .map_err(raised)
}
