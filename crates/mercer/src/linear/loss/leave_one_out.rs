//! Approximate leave-one-out scores of a linear support vector machine, from a single fit.
//!
//! At the optimum the gradient is zero; without row `i` it is that of the row's own loss, and one Newton step gives, with
//! the Hessian `H`, the second derivative `κ` of the row's loss, its signed dual variable `βᵢ` and `q = xᵢᵀH⁻¹xᵢ`,
//!
//! `z⁻ⁱ = zᵢ − βᵢ q / (1 − κ q)`
//!
//! (Rad & Maleki 2020; exact for the squared loss as long as the same rows are active). The linear loss has a kink: rows on
//! the margin stay there, which is an infinite `κ`, and others have no curvature; then `q / (1 − κ q)` is the squared
//! distance from the span of the rows on the margin (Vapnik & Chapelle 2000). With an L1 penalty only the columns with a
//! nonzero weight take part.
//!
//! `H` has as many columns as the data. For many columns the dual form is used: with `G = XH₀⁻¹Xᵀ + κ⁻¹` over the active
//! rows and the Hessian `H₀` of the penalty, `q / (1 − κ q) = 1 / (G⁻¹)ᵢᵢ − κ⁻¹`.

use super::hinge::{LossPower, MarginLoss};
use crate::data::design_matrix::RowEntries;
use crate::kernel::{Function, KernelRows, Storage};
use crate::solver::coordinate_descent::PenalizedLoss;
use mercer_num::linalg::{Cholesky, add_gram, multiply};
use mercer_num::{Matrix, Rows};
use std::collections::HashMap;

/// Columns up to which the Hessian is computed; for more columns, active rows up to which the Gram matrix is.
const MAX_MATRIX_SIZE: usize = 1024;
/// Rows per matrix product.
const ROWS_PER_PANEL: usize = 512;
/// `1/κ` of a row on the margin, relative to the largest squared norm: small instead of zero, for a stable inverse.
const MARGIN_COMPLIANCE: f64 = 1e-5;
/// The penalty on an unpenalized intercept in the Gram matrix, relative to the largest squared norm.
const SMALL_INTERCEPT_PENALTY: f64 = 1e-4;
/// The ridge that makes the Hessian invertible, relative to its largest diagonal entry.
const RELATIVE_RIDGE: f64 = 1e-10;

/// A row with a nonzero dual variable.
struct SupportVector {
    row: usize,
    beta: f64,
    /// The second derivative of its loss.
    kappa: f64,
}

/// The score of every row in subproblem `k` as if the row had been left out of the fit.
pub(crate) fn leave_one_out_scores(
    problem: &MarginLoss<'_>,
    rows: &Rows<'_>,
    k: usize,
) -> Vec<f64> {
    let mut scores: Vec<f64> = (0..rows.n_rows()).map(|i| problem.score(i, k)).collect();
    let support_vectors = support_vectors(problem, k);
    let has_active_rows = support_vectors.iter().any(|sv| sv.kappa > 0.0);
    let columns = columns(problem, k, has_active_rows);
    let leverages = match columns.len() <= MAX_MATRIX_SIZE {
        true => primal_leverages(problem, &support_vectors, &columns),
        false => dual_leverages(problem, rows, &support_vectors),
    };
    // A Newton step beyond the range of the scores is not trusted.
    let largest = scores.iter().fold(1.0f64, |largest, z| largest.max(z.abs()));
    for (sv, leverage) in support_vectors.iter().zip(leverages) {
        let score = scores[sv.row] - sv.beta * leverage.max(0.0);
        scores[sv.row] = score.clamp(-largest, largest);
    }
    scores
}

fn support_vectors(problem: &MarginLoss<'_>, k: usize) -> Vec<SupportVector> {
    let rows = (0..problem.design.n_rows()).filter(|i| problem.beta(*i, k) != 0.0);
    let mut support_vectors: Vec<SupportVector> = rows
        .map(|row| {
            let kappa = match problem.power {
                LossPower::Squared => 2.0 * problem.cost(row, k),
                LossPower::Linear => f64::from(u8::from(problem.is_active(row, k))),
            };
            SupportVector { row, beta: problem.beta(row, k), kappa }
        })
        .collect();
    if problem.power == LossPower::Linear {
        let norms = problem.design.squared_norms();
        let largest = support_vectors.iter().fold(0.0f64, |a, sv| a.max(norms[sv.row]));
        let kappa = 1.0 / (MARGIN_COMPLIANCE * largest.max(f64::MIN_POSITIVE));
        support_vectors.iter_mut().for_each(|sv| sv.kappa *= kappa);
    }
    support_vectors
}

/// The columns that take part; the index after the last column is the intercept.
fn columns(problem: &MarginLoss<'_>, k: usize, has_active_rows: bool) -> Vec<usize> {
    let m = problem.n_outputs;
    let weight = |j: usize| problem.weights()[j * m + k].abs();
    let mut columns: Vec<usize> = (0..problem.design.n_weights()).collect();
    if problem.has_unpenalized_intercept() && !has_active_rows {
        // Only active rows determine it.
        columns.truncate(problem.design.width());
    }
    if problem.penalties.weights.l1 > 0.0 {
        columns.retain(|j| weight(*j) > 0.0);
        columns.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
        columns.truncate(MAX_MATRIX_SIZE);
    }
    columns
}

/// `q / (1 − κ q)` of every support vector through the Hessian.
fn primal_leverages(
    problem: &MarginLoss<'_>,
    support_vectors: &[SupportVector],
    columns: &[usize],
) -> Vec<f64> {
    let n = columns.len();
    if n == 0 {
        return vec![0.0; support_vectors.len()];
    }
    let mut positions = vec![n; problem.design.width() + 1];
    columns.iter().enumerate().for_each(|(c, j)| positions[*j] = c);
    let panel = |support_vectors: &[SupportVector]| -> Matrix {
        let mut entries = Matrix::zeros((support_vectors.len(), n));
        for (sv, mut to) in support_vectors.iter().zip(entries.rows_mut()) {
            match problem.design.row(sv.row) {
                RowEntries::Dense(row) => {
                    let selected = to.iter_mut().zip(columns).filter(|(_, j)| **j < row.len());
                    selected.for_each(|(to, j)| *to = row[*j]);
                }
                RowEntries::Sparse(of, values) => {
                    let selected = of.iter().zip(values).map(|(j, v)| (positions[*j as usize], v));
                    selected.filter(|(c, _)| *c < n).for_each(|(c, v)| to[c] += v);
                }
            }
            if let Some(to) = to.get_mut(positions[problem.design.width()]) {
                *to = 1.0;
            }
        }
        entries
    };
    let mut hessian = Matrix::zeros((n, n));
    for some in support_vectors.chunks(ROWS_PER_PANEL) {
        let mut entries = panel(some);
        for (sv, mut row) in some.iter().zip(entries.rows_mut()) {
            row *= sv.kappa.sqrt();
        }
        let into = hessian.as_slice_mut().expect("a fresh matrix is contiguous");
        add_gram(entries.as_slice().unwrap_or_default(), n, into);
    }
    for (c, j) in columns.iter().enumerate() {
        hessian[[c, c]] += problem.penalty(*j).l2;
    }
    let largest = hessian.diag().iter().copied().fold(0.0, f64::max);
    hessian.diag_mut().iter_mut().for_each(|v| *v += RELATIVE_RIDGE * largest);
    let Some(factor) = Cholesky::of(hessian.view()) else {
        return vec![0.0; support_vectors.len()];
    };
    let inverse = factor.inverse();
    let mut leverages = Vec::with_capacity(support_vectors.len());
    for some in support_vectors.chunks(ROWS_PER_PANEL) {
        let entries = panel(some);
        let solved = multiply(entries.view(), inverse.view());
        for (sv, (x, solved)) in some.iter().zip(entries.rows().into_iter().zip(solved.rows())) {
            let q = x.dot(&solved);
            leverages.push(q / (1.0 - sv.kappa * q).max(f64::EPSILON));
        }
    }
    leverages
}

/// The same through the Gram matrix of the active rows, or of a part of them that stands for all.
fn dual_leverages(
    problem: &MarginLoss<'_>,
    rows: &Rows<'_>,
    support_vectors: &[SupportVector],
) -> Vec<f64> {
    let function = Function::linear();
    let indices: Vec<u32> = support_vectors.iter().map(|sv| sv.row as u32).collect();
    let storage = Storage::of(&function, rows);
    let all: KernelRows<f64> = KernelRows::new(function, storage, rows, &indices, &[], &indices);
    let squared_norms = all.diagonal();
    let active: Vec<u32> = (0..support_vectors.len() as u32)
        .filter(|i| support_vectors[*i as usize].kappa > 0.0)
        .collect();
    let stride = active.len().div_ceil(MAX_MATRIX_SIZE).max(1);
    let selected: Vec<u32> = active.iter().copied().step_by(stride).collect();
    let intercept_penalty = problem.penalty(problem.design.width()).l2;
    let intercept_scale = match problem.design.intercept {
        false => 0.0,
        true if intercept_penalty > 0.0 => 1.0 / intercept_penalty,
        // Only active rows determine an unpenalized intercept.
        true if selected.is_empty() => 0.0,
        true => squared_norms.iter().copied().fold(0.0, f64::max) / SMALL_INTERCEPT_PENALTY,
    };
    let n = selected.len();
    if n == 0 {
        return squared_norms.iter().map(|square| square + intercept_scale).collect();
    }
    // Rows on the margin fix it whether they are all or a part; the curvature of others is scaled up to that of all.
    let factor = match problem.power {
        LossPower::Squared => active.len() as f64 / n as f64,
        LossPower::Linear => 1.0,
    };
    let inverse_kappa = |i: u32| 1.0 / (factor * support_vectors[i as usize].kappa);
    let selected_rows = all.select(&selected);
    let mut gram =
        Matrix::from_shape_vec((n, n), selected_rows.gram()).expect("a square Gram matrix");
    gram += intercept_scale;
    gram.diag_mut().iter_mut().zip(&selected).for_each(|(v, i)| *v += inverse_kappa(*i));
    let Some(factor) = Cholesky::of(gram.view()) else { return vec![0.0; support_vectors.len()] };
    let inverse = factor.inverse();
    let mut leverages = vec![0.0; support_vectors.len()];
    let positions: HashMap<u32, usize> = selected.iter().copied().zip(0..).collect();
    for (i, k) in &positions {
        leverages[*i as usize] = 1.0 / inverse[[*k, *k]] - inverse_kappa(*i);
    }
    let n_support_vectors = support_vectors.len() as u32;
    let others: Vec<u32> = (0..n_support_vectors).filter(|i| !positions.contains_key(i)).collect();
    for some in others.chunks(ROWS_PER_PANEL) {
        let mut kernel = Matrix::zeros((some.len(), n));
        let mut columns: Vec<&mut [f64]> =
            kernel.as_slice_mut().expect("a fresh matrix is contiguous").chunks_mut(n).collect();
        all.columns(some, &selected_rows, &mut columns);
        kernel += intercept_scale;
        let solved = multiply(kernel.view(), inverse.view());
        for (i, (k, solved)) in some.iter().zip(kernel.rows().into_iter().zip(solved.rows())) {
            leverages[*i as usize] = squared_norms[*i as usize] + intercept_scale - k.dot(&solved);
        }
    }
    leverages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::design_matrix::DesignMatrix;
    use crate::linear::loss::hinge::{Dual, Penalties, SolveOptions, Targets, solve};
    use crate::model::Monitor;
    use crate::solver::coordinate_descent::ElasticNetPenalty;
    use crate::solver::duality_gap::Accuracy;
    use mercer_num::Sparse;
    use mercer_num::random::Random;

    /// Overlapping rows of two classes.
    fn rows(n: usize, width: usize) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(12);
        let codes: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
        let x = Matrix::from_shape_fn((n, width), |(i, j)| {
            f64::from(codes[i]) * if j < 3 { 1.0 } else { 0.0 } + random.normal()
        });
        (x, codes)
    }

    fn solved<'a>(
        x: Rows<'a>,
        codes: &[u32],
        power: LossPower,
        penalties: Penalties,
    ) -> MarginLoss<'a> {
        let monitor = Monitor::quiet();
        let design = DesignMatrix::new(&x, true, &monitor).unwrap();
        let targets =
            Targets::Classes { class_indices: codes.to_vec(), class_weights: vec![1.0; 2] };
        let costs = vec![0.3; codes.len()];
        let mut problem = MarginLoss::new(design, 1, targets, costs, power, penalties);
        let options = SolveOptions {
            // The gradient of an unpenalized intercept is weighted by no penalty, which leaves half of the digits.
            accuracy: Accuracy { tol: 1e-6, gap: None },
            dual: Dual::Given(false),
            max_iter: 1000,
            monitor: &monitor,
        };
        assert!(solve(&mut problem, &options).converged);
        problem
    }

    const UNIT: ElasticNetPenalty = ElasticNetPenalty { l2: 1.0, l1: 0.0 };
    const PENALIZED: Penalties = Penalties { weights: UNIT, intercept: UNIT };

    #[test]
    fn approximate_scores_are_close_to_those_of_fits_without_the_row() {
        let (x, codes) = rows(60, 4);
        // Bounds on the median error and on its 90th percentile. Without a row on the margin another one reaches the margin
        // before the score has moved all the way.
        for (power, unpenalized, median, percentile) in [
            (LossPower::Squared, false, 1e-3, 0.1),
            (LossPower::Squared, true, 1e-3, 0.1),
            (LossPower::Linear, false, 0.1, 1.0),
            (LossPower::Linear, true, 0.1, 1.0),
        ] {
            let penalties = match unpenalized {
                true => Penalties { intercept: ElasticNetPenalty::default(), ..PENALIZED },
                false => PENALIZED,
            };
            let problem = solved(Rows::from(&x), &codes, power, penalties);

            let scores = leave_one_out_scores(&problem, &Rows::from(&x), 0);

            let mut errors: Vec<f64> = (0..60)
                .map(|i| {
                    let others: Vec<usize> = (0..60).filter(|j| *j != i).collect();
                    let some = x.select(ndarray::Axis(0), &others);
                    let some_codes: Vec<u32> = others.iter().map(|j| codes[*j]).collect();
                    let left = solved(Rows::from(&some), &some_codes, power, penalties);
                    let z: f64 = x.row(i).iter().zip(left.weights()).map(|(x, w)| x * w).sum();
                    (z + left.weights()[4] - scores[i]).abs()
                })
                .collect();
            errors.sort_by(f64::total_cmp);
            assert!(errors[30] < median, "{power:?}: {}", errors[30]);
            assert!(errors[54] < percentile, "{power:?}: {}", errors[54]);
        }
    }

    #[test]
    fn primal_and_dual_leverages_are_equal() {
        let (x, codes) = rows(80, 6);
        let csr = Sparse::csr_from_dense(x.view(), 0.0);
        for power in [LossPower::Squared, LossPower::Linear] {
            let problem = solved(Rows::from(&x), &codes, power, PENALIZED);
            let svs = support_vectors(&problem, 0);
            let all = columns(&problem, 0, true);

            let primal = primal_leverages(&problem, &svs, &all);
            let sparse = solved(Rows::from(&csr), &codes, power, PENALIZED);
            let again = primal_leverages(&sparse, &support_vectors(&sparse, 0), &all);

            for rows in [Rows::from(&x), Rows::from(&csr)] {
                for (a, b) in dual_leverages(&problem, &rows, &svs).iter().zip(&primal) {
                    assert!((a - b).abs() < 1e-4 * b.abs().max(1e-3), "{power:?}: {a}, {b}");
                }
            }
            assert_eq!(primal.len(), again.len());
            for (a, b) in again.iter().zip(&primal) {
                assert!((a - b).abs() < 1e-3 * b.abs().max(1e-2), "{power:?}: {a}, {b}");
            }
        }
    }
}
