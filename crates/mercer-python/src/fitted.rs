//! Any fitted model of the catalog. It never changes: learning more rows gives another one, so
//! threads may share it and an interrupted call leaves nothing half done.

use crate::array::{self, Batch, Table, Target};
use crate::decision;
use crate::error::raised;
use crate::limits::{Bounds, Limits};
use crate::table;
use crate::work;
use mercer::catalog::{AnyStats, Estimator, Trained, Tree, Unlabeled, file};
use mercer::data::{Dataset, Described, Kind, Levels};
use mercer::decision::Densities;
use mercer::explain::{explain, explain_scores, explain_terms};
use mercer::model::{
    Classifier, Clusterer, Model, Monitor, Regressor, Stop, Transformer, chunk_rows,
};
use mercer::prepare::{Features, Field, NumberStep, Reads, Recipe, Schema, Step, Words};
use mercer::{Error, Result};
use mercer_num::parallel::Layout;
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use ndarray::{Array2, ShapeError};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Dense cells predicted between two looks at the cancel flag: tens of milliseconds.
const CELLS_AT_ONCE: usize = 1 << 24;

/// A fitted model with all it needs to predict, learn on, and be saved.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Fitted {
    state: State,
}

/// Learns from rows. `params` is a JSON object; `target` holds numbers, or codes of the classes in
/// `labels`. With `wait`, rows too few for a model are kept until more are observed. `levels` has the
/// words of the columns that hold codes. The fit begins at the model of `start`, if any.
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
    let state = work::run(py, |cancel| {
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
    Ok(Fitted { state })
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
    let trained = work::run(py, |cancel| {
        let fitted = before.map(|before| &before.fitted);
        let fitted = estimator.learn_on(fitted, &data, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, None))
    })?;
    Ok(Fitted { state: State::ready(trained) })
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
    let trained = work::run(py, |cancel| {
        let data = Dataset::table(rows, targets)?;
        let data = match weights {
            Some(weights) => data.weighted(weights)?,
            None => data,
        };
        let fitted = estimator.fit(&data, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, None))
    })?;
    Ok(Fitted { state: State::ready(trained) })
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
    let state = work::run(py, |cancel| {
        let start = Instant::now();
        let monitor = limits.monitor(cancel);
        let schema = table::schema(&table);
        let reads = estimator.card().reads();
        let (features, _) = Features::plan_for(&schema, None, Words::Auto, reads)?;
        let features = features.look(&Recipe::default(), &table, &monitor)?;
        let encoded = features.encode(&table, None)?;
        let columns = features.described();
        let mut data = Dataset::classes(encoded.rows(), codes, &classes)?.described(&columns)?;
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
    Ok(Fitted { state })
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
        open = open.described(&of_more).map_err(raised)?;
    }
    if let Some(weights) = &more_weights {
        open = open.weighted(weights.as_slice()?).map_err(raised)?;
    }
    let (weight, tolerance, max_rounds) = how;
    let how = Unlabeled { weight, tolerance, max_rounds };
    let limits = Limits::new(bounds)?;
    let trained = work::run(py, |cancel| {
        let (fitted, stats) = how.fit(&estimator, &data, &open, &limits.monitor(cancel))?;
        Ok(Trained::new(estimator, features, fitted, Some(stats)))
    })?;
    Ok(Fitted { state: State::ready(trained) })
}

/// The model in the bytes of a model file.
#[pyfunction]
pub fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Fitted> {
    let state = work::run(py, |_| match Trained::from_bytes(bytes) {
        Ok(trained) => Ok(State::ready(trained)),
        Err(why) => Learned::from_bytes(bytes).unwrap_or(Err(why)),
    })?;
    Ok(Fitted { state })
}

/// The model in a file.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Fitted> {
    let trained = work::run(py, |_| Trained::load(&path))?;
    Ok(Fitted { state: State::ready(trained) })
}

#[pymethods]
impl Fitted {
    /// Whether there is a model, not just rows that are too few for one.
    #[getter(ready)]
    fn is_ready(&self) -> bool {
        self.ready().is_ok()
    }

    /// The id of the estimator.
    #[getter]
    fn id(&self) -> &'static str {
        self.estimator().id()
    }

    /// The parameters as JSON.
    #[getter]
    fn params(&self) -> String {
        self.estimator().params().to_string()
    }

    /// The classes in the order of the columns of `scores`.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let labels = self.classifier()?.classes().labels();
        let labels = labels.iter().map(|label| array::label_object(py, label));
        PyList::new(py, labels.collect::<PyResult<Vec<_>>>()?)
    }

    /// How many columns a row has.
    #[getter]
    fn n_columns(&self) -> usize {
        self.features().n_features()
    }

    /// The names of the columns, or `None` where they had none.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        let features = self.features();
        let names = features.names();
        let bundle = features.steps.contains(&Step::Bundle);
        let invented = names.iter().enumerate().all(|(j, name)| *name == default_name(j));
        (!bundle && !invented).then_some(names)
    }

    /// The words of each column that holds codes, `None` for the others.
    #[getter]
    fn levels(&self) -> Vec<Option<Vec<String>>> {
        let features = self.features();
        (features.schema.fields.iter().zip(&features.steps))
            .map(|(field, step)| match step {
                Step::Code if field.kind == Kind::Boolean => {
                    Some(vec!["false".to_owned(), "true".to_owned()])
                }
                Step::Code => Some(field.levels.words().to_vec()),
                _ => None,
            })
            .collect()
    }

    /// The names of the columns of a table where some of them are texts; `None` where none is.
    #[getter]
    fn table_names(&self) -> Option<Vec<String>> {
        let fields = &self.features().schema.fields;
        let texts = fields.iter().any(|field| field.kind == Kind::Text);
        texts.then(|| fields.iter().map(|field| field.name.clone()).collect())
    }

    /// What the columns of a table hold, in the order of `table_names`.
    #[getter]
    fn table_kinds(&self) -> Vec<String> {
        self.features().schema.fields.iter().map(|field| field.kind.to_string()).collect()
    }

    /// A table with texts in it as compressed rows: numbers, columns, offsets and width.
    #[expect(clippy::type_complexity, reason = "three arrays and a width, as scipy names them")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<table::Column<'py>>,
    ) -> PyResult<(
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<i32>>,
        Bound<'py, PyArray1<i64>>,
        usize,
    )> {
        let table = table::read(columns)?;
        let features = self.features();
        let (data, indices, offsets) = work::run(py, |_| {
            let encoded = features.encode(&table, None)?;
            let Rows::Sparse(rows) = encoded.rows() else { return Err(Error::ByColumns) };
            let (mut data, mut indices, mut offsets) = (Vec::new(), Vec::new(), vec![0i64]);
            for (columns, values) in rows.iter() {
                indices.extend_from_slice(columns);
                data.extend_from_slice(values);
                offsets.push(data.len() as i64);
            }
            Ok((data, indices, offsets))
        })?;
        let arrays = (data.into_pyarray(py), indices.into_pyarray(py), offsets.into_pyarray(py));
        Ok((arrays.0, arrays.1, arrays.2, features.n_features()))
    }

    /// The columns that the model prepares before use, which a plain matrix does not do.
    #[getter]
    fn prepared(&self) -> Vec<&str> {
        let features = self.features();
        let plain = Step::Number(NumberStep::default());
        (features.schema.fields.iter().zip(&features.steps))
            .filter(|(field, step)| {
                ![&plain, &Step::Bundle, &Step::Code].contains(step) && field.kind != Kind::Text
            })
            .map(|(field, _)| field.name.as_str())
            .collect()
    }

    /// How the fit ended: method, rows, objective, violation, seconds, and what cut it short.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let certificate = &self.ready()?.fitted.certificate;
        let out = PyDict::new(py);
        let told = array::tree_object(py, tree(certificate)?)?.cast_into::<PyDict>()?;
        for (name, value) in told.iter() {
            match value.cast_into::<PyDict>() {
                Ok(proof) => out.update(proof.as_mapping())?,
                Err(e) => out.set_item(name, e.into_inner())?,
            }
        }
        out.set_item("seconds", certificate.seconds)?;
        out.set_item("text", certificate.to_string())?;
        Ok(out)
    }

    /// The names of the model's fields, of those of its parts, and of what follows from them.
    fn fields(&self) -> Vec<String> {
        let Ok(trained) = self.ready() else { return Vec::new() };
        let mut names = Vec::new();
        let Tree::Map(fields) = trained.fitted.model.fields() else { return names };
        for (name, field) in fields {
            names.push(name);
            if let Tree::Map(parts) = field {
                names.extend(parts.into_iter().map(|(name, _)| name));
            }
        }
        let derived = trained.fitted.model.as_model().discriminant();
        let derived = derived.map(|model| model.derived_names()).unwrap_or_default();
        names.extend(derived.iter().map(|name| (*name).to_owned()));
        names
    }

    /// A field of the model or of one of its parts, or a number that follows from them, as an
    /// array where it is one.
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let unknown = || PyKeyError::new_err(name.to_owned());
        let model = &self.ready().map_err(|_| unknown())?.fitted.model;
        let derived = model.as_model().discriminant().and_then(|model| model.derived(name));
        if let Some(numbers) = derived {
            return Ok(numbers.into_pyarray(py).into_any());
        }
        let fields = model.fields();
        let parts = match &fields {
            Tree::Map(parts) => parts.iter().map(|(_, part)| part).collect(),
            _ => Vec::new(),
        };
        let field = fields.get(name).or_else(|| parts.iter().find_map(|part| part.get(name)));
        array::tree_object(py, field.cloned().ok_or_else(unknown)?)
    }

    /// The rule answers are given by: costs, the cost of no answer, what is added to log-posteriors.
    #[getter]
    #[expect(clippy::type_complexity, reason = "three parts, as numpy names them")]
    fn decision<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f64>>, Option<f64>, Vec<f64>)>> {
        let Some(rule) = &self.ready()?.decision else { return Ok(None) };
        let costs = rule.costs.matrix().clone().into_pyarray(py);
        Ok(Some((costs, rule.costs.reject(), rule.shift().to_vec())))
    }

    /// The same model with a rule to answer by stored in it, or without one.
    #[pyo3(signature = (cost=None, reject=None, old_priors=None, new_priors=None))]
    fn with_decision(
        &self,
        cost: Option<PyReadonlyArray2<'_, f64>>,
        reject: Option<f64>,
        old_priors: Option<Vec<f64>>,
        new_priors: Option<Vec<f64>>,
    ) -> PyResult<Fitted> {
        let mut trained = self.ready()?.clone();
        let n_classes = self.classifier()?.classes().len();
        let none = cost.is_none() && reject.is_none() && new_priors.is_none();
        let cost = cost.map(|cost| cost.as_array().to_owned());
        trained.decision = match none {
            true => None,
            false => Some(decision::rule(n_classes, cost, reject, old_priors, new_priors)?),
        };
        if let Some(rule) = &trained.decision {
            rule.check(n_classes).map_err(raised)?;
        }
        Ok(Fitted { state: State::ready(trained) })
    }

    /// The same model with the log-densities of these rows kept, to measure strangers by.
    fn with_densities<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Fitted> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("give a density"))?;
        let rows = x.rows()?;
        let densities =
            work::run(py, |cancel| by_slices(&rows, 1, cancel, |part| model.log_density(part)))?;
        let mut trained = self.ready()?.clone();
        trained.densities = Some(Densities::of(&densities));
        Ok(Fitted { state: State::ready(trained) })
    }

    /// The log-density that at most a share of the rows kept lie below; `None` where none are kept.
    fn outlier_threshold(&self, share: f64) -> PyResult<Option<f64>> {
        let known = self.ready()?.densities.as_ref();
        known.map(|known| known.threshold(share)).transpose().map_err(raised)
    }

    /// The model of these rows and those before, with the parameters as they are now.
    #[pyo3(signature = (params, x, target, labels, weights=None, bounds=None))]
    #[expect(clippy::too_many_arguments, reason = "the door takes a fit's arguments one by one")]
    fn observe<'py>(
        &self,
        py: Python<'py>,
        params: &str,
        x: Table<'py>,
        target: Target<'py>,
        labels: &Bound<'py, PyList>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        bounds: Option<Bounds>,
    ) -> PyResult<Fitted> {
        let estimator = with_params(self.estimator().clone(), params)?;
        let columns = described(&estimator, self.features());
        let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
        let data = batch.dataset()?;
        let limits = Limits::new(bounds)?;
        let state = work::run(py, |cancel| {
            let start = Instant::now();
            let mut learned = Learned { estimator, ..self.learned()? };
            let monitor = limits.monitor(cancel);
            let part = learned.estimator.gather(&data, &monitor)?;
            learned.stats.merge(&part.stats)?;
            learned.rows += part.rows;
            learned.finish(part.stopped, start, &monitor)
        })?;
        Ok(Fitted { state })
    }

    /// The model of the rows of both.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Fitted>) -> PyResult<Fitted> {
        let other = other.get();
        let state = work::run(py, |_| match (&self.state, &other.state) {
            (State::Ready(mine), State::Ready(theirs)) => mine.merge(theirs).map(State::ready),
            _ => self.learned()?.merge(&other.learned()?),
        })?;
        Ok(Fitted { state })
    }

    /// The model without these rows.
    #[pyo3(signature = (x, target, labels, weights=None))]
    fn forget<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
        target: Target<'py>,
        labels: &Bound<'py, PyList>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Fitted> {
        let columns = described(self.estimator(), self.features());
        let batch = Batch { x, target, classes: array::classes(labels)?, weights, columns };
        let data = batch.dataset()?;
        let trained = self.ready()?;
        let trained = work::run(py, |cancel| {
            let part = trained.estimator.gather(&data, &Limits::default().monitor(cancel))?;
            trained.forget(&part.stats, part.rows)
        })?;
        Ok(Fitted { state: State::ready(trained) })
    }

    /// One row a row, one column a class.
    fn scores<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.classifier()?;
        self.table(py, x, model.classes().len(), |rows| model.scores(rows))
    }

    /// `log P(class, row)`.
    fn log_joint<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("give a density"))?;
        self.table(py, x, model.classes().len(), |rows| model.log_joint(rows))
    }

    /// Squared distances from the center of each class.
    fn distances<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.model()?.discriminant();
        let model = model.ok_or_else(|| self.unable("measure distances"))?;
        self.table(py, x, model.classes().len(), |rows| model.distances(rows))
    }

    /// How many columns `transform` gives.
    #[getter]
    fn n_outputs(&self) -> PyResult<usize> {
        Ok(self.transformer()?.n_outputs())
    }

    /// The rows mapped to other rows.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.transformer()?;
        self.table(py, x, model.n_outputs(), |rows| model.transform(rows))
    }

    /// Sparse rows mapped to sparse rows: numbers, columns, offsets and width; `None` where new rows are not
    /// sparse.
    #[expect(clippy::type_complexity, reason = "three arrays and a width, as scipy names them")]
    fn transform_sparse<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<
        Option<(
            Bound<'py, PyArray1<f64>>,
            Bound<'py, PyArray1<i32>>,
            Bound<'py, PyArray1<i64>>,
            usize,
        )>,
    > {
        let model = self.transformer()?;
        let rows = x.rows()?;
        let Some(new) = work::run(py, |_| model.transform_sparse(&rows))? else { return Ok(None) };
        let width = new.cols();
        let (offsets, columns, values) = new.into_raw_storage();
        let offsets: Vec<i64> = offsets.into_iter().map(|at| at as i64).collect();
        Ok(Some((
            values.into_pyarray(py),
            columns.into_pyarray(py),
            offsets.into_pyarray(py),
            width,
        )))
    }

    /// What the new columns are called, from the names of the old ones; `None` where they have no names of
    /// their own.
    fn names_out(&self, names: Vec<String>) -> PyResult<Option<Vec<String>>> {
        Ok(self.transformer()?.names_out(&names))
    }

    /// The nearest cluster of each row.
    fn assign<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let model = self.clusterer()?;
        let rows = x.rows()?;
        let found = work::run(py, |cancel| by_slices(&rows, 1, cancel, |part| model.assign(part)))?;
        Ok(found.into_pyarray(py))
    }

    /// Squared distances from the center of each cluster.
    fn cluster_distances<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.clusterer()?;
        self.table(py, x, model.n_clusters(), |rows| model.distances(rows))
    }

    /// How many numbers a row has.
    #[getter]
    fn n_targets(&self) -> PyResult<usize> {
        Ok(self.regressor()?.n_targets())
    }

    /// Every number of each row, a column each.
    fn numbers_many<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.regressor()?;
        self.table(py, x, model.n_targets(), |rows| model.predict_many(rows))
    }

    /// The map that the model sends its columns through, in words; `None` without one.
    #[getter]
    fn map(&self) -> Option<String> {
        self.features().map.as_ref().map(|map| map.description())
    }

    /// The same in single precision.
    fn transform_single<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let model = self.transformer()?;
        self.table(py, x, model.n_outputs(), |rows| model.transform_single(rows))
    }

    /// The code of the class of each row.
    fn predict<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let model = self.classifier()?;
        let rows = x.rows()?;
        let codes =
            work::run(py, |cancel| by_slices(&rows, 1, cancel, |part| model.predict(part)))?;
        Ok(codes.into_pyarray(py))
    }

    /// `log P(class | row)`.
    fn log_proba<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.model()?.probabilistic();
        let model = model.ok_or_else(|| self.unable("give probabilities"))?;
        self.table(py, x, model.classes().len(), |rows| model.log_proba(rows))
    }

    /// `log p(row)`.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("give a density"))?;
        let rows = x.rows()?;
        let density =
            work::run(py, |cancel| by_slices(&rows, 1, cancel, |part| model.log_density(part)))?;
        Ok(density.into_pyarray(py))
    }

    /// New rows and the codes of their classes.
    #[expect(clippy::type_complexity, reason = "two arrays, as numpy names them")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<u32>>)> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("make new rows"))?;
        // Asked before it is taken: running out inside would end the process.
        let cells = n.saturating_mul(self.n_columns() + 1);
        Vec::<f64>::new()
            .try_reserve_exact(cells)
            .map_err(|_| PyMemoryError::new_err(format!("{n} rows do not fit in memory")))?;
        let (rows, codes) = work::run(py, |_| Ok(model.sample(n, &mut Random::new(seed))))?;
        Ok((rows.into_pyarray(py), codes.into_pyarray(py)))
    }

    /// The prediction of one row, factor by factor or term by term.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = self.names().unwrap_or_default();
        let model = self.model()?;
        if model.summed().is_some() {
            let told = explain_scores(model, row.as_slice()?, &names).map_err(raised)?;
            return array::tree_object(py, tree(&told)?);
        }
        let model = self.model()?.factored();
        let model = model.ok_or_else(|| self.unable("be told factor by factor"))?;
        let told = explain(model, row.as_slice()?, &names).map_err(raised)?;
        let told = told.in_words(|feature, x| self.features().word(feature, x));
        array::tree_object(py, tree(&told)?)
    }

    /// A number a row.
    fn numbers<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let model = self.regressor()?;
        let rows = x.rows()?;
        let numbers =
            work::run(py, |cancel| by_slices(&rows, 1, cancel, |part| model.predict(part)))?;
        Ok(numbers.into_pyarray(py))
    }

    /// The decision function, as scikit-learn shapes it; of a single column, that column.
    fn decisions<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.model()?.decides();
        let model = model.ok_or_else(|| self.unable("give decisions"))?;
        let rows = x.rows()?;
        let decisions = work::run(py, |_| model.decisions(&rows))?;
        Ok(decisions.into_pyarray(py))
    }

    /// For every row the ends of an interval that holds its number with probability `level`.
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
        level: f64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.regressor()?;
        let unable =
            || self.estimator().unable("give an interval: no row is left over to judge by");
        self.table(py, x, 2, |rows| {
            let ends = model.intervals(rows, level)?.ok_or_else(unable)?;
            Ok(Matrix::from_shape_fn(
                (ends.len(), 2),
                |(i, k)| {
                    if k == 0 { ends[i].0 } else { ends[i].1 }
                },
            ))
        })
    }

    /// The number of one row, term by term.
    fn explain_terms<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model()?.additive();
        let model = model.ok_or_else(|| self.unable("be told term by term"))?;
        let names = self.names().unwrap_or_default();
        let told = explain_terms(model, row.as_slice()?, &names).map_err(raised)?;
        array::tree_object(py, tree(&told)?)
    }

    /// The table of coefficients: its numbers, and its text.
    fn summary<'py>(&self, py: Python<'py>, level: f64) -> PyResult<(Bound<'py, PyAny>, String)> {
        let names = self.names().unwrap_or_default();
        let summary = self.model()?.additive().and_then(|model| model.summary(&names, level));
        let summary = summary.ok_or_else(|| self.unable("give standard errors"))?;
        Ok((array::tree_object(py, tree(&summary)?)?, summary.to_string()))
    }

    /// The bytes of a model file; the same model is the same bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work::run(py, |_| match &self.state {
            State::Ready(trained) => trained.to_bytes(),
            State::Waiting(learned, _) => learned.to_bytes(),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a model file whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let trained = self.ready()?;
        work::run(py, |_| trained.save(&path))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let rebuild = py.import("mercer._mercer")?.getattr("from_bytes")?;
        Ok((rebuild, (self.to_bytes(py)?,)))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// What there is after some rows.
enum State {
    /// A model.
    Ready(Box<Trained>),
    /// Rows that are too few for one yet, and what is missing.
    Waiting(Box<Learned>, Error),
}

impl State {
    fn ready(trained: Trained) -> State {
        State::Ready(Box::new(trained))
    }
}

/// What was learned from rows, before a model is made of it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Learned {
    estimator: Estimator,
    features: Features,
    stats: AnyStats,
    rows: u64,
}

impl Learned {
    /// Makes the model, or waits for rows that allow one.
    fn finish(
        self,
        stopped: Option<Stop>,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> Result<State> {
        match self.estimator.finish_within(&self.stats, self.rows, monitor) {
            Ok(mut fitted) => {
                fitted.certificate.stopped = stopped.or(fitted.certificate.stopped);
                fitted.certificate.seconds = start.elapsed().as_secs_f64();
                let Learned { estimator, features, stats, .. } = self;
                Ok(State::ready(Trained::new(estimator, features, fitted, Some(stats))))
            }
            Err(why @ (Error::OneClass { .. } | Error::ZeroVariance { .. } | Error::NoRows)) => {
                Ok(State::Waiting(Box::new(self), why))
            }
            Err(why) => Err(why),
        }
    }

    fn merge(mut self, other: &Learned) -> Result<State> {
        if self.estimator != other.estimator || self.features != other.features {
            return Err(Error::Merge { why: "the parameters or columns differ".into() });
        }
        self.stats.merge(&other.stats)?;
        self.rows += other.rows;
        self.finish(None, Instant::now(), &Monitor::quiet())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        file::to_bytes(&Tree::of(self).map_err(|e| Error::File(e.to_string()))?)
    }

    /// `None` if the bytes hold something else.
    fn from_bytes(bytes: &[u8]) -> Option<Result<State>> {
        let learned: Learned = file::from_bytes(bytes).ok()?.into_value().ok()?;
        let checked = learned
            .estimator
            .check()
            .and_then(|()| learned.features.check())
            .and_then(|()| learned.stats.check());
        Some(checked.and_then(|()| learned.finish(None, Instant::now(), &Monitor::quiet())))
    }
}

impl Fitted {
    /// The model, or what it is still waiting for.
    fn ready(&self) -> PyResult<&Trained> {
        match &self.state {
            State::Ready(trained) => Ok(trained),
            State::Waiting(_, why) => Err(raised(why.clone())),
        }
    }

    fn learned(&self) -> Result<Learned> {
        match &self.state {
            State::Waiting(learned, _) => Ok(Learned::clone(learned)),
            State::Ready(trained) => {
                let Trained { estimator, features, fitted, stats, .. } = &**trained;
                let unable = || estimator.unable("learn on: it keeps no statistics");
                Ok(Learned {
                    estimator: estimator.clone(),
                    features: features.clone(),
                    stats: stats.clone().ok_or_else(unable)?,
                    rows: fitted.certificate.rows,
                })
            }
        }
    }

    fn estimator(&self) -> &Estimator {
        match &self.state {
            State::Ready(trained) => &trained.estimator,
            State::Waiting(learned, _) => &learned.estimator,
        }
    }

    fn features(&self) -> &Features {
        match &self.state {
            State::Ready(trained) => &trained.features,
            State::Waiting(learned, _) => &learned.features,
        }
    }

    fn model(&self) -> PyResult<&dyn Model> {
        Ok(self.ready()?.fitted.model.as_model())
    }

    fn classifier(&self) -> PyResult<&dyn Classifier> {
        self.model()?.classifier().ok_or_else(|| self.unable("tell classes apart"))
    }

    fn transformer(&self) -> PyResult<&dyn Transformer> {
        self.model()?.transformer().ok_or_else(|| self.unable("transform rows"))
    }

    fn clusterer(&self) -> PyResult<&dyn Clusterer> {
        self.model()?.clusterer().ok_or_else(|| self.unable("find clusters"))
    }

    fn regressor(&self) -> PyResult<&dyn Regressor> {
        self.model()?.regressor().ok_or_else(|| self.unable("predict numbers"))
    }

    fn unable(&self, what: &str) -> PyErr {
        raised(self.estimator().unable(what))
    }

    /// One row of numbers a row.
    fn table<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
        width: usize,
        part: impl Fn(&Rows<'_>) -> Result<Array2<T>> + Sync,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let rows = x.rows()?;
        let n_rows = rows.n_rows();
        let cells = work::run(py, |cancel| {
            by_slices(&rows, width, cancel, |rows| Ok(part(rows)?.into_raw_vec_and_offset().0))
        })?;
        let refuse = |e: ShapeError| PyRuntimeError::new_err(e.to_string());
        Ok(Array2::from_shape_vec((n_rows, width), cells).map_err(refuse)?.into_pyarray(py))
    }
}

/// `width` answers for each of the rows, some rows at a time, so that the work can be given up between.
fn by_slices<T: Copy + Default + Send + Sync>(
    rows: &Rows<'_>,
    width: usize,
    cancel: &AtomicBool,
    answer: impl Fn(&Rows<'_>) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    /// Answers at a time that one thread copies.
    const COPIED: usize = 1 << 16;
    let n_rows = rows.n_rows();
    let size = match rows {
        // Preparing a sparse slice costs as much as the data is wide.
        Rows::Sparse(_) => rows.n_columns().max(65_536),
        _ => (CELLS_AT_ONCE / rows.n_columns().max(8 * width).max(1))
            .next_multiple_of(chunk_rows(rows.n_columns(), Layout::Dense)),
    };
    if n_rows <= size {
        return answer(rows);
    }
    let mut out = vec![T::default(); n_rows * width];
    for (first, out) in (0..n_rows).step_by(size).zip(out.chunks_mut(size * width)) {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let slice = rows.slice(first..(first + size).min(n_rows));
        let part = answer(&slice).map_err(|e| e.after_rows(first))?;
        out.par_chunks_mut(COPIED).zip(part.par_chunks(COPIED)).for_each(|(to, from)| {
            to.copy_from_slice(from);
        });
    }
    Ok(out)
}

fn with_params(estimator: Estimator, params: &str) -> PyResult<Estimator> {
    let params: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(params).map_err(|e| PyValueError::new_err(e.to_string()))?;
    params
        .into_iter()
        .try_fold(estimator, |estimator, (name, value)| estimator.set(&name, value))
        .map_err(raised)
}

/// How columns are called in a model file. A sparse matrix without names stays one bundle: a name
/// for each of a million columns would outweigh the model.
fn features(
    names: Option<Vec<String>>,
    levels: Option<Vec<Option<Vec<String>>>>,
    n_columns: usize,
    sparse: bool,
) -> PyResult<Features> {
    match names {
        Some(names) if names.len() == n_columns => {
            let mut features = Features::plain(names);
            for (k, words) in levels.into_iter().flatten().enumerate().take(n_columns) {
                if let Some(words) = words {
                    let levels = Levels::try_from(words).map_err(PyValueError::new_err)?;
                    let name = std::mem::take(&mut features.schema.fields[k].name);
                    features.schema.fields[k] = Field::categorical(name, Arc::new(levels));
                    features.steps[k] = Step::Code;
                }
            }
            Ok(features)
        }
        Some(names) => Err(raised(Error::Length {
            what: "the names".into(),
            found: names.len(),
            expected: n_columns,
        })),
        None if sparse => {
            let field = Field { width: n_columns, ..Field::new("features", Kind::Sparse) };
            let schema = Schema { fields: vec![field] };
            Ok(Features { schema, steps: vec![Step::Bundle], target: None, map: None })
        }
        None => Ok(Features::plain((0..n_columns).map(default_name))),
    }
}

/// What the columns hold, for an estimator that asks.
fn described(estimator: &Estimator, features: &Features) -> Arc<[Described]> {
    match estimator.card().reads() {
        Reads::Mixed => features.described(),
        _ => Arc::default(),
    }
}

fn default_name(j: usize) -> String {
    format!("x{j}")
}

fn tree<T: Serialize>(value: &T) -> PyResult<Tree> {
    Tree::of(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}
