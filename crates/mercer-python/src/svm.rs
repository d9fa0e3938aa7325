//! The check of a kernel matrix, and given hyperplanes.

use crate::array::{self, Matrix};
use crate::error::raised;
use crate::fitted::attributes::tree;
use mercer::data::Dataset;
use mercer::kernel::{Gamma, Kernel, check_kernel};
use mercer::svm::Hyperplane;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The findings about the kernel matrix of some rows, as a dictionary. `gamma` is JSON.
#[pyfunction]
pub fn kernel_check<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    kernel: &str,
    gamma: &str,
    coef0: f64,
    degree: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let kernel: Kernel = kernel.parse().map_err(PyValueError::new_err)?;
    let gamma: Gamma = serde_json::from_str(gamma)
        .map_err(|_| PyValueError::new_err("gamma must be a number, 'scale' or 'auto'"))?;
    let rows = x.rows()?;
    let function = kernel.with(Some(gamma), coef0, degree, &Dataset::unlabeled(rows));
    let report = check_kernel(function, &rows).map_err(raised)?;
    array::tree_object(py, tree(&report)?)
}

fn hyperplane(weights: Vec<f64>, intercept: f64) -> PyResult<Hyperplane> {
    Hyperplane::new(weights, intercept).map_err(raised)
}

/// The signed distance of every row from a hyperplane.
#[pyfunction]
pub fn hyperplane_distances<'py>(
    py: Python<'py>,
    weights: Vec<f64>,
    intercept: f64,
    x: Matrix<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let distances = hyperplane(weights, intercept)?.signed_distances(&x.rows()?).map_err(raised)?;
    Ok(distances.into_pyarray(py))
}

/// The norm of the weights.
#[pyfunction]
pub fn hyperplane_norm(weights: Vec<f64>, intercept: f64) -> PyResult<f64> {
    Ok(hyperplane(weights, intercept)?.norm())
}

/// The weights and the intercept of the canonical form.
#[pyfunction]
pub fn hyperplane_canonical(
    weights: Vec<f64>,
    intercept: f64,
    x: Matrix<'_>,
) -> PyResult<(Vec<f64>, f64)> {
    let canonical = hyperplane(weights, intercept)?.canonical(&x.rows()?).map_err(raised)?;
    Ok((canonical.weights, canonical.intercept))
}

/// How a hyperplane separates two classes, as a dictionary.
#[pyfunction]
pub fn hyperplane_separation<'py>(
    py: Python<'py>,
    weights: Vec<f64>,
    intercept: f64,
    x: Matrix<'py>,
    is_positive: Vec<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let plane = hyperplane(weights, intercept)?;
    let separation = plane.separation(&x.rows()?, &is_positive).map_err(raised)?;
    array::tree_object(py, tree(&separation)?)
}
