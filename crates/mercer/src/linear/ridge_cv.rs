//! Ridge regression with the regularization strength chosen by exact leave-one-out cross-validation.
//!
//! With `XᵀX = VΛVᵀ` for centered columns, the prediction of row `i` is `ȳ + Σⱼ zᵢⱼ qⱼ / (λⱼ + α)` for `z = Vᵀ(x − m)`
//! and `q = VᵀXᵀy`, and its leave-one-out residual is `(yᵢ − ŷᵢ) / (1 − hᵢ)` with the leverage
//! `hᵢ = 1/W + Σⱼ zᵢⱼ² / (λⱼ + α)` (PRESS; Allen 1974; Golub, Heath & Wahba 1979). One pass over the rows therefore
//! evaluates all candidates. A row of weight two counts as two rows, one of which is left out.

use super::linear_predictions;
use super::ridge::{Ridge, RidgeModel};
use crate::explain::Terms;
use crate::model::{Candidate, Candidates, CrossValidated, gather};
use crate::prelude::*;
use crate::stats::{CrossProducts, Scatter};
use mercer_num::linalg::{SymmetricEigen, add_matrix_product};
use mercer_num::parallel::prelude::*;
use std::time::Instant;

/// Rows evaluated together.
const ROWS_PER_PANEL: usize = 128;
/// Rows of one parallel task, which has its own sums.
const ROWS_PER_TASK: usize = 64 * ROWS_PER_PANEL;
/// The candidates if `alphas` is empty.
const DEFAULT_ALPHAS: [f64; 3] = [0.1, 1.0, 10.0];

params! {
    /// Ridge regression with the regularization strength chosen by leave-one-out cross-validation.
    pub struct RidgeCv {
        /// Candidate regularization strengths. The default, an empty list, tries 0.1, 1 and 10.
        alphas: Vec<f64> = Vec::new(), AtLeast(0.0);
        ..FitIntercept;
    }
    formula = "min_α Σᵢ ((yᵢ − ŷᵢ) / (1 − hᵢ))²,  ŷ from ridge regression with α, leverage hᵢ";
    lecture = 9;
    attributes = [
        COEF,
        INTERCEPT,
        own("alpha_", "float", "Chosen regularization strength."),
        own("alphas_", "ndarray of shape (n_alphas,)", "Candidate regularization strengths."),
        own("errors_", "ndarray of shape (n_alphas,)", "Leave-one-out mean squared error of each candidate."),
        own("best_score_", "float", "Minus the smallest of these errors."),
    ];
    sklearn {
        positional: &["alphas"],
        extra: &[
            honored(
                "scoring",
                "str | Callable[..., float] | None",
                "None",
                "Metric of the selection; `None` is the squared error of the leave-one-out predictions, or R² with `cv`.",
            ),
            honored(
                "cv",
                "Any",
                "None",
                "Cross-validation scheme: number of folds, splitter or iterable of splits; `None` is exact leave-one-out.",
            ),
            ignored("gcv_mode", &["\"auto\"", "\"svd\"", "\"eigen\"", "None"], "None", EXACT),
            honored(
                "store_cv_results",
                "bool",
                "False",
                "Store the leave-one-out errors of every row for every alpha in `cv_results_`; with `scoring`, the predictions.",
            ),
            honored("alpha_per_target", "bool", "False", "Choose alpha for each target separately."),
        ],
    }
}

/// A fitted ridge regression with the selected regularization strength.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RidgeCvModel {
    /// The coefficient of each column.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// The selected regularization strength.
    pub alpha: f64,
    /// The candidate regularization strengths.
    pub alphas: Vec<f64>,
    /// The leave-one-out mean squared error of each candidate.
    pub errors: Vec<f64>,
    /// Minus the smallest of these errors, so that higher is better.
    pub best_score: f64,
    /// The means of the columns; zeros without an intercept.
    pub means: Vec<f64>,
}

impl Fit for RidgeCv {
    type Model = RidgeCvModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        let start = Instant::now();
        self.check()?;
        if data.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        if data.n_columns() == 0 {
            return Err(Error::NoFeatures);
        }
        let alphas =
            if self.alphas.is_empty() { DEFAULT_ALPHAS.to_vec() } else { self.alphas.clone() };
        data.regression_target()?;
        let gathered = gather(data, monitor, Scatter::push_rows)?;
        if gathered.stopped.is_some() {
            return Err(Error::Stopped);
        }
        let sums = gathered.stats.moments(self.fit_intercept)?;
        let errors = leave_one_out_errors(data, &sums, &alphas, self.fit_intercept, monitor)?;
        let best = (0..alphas.len())
            .min_by(|a, b| errors[*a].total_cmp(&errors[*b]))
            .ok_or(Error::NoRows)?;
        let ridge = RidgeModel::at(&sums, self.fit_intercept, alphas[best])?;
        let params = Ridge::new().alpha(alphas[best]).fit_intercept(self.fit_intercept);
        let certificate = params
            .certificate(&gathered.stats, &ridge)
            .rows(data.n_rows() as u64)
            .iterations(2)
            .since(start);
        let model = RidgeCvModel {
            coefficients: ridge.coefficients,
            intercept: ridge.intercept,
            alpha: alphas[best],
            best_score: -errors[best],
            alphas,
            errors,
            means: ridge.means,
        };
        Ok(Fitted { model, certificate })
    }
}

/// The leave-one-out mean squared error of each candidate.
fn leave_one_out_errors(
    data: &Dataset<'_>,
    sums: &CrossProducts,
    alphas: &[f64],
    fit_intercept: bool,
    monitor: &Monitor<'_>,
) -> Result<Vec<f64>> {
    let y = data.regression_target()?;
    let (d, n_alphas) = (data.n_columns(), alphas.len());
    let products = Matrix::from_shape_fn((d, d), |at| sums.products.high[at]);
    let eigen = SymmetricEigen::of(products.view()).ok_or(Error::TooLarge { column: 0 })?;
    let vectors = eigen.vectors.as_standard_layout();
    let vectors = vectors.as_slice().unwrap_or_default();
    let target: Vec<f64> = (0..d).map(|j| sums.products.high[[d, j]]).collect();
    let rotated = eigen.vectors.t().dot(&ndarray::ArrayView1::from(&target));
    let inverse = |j: usize, a: usize| 1.0 / (eigen.values[j].max(0.0) + alphas[a]).max(1e-300);
    let mut scaled_products = vec![0.0; d * n_alphas];
    let mut inverse_eigenvalues = vec![0.0; d * n_alphas];
    for j in 0..d {
        for a in 0..n_alphas {
            scaled_products[j * n_alphas + a] = rotated[j] * inverse(j, a);
            inverse_eigenvalues[j * n_alphas + a] = inverse(j, a);
        }
    }
    let around = |mean: f64| if fit_intercept { mean } else { 0.0 };
    let means: Vec<f64> = sums.means.iter().map(|m| around(m.value())).collect();
    let target_mean = around(sums.target_means[0].value());
    let intercept = if fit_intercept { 1.0 / sums.weight } else { 0.0 };
    let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
    let add_errors = |first: usize, errors: &mut [f64]| {
        let rows = first..(first + ROWS_PER_PANEL).min(data.n_rows());
        let n = rows.len();
        let mut centered = Vec::with_capacity(n * d);
        for i in rows.clone() {
            centered.extend(data.rows().row(i).iter().zip(&means).map(|(x, m)| x - m));
        }
        let mut z = vec![0.0; n * d];
        add_matrix_product(&centered, d, vectors, d, &mut z);
        let mut fitted = vec![0.0; n * n_alphas];
        add_matrix_product(&z, d, &scaled_products, n_alphas, &mut fitted);
        z.iter_mut().for_each(|z| *z *= *z);
        let mut leverages = vec![0.0; n * n_alphas];
        add_matrix_product(&z, d, &inverse_eigenvalues, n_alphas, &mut leverages);
        let answers = fitted.chunks_exact(n_alphas).zip(leverages.chunks_exact(n_alphas));
        for (i, (fitted, leverages)) in rows.zip(answers) {
            let cells = errors.iter_mut().zip(fitted).zip(leverages);
            for ((error, fitted), leverage) in cells {
                // A leverage of one means that the row determines its own prediction.
                let rest = (1.0 - weight(i).min(1.0) * (leverage + intercept)).max(1e-12);
                let residual = (y[i] - target_mean - fitted) / rest;
                *error += weight(i) * residual * residual;
            }
        }
    };
    let parts: Vec<Vec<f64>> = (0..data.n_rows().div_ceil(ROWS_PER_TASK))
        .into_par_iter()
        .map(|part| {
            let mut errors = vec![0.0; n_alphas];
            let rows = part * ROWS_PER_TASK..((part + 1) * ROWS_PER_TASK).min(data.n_rows());
            for first in rows.step_by(ROWS_PER_PANEL) {
                if monitor.stop().is_some() {
                    return Err(Error::Stopped);
                }
                add_errors(first, &mut errors);
            }
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    let mut errors = vec![0.0; n_alphas];
    for part in parts {
        errors.iter_mut().zip(part).for_each(|(sum, e)| *sum += e / sums.weight);
    }
    Ok(errors)
}

impl Regressor for RidgeCvModel {
    fn n_columns(&self) -> usize {
        self.coefficients.len()
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        linear_predictions(x, &self.coefficients, self.intercept)
    }
}

impl LinearModel for RidgeCvModel {
    fn terms(&self) -> Terms<'_> {
        Terms { intercept: self.intercept, coefficients: &self.coefficients, means: &self.means }
    }
}

impl CrossValidated for RidgeCvModel {
    fn candidates(&self) -> Candidates {
        let all = self.alphas.iter().zip(&self.errors).map(|(alpha, error)| Candidate {
            values: vec![*alpha],
            score: -error,
            error: None,
            chosen: *alpha == self.alpha,
        });
        Candidates { names: vec!["alpha"], score: "minus mean squared error", all: all.collect() }
    }
}

impl Check for RidgeCvModel {
    fn check(&self) -> Result<()> {
        let d = self.coefficients.len();
        let mut numbers = self.coefficients.iter().chain(&self.means).chain(&self.alphas);
        let fits = d > 0
            && self.means.len() == d
            && self.alphas.contains(&self.alpha)
            && self.errors.len() == self.alphas.len()
            && numbers.all(|v| v.is_finite())
            && [self.intercept, self.best_score].iter().all(|v| v.is_finite())
            && self.errors.iter().all(|e| *e >= 0.0);
        if fits {
            Ok(())
        } else {
            Err(Error::File("linear model with inconsistent shapes or non-finite values".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn leave_one_out_errors_match_refits() {
        let mut random = Random::new(4);
        let x = Matrix::from_shape_fn((30, 4), |_| random.normal() + 2.0);
        let y: Vec<f64> = x.outer_iter().map(|row| row.sum() + random.normal()).collect();
        for fit_intercept in [true, false] {
            let params = RidgeCv::new().alphas(vec![0.01, 1.0, 50.0]).fit_intercept(fit_intercept);
            let data = Dataset::regression(&x, &y).unwrap();

            let model = params.fit(&data, &Monitor::quiet()).unwrap().model;

            for (alpha, error) in model.alphas.iter().zip(&model.errors) {
                let mut sum = 0.0;
                for i in 0..30 {
                    let others: Vec<usize> = (0..30).filter(|k| *k != i).collect();
                    let some = x.select(ndarray::Axis(0), &others);
                    let targets: Vec<f64> = others.iter().map(|k| y[*k]).collect();
                    let ridge = Ridge::new().alpha(*alpha).fit_intercept(fit_intercept);
                    let rest = Dataset::regression(&some, &targets).unwrap();
                    let without = ridge.fit(&rest, &Monitor::quiet()).unwrap();
                    let row = x.row(i).insert_axis(ndarray::Axis(0)).to_owned();
                    let predicted = without.predict(&Rows::from(&row)).unwrap()[0];
                    sum += (y[i] - predicted).powi(2);
                }
                assert!((sum / 30.0 - error).abs() < 1e-9 * error.max(1.0), "{alpha}");
            }
            assert!(model.errors.iter().all(|e| -model.best_score <= *e));
        }
    }
}
