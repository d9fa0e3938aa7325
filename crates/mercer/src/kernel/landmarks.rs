//! Rows that stand for all: the centers of a Nyström map.
//!
//! Rows are drawn in proportion to their weights (Efraimidis & Spirakis 2006), or one after the other in
//! proportion to what the kernel still has that the centers do not tell: randomly pivoted Cholesky (Chen,
//! Epperly, Tropp & Webber 2022), by blocks of proposals that are taken or left so that the outcome has
//! the same law (Epperly, Tropp & Webber 2024).

use super::KernelRows;
use super::unique_rows::UniqueRows;
use crate::error::Result;
use crate::model::{Monitor, Stop};
use mercer_num::linalg::{Cholesky, solve_lower};
use mercer_num::memory::zeros_of;
use mercer_num::random::Random;
use mercer_num::{Float, Matrix};
use ndarray::Array2;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows proposed at once.
const PROPOSED: usize = 128;
/// Rows whose residuals one thread works out at a time.
const ROWS: usize = 256;
/// What is left of the trace that rounding may be all of, in units of the last place.
const NOTHING: f64 = 512.0;
/// What takes the most memory.
const FACTOR: &str = "a factor of the kernel as wide as there are centers";

/// The pivots (of a list without repetition) of `m` rows drawn by weight.
pub(crate) fn sample_by_weight(rows: &UniqueRows, m: usize) -> Vec<u32> {
    // The first `m` arrivals of clocks that tick as fast as their rows weigh.
    let arrival = |k: u32| -rows.draws[k as usize].ln() / rows.weights[k as usize];
    let mut pivots: Vec<u32> = (0..rows.indices.len() as u32).collect();
    pivots.sort_by(|a, b| arrival(*a).total_cmp(&arrival(*b)).then(a.cmp(b)));
    pivots.truncate(m);
    pivots
}

/// LandmarkSelection and what the kernel has beside them.
pub(crate) struct PivotedCholesky<T> {
    pub pivots: Vec<u32>,
    /// The share of the trace that the centers leave.
    pub relative_trace_error: f64,
    pub stopped: Option<Stop>,
    n_rows: usize,
    panels: Vec<Panel<T>>,
}

impl<T: Float> PivotedCholesky<T> {
    /// The pivots of all rows.
    pub fn all(&self) -> Vec<u32> {
        (0..self.n_rows as u32).collect()
    }

    /// Some rows of `F`, with `F Fᵀ` near to the kernel matrix: a column a center.
    pub fn factor<U: Float>(&self, indices: &[u32]) -> Array2<U> {
        let width: usize = self.panels.iter().map(|panel| panel.width).sum();
        let mut cells = zeros_of(indices.len() * width);
        let parts = cells.par_chunks_mut(ROWS * width.max(1)).zip(indices.par_chunks(ROWS));
        parts.for_each(|(cells, indices)| {
            for (mut row, i) in cells.chunks_exact_mut(width).zip(indices) {
                for panel in &self.panels {
                    let (to, rest) = row.split_at_mut(panel.width);
                    let cells = to.iter_mut().zip(panel.row(*i as usize));
                    cells.for_each(|(to, v)| *to = U::narrow((*v).into()));
                    row = rest;
                }
            }
        });
        Array2::from_shape_vec((indices.len(), width), cells).expect("rows of one width")
    }

    /// The pivots alone and what they leave: the factor takes memory.
    pub fn finish(self) -> (Vec<usize>, f64) {
        (self.pivots.iter().map(|k| *k as usize).collect(), self.relative_trace_error)
    }
}

/// The pivots of at most `m` rows, each drawn in proportion to its weight and to what of its own kernel
/// value the ones before do not tell. Fewer where nothing is left, or where time is up.
pub(crate) fn randomly_pivoted_cholesky<T: Float>(
    ready: &KernelRows<T>,
    weights: &[f64],
    m: usize,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<PivotedCholesky<T>> {
    let needed = (size_of::<T>() * ready.n_rows() * m) as u64;
    monitor.reserve(FACTOR, needed)?;
    randomly_pivoted_cholesky_until(0.0, ready, weights, m, seed, monitor)
}

/// The same, and no more of them than leave at most such a share of the trace.
pub(crate) fn randomly_pivoted_cholesky_until<T: Float>(
    enough: f64,
    ready: &KernelRows<T>,
    weights: &[f64],
    m: usize,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<PivotedCholesky<T>> {
    let n = ready.n_rows();
    let mut random = Random::new(seed);
    // What is no kernel may have a diagonal below zero.
    let own = |d: &T| Into::<f64>::into(*d).max(0.0);
    let mut residuals: Vec<f64> = ready.diagonal().iter().map(own).collect();
    let total = |residuals: &[f64]| weights.iter().zip(residuals).map(|(w, d)| w * d).sum::<f64>();
    let trace = total(&residuals);
    let mut pivots: Vec<u32> = Vec::with_capacity(m);
    let mut panels: Vec<Panel<T>> = Vec::new();
    let mut stopped = None;
    while pivots.len() < m && total(&residuals) > enough.max(NOTHING * T::EPSILON) * trace {
        stopped = monitor.stop();
        if stopped.is_some() && !pivots.is_empty() {
            break;
        }
        let proposed = propose(&residuals, weights, PROPOSED.min(m), &mut random);
        let mut taken = take(ready, &panels, &proposed, &residuals, &mut random);
        taken.truncate(m - pivots.len());
        let needed = size_of::<T>() * n * (pivots.len() + taken.len());
        monitor.reserve(FACTOR, needed as u64)?;
        let before = (enough > 0.0).then(|| residuals.clone());
        let Some(mut panel) = Panel::of(ready, &panels, &taken, &mut residuals) else { break };
        if let Some(before) = before {
            let first = panel.enough(weights, total(&before) - enough * trace);
            if first < taken.len() {
                // Fewer of them leave little enough: the same columns, and the others not.
                residuals = before;
                taken.truncate(first);
                let Some(some) = Panel::of(ready, &panels, &taken, &mut residuals) else { break };
                panel = some;
            }
        }
        taken.iter().for_each(|i| residuals[*i as usize] = 0.0);
        pivots.extend(&taken);
        panels.push(panel);
        monitor.report(pivots.len() as u64, Some(m as u64));
    }
    if pivots.is_empty() {
        // Rows that the kernel takes for nothing: any of them tells as much.
        pivots.push(0);
    }
    let left = if trace > 0.0 { total(&residuals) / trace } else { 0.0 };
    Ok(PivotedCholesky { pivots, relative_trace_error: left, stopped, n_rows: n, panels })
}

/// Rows drawn with repetition, in proportion to weight and residual.
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

/// The proposals that are taken: each with the share of its residual that the ones taken before it left.
fn take<T: Float>(
    ready: &KernelRows<T>,
    panels: &[Panel<T>],
    proposed: &[u32],
    residuals: &[f64],
    random: &mut Random,
) -> Vec<u32> {
    let n = proposed.len();
    let mut gram: Vec<f64> = ready.select(proposed).gram().into_iter().map(Into::into).collect();
    let mut told = vec![T::default(); n * n];
    for panel in panels {
        let some = panel.rows(proposed);
        T::dot_products(&some, &some, panel.width, &mut told);
        gram.iter_mut().zip(&told).for_each(|(g, t)| *g -= (*t).into());
    }
    let mut taken = Vec::new();
    for j in 0..n {
        let (own, before) = (gram[j * n + j], residuals[proposed[j] as usize]);
        if random.uniform() * before >= own || own <= NOTHING * T::EPSILON * before {
            continue;
        }
        taken.push(proposed[j]);
        let column: Vec<f64> = (0..n).map(|i| gram[i * n + j] / own.sqrt()).collect();
        for i in 0..n {
            for k in 0..n {
                gram[i * n + k] -= column[i] * column[k];
            }
        }
    }
    taken
}

/// Some columns of the factor: one row a row.
struct Panel<T> {
    width: usize,
    cells: Vec<T>,
}

impl<T: Float> Panel<T> {
    /// The columns that some new centers add, taken off the residuals; `None` where rounding has eaten them.
    fn of<'a>(
        ready: &KernelRows<T>,
        before: &'a [Panel<T>],
        centers: &[u32],
        residuals: &mut [f64],
    ) -> Option<Panel<T>> {
        let width = centers.len();
        if width == 0 {
            return None;
        }
        let chosen = ready.select(centers);
        let known: Vec<Vec<T>> = before.iter().map(|panel| panel.rows(centers)).collect();
        // K(rows, centers) less what is told already.
        let rest = |rows: &KernelRows<T>, from: &dyn Fn(&'a Panel<T>) -> Cow<'a, [T]>| -> Vec<T> {
            let n = rows.n_rows();
            let mut out = vec![T::default(); n * width];
            rows.block(&chosen, 0..width, &mut out);
            for (panel, known) in before.iter().zip(&known) {
                T::subtract_dot_products(&from(panel), known, panel.width, &mut out);
            }
            out
        };
        let own = rest(&chosen, &|panel| panel.rows(centers).into());
        let own = own.into_iter().map(Into::into).collect();
        let own = Matrix::from_shape_vec((width, width), own).ok()?;
        let factor = Cholesky::of(own.view())?;
        let mut inverse = Matrix::eye(width);
        solve_lower(factor.lower().view(), inverse.as_slice_mut()?, width);
        let inverse: Vec<T> = inverse.iter().map(|v| T::narrow(*v)).collect();
        let mut cells = vec![T::default(); ready.n_rows() * width];
        let chunks = cells.par_chunks_mut(ROWS * width).zip(residuals.par_chunks_mut(ROWS));
        chunks.enumerate().for_each(|(k, (cells, residuals))| {
            let first = (k * ROWS) as u32;
            let indices: Vec<u32> = (first..first + residuals.len() as u32).collect();
            let those = |width: usize| k * ROWS * width..(k * ROWS + indices.len()) * width;
            let rest =
                rest(&ready.select(&indices), &|panel| panel.cells[those(panel.width)].into());
            T::dot_products(&rest, &inverse, width, cells);
            for (row, residual) in cells.chunks_exact(width).zip(residuals) {
                let told: f64 = row.iter().map(|v| (*v).into()).map(|v: f64| v * v).sum();
                *residual = (*residual - told).max(0.0);
            }
        });
        Some(Panel { width, cells })
    }

    /// How many of its columns, from the first, take so much off the trace; all where none do.
    fn enough(&self, weights: &[f64], wanted: f64) -> usize {
        let mut told = vec![0.0; self.width];
        for (row, w) in self.cells.chunks_exact(self.width).zip(weights) {
            for (sum, v) in told.iter_mut().zip(row) {
                let v: f64 = (*v).into();
                *sum += w * v * v;
            }
        }
        let mut sum = 0.0;
        let first = told.iter().position(|t| {
            sum += t;
            sum >= wanted
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
    use crate::kernel::{Function, Storage};
    use mercer_num::Rows;

    #[test]
    fn the_rank_of_a_linear_kernel_is_found() {
        let mut random = Random::new(5);
        let x = Matrix::from_shape_simple_fn((300, 4), || random.normal());
        let ready: KernelRows<f64> =
            KernelRows::all(Function::linear(), Storage::Dense, &Rows::from(&x), &[], &[]);

        let found =
            randomly_pivoted_cholesky(&ready, &vec![1.0; 300], 50, 1, &Monitor::quiet()).unwrap();

        assert_eq!(found.pivots.len(), 4);
        assert!(found.relative_trace_error < 1e-12);
    }

    #[test]
    fn no_more_are_taken_than_leave_little_enough() {
        let mut random = Random::new(3);
        let x = Matrix::from_shape_simple_fn((500, 3), || random.normal());
        let ready: KernelRows<f64> =
            KernelRows::all(Function::rbf(0.2), Storage::Dense, &Rows::from(&x), &[], &[]);
        let ones = vec![1.0; 500];
        let found = |enough: f64, m: usize| {
            randomly_pivoted_cholesky_until(enough, &ready, &ones, m, 4, &Monitor::quiet()).unwrap()
        };

        for enough in [0.3, 0.1, 0.03, 0.001] {
            let some = found(enough, 400);

            // The first of those that are drawn anyway, and one fewer leave too much.
            let all = found(0.0, 400);
            let n = some.pivots.len();
            assert_eq!(some.pivots, all.pivots[..n]);
            assert!(some.relative_trace_error <= enough);
            let mut residuals = ready.diagonal();
            Panel::of(&ready, &[], &some.pivots[..n - 1], &mut residuals);
            assert!(residuals.iter().sum::<f64>() / 500.0 > enough, "{n} for {enough}");
        }
    }

    #[test]
    fn pivots_leave_less_than_rows_drawn_blindly() {
        // A crowd of rows in one place and a few far away: blind draws miss the few.
        let mut random = Random::new(6);
        let x = Matrix::from_shape_fn((400, 2), |(i, _)| {
            if i < 390 { 0.1 * random.normal() } else { 4.0 * random.normal() }
        });
        let ready: KernelRows<f64> =
            KernelRows::all(Function::rbf(1.0), Storage::Dense, &Rows::from(&x), &[], &[]);
        let ones = vec![1.0; 400];

        let found = randomly_pivoted_cholesky(&ready, &ones, 12, 1, &Monitor::quiet()).unwrap();
        let rows = UniqueRows::of(&Rows::from(&x), &[], 1);
        let blind = sample_by_weight(&rows, 12);
        let blind: Vec<u32> = blind.iter().map(|k| rows.indices[*k as usize]).collect();
        let mut residuals = ready.diagonal();
        Panel::of(&ready, &[], &blind, &mut residuals);

        let left = residuals.iter().sum::<f64>() / 400.0;
        assert!(
            found.pivots.len() == 12 && found.relative_trace_error < 0.5 * left,
            "{} {left}",
            found.relative_trace_error
        );
    }
}
