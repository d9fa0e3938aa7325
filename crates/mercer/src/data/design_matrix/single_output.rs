//! Products of sparse rows with a single number each, which is added to sums as fast as it is read.

use super::{DesignMatrix, PANEL, PARTS_OF_ONE};
use mercer_num::Rows;
use rayon::prelude::*;
use std::ops::Range;

impl DesignMatrix<'_> {
    /// `XᵀDXv` for the diagonal `D` of some sparse rows, a number each.
    pub fn product_of_some(&self, rows: &[(u32, f64)], v: &[f64], out: &mut [f64]) {
        let Rows::Sparse(x) = &self.rows else { unreachable!("asked of sparse rows alone") };
        let (weights, constant) = v.split_at(self.width());
        let constant = constant.first().copied().unwrap_or(0.0);
        let part = rows.len().div_ceil(PARTS_OF_ONE).max(PANEL);
        let parts = rows.par_chunks(part).map(|rows| {
            let mut sums = self.zeros(self.n_weights());
            let mut constants = 0.0;
            for (i, d) in rows {
                let pull = d * (x.dot(*i as usize, weights) + constant);
                x.add_to(*i as usize, pull, &mut sums);
                constants += pull;
            }
            if self.intercept {
                sums[self.width()] = constants;
            }
            sums
        });
        self.add_up(parts.collect(), out);
    }

    /// Whether sums of a number for every sparse row are made row by row.
    pub fn adds_rows(&self) -> bool {
        self.is_sparse() && self.parts_of_one.is_some()
    }

    /// Asks `answer` for the number of every sparse row, from what stands in `values` and may be changed there, and
    /// leaves `Xᵀ` of those in `out`; gives the sum of whatever else was answered.
    pub fn sum_rows(
        &self,
        values: &mut [f64],
        answer: impl Fn(Range<usize>, &mut [f64], &mut [f64]) -> f64 + Sync,
        out: &mut [f64],
    ) -> f64 {
        let Rows::Sparse(x) = &self.rows else { unreachable!("asked of sparse rows alone") };
        let (part, width) = (self.part(1), self.width());
        let parts = values.par_chunks_mut(part).enumerate().map(|(k, values)| {
            let mut sums = self.zeros(self.n_weights());
            let (mut told, mut constants, mut residuals) = (0.0, 0.0, [0.0; PANEL]);
            for (p, values) in values.chunks_mut(PANEL).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + values.len();
                let residuals = &mut residuals[..values.len()];
                told += answer(rows.clone(), values, residuals);
                // Rows that do not push are many, near the optimum.
                for (i, r) in rows.zip(residuals).filter(|(_, r)| **r != 0.0) {
                    x.add_to(i, *r, &mut sums);
                    constants += *r;
                }
            }
            if self.intercept {
                sums[width] = constants;
            }
            (told, sums)
        });
        let (told, parts): (Vec<f64>, Vec<Vec<f64>>) = parts.unzip();
        self.add_up(parts, out);
        told.iter().sum()
    }
}
