//! How often every two columns show each pair of categories, one block a group: what trees over the
//! columns and conditional tables are made from.
//!
//! Cells are category codes from zero and NaN where missing; a row counts for the pairs it shows both
//! columns of. A column has as many levels as its largest code asks for, so two summaries that saw
//! different codes are first brought to the same size.

use crate::error::{Error, Result};
use crate::stats::{Grouped, not_a_category};
use mercer_num::Rows;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The code of a missing cell.
const GAP: u32 = u32::MAX;
/// Bytes a summary may take: it is made a chunk at a time, where nobody can be asked.
const LARGEST: u64 = 1 << 30;

/// Counts of single columns and of pairs of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairCounts {
    n_groups: usize,
    /// How many codes each column has room for.
    levels: Vec<usize>,
    /// One run a group: columns after another, one cell a level.
    singles: Vec<f64>,
    /// One run a group: pairs `(0, 1), (0, 2), …, (1, 2), …`, one cell a pair of levels.
    pairs: Vec<f64>,
}

impl PairCounts {
    /// Counts rows; `slots[i]` is the group of row `i`.
    ///
    /// # Errors
    /// The first cell that is not a code, or if the counts would take too much memory.
    pub fn of_rows(
        rows: &Rows<'_>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<PairCounts> {
        let (n, width) = (rows.n_rows(), rows.n_columns());
        // Column by column, so that the counts of one pair stay in cache while all rows pass.
        let mut codes = vec![GAP; n * width];
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
            for (i, code) in column(j).iter().enumerate().filter(|(_, c)| **c != GAP) {
                out.singles[slots[i] as usize * single_len + start + *code as usize] += weight(i);
            }
            start += out.levels[j];
        }
        let mut start = 0;
        for j in 0..width {
            for k in j + 1..width {
                let size = out.levels[k];
                for (i, (a, b)) in column(j).iter().zip(column(k)).enumerate() {
                    if *a != GAP && *b != GAP {
                        let at = start + *a as usize * size + *b as usize;
                        out.pairs[slots[i] as usize * pair_len + at] += weight(i);
                    }
                }
                start += out.levels[j] * size;
            }
        }
        Ok(out)
    }

    /// How many codes each column has room for.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// How often a column showed each code in a group.
    pub fn single(&self, group: usize, column: usize) -> &[f64] {
        let start = group * self.singles_per_group() + self.levels[..column].iter().sum::<usize>();
        &self.singles[start..start + self.levels[column]]
    }

    /// Where the pairs of each column with the later ones begin in a group's run.
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

    /// How often two columns, the first before the second, showed each pair of codes in a group: one
    /// row a code of the first. `starts` is [`PairCounts::starts`].
    pub fn pair(&self, group: usize, j: usize, k: usize, starts: &[usize]) -> &[f64] {
        let between: usize = self.levels[j + 1..k].iter().sum();
        let start = group * self.pairs_per_group() + starts[j] + self.levels[j] * between;
        &self.pairs[start..start + self.levels[j] * self.levels[k]]
    }

    /// Nothing counted yet, with room for these codes.
    fn sized(n_groups: usize, levels: Vec<usize>) -> Result<PairCounts> {
        let (singles, pairs) = cells(&levels);
        let needed = 8.0 * n_groups as f64 * (singles + pairs);
        if needed > LARGEST as f64 {
            let what = format!(
                "counting the pairs of {} columns with up to {} categories in {n_groups} classes",
                levels.len(),
                levels.iter().max().unwrap_or(&0)
            );
            let needed = needed as u64;
            return Err(Error::Memory { what, needed, budget: LARGEST, instead: "" });
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

    /// Calls `visit` with every run of `other`'s cells in a group and where it goes in mine: runs of
    /// single columns, then runs of pairs.
    fn places(
        &self,
        mine: usize,
        other: &PairCounts,
        theirs: usize,
        mut visit: impl FnMut(Run, usize, Range<usize>),
    ) {
        let (mut to, mut from) =
            (mine * self.singles_per_group(), theirs * other.singles_per_group());
        for (mine, theirs) in self.levels.iter().zip(&other.levels) {
            visit(Run::Single, to, from..from + theirs);
            (to, from) = (to + mine, from + theirs);
        }
        let (mut to, mut from) = (mine * self.pairs_per_group(), theirs * other.pairs_per_group());
        for j in 0..self.levels.len() {
            for k in j + 1..self.levels.len() {
                for a in 0..other.levels[j] {
                    let from = from + a * other.levels[k];
                    visit(Run::Pair, to + a * self.levels[k], from..from + other.levels[k]);
                }
                to += self.levels[j] * self.levels[k];
                from += other.levels[j] * other.levels[k];
            }
        }
    }
}

enum Run {
    Single,
    Pair,
}

/// Cells of the single columns and of the pairs of one group.
fn cells(levels: &[usize]) -> (f64, f64) {
    let sum: f64 = levels.iter().map(|k| *k as f64).sum();
    let squares: f64 = levels.iter().map(|k| (*k as f64).powi(2)).sum();
    (sum, (sum * sum - squares) / 2.0)
}

/// The code of a cell: `None` if it is none, `Some(None)` if it is missing.
pub(crate) fn category(value: f64) -> Option<Option<u32>> {
    if value.is_nan() {
        return Some(None);
    }
    (value >= 0.0 && value < f64::from(GAP) && value.fract() == 0.0).then_some(Some(value as u32))
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
        let room = |of: &PairCounts, j: usize| of.levels.get(j).copied().unwrap_or(0);
        let levels: Vec<usize> = (0..width).map(|j| room(self, j).max(room(other, j))).collect();
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
            self.places(mine, other, theirs, |run, to, from| match run {
                Run::Single => add(&mut singles[to..to + from.len()], &other.singles[from]),
                Run::Pair => add(&mut pairs[to..to + from.len()], &other.pairs[from]),
            });
        }
        (self.singles, self.pairs) = (singles, pairs);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        let (mut singles, mut pairs) =
            (std::mem::take(&mut self.singles), std::mem::take(&mut self.pairs));
        let mut left = Ok(());
        self.places(mine, other, theirs, |run, to, from| {
            let n = from.len();
            let taken = match run {
                Run::Single => take(&mut singles[to..to + n], &other.singles[from]),
                Run::Pair => take(&mut pairs[to..to + n], &other.pairs[from]),
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
        if fits { Ok(()) } else { Err(Error::File("pair counts that no rows could have".into())) }
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

fn take(from: &mut [f64], gone: &[f64]) -> Result<()> {
    for (sum, gone) in from.iter_mut().zip(gone) {
        let left = *sum - gone;
        if left < -1e-9 * gone {
            return Err(Error::Forget {
                why: format!("a pair of categories was counted {sum} times, asked to lose {gone}"),
            });
        }
        // What is left of fractions that cancel is rounding, not a count.
        *sum = if left <= 1e-12 * gone { 0.0 } else { left };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn pairs_are_counted_where_both_are_seen() {
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
    fn a_larger_code_makes_room() {
        let (few, many) = (array![[0.0, 1.0]], array![[3.0, 0.0]]);
        let of = |x| PairCounts::of_rows(&Rows::from(x), &[0], &[], 1).unwrap();
        let (mut sum, more) = (of(&few), of(&many));

        sum.widen(&more).unwrap();
        sum.merge_group(0, &more, 0);

        let together = ndarray::concatenate![ndarray::Axis(0), few, many];
        assert_eq!(sum, PairCounts::of_rows(&Rows::from(&together), &[0, 0], &[], 1).unwrap());
    }

    #[test]
    fn cells_that_are_no_codes_and_codes_without_end_are_refused() {
        let of = |x| PairCounts::of_rows(&Rows::from(&array![[0.0, x]]), &[0], &[], 1).unwrap_err();

        assert!(matches!(of(-1.0), Error::NotACategory { column: 1, .. }));
        assert!(matches!(of(0.5), Error::NotACategory { .. }));
        assert!(matches!(of(f64::INFINITY), Error::NotFinite { .. }));
        assert!(matches!(of(4e9), Error::Memory { .. }));
    }
}
