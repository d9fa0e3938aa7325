//! The class `Fitted`: a fitted model of any estimator of the catalog.
//!
//! It is immutable: adding rows gives another object, so threads may share one, and an interrupted call
//! leaves it unchanged. pyo3 wants the methods of a class in one block; this module has the block, with the
//! interface of each method, and the modules beside it have the work: fitting ([`fit`]), adding and
//! removing rows (`update`), predictions (`predict`), feature maps (`transform`), explanations (`explain`),
//! and the attributes and columns of a model (`attributes`, `columns`).

pub(crate) mod attributes;
mod blocks;
pub(crate) mod columns;
mod explain;
pub mod fit;
mod predict;
mod state;
mod transform;
mod update;

use self::state::State;
use crate::array::{self, Batch, CsrArrays, Matrix, Numpy1, Numpy2, Target};
use crate::error::raised;
use crate::limits::{LimitArguments, Limits};
use crate::table;
use crate::work;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A fitted model with everything needed to predict, to add rows, and to be saved.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Fitted {
    state: State,
    /// The exception of a signal that ended the fit.
    interrupt: Mutex<Option<PyErr>>,
}

/// The state and the attributes of the model.
#[pymethods]
impl Fitted {
    /// Raises the exception of a signal that ended the fit, once.
    fn raise_interrupt(&self) -> PyResult<()> {
        let interrupt = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).take();
        interrupt.map_or(Ok(()), Err)
    }

    /// Whether there is a model, and not only the statistics of too few rows for one.
    #[getter]
    fn ready(&self) -> bool {
        self.trained().is_ok()
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

    /// The number of columns.
    #[getter]
    fn n_columns(&self) -> usize {
        self.features().n_features()
    }

    /// The names of the columns, or `None` if the rows had none.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        columns::names(self.features())
    }

    /// The levels of each categorical column, `None` for the others.
    #[getter]
    fn levels(&self) -> Vec<Option<Vec<String>>> {
        columns::levels(self.features())
    }

    /// The names of the columns of a table with text columns; `None` without text columns.
    #[getter]
    fn table_names(&self) -> Option<Vec<String>> {
        columns::table_names(self.features())
    }

    /// The kinds of the columns of a table, in the order of `table_names`.
    #[getter]
    fn table_kinds(&self) -> Vec<String> {
        self.features().schema.fields.iter().map(|field| field.kind.to_string()).collect()
    }

    /// The columns that the model preprocesses, which the Python package does not support.
    #[getter]
    fn preprocessed(&self) -> Vec<&str> {
        columns::preprocessed(self.features())
    }

    /// The description of the feature map in front of the model; `None` without one.
    #[getter]
    fn feature_map(&self) -> Option<String> {
        self.features().map.as_ref().map(|map| map.description())
    }

    /// How the fit ended.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes::certificate(py, &self.trained()?.fitted.certificate)
    }

    /// The names of the fields of the model, of its parts, and of values derived from them.
    fn fields(&self) -> Vec<String> {
        self.trained().map(attributes::fields).unwrap_or_default()
    }

    /// A field of the model or of one of its parts, or a value derived from them.
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let trained = self.trained().map_err(|_| attributes::unknown(name))?;
        attributes::field(py, trained, name)
    }

    /// The decision rule: cost matrix, reject cost, and the shift of the log-posteriors by new priors.
    #[getter]
    #[expect(clippy::type_complexity, reason = "the three parts of a decision rule")]
    fn decision_rule<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Numpy2<'py, f64>, Option<f64>, Vec<f64>)>> {
        let Some(rule) = &self.trained()?.decision else { return Ok(None) };
        let costs = rule.costs.matrix().clone().into_pyarray(py);
        Ok(Some((costs, rule.costs.reject(), rule.shift().to_vec())))
    }

    /// The model with a decision rule, or without one if nothing is given.
    #[pyo3(signature = (cost=None, reject=None, old_priors=None, new_priors=None))]
    fn with_decision_rule(
        &self,
        cost: Option<PyReadonlyArray2<'_, f64>>,
        reject: Option<f64>,
        old_priors: Option<Vec<f64>>,
        new_priors: Option<Vec<f64>>,
    ) -> PyResult<Fitted> {
        self.with_rule(cost, reject, old_priors, new_priors)
    }

    /// The model with the quantiles of the log-densities of these rows.
    fn with_densities<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Fitted> {
        self.with_density_quantiles(py, &x)
    }

    /// The threshold below which at most a fraction of the stored log-densities lies; `None` if none
    /// are stored.
    fn outlier_threshold(&self, fraction: f64) -> PyResult<Option<f64>> {
        let stored = self.trained()?.densities.as_ref();
        stored.map(|stored| stored.threshold(fraction)).transpose().map_err(raised)
    }

    /// Adds rows to the fit, with new parameters.
    #[pyo3(signature = (params, x, target, labels, weights=None, limits=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python passes the arguments of a fit one by one"
    )]
    fn observe<'py>(
        &self,
        py: Python<'py>,
        params: &str,
        x: Matrix<'py>,
        target: Target<'py>,
        labels: &Bound<'py, PyList>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        limits: Option<LimitArguments>,
    ) -> PyResult<Fitted> {
        let classes = array::classes(labels)?;
        let batch = Batch { x, target, classes, weights, columns: Arc::default() };
        self.with_rows(py, params, batch, &Limits::new(limits)?)
    }

    /// The model of the rows of both fits.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Fitted>) -> PyResult<Fitted> {
        self.merged(py, other.get())
    }

    /// Removes rows from the fit.
    #[pyo3(signature = (x, target, labels, weights=None))]
    fn forget<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        target: Target<'py>,
        labels: &Bound<'py, PyList>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Fitted> {
        let classes = array::classes(labels)?;
        let batch = Batch { x, target, classes, weights, columns: Arc::default() };
        self.without_rows(py, batch)
    }

    /// Scores of the classes, one column per class.
    fn scores<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy2<'py, f64>> {
        self.class_scores(py, &x)
    }

    /// The code of the predicted class of each row.
    fn predict<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy1<'py, u32>> {
        self.class_codes(py, &x)
    }

    /// `log P(class | row)`, one column per class.
    fn log_proba<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy2<'py, f64>> {
        self.class_log_proba(py, &x)
    }

    /// `log P(class, row)`, one column per class.
    fn log_joint<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy2<'py, f64>> {
        self.joint_log_proba(py, &x)
    }

    /// `log p(row)`.
    fn log_density<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy1<'py, f64>> {
        self.row_log_density(py, &x)
    }

    /// Squared Mahalanobis distances to the class means, one column per class.
    fn mahalanobis<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy2<'py, f64>> {
        self.class_distances(py, &x)
    }

    /// The decision function in the shape of scikit-learn; a single column for two classes.
    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        self.decision_values(py, &x)
    }

    /// The number of regression targets.
    #[getter]
    fn n_targets(&self) -> PyResult<usize> {
        Ok(self.regressor()?.n_targets())
    }

    /// The predicted regression target of each row.
    fn predict_target<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy1<'py, f64>> {
        self.regression(py, &x)
    }

    /// The predicted regression targets, one column per target.
    fn predict_multi_output<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        self.multi_output_regression(py, &x)
    }

    /// The ends of a prediction interval of each row, which contains its target with probability `level`.
    fn prediction_intervals<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        level: f64,
    ) -> PyResult<Numpy2<'py, f64>> {
        self.intervals(py, &x, level)
    }

    /// The index of the nearest cluster of each row.
    fn predict_clusters<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy1<'py, u32>> {
        self.nearest_clusters(py, &x)
    }

    /// Squared distances to the cluster centers, one column per cluster.
    fn cluster_distances<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        self.center_distances(py, &x)
    }

    /// Rows drawn from the model, and the codes of their classes.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        given: Option<u32>,
        seed: u64,
    ) -> PyResult<(Numpy2<'py, f64>, Numpy1<'py, u32>)> {
        self.draw(py, n, given, seed)
    }

    /// The number of free parameters of a naive Bayes model, and of the full joint table of its columns.
    #[getter]
    fn parameter_counts(&self) -> PyResult<(Option<u64>, Option<f64>)> {
        let model = self.model()?.factorized_likelihood();
        let model = model.ok_or_else(|| self.unable("count the parameters of its likelihoods"))?;
        Ok((model.n_parameters(), model.n_joint_parameters()))
    }

    /// The number of columns of `transform`.
    #[getter]
    fn n_outputs(&self) -> PyResult<usize> {
        Ok(self.transformer()?.n_outputs())
    }

    /// The transformed rows.
    fn transform<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy2<'py, f64>> {
        self.transformed(py, &x)
    }

    /// The transformed rows in single precision.
    fn transform_f32<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Numpy2<'py, f32>> {
        self.transformed_f32(py, &x)
    }

    /// The transformed rows as CSR arrays; `None` if the map of sparse rows is dense.
    fn transform_sparse<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
    ) -> PyResult<Option<CsrArrays<'py>>> {
        self.transformed_sparse(py, &x)
    }

    /// Approximate pre-images of transformed rows.
    fn inverse_transform<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        self.inverse(py, &x)
    }

    /// The names of the columns of `transform`; `None` if the map does not define them.
    fn feature_names_out(&self, names: Vec<String>) -> PyResult<Option<Vec<String>>> {
        Ok(self.transformer()?.feature_names_out(&names))
    }

    /// A table with text columns as CSR arrays.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<table::Column<'py>>,
    ) -> PyResult<CsrArrays<'py>> {
        self.encoded(py, columns)
    }

    /// The rows of a table in the form that the model predicts: a dense matrix, or the arrays of a CSR matrix.
    fn encode_rows<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<table::Column<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.encoded_rows(py, columns)
    }

    /// The features of a matrix: scaled and mapped as the model needs them; `None` if they are its columns.
    fn encode_matrix<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
    ) -> PyResult<Option<Numpy2<'py, f64>>> {
        self.encoded_matrix(py, &x)
    }

    /// The distances from a prediction to the ends of the conformal interval with a coverage probability.
    fn conformal_interval(&self, level: f64) -> PyResult<(f64, f64)> {
        self.conformal()?.interval(level).map_err(raised)
    }

    /// The conformal prediction set of every row of log-probabilities: class indices by descending probability.
    fn conformal_sets(
        &self,
        log_proba: PyReadonlyArray2<'_, f64>,
        level: f64,
    ) -> PyResult<Vec<Vec<usize>>> {
        let conformal = self.conformal()?;
        let rows = log_proba.as_array();
        let set = |row: numpy::ndarray::ArrayView1<'_, f64>| conformal.set(&row.to_vec(), level);
        rows.outer_iter().map(set).collect::<mercer::Result<_>>().map_err(raised)
    }

    /// The explanation of the prediction for one row, as a dictionary.
    #[pyo3(name = "explain")]
    fn explain_row<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.explanation(py, row.as_slice()?)
    }

    /// The terms of the prediction of a linear regression for one row, as a dictionary.
    fn explain_terms<'py>(
        &self,
        py: Python<'py>,
        row: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.term_explanation(py, row.as_slice()?)
    }

    /// The summary of a linear regression as a dictionary and as text.
    fn summary<'py>(&self, py: Python<'py>, level: f64) -> PyResult<(Bound<'py, PyAny>, String)> {
        self.regression_summary(py, level)
    }

    /// The bytes of a model file; equal models have equal bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work::run(py, |_| match &self.state {
            State::Ready(trained) => trained.to_bytes(),
            State::Waiting(statistics, _) => statistics.to_bytes(),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a model file; an existing file is replaced only by a complete one.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let trained = self.trained()?;
        work::run(py, |_| trained.save(&path))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.import("mercer._mercer")?.getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py)?,)))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

impl Fitted {
    /// The names of the columns for explanations; empty if the rows had none.
    fn column_names(&self) -> Vec<String> {
        columns::names(self.features()).unwrap_or_default()
    }
}
