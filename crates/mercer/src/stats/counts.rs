//! Weighted sums of cells, one row a group and one column a feature: how often each word occurs in
//! each class.

use crate::error::{Error, Result};
use crate::stats::Grouped;
use mercer_num::memory::zeros;
use mercer_num::{Matrix, Rows, SharedMatrix, SparseView};
use ndarray::{Axis, Slice};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What a cell counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// Its number, which is finite and not negative.
    Number,
    /// One if its number is above this, else zero.
    Above(f64),
    /// Its number, which is zero or one.
    Bit,
}

impl Count {
    /// What a number counts; `None` if it is no count.
    #[inline]
    pub fn of(self, x: f64) -> Option<f64> {
        match self {
            Count::Number => (0.0..=f64::MAX).contains(&x).then_some(x),
            Count::Above(least) => x.is_finite().then(|| f64::from(u8::from(x > least))),
            Count::Bit => (x == 0.0 || x == 1.0).then_some(x),
        }
    }

    /// What the cells of a row count, if all of them do and nothing has to be picked out: the numbers
    /// as they are, or `ones`, which must be as many at least.
    pub fn as_stored<'v>(self, values: &'v [f64], ones: &'v [f64]) -> Option<&'v [f64]> {
        // No branch for each cell, as all are mostly well.
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
    /// `Σ w x`; a model may hold the same table without a copy of it.
    pub sums: SharedMatrix,
}

impl Counts {
    /// Sums what each cell counts; `slots[i]` is the group of row `i`.
    ///
    /// # Errors
    /// The first cell that is no count, as [`Error::NotACount`] or [`Error::NotFinite`].
    pub fn of_rows(
        rows: &Rows<'_>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
        count: Count,
    ) -> Result<Counts> {
        let sums = match rows {
            Rows::Sparse(x) => {
                on_cells(x, count, |x| sparse_sums(x, slots, weights, n_groups, count))?
            }
            _ => dense_sums(rows, slots, weights, n_groups, count)?,
        };
        Ok(Counts { sums: sums.into_shared() })
    }
}

fn weight(weights: &[f64], i: usize) -> f64 {
    weights.get(i).copied().unwrap_or(1.0)
}

fn dense_sums(
    rows: &Rows<'_>,
    slots: &[u32],
    weights: &[f64],
    n_groups: usize,
    count: Count,
) -> Result<Matrix> {
    let width = rows.n_columns();
    let mut out = Matrix::zeros((n_groups, width));
    let Some(block) = rows.block(0..rows.n_rows()).filter(|_| width > 0) else { return Ok(out) };
    let sums = out.as_slice_mut().expect("a fresh matrix is contiguous");
    for (i, (row, slot)) in block.chunks_exact(width).zip(slots).enumerate() {
        let sums = &mut sums[*slot as usize * width..(*slot as usize + 1) * width];
        let w = weight(weights, i);
        for (j, (x, sum)) in row.iter().zip(sums).enumerate() {
            *sum += w * count.of(*x).ok_or_else(|| not_a_count(i, j, *x))?;
        }
    }
    Ok(out)
}

/// A group is one thread's, which adds its rows in their order: threads share no sum, and the
/// sums of one group stay in cache.
fn sparse_sums(
    x: &SparseView<'_>,
    slots: &[u32],
    weights: &[f64],
    n_groups: usize,
    count: Count,
) -> Result<Matrix> {
    let shape = (n_groups, x.n_columns());
    let mut sums = zeros(shape.0 * shape.1);
    let mut rows_of = vec![Vec::new(); n_groups];
    slots.iter().enumerate().for_each(|(i, slot)| rows_of[*slot as usize].push(i));
    let bad_cell = sums
        .par_chunks_mut(x.n_columns().max(1))
        .zip(&rows_of)
        .filter_map(|(sums, rows)| {
            let mut ones = Vec::new();
            rows.iter().enumerate().find_map(|(k, i)| {
                // The rows of a group lie apart, so the machine does not foresee the next one.
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
        .min_by_key(|(i, ..)| *i);
    match bad_cell {
        Some((i, j, v)) => Err(not_a_count(i, j, v)),
        None => Ok(Matrix::from_shape_vec(shape, sums).expect("as many sums as asked for")),
    }
}

/// Does something with the cells of sparse rows, which may be stored in parts. Numbers add up by
/// themselves; where the whole must be seen, or a part is no count by itself, cells are put together
/// first.
///
/// # Errors
/// As `work`. A zero that counts is refused in sparse rows, which do not store it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn sums(parts: (&[usize], &[i32], &[f64]), count: Count) -> Result<SharedMatrix> {
        let x = SparseView::try_new(3, parts.0, parts.1, parts.2).unwrap();
        let slots: Vec<u32> = (0..x.n_rows() as u32).map(|i| (i + 1) % 2).collect();
        Counts::of_rows(&Rows::Sparse(x), &slots, &[], 2, count).map(|counts| counts.sums)
    }

    #[test]
    fn parts_of_a_cell_count_together() {
        // [[3, 0, 1], [0, 4, 0], [0, 0, 2]] in groups 1, 0, 1; the 3 is 5 - 2 and the 4 is 0.5 + 3.5.
        let parts: (&[usize], &[i32], &[f64]) =
            (&[0, 3, 5, 6], &[0, 2, 0, 1, 1, 2], &[5.0, 1.0, -2.0, 0.5, 3.5, 2.0]);

        assert_eq!(sums(parts, Count::Number).unwrap(), array![[0.0, 4.0, 0.0], [3.0, 0.0, 3.0]]);
        assert_eq!(sums(parts, Count::Above(3.5)).unwrap(), array![[0.0, 1.0, 0.0], [0.0; 3]]);
    }

    #[test]
    fn the_first_row_with_a_bad_cell_is_named_whatever_its_group() {
        let parts: (&[usize], &[i32], &[f64]) =
            (&[0, 1, 3, 4, 5], &[0, 2, 1, 0, 1], &[1.0, 1.0, -3.0, -4.0, -5.0]);

        let error = sums(parts, Count::Number).unwrap_err();

        assert_eq!(error, Error::NotACount { row: 1, column: 1, value: -3.0 });
    }
}
