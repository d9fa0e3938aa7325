//! Kernel ridge regression over landmarks `z`: `f(x) = Σⱼ βⱼ K(zⱼ, x)`.
//!
//! Minimize `Σᵢ wᵢ (yᵢ − f(xᵢ))² + α‖f‖²` over such functions:
//! `(K_nzᵀ W K_nz + α K_zz) β = K_nzᵀ W y`, by conjugate gradients with a preconditioner that approximates `K_nzᵀ W K_nz` by
//! `Σw/m · K_zz²` (FALKON; Rudi, Carratino & Rosasco 2017). Rows are visited block by block; memory holds the kernel matrix
//! of the landmarks and one block per thread.

use super::KernelProblem;
use super::ridge::Answer;
use super::ridge_conjugate_gradient::relative;
use crate::kernel::{KernelRows, UniqueRows, sample_by_weight};
use crate::prelude::*;
use crate::solver::{CgSolution, conjugate_gradient};
use mercer_num::linalg::{Cholesky, multiply, solve_lower, solve_lower_transposed};
use mercer_num::{Float, parallel};
use ndarray::{Array1, ArrayView2};

/// Rows of a block.
const ROWS_PER_BLOCK: usize = 512;

/// The memory of `m` landmarks and one block of rows per thread.
pub(super) fn landmark_bytes(m: usize, n_columns: usize, n_threads: usize) -> u64 {
    8 * (4 * (m * m) as u64 + (n_threads * ROWS_PER_BLOCK * (m + n_columns)) as u64)
}

/// Solves for every vector of targets, in the order of the problem's rows.
pub(super) fn solve_by_landmarks(
    problem: &KernelProblem<'_>,
    alpha: f64,
    n_landmarks: usize,
    targets: &[Vec<f64>],
    (tol, most): (f64, usize),
    monitor: &Monitor<'_>,
) -> Result<Answer> {
    let list = UniqueRows::of(&problem.rows, &problem.row_weights(), 0);
    let m = n_landmarks.min(list.indices.len());
    let needed = landmark_bytes(m, problem.rows.n_columns(), rayon::current_num_threads());
    let what = format!("the kernel of {m} rows that stand for all, and blocks of the others");
    monitor.reserve_or(
        &what,
        needed,
        u64::MAX,
        "raise the memory budget, or lower `n_landmarks`",
    )?;
    let landmarks: Vec<u32> =
        sample_by_weight(&list, m).into_iter().map(|k| list.indices[k as usize]).collect();
    let ready = KernelRows::new(
        problem.function.clone(),
        problem.storage,
        &problem.rows,
        &landmarks,
        &problem.center,
        &landmarks,
    );
    let system = System { problem, ready: &ready, targets };
    let times = problem.weights.iter().sum::<f64>() / m as f64;
    let front = Front::new(&ready, alpha, times, monitor)?;
    let Some(b) = system.through(None, monitor) else { return Err(Error::Stopped) };
    let product = |v: &[Vec<f64>]| {
        let back: Vec<Vec<f64>> = v.iter().map(|v| front.back(v)).collect();
        let sums = system.through(Some(&back), monitor)?;
        let both = sums.iter().zip(&back).map(|(sum, v)| {
            let own = front.own(v);
            let all: Vec<f64> = sum.iter().zip(own).map(|(s, o)| s + alpha * o).collect();
            front.turned(&all)
        });
        Some(both.collect())
    };
    let start: Vec<Vec<f64>> = b.iter().map(|b| front.turned(b)).collect();
    let found = conjugate_gradient(&start, product, |r| r.to_vec(), tol, most as u64, monitor);
    let CgSolution { x, iterations: rounds, converged, stopped } = found;
    if rounds == 0 && stopped.is_some() {
        return Err(Error::Stopped);
    }
    let coefficients: Vec<Vec<f64>> = x.iter().map(|x| front.back(x)).collect();
    // The equations themselves, without what stands in front.
    let quiet = Monitor::quiet();
    let sums = system.through(Some(&coefficients), &quiet).unwrap_or_default();
    let (mut residual, mut error) = (0.0f64, 0.0);
    let total: f64 = problem.weights.iter().sum();
    for (((sum, beta), b), y) in sums.iter().zip(&coefficients).zip(&b).zip(targets) {
        let left: Vec<f64> = sum.iter().zip(front.own(beta)).map(|(s, o)| s + alpha * o).collect();
        residual = residual.max(relative(&left, b));
        let squares: f64 = y.iter().zip(&problem.weights).map(|(y, w)| w * y * y).sum();
        let told: f64 =
            beta.iter().zip(b.iter().zip(sum)).map(|(v, (b, s))| v * (2.0 * b - s)).sum();
        error += (squares - told).max(0.0) / total / targets.len() as f64;
    }
    let certificate = Certificate::iterative(converged, stopped)
        .objective("mean squared error on the training rows", error)
        .violation("relative norm of the residual", residual)
        .note(format!("{m} landmarks, {rounds} conjugate gradient iterations"));
    Ok(Answer {
        rounds: rounds + 2,
        stopped,
        support: Some(landmarks),
        ..Answer::new(coefficients, certificate)
    })
}

struct System<'a, 'r> {
    problem: &'a KernelProblem<'r>,
    ready: &'a KernelRows<f64>,
    targets: &'a [Vec<f64>],
}

impl System<'_, '_> {
    /// `K_nzᵀ W K_nz v` for every `v`, or `K_nzᵀ W y` for the targets; `None` where time is up.
    fn through(&self, v: Option<&[Vec<f64>]>, monitor: &Monitor<'_>) -> Option<Vec<Vec<f64>>> {
        let KernelProblem { indices, weights, rows, center, .. } = self.problem;
        let (n, m) = (indices.len(), self.ready.n_rows());
        let leaf = |c: usize| -> Result<Vec<Vec<f64>>> {
            let range = c * ROWS_PER_BLOCK..((c + 1) * ROWS_PER_BLOCK).min(n);
            let some = self.ready.matching(rows, &indices[range.clone()], center);
            let mut values = vec![0.0; range.len() * m];
            some.block(self.ready, 0..m, &mut values);
            let lists = v.unwrap_or(self.targets);
            let mut sums = vec![vec![0.0; m]; lists.len()];
            for (list, sums) in lists.iter().zip(&mut sums) {
                for (i, row) in range.clone().zip(values.chunks_exact(m)) {
                    let u = weights[i] * if v.is_some() { f64::dot(row, list) } else { list[i] };
                    sums.iter_mut().zip(row).for_each(|(sum, k)| *sum += u * k);
                }
            }
            Ok(sums)
        };
        let add = |a: &mut Vec<Vec<f64>>, b: &Vec<Vec<f64>>| -> Result<()> {
            for (a, b) in a.iter_mut().zip(b) {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            }
            Ok(())
        };
        let n_blocks = n.div_ceil(ROWS_PER_BLOCK);
        let (sums, done) =
            parallel::reduce(n_blocks, leaf, add, |_| monitor.stop().is_none()).ok()?;
        sums.filter(|_| done == n_blocks)
    }
}

/// What stands in front: `K_zz = L Lᵀ`, `Σw/m LᵀL + α = R Rᵀ`, and `β = L⁻ᵀ R⁻ᵀ γ`.
struct Front {
    l: Matrix,
    r: Matrix,
}

impl Front {
    fn new(
        ready: &KernelRows<f64>,
        alpha: f64,
        times: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Front> {
        let m = ready.n_rows();
        let gram = ready.whole_gram(monitor).ok_or(Error::Stopped)?;
        let gram = ArrayView2::from_shape((m, m), &gram).expect("a square matrix");
        let largest = gram.diag().iter().fold(0.0f64, |a, v| a.max(v.abs()));
        // LandmarkSelection that hardly differ: as much is added to the diagonal as rounding may have taken.
        let factor = (0..8).find_map(|k| {
            let jitter = m as f64 * f64::EPSILON * largest * 10f64.powi(2 * k);
            let mut gram = gram.to_owned();
            gram.diag_mut().iter_mut().for_each(|v| *v += jitter);
            Cholesky::of(gram.view())
        });
        let refuse = || Error::Parameter {
            name: "kernel".into(),
            found: "a function whose values at the landmarks are no kernel's".into(),
            expected: "a kernel: without negative eigenvalues and with finite values".into(),
        };
        let l = factor.ok_or_else(refuse)?.lower().clone();
        let mut inner = multiply(l.t(), l.view()) * times;
        inner.diag_mut().iter_mut().for_each(|v| *v += alpha);
        let r = Cholesky::of(inner.view()).ok_or_else(refuse)?.lower().clone();
        Ok(Front { l, r })
    }

    /// `L⁻ᵀ R⁻ᵀ v`.
    fn back(&self, v: &[f64]) -> Vec<f64> {
        let mut v = v.to_vec();
        solve_lower_transposed(self.r.view(), &mut v, 1);
        solve_lower_transposed(self.l.view(), &mut v, 1);
        v
    }

    /// `R⁻¹ L⁻¹ v`.
    fn turned(&self, v: &[f64]) -> Vec<f64> {
        let mut v = v.to_vec();
        solve_lower(self.l.view(), &mut v, 1);
        solve_lower(self.r.view(), &mut v, 1);
        v
    }

    /// `K_zz v`.
    fn own(&self, v: &[f64]) -> Vec<f64> {
        let v = self.l.t().dot(&Array1::from(v.to_vec()));
        self.l.dot(&v).to_vec()
    }
}
