//! The support vectors among the rows of a plot.

use super::rows::PlotRows;
use crate::failure::Result;
use mercer::catalog::AnyModel;
use mercer::kernel::KernelExpansion;
use mercer::train::Trained;
use std::collections::BTreeSet;

/// Whether each row is a support vector.
///
/// A kernel expansion stores its support vectors, which are compared with the rows as the model sees them. A linear
/// SVM stores none: they are the rows on or inside the margin, or on or outside the tube.
pub fn is_support(model: &Trained, rows: &PlotRows) -> Result<Vec<bool>> {
    let encoded = rows.encoded.rows();
    let n = encoded.n_rows();
    if let Some(expansion) = expansion(model) {
        let vectors = expansion.vectors.outer_iter().map(|v| bits(v.iter().copied()));
        let stored: BTreeSet<Vec<u64>> = vectors.collect();
        return Ok((0..n).map(|i| stored.contains(&bits(encoded.row(i).into_iter()))).collect());
    }
    match &model.fitted.model {
        AnyModel::LinearSvc(_) => {
            let Some(function) = model.fitted.model.as_model().decision_function() else {
                return Ok(vec![false; n]);
            };
            let decisions = function.decisions(&encoded)?;
            if decisions.ncols() != 1 {
                return Ok(vec![false; n]);
            }
            let edge = 1.0 + tolerance(model);
            let sign = |i: usize| 2.0 * f64::from(rows.codes()[i]) - 1.0;
            Ok((0..n).map(|i| sign(i) * decisions[[i, 0]] <= edge).collect())
        }
        AnyModel::LinearSvr(_) => {
            let Some(regressor) = model.fitted.model.as_model().regressor() else {
                return Ok(vec![false; n]);
            };
            let (predicted, targets) = (regressor.predict(&encoded)?, &rows.encoded.targets);
            let epsilon = epsilon(model).unwrap_or(0.0);
            let slack = tolerance(model) * deviation(targets);
            let outside = |(y, p): (&f64, &f64)| (y - p).abs() >= epsilon - slack;
            Ok(targets.iter().zip(&predicted).map(outside).collect())
        }
        _ => Ok(vec![false; n]),
    }
}

/// The kernel expansion of a support vector machine.
fn expansion(model: &Trained) -> Option<&KernelExpansion> {
    match &model.fitted.model {
        AnyModel::Svc(model) => Some(&model.expansion),
        AnyModel::NuSvc(model) => Some(&model.expansion),
        AnyModel::Svr(model) => Some(&model.expansion),
        AnyModel::NuSvr(model) => Some(&model.expansion),
        AnyModel::OneClassSvm(model) => Some(&model.expansion),
        _ => None,
    }
}

/// Half the width of the tube; `None` for other regressors.
pub fn epsilon(model: &Trained) -> Option<f64> {
    match &model.fitted.model {
        AnyModel::NuSvr(model) => Some(model.epsilon),
        AnyModel::Svr(_) | AnyModel::LinearSvr(_) => parameter(model, "epsilon"),
        _ => None,
    }
}

/// Slacks up to this are rounding of the solver.
pub fn tolerance(model: &Trained) -> f64 {
    2.0 * parameter(model, "tol").unwrap_or(1e-3)
}

fn parameter(model: &Trained, name: &str) -> Option<f64> {
    model.estimator.params().get(name).and_then(serde_json::Value::as_f64)
}

/// The standard deviation.
pub fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n).sqrt()
}

/// The bits of a row, with one zero.
fn bits(row: impl Iterator<Item = f64>) -> Vec<u64> {
    row.map(|x| (x + 0.0).to_bits()).collect()
}
