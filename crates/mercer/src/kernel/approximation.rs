//! What explicit feature maps of kernels share: checks of the rows, the measured approximation error, and the certificate.

use super::UniqueRows;
use crate::data::{check_cells, check_storage};
use crate::model::Certificate;
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::memory::zeros_of;
use mercer_num::rows::Missing;
use ndarray::Array2;
use std::time::Instant;

/// Rows whose kernel values are compared with the inner products of their features.
const COMPARED_ROWS: usize = 64;
/// Features that are computed for the comparison: a map to a million of them is compared on a few rows.
const MAX_COMPARED_FEATURES: usize = 1 << 22;

/// Refuses data that no feature map can be fitted to.
pub(super) fn check_usable(data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<()> {
    let weighted = data.weights().is_empty() || data.weights().iter().any(|w| *w > 0.0);
    if data.n_rows() == 0 || !weighted {
        return Err(Error::NoRows);
    }
    if data.n_columns() == 0 {
        return Err(Error::NoFeatures);
    }
    if monitor.stop().is_some() {
        return Err(Error::Stopped);
    }
    check_storage(data.rows())?;
    check_cells(data.rows(), Missing::Refused)
}

/// The root mean square difference between inner products of features and kernel values, over pairs of rows that are
/// evenly spaced in the data; fewer rows if there are very many features.
pub(super) fn sampled_error(
    rows: &Rows<'_>,
    n_features: usize,
    transform: impl Fn(&Rows<'_>) -> Result<Matrix>,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<f64> {
    let compared = (MAX_COMPARED_FEATURES / n_features.max(1)).clamp(2, COMPARED_ROWS);
    let stride = rows.n_rows().div_ceil(compared);
    let sample: Vec<Vec<f64>> = (0..rows.n_rows()).step_by(stride).map(|i| rows.row(i)).collect();
    let x = Matrix::from_shape_vec((sample.len(), rows.n_columns()), sample.concat())
        .expect("rows of one width");
    let features = transform(&Rows::from(&x))?;
    let products = features.dot(&features.t());
    let mut sum = 0.0;
    for (i, a) in sample.iter().enumerate() {
        for (j, b) in sample.iter().enumerate().take(i + 1) {
            let error = products[[i, j]] - kernel(a, b);
            sum += error * error;
        }
    }
    Ok((sum / (sample.len() * (sample.len() + 1) / 2) as f64).sqrt())
}

/// A few distinct rows that depend on the cells only, not on the order or the repetition of rows: the error on them
/// determines the number of features.
pub(super) fn comparison_rows(data: &Dataset<'_>) -> Matrix {
    let unique = UniqueRows::of(data.rows(), data.weights(), 0);
    let mut order: Vec<usize> = (0..unique.indices.len()).collect();
    order.sort_by(|a, b| unique.draws[*a].total_cmp(&unique.draws[*b]));
    order.truncate(COMPARED_ROWS);
    let cells = order.iter().flat_map(|k| data.rows().row(unique.indices[*k] as usize)).collect();
    Matrix::from_shape_vec((order.len(), data.n_columns()), cells).expect("rows of one width")
}

/// The certificate of a sampled feature map.
pub(super) fn sampled_certificate(
    data: &Dataset<'_>,
    error: f64,
    relative_trace_error: Option<f64>,
    start: Instant,
) -> Certificate {
    let certificate = Certificate::sampled()
        .violation("root mean square error of sampled kernel values", error)
        .rows(data.n_rows() as u64)
        .iterations(1)
        .since(start);
    match relative_trace_error {
        Some(error) => certificate.objective("relative trace error of the kernel matrix", error),
        None => certificate,
    }
}

/// Whether the requested error was reached, with how many features.
pub(super) fn error_message(requested: f64, error: f64, n: usize, n_components: usize) -> String {
    let features = if n == 1 { "feature" } else { "features" };
    match () {
        () if error <= requested => format!("{n} {features} for an error of at most {requested}"),
        () if n == n_components => format!(
            "NOT the requested error of {requested}: {error:.3} with {n} {features}, the limit of n_components"
        ),
        () => format!("NOT the requested error of {requested}: {error:.3} with {n} {features}"),
    }
}

/// A new matrix of features, filled by `write`.
pub(super) fn filled<T: Float>(
    n_rows: usize,
    width: usize,
    write: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<Array2<T>> {
    let mut out = zeros_of(n_rows * width);
    write(&mut out)?;
    Ok(Array2::from_shape_vec((n_rows, width), out).expect("one cell per feature"))
}
