//! Randomly pivoted Cholesky: a low-rank factor `F Fᵀ ≈ K` of a kernel matrix from a few of its columns.
//!
//! Pivots are drawn one after the other with probabilities proportional to the residual diagonal `diag(K − F Fᵀ)`
//! (Chen, Epperly, Tropp & Webber 2022). Here a block of proposals is drawn at once and thinned by rejection sampling,
//! which leaves the distribution of the pivots unchanged (Epperly, Tropp & Webber 2024).

use crate::error::Result;
use crate::kernel::KernelRows;
use crate::model::{Monitor, Stop};
use mercer_num::linalg::{Cholesky, solve_lower};
use mercer_num::memory::zeros_of;
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::{Float, Matrix};
use ndarray::Array2;
use std::borrow::Cow;

/// Pivots proposed before each rejection step.
const PROPOSALS_PER_ROUND: usize = 128;
/// Rows of the factor that one thread computes at a time.
const ROWS_PER_BLOCK: usize = 256;
/// A relative residual below this many units of rounding is taken to be zero.
const ROUNDING_ULPS: f64 = 512.0;
/// What the memory is reserved for.
const FACTOR_MEMORY: &str = "a low-rank factor of the kernel matrix with one column per landmark";

/// A partial Cholesky factorization of a kernel matrix.
pub(crate) struct PivotedCholesky<T> {
    /// The selected rows, in the order of their selection.
    pub pivots: Vec<u32>,
    /// `tr(K − F Fᵀ) / tr(K)`, rows weighted.
    pub relative_trace_error: f64,
    pub stopped: Option<Stop>,
    n_rows: usize,
    blocks: Vec<FactorColumns<T>>,
}

impl<T: Float> PivotedCholesky<T> {
    /// The indices of all rows.
    pub fn all(&self) -> Vec<u32> {
        (0..self.n_rows as u32).collect()
    }

    /// The rows of `F` at `indices`, with one column per pivot.
    pub fn factor<U: Float>(&self, indices: &[u32]) -> Array2<U> {
        let width: usize = self.blocks.iter().map(|block| block.width).sum();
        let mut cells = zeros_of(indices.len() * width);
        let parts = cells
            .par_chunks_mut(ROWS_PER_BLOCK * width.max(1))
            .zip(indices.par_chunks(ROWS_PER_BLOCK));
        parts.for_each(|(cells, indices)| {
            for (mut row, i) in cells.chunks_exact_mut(width).zip(indices) {
                for block in &self.blocks {
                    let (to, rest) = row.split_at_mut(block.width);
                    let cells = to.iter_mut().zip(block.row(*i as usize));
                    cells.for_each(|(to, v)| *to = U::narrow((*v).into()));
                    row = rest;
                }
            }
        });
        Array2::from_shape_vec((indices.len(), width), cells).expect("rows of one width")
    }

    /// The pivots and the relative trace error without the factor, which takes much memory.
    pub fn finish(self) -> (Vec<usize>, f64) {
        (self.pivots.iter().map(|k| *k as usize).collect(), self.relative_trace_error)
    }
}

/// Factors the kernel matrix with at most `m` pivots, each drawn in proportion to its weight times its residual
/// diagonal. There are fewer pivots if the residual vanishes or if the monitor stops the fit.
pub(crate) fn randomly_pivoted_cholesky<T: Float>(
    rows: &KernelRows<T>,
    weights: &[f64],
    m: usize,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<PivotedCholesky<T>> {
    let needed = (size_of::<T>() * rows.n_rows() * m) as u64;
    monitor.reserve(FACTOR_MEMORY, needed)?;
    randomly_pivoted_cholesky_until(0.0, rows, weights, m, seed, monitor)
}

/// [`randomly_pivoted_cholesky`] that stops at a relative trace error of at most `tolerance`.
pub(crate) fn randomly_pivoted_cholesky_until<T: Float>(
    tolerance: f64,
    rows: &KernelRows<T>,
    weights: &[f64],
    m: usize,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<PivotedCholesky<T>> {
    let n = rows.n_rows();
    let mut random = Random::new(seed);
    // An indefinite kernel may have a negative diagonal.
    let own = |d: &T| Into::<f64>::into(*d).max(0.0);
    let mut residuals: Vec<f64> = rows.diagonal().iter().map(own).collect();
    let total = |residuals: &[f64]| weights.iter().zip(residuals).map(|(w, d)| w * d).sum::<f64>();
    let trace = total(&residuals);
    let mut pivots: Vec<u32> = Vec::with_capacity(m);
    let mut blocks: Vec<FactorColumns<T>> = Vec::new();
    let mut stopped = None;
    while pivots.len() < m && total(&residuals) > tolerance.max(ROUNDING_ULPS * T::EPSILON) * trace
    {
        stopped = monitor.stop();
        if stopped.is_some() && !pivots.is_empty() {
            break;
        }
        let proposals = propose(&residuals, weights, PROPOSALS_PER_ROUND.min(m), &mut random);
        let mut accepted = accept(rows, &blocks, &proposals, &residuals, &mut random);
        accepted.truncate(m - pivots.len());
        let needed = size_of::<T>() * n * (pivots.len() + accepted.len());
        monitor.reserve(FACTOR_MEMORY, needed as u64)?;
        let before = (tolerance > 0.0).then(|| residuals.clone());
        let Some(mut block) = FactorColumns::of(rows, &blocks, &accepted, &mut residuals) else {
            break;
        };
        if let Some(before) = before {
            let first = block.columns_until(weights, total(&before) - tolerance * trace);
            if first < accepted.len() {
                // Fewer pivots reach the tolerance: the columns are computed again for these alone.
                residuals = before;
                accepted.truncate(first);
                let Some(some) = FactorColumns::of(rows, &blocks, &accepted, &mut residuals) else {
                    break;
                };
                block = some;
            }
        }
        accepted.iter().for_each(|i| residuals[*i as usize] = 0.0);
        pivots.extend(&accepted);
        blocks.push(block);
        monitor.report(pivots.len() as u64, Some(m as u64));
    }
    if pivots.is_empty() {
        // The kernel matrix is zero: any row represents all.
        pivots.push(0);
    }
    let relative_trace_error = if trace > 0.0 { total(&residuals) / trace } else { 0.0 };
    Ok(PivotedCholesky { pivots, relative_trace_error, stopped, n_rows: n, blocks })
}

/// `n` rows drawn with replacement, with probabilities proportional to weight times residual.
fn propose(residuals: &[f64], weights: &[f64], n: usize, random: &mut Random) -> Vec<u32> {
    let mut sum = 0.0;
    let sums: Vec<f64> = weights
        .iter()
        .zip(residuals)
        .map(|(w, d)| {
            sum += w * d;
            sum
        })
        .collect();
    let last = residuals.iter().rposition(|d| *d > 0.0).unwrap_or(0);
    let draw = |random: &mut Random| {
        let at = random.uniform() * sum;
        sums.partition_point(|s| *s <= at).min(last) as u32
    };
    (0..n).map(|_| draw(random)).collect()
}

/// Rejection sampling: each proposal is accepted with the probability by which the proposals accepted before it
/// have reduced its residual.
fn accept<T: Float>(
    rows: &KernelRows<T>,
    blocks: &[FactorColumns<T>],
    proposals: &[u32],
    residuals: &[f64],
    random: &mut Random,
) -> Vec<u32> {
    let n = proposals.len();
    let mut gram: Vec<f64> = rows.select(proposals).gram().into_iter().map(Into::into).collect();
    let mut explained = vec![T::default(); n * n];
    for block in blocks {
        let some = block.rows(proposals);
        T::dot_products(&some, &some, block.width, &mut explained);
        gram.iter_mut().zip(&explained).for_each(|(g, t)| *g -= (*t).into());
    }
    let mut accepted = Vec::new();
    for j in 0..n {
        let (own, before) = (gram[j * n + j], residuals[proposals[j] as usize]);
        if random.uniform() * before >= own || own <= ROUNDING_ULPS * T::EPSILON * before {
            continue;
        }
        accepted.push(proposals[j]);
        let column: Vec<f64> = (0..n).map(|i| gram[i * n + j] / own.sqrt()).collect();
        for i in 0..n {
            for k in 0..n {
                gram[i * n + k] -= column[i] * column[k];
            }
        }
    }
    accepted
}

/// A block of columns of the factor, row-major.
struct FactorColumns<T> {
    width: usize,
    cells: Vec<T>,
}

impl<T: Float> FactorColumns<T> {
    /// The columns of new landmarks, whose squares are subtracted from the residuals. `None` if the residual block of
    /// the landmarks is not positive definite in floating point.
    fn of<'a>(
        rows: &KernelRows<T>,
        before: &'a [FactorColumns<T>],
        landmarks: &[u32],
        residuals: &mut [f64],
    ) -> Option<FactorColumns<T>> {
        let width = landmarks.len();
        if width == 0 {
            return None;
        }
        let landmark_kernel_rows = rows.select(landmarks);
        let landmark_rows: Vec<Vec<T>> = before.iter().map(|block| block.rows(landmarks)).collect();
        // K(rows, landmarks) − F(rows) F(landmarks)ᵀ with the columns so far.
        let residual_block =
            |rows: &KernelRows<T>, from: &dyn Fn(&'a FactorColumns<T>) -> Cow<'a, [T]>| -> Vec<T> {
                let n = rows.n_rows();
                let mut out = vec![T::default(); n * width];
                rows.block(&landmark_kernel_rows, 0..width, &mut out);
                for (block, landmark_rows) in before.iter().zip(&landmark_rows) {
                    T::subtract_dot_products(&from(block), landmark_rows, block.width, &mut out);
                }
                out
            };
        let own = residual_block(&landmark_kernel_rows, &|block| block.rows(landmarks).into());
        let own = own.into_iter().map(Into::into).collect();
        let own = Matrix::from_shape_vec((width, width), own).ok()?;
        let factor = Cholesky::of(own.view())?;
        let mut inverse = Matrix::eye(width);
        solve_lower(factor.lower().view(), inverse.as_slice_mut()?, width);
        let inverse: Vec<T> = inverse.iter().map(|v| T::narrow(*v)).collect();
        let mut cells = vec![T::default(); rows.n_rows() * width];
        let chunks = cells
            .par_chunks_mut(ROWS_PER_BLOCK * width)
            .zip(residuals.par_chunks_mut(ROWS_PER_BLOCK));
        chunks.enumerate().for_each(|(k, (cells, residuals))| {
            let first = (k * ROWS_PER_BLOCK) as u32;
            let indices: Vec<u32> = (first..first + residuals.len() as u32).collect();
            let those = |width: usize| {
                k * ROWS_PER_BLOCK * width..(k * ROWS_PER_BLOCK + indices.len()) * width
            };
            let residual = residual_block(&rows.select(&indices), &|block| {
                block.cells[those(block.width)].into()
            });
            T::dot_products(&residual, &inverse, width, cells);
            for (row, residual) in cells.chunks_exact(width).zip(residuals) {
                let explained: f64 = row.iter().map(|v| (*v).into()).map(|v: f64| v * v).sum();
                *residual = (*residual - explained).max(0.0);
            }
        });
        Some(FactorColumns { width, cells })
    }

    /// How many columns, from the first, reduce the trace of the residual by `trace`; all if they reduce it by less.
    fn columns_until(&self, weights: &[f64], trace: f64) -> usize {
        let mut explained = vec![0.0; self.width];
        for (row, w) in self.cells.chunks_exact(self.width).zip(weights) {
            for (sum, v) in explained.iter_mut().zip(row) {
                let v: f64 = (*v).into();
                *sum += w * v * v;
            }
        }
        let mut sum = 0.0;
        let first = explained.iter().position(|t| {
            sum += t;
            sum >= trace
        });
        first.map_or(self.width, |k| k + 1)
    }

    fn row(&self, i: usize) -> &[T] {
        &self.cells[i * self.width..(i + 1) * self.width]
    }

    fn rows(&self, indices: &[u32]) -> Vec<T> {
        indices.iter().flat_map(|i| self.row(*i as usize).iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::landmarks::sample_by_weight;
    use crate::kernel::{Function, Storage, UniqueRows};
    use mercer_num::Rows;

    #[test]
    fn the_rank_of_a_linear_kernel_is_found() {
        let mut random = Random::new(5);
        let x = Matrix::from_shape_simple_fn((300, 4), || random.normal());
        let rows: KernelRows<f64> =
            KernelRows::all(Function::linear(), Storage::Dense, &Rows::from(&x), &[], &[]);

        let found =
            randomly_pivoted_cholesky(&rows, &vec![1.0; 300], 50, 1, &Monitor::quiet()).unwrap();

        assert_eq!(found.pivots.len(), 4);
        assert!(found.relative_trace_error < 1e-12);
    }

    #[test]
    fn the_tolerance_is_reached_with_the_fewest_pivots() {
        let mut random = Random::new(3);
        let x = Matrix::from_shape_simple_fn((500, 3), || random.normal());
        let rows: KernelRows<f64> =
            KernelRows::all(Function::rbf(0.2), Storage::Dense, &Rows::from(&x), &[], &[]);
        let ones = vec![1.0; 500];
        let found = |tolerance: f64, m: usize| {
            randomly_pivoted_cholesky_until(tolerance, &rows, &ones, m, 4, &Monitor::quiet())
                .unwrap()
        };

        for tolerance in [0.3, 0.1, 0.03, 0.001] {
            let some = found(tolerance, 400);

            // The first pivots of the full factorization, and one pivot fewer is not enough.
            let all = found(0.0, 400);
            let n = some.pivots.len();
            assert_eq!(some.pivots, all.pivots[..n]);
            assert!(some.relative_trace_error <= tolerance);
            let mut residuals = rows.diagonal();
            FactorColumns::of(&rows, &[], &some.pivots[..n - 1], &mut residuals);
            assert!(residuals.iter().sum::<f64>() / 500.0 > tolerance, "{n} for {tolerance}");
        }
    }

    #[test]
    fn pivots_have_a_smaller_error_than_uniform_landmarks() {
        // A dense cluster and a few distant rows: uniform sampling misses the distant ones.
        let mut random = Random::new(6);
        let x = Matrix::from_shape_fn((400, 2), |(i, _)| {
            if i < 390 { 0.1 * random.normal() } else { 4.0 * random.normal() }
        });
        let rows: KernelRows<f64> =
            KernelRows::all(Function::rbf(1.0), Storage::Dense, &Rows::from(&x), &[], &[]);
        let ones = vec![1.0; 400];

        let found = randomly_pivoted_cholesky(&rows, &ones, 12, 1, &Monitor::quiet()).unwrap();
        let unique_rows = UniqueRows::of(&Rows::from(&x), &[], 1);
        let uniform = sample_by_weight(&unique_rows, 12);
        let uniform: Vec<u32> = uniform.iter().map(|k| unique_rows.indices[*k as usize]).collect();
        let mut residuals = rows.diagonal();
        FactorColumns::of(&rows, &[], &uniform, &mut residuals);

        let left = residuals.iter().sum::<f64>() / 400.0;
        assert!(
            found.pivots.len() == 12 && found.relative_trace_error < 0.5 * left,
            "{} {left}",
            found.relative_trace_error
        );
    }
}
