//! Weighted sums of cells: one row per group and one column per feature, for example the count of each term in each
//! class.

use crate::error::{Error, Result};
use crate::stats::Grouped;
use mercer_num::memory::zeros;
use mercer_num::parallel::prelude::*;
use mercer_num::{Matrix, Rows, SharedMatrix, SparseView};
use ndarray::{Axis, Slice};
use serde::{Deserialize, Serialize};

/// How a cell is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// By its value, which is finite and not negative.
    Number,
    /// As one if its value is above this threshold, else as zero.
    Above(f64),
    /// By its value, which is zero or one.
    Bit,
}

impl Count {
    /// The count of a value; `None` if the value is not valid.
    #[inline]
    pub fn of(self, x: f64) -> Option<f64> {
        match self {
            Count::Number => (0.0..=f64::MAX).contains(&x).then_some(x),
            Count::Above(least) => x.is_finite().then(|| f64::from(u8::from(x > least))),
            Count::Bit => (x == 0.0 || x == 1.0).then_some(x),
        }
    }

    /// The counts of a row's stored values if all of them count: the values themselves, or `ones`, which has at least
    /// as many entries.
    pub fn as_stored<'v>(self, values: &'v [f64], ones: &'v [f64]) -> Option<&'v [f64]> {
        // Without a branch per cell, because nearly all cells are valid.
        let every = |fits: fn(Option<f64>) -> bool| {
            values.iter().fold(true, |all, v| all & fits(self.of(*v)))
        };
        match self {
            Count::Number => every(|n| n.is_some()).then_some(values),
            Count::Above(_) | Count::Bit => {
                every(|n| n == Some(1.0)).then(|| &ones[..values.len()])
            }
        }
    }
}

/// The weighted sum of every group and column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// `Σ w x`. A model may share this table without a copy.
    pub sums: SharedMatrix,
}

impl Counts {
    /// Sums the counts of cells; `group_of_row[i]` is the group of row `i`.
    ///
    /// # Errors
    /// [`Error::NotACount`] or [`Error::NotFinite`] with the first invalid cell.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        n_groups: usize,
        count: Count,
    ) -> Result<Counts> {
        let sums = match rows {
            Rows::Sparse(x) => {
                on_cells(x, count, |x| sparse_sums(x, group_of_row, weights, n_groups, count))?
            }
            _ => dense_sums(rows, group_of_row, weights, n_groups, count)?,
        };
        Ok(Counts { sums: sums.into_shared() })
    }
}

fn weight(weights: &[f64], i: usize) -> f64 {
    weights.get(i).copied().unwrap_or(1.0)
}

fn dense_sums(
    rows: &Rows<'_>,
    group_of_row: &[u32],
    weights: &[f64],
    n_groups: usize,
    count: Count,
) -> Result<Matrix> {
    let width = rows.n_columns();
    let mut out = Matrix::zeros((n_groups, width));
    let Some(block) = rows.block(0..rows.n_rows()).filter(|_| width > 0) else { return Ok(out) };
    let sums = out.as_slice_mut().expect("a fresh matrix is contiguous");
    for (i, (row, group)) in block.chunks_exact(width).zip(group_of_row).enumerate() {
        let sums = &mut sums[*group as usize * width..(*group as usize + 1) * width];
        let w = weight(weights, i);
        for (j, (x, sum)) in row.iter().zip(sums).enumerate() {
            *sum += w * count.of(*x).ok_or_else(|| not_a_count(i, j, *x))?;
        }
    }
    Ok(out)
}

/// Each group belongs to one thread, which adds its rows in their order, so that the result does not depend on the
/// number of threads and the sums of a group stay in cache.
fn sparse_sums(
    x: &SparseView<'_>,
    group_of_row: &[u32],
    weights: &[f64],
    n_groups: usize,
    count: Count,
) -> Result<Matrix> {
    let shape = (n_groups, x.n_columns());
    let mut sums = zeros(shape.0 * shape.1);
    let mut rows_of = vec![Vec::new(); n_groups];
    group_of_row.iter().enumerate().for_each(|(i, group)| rows_of[*group as usize].push(i));
    let bad_cells: Vec<Option<(usize, usize, f64)>> = sums
        .par_chunks_mut(x.n_columns().max(1))
        .zip(&rows_of)
        .map(|(sums, rows)| {
            let mut ones = Vec::new();
            rows.iter().enumerate().find_map(|(k, i)| {
                // The rows of a group are not adjacent, so the processor does not prefetch the next one by itself.
                rows.get(k + 2).inspect(|next| x.prefetch_row(**next));
                let (columns, values) = x.row(*i);
                let w = weight(weights, *i);
                ones.resize(ones.len().max(values.len()), 1.0);
                if let Some(counts) = count.as_stored(values, &ones) {
                    columns.iter().zip(counts).for_each(|(j, n)| sums[*j as usize] += w * n);
                    return None;
                }
                columns.iter().zip(values).find_map(|(j, v)| {
                    let Some(n) = count.of(*v) else { return Some((*i, *j as usize, *v)) };
                    sums[*j as usize] += w * n;
                    None
                })
            })
        })
        .collect();
    match bad_cells.into_iter().flatten().min_by_key(|(i, ..)| *i) {
        Some((i, j, v)) => Err(not_a_count(i, j, v)),
        None => Ok(Matrix::from_shape_vec(shape, sums).expect("one sum per group and column")),
    }
}

/// Runs `work` on sparse rows whose cells may be stored in several parts. Parts of plain sums need no preparation; if
/// the total decides, or a part alone is not valid, duplicates are summed first.
///
/// # Errors
/// The errors of `work`, and a threshold for which unstored zeros would count.
pub(crate) fn on_cells<T>(
    x: &SparseView<'_>,
    count: Count,
    mut work: impl FnMut(&SparseView<'_>) -> Result<T>,
) -> Result<T> {
    if count.of(0.0) != Some(0.0) {
        return Err(Error::Parameter {
            name: "binarize".into(),
            found: "below zero".into(),
            expected: "at least zero for sparse rows, whose zeros are not stored".into(),
        });
    }
    if count == Count::Number
        && let Ok(done) = work(x)
    {
        return Ok(done);
    }
    work(&x.sum_duplicates().view())
}

/// The difference of two counts; `None` if the first is smaller.
pub(crate) fn subtract_count(count: f64, removed: f64) -> Option<f64> {
    let left = count - removed;
    // The residue of weights that cancel is rounding error, not a count.
    (left >= -1e-9 * removed).then_some(if left <= 1e-12 * removed { 0.0 } else { left })
}

/// The counts with columns of zeros appended up to a minimum number.
pub(crate) fn widened(counts: &Matrix, n_columns: usize) -> Matrix {
    let mut wide = Matrix::zeros((counts.nrows(), n_columns.max(counts.ncols())));
    wide.slice_axis_mut(Axis(1), Slice::from(..counts.ncols())).assign(counts);
    wide
}

/// The error of a cell that is not a valid count.
pub(crate) fn not_a_count(row: usize, column: usize, value: f64) -> Error {
    if value.is_finite() {
        Error::NotACount { row, column, value }
    } else {
        Error::NotFinite { row, column, value }
    }
}

impl Grouped for Counts {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        Counts { sums: SharedMatrix::zeros((n_groups, n_columns)) }
    }

    fn shape(&self) -> (usize, usize) {
        self.sums.dim()
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        let mut sums = self.sums.row_mut(mine);
        sums += &other.sums.row(theirs);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        for (j, (sum, removed)) in
            self.sums.row_mut(mine).iter_mut().zip(other.sums.row(theirs)).enumerate()
        {
            *sum = subtract_count(*sum, *removed).ok_or_else(|| Error::Forget {
                why: format!(
                    "column {} has the count {sum}, which is less than the {removed} to remove",
                    j + 1
                ),
            })?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.sums.iter().all(|s| s.is_finite() && *s >= 0.0) {
            Ok(())
        } else {
            Err(Error::File("inconsistent counts".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn sums(parts: (&[usize], &[i32], &[f64]), count: Count) -> Result<SharedMatrix> {
        let x = SparseView::try_new(3, parts.0, parts.1, parts.2).unwrap();
        let group_of_row: Vec<u32> = (0..x.n_rows() as u32).map(|i| (i + 1) % 2).collect();
        Counts::of_rows(&Rows::Sparse(x), &group_of_row, &[], 2, count).map(|counts| counts.sums)
    }

    #[test]
    fn parts_of_a_cell_are_summed() {
        // [[3, 0, 1], [0, 4, 0], [0, 0, 2]] in groups 1, 0, 1; the 3 is 5 - 2 and the 4 is 0.5 + 3.5.
        let parts: (&[usize], &[i32], &[f64]) =
            (&[0, 3, 5, 6], &[0, 2, 0, 1, 1, 2], &[5.0, 1.0, -2.0, 0.5, 3.5, 2.0]);

        assert_eq!(sums(parts, Count::Number).unwrap(), array![[0.0, 4.0, 0.0], [3.0, 0.0, 3.0]]);
        assert_eq!(sums(parts, Count::Above(3.5)).unwrap(), array![[0.0, 1.0, 0.0], [0.0; 3]]);
    }

    #[test]
    fn the_error_names_the_first_invalid_row_of_all_groups() {
        let parts: (&[usize], &[i32], &[f64]) =
            (&[0, 1, 3, 4, 5], &[0, 2, 1, 0, 1], &[1.0, 1.0, -3.0, -4.0, -5.0]);

        let error = sums(parts, Count::Number).unwrap_err();

        assert_eq!(error, Error::NotACount { row: 1, column: 1, value: -3.0 });
    }
}
