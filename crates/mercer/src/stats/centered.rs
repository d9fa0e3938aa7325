//! A chunk of rows, centered at the means of their groups.

use crate::error::{Error, Result};
use mercer_num::linalg::add_gram;
use mercer_num::rows::Missing;
use mercer_num::simd::add_rows;
use mercer_num::{Matrix, Rows, SparseView};
use std::borrow::Cow;

/// Rows per product: enough for full speed, few enough to stay in cache.
const ROWS_PER_PANEL: usize = 512;
/// A panel of at least so many rows ends with its group, because fewer columns vary within one group than within two.
const MIN_PANEL_ROWS: usize = 128;

/// Constant columns are left out of a product if at most this fraction of the columns varies.
const MAX_VARYING_FRACTION: (usize, usize) = (7, 8);

/// Rows, their groups and the group means.
pub(crate) struct Centered<'a, 's> {
    cells: Cells<'a>,
    width: usize,
    group_of_row: &'s [u32],
    weights: &'s [f64],
    /// One row per group; zero for a group without weight.
    pub means: Matrix,
}

enum Cells<'a> {
    Dense(Cow<'a, [f64]>),
    Sparse(SparseView<'a>),
}

impl<'a, 's> Centered<'a, 's> {
    /// Computes the means; `group_of_row[i]` is the group of row `i`.
    ///
    /// # Errors
    /// If a cell is missing or infinite.
    pub fn new(
        rows: &Rows<'a>,
        group_of_row: &'s [u32],
        weights: &'s [f64],
        group_weights: &[f64],
    ) -> Result<Centered<'a, 's>> {
        let width = rows.n_columns();
        let mut means = Matrix::zeros((group_weights.len(), width));
        let sums = means.as_slice_mut().expect("a fresh matrix is contiguous");
        let cells = match rows {
            Rows::Sparse(x) => {
                for (i, ((columns, values), group)) in x.iter().zip(group_of_row).enumerate() {
                    let w = weights.get(i).copied().unwrap_or(1.0);
                    let sums = &mut sums[*group as usize * width..][..width];
                    columns.iter().zip(values).for_each(|(j, v)| sums[*j as usize] += w * v);
                }
                Cells::Sparse(*x)
            }
            _ => {
                let block = rows.block(0..rows.n_rows()).unwrap_or_default();
                add_rows(&block, width, group_of_row, weights, sums);
                Cells::Dense(block)
            }
        };
        if sums.iter().any(|s| !s.is_finite())
            && let Some((row, column)) = rows.first_invalid_cell(Missing::Refused)
        {
            return Err(Error::NotFinite { row, column, value: rows.get(row, column) });
        }
        for (mut mean, w) in means.outer_iter_mut().zip(group_weights) {
            mean.mapv_inplace(|s| if *w > 0.0 { s / w } else { 0.0 });
        }
        Ok(Centered { cells, width, group_of_row, weights, means })
    }

    /// `into += Σ w (x − mean)(x − mean)ᵀ` over some rows, each centered at the mean of its group; only the lower
    /// triangle of the row-major square is updated.
    ///
    /// Columns that are constant in a panel add nothing and are left out of its product, so the rows of one group
    /// should be adjacent.
    pub fn add_scatter(&self, indices: impl Iterator<Item = usize>, into: &mut [f64]) {
        let width = self.width;
        let (mut magnitudes, mut varying_cells, mut square) =
            (vec![0.0; width], Vec::new(), Vec::new());
        self.each_panel(indices, |panel, _| {
            magnitudes.fill(0.0);
            for row in panel.chunks_exact(width) {
                magnitudes.iter_mut().zip(row).for_each(|(magnitudes, v)| *magnitudes += v.abs());
            }
            let varying: Vec<usize> = (0..width).filter(|j| magnitudes[*j] != 0.0).collect();
            let n = varying.len();
            if n * MAX_VARYING_FRACTION.1 > width * MAX_VARYING_FRACTION.0 {
                return add_gram(panel, width, into);
            }
            varying_cells.clear();
            for row in panel.chunks_exact(width) {
                varying_cells.extend(varying.iter().map(|j| row[*j]));
            }
            square.clear();
            square.resize(n * n, 0.0);
            add_gram(&varying_cells, n, &mut square);
            for (row, i) in square.chunks_exact(n.max(1)).zip(&varying) {
                let into = &mut into[i * width..];
                varying
                    .iter()
                    .zip(row)
                    .take_while(|(j, _)| *j <= i)
                    .for_each(|(j, v)| into[*j] += v);
            }
        });
    }

    /// Visits rows in row-major panels of `√w (x − mean)`, with the `√w` of each row.
    pub fn each_panel(
        &self,
        indices: impl Iterator<Item = usize>,
        mut visit: impl FnMut(&[f64], &[f64]),
    ) {
        let mut panel = vec![0.0; ROWS_PER_PANEL * self.width];
        let mut roots = Vec::with_capacity(ROWS_PER_PANEL);
        let mut group = None;
        for i in indices {
            let w = self.weights.get(i).copied().unwrap_or(1.0);
            // A row of weight zero is skipped, because its square may be infinite.
            if w == 0.0 {
                continue;
            }
            if group.replace(self.group_of_row[i]) != Some(self.group_of_row[i])
                && roots.len() >= MIN_PANEL_ROWS
            {
                visit(&panel[..roots.len() * self.width], &roots);
                roots.clear();
            }
            let start = roots.len() * self.width;
            let row = &mut panel[start..start + self.width];
            self.write(i, row);
            let mean = self.means.row(self.group_of_row[i] as usize);
            let mean = mean.to_slice().expect("means are row-major");
            let root = w.sqrt();
            row.iter_mut().zip(mean).for_each(|(x, m)| *x = (*x - m) * root);
            roots.push(root);
            if roots.len() == ROWS_PER_PANEL {
                visit(&panel, &roots);
                roots.clear();
            }
        }
        if !roots.is_empty() {
            visit(&panel[..roots.len() * self.width], &roots);
        }
    }

    fn write(&self, i: usize, row: &mut [f64]) {
        match &self.cells {
            Cells::Dense(block) => {
                row.copy_from_slice(&block[i * self.width..(i + 1) * self.width]);
            }
            Cells::Sparse(x) => {
                row.fill(0.0);
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(j, v)| row[*j as usize] += v);
            }
        }
    }
}
