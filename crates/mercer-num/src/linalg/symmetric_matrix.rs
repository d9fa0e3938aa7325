//! A symmetric matrix kept as its lower half: half the memory, which a large one waits for most.

use crate::Matrix;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a panel: enough for products at full speed.
const PANEL: usize = 256;
/// Columns of a panel that are used twice while they are in cache; panels are whole numbers of them.
const TILE: usize = 128;

/// The lower half of a symmetric matrix, in panels of rows. The square on the diagonal is kept whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricMatrix {
    n: usize,
    /// Row-major, each as wide as the end of its rows.
    panels: Vec<Vec<f64>>,
}

impl SymmetricMatrix {
    /// Made panel by panel on all threads: `fill` gets a range of rows and their cells, row-major, up to the
    /// column at which the range ends.
    pub fn new(n: usize, fill: impl Fn(Range<usize>, &mut [f64]) + Sync) -> SymmetricMatrix {
        let make = |p: usize| {
            let rows = p * PANEL..((p + 1) * PANEL).min(n);
            let mut cells = vec![0.0; rows.len() * rows.end];
            fill(rows, &mut cells);
            cells
        };
        let panels = (0..n.div_ceil(PANEL)).into_par_iter().with_max_len(1).map(make).collect();
        SymmetricMatrix { n, panels }
    }

    fn rows(&self, p: usize) -> Range<usize> {
        p * PANEL..((p + 1) * PANEL).min(self.n)
    }

    fn panel(&self, p: usize) -> MatRef<'_, f64> {
        let rows = self.rows(p);
        MatRef::from_row_major_slice(&self.panels[p], rows.len(), rows.end)
    }

    /// What stands on the diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let own = |p: usize| {
            let rows = self.rows(p);
            let panel = &self.panels[p];
            rows.clone().map(move |i| panel[(i - rows.start) * rows.end + i])
        };
        (0..self.panels.len()).flat_map(own).collect()
    }

    /// Changes every cell by `to(row, column, cell)`, which must be symmetric.
    pub fn map(&mut self, to: impl Fn(usize, usize, f64) -> f64 + Sync) {
        let n = self.n;
        self.panels.par_iter_mut().enumerate().with_max_len(1).for_each(|(p, cells)| {
            let end = ((p + 1) * PANEL).min(n);
            for (i, row) in (p * PANEL..).zip(cells.chunks_exact_mut(end)) {
                row.iter_mut().enumerate().for_each(|(j, cell)| *cell = to(i, j, *cell));
            }
        });
    }

    /// Both halves.
    pub fn to_full(&self) -> Matrix {
        Matrix::from_shape_fn((self.n, self.n), |(i, j)| {
            let (i, j) = (i.max(j), i.min(j));
            let rows = self.rows(i / PANEL);
            self.panels[i / PANEL][(i - rows.start) * rows.end + j]
        })
    }

    /// The product with a matrix, rows of the answer on all threads.
    ///
    /// # Panics
    /// If the inner sizes differ.
    pub fn multiply(&self, v: &Matrix) -> Matrix {
        assert_eq!(self.n, v.nrows(), "inner sizes differ");
        let width = v.ncols();
        let mut out = Matrix::zeros((self.n, width));
        if out.is_empty() {
            return out;
        }
        let v = v.as_standard_layout();
        let v = MatRef::from_row_major_slice(v.as_slice().unwrap_or_default(), self.n, width);
        // What a panel says of its own rows, and of those before it.
        let parts: Vec<[Vec<f64>; 2]> = (0..self.panels.len())
            .into_par_iter()
            .with_max_len(1)
            .map(|p| {
                let rows = self.rows(p);
                let mut own = vec![0.0; rows.len() * width];
                let mut before = vec![0.0; rows.start * width];
                for from in (0..rows.end).step_by(TILE) {
                    let tile = self.panel(p).subcols(from, TILE.min(rows.end - from));
                    let out = MatMut::from_row_major_slice_mut(&mut own, rows.len(), width);
                    let those = v.subrows(from, tile.ncols());
                    matmul(out, Accum::Add, tile, those, 1.0, Par::Seq);
                    if from < rows.start {
                        let out = &mut before[from * width..(from + TILE) * width];
                        let out = MatMut::from_row_major_slice_mut(out, TILE, width);
                        let those = v.subrows(rows.start, rows.len());
                        matmul(out, Accum::Replace, tile.transpose(), those, 1.0, Par::Seq);
                    }
                }
                [own, before]
            })
            .collect();
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        cells.par_chunks_mut(PANEL * width).enumerate().for_each(|(p, cells)| {
            cells.copy_from_slice(&parts[p][0]);
            let from = p * PANEL * width;
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
    fn half_of_a_matrix_is_as_good_as_all_of_it() {
        for n in [1, 7, PANEL, PANEL + 1, 3 * PANEL + 40] {
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
