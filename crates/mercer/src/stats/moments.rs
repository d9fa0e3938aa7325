//! Weights, means and centered sums of squares: one row per group and one column per feature.
//!
//! Two summaries are merged by the pairwise update of Chan, Golub & LeVeque (1979), `S = Sₐ + S_b + δ² wₐw_b / w` with
//! `δ = m_b − mₐ`, which does not cancel for large means. A chunk is summarized in two passes: means first, then
//! squares around them.

use crate::error::{Error, Result};
use crate::stats::Grouped;
use mercer_num::rows::Missing;
use mercer_num::simd::{add_centered_squares, add_rows};
use mercer_num::{Matrix, Rows, SparseView};
use serde::{Deserialize, Serialize};

/// A weight below this fraction of the total is the rounding error of a subtraction.
const RELATIVE_RESIDUE: f64 = 1e-12;

/// Weight, mean and centered squares of every group and column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moments {
    /// Weight of the cells that are not missing.
    pub weights: Matrix,
    /// Their weighted mean; zero if there is no weight.
    pub means: Matrix,
    /// `Σ w (x − mean)²`.
    pub squares: Matrix,
}

impl Moments {
    /// Summarizes rows; `group_of_row[i]` is the group of row `i`. Missing cells are skipped.
    ///
    /// # Errors
    /// If a cell is infinite.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        group_weights: &[f64],
    ) -> Result<Moments> {
        if let Rows::Sparse(x) = rows {
            let whole = x.sum_duplicates();
            return Moments::of_sparse(&whole.view(), group_of_row, weights, group_weights)
                .map_err(|()| bad_cell(&Rows::Sparse(whole.view())));
        }
        let (n, width) = (rows.n_rows(), rows.n_columns());
        let mut out = Moments::empty(group_weights.len(), width);
        let Some(block) = rows.block(0..n).filter(|_| width > 0) else { return Ok(out) };
        add_rows(&block, width, group_of_row, weights, slice(&mut out.means));
        let whole = out.means.iter().all(|s| s.is_finite());
        if whole {
            for (g, total) in group_weights.iter().enumerate() {
                out.weights.row_mut(g).fill(*total);
            }
        } else {
            out.sum_present_cells(&block, group_of_row, weights).map_err(|()| bad_cell(rows))?;
        }
        out.divide_sums();
        if whole {
            add_centered_squares(
                &block,
                width,
                group_of_row,
                weights,
                slice(&mut out.means),
                slice(&mut out.squares),
            );
        } else {
            out.square_present_cells(&block, group_of_row, weights);
        }
        Ok(out)
    }

    /// Sums the cells that are not missing. Fails on an infinite cell.
    fn sum_present_cells(
        &mut self,
        block: &[f64],
        group_of_row: &[u32],
        weights: &[f64],
    ) -> std::result::Result<(), ()> {
        let width = self.means.ncols();
        self.means.fill(0.0);
        for (i, (row, group)) in block.chunks_exact(width).zip(group_of_row).enumerate() {
            let w = weights.get(i).copied().unwrap_or(1.0);
            for (j, x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
                if x.is_infinite() {
                    return Err(());
                }
                self.weights[[*group as usize, j]] += w;
                self.means[[*group as usize, j]] += w * x;
            }
        }
        Ok(())
    }

    fn square_present_cells(&mut self, block: &[f64], group_of_row: &[u32], weights: &[f64]) {
        let width = self.means.ncols();
        for (i, (row, group)) in block.chunks_exact(width).zip(group_of_row).enumerate() {
            let w = weights.get(i).copied().unwrap_or(1.0);
            for (j, x) in row.iter().enumerate().filter(|(_, x)| w > 0.0 && !x.is_nan()) {
                let at = [*group as usize, j];
                let d = x - self.means[at];
                self.squares[at] += w * (d * d);
            }
        }
    }

    /// Summarizes sparse rows without duplicate cells. Zeros are not visited: they contribute `(weight of zeros) ·
    /// mean²` to the squares. Fails on an infinite cell.
    fn of_sparse(
        x: &SparseView<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        group_weights: &[f64],
    ) -> std::result::Result<Moments, ()> {
        let mut out = Moments::empty(group_weights.len(), x.n_columns());
        let mut stored = Matrix::zeros(out.means.raw_dim());
        for (g, total) in group_weights.iter().enumerate() {
            out.weights.row_mut(g).fill(*total);
        }
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        for (i, ((columns, values), group)) in x.iter().zip(group_of_row).enumerate() {
            for (j, v) in columns.iter().zip(values) {
                let at = [*group as usize, *j as usize];
                if v.is_infinite() {
                    return Err(());
                } else if v.is_nan() {
                    out.weights[at] -= weight(i);
                } else {
                    out.means[at] += weight(i) * v;
                    stored[at] += weight(i);
                }
            }
        }
        // If all cells are missing, the subtraction leaves a rounding residue of either sign.
        for ((g, _), w) in out.weights.indexed_iter_mut() {
            if *w <= RELATIVE_RESIDUE * group_weights[g] {
                *w = 0.0;
            }
        }
        out.divide_sums();
        for (i, ((columns, values), group)) in x.iter().zip(group_of_row).enumerate() {
            let cells = columns.iter().zip(values);
            for (j, v) in cells.filter(|(_, v)| weight(i) > 0.0 && !v.is_nan()) {
                let at = [*group as usize, *j as usize];
                let d = v - out.means[at];
                out.squares[at] += weight(i) * (d * d);
            }
        }
        for (at, s) in out.squares.indexed_iter_mut() {
            *s += (out.weights[at] - stored[at]).max(0.0) * out.means[at] * out.means[at];
        }
        Ok(out)
    }

    /// Divides sums by weights; the mean of a group without weight is zero.
    fn divide_sums(&mut self) {
        self.means.zip_mut_with(&self.weights, |m, w| *m = if *w > 0.0 { *m / w } else { 0.0 });
    }

    /// The moments of all groups combined.
    pub fn pooled(&self) -> Moments {
        let mut total = Moments::empty(1, self.means.ncols());
        for g in 0..self.means.nrows() {
            total.merge_group(0, self, g);
        }
        total
    }

    /// Variances with the divisor `weight − less`; zero if it is not positive.
    pub fn variances(&self, less: f64) -> Matrix {
        let mut out = self.squares.clone();
        out.zip_mut_with(&self.weights, |s, w| *s = if *w > less { *s / (w - less) } else { 0.0 });
        out
    }
}

impl Grouped for Moments {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        let zeros = Matrix::zeros((n_groups, n_columns));
        Moments { weights: zeros.clone(), means: zeros.clone(), squares: zeros }
    }

    fn shape(&self) -> (usize, usize) {
        self.means.dim()
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        for j in 0..self.means.ncols() {
            let (a, b) = ([mine, j], [theirs, j]);
            let (wa, wb) = (self.weights[a], other.weights[b]);
            if wb == 0.0 {
                continue;
            }
            let w = wa + wb;
            let d = other.means[b] - self.means[a];
            self.weights[a] = w;
            self.means[a] += d * (wb / w);
            self.squares[a] += other.squares[b] + d * d * (wa / w) * wb;
        }
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        for j in 0..self.means.ncols() {
            let (a, b) = ([mine, j], [theirs, j]);
            let (w, wb) = (self.weights[a], other.weights[b]);
            let left = w - wb;
            if left < -RELATIVE_RESIDUE * w.max(wb) {
                return Err(Error::Forget {
                    why: format!(
                        "column {} has weight {w}, which is less than the {wb} to remove",
                        j + 1
                    ),
                });
            }
            if left <= RELATIVE_RESIDUE * w {
                (self.weights[a], self.means[a], self.squares[a]) = (0.0, 0.0, 0.0);
                continue;
            }
            let mean = self.means[a] + (self.means[a] - other.means[b]) * (wb / left);
            let d = other.means[b] - mean;
            let squares = self.squares[a] - other.squares[b] - d * d * (left / w) * wb;
            if squares < -1e-6 * self.squares[a] {
                return Err(Error::Forget {
                    why: format!(
                        "column {} would have a negative variance: these rows were not part of the training data",
                        j + 1
                    ),
                });
            }
            self.weights[a] = left;
            self.means[a] = mean;
            self.squares[a] = squares.max(0.0);
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let shape = self.means.dim();
        let fits = self.weights.dim() == shape
            && self.squares.dim() == shape
            && self.means.iter().all(|m| m.is_finite())
            && self.weights.iter().chain(&self.squares).all(|v| v.is_finite() && *v >= 0.0);
        if fits { Ok(()) } else { Err(Error::File("inconsistent moments".into())) }
    }
}

fn bad_cell(rows: &Rows<'_>) -> Error {
    let (row, column) = rows.first_invalid_cell(Missing::Allowed).unwrap_or((0, 0));
    Error::NotFinite { row, column, value: rows.get(row, column) }
}

/// The cells of a row-major matrix.
fn slice(m: &mut Matrix) -> &mut [f64] {
    m.as_slice_mut().expect("matrices made here are contiguous")
}
