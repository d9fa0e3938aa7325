//! Cross-products of the columns, around their means where there is a constant column.

use super::{DesignMatrix, PANEL};
use mercer_num::linalg::add_gram;
use mercer_num::sparse::{Cells, packed_row_start};
use mercer_num::{Matrix, Rows, parallel};
use rayon::prelude::*;
use std::convert::Infallible;

impl DesignMatrix<'_> {
    /// What the cross-products of sparse rows cost, in products with all rows.
    pub fn gram_cost(&self) -> f64 {
        let (cells, squares) = self.cells;
        if self.is_sparse() { squares / (4.0 * cells) } else { f64::INFINITY }
    }

    /// The weighted means of the columns, and the lower packed_row_start of the cross-products of some sparse rows, around
    /// those if there is a constant column, around zero otherwise.
    pub fn centered_sparse_gram(&self, rows: &[(u32, f64)]) -> (Vec<f64>, Matrix) {
        /// Visits of a part's cells for every one that it has to make and to add.
        const VISITS: f64 = 8.0;
        let Rows::Sparse(x) = &self.rows else { unreachable!("asked of sparse rows alone") };
        let width = self.width();
        let cells = |(i, _): &(u32, f64)| x.row(*i as usize).0.len() as f64;
        let visits: f64 = rows.iter().map(|row| 0.5 * cells(row) * cells(row)).sum();
        let parts = (visits / (VISITS * packed_row_start(width) as f64)).clamp(1.0, 8.0) as usize;
        // One, two, four or eight: three parts would keep one of two threads waiting.
        let part = rows.len().div_ceil(1 << parts.ilog2()).max(1);
        let parts: Vec<(Vec<f64>, Vec<f64>)> = rows
            .par_chunks(part)
            .map(|rows| {
                let (mut sums, mut gram) = (self.zeros(width), self.zeros(packed_row_start(width)));
                for (i, weight) in rows {
                    x.add_to(*i as usize, *weight, &mut sums);
                    match self.rising {
                        true => x.add_cross_products(*i as usize, *weight, &mut gram),
                        false => add_cross_products(x.row(*i as usize), *weight, &mut gram),
                    }
                }
                (sums, gram)
            })
            .collect();
        let (sums, grams): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let (mut means, mut gram) = (vec![0.0; width], vec![0.0; width * width]);
        let total: f64 = rows.iter().map(|(_, weight)| weight).sum();
        if self.intercept && total > 0.0 {
            self.add_up(sums, &mut means);
        }
        means.iter_mut().for_each(|mean| *mean /= total.max(f64::MIN_POSITIVE));
        gram.par_chunks_mut(width.max(1)).enumerate().for_each(|(j, line)| {
            let line = &mut line[..=j];
            for part in &grams {
                line.iter_mut().zip(&part[packed_row_start(j)..]).for_each(|(sum, x)| *sum += x);
            }
            let lift = total * means[j];
            line.iter_mut().zip(&means).for_each(|(sum, mean)| *sum -= lift * mean);
        });
        self.keep(grams);
        (means, Matrix::from_shape_vec((width, width), gram).expect("a square of the width"))
    }

    /// The weighted means of dense columns, and the cross-products around them if there is a constant
    /// column, around zero otherwise.
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
        let part = self.part(1);
        let leaf = |k: usize| {
            let mut sum = vec![0.0; width * width];
            let rows = k * part..((k + 1) * part).min(self.n_rows());
            for first in rows.clone().step_by(4 * PANEL) {
                let rows = first..(first + 4 * PANEL).min(rows.end);
                let mut block = self.rows.block(rows.clone()).unwrap_or_default();
                for (i, row) in rows.zip(block.to_mut().chunks_exact_mut(width.max(1))) {
                    let root = weighted[i].sqrt();
                    row.iter_mut().zip(&means).for_each(|(x, mean)| *x = (*x - mean) * root);
                }
                add_gram(&block, width, &mut sum);
            }
            Ok::<_, Infallible>(sum)
        };
        let add = |a: &mut Vec<f64>, b: &Vec<f64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            Ok(())
        };
        let Ok((sum, _)) = parallel::reduce(self.n_rows().div_ceil(part), leaf, add, |_| true);
        let sum = sum.unwrap_or_else(|| vec![0.0; width * width]);
        let gram = Matrix::from_shape_vec((width, width), sum).expect("a square of the width");
        (means, gram)
    }
}

/// Adds the weighted cross-products of a row's cells, which stand in any order, to a lower packed_row_start.
fn add_cross_products((columns, values): Cells<'_>, weight: f64, into: &mut [f64]) {
    for (k, (j, v)) in columns.iter().zip(values).enumerate() {
        let times = weight * v;
        for (other, v) in columns[..k].iter().zip(values) {
            let (low, high) = (*j.min(other) as usize, *j.max(other) as usize);
            // Two parts of one cell meet twice in its square.
            let twice = if low == high { 2.0 } else { 1.0 };
            into[packed_row_start(high) + low] += twice * times * v;
        }
        into[packed_row_start(*j as usize) + *j as usize] += times * v;
    }
}
