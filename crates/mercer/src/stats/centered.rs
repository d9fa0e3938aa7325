//! A chunk of rows seen from the means of their groups.

use crate::error::{Error, Result};
use mercer_num::linalg::add_gram;
use mercer_num::rows::Missing;
use mercer_num::simd::add_rows;
use mercer_num::{Matrix, Rows, SparseView};
use std::borrow::Cow;

/// Rows written out at a time: enough for products at full speed, few enough to stay in cache.
const PANEL: usize = 512;
/// Rows after which a panel ends with its group: fewer columns move in one group than in two.
const ENOUGH: usize = 128;

/// Columns are left out where at most this share of them moves, seven of eight.
const WORTH_LEAVING_OUT: (usize, usize) = (7, 8);

/// Rows, their groups, and the means of those.
pub(crate) struct Centered<'a, 's> {
    cells: Cells<'a>,
    width: usize,
    slots: &'s [u32],
    weights: &'s [f64],
    /// One row a group; zero where a group has no weight.
    pub means: Matrix,
}

enum Cells<'a> {
    Dense(Cow<'a, [f64]>),
    Sparse(SparseView<'a>),
}

impl<'a, 's> Centered<'a, 's> {
    /// Takes the means; `slots[i]` is the group of row `i`.
    ///
    /// # Errors
    /// If a cell is missing or infinite.
    pub fn new(
        rows: &Rows<'a>,
        slots: &'s [u32],
        weights: &'s [f64],
        group_weights: &[f64],
    ) -> Result<Centered<'a, 's>> {
        let width = rows.n_columns();
        let mut means = Matrix::zeros((group_weights.len(), width));
        let sums = means.as_slice_mut().expect("a fresh matrix is contiguous");
        let cells = match rows {
            Rows::Sparse(x) => {
                for (i, ((columns, values), slot)) in x.iter().zip(slots).enumerate() {
                    let w = weights.get(i).copied().unwrap_or(1.0);
                    let sums = &mut sums[*slot as usize * width..][..width];
                    columns.iter().zip(values).for_each(|(j, v)| sums[*j as usize] += w * v);
                }
                Cells::Sparse(*x)
            }
            _ => {
                let block = rows.block(0..rows.n_rows()).unwrap_or_default();
                add_rows(&block, width, slots, weights, sums);
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
        Ok(Centered { cells, width, slots, weights, means })
    }

    /// `into += Σ w (x − mean)(x − mean)ᵀ` over some rows, each around the mean of its own group;
    /// only the lower triangle of the row-major square is touched.
    ///
    /// Columns that stand still in a panel add nothing and are left out of its product: a pixel at the rim,
    /// a word that a class never uses. So rows of one group should come together.
    pub fn add_scatter(&self, places: impl Iterator<Item = usize>, into: &mut [f64]) {
        let width = self.width;
        let (mut seen, mut thin, mut square) = (vec![0.0; width], Vec::new(), Vec::new());
        self.each_panel(places, |panel, _| {
            seen.fill(0.0);
            for row in panel.chunks_exact(width) {
                seen.iter_mut().zip(row).for_each(|(seen, v)| *seen += v.abs());
            }
            let moving: Vec<usize> = (0..width).filter(|j| seen[*j] != 0.0).collect();
            let n = moving.len();
            if n * WORTH_LEAVING_OUT.1 > width * WORTH_LEAVING_OUT.0 {
                return add_gram(panel, width, into);
            }
            thin.clear();
            for row in panel.chunks_exact(width) {
                thin.extend(moving.iter().map(|j| row[*j]));
            }
            square.clear();
            square.resize(n * n, 0.0);
            add_gram(&thin, n, &mut square);
            for (row, i) in square.chunks_exact(n.max(1)).zip(&moving) {
                let into = &mut into[i * width..];
                moving
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
        places: impl Iterator<Item = usize>,
        mut visit: impl FnMut(&[f64], &[f64]),
    ) {
        let mut panel = vec![0.0; PANEL * self.width];
        let mut roots = Vec::with_capacity(PANEL);
        let mut group = None;
        for i in places {
            let w = self.weights.get(i).copied().unwrap_or(1.0);
            // A row that weighs nothing says nothing, even where its square is infinite.
            if w == 0.0 {
                continue;
            }
            if group.replace(self.slots[i]) != Some(self.slots[i]) && roots.len() >= ENOUGH {
                visit(&panel[..roots.len() * self.width], &roots);
                roots.clear();
            }
            let start = roots.len() * self.width;
            let row = &mut panel[start..start + self.width];
            self.write(i, row);
            let mean = self.means.row(self.slots[i] as usize);
            let mean = mean.to_slice().expect("means are row-major");
            let root = w.sqrt();
            row.iter_mut().zip(mean).for_each(|(x, m)| *x = (*x - m) * root);
            roots.push(root);
            if roots.len() == PANEL {
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
