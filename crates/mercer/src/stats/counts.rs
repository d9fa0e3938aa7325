//! Weighted sums of cells, one row a group and one column a feature: how often each word occurs in
//! each class.

use crate::error::{Error, Result};
use crate::stats::Grouped;
use mercer_num::{Matrix, Rows};
use ndarray::{Axis, Slice};
use serde::{Deserialize, Serialize};

/// The weighted sum of every group and column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// `Σ w x`.
    pub sums: Matrix,
}

impl Counts {
    /// Sums what `count` makes of each cell; `slots[i]` is the group of row `i`.
    ///
    /// # Errors
    /// The first cell for which `count` has no answer, as [`Error::NotACount`] or [`Error::NotFinite`].
    pub fn of_rows(
        rows: &Rows<'_>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
        count: impl Fn(f64) -> Option<f64>,
    ) -> Result<Counts> {
        let width = rows.n_columns();
        let mut out = Counts::empty(n_groups, width);
        let sums = out.sums.as_slice_mut().expect("a fresh matrix is contiguous");
        for_each_count(rows, count, |i, j, n| {
            let w = weights.get(i).copied().unwrap_or(1.0);
            sums[slots[i] as usize * width + j] += w * n;
        })?;
        Ok(out)
    }
}

/// Visits every cell that counts something, row by row, and no cell twice.
///
/// # Errors
/// The first cell for which `count` has no answer. A zero that counts is refused in sparse rows,
/// which do not store it.
pub(crate) fn for_each_count(
    rows: &Rows<'_>,
    count: impl Fn(f64) -> Option<f64>,
    mut visit: impl FnMut(usize, usize, f64),
) -> Result<()> {
    if let Rows::Sparse(x) = rows {
        if count(0.0) != Some(0.0) {
            return Err(Error::Parameter {
                name: "binarize".into(),
                found: "below zero".into(),
                expected: "at least zero for sparse rows, whose zeros are not stored".into(),
            });
        }
        for (i, row) in x.outer_iterator().enumerate() {
            for (j, value) in row.indices().iter().zip(row.data()) {
                match count(*value) {
                    Some(n) => visit(i, *j as usize, n),
                    None => return Err(not_a_count(i, *j as usize, *value)),
                }
            }
        }
        return Ok(());
    }
    let width = rows.n_columns();
    let Some(block) = rows.block(0..rows.n_rows()).filter(|_| width > 0) else { return Ok(()) };
    for (i, row) in block.chunks_exact(width).enumerate() {
        for (j, value) in row.iter().enumerate() {
            match count(*value) {
                Some(0.0) => {}
                Some(n) => visit(i, j, n),
                None => return Err(not_a_count(i, j, *value)),
            }
        }
    }
    Ok(())
}

/// What is left of a count; nothing if there was less to begin with.
pub(crate) fn take_away(count: f64, gone: f64) -> Option<f64> {
    let left = count - gone;
    // What is left of fractions that cancel is rounding, not a count.
    (left >= -1e-9 * gone).then_some(if left <= 1e-12 * gone { 0.0 } else { left })
}

/// The same counts with zeros behind, so that there are at least so many columns.
pub(crate) fn widened(counts: &Matrix, n_columns: usize) -> Matrix {
    let mut wide = Matrix::zeros((counts.nrows(), n_columns.max(counts.ncols())));
    wide.slice_axis_mut(Axis(1), Slice::from(..counts.ncols())).assign(counts);
    wide
}

/// Why a cell counts nothing.
pub(crate) fn not_a_count(row: usize, column: usize, value: f64) -> Error {
    if value.is_finite() {
        Error::NotACount { row, column, value }
    } else {
        Error::NotFinite { row, column, value }
    }
}

impl Grouped for Counts {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        Counts { sums: Matrix::zeros((n_groups, n_columns)) }
    }

    fn shape(&self) -> (usize, usize) {
        self.sums.dim()
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        let mut sums = self.sums.row_mut(mine);
        sums += &other.sums.row(theirs);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        for (j, (sum, gone)) in
            self.sums.row_mut(mine).iter_mut().zip(other.sums.row(theirs)).enumerate()
        {
            *sum = take_away(*sum, *gone).ok_or_else(|| Error::Forget {
                why: format!("column {} was counted {sum} times, asked to lose {gone}", j + 1),
            })?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.sums.iter().all(|s| s.is_finite() && *s >= 0.0) {
            Ok(())
        } else {
            Err(Error::File("counts that no rows could have".into()))
        }
    }
}
