//! How often each combination of codes occurs in each group: all that a network over categories can be
//! learned from.
//!
//! Other summaries forget which cells came together. This one cannot, so it grows with the number of
//! different rows, and whoever reads it can read the rows.

use super::counts::take_away;
use super::{Grouped, LARGEST_CODE, category, not_a_category};
use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::parallel::Layout;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The code of a missing cell.
const GAP: u32 = u32::MAX;
/// Cells that fit in memory without asking anybody.
const MOST_CELLS: usize = 1 << 30;

/// The different rows of every group, in order, with their weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combinations {
    n_columns: usize,
    groups: Vec<Distinct>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Distinct {
    /// Row after row, rising.
    codes: Vec<u32>,
    weights: Vec<f64>,
}

impl Combinations {
    /// Counts rows; `slots[i]` is the group of row `i`, rows without weight are skipped.
    ///
    /// # Errors
    /// [`Error::NotACategory`] with the first cell that is no code.
    pub fn of_rows(
        rows: &Rows<'_>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<Combinations> {
        let n_columns = rows.n_columns();
        let mut found: Vec<Vec<(Vec<u32>, f64)>> = vec![Vec::new(); n_groups];
        for (i, slot) in slots.iter().enumerate() {
            let cells = rows.row(i);
            let code = |(j, x): (usize, &f64)| match category(*x) {
                Some(None) => Ok(GAP),
                Some(Some(code)) if code as usize <= LARGEST_CODE => Ok(code),
                _ => Err(not_a_category(i, j, *x)),
            };
            let codes = cells.iter().enumerate().map(code).collect::<Result<Vec<u32>>>()?;
            let weight = weights.get(i).copied().unwrap_or(1.0);
            if weight > 0.0 {
                found[*slot as usize].push((codes, weight));
            }
        }
        let groups = found.into_iter().map(Distinct::of).collect();
        Ok(Combinations { n_columns, groups })
    }

    /// The different rows of a group and their weights; `None` is a missing cell.
    pub fn rows(&self, group: usize) -> impl Iterator<Item = (&[u32], f64)> {
        let Distinct { codes, weights } = &self.groups[group];
        codes.chunks_exact(self.n_columns.max(1)).zip(weights.iter().copied())
    }

    /// How many codes each column has: up to the largest that was seen.
    pub fn levels(&self) -> Vec<usize> {
        let mut levels = vec![0; self.n_columns];
        for group in 0..self.groups.len() {
            for (row, _) in self.rows(group) {
                let seen = levels.iter_mut().zip(row).filter(|(_, code)| **code != GAP);
                seen.for_each(|(n, code)| *n = (*n).max(*code as usize + 1));
            }
        }
        levels
    }
}

impl Distinct {
    fn of(mut rows: Vec<(Vec<u32>, f64)>) -> Distinct {
        // Stable: equal rows are added in the order they came.
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        let mut out = Distinct::default();
        for same in rows.chunk_by(|a, b| a.0 == b.0) {
            out.codes.extend_from_slice(&same[0].0);
            out.weights.push(same.iter().map(|(_, w)| w).sum());
        }
        out
    }

    /// Rows of both in order; `join` gives the weight of a row from those in mine and theirs, `None`
    /// drops it.
    fn joined(
        &self,
        other: &Distinct,
        width: usize,
        join: impl Fn(f64, f64) -> Result<Option<f64>>,
    ) -> Result<Distinct> {
        let mut out = Distinct::default();
        let (mut a, mut b) = (0, 0);
        let row = |of: &'_ Distinct, k: usize| {
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
        Combinations { n_columns, groups: vec![Distinct::default(); n_groups] }
    }

    fn shape(&self) -> (usize, usize) {
        (self.groups.len(), self.n_columns)
    }

    fn widen(&mut self, other: &Self) -> Result<()> {
        let cells = |c: &Combinations| c.groups.iter().map(|g| g.codes.len()).sum::<usize>();
        let needed = cells(self) + cells(other);
        if needed > MOST_CELLS {
            return Err(Error::Memory {
                what: "keeping every combination of codes".into(),
                needed: 4 * needed as u64,
                budget: 4 * MOST_CELLS as u64,
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
        let never = || Error::Forget { why: "it has rows that were never learned".into() };
        let left = |a: f64, b: f64| {
            let left = take_away(a, b).ok_or_else(never)?;
            Ok((left > 0.0).then_some(left))
        };
        let width = self.n_columns.max(1);
        self.groups[mine] = self.groups[mine].joined(&other.groups[theirs], width, left)?;
        Ok(())
    }

    fn holds_rows(&self) -> bool {
        true
    }

    /// Few: the summary of a chunk is about as large as its rows.
    fn chunk_rows(_n_columns: usize, _layout: Layout) -> usize {
        512
    }

    fn check(&self) -> Result<()> {
        let fits = self.groups.iter().all(|g| {
            let rows: Vec<&[u32]> = g.codes.chunks(self.n_columns.max(1)).collect();
            g.codes.len() == self.n_columns * g.weights.len()
                && rows.is_sorted_by(|a, b| a < b)
                && g.codes.iter().all(|c| *c == GAP || *c as usize <= LARGEST_CODE)
                && g.weights.iter().all(|w| w.is_finite() && *w > 0.0)
        });
        if fits { Ok(()) } else { Err(Error::File("combinations that no rows could have".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn equal_rows_are_one_and_any_split_merges_to_the_whole() {
        let x = array![[1.0, 0.0], [0.0, f64::NAN], [1.0, 0.0], [0.0, 2.0]];
        let count = |x: &mercer_num::Matrix, slots: &[u32]| {
            Combinations::of_rows(&Rows::from(x), slots, &[], 2).unwrap()
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
