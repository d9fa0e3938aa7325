//! The multivariate normal distribution.

use super::string;
use crate::error::raised;
use mercer::probability as core;
use mercer_num::Matrix;
use mercer_num::Rows;
use mercer_num::random::Random;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A multivariate normal distribution.
///
/// Parameters
/// ----------
/// mean : array-like
/// covariance : array-like of shape (k, k)
/// names : list of str, optional
///     The names of the coordinates; x1, x2, ... by default.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct MultivariateNormal(core::MultivariateNormal);

fn coordinate_names(names: Option<Vec<String>>, k: usize) -> Vec<String> {
    names.unwrap_or_else(|| (1..=k).map(|i| format!("x{i}")).collect())
}

#[pymethods]
impl MultivariateNormal {
    #[new]
    #[pyo3(signature = (mean, covariance, names=None))]
    fn new(
        mean: Vec<f64>,
        covariance: Vec<Vec<f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<MultivariateNormal> {
        let width = covariance.first().map_or(0, Vec::len);
        let matrix = Matrix::from_shape_vec((covariance.len(), width), covariance.concat())
            .map_err(|_| PyValueError::new_err("the rows of covariance have different lengths"))?;
        let names = coordinate_names(names, mean.len());
        core::MultivariateNormal::new(names, mean, matrix).map(MultivariateNormal).map_err(raised)
    }

    /// Fits the distribution to rows; `unbiased` divides the scatter matrix by n - 1 instead of n.
    #[staticmethod]
    #[pyo3(signature = (x, names=None, unbiased=false))]
    fn fit(
        x: PyReadonlyArray2<'_, f64>,
        names: Option<Vec<String>>,
        unbiased: bool,
    ) -> PyResult<MultivariateNormal> {
        let rows = Rows::Dense(x.as_array());
        let names = coordinate_names(names, rows.n_columns());
        let fit = match unbiased {
            true => core::MultivariateNormal::fit_unbiased,
            false => core::MultivariateNormal::fit,
        };
        fit(names, &rows).map(MultivariateNormal).map_err(raised)
    }

    /// The names of the coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// The mean.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.mean().to_vec().into_pyarray(py)
    }

    /// The covariance matrix.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.covariance().clone().into_pyarray(py)
    }

    /// The log-density of a point.
    fn log_density(&self, x: Vec<f64>) -> PyResult<f64> {
        self.0.ln_density(&x).map_err(raised)
    }

    /// The Mahalanobis distance of a point from the mean.
    fn mahalanobis(&self, x: Vec<f64>) -> PyResult<f64> {
        self.0.mahalanobis(&x).map_err(raised)
    }

    /// The probability of a larger Mahalanobis distance.
    fn tail(&self, x: Vec<f64>) -> PyResult<f64> {
        self.0.tail(&x).map_err(raised)
    }

    /// The marginal distribution of some coordinates.
    #[pyo3(signature = (*names))]
    fn marginal(&self, names: Vec<String>) -> PyResult<MultivariateNormal> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.0.marginal(&names).map(MultivariateNormal).map_err(raised)
    }

    /// The conditional distribution of the other coordinates, given the values of some.
    fn given(&self, known: &Bound<'_, PyDict>) -> PyResult<MultivariateNormal> {
        let known = known
            .iter()
            .map(|(name, x)| Ok((string(&name)?, x.extract::<f64>()?)))
            .collect::<PyResult<Vec<_>>>()?;
        let known: Vec<(&str, f64)> = known.iter().map(|(n, x)| (n.as_str(), *x)).collect();
        self.0.given(&known).map(MultivariateNormal).map_err(raised)
    }

    /// Random rows, determined by the seed.
    #[pyo3(signature = (n, seed=0))]
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> Bound<'py, PyArray2<f64>> {
        self.0.sample(n, &mut Random::new(seed)).into_pyarray(py)
    }

    fn __repr__(&self) -> String {
        format!("MultivariateNormal({})", self.0.names().join(", "))
    }
}
