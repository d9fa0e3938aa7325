//! Fits to rows that are spread over several processes: the classes `PartitionedFit`, `PartObserver` and `RoundsFit`,
//! which `mercer.spark` is built on. What travels between processes are bytes, checked when they are read.

use crate::array::{self, Matrix, Target};
use crate::error::raised;
use crate::fitted::Fitted;
use crate::fitted::columns;
use crate::fitted::fit::{Input, with_params};
use crate::limits::Limits;
use crate::table;
use crate::work;
use mercer::catalog::Estimator;
use mercer::data::{Field, Kind, Levels, Schema, Table};
use mercer::model::{RoundPenalty, Stop};
use mercer::preprocess::{FeatureMapRecipe, Recipe, Scale};
use mercer::train::{self, PartObserver, PartRows, PartSums, PartitionedFit, RoundsFit, Stage};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::{Arc, Mutex, PoisonError};

/// The description of a fit, the same in every process.
#[pyclass(frozen, name = "PartitionedFit", module = "mercer._mercer")]
pub struct PyPartitionedFit {
    fit: Arc<PartitionedFit>,
}

/// The name, the kind and, for a categorical column, the levels.
type FieldArguments = (String, String, Option<Vec<String>>);

fn schema(fields: Vec<FieldArguments>) -> PyResult<Schema> {
    let field = |(name, kind, levels): FieldArguments| match (kind.as_str(), levels) {
        ("numeric", _) => Ok(Field::new(name, Kind::Numeric)),
        ("boolean", _) => Ok(Field::new(name, Kind::Boolean)),
        ("text", _) => Ok(Field::new(name, Kind::Text)),
        ("categorical", Some(levels)) => {
            Ok(Field::categorical(name, Arc::new(Levels::new(levels))))
        }
        _ => Err(PyValueError::new_err(format!("column {name:?} has the kind `{kind}`"))),
    };
    Ok(Schema { fields: fields.into_iter().map(field).collect::<PyResult<_>>()? })
}

fn estimator(id: &str, params: &str) -> PyResult<Estimator> {
    with_params(Estimator::from_id(id).map_err(raised)?, params)
}

fn classes(labels: Option<&Bound<'_, PyList>>) -> PyResult<Option<mercer::data::Classes>> {
    labels.map(array::classes).transpose()
}

#[pymethods]
impl PyPartitionedFit {
    /// The fit of a table. `steps` override its preprocessing, as `--prepare` does; `map` is a kernel map.
    #[staticmethod]
    #[pyo3(signature = (id, params, fields, target, weights, labels, steps, map))]
    #[expect(clippy::too_many_arguments, reason = "the description of a fit")]
    fn of_table(
        id: &str,
        params: &str,
        fields: Vec<FieldArguments>,
        target: &str,
        weights: Option<String>,
        labels: Option<&Bound<'_, PyList>>,
        steps: Vec<String>,
        map: Option<&str>,
    ) -> PyResult<PyPartitionedFit> {
        let recipe = steps.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step));
        let recipe = match map {
            Some(map) => recipe.and_then(|recipe| recipe.mapped(map)),
            None => recipe,
        };
        let fit = PartitionedFit::of_table(
            estimator(id, params)?,
            &schema(fields)?,
            target,
            weights,
            classes(labels)?,
            recipe.map_err(raised)?,
        );
        Ok(PyPartitionedFit { fit: Arc::new(fit.map_err(raised)?) })
    }

    /// The fit of a numeric matrix, standardized if `scale`; `map` is a kernel map.
    #[staticmethod]
    #[pyo3(signature = (id, params, n_columns, sparse, names, target, weights, labels, scale, map))]
    #[expect(clippy::too_many_arguments, reason = "the description of a fit")]
    fn of_matrix(
        id: &str,
        params: &str,
        n_columns: usize,
        sparse: bool,
        names: Option<Vec<String>>,
        target: &str,
        weights: Option<String>,
        labels: Option<&Bound<'_, PyList>>,
        scale: bool,
        map: Option<&str>,
    ) -> PyResult<PyPartitionedFit> {
        let mut features = columns::features(names, None, n_columns, sparse)?;
        features.target = Some(target.to_owned());
        features.weights = weights;
        let map = map.map(FeatureMapRecipe::parse).transpose().map_err(raised)?;
        let scale = if scale { Scale::Standard } else { Scale::Keep };
        let recipe = Recipe { map, scale, ..Recipe::default() };
        let fit =
            PartitionedFit::of_matrix(estimator(id, params)?, features, classes(labels)?, recipe);
        Ok(PyPartitionedFit { fit: Arc::new(fit.map_err(raised)?) })
    }

    /// Reads and checks the bytes of a description.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<PyPartitionedFit> {
        let fit = PartitionedFit::from_bytes(bytes).map_err(raised)?;
        Ok(PyPartitionedFit { fit: Arc::new(fit) })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.fit.to_bytes().map_err(raised)?))
    }

    /// The same fit with other parameters of the estimator, which may not change what is observed.
    fn with_params(&self, params: &str) -> PyResult<PyPartitionedFit> {
        let mut fit = PartitionedFit::clone(&self.fit);
        let plain = Estimator::from_id(fit.estimator.id()).map_err(raised)?;
        fit.estimator = with_params(plain, params)?;
        fit.estimator.check().map_err(raised)?;
        Ok(PyPartitionedFit { fit: Arc::new(fit) })
    }

    /// The same fit by rounds with the penalty on `columns`, on `standardized` columns, or on `none`.
    fn with_penalty(&self, on: &str) -> PyResult<PyPartitionedFit> {
        let mut fit = PartitionedFit::clone(&self.fit);
        fit.penalty = match on {
            "columns" => RoundPenalty::Columns,
            "standardized" => RoundPenalty::StandardizedColumns,
            "none" => RoundPenalty::None,
            _ => return Err(PyValueError::new_err(format!("no penalty is called {on:?}"))),
        };
        Ok(PyPartitionedFit { fit: Arc::new(fit) })
    }

    /// The fit for processes that observe encoded rows by rounds, without what only encoding needs.
    fn of_encoded_rows(&self) -> PyPartitionedFit {
        PyPartitionedFit { fit: Arc::new(self.fit.of_encoded_rows()) }
    }

    /// What the next pass over the rows is for: `preprocessing`, `map` or `fit`.
    #[getter]
    fn stage(&self) -> &'static str {
        match self.fit.stage {
            Stage::Preprocessing => "preprocessing",
            Stage::Map => "map",
            Stage::Fit => "fit",
        }
    }

    /// Whether the model is found by rounds.
    #[getter]
    fn by_rounds(&self) -> bool {
        self.fit.by_rounds()
    }

    /// The number of rows to observe together.
    #[getter]
    fn group_rows(&self) -> usize {
        self.fit.group_rows()
    }

    /// The number of features of an encoded row.
    #[getter]
    fn n_features(&self) -> usize {
        self.fit.features.n_features()
    }

    /// The description of the kernel map with its measured error, if there is one.
    #[getter]
    fn feature_map(&self) -> Option<String> {
        self.fit.features.map.as_ref().map(|map| map.description())
    }

    /// The features of rows: a dense matrix, or the arrays of a CSR matrix.
    fn encode<'py>(&self, py: Python<'py>, rows: Input<'py>) -> PyResult<Bound<'py, PyAny>> {
        let features = &self.fit.features;
        match rows {
            Input::Table(columns) => {
                let table = table::read_as(columns, &features.schema)?;
                let encoded = work::run(py, |_| features.encode(&table, None))?;
                array::rows_object(py, &encoded.rows())
            }
            Input::Matrix(x) => {
                let rows = x.rows()?;
                match work::run(py, |_| features.encode_matrix(&rows))? {
                    Some(encoded) => Ok(encoded.into_pyarray(py).into_any()),
                    None => array::rows_object(py, &rows),
                }
            }
        }
    }

    /// Starts to observe a part of the rows, at the point of a round if the fit is by rounds.
    #[pyo3(signature = (first_row=0, point=None))]
    fn observer(&self, first_row: u64, point: Option<&[u8]>) -> PyResult<PyPartObserver> {
        let observer = self.fit.observer(first_row, point).map_err(raised)?;
        Ok(PyPartObserver { fit: Arc::clone(&self.fit), state: Mutex::new(Some(observer)) })
    }

    /// Merges the bytes of sums in their order; `None` if there are none.
    fn merge<'py>(
        &self,
        py: Python<'py>,
        parts: Vec<Vec<u8>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let merged =
            work::run(py, |_| self.merged(&parts)?.map(|sums| sums.to_bytes()).transpose());
        Ok(merged?.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The fit in its next stage, from the sums of all rows.
    fn advance(&self, py: Python<'_>, sums: &[u8]) -> PyResult<PyPartitionedFit> {
        let fit = work::run(py, |cancel| {
            let monitor = Limits::default();
            self.fit.advance(&PartSums::from_bytes(sums)?, &monitor.monitor(cancel))
        })?;
        Ok(PyPartitionedFit { fit: Arc::new(fit) })
    }

    /// The model of the statistics of all rows.
    fn finish(&self, py: Python<'_>, sums: &[u8]) -> PyResult<Fitted> {
        let trained = work::run(py, |cancel| {
            let limits = Limits::default();
            self.fit.finish(PartSums::from_bytes(sums)?, &limits.monitor(cancel))
        })?;
        Ok(Fitted::of_trained(trained))
    }

    /// Starts the rounds.
    fn rounds(&self) -> PyResult<PyRoundsFit> {
        Ok(PyRoundsFit { rounds: Mutex::new(Some(self.fit.rounds().map_err(raised)?)) })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<PyPartitionedFit>();
        Ok((class.getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}

impl PyPartitionedFit {
    fn merged(&self, parts: &[Vec<u8>]) -> mercer::Result<Option<PartSums>> {
        let parts = parts.iter().map(|bytes| PartSums::from_bytes(bytes));
        self.fit.merge(parts.collect::<mercer::Result<_>>()?)
    }
}

/// Observes a part of the rows.
#[pyclass(frozen, name = "PartObserver", module = "mercer._mercer")]
pub struct PyPartObserver {
    fit: Arc<PartitionedFit>,
    state: Mutex<Option<PartObserver>>,
}

/// The rows of a part, borrowed from Python.
enum Borrowed<'py> {
    Table(Table),
    Matrix(Matrix<'py>),
}

#[pymethods]
impl PyPartObserver {
    /// Adds rows: as they are while the preprocessing or a map is fitted, and encoded afterwards.
    #[pyo3(signature = (rows, target, weights=None))]
    fn observe<'py>(
        &self,
        py: Python<'py>,
        rows: Input<'py>,
        target: Target<'py>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<()> {
        let rows = match rows {
            Input::Table(columns) => {
                Borrowed::Table(table::read_as(columns, &self.fit.features.schema)?)
            }
            Input::Matrix(x) => Borrowed::Matrix(x),
        };
        let part = match &rows {
            Borrowed::Table(table) => PartRows::Table(table),
            Borrowed::Matrix(x) => PartRows::Matrix(x.rows()?),
        };
        let target = match &target {
            Target::Classes(codes) => train::Target::Classes(codes.as_slice()?),
            Target::Regression(y) => train::Target::Regression(y.as_slice()?),
            _ => return Err(PyTypeError::new_err("expected one target per row")),
        };
        let weights = match &weights {
            Some(weights) => weights.as_slice()?,
            None => &[],
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = state.as_mut().ok_or_else(finished)?;
        work::run(py, |cancel| {
            let limits = Limits::default();
            observer.observe(part, target, weights, &limits.monitor(cancel))
        })
    }

    /// The bytes of the sums of the observed rows; `None` if there were none. Ends the observation.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let observer = state.ok_or_else(finished)?;
        let sums = work::run(py, |_| observer.finish()?.map(|sums| sums.to_bytes()).transpose())?;
        Ok(sums.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the fit is finished already")
}

/// The driver's side of a fit by rounds.
#[pyclass(frozen, name = "RoundsFit", module = "mercer._mercer")]
pub struct PyRoundsFit {
    rounds: Mutex<Option<RoundsFit>>,
}

#[pymethods]
impl PyRoundsFit {
    /// The bytes of the point of the next round; `None` before the first.
    fn point<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let point = rounds.as_ref().ok_or_else(finished)?.point().map_err(raised)?;
        Ok(point.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Takes the sums of all rows; returns whether another round follows.
    fn step(&self, py: Python<'_>, sums: &[u8]) -> PyResult<bool> {
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let rounds = rounds.as_mut().ok_or_else(finished)?;
        work::run(py, |_| rounds.step(&PartSums::from_bytes(sums)?))
    }

    /// Iterations, objective, duality gap and largest gradient entry; `None` before the first evaluation.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(progress) = rounds.as_ref().ok_or_else(finished)?.progress() else {
            return Ok(None);
        };
        let entry = PyDict::new(py);
        entry.set_item("iterations", progress.iterations)?;
        entry.set_item("objective", progress.objective)?;
        entry.set_item("duality_gap", progress.duality_gap)?;
        entry.set_item("violation", progress.violation)?;
        Ok(Some(entry))
    }

    /// The model of the current point; `stopped` says that the time limit ended the rounds.
    #[pyo3(signature = (stopped=false))]
    fn finish(&self, py: Python<'_>, stopped: bool) -> PyResult<Fitted> {
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner).take();
        let rounds = rounds.ok_or_else(finished)?;
        let trained = work::run(py, |_| rounds.finish(stopped.then_some(Stop::Deadline)))?;
        Ok(Fitted::of_trained(trained))
    }
}
