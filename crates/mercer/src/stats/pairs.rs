//! Contingency tables of all pairs of columns by group, from which trees over the columns and conditional probability
//! tables are estimated.
//!
//! Cells are category codes from zero, NaN if missing; a row counts for the pairs with both cells present. A column has
//! as many levels as its largest observed code requires, so two summaries are brought to the same size before they are
//! merged.

use crate::error::{Error, Result};
use crate::stats::{Grouped, not_a_category};
use mercer_num::Rows;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The code of a missing cell.
const MISSING_CODE: u32 = u32::MAX;
/// Maximum size in bytes. Summaries are computed per chunk, where the memory budget is not known.
const MAX_BYTES: u64 = 1 << 30;

/// Counts of single columns and of pairs of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairCounts {
    n_groups: usize,
    /// The number of levels of each column.
    levels: Vec<usize>,
    /// For each group: the counts of the levels of all columns.
    singles: Vec<f64>,
    /// For each group: the tables of the pairs `(0, 1), (0, 2), …, (1, 2), …`, row-major.
    pairs: Vec<f64>,
}

impl PairCounts {
    /// Counts rows; `group_of_row[i]` is the group of row `i`.
    ///
    /// # Errors
    /// The first cell that is not a code, or if the counts would take too much memory.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<PairCounts> {
        let (n, width) = (rows.n_rows(), rows.n_columns());
        // Column by column, so that the counts of one pair stay in cache during the pass over the rows.
        let mut codes = vec![MISSING_CODE; n * width];
        let mut levels = vec![0; width];
        let block = rows.block(0..n);
        for i in 0..n {
            let row = match &block {
                Some(block) => Cow::Borrowed(&block[i * width..(i + 1) * width]),
                None => Cow::Owned(rows.row(i)),
            };
            for (j, value) in row.iter().enumerate() {
                if let Some(code) = category(*value).ok_or_else(|| not_a_category(i, j, *value))? {
                    codes[j * n + i] = code;
                    levels[j] = levels[j].max(code as usize + 1);
                }
            }
        }
        let mut out = PairCounts::sized(n_groups, levels)?;
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let column = |j: usize| &codes[j * n..(j + 1) * n];
        let (single_len, pair_len) = (out.singles_per_group(), out.pairs_per_group());
        let mut start = 0;
        for j in 0..width {
            for (i, code) in column(j).iter().enumerate().filter(|(_, c)| **c != MISSING_CODE) {
                out.singles[group_of_row[i] as usize * single_len + start + *code as usize] +=
                    weight(i);
            }
            start += out.levels[j];
        }
        let mut start = 0;
        for j in 0..width {
            for k in j + 1..width {
                let size = out.levels[k];
                for (i, (a, b)) in column(j).iter().zip(column(k)).enumerate() {
                    if *a != MISSING_CODE && *b != MISSING_CODE {
                        let at = start + *a as usize * size + *b as usize;
                        out.pairs[group_of_row[i] as usize * pair_len + at] += weight(i);
                    }
                }
                start += out.levels[j] * size;
            }
        }
        Ok(out)
    }

    /// The number of levels of each column.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// The count of each level of a column in a group.
    pub fn single(&self, group: usize, column: usize) -> &[f64] {
        let start = group * self.singles_per_group() + self.levels[..column].iter().sum::<usize>();
        &self.singles[start..start + self.levels[column]]
    }

    /// The offset of the pairs of each column with the later ones, within a group.
    pub fn starts(&self) -> Vec<usize> {
        let mut later: usize = self.levels.iter().sum();
        let mut start = 0;
        self.levels
            .iter()
            .map(|levels| {
                later -= levels;
                let here = start;
                start += levels * later;
                here
            })
            .collect()
    }

    /// The contingency table of two columns, `j` before `k`, in a group: one row per level of the first. `starts` is
    /// [`PairCounts::starts`].
    pub fn pair(&self, group: usize, j: usize, k: usize, starts: &[usize]) -> &[f64] {
        let between: usize = self.levels[j + 1..k].iter().sum();
        let start = group * self.pairs_per_group() + starts[j] + self.levels[j] * between;
        &self.pairs[start..start + self.levels[j] * self.levels[k]]
    }

    /// Zero counts for these levels.
    fn sized(n_groups: usize, levels: Vec<usize>) -> Result<PairCounts> {
        let (singles, pairs) = cells(&levels);
        let needed = 8.0 * n_groups as f64 * (singles + pairs);
        if needed > MAX_BYTES as f64 {
            let what = format!(
                "counting the pairs of {} columns with up to {} categories in {n_groups} classes",
                levels.len(),
                levels.iter().max().unwrap_or(&0)
            );
            let needed = needed as u64;
            return Err(Error::Memory { what, needed, budget: MAX_BYTES, instead: "" });
        }
        Ok(PairCounts {
            n_groups,
            levels,
            singles: vec![0.0; n_groups * singles as usize],
            pairs: vec![0.0; n_groups * pairs as usize],
        })
    }

    fn singles_per_group(&self) -> usize {
        self.levels.iter().sum()
    }

    fn pairs_per_group(&self) -> usize {
        cells(&self.levels).1 as usize
    }

    /// Calls `visit` with every table of `other` in a group and its offset in mine: first the single columns, then the
    /// pairs.
    fn each_table(
        &self,
        mine: usize,
        other: &PairCounts,
        theirs: usize,
        mut visit: impl FnMut(Table, usize, Range<usize>),
    ) {
        let (mut to, mut from) =
            (mine * self.singles_per_group(), theirs * other.singles_per_group());
        for (mine, theirs) in self.levels.iter().zip(&other.levels) {
            visit(Table::Single, to, from..from + theirs);
            (to, from) = (to + mine, from + theirs);
        }
        let (mut to, mut from) = (mine * self.pairs_per_group(), theirs * other.pairs_per_group());
        for j in 0..self.levels.len() {
            for k in j + 1..self.levels.len() {
                for a in 0..other.levels[j] {
                    let from = from + a * other.levels[k];
                    visit(Table::Pair, to + a * self.levels[k], from..from + other.levels[k]);
                }
                to += self.levels[j] * self.levels[k];
                from += other.levels[j] * other.levels[k];
            }
        }
    }
}

enum Table {
    Single,
    Pair,
}

/// The number of cells of the single columns and of the pairs of one group.
fn cells(levels: &[usize]) -> (f64, f64) {
    let sum: f64 = levels.iter().map(|k| *k as f64).sum();
    let squares: f64 = levels.iter().map(|k| (*k as f64).powi(2)).sum();
    (sum, (sum * sum - squares) / 2.0)
}

/// The code of a cell: `None` if it is not a code, `Some(None)` if it is missing.
pub(crate) fn category(value: f64) -> Option<Option<u32>> {
    if value.is_nan() {
        return Some(None);
    }
    (value >= 0.0 && value < f64::from(MISSING_CODE) && value.fract() == 0.0)
        .then_some(Some(value as u32))
}

impl Grouped for PairCounts {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        PairCounts { n_groups, levels: vec![0; n_columns], ..PairCounts::default() }
    }

    fn shape(&self) -> (usize, usize) {
        (self.n_groups, self.levels.len())
    }

    fn widen(&mut self, other: &Self) -> Result<()> {
        // A summary of no rows has no columns yet.
        let width = self.levels.len().max(other.levels.len());
        let n_levels = |of: &PairCounts, j: usize| of.levels.get(j).copied().unwrap_or(0);
        let levels: Vec<usize> =
            (0..width).map(|j| n_levels(self, j).max(n_levels(other, j))).collect();
        if levels == self.levels {
            return Ok(());
        }
        let mut wide = PairCounts::sized(self.n_groups, levels)?;
        (0..self.n_groups).for_each(|group| wide.merge_group(group, self, group));
        *self = wide;
        Ok(())
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        let (mut singles, mut pairs) =
            (std::mem::take(&mut self.singles), std::mem::take(&mut self.pairs));
        if self.levels == other.levels {
            let (s, p) = (self.singles_per_group(), self.pairs_per_group());
            add(&mut singles[mine * s..][..s], &other.singles[theirs * s..][..s]);
            add(&mut pairs[mine * p..][..p], &other.pairs[theirs * p..][..p]);
        } else {
            self.each_table(mine, other, theirs, |run, to, from| match run {
                Table::Single => add(&mut singles[to..to + from.len()], &other.singles[from]),
                Table::Pair => add(&mut pairs[to..to + from.len()], &other.pairs[from]),
            });
        }
        (self.singles, self.pairs) = (singles, pairs);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        let (mut singles, mut pairs) =
            (std::mem::take(&mut self.singles), std::mem::take(&mut self.pairs));
        let mut left = Ok(());
        self.each_table(mine, other, theirs, |run, to, from| {
            let n = from.len();
            let taken = match run {
                Table::Single => take(&mut singles[to..to + n], &other.singles[from]),
                Table::Pair => take(&mut pairs[to..to + n], &other.pairs[from]),
            };
            if left.is_ok() {
                left = taken;
            }
        });
        (self.singles, self.pairs) = (singles, pairs);
        left
    }

    fn check(&self) -> Result<()> {
        let (singles, pairs) = cells(&self.levels);
        let n = self.n_groups as f64;
        let fits = self.singles.len() as f64 == n * singles
            && self.pairs.len() as f64 == n * pairs
            && self.singles.iter().chain(&self.pairs).all(|c| c.is_finite() && *c >= 0.0);
        if fits { Ok(()) } else { Err(Error::File("inconsistent pair counts".into())) }
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

fn take(from: &mut [f64], removed: &[f64]) -> Result<()> {
    for (sum, removed) in from.iter_mut().zip(removed) {
        let left = *sum - removed;
        if left < -1e-9 * removed {
            return Err(Error::Forget {
                why: format!(
                    "a pair of categories has the count {sum}, which is less than the {removed} to remove"
                ),
            });
        }
        // The residue of weights that cancel is rounding error, not a count.
        *sum = if left <= 1e-12 * removed { 0.0 } else { left };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn pairs_are_counted_if_both_cells_are_present() {
        let nan = f64::NAN;
        let x = array![[0.0, 1.0, 2.0], [1.0, 1.0, nan], [0.0, 1.0, 2.0], [nan, 0.0, 0.0]];

        let counts = PairCounts::of_rows(&Rows::from(&x), &[0, 0, 1, 1], &[], 2).unwrap();
        let starts = counts.starts();

        assert_eq!(counts.levels(), [2, 2, 3]);
        assert_eq!(counts.single(0, 0), [1.0, 1.0]);
        assert_eq!(counts.pair(0, 0, 1, &starts), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(counts.pair(1, 0, 2, &starts), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(counts.pair(1, 1, 2, &starts), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_larger_code_adds_levels() {
        let (few, many) = (array![[0.0, 1.0]], array![[3.0, 0.0]]);
        let of = |x| PairCounts::of_rows(&Rows::from(x), &[0], &[], 1).unwrap();
        let (mut sum, more) = (of(&few), of(&many));

        sum.widen(&more).unwrap();
        sum.merge_group(0, &more, 0);

        let together = ndarray::concatenate![ndarray::Axis(0), few, many];
        assert_eq!(sum, PairCounts::of_rows(&Rows::from(&together), &[0, 0], &[], 1).unwrap());
    }

    #[test]
    fn invalid_and_excessive_codes_are_refused() {
        let of = |x| PairCounts::of_rows(&Rows::from(&array![[0.0, x]]), &[0], &[], 1).unwrap_err();

        assert!(matches!(of(-1.0), Error::NotACategory { column: 1, .. }));
        assert!(matches!(of(0.5), Error::NotACategory { .. }));
        assert!(matches!(of(f64::INFINITY), Error::NotFinite { .. }));
        assert!(matches!(of(4e9), Error::Memory { .. }));
    }
}
