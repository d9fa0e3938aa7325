//! Products of sparse rows with a single vector, whose entries are added as fast as they are read.

use super::{DesignMatrix, MAX_BLOCKS_SINGLE, ROWS_PER_PANEL};
use mercer_num::Rows;
use mercer_num::parallel::prelude::*;
use std::ops::Range;

impl DesignMatrix<'_> {
    /// `XᵀDXv` over some sparse rows, each with its diagonal entry of `D`.
    pub fn weighted_gram_product(&self, rows: &[(u32, f64)], v: &[f64], out: &mut [f64]) {
        let Rows::Sparse(x) = &self.rows else { unreachable!("only for sparse rows") };
        let (weights, intercept) = v.split_at(self.width());
        let intercept = intercept.first().copied().unwrap_or(0.0);
        let block_rows = rows.len().div_ceil(MAX_BLOCKS_SINGLE).max(ROWS_PER_PANEL);
        let blocks = rows.par_chunks(block_rows).map(|rows| {
            let mut sums = self.zeroed_buffer(self.n_weights());
            let mut intercepts = 0.0;
            for (i, d) in rows {
                let weighted = d * (x.dot(*i as usize, weights) + intercept);
                x.add_to(*i as usize, weighted, &mut sums);
                intercepts += weighted;
            }
            if self.intercept {
                sums[self.width()] = intercepts;
            }
            sums
        });
        self.sum_blocks(blocks.collect(), out);
    }

    /// Whether the transpose product of a single vector is summed row by row over sparse rows.
    pub fn sums_by_row(&self) -> bool {
        self.is_sparse() && self.single_blocks.is_some()
    }

    /// `out = Xᵀr` in one reading of sparse rows: `map` writes the entries of `r` for a range of rows and may update
    /// `values` there. Returns the sum of what `map` returns.
    pub fn map_transpose_product(
        &self,
        values: &mut [f64],
        map: impl Fn(Range<usize>, &mut [f64], &mut [f64]) -> f64 + Sync,
        out: &mut [f64],
    ) -> f64 {
        let Rows::Sparse(x) = &self.rows else { unreachable!("only for sparse rows") };
        let (block_rows, width) = (self.rows_per_block(1), self.width());
        let blocks = values.par_chunks_mut(block_rows).enumerate().map(|(k, values)| {
            let mut sums = self.zeroed_buffer(self.n_weights());
            let (mut sum, mut intercepts, mut residuals) = (0.0, 0.0, [0.0; ROWS_PER_PANEL]);
            for (p, values) in values.chunks_mut(ROWS_PER_PANEL).enumerate() {
                let first = k * block_rows + p * ROWS_PER_PANEL;
                let rows = first..first + values.len();
                let residuals = &mut residuals[..values.len()];
                sum += map(rows.clone(), values, residuals);
                // Close to the optimum most rows have no gradient.
                for (i, r) in rows.zip(residuals).filter(|(_, r)| **r != 0.0) {
                    x.add_to(i, *r, &mut sums);
                    intercepts += *r;
                }
            }
            if self.intercept {
                sums[width] = intercepts;
            }
            (sum, sums)
        });
        let blocks: Vec<(f64, Vec<f64>)> = blocks.collect();
        let (totals, blocks): (Vec<f64>, Vec<Vec<f64>>) = blocks.into_iter().unzip();
        self.sum_blocks(blocks, out);
        totals.iter().sum()
    }
}
