//! Regularization paths.

use crate::array::{Batch, Matrix, Numpy1, Numpy2, Target};
use crate::error::raised;
use crate::fitted::fit::with_params;
use crate::limits::{LimitArguments, Limits};
use crate::work;
use mercer::catalog::Estimator;
use mercer::data::Classes;
use mercer::linear::ElasticNetModel;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The coefficients (strengths x targets x columns), intercepts and duality gaps (strengths x targets or problems), passes,
/// and whether each fit converged.
type Path<'py> = (
    Bound<'py, PyArray3<f64>>,
    Numpy2<'py, f64>,
    Numpy2<'py, f64>,
    Numpy2<'py, i64>,
    Numpy1<'py, bool>,
);

/// The elastic nets of several regularization strengths, each fitted from the one before.
#[pyfunction]
pub fn elastic_net_path<'py>(
    py: Python<'py>,
    params: &str,
    alphas: Vec<f64>,
    x: Matrix<'py>,
    target: Target<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    limits: Option<LimitArguments>,
) -> PyResult<Path<'py>> {
    let estimator = with_params(Estimator::from_id("elastic-net").map_err(raised)?, params)?;
    let Estimator::ElasticNet(params) = estimator else {
        return Err(PyValueError::new_err("the id of the elastic net has another estimator"));
    };
    let limits = Limits::new(limits)?;
    let classes = Classes::try_from(Vec::new()).map_err(PyValueError::new_err)?;
    let batch = Batch { x, target, classes, weights, columns: [].into() };
    let data = batch.dataset()?;
    let models = work::run_by(py, limits.n_threads, |cancel| {
        params.path(&alphas, &data, &limits.monitor(cancel))
    })?;
    let n_targets = models.first().map_or(1, |model| 1 + model.others.len());
    let line = |model: &ElasticNetModel, k: usize| match k {
        0 => (model.coefficients.clone(), model.intercept),
        _ => (model.others[k - 1].coefficients.clone(), model.others[k - 1].intercept),
    };
    let n_columns = data.n_columns();
    let mut coefficients = Array3::zeros((models.len(), n_targets, n_columns));
    let mut intercepts = Array2::zeros((models.len(), n_targets));
    for (a, model) in models.iter().enumerate() {
        for k in 0..n_targets {
            let (weights, intercept) = line(model, k);
            weights.iter().enumerate().for_each(|(j, w)| coefficients[[a, k, j]] = *w);
            intercepts[[a, k]] = intercept;
        }
    }
    let n_problems = models.first().map_or(1, |model| model.n_iters.len());
    let shape = (models.len(), n_problems);
    let gaps = Array2::from_shape_fn(shape, |(a, k)| models[a].dual_gaps[k]);
    let passes = Array2::from_shape_fn(shape, |(a, k)| models[a].n_iters[k] as i64);
    let converged: Vec<bool> = models.iter().map(|model| model.converged).collect();
    Ok((
        coefficients.into_pyarray(py),
        intercepts.into_pyarray(py),
        gaps.into_pyarray(py),
        passes.into_pyarray(py),
        converged.into_pyarray(py),
    ))
}
