//! The values of numeric columns and how often each occurs in each group, in bounded memory.
//!
//! A column with few different values keeps them all. One with more puts neighbors together: the
//! lowest bits of its numbers are dropped, one more whenever there are too many cells. How many must go
//! depends on the values alone and never shrinks as values are added, so any split of the rows merges
//! to the same cells, which no sketch that samples or balances can say of itself.

use super::counts::take_away;
use crate::error::{Error, Result};
use crate::stats::Grouped;
use mercer_num::Matrix;
use ndarray::Axis;
use serde::{Deserialize, Serialize};

/// Cells of a column at most.
const MOST_CELLS: usize = 1024;

/// How often the values of one column occur.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// How many low bits of a number are not told apart.
    coarseness: u32,
    /// The smallest number of each cell, rising.
    cells: Vec<f64>,
    /// `Σ w`, one row a group and one column a cell.
    counts: Matrix,
}

impl Tally {
    fn empty(n_groups: usize) -> Tally {
        Tally { counts: Matrix::zeros((n_groups, 0)), ..Tally::default() }
    }

    /// Tallies the cells of a column; `slots[i]` is the group of row `i`, missing cells and rows
    /// without weight are skipped.
    fn of_column(
        column: impl Iterator<Item = f64>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Tally {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut order: Vec<(u64, u32)> = column
            .enumerate()
            .filter(|(i, x)| !x.is_nan() && weight(*i) > 0.0)
            .map(|(i, x)| (key(x), i as u32))
            .collect();
        order.sort_unstable();
        let keys = || order.iter().map(|(key, _)| *key);
        let coarseness = enough_coarseness(keys(), 0);
        let mut tally = Tally::empty(n_groups);
        tally.coarseness = coarseness;
        let mut cells: Vec<u64> = keys().map(|key| key >> coarseness).collect();
        cells.dedup();
        tally.counts = Matrix::zeros((n_groups, cells.len()));
        let mut at = 0;
        for (key, i) in &order {
            at += usize::from(key >> coarseness != cells[at]);
            tally.counts[[slots[*i as usize] as usize, at]] += weight(*i as usize);
        }
        tally.cells = cells.into_iter().map(|cell| number(cell << coarseness)).collect();
        tally
    }

    /// Whether every cell holds one number.
    pub fn is_exact(&self) -> bool {
        self.coarseness == 0
    }

    /// A number for each cell: itself where it is alone, the middle where it is not.
    pub fn values(&self) -> Vec<f64> {
        if self.is_exact() {
            return self.cells.clone();
        }
        // Halving first: the sum of two large numbers could leave the range.
        self.cells.iter().map(|low| 0.5 * low + 0.5 * self.end(*low)).collect()
    }

    /// The smallest number of each cell, rising.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// The weights, one row a group and one column a cell.
    pub fn counts(&self) -> &Matrix {
        &self.counts
    }

    /// The largest number a cell can hold.
    fn end(&self, low: f64) -> f64 {
        number(key(low) | ((1 << self.coarseness) - 1))
    }

    /// Puts neighbors together until low bits and cells are few enough.
    fn coarsen(&mut self, at_least: u32) {
        let keys = || self.cells.iter().map(|low| key(*low));
        let coarseness = enough_coarseness(keys(), at_least.max(self.coarseness));
        if coarseness == self.coarseness || self.cells.is_empty() {
            self.coarseness = coarseness;
            return;
        }
        let mut cells: Vec<u64> = keys().map(|key| key >> coarseness).collect();
        let places: Vec<usize> = cells
            .iter()
            .scan((cells[0], 0), |(last, at), cell| {
                *at += usize::from(cell != last);
                *last = *cell;
                Some(*at)
            })
            .collect();
        cells.dedup();
        let mut counts = Matrix::zeros((self.counts.nrows(), cells.len()));
        for (from, to) in places.into_iter().enumerate() {
            let mut column = counts.column_mut(to);
            column += &self.counts.column(from);
        }
        self.counts = counts;
        self.cells = cells.into_iter().map(|cell| number(cell << coarseness)).collect();
        self.coarseness = coarseness;
    }

    fn merge_group(&mut self, mine: usize, other: &Tally, theirs: usize) {
        if self.coarseness < other.coarseness {
            self.coarsen(other.coarseness);
        }
        let mut more: Vec<(f64, f64)> = Vec::with_capacity(other.cells.len());
        for (low, n) in other.cells.iter().zip(other.counts.row(theirs)).filter(|(_, n)| **n > 0.0)
        {
            let low = number(key(*low) >> self.coarseness << self.coarseness);
            match more.last_mut() {
                Some(last) if last.0 == low => last.1 += n,
                _ => more.push((low, *n)),
            }
        }
        self.make_room(more.iter().map(|(low, _)| *low));
        let mut at = 0;
        for (low, n) in more {
            at += self.cells[at..].partition_point(|cell| *cell < low);
            self.counts[[mine, at]] += n;
        }
        if self.cells.len() > MOST_CELLS {
            self.coarsen(self.coarseness);
        }
    }

    /// Adds cells that are not there yet.
    fn make_room(&mut self, lows: impl Iterator<Item = f64> + Clone) {
        let known = |low: &f64| self.cells.binary_search_by(|cell| cell.total_cmp(low)).is_ok();
        if lows.clone().all(|low| known(&low)) {
            return;
        }
        let mut cells: Vec<f64> = self.cells.iter().copied().chain(lows).collect();
        cells.sort_by(f64::total_cmp);
        cells.dedup();
        let mut counts = Matrix::zeros((self.counts.nrows(), cells.len()));
        let mut at = 0;
        for (low, column) in self.cells.iter().zip(self.counts.columns()) {
            at += cells[at..].partition_point(|cell| cell < low);
            counts.column_mut(at).assign(&column);
        }
        (self.cells, self.counts) = (cells, counts);
    }

    fn forget_group(&mut self, mine: usize, other: &Tally, theirs: usize) -> Option<()> {
        if other.coarseness > self.coarseness {
            return None;
        }
        for (low, n) in other.cells.iter().zip(other.counts.row(theirs)).filter(|(_, n)| **n > 0.0)
        {
            let low = number(key(*low) >> self.coarseness << self.coarseness);
            let at = self.cells.binary_search_by(|cell| cell.total_cmp(&low)).ok()?;
            self.counts[[mine, at]] = take_away(self.counts[[mine, at]], *n)?;
        }
        // Cells nobody is in were never there.
        let used: Vec<usize> = (0..self.cells.len())
            .filter(|at| self.counts.column(*at).iter().any(|n| *n > 0.0))
            .collect();
        if used.len() < self.cells.len() {
            self.cells = used.iter().map(|at| self.cells[*at]).collect();
            self.counts = self.counts.select(Axis(1), &used);
        }
        Some(())
    }

    fn fits(&self, n_groups: usize) -> bool {
        self.coarseness < 64
            && self.counts.dim() == (n_groups, self.cells.len())
            && self.cells.iter().all(|x| x.is_finite())
            && self.cells.is_sorted_by(|a, b| a < b)
            && self.counts.iter().all(|n| n.is_finite() && *n >= 0.0)
    }
}

/// The bits of a number in the order of numbers; zero has one sign.
fn key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of a key; the ends of the outermost cells stay finite.
fn number(key: u64) -> f64 {
    let x = f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key });
    match x.is_finite() {
        true => x,
        false if key >> 63 == 1 => f64::MAX,
        false => f64::MIN,
    }
}

/// The fewest low bits to drop, at least so many, for rising keys to fall into few enough cells. Two
/// neighbors are told apart as long as their highest differing bit is kept.
fn enough_coarseness(keys: impl Iterator<Item = u64>, at_least: u32) -> u32 {
    let mut differing = [0usize; 65];
    let mut last = None;
    for key in keys {
        if let Some(last) = last.replace(key) {
            differing[64 - (key ^ last).leading_zeros() as usize] += 1;
        }
    }
    let mut n_cells: usize = 1 + differing[at_least as usize + 1..].iter().sum::<usize>();
    let mut coarseness = at_least;
    while n_cells > MOST_CELLS {
        coarseness += 1;
        n_cells -= differing[coarseness as usize];
    }
    coarseness
}

/// The tallies of several columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tallies {
    /// How many groups there are.
    n_groups: usize,
    /// One entry a column.
    pub columns: Vec<Tally>,
}

impl Tallies {
    /// Tallies columns of finite or missing numbers.
    pub fn of_columns(x: &Matrix, slots: &[u32], weights: &[f64], n_groups: usize) -> Tallies {
        let columns = x
            .columns()
            .into_iter()
            .map(|column| Tally::of_column(column.iter().copied(), slots, weights, n_groups))
            .collect();
        Tallies { n_groups, columns }
    }
}

impl Grouped for Tallies {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        Tallies { n_groups, columns: vec![Tally::empty(n_groups); n_columns] }
    }

    fn shape(&self) -> (usize, usize) {
        (self.n_groups, self.columns.len())
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        for (tally, more) in self.columns.iter_mut().zip(&other.columns) {
            tally.merge_group(mine, more, theirs);
        }
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        for (j, (tally, gone)) in self.columns.iter_mut().zip(&other.columns).enumerate() {
            tally.forget_group(mine, gone, theirs).ok_or_else(|| Error::Forget {
                why: format!("column {} had no such numbers", j + 1),
            })?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.columns.iter().all(|tally| tally.fits(self.n_groups)) {
            Ok(())
        } else {
            Err(Error::File("tallies that no rows could have".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use proptest::prelude::*;

    fn tally(values: &[f64], slots: &[u32]) -> Tally {
        Tally::of_column(values.iter().copied(), slots, &[], 2)
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_numbers(a in -1e300..1e300f64, b in -1e-300..1e300f64) {
            prop_assert_eq!(key(a).cmp(&key(b)), a.total_cmp(&b));
            prop_assert_eq!(number(key(a)), a);
        }
    }

    #[test]
    fn any_split_of_many_values_merges_to_the_same_cells() {
        let mut random = Random::new(3);
        let values: Vec<f64> =
            (0..5000).map(|i| if i % 3 == 0 { 0.0 } else { random.normal() }).collect();
        let slots: Vec<u32> = (0..5000).map(|i| i % 2).collect();
        let whole = tally(&values, &slots);

        for cut in [1, 700, 2500, 4999] {
            let mut left = tally(&values[..cut], &slots[..cut]);
            let right = tally(&values[cut..], &slots[cut..]);
            left.merge_group(0, &right, 0);
            left.merge_group(1, &right, 1);

            assert_eq!(left, whole);
        }
        assert!(!whole.is_exact() && whole.cells.len() > MOST_CELLS / 4);
        assert_eq!(whole.counts.sum(), 5000.0);
    }

    #[test]
    fn few_values_are_kept_as_they_are_and_forgotten_again() {
        let whole = tally(&[3.0, -1.0, f64::NAN, 3.0, -0.0], &[0, 1, 0, 1, 1]);
        assert_eq!(whole.values(), [-1.0, 0.0, 3.0]);
        assert_eq!(whole.counts, ndarray::array![[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]);

        let mut left = whole.clone();
        left.forget_group(1, &tally(&[-1.0], &[1]), 1).unwrap();

        assert_eq!(left, tally(&[3.0, 3.0, 0.0], &[0, 1, 1]));
        assert!(left.forget_group(0, &tally(&[7.0], &[0]), 0).is_none());
    }
}
