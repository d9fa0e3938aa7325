//! Weighted counts of the distinct rows of categorical columns by group, the sufficient statistics of a Bayesian
//! network over them.
//!
//! Unlike other summaries, this one grows with the number of distinct rows, and the rows can be read from it.

use super::counts::subtract_count;
use super::{Grouped, LARGEST_CODE, category, not_a_category};
use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::parallel::Layout;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The code of a missing cell.
const MISSING_CODE: u32 = u32::MAX;
/// Maximum number of cells.
const MAX_CELLS: usize = 1 << 30;

/// The distinct rows of every group, in lexicographic order, with their weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combinations {
    n_columns: usize,
    groups: Vec<DistinctRows>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DistinctRows {
    /// Row-major, ascending.
    codes: Vec<u32>,
    weights: Vec<f64>,
}

impl Combinations {
    /// Counts rows; `group_of_row[i]` is the group of row `i`. Rows of weight zero are skipped.
    ///
    /// # Errors
    /// [`Error::NotACategory`] with the first invalid cell.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<Combinations> {
        let n_columns = rows.n_columns();
        let mut found: Vec<Vec<(Vec<u32>, f64)>> = vec![Vec::new(); n_groups];
        for (i, group) in group_of_row.iter().enumerate() {
            let cells = rows.row(i);
            let code = |(j, x): (usize, &f64)| match category(*x) {
                Some(None) => Ok(MISSING_CODE),
                Some(Some(code)) if code as usize <= LARGEST_CODE => Ok(code),
                _ => Err(not_a_category(i, j, *x)),
            };
            let codes = cells.iter().enumerate().map(code).collect::<Result<Vec<u32>>>()?;
            let weight = weights.get(i).copied().unwrap_or(1.0);
            if weight > 0.0 {
                found[*group as usize].push((codes, weight));
            }
        }
        let groups = found.into_iter().map(DistinctRows::of).collect();
        Ok(Combinations { n_columns, groups })
    }

    /// The distinct rows of a group and their weights; a missing cell has the code `u32::MAX`.
    pub fn rows(&self, group: usize) -> impl Iterator<Item = (&[u32], f64)> {
        let DistinctRows { codes, weights } = &self.groups[group];
        codes.chunks_exact(self.n_columns.max(1)).zip(weights.iter().copied())
    }

    /// The number of levels of each column: its largest observed code plus one.
    pub fn levels(&self) -> Vec<usize> {
        let mut levels = vec![0; self.n_columns];
        for group in 0..self.groups.len() {
            for (row, _) in self.rows(group) {
                let seen = levels.iter_mut().zip(row).filter(|(_, code)| **code != MISSING_CODE);
                seen.for_each(|(n, code)| *n = (*n).max(*code as usize + 1));
            }
        }
        levels
    }
}

impl DistinctRows {
    fn of(mut rows: Vec<(Vec<u32>, f64)>) -> DistinctRows {
        // The sort is stable: the weights of equal rows are added in their order.
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        let mut out = DistinctRows::default();
        for same in rows.chunk_by(|a, b| a.0 == b.0) {
            out.codes.extend_from_slice(&same[0].0);
            out.weights.push(same.iter().map(|(_, w)| w).sum());
        }
        out
    }

    /// Merges the sorted rows of both; `join` computes the weight of a row from both weights, `None` removes it.
    fn joined(
        &self,
        other: &DistinctRows,
        width: usize,
        join: impl Fn(f64, f64) -> Result<Option<f64>>,
    ) -> Result<DistinctRows> {
        let mut out = DistinctRows::default();
        let (mut a, mut b) = (0, 0);
        let row = |of: &'_ DistinctRows, k: usize| {
            of.codes.get(k * width..(k + 1) * width).map(<[u32]>::to_vec)
        };
        while a < self.weights.len() || b < other.weights.len() {
            let (mine, theirs) = (row(self, a), row(other, b));
            let order = match (&mine, &theirs) {
                (Some(mine), Some(theirs)) => mine.cmp(theirs),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let (codes, weight) = match order {
                Ordering::Less => (mine, join(self.weights[a], 0.0)?),
                Ordering::Equal => (mine, join(self.weights[a], other.weights[b])?),
                Ordering::Greater => (theirs, join(0.0, other.weights[b])?),
            };
            if let (Some(codes), Some(weight)) = (codes, weight) {
                out.codes.extend(codes);
                out.weights.push(weight);
            }
            a += usize::from(order != Ordering::Greater);
            b += usize::from(order != Ordering::Less);
        }
        Ok(out)
    }
}

impl Grouped for Combinations {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        Combinations { n_columns, groups: vec![DistinctRows::default(); n_groups] }
    }

    fn shape(&self) -> (usize, usize) {
        (self.groups.len(), self.n_columns)
    }

    fn widen(&mut self, other: &Self) -> Result<()> {
        let cells = |c: &Combinations| c.groups.iter().map(|g| g.codes.len()).sum::<usize>();
        let needed = cells(self) + cells(other);
        if needed > MAX_CELLS {
            return Err(Error::Memory {
                what: "the distinct rows of categorical columns".into(),
                needed: 4 * needed as u64,
                budget: 4 * MAX_CELLS as u64,
                instead: "",
            });
        }
        Ok(())
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        let width = self.n_columns.max(1);
        let sum = self.groups[mine].joined(&other.groups[theirs], width, |a, b| Ok(Some(a + b)));
        self.groups[mine] = sum.unwrap_or_default();
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        let never =
            || Error::Forget { why: "it has rows that are not in the training data".into() };
        let left = |a: f64, b: f64| {
            let left = subtract_count(a, b).ok_or_else(never)?;
            Ok((left > 0.0).then_some(left))
        };
        let width = self.n_columns.max(1);
        self.groups[mine] = self.groups[mine].joined(&other.groups[theirs], width, left)?;
        Ok(())
    }

    fn holds_rows(&self) -> bool {
        true
    }

    /// Few rows, because the summary of a chunk is about as large as its rows.
    fn chunk_rows(_n_columns: usize, _layout: Layout) -> usize {
        512
    }

    fn check(&self) -> Result<()> {
        let fits = self.groups.iter().all(|g| {
            let rows: Vec<&[u32]> = g.codes.chunks(self.n_columns.max(1)).collect();
            g.codes.len() == self.n_columns * g.weights.len()
                && rows.is_sorted_by(|a, b| a < b)
                && g.codes.iter().all(|c| *c == MISSING_CODE || *c as usize <= LARGEST_CODE)
                && g.weights.iter().all(|w| w.is_finite() && *w > 0.0)
        });
        if fits {
            Ok(())
        } else {
            Err(Error::File("inconsistent combinations of categories".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn equal_rows_are_counted_once_and_any_split_merges_to_the_whole() {
        let x = array![[1.0, 0.0], [0.0, f64::NAN], [1.0, 0.0], [0.0, 2.0]];
        let count = |x: &mercer_num::Matrix, group_of_row: &[u32]| {
            Combinations::of_rows(&Rows::from(x), group_of_row, &[], 2).unwrap()
        };
        let whole = count(&x, &[0, 1, 0, 0]);
        let first = x.select(ndarray::Axis(0), &[0, 1]);
        let rest = x.select(ndarray::Axis(0), &[2, 3]);

        let mut parts = count(&first, &[0, 1]);
        parts.merge_groups(&[0, 1], &count(&rest, &[0, 0]));

        assert_eq!(parts, whole);
        assert_eq!(whole.rows(0).collect::<Vec<_>>(), [(&[0, 2][..], 1.0), (&[1, 0][..], 2.0)]);
        assert_eq!(whole.levels(), [2, 3]);
        parts.forget_group(0, &count(&rest, &[0, 0]), 0).unwrap();
        assert_eq!(parts, count(&first, &[0, 1]));
        assert!(parts.forget_group(1, &count(&rest, &[1, 1]), 1).is_err());
        assert!(whole.check().is_ok());
    }
}
