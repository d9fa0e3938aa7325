//! Decomposition with large working sets, for problems whose kernel columns do not fit in the cache.
//!
//! The working set holds the most violating variables, up to half of it retained from the previous one. The problem
//! over the working set is solved by pairs with its small kernel matrix in memory; then one pass over the columns of
//! the variables that changed updates the whole gradient (Joachims 1999; Zanni, Serafini & Zanghirati 2006). The cache
//! memory is reused.

use super::box_qp::OnProgress;
use super::cached::{CachedSmo, Direction};
use super::pair::{optimize_pairs, violation};
use crate::model::Stop;
use mercer_num::Float;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::smo::WorkingSetScan;

/// The largest size of a working set.
const MAX_WORKING_SET: usize = 512;
/// A working set is solved until its violation is this fraction of what it was.
const VIOLATION_FRACTION: f64 = 0.1;
/// Working sets between two attempts to shrink the problem.
const SETS_PER_SHRINK: u64 = 8;
/// Entries of the gradient that one task updates.
const GRADIENT_ROWS_PER_TASK: usize = 4096;

impl<T: Float> CachedSmo<'_, T> {
    /// Continues from the point at which the cache is full. Returns why it stopped early, and the last scans.
    pub(crate) fn run_working_sets(
        &mut self,
        mut scans: [WorkingSetScan; 2],
        initial: f64,
        progress: &OnProgress<'_>,
    ) -> (Option<Stop>, [WorkingSetScan; 2]) {
        let mut previous: Vec<u32> = Vec::new();
        for round in 1.. {
            let current = violation(&scans);
            // A NaN ends the run as well.
            if current <= self.options.tol || current.is_nan() {
                return (None, scans);
            }
            if self.iterations >= self.options.max_iterations {
                return (None, scans);
            }
            if let Some(stop) = self.monitor.stop() {
                return (Some(stop), scans);
            }
            self.report(progress, initial, current);
            if self.options.shrinking && round % SETS_PER_SHRINK == 0 && self.shrink(&scans) {
                previous.clear();
                scans = self.v.scans();
            }
            let set = self.working_set(&scans, &previous);
            let iterations = self.solve_working_set(&set, VIOLATION_FRACTION * current);
            self.iterations += iterations.max(1);
            scans = self.v.scans();
            if iterations == 0 {
                return (None, scans);
            }
            previous = set;
        }
        unreachable!("an endless loop")
    }

    /// The free variables of the previous set, up to half of the new one, and the most violating variables of each
    /// group in both directions.
    fn working_set(&self, scans: &[WorkingSetScan; 2], previous: &[u32]) -> Vec<u32> {
        let v = &self.v;
        let size = MAX_WORKING_SET.min(self.cache.capacity() / 2).max(2);
        let n_lists = 2 * v.groups().iter().filter(|g| !g.is_empty()).count();
        let is_free = |i: &&u32| {
            let i = **i as usize;
            v.beta[i] > v.lower[i] && v.beta[i] < v.upper[i]
        };
        let mut set: Vec<u32> = previous.iter().filter(is_free).copied().take(size / 2).collect();
        let each = ((size - set.len()) / n_lists).max(1);
        for (group, scan) in v.groups().into_iter().zip(scans).filter(|(g, _)| !g.is_empty()) {
            for direction in [Direction::Increase, Direction::Decrease] {
                set.extend(self.most_violating(
                    group.clone(),
                    scan,
                    direction,
                    (each, 0.0),
                    |_| true,
                ));
            }
        }
        set.sort_unstable();
        set.dedup();
        set
    }

    /// Solves over a working set until its violation is at most `tol`, and updates the whole gradient. Returns the number
    /// of pairs updated.
    fn solve_working_set(&mut self, set: &[u32], tol: f64) -> u64 {
        self.fetch(set);
        set.iter().for_each(|i| self.cache.touch(*i));
        let columns: Vec<&[T]> = set.iter().map(|i| self.cache.column(*i)).collect();
        let n = set.len();
        let mut matrix = vec![T::default(); n * n];
        for (row, column) in matrix.chunks_exact_mut(n).zip(&columns) {
            row.iter_mut().zip(set).for_each(|(k, j)| *k = column[*j as usize]);
        }
        let mut diagonal: Vec<T> = set.iter().map(|i| self.diagonal[*i as usize]).collect();
        let mut variables = self.v.select(set);
        let remaining = self.options.max_iterations - self.iterations;
        let tol = tol.max(0.5 * self.options.tol);
        let proceed = |_, _| self.monitor.stop().is_none();
        let run = optimize_pairs(&mut variables, &matrix, &mut diagonal, tol, remaining, proceed);
        self.v.min_curvature = self.v.min_curvature.min(variables.min_curvature);
        let mut changed: Vec<(f64, &[T])> = Vec::new();
        for ((i, beta), (column, own)) in
            set.iter().zip(&variables.beta).zip(columns.iter().zip(diagonal))
        {
            let i = *i as usize;
            self.diagonal[i] = own;
            if *beta != self.v.beta[i] {
                changed.push((beta - self.v.beta[i], column));
                self.v.beta[i] = *beta;
                self.v.update_status(i);
            }
        }
        let (changes, columns): (Vec<f64>, Vec<&[T]>) = changed.into_iter().unzip();
        let parts = self.v.gradient.par_chunks_mut(GRADIENT_ROWS_PER_TASK).enumerate();
        parts.for_each(|(k, gradient)| {
            T::add_columns(&columns, &changes, k * GRADIENT_ROWS_PER_TASK, gradient);
        });
        run.iterations
    }
}
