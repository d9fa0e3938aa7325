//! Dual coordinate descent over several one-vs-rest classes at once, one SIMD lane per class.
//!
//! An epoch of [`super`] spends its time on loading a row and the weights of its columns. Eight or sixteen classes whose
//! weights are interleaved, in single precision, share these loads: an epoch over all of them takes little longer than a
//! pass over one class. A row is read as long as any class needs it, so the last digits are left to epochs over one class
//! at a time.

use super::active_set::{ActiveSet, Visit};
use super::{LossPower, OVER_RELAXATION};
use crate::model::{Monitor, Stop};
use mercer_num::memory::prefetch;
use mercer_num::simd::packed_rows::{AlignedTable, PackedRows};

/// The dual variables of one row, one per class.
#[derive(Clone, Copy)]
pub(crate) struct GroupRow<const N: usize> {
    /// `±1`: the label of the row in the one-vs-rest problem; 0 for a lane without a class.
    pub y: [f32; N],
    /// The bound on `|β|`.
    pub bound: [f32; N],
    /// The diagonal entry `QD`.
    pub diagonal: [f32; N],
    pub beta: [f32; N],
    /// `‖x‖² + 1/λ₀`: how much the score changes with `beta`.
    pub xsq: f32,
}

impl<const N: usize> GroupRow<N> {
    /// A row of weight zero in all classes; its dual variables never change.
    pub fn without_classes(xsq: f32) -> GroupRow<N> {
        GroupRow { y: [0.0; N], bound: [0.0; N], diagonal: [1.0; N], beta: [0.0; N], xsq }
    }
}

/// The dual variables of several classes and their weights.
pub(crate) struct ClassGroup<const N: usize> {
    pub rows: Vec<GroupRow<N>>,
    w: AlignedTable<N>,
    /// `1/λ₀`.
    intercept_scale: f32,
    power: LossPower,
    pub epochs: u64,
    /// Whether the last epoch over all rows found no violation above the tolerance.
    pub converged: bool,
    pub stopped: Option<Stop>,
}

impl<const N: usize> ClassGroup<N> {
    /// All dual variables are zero.
    pub fn new(
        rows: Vec<GroupRow<N>>,
        n_columns: usize,
        intercept_scale: f64,
        power: LossPower,
    ) -> ClassGroup<N> {
        let (w, intercept_scale) = (AlignedTable::zeros(n_columns + 1), intercept_scale as f32);
        ClassGroup { rows, w, intercept_scale, power, epochs: 0, converged: false, stopped: None }
    }

    /// Epochs over the rows until no projected gradient exceeds `tolerance`, or until the limit of epochs.
    pub fn run(&mut self, x: &PackedRows, tolerance: f32, max_epochs: u64, monitor: &Monitor<'_>) {
        let mut active = ActiveSet::new((0..self.rows.len() as u32).collect());
        let max_visits = max_epochs * active.all().len() as u64;
        let mut pg_max_old = [f32::INFINITY; N];
        while !self.converged && active.visits < max_visits {
            let is_complete = active.is_complete();
            let mut pg_max = [0.0f32; N];
            self.stopped = active.run_epoch(monitor, |i, upcoming| {
                // First the row, then the weights of its columns.
                if let Some(later) = upcoming.after_next {
                    prefetch(&self.rows[later..=later]);
                    x.prefetch_row(later);
                }
                if let Some(next) = upcoming.next {
                    x.prefetch_table(next, self.w.rows());
                }
                self.update(x, i, &pg_max_old, &mut pg_max)
            });
            self.epochs = active.epochs;
            if self.stopped.is_some() {
                return;
            }
            let within_tolerance = pg_max.iter().all(|pg| *pg <= tolerance);
            self.converged = within_tolerance && is_complete;
            let reactivated = active.shrink(within_tolerance);
            pg_max_old = if reactivated { [f32::INFINITY; N] } else { pg_max };
        }
    }

    /// Minimizes over the dual variables of one row; the row is shrunk when all classes allow it.
    #[inline]
    fn update(
        &mut self,
        x: &PackedRows,
        i: usize,
        pg_max_old: &[f32; N],
        pg_max: &mut [f32; N],
    ) -> Visit {
        let intercepts = self.w.rows()[x.n_columns()];
        let dots = x.dot_table(i, &self.w);
        let row = &mut self.rows[i];
        let linear = self.power == LossPower::Linear;
        let (mut steps, mut stuck, mut moved) = ([0.0f32; N], true, false);
        // Conditions without branches, so that the loop is vectorized.
        for k in 0..N {
            // In terms of α = yβ ≥ 0 and the margin y z.
            let y = row.y[k];
            let margin = y * (dots[k] + intercepts[k]);
            let alpha = y * row.beta[k];
            let others = margin - row.xsq * alpha;
            let minimizer = ((1.0 - others).max(0.0) / row.diagonal[k]).min(row.bound[k]);
            let relaxed = alpha + OVER_RELAXATION as f32 * (minimizer - alpha);
            let new_alpha = relaxed.max(0.0).min(row.bound[k]);
            let step = new_alpha - alpha;
            row.beta[k] = y * new_alpha;
            steps[k] = y * step;
            pg_max[k] = pg_max[k].max((minimizer - alpha).abs() * row.diagonal[k]);
            moved |= step != 0.0;
            let at_zero = (minimizer == 0.0) & (margin > 1.0 + pg_max_old[k]);
            let at_bound = linear & (minimizer == row.bound[k]) & (margin < 1.0 - pg_max_old[k]);
            stuck &= (step == 0.0) & (at_zero | at_bound | (y == 0.0));
        }
        if moved {
            x.add_to_table(i, &steps, &mut self.w);
            let intercepts = &mut self.w.rows_mut()[x.n_columns()];
            intercepts.iter_mut().zip(&steps).for_each(|(b, s)| *b += s * self.intercept_scale);
        }
        if stuck { Visit::Shrink } else { Visit::Keep }
    }
}
