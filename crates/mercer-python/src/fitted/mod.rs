//! Any fitted model of the catalog. It never changes: learning more rows gives another one, so
//! threads may share it and an interrupted call leaves nothing half done.
//!
//! Python asks one class for everything, so what it can be asked stands here in one list; how models are
//! learned, kept and told about stands beside it.

pub(crate) mod attributes;
mod columns;
pub mod fit;
mod slices;
mod state;

use self::attributes::tree;
use self::columns::described;
use self::fit::with_params;
use self::slices::{by_slices, by_slices_to};
use self::state::{Learned, State};
use crate::array::{self, Batch, Table, Target};
use crate::decision;
use crate::error::raised;
use crate::limits::{Bounds, Limits};
use crate::table;
use crate::work;
use mercer::catalog::Estimator;
use mercer::decision::Densities;
use mercer::explain::{explain, explain_scores, explain_terms};
use mercer::model::{Classifier, Clusterer, Model, Regressor, Transformer};
use mercer::preprocess::Features;
use mercer::train::Trained;
use mercer::{Error, Result};
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use ndarray::{Array2, ShapeError};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A fitted model with all it needs to predict, learn on, and be saved.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Fitted {
    state: State,
    /// What a signal that ended the fit is to raise.
    interrupt: Mutex<Option<PyErr>>,
}

impl Fitted {
    fn of(state: State) -> Fitted {
        Fitted { state, interrupt: Mutex::default() }
    }
}

#[pymethods]
impl Fitted {
    /// Raises what a signal that ended the fit raised, once.
    fn raise_interrupt(&self) -> PyResult<()> {
        let interrupt = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).take();
        interrupt.map_or(Ok(()), Err)
    }

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
        columns::names(self.features())
    }

    /// The words of each column that holds codes, `None` for the others.
    #[getter]
    fn levels(&self) -> Vec<Option<Vec<String>>> {
        columns::levels(self.features())
    }

    /// The names of the columns of a table where some of them are texts; `None` where none is.
    #[getter]
    fn table_names(&self) -> Option<Vec<String>> {
        columns::table_names(self.features())
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
        columns::prepared(self.features())
    }

    /// How the fit ended: method, rows, objective, violation, seconds, and what cut it short.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes::certificate(py, &self.ready()?.fitted.certificate)
    }

    /// The names of the model's fields, of those of its parts, and of what follows from them.
    fn fields(&self) -> Vec<String> {
        self.ready().map(attributes::fields).unwrap_or_default()
    }

    /// A field of the model or of one of its parts, or a number that follows from them, as an
    /// array where it is one.
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let trained = self.ready().map_err(|_| attributes::unknown(name))?;
        attributes::field(py, trained, name)
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
        Ok(Fitted::of(State::ready(trained)))
    }

    /// The same model with the log-densities of these rows kept, to measure strangers by.
    fn with_densities<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Fitted> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("give a density"))?;
        let rows = x.rows()?;
        let densities =
            work::run(py, |cancel| by_slices(&rows, cancel, |part| model.log_density(part)))?;
        let mut trained = self.ready()?.clone();
        trained.densities = Some(Densities::of(&densities));
        Ok(Fitted::of(State::ready(trained)))
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
        let state = work::run_by(py, limits.threads, |cancel| {
            let start = Instant::now();
            let mut learned = Learned { estimator, ..self.learned()? };
            let monitor = limits.monitor(cancel);
            let part = learned.estimator.gather(&data, &monitor)?;
            learned.stats.merge(&part.stats)?;
            learned.rows += part.rows;
            learned.finish(part.stopped, start, &monitor)
        })?;
        Ok(Fitted::of(state))
    }

    /// The model of the rows of both.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Fitted>) -> PyResult<Fitted> {
        let other = other.get();
        let state = work::run(py, |_| match (&self.state, &other.state) {
            (State::Ready(mine), State::Ready(theirs)) => mine.merge(theirs).map(State::ready),
            _ => self.learned()?.merge(&other.learned()?),
        })?;
        Ok(Fitted::of(state))
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
        Ok(Fitted::of(State::ready(trained)))
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
        self.written(py, x, model.n_outputs(), |rows, out| model.transform_into(rows, out))
    }

    /// Rows that mapped ones could come from.
    fn inverse<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.transformer()?;
        self.table(py, x, model.n_inputs(), |rows| {
            model.inverse(rows)?.ok_or_else(|| self.estimator().unable("tell the way back"))
        })
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
    fn feature_names_out(&self, names: Vec<String>) -> PyResult<Option<Vec<String>>> {
        Ok(self.transformer()?.feature_names_out(&names))
    }

    /// The nearest cluster of each row.
    fn assign<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let model = self.clusterer()?;
        let rows = x.rows()?;
        let found = work::run(py, |cancel| by_slices(&rows, cancel, |part| model.assign(part)))?;
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
    fn transform_f32<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let model = self.transformer()?;
        self.written(py, x, model.n_outputs(), |rows, out| model.transform_f32_into(rows, out))
    }

    /// The code of the class of each row.
    fn predict<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let model = self.classifier()?;
        let rows = x.rows()?;
        let codes = work::run(py, |cancel| by_slices(&rows, cancel, |part| model.predict(part)))?;
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
            work::run(py, |cancel| by_slices(&rows, cancel, |part| model.log_density(part)))?;
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

    /// The prediction of one row, factor by factor, term by term, or row by row of those kept.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = self.names().unwrap_or_default();
        let model = self.model()?;
        if model.additive_scores().is_some() {
            let told = explain_scores(model, row.as_slice()?, &names).map_err(raised)?;
            return array::tree_object(py, tree(&told)?);
        }
        if let Some(model) = model.support_vectors() {
            let told = model.support_terms(row.as_slice()?).map_err(raised)?;
            return array::tree_object(py, tree(&told)?);
        }
        let model = model.factorized_likelihood();
        let model = model.ok_or_else(|| self.unable("be told factor by factor"))?;
        let told = explain(model, row.as_slice()?, &names).map_err(raised)?;
        let told = told.with_levels(|feature, x| self.features().category(feature, x));
        array::tree_object(py, tree(&told)?)
    }

    /// A number a row.
    fn numbers<'py>(&self, py: Python<'py>, x: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let model = self.regressor()?;
        let rows = x.rows()?;
        let numbers = work::run(py, |cancel| by_slices(&rows, cancel, |part| model.predict(part)))?;
        Ok(numbers.into_pyarray(py))
    }

    /// The decision function, as scikit-learn shapes it; of a single column, that column.
    fn decisions<'py>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.model()?.decision_function();
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
        let model = self.model()?.linear_model();
        let model = model.ok_or_else(|| self.unable("be told term by term"))?;
        let names = self.names().unwrap_or_default();
        let told = explain_terms(model, row.as_slice()?, &names).map_err(raised)?;
        array::tree_object(py, tree(&told)?)
    }

    /// The table of coefficients: its numbers, and its text.
    fn summary<'py>(&self, py: Python<'py>, level: f64) -> PyResult<(Bound<'py, PyAny>, String)> {
        let names = self.names().unwrap_or_default();
        let summary = self.model()?.linear_model().and_then(|model| model.summary(&names, level));
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
        self.written(py, x, width, |rows, out| {
            mercer_num::parallel::copy(&part(rows)?.into_raw_vec_and_offset().0, out);
            Ok(())
        })
    }

    fn written<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        x: Table<'py>,
        width: usize,
        part: impl Fn(&Rows<'_>, &mut [T]) -> Result<()> + Sync,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let rows = x.rows()?;
        let n_rows = rows.n_rows();
        let cells = work::run(py, |cancel| by_slices_to(&rows, width, cancel, &part))?;
        let refuse = |e: ShapeError| PyRuntimeError::new_err(e.to_string());
        Ok(Array2::from_shape_vec((n_rows, width), cells).map_err(refuse)?.into_pyarray(py))
    }
}
