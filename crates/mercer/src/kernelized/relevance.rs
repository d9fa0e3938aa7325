//! Automatic relevance determination: one kernel width per feature, chosen by the gradient of the leave-one-out error.
//!
//! With `K(x, z) = exp(−Σ_d θ_d (x_d − z_d)²)`, `G = K + αI`, `H = G⁻¹` and `c = Hy`, the leave-one-out residual of row `i`
//! is `r_i = c_i / H_ii`, and its mean square `E` has the gradient `∂E/∂G = M` with
//! `n M = H diag(u r) H − (Hu) cᵀ` and `u_i = 2 r_i / H_ii`. So `∂E/∂θ_d = −Σ_ij M_ij K_ij (x_id − x_jd)²` for all features
//! costs one matrix product (Chapelle, Vapnik, Bousquet & Mukherjee 2002; Rasmussen & Williams 2006, section 5.4.2). Features
//! that do not help get a width `1/θ_d` beyond the spread of their values, and have no part in the kernel any more.

use crate::model::{Monitor, Stop};
use crate::solver::lbfgs::lbfgs;
use crate::solver::objective::StoppingRule;
use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;

/// Rows that relevances are learned from at most: an evaluation of the gradient grows with their cube.
pub(super) const MAX_ROWS: usize = 500;
const MAX_ITERATIONS: u64 = 60;
/// The gradient of the logarithm of the error, by the logarithms of the widths, at which the search ends.
const TOLERANCE: f64 = 1e-3;
/// Bounds of the logarithm of a width around its initial value.
const MAX_LOG_DECREASE: f64 = 18.0;
const MAX_LOG_INCREASE: f64 = 7.0;
/// The part of the smallest `alpha` that keeps the matrix positive definite.
const MIN_ALPHA: f64 = 1e-8;

/// Widths and regularization strength with the smallest leave-one-out error.
pub(super) struct Relevance {
    /// `θ` of every feature.
    pub widths: Vec<f64>,
    pub alpha: f64,
    /// The mean squared leave-one-out error of the rows that were used.
    pub error: f64,
    pub iterations: u64,
    pub stopped: Option<Stop>,
}

/// Minimizes the leave-one-out error over the widths of all features and the regularization strength, from equal widths.
/// `None` if the kernel matrix has no Cholesky factor at the start.
pub(super) fn learn_relevance(
    x: &Matrix,
    y: &[f64],
    (gamma, alpha): (f64, f64),
    monitor: &Monitor<'_>,
) -> Option<Relevance> {
    let d = x.ncols();
    let start = (gamma.ln(), alpha.max(MIN_ALPHA).ln());
    let clamped =
        |t: f64, center: f64| t.clamp(center - MAX_LOG_DECREASE, center + MAX_LOG_INCREASE);
    let mut point = vec![start.0; d];
    point.push(start.1);
    let mut evaluate = |point: &[f64], gradient: &mut [f64]| {
        if monitor.stop().is_some() {
            return None;
        }
        let widths: Vec<f64> = point[..d].iter().map(|t| clamped(*t, start.0).exp()).collect();
        let alpha = point[d].clamp(MIN_ALPHA.ln(), start.1 + MAX_LOG_INCREASE).exp();
        match leave_one_out(x, y, &widths, alpha) {
            Some((error, by_width, by_alpha)) => {
                let logs = widths.iter().zip(&by_width).map(|(width, slope)| width * slope / error);
                gradient[..d].iter_mut().zip(logs).for_each(|(g, slope)| *g = slope);
                gradient[d] = alpha * by_alpha / error;
                Some(error.ln())
            }
            // A matrix that rounding makes indefinite is as bad as any.
            None => {
                gradient.fill(0.0);
                Some(f64::MAX.ln())
            }
        }
    };
    let rule = StoppingRule { tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS, monitor };
    let result = lbfgs(&mut point, &mut evaluate, &rule)?;
    let widths: Vec<f64> = point[..d].iter().map(|t| clamped(*t, start.0).exp()).collect();
    let alpha = point[d].clamp(MIN_ALPHA.ln(), start.1 + MAX_LOG_INCREASE).exp();
    let error = result.value.exp();
    let (iterations, stopped) = (result.iterations, result.stopped);
    error.is_finite().then_some(Relevance { widths, alpha, error, iterations, stopped })
}

/// The mean squared leave-one-out error, its derivatives by the widths, and that by `alpha`.
fn leave_one_out(
    x: &Matrix,
    y: &[f64],
    widths: &[f64],
    alpha: f64,
) -> Option<(f64, Vec<f64>, f64)> {
    let n = x.nrows();
    let roots = ndarray::Array1::from_iter(widths.iter().map(|width| width.sqrt()));
    let scaled = x * &roots;
    let norms: Vec<f64> = scaled.outer_iter().map(|row| row.dot(&row)).collect();
    let mut k = scaled.dot(&scaled.t());
    for ((i, j), value) in k.indexed_iter_mut() {
        *value = (2.0 * *value - norms[i] - norms[j]).min(0.0).exp();
    }
    let mut g = k.clone();
    g.diag_mut().iter_mut().for_each(|v| *v += alpha);
    let h = Cholesky::of(g.view())?.inverse();
    let c = h.dot(&ndarray::ArrayView1::from(y));
    let residuals: Vec<f64> = (0..n).map(|i| c[i] / h[[i, i]]).collect();
    let error = residuals.iter().map(|r| r * r).sum::<f64>() / n as f64;
    let u: ndarray::Array1<f64> =
        (0..n).map(|i| 2.0 * residuals[i] / h[[i, i]] / n as f64).collect();
    let weighted = &h * &ndarray::Array1::from_iter((0..n).map(|i| u[i] * residuals[i]));
    let hu = h.dot(&u);
    let mut m = weighted.dot(&h);
    for (i, mut row) in m.outer_iter_mut().enumerate() {
        row.scaled_add(-hu[i], &c);
    }
    let by_alpha = m.diag().sum();
    // P = M ∘ K; Σ_ij P_ij (x_i − x_j)² = Σ_i (row sum + column sum) x_i² − 2 xᵀ P x.
    m *= &k;
    let sums = &m.sum_axis(ndarray::Axis(0)) + &m.sum_axis(ndarray::Axis(1));
    let product = m.dot(x);
    let by_width = (0..x.ncols())
        .map(|d| {
            let column = x.column(d);
            let squares: f64 = column.iter().zip(&sums).map(|(v, s)| s * v * v).sum();
            2.0 * column.dot(&product.column(d)) - squares
        })
        .collect();
    (error.is_finite() && error > 0.0).then_some((error, by_width, by_alpha))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    fn rows(n: usize, d: usize) -> (Matrix, Vec<f64>) {
        let mut random = Random::new(3);
        let x = Matrix::from_shape_simple_fn((n, d), || random.normal());
        let y =
            x.outer_iter().map(|r| (2.0 * r[0]).sin() * r[1] + 0.05 * random.normal()).collect();
        (x, y)
    }

    #[test]
    fn the_gradient_equals_finite_differences() {
        let (x, y) = rows(30, 4);
        let widths = [0.3, 0.2, 0.4, 0.1];
        let (_, by_width, by_alpha) = leave_one_out(&x, &y, &widths, 0.1).unwrap();
        let error = |widths: &[f64], alpha: f64| leave_one_out(&x, &y, widths, alpha).unwrap().0;
        let h = 1e-6;

        for d in 0..4 {
            let at = |sign: f64| {
                let mut moved = widths;
                moved[d] += sign * h;
                error(&moved, 0.1)
            };
            let expected = (at(1.0) - at(-1.0)) / (2.0 * h);
            assert!((by_width[d] - expected).abs() < 1e-5 * expected.abs().max(1e-2), "{d}");
        }
        let expected = (error(&widths, 0.1 + h) - error(&widths, 0.1 - h)) / (2.0 * h);
        assert!((by_alpha - expected).abs() < 1e-5 * expected.abs().max(1e-2));
    }

    #[test]
    fn irrelevant_features_switch_themselves_off() {
        let (x, y) = rows(200, 10);

        let learned = learn_relevance(&x, &y, (0.1, 0.1), &Monitor::quiet()).unwrap();

        let least = learned.widths[0].min(learned.widths[1]);
        let most = learned.widths[2..].iter().copied().fold(0.0, f64::max);
        assert!(least > 30.0 * most, "{:?}", learned.widths);
        let variance = y.iter().map(|y| y * y).sum::<f64>() / 200.0;
        assert!(learned.error < 0.1 * variance, "{} of {variance}", learned.error);
    }
}
