//! How often each category of each column occurs in each group.
//!
//! A category is a code: a whole number from zero. Columns have as many codes as were seen, so a
//! summary widens when a later batch shows a larger one.

use super::Grouped;
use super::counts::{take_away, widened};
use crate::error::{Error, Result};
use mercer_num::{Matrix, Rows};
use ndarray::{Axis, Slice};
use serde::{Deserialize, Serialize};

/// The largest code there may be. A number beyond it is hardly the place of a word in a list, and
/// counting it would take that much memory.
pub const LARGEST_CODE: usize = (1 << 24) - 1;

/// Weighted counts of codes: a matrix a column, one row a group and one column a code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryCounts {
    /// How many groups there are.
    n_groups: usize,
    /// `Σ w` over the rows of a group with a code; the last code of a column occurs somewhere.
    pub counts: Vec<Matrix>,
}

impl CategoryCounts {
    /// Counts the codes of rows; `slots[i]` is the group of row `i`, missing cells are skipped.
    ///
    /// # Errors
    /// [`Error::NotACategory`] with the first cell that is no code.
    pub fn of_rows(
        rows: &Rows<'_>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<CategoryCounts> {
        let width = rows.n_columns();
        let mut n_codes = vec![0; width];
        each_code(rows, |_, j, code| n_codes[j] = code.max(n_codes[j]))?;
        // One flat table a column, so that the loop over cells finds its counter by adding.
        let mut flat: Vec<Vec<f64>> =
            n_codes.iter().map(|last| vec![0.0; n_groups * (last + 1)]).collect();
        each_code(rows, |i, j, code| {
            let weight = weights.get(i).copied().unwrap_or(1.0);
            flat[j][slots[i] as usize * (n_codes[j] + 1) + code] += weight;
        })?;
        let counts = flat
            .into_iter()
            .zip(n_codes)
            .map(|(cells, last)| {
                trimmed(
                    Matrix::from_shape_vec((n_groups, last + 1), cells)
                        .expect("the table was made with this shape"),
                )
            })
            .collect();
        Ok(CategoryCounts { n_groups, counts })
    }

    /// The counts of a column with at least so many codes.
    pub fn column(&self, j: usize, n_codes: usize) -> Matrix {
        widened(&self.counts[j], n_codes)
    }
}

/// Visits every cell that is not missing, row by row.
fn each_code(rows: &Rows<'_>, mut visit: impl FnMut(usize, usize, usize)) -> Result<()> {
    let width = rows.n_columns();
    let mut row_of = |i: usize, row: &[f64]| {
        for (j, x) in row.iter().enumerate() {
            match as_code(*x) {
                Ok(Some(code)) if code <= LARGEST_CODE => visit(i, j, code),
                Ok(None) => {}
                Ok(Some(_)) | Err(()) => return Err(not_a_category(i, j, *x)),
            }
        }
        Ok(())
    };
    match rows.block(0..rows.n_rows()).filter(|_| width > 0) {
        Some(block) => {
            block.chunks_exact(width).enumerate().try_for_each(|(i, row)| row_of(i, row))
        }
        None if width == 0 => Ok(()),
        None => (0..rows.n_rows()).try_for_each(|i| row_of(i, &rows.row(i))),
    }
}

/// The code a cell stands for, nothing if it is missing.
#[inline]
pub(crate) fn as_code(x: f64) -> std::result::Result<Option<usize>, ()> {
    let code = x as u32;
    if f64::from(code) == x {
        return Ok(Some(code as usize));
    }
    if x.is_nan() {
        return Ok(None);
    }
    if x >= 0.0 && x.fract() == 0.0 { Ok(Some(x as usize)) } else { Err(()) }
}

/// Why a cell is no category.
pub(crate) fn not_a_category(row: usize, column: usize, value: f64) -> Error {
    if value.is_finite() {
        Error::NotACategory { row, column, value }
    } else {
        Error::NotFinite { row, column, value }
    }
}

/// Without the codes at the end that nobody has: what is left after forgetting, or of rows that
/// weigh nothing, is what was never there.
fn trimmed(counts: Matrix) -> Matrix {
    let used = counts
        .columns()
        .into_iter()
        .rposition(|column| column.iter().any(|n| *n > 0.0))
        .map_or(0, |last| last + 1);
    if used == counts.ncols() {
        return counts;
    }
    counts.slice_axis(Axis(1), Slice::from(..used)).to_owned()
}

impl Grouped for CategoryCounts {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        CategoryCounts { n_groups, counts: vec![Matrix::zeros((n_groups, 0)); n_columns] }
    }

    fn shape(&self) -> (usize, usize) {
        (self.n_groups, self.counts.len())
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        for (counts, more) in self.counts.iter_mut().zip(&other.counts) {
            if counts.ncols() < more.ncols() {
                *counts = widened(counts, more.ncols());
            }
            counts.row_mut(mine).iter_mut().zip(more.row(theirs)).for_each(|(a, b)| *a += b);
        }
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        for (j, (counts, gone)) in self.counts.iter_mut().zip(&other.counts).enumerate() {
            for (code, gone) in gone.row(theirs).iter().enumerate().filter(|(_, n)| **n > 0.0) {
                let why = || format!("column {} never had code {code}", j + 1);
                let count =
                    counts.get_mut([mine, code]).ok_or_else(|| Error::Forget { why: why() })?;
                *count = take_away(*count, *gone).ok_or_else(|| Error::Forget { why: why() })?;
            }
            *counts = trimmed(std::mem::take(counts));
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let fits = self.counts.iter().all(|counts| {
            counts.nrows() == self.n_groups
                && counts.ncols() <= LARGEST_CODE + 1
                && counts.iter().all(|n| n.is_finite() && *n >= 0.0)
        });
        if fits { Ok(()) } else { Err(Error::File("counts that no rows could have".into())) }
    }
}
