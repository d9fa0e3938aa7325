//! The rest of a problem whose columns do not fit in memory: many variables at a time.
//!
//! A working set of the variables that violate most, half of them from the last one, is solved by pairs with
//! its own small matrix in cache; then all prices follow at once from the columns of those that moved
//! (Joachims 1999; Zanni, Serafini & Zanghirati 2006). Memory that was written once is used again.

use super::cached::{ByColumns, Side, Tell};
use super::pair::{pairs, violation};
use crate::model::Stop;
use mercer_num::Float;
use mercer_num::simd::smo::WorkingSetScan;
use rayon::prelude::*;

/// Variables of a working set at most.
const MOST: usize = 512;
/// A working set is solved until its violation is this share of what it was.
const SHARE: f64 = 0.1;
/// Working sets between two looks at who could be set aside.
const LOOK: u64 = 8;
/// Rows whose prices are brought up to date as one task.
const ROWS: usize = 4096;

impl<T: Float> ByColumns<'_, T> {
    /// Goes on from where the columns no longer fit; says who ended it early, with the last scans.
    pub(crate) fn blocks(
        &mut self,
        mut scans: [WorkingSetScan; 2],
        first: f64,
        progress: &Tell<'_>,
    ) -> (Option<Stop>, [WorkingSetScan; 2]) {
        let mut last: Vec<u32> = Vec::new();
        for round in 1.. {
            let gap = violation(&scans);
            // A NaN ends the run as well.
            if gap <= self.options.tol || gap.is_nan() {
                return (None, scans);
            }
            if self.steps >= self.options.max_steps {
                return (None, scans);
            }
            if let Some(stop) = self.monitor.stop() {
                return (Some(stop), scans);
            }
            self.tell(progress, first, gap);
            if self.options.shrinking && round % LOOK == 0 && self.set_aside(&scans) {
                last.clear();
                scans = self.v.scans();
            }
            let set = self.working_set(&scans, &last);
            let run = self.solve_set(&set, SHARE * gap);
            self.steps += run.max(1);
            scans = self.v.scans();
            if run == 0 {
                return (None, scans);
            }
            last = set;
        }
        unreachable!("an endless loop")
    }

    /// The variables of each group that violate most on each side, filled up with those of the last set
    /// that are inside their bounds.
    fn working_set(&self, scans: &[WorkingSetScan; 2], last: &[u32]) -> Vec<u32> {
        let v = &self.v;
        let most = MOST.min(self.cache.capacity() / 2).max(2);
        let sides = 2 * v.groups().iter().filter(|g| !g.is_empty()).count();
        let keeps = |i: &&u32| {
            let i = **i as usize;
            v.beta[i] > v.low[i] && v.beta[i] < v.high[i]
        };
        let mut set: Vec<u32> = last.iter().filter(keeps).copied().take(most / 2).collect();
        let each = ((most - set.len()) / sides).max(1);
        for (group, scan) in v.groups().into_iter().zip(scans).filter(|(g, _)| !g.is_empty()) {
            for side in [Side::Rise, Side::Fall] {
                set.extend(self.farthest(group.clone(), scan, side, (each, 0.0), |_| true));
            }
        }
        set.sort_unstable();
        set.dedup();
        set
    }

    /// Solves over a set until its violation is at most `to` and brings all prices up to date; says how many
    /// pairs moved.
    fn solve_set(&mut self, set: &[u32], to: f64) -> u64 {
        self.cache.fetch(set, self.some.as_ref().unwrap_or(self.all));
        set.iter().for_each(|i| self.cache.use_column(*i));
        let columns: Vec<&[T]> = set.iter().map(|i| self.cache.column(*i)).collect();
        let n = set.len();
        let mut matrix = vec![T::default(); n * n];
        for (row, column) in matrix.chunks_exact_mut(n).zip(&columns) {
            row.iter_mut().zip(set).for_each(|(k, j)| *k = column[*j as usize]);
        }
        let mut diagonal: Vec<T> = set.iter().map(|i| self.diagonal[*i as usize]).collect();
        let mut some = self.v.select(set);
        let left = self.options.max_steps - self.steps;
        let to = to.max(0.5 * self.options.tol);
        let go_on = |_, _| self.monitor.stop().is_none();
        let run = pairs(&mut some, &matrix, &mut diagonal, to, left, go_on);
        let mut moved: Vec<(f64, &[T])> = Vec::new();
        for ((i, beta), (column, own)) in
            set.iter().zip(&some.beta).zip(columns.iter().zip(diagonal))
        {
            let i = *i as usize;
            self.diagonal[i] = own;
            if *beta != self.v.beta[i] {
                moved.push((beta - self.v.beta[i], column));
                self.v.beta[i] = *beta;
                self.v.refresh(i);
            }
        }
        let (by, columns): (Vec<f64>, Vec<&[T]>) = moved.into_iter().unzip();
        self.v.f.par_chunks_mut(ROWS).enumerate().for_each(|(k, f)| {
            T::add_columns(&columns, &by, k * ROWS, f);
        });
        run.steps
    }
}
