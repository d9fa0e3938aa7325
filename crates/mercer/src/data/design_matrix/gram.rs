//! Cross-products of the columns, around their means if there is an intercept.

use super::{DesignMatrix, ROWS_PER_PANEL};
use mercer_num::linalg::add_gram;
use mercer_num::parallel::prelude::*;
use mercer_num::sparse::{Cells, packed_row_start};
use mercer_num::{Matrix, Rows, parallel};
use std::convert::Infallible;

impl DesignMatrix<'_> {
    /// The cost of the cross-products of sparse rows, in Hessian products.
    pub fn gram_cost(&self) -> f64 {
        let (entries, squares) = self.entries;
        if self.is_sparse() { squares / (4.0 * entries) } else { f64::INFINITY }
    }

    /// The weighted means of the columns, and the lower triangle of the cross-products of some sparse rows: around the
    /// means if there is an intercept, around zero otherwise.
    pub fn centered_sparse_gram(&self, rows: &[(u32, f64)]) -> (Vec<f64>, Matrix) {
        /// The minimum number of products per entry of the triangle for a separate block.
        const MIN_PRODUCTS_PER_ENTRY: f64 = 8.0;
        let Rows::Sparse(x) = &self.rows else { unreachable!("only for sparse rows") };
        let width = self.width();
        let n_entries = |(i, _): &(u32, f64)| x.row(*i as usize).0.len() as f64;
        let n_products: f64 = rows.iter().map(|row| 0.5 * n_entries(row) * n_entries(row)).sum();
        let n_blocks = (n_products / (MIN_PRODUCTS_PER_ENTRY * packed_row_start(width) as f64))
            .clamp(1.0, 8.0) as usize;
        // One, two, four or eight: three blocks would keep one of two threads waiting.
        let block_rows = rows.len().div_ceil(1 << n_blocks.ilog2()).max(1);
        let blocks: Vec<(Vec<f64>, Vec<f64>)> = rows
            .par_chunks(block_rows)
            .map(|rows| {
                let (mut sums, mut gram) =
                    (self.zeroed_buffer(width), self.zeroed_buffer(packed_row_start(width)));
                for (i, weight) in rows {
                    x.add_to(*i as usize, *weight, &mut sums);
                    match self.has_sorted_columns {
                        true => x.add_cross_products(*i as usize, *weight, &mut gram),
                        false => add_cross_products(x.row(*i as usize), *weight, &mut gram),
                    }
                }
                (sums, gram)
            })
            .collect();
        let (sums, grams): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        let (mut means, mut gram) = (vec![0.0; width], vec![0.0; width * width]);
        let total: f64 = rows.iter().map(|(_, weight)| weight).sum();
        if self.intercept && total > 0.0 {
            self.sum_blocks(sums, &mut means);
        }
        means.iter_mut().for_each(|mean| *mean /= total.max(f64::MIN_POSITIVE));
        gram.par_chunks_mut(width.max(1)).enumerate().for_each(|(j, row)| {
            let row = &mut row[..=j];
            for block in &grams {
                row.iter_mut().zip(&block[packed_row_start(j)..]).for_each(|(sum, x)| *sum += x);
            }
            let weighted_mean = total * means[j];
            row.iter_mut().zip(&means).for_each(|(sum, mean)| *sum -= weighted_mean * mean);
        });
        self.recycle(grams);
        (means, Matrix::from_shape_vec((width, width), gram).expect("a square matrix"))
    }

    /// The weighted means of dense columns, and the cross-products: around the means if there is an intercept, around zero
    /// otherwise.
    pub fn centered_gram(&self, weights: impl Fn(usize) -> f64 + Sync) -> (Vec<f64>, Matrix) {
        let width = self.width();
        let weighted: Vec<f64> = (0..self.n_rows()).map(&weights).collect();
        let total: f64 = weighted.iter().sum();
        let mut means = vec![0.0; self.n_weights()];
        if self.intercept {
            self.transpose_product(&weighted, 1, &mut means);
            means.iter_mut().for_each(|x| *x /= total);
        }
        means.truncate(width);
        let block_rows = self.rows_per_block(1);
        let leaf = |k: usize| {
            let mut sum = vec![0.0; width * width];
            let rows = k * block_rows..((k + 1) * block_rows).min(self.n_rows());
            for first in rows.clone().step_by(4 * ROWS_PER_PANEL) {
                let rows = first..(first + 4 * ROWS_PER_PANEL).min(rows.end);
                let mut panel = self.rows.block(rows.clone()).unwrap_or_default();
                for (i, row) in rows.zip(panel.to_mut().chunks_exact_mut(width.max(1))) {
                    let root = weighted[i].sqrt();
                    row.iter_mut().zip(&means).for_each(|(x, mean)| *x = (*x - mean) * root);
                }
                add_gram(&panel, width, &mut sum);
            }
            Ok::<_, Infallible>(sum)
        };
        let add = |a: &mut Vec<f64>, b: &Vec<f64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            Ok(())
        };
        let Ok((sum, _)) =
            parallel::reduce(self.n_rows().div_ceil(block_rows), leaf, add, |_| true);
        let sum = sum.unwrap_or_else(|| vec![0.0; width * width]);
        let gram = Matrix::from_shape_vec((width, width), sum).expect("a square matrix");
        (means, gram)
    }
}

/// Adds the weighted cross-products of a row, whose columns are not sorted, to a packed lower triangle.
fn add_cross_products((columns, values): Cells<'_>, weight: f64, into: &mut [f64]) {
    for (k, (j, v)) in columns.iter().zip(values).enumerate() {
        let weighted = weight * v;
        for (other, v) in columns[..k].iter().zip(values) {
            let (low, high) = (*j.min(other) as usize, *j.max(other) as usize);
            // Duplicates of one entry meet twice in its square.
            let twice = if low == high { 2.0 } else { 1.0 };
            into[packed_row_start(high) + low] += twice * weighted * v;
        }
        into[packed_row_start(*j as usize) + *j as usize] += weighted * v;
    }
}
