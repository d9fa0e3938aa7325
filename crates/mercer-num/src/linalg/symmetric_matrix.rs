//! Symmetric matrices stored as their lower half, because products with a large matrix are limited by memory.

use crate::Matrix;
use crate::parallel::prelude::*;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Range;

/// Rows per panel: enough for products at full speed.
const ROWS_PER_PANEL: usize = 256;
/// Columns of a tile that is used twice while it is in cache; it divides the size of a panel.
const COLUMNS_PER_TILE: usize = 128;

/// The lower half of a symmetric matrix in panels of rows. The blocks on the diagonal are stored in full.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricMatrix {
    n: usize,
    /// Row-major; a panel has as many columns as the end of its rows.
    panels: Vec<Vec<f64>>,
}

impl SymmetricMatrix {
    /// Computes the matrix panel by panel on all threads: `fill` receives a range of rows and their row-major cells up
    /// to the column at which the range ends.
    pub fn new(n: usize, fill: impl Fn(Range<usize>, &mut [f64]) + Sync) -> SymmetricMatrix {
        let make = |p: usize| {
            let rows = p * ROWS_PER_PANEL..((p + 1) * ROWS_PER_PANEL).min(n);
            let mut cells = vec![0.0; rows.len() * rows.end];
            fill(rows, &mut cells);
            cells
        };
        let panels =
            (0..n.div_ceil(ROWS_PER_PANEL)).into_par_iter().with_max_len(1).map(make).collect();
        SymmetricMatrix { n, panels }
    }

    fn rows(&self, p: usize) -> Range<usize> {
        p * ROWS_PER_PANEL..((p + 1) * ROWS_PER_PANEL).min(self.n)
    }

    fn panel(&self, p: usize) -> MatRef<'_, f64> {
        let rows = self.rows(p);
        MatRef::from_row_major_slice(&self.panels[p], rows.len(), rows.end)
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let own = |p: usize| {
            let rows = self.rows(p);
            let panel = &self.panels[p];
            rows.clone().map(move |i| panel[(i - rows.start) * rows.end + i])
        };
        (0..self.panels.len()).flat_map(own).collect()
    }

    /// Replaces every cell by `to(row, column, cell)`, which must be symmetric.
    pub fn map(&mut self, to: impl Fn(usize, usize, f64) -> f64 + Sync) {
        let n = self.n;
        self.panels.par_iter_mut().enumerate().with_max_len(1).for_each(|(p, cells)| {
            let end = ((p + 1) * ROWS_PER_PANEL).min(n);
            for (i, row) in (p * ROWS_PER_PANEL..).zip(cells.chunks_exact_mut(end)) {
                row.iter_mut().enumerate().for_each(|(j, cell)| *cell = to(i, j, *cell));
            }
        });
    }

    /// The full matrix.
    pub fn to_full(&self) -> Matrix {
        Matrix::from_shape_fn((self.n, self.n), |(i, j)| {
            let (i, j) = (i.max(j), i.min(j));
            let rows = self.rows(i / ROWS_PER_PANEL);
            self.panels[i / ROWS_PER_PANEL][(i - rows.start) * rows.end + j]
        })
    }

    /// The product with a matrix, on all threads.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    pub fn multiply(&self, v: &Matrix) -> Matrix {
        assert_eq!(self.n, v.nrows(), "inner dimensions differ");
        let width = v.ncols();
        let mut out = Matrix::zeros((self.n, width));
        if out.is_empty() {
            return out;
        }
        let v = v.as_standard_layout();
        let v = MatRef::from_row_major_slice(v.as_slice().unwrap_or_default(), self.n, width);
        // The contribution of a panel to its own rows, and to the rows before it.
        let parts: Vec<[Vec<f64>; 2]> = (0..self.panels.len())
            .into_par_iter()
            .with_max_len(1)
            .map(|p| {
                let rows = self.rows(p);
                let mut own = vec![0.0; rows.len() * width];
                let mut before = vec![0.0; rows.start * width];
                for from in (0..rows.end).step_by(COLUMNS_PER_TILE) {
                    let tile = self.panel(p).subcols(from, COLUMNS_PER_TILE.min(rows.end - from));
                    let out = MatMut::from_row_major_slice_mut(&mut own, rows.len(), width);
                    let those = v.subrows(from, tile.ncols());
                    matmul(out, Accum::Add, tile, those, 1.0, Par::Seq);
                    if from < rows.start {
                        let out = &mut before[from * width..(from + COLUMNS_PER_TILE) * width];
                        let out = MatMut::from_row_major_slice_mut(out, COLUMNS_PER_TILE, width);
                        let those = v.subrows(rows.start, rows.len());
                        matmul(out, Accum::Replace, tile.transpose(), those, 1.0, Par::Seq);
                    }
                }
                [own, before]
            })
            .collect();
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        cells.par_chunks_mut(ROWS_PER_PANEL * width).enumerate().for_each(|(p, cells)| {
            cells.copy_from_slice(&parts[p][0]);
            let from = p * ROWS_PER_PANEL * width;
            for [_, before] in &parts[p + 1..] {
                cells.iter_mut().zip(&before[from..]).for_each(|(cell, v)| *cell += v);
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, normal};
    use crate::parallel::with_threads;

    fn half(whole: &Matrix) -> SymmetricMatrix {
        SymmetricMatrix::new(whole.nrows(), |rows, cells| {
            for (i, row) in rows.clone().zip(cells.chunks_exact_mut(rows.end)) {
                row.iter_mut().enumerate().for_each(|(j, cell)| *cell = whole[[i, j]]);
            }
        })
    }

    #[test]
    fn products_equal_those_with_the_full_matrix() {
        for n in [1, 7, ROWS_PER_PANEL, ROWS_PER_PANEL + 1, 3 * ROWS_PER_PANEL + 40] {
            let a = normal(n, n, 1);
            let whole = &a + &a.t();
            let v = normal(n, 5, 2);

            let mut half = half(&whole);

            assert_eq!(half.to_full(), whole);
            assert_eq!(half.diagonal(), whole.diag().to_vec());
            assert_near(&half.multiply(&v), &whole.dot(&v), 1e-10);
            assert_eq!(
                with_threads(1, || half.multiply(&v)),
                with_threads(3, || half.multiply(&v))
            );
            half.map(|i, j, cell| cell * (1 + i + j) as f64);
            let expected =
                Matrix::from_shape_fn((n, n), |(i, j)| whole[[i, j]] * (1 + i + j) as f64);
            assert_eq!(half.to_full(), expected);
        }
    }
}
