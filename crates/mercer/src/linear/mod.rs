//! Linear models `ŷ = b₀ + Σⱼ bⱼ xⱼ`: least squares, ridge and logistic regression, linear support vector machines, and
//! models trained by stochastic gradient descent. They differ in the loss and the penalty that `b` minimizes.

mod elastic_net;
mod least_squares;
mod logistic;
mod logistic_cv;
pub(crate) mod loss;
mod ridge;
mod ridge_cv;
mod rounds;
mod sgd;
mod svc;
mod svr;

pub use crate::evaluate::{Estimate, Summary};
pub use crate::solver::{Precision, TargetFit};
pub use elastic_net::{ElasticNet, ElasticNetModel, Lasso, LassoModel, SparseLinear};
pub use least_squares::{LinearRegression, LinearRegressionModel};
pub use logistic::{LogisticRegression, LogisticRegressionModel, Penalty};
pub use logistic_cv::{
    CvPenalty, FoldScore, Grid, LogisticRegressionCv, LogisticRegressionCvModel,
};
pub use loss::hinge::{Dual, DualRule};
pub use ridge::{AlphaFrom, Ridge, RidgeModel};
pub use ridge_cv::{RidgeCv, RidgeCvModel};
pub use sgd::{
    Average, ClassificationLoss, LearningRate, LinearClassifier, LinearRegressor,
    PassiveAggressive, PassiveAggressiveLoss, PassiveAggressiveModel,
    PassiveAggressiveRegressionLoss, PassiveAggressiveRegressor, PassiveAggressiveRegressorModel,
    Perceptron, PerceptronModel, SgdClassifier, SgdClassifierModel, SgdOneClassSvm,
    SgdOneClassSvmModel, SgdRegressionLoss, SgdRegressor, SgdRegressorModel,
};
pub use svc::{
    HingeLoss, InterceptPenalty, LinearMulticlass, LinearSvc, LinearSvcModel, SvmPenalty,
};
pub use svr::{EpsilonInsensitiveLoss, LinearSvr, LinearSvrModel};

use crate::data::check_storage;
use crate::error::{Error, Result};
use crate::model::check_predictions;
use mercer_num::parallel::prelude::*;
use mercer_num::parallel::{Layout, chunk_rows};
use mercer_num::rows::Missing;
use mercer_num::simd::dot_rows;
use mercer_num::{Matrix, Rows};
use ndarray::Array1;

/// `b₀ + Σⱼ bⱼ xⱼ` of every row, on all threads.
fn linear_predictions(x: &Rows<'_>, coefficients: &[f64], intercept: f64) -> Result<Vec<f64>> {
    check_storage(x)?;
    let width = coefficients.len();
    if x.n_columns() != width {
        return Err(Error::Columns { found: x.n_columns(), expected: width });
    }
    let mut out = vec![0.0; x.n_rows()];
    let chunk = chunk_rows(width, Layout::Dense);
    out.par_chunks_mut(chunk).enumerate().for_each(|(k, out)| match x {
        Rows::Sparse(x) => {
            for (i, out) in out.iter_mut().enumerate() {
                let (columns, values) = x.row(k * chunk + i);
                let cells = columns.iter().zip(values);
                *out = cells.map(|(j, v)| coefficients[*j as usize] * v).sum();
            }
        }
        _ => {
            let block = x.block(k * chunk..k * chunk + out.len()).unwrap_or_default();
            dot_rows(&block, coefficients, out);
        }
    });
    out.iter_mut().for_each(|y| *y += intercept);
    if let Some(row) = out.iter().position(|y| !y.is_finite())
        && let Some((row, column)) =
            x.slice(row..x.n_rows()).first_invalid_cell(Missing::Refused).map(|(i, j)| (row + i, j))
    {
        return Err(Error::NotFinite { row, column, value: x.get(row, column) });
    }
    check_predictions(&out, &[intercept])?;
    Ok(out)
}

/// The predictions of several targets, one column per target.
fn linear_predictions_of_targets(
    x: &Rows<'_>,
    first: (&[f64], f64),
    others: &[TargetFit],
) -> Result<Matrix> {
    let mut out = Matrix::zeros((x.n_rows(), 1 + others.len()));
    let others = others.iter().map(|line| (line.coefficients.as_slice(), line.intercept));
    for (k, (coefficients, intercept)) in std::iter::once(first).chain(others).enumerate() {
        out.column_mut(k).assign(&Array1::from(linear_predictions(x, coefficients, intercept)?));
    }
    Ok(out)
}

/// `‖F (x − m)‖²` of every row: its squared Mahalanobis distance from the training means, up to scale.
fn squared_distances(x: &Rows<'_>, whitener: &Matrix, means: &[f64]) -> Result<Vec<f64>> {
    check_storage(x)?;
    let width = means.len();
    if x.n_columns() != width {
        return Err(Error::Columns { found: x.n_columns(), expected: width });
    }
    if let Some((row, column)) = x.first_invalid_cell(Missing::Refused) {
        return Err(Error::NotFinite { row, column, value: x.get(row, column) });
    }
    Ok((0..x.n_rows())
        .into_par_iter()
        .with_min_len(64)
        .map(|i| {
            let mut row = x.row(i);
            row.iter_mut().zip(means).for_each(|(x, m)| *x -= m);
            let mut out = vec![0.0; whitener.nrows()];
            let cells = whitener.as_slice().unwrap_or_default();
            dot_rows_or_zero(cells, &row, &mut out);
            out.iter().map(|v| v * v).sum()
        })
        .collect())
}

fn dot_rows_or_zero(rows: &[f64], x: &[f64], out: &mut [f64]) {
    if !x.is_empty() {
        dot_rows(rows, x, out);
    }
}
