//! Leave-one-out predictions of ridge and kernel ridge regression in closed form.
//!
//! Kernel ridge: with `G = K + αI = QΛQᵀ + αI` and `c = G⁻¹y`, the prediction of row `i` by a model of all other rows
//! misses it by `cᵢ / (G⁻¹)ᵢᵢ`. One eigendecomposition serves every `α`. Ridge: with the singular values `s` and left
//! singular vectors `U` of the centered columns, `hᵢᵢ = 1/n + Σₖ uᵢₖ² sₖ² / (sₖ² + α)`, and the residual divided by
//! `1 − hᵢᵢ` is that of the model without the row (Allen 1974; Golub, Heath & Wahba 1979). The scaling of columns and
//! target is that of all rows.

use crate::catalog::Estimator;
use crate::evaluate::Predictions;
use crate::kernel::{Function, Kernel, KernelRows, Storage, center_of};
use crate::linear::AlphaFrom;
use crate::model::Monitor;
use crate::preprocess::Encoded;
use crate::train::target_scale::TargetScaling;
use mercer_num::Matrix;
use mercer_num::linalg::SymmetricEigen;

/// Rows up to which kernel ridge regression is scored by leave-one-out: the time grows with their cube.
const MAX_KERNEL_ROWS: usize = 2000;
/// Columns up to which ridge regression is.
const MAX_COLUMNS: usize = 2000;

/// Whether a setting is scored by leave-one-out in closed form.
pub(super) fn is_closed_form(estimator: &Estimator, rows: &Encoded) -> bool {
    let (n, width) = (rows.rows().n_rows(), rows.rows().n_columns());
    rows.weights.is_empty()
        && match estimator {
            Estimator::Ridge(ridge) => {
                ridge.alpha_from == AlphaFrom::Given && ridge.alpha > 0.0 && width <= MAX_COLUMNS
            }
            Estimator::KernelRidge(ridge) => {
                let is_function = !matches!(ridge.kernel, Kernel::Precomputed | Kernel::Custom(_));
                is_function && ridge.is_given() && ridge.alpha > 0.0 && n <= MAX_KERNEL_ROWS
            }
            _ => false,
        }
}

/// What the settings with the same columns or the same kernel share.
pub(super) struct Decomposition {
    /// The kernel; `None` for ridge regression.
    function: Option<Function>,
    eigen: SymmetricEigen,
    /// The left singular vectors and the squared singular values for ridge regression, `Q` and `Λ` for kernel ridge.
    rotated_target: Vec<f64>,
    targets: Vec<f64>,
    scaling: TargetScaling,
    fit_intercept: bool,
    left: Matrix,
}

impl Decomposition {
    /// The decomposition for a setting; `None` if the matrix has entries that are not finite.
    pub fn of(estimator: &Estimator, rows: &Encoded) -> Option<Decomposition> {
        let unscaled = TargetScaling { mean: 0.0, deviation: 1.0 };
        match estimator {
            Estimator::Ridge(ridge) => {
                let x = dense(rows);
                let n = x.nrows() as f64;
                let centers: Vec<f64> = match ridge.fit_intercept {
                    true => x.columns().into_iter().map(|c| c.sum() / n).collect(),
                    false => vec![0.0; x.ncols()],
                };
                let x = x - ndarray::ArrayView1::from(&centers);
                let eigen = SymmetricEigen::of(x.t().dot(&x).view())?;
                let mean = rows.targets.iter().sum::<f64>() / n;
                let mean = if ridge.fit_intercept { mean } else { 0.0 };
                let scaling = TargetScaling { mean, ..unscaled };
                let left = x.dot(&eigen.vectors);
                Some(Decomposition::new(
                    None,
                    eigen,
                    left,
                    &rows.targets,
                    scaling,
                    ridge.fit_intercept,
                ))
            }
            Estimator::KernelRidge(_) => {
                let function = kernel_function(estimator, rows)?;
                let all = rows.rows();
                let storage = Storage::of(&function, &all);
                let center = center_of(&function, storage, &all);
                let prepared =
                    KernelRows::<f64>::all(function.clone(), storage, &all, &center, &[]);
                let n = all.n_rows();
                let k =
                    Matrix::from_shape_vec((n, n), prepared.whole_gram(&Monitor::quiet())?).ok()?;
                let eigen = SymmetricEigen::of(k.view())?;
                let scaling = TargetScaling::of(&rows.targets, &[])?;
                let left = eigen.vectors.clone();
                Some(Decomposition::new(Some(function), eigen, left, &rows.targets, scaling, false))
            }
            _ => None,
        }
    }

    fn new(
        function: Option<Function>,
        eigen: SymmetricEigen,
        left: Matrix,
        targets: &[f64],
        scaling: TargetScaling,
        fit_intercept: bool,
    ) -> Decomposition {
        let standardized = scaling.standardized(targets);
        let rotated = left.t().dot(&ndarray::ArrayView1::from(&standardized)).to_vec();
        let targets = targets.to_vec();
        Decomposition {
            function,
            eigen,
            rotated_target: rotated,
            targets,
            scaling,
            fit_intercept,
            left,
        }
    }

    /// Whether this is the decomposition of a setting.
    pub fn is_of(&self, estimator: &Estimator, rows: &Encoded) -> bool {
        match (estimator, &self.function) {
            (Estimator::Ridge(ridge), None) => ridge.fit_intercept == self.fit_intercept,
            (Estimator::KernelRidge(_), Some(function)) => {
                kernel_function(estimator, rows).as_ref() == Some(function)
            }
            _ => false,
        }
    }

    /// The leave-one-out predictions with a regularization strength.
    pub fn predictions(&self, alpha: f64) -> Predictions {
        let n = self.targets.len();
        let values: Vec<f64> = self.eigen.values.iter().map(|v| v.max(0.0)).collect();
        let is_kernel = self.function.is_some();
        let standardized = self.scaling.standardized(&self.targets);
        let residual = |i: usize| {
            let row = self.left.row(i);
            let terms = row.iter().zip(&self.rotated_target).zip(&values);
            if is_kernel {
                let (c, own) = terms.fold((0.0, 0.0), |(c, own), ((u, z), value)| {
                    (c + u * z / (value + alpha), own + u * u / (value + alpha))
                });
                return c / own;
            }
            // `left` is X V = U S, so that `u² s²` is its square.
            let (fit, leverage) = terms.fold((0.0, 0.0), |(fit, h), ((xv, z), value)| {
                (fit + xv * z / (value + alpha), h + xv * xv / (value + alpha))
            });
            let constant = if self.fit_intercept { 1.0 / n as f64 } else { 0.0 };
            (standardized[i] - fit) / (1.0 - leverage - constant).max(f64::EPSILON)
        };
        let predicted =
            (0..n).map(|i| self.targets[i] - self.scaling.deviation * residual(i)).collect();
        Predictions::Regression { truth: self.targets.clone(), predicted, weights: Vec::new() }
    }
}

/// The regularization strength of a setting.
pub(super) fn alpha(estimator: &Estimator) -> f64 {
    match estimator {
        Estimator::Ridge(ridge) => ridge.alpha,
        Estimator::KernelRidge(ridge) => ridge.alpha,
        _ => 0.0,
    }
}

fn kernel_function(estimator: &Estimator, rows: &Encoded) -> Option<Function> {
    let Estimator::KernelRidge(ridge) = estimator else { return None };
    let data = rows.unlabeled().ok()?;
    Some(ridge.kernel.with(ridge.gamma, ridge.coef0, ridge.degree, &data))
}

fn dense(rows: &Encoded) -> Matrix {
    let rows = rows.rows();
    let cells: Vec<f64> = (0..rows.n_rows()).flat_map(|i| rows.row(i)).collect();
    Matrix::from_shape_vec((rows.n_rows(), rows.n_columns()), cells).expect("one cell per column")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use mercer_num::Rows;
    use mercer_num::random::Random;

    #[test]
    fn closed_forms_equal_leaving_every_row_out() {
        let mut random = Random::new(1);
        let x = Matrix::from_shape_simple_fn((25, 3), || random.normal());
        let y: Vec<f64> =
            x.outer_iter().map(|r| r[0].sin() + r[1] + 0.1 * random.normal()).collect();
        let rows = Encoded::of_matrix(&Rows::from(&x), Vec::new(), y.clone());
        let ridge = Estimator::from_id("ridge").unwrap().set_from_str("alpha", "2.5").unwrap();
        let origin = ridge.set_from_str("fit_intercept", "false").unwrap();

        for estimator in [ridge, origin] {
            let found = Decomposition::of(&estimator, &rows).unwrap().predictions(2.5);

            let Predictions::Regression { predicted, .. } = found else { unreachable!() };
            for (left_out, predicted) in predicted.iter().enumerate() {
                let others: Vec<usize> = (0..25).filter(|i| *i != left_out).collect();
                let some = x.select(ndarray::Axis(0), &others);
                let targets: Vec<f64> = others.iter().map(|i| y[*i]).collect();
                let data = Dataset::regression(&some, &targets).unwrap();
                let model = estimator.fit(&data, &Monitor::quiet()).unwrap();
                let one = x.select(ndarray::Axis(0), &[left_out]);
                let expected =
                    model.as_model().regressor().unwrap().predict(&Rows::from(&one)).unwrap()[0];
                assert!((expected - predicted).abs() < 1e-9, "{expected} {predicted}");
            }
        }
    }

    #[test]
    fn leave_one_out_of_kernel_ridge_equals_fits_to_the_other_rows() {
        let mut random = Random::new(2);
        let x = Matrix::from_shape_simple_fn((20, 2), || random.normal());
        // Standardized, because the closed form keeps the scaling of all rows.
        let y: Vec<f64> = x.outer_iter().map(|r| r[0].sin() + 0.1 * random.normal()).collect();
        let scaling = TargetScaling::of(&y, &[]).unwrap();
        let y = scaling.standardized(&y);
        let rows = Encoded::of_matrix(&Rows::from(&x), Vec::new(), y.clone());
        let settings = [("kernel", "rbf"), ("gamma", "0.7"), ("alpha", "0.2")];
        let estimator =
            settings.iter().fold(Estimator::from_id("kernel-ridge").unwrap(), |e, (k, v)| {
                e.set_from_str(k, v).unwrap()
            });

        let found = Decomposition::of(&estimator, &rows).unwrap().predictions(0.2);

        let Predictions::Regression { predicted, .. } = found else { unreachable!() };
        for (left_out, predicted) in predicted.iter().enumerate() {
            let others: Vec<usize> = (0..20).filter(|i| *i != left_out).collect();
            let some = x.select(ndarray::Axis(0), &others);
            let targets: Vec<f64> = others.iter().map(|i| y[*i]).collect();
            let data = Dataset::regression(&some, &targets).unwrap();
            let model = estimator.fit(&data, &Monitor::quiet()).unwrap();
            let one = x.select(ndarray::Axis(0), &[left_out]);
            let expected =
                model.as_model().regressor().unwrap().predict(&Rows::from(&one)).unwrap()[0];
            assert!((expected - predicted).abs() < 1e-8, "{expected} {predicted}");
        }
    }
}
