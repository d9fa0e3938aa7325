//! Approximate leave-one-out decision values from a single fit.
//!
//! Decision values of training rows are biased, because the rows have shaped the decision function. The span of the
//! support vectors gives the decision value without a row (Vapnik & Chapelle 2000):
//! `yᵢ f⁻ⁱ(xᵢ) = yᵢ f(xᵢ) − αᵢ Sᵢ²`, with `Sᵢ` the distance of `φ(xᵢ)` from the affine span of the free support vectors. The
//! formula is exact if the set of free support vectors does not change. With a slack raised to a power, no dual variable
//! is bounded: the curvature `dᵢ` of its penalty adds to the diagonal of the kernel matrix, and `Sᵢ²` decreases by `dᵢ`.

use crate::kernel::KernelRows;
use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;

/// The largest number of free support vectors in the span. The span of a subset gives slightly lower scores.
const MAX_SPAN_VECTORS: usize = 2000;
/// The ridge on the kernel matrix of the span, relative to its largest diagonal entry; it makes duplicate rows
/// invertible.
const SPAN_RIDGE: f64 = 1e-8;

/// A solved dual problem.
pub(super) struct FittedDual<'a> {
    /// The signed dual variables.
    pub beta: &'a [f64],
    /// The intercept, or `None` for a function without one, whose coefficients are not constrained to sum to zero.
    pub intercept: Option<f64>,
    /// `Kβ`.
    pub outputs: &'a [f64],
}

/// The leave-one-out decision value of each row. `is_free` tells whether a dual variable is strictly within its bounds,
/// `curvature` is the second derivative of its slack penalty.
pub(super) fn leave_one_out(
    rows: &KernelRows<f64>,
    fitted: &FittedDual<'_>,
    is_free: impl Fn(usize) -> bool,
    curvature: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let FittedDual { beta, intercept, outputs } = fitted;
    let mut scores: Vec<f64> = outputs.iter().map(|f| f + intercept.unwrap_or(0.0)).collect();
    let support: Vec<u32> = (0..beta.len() as u32).filter(|i| beta[*i as usize] != 0.0).collect();
    let free: Vec<u32> = support.iter().copied().filter(|i| is_free(*i as usize)).collect();
    // Rows are sorted by class, so a stride takes some of every class.
    let stride = free.len().div_ceil(MAX_SPAN_VECTORS).max(1);
    let free: Vec<u32> = free.into_iter().step_by(stride).collect();
    let spans = squared_spans(rows, &support, &free, intercept.is_some(), curvature);
    for (i, span) in support.iter().zip(spans) {
        // β has the sign of y, so this decreases yᵢ f(xᵢ).
        scores[*i as usize] -= beta[*i as usize] * span.max(0.0);
    }
    scores
}

/// `Sᵢ²` of every support vector. With `A` the inverse of the kernel matrix of the free ones, including the curvature,
/// and `u = A1`, it is `1 / (Aᵢᵢ − uᵢ² / 1ᵀu) − dᵢ` for the free and `Kᵢᵢ − kᵀAk + (kᵀu − 1)² / 1ᵀu` for the bounded ones.
/// Without an intercept the span is linear instead of `affine`, and the terms with `u` are absent.
fn squared_spans(
    rows: &KernelRows<f64>,
    support: &[u32],
    free: &[u32],
    affine: bool,
    curvature: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let diagonal = rows.select(support).diagonal();
    let n = free.len();
    if n == 0 {
        return diagonal;
    }
    let free_rows = rows.select(free);
    let mut k =
        Matrix::from_shape_vec((n, n), free_rows.gram()).expect("a square matrix of the free rows");
    let ridge = SPAN_RIDGE * k.diag().iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let curvatures: Vec<f64> = free.iter().map(|i| curvature(*i as usize)).collect();
    k.diag_mut().iter_mut().zip(&curvatures).for_each(|(v, own)| *v += ridge + own);
    let Some(factor) = Cholesky::of(k.view()) else { return diagonal };
    let inverse = factor.inverse();
    let u: Vec<f64> = inverse.rows().into_iter().map(|row| row.sum()).collect();
    let total: f64 = if affine { u.iter().sum() } else { f64::INFINITY };
    let position: std::collections::HashMap<u32, usize> = free.iter().copied().zip(0..).collect();
    let bounded: Vec<u32> = support.iter().copied().filter(|i| !position.contains_key(i)).collect();
    let mut columns = vec![vec![0.0; n]; bounded.len()];
    let mut out: Vec<&mut [f64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
    rows.columns(&bounded, &free_rows, &mut out);
    let mut columns = columns.iter();
    support
        .iter()
        .zip(diagonal)
        .map(|(i, own)| match position.get(i) {
            Some(k) => {
                let inverse = inverse[[*k, *k]] - u[*k] * u[*k] / total;
                if inverse > 0.0 { 1.0 / inverse - curvatures[*k] } else { own }
            }
            None => {
                let Some(k) = columns.next() else { return own };
                let k = ndarray::ArrayView1::from(k);
                let across: f64 = k.iter().zip(&u).map(|(k, u)| k * u).sum::<f64>() - 1.0;
                (own - k.dot(&inverse.dot(&k)) + across * across / total).clamp(0.0, 2.0 * own)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use crate::solver::PowerSlack;
    use crate::svm::Svc;
    use crate::svm::dual_problem::DualProblem;
    use crate::svm::subproblem::{Subproblem, solve_all};
    use crate::svm::test_data::blobs;

    /// The errors of the approximate leave-one-out decision values of 60 rows against 60 fits, ascending.
    fn errors(svc: &Svc, seed: u64, bound: f64, slack: Option<PowerSlack>) -> Vec<f64> {
        let (x, codes, classes) = blobs(60, 2, seed);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let quiet = Monitor::quiet();
        let problem = DualProblem::new(&svc.options(), &data, |i| codes[i], 1.0, &quiet).unwrap();
        let first_class = |k: usize| codes[problem.indices[k] as usize] == 0;
        let binary = Subproblem { slack, ..Subproblem::binary(0..60, first_class, |_| bound) };
        let solution = solve_all(&problem, std::slice::from_ref(&binary), &quiet).remove(0);
        let scores = problem.leave_one_out(&binary, &solution, 1.0, solution.intercepts[0]);

        let mut errors = Vec::new();
        for (k, i) in problem.indices.iter().enumerate() {
            let others: Vec<usize> = (0..60).filter(|j| *j != *i as usize).collect();
            let rows = x.select(ndarray::Axis(0), &others);
            let labels: Vec<u32> = others.iter().map(|j| codes[*j]).collect();
            let rest = Dataset::classes(&rows, &labels, &classes).unwrap();
            let fitted = svc.fit(&rest, &quiet).unwrap();
            let row = x.select(ndarray::Axis(0), &[*i as usize]);
            // The decision function is positive for the second class, the subproblem for the first.
            let exact = -fitted.decisions(&Rows::from(&row)).unwrap()[[0, 0]];
            errors.push((exact - scores[k]).abs());
        }
        errors.sort_by(f64::total_cmp);
        errors
    }

    #[test]
    fn leave_one_out_values_are_close_to_those_of_separate_fits() {
        let svc = Svc::new().gamma(0.1.into()).C(1.0).tol(1e-9);

        let errors = errors(&svc, 22, 1.0, None);

        // The margin is one: no value is off by half of it, although the set of support vectors changes.
        assert!(errors[59] < 0.5, "{}", errors[59]);
    }

    #[test]
    fn leave_one_out_values_with_squared_slack_are_exact_for_unchanged_support_vectors() {
        let svc = Svc::new().gamma(0.1.into()).C(0.7).slack_power(2.0).tol(1e-9);
        let slack = PowerSlack { power: 2.0, costs: vec![0.7; 60] };

        let errors = errors(&svc, 36, f64::INFINITY, Some(slack));

        assert!(errors[30] < 1e-3 && errors[59] < 0.2, "{}, {}", errors[30], errors[59]);
    }
}
