//! Kernel ridge regression without its matrix: conjugate gradients on `(K + D) c = y`.
//!
//! Kernel values are computed again in every iteration. A randomly pivoted Cholesky factorization gives `F Fᵀ ≈ K`, and
//! `(F Fᵀ + D)⁻¹`, by the Woodbury identity, is the preconditioner (Gardner et al. 2018; Díaz et al. 2023).

use super::ridge::Answer;
use crate::kernel::{KernelRows, randomly_pivoted_cholesky};
use crate::prelude::*;
use crate::solver::{CgSolution, conjugate_gradient};
use mercer_num::linalg::{Cholesky, multiply};
use ndarray::{Array1, ArrayView1};

/// Columns of the factor: as many as the memory has room for, up to this.
const MAX_PIVOTS: usize = 512;

/// Columns of the factor in front of the matrix of `n` rows.
pub(super) fn n_pivots(n: usize, monitor: &Monitor<'_>) -> usize {
    let room = monitor.memory().map_or(MAX_PIVOTS, |m| (m / 4 / (8 * n.max(1) as u64)) as usize);
    MAX_PIVOTS.min(n.div_ceil(4)).min(room.max(1))
}

/// Solves for every list of targets; `ridge` is the diagonal `D`, above zero.
pub(super) fn solve_by_conjugate_gradient(
    ready: &KernelRows<f64>,
    weights: &[f64],
    ridge: &[f64],
    targets: &[Vec<f64>],
    (tol, most): (f64, usize),
    monitor: &Monitor<'_>,
) -> Result<Answer> {
    let n = ready.n_rows();
    let low_rank = randomly_pivoted_cholesky(ready, weights, n_pivots(n, monitor), 0, monitor)?;
    if low_rank.stopped.is_some() {
        return Err(Error::Stopped);
    }
    let factor = low_rank.factor::<f64>(&(0..n as u32).collect::<Vec<_>>());
    let preconditioner = Woodbury::new(&factor, ridge)?;
    let product = |v: &[Vec<f64>]| {
        let mut out = ready.weighted_tables(v, ready);
        for (out, v) in out.iter_mut().zip(v) {
            out.iter_mut().zip(v.iter().zip(ridge)).for_each(|(o, (v, r))| *o += r * v);
        }
        Some(out)
    };
    let found = conjugate_gradient(
        targets,
        product,
        |r| preconditioner.solve(r),
        tol,
        most as u64,
        monitor,
    );
    let CgSolution { x, iterations: rounds, converged, stopped } = found;
    if rounds == 0 && stopped.is_some() {
        return Err(Error::Stopped);
    }
    // Measured afresh, not as the rounds have carried it along.
    let again = product(&x).unwrap_or_default();
    let residual = (again.iter().zip(targets)).map(|(a, y)| relative(a, y)).fold(0.0f64, f64::max);
    let certificate = Certificate::iterative(converged, stopped)
        .violation("relative norm of the residual", residual)
        .note(format!(
            "preconditioned by {} Cholesky pivots that leave {:.1e} of the trace",
            low_rank.pivots.len(),
            low_rank.relative_trace_error,
        ));
    Ok(Answer { rounds: rounds.max(1), stopped, ..Answer::new(x, certificate) })
}

/// `‖a − b‖ / ‖b‖`.
pub(super) fn relative(a: &[f64], b: &[f64]) -> f64 {
    let square = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let off = square(&mut a.iter().zip(b).map(|(a, b)| a - b));
    let size = square(&mut b.iter().copied());
    if size > 0.0 { off / size } else { off }
}

/// `(F Fᵀ + D)⁻¹ = D⁻¹ − D⁻¹F (I + FᵀD⁻¹F)⁻¹ FᵀD⁻¹`.
struct Woodbury<'a> {
    factor: &'a Matrix,
    ridge: &'a [f64],
    inner: Cholesky,
}

impl<'a> Woodbury<'a> {
    fn new(factor: &'a Matrix, ridge: &'a [f64]) -> Result<Woodbury<'a>> {
        let mut scaled = factor.clone();
        for (mut row, r) in scaled.rows_mut().into_iter().zip(ridge) {
            row /= r.sqrt();
        }
        let mut inner = multiply(scaled.t(), scaled.view());
        inner.diag_mut().iter_mut().for_each(|v| *v += 1.0);
        let inner = Cholesky::of(inner.view()).ok_or_else(|| Error::Number {
            what: "a kernel value of two rows".into(),
            value: f64::NAN,
            expected: "a finite number; scale the columns down".into(),
        })?;
        Ok(Woodbury { factor, ridge, inner })
    }

    fn solve(&self, v: &[f64]) -> Vec<f64> {
        let scaled: Array1<f64> = v.iter().zip(self.ridge).map(|(v, r)| v / r).collect();
        let t = self.inner.solve(&self.factor.t().dot(&scaled).to_vec());
        let told = self.factor.dot(&ArrayView1::from(&t));
        scaled.iter().zip(&told).zip(self.ridge).map(|((s, t), r)| s - t / r).collect()
    }
}
