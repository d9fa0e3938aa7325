//! Weighted counts of the categories of each column by group.
//!
//! A category is a code, an integer from zero. A column has as many codes as its largest observed code requires, so a
//! summary is enlarged if a later batch has a larger one.

use super::Grouped;
use super::counts::{subtract_count, widened};
use crate::error::{Error, Result};
use mercer_num::{Matrix, Rows};
use ndarray::{Axis, Slice};
use serde::{Deserialize, Serialize};

/// The largest code. A larger value is unlikely to be a category, and its counts would take too much memory.
pub const LARGEST_CODE: usize = (1 << 24) - 1;

/// Weighted counts of codes: one matrix per column, with one row per group and one column per code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryCounts {
    /// The number of groups.
    n_groups: usize,
    /// `Σ w` over the rows of a group with a code. The last code of a column has a positive count.
    pub counts: Vec<Matrix>,
}

impl CategoryCounts {
    /// Counts the codes of rows; `group_of_row[i]` is the group of row `i`. Missing cells are skipped.
    ///
    /// # Errors
    /// [`Error::NotACategory`] with the first invalid cell.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<CategoryCounts> {
        let width = rows.n_columns();
        let mut n_codes = vec![0; width];
        each_code(rows, |_, j, code| n_codes[j] = code.max(n_codes[j]))?;
        // One flat table per column, so that the inner loop computes the index of a counter without a division.
        let mut flat: Vec<Vec<f64>> =
            n_codes.iter().map(|last| vec![0.0; n_groups * (last + 1)]).collect();
        each_code(rows, |i, j, code| {
            let weight = weights.get(i).copied().unwrap_or(1.0);
            flat[j][group_of_row[i] as usize * (n_codes[j] + 1) + code] += weight;
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

    /// The counts of a column, with zeros up to a minimum number of codes.
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

/// The code of a cell; `None` if it is missing.
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

/// The error of a cell that is not a category.
pub(crate) fn not_a_category(row: usize, column: usize, value: f64) -> Error {
    if value.is_finite() {
        Error::NotACategory { row, column, value }
    } else {
        Error::NotFinite { row, column, value }
    }
}

/// Removes trailing codes without a positive count, so that rows of weight zero and removed rows leave no trace.
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
        for (j, (counts, removed)) in self.counts.iter_mut().zip(&other.counts).enumerate() {
            for (code, removed) in removed.row(theirs).iter().enumerate().filter(|(_, n)| **n > 0.0)
            {
                let why = || format!("column {} has no such count of code {code}", j + 1);
                let count =
                    counts.get_mut([mine, code]).ok_or_else(|| Error::Forget { why: why() })?;
                *count =
                    subtract_count(*count, *removed).ok_or_else(|| Error::Forget { why: why() })?;
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
        if fits { Ok(()) } else { Err(Error::File("inconsistent category counts".into())) }
    }
}
