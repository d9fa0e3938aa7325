//! The values of numeric columns and how often each occurs in each group, in bounded memory.
//!
//! A column with few different values keeps them all. One with more puts neighbors together: the
//! lowest bits of its numbers are dropped, one more whenever there are too many cells. How many must go
//! depends on the values alone and never shrinks as values are added, so any split of the rows merges
//! to the same cells, which no sketch that samples or balances can say of itself.

use super::Grouped;
use super::counts::take_away;
use crate::error::{Error, Result};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};

/// Cells of a column at most.
const MOST_CELLS: usize = 1024;

/// How often the values of one column occur.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueCounts {
    /// How many low bits of a number are not told apart.
    coarseness: u32,
    /// The smallest number of each cell, rising.
    cells: Vec<f64>,
    /// `Σ w`, one row a cell and one column a group.
    counts: Matrix,
}

impl ValueCounts {
    fn empty(n_groups: usize) -> ValueCounts {
        ValueCounts { counts: Matrix::zeros((0, n_groups)), ..ValueCounts::default() }
    }

    /// GroupValueCounts the cells of a column; `slots[i]` is the group of row `i`, missing cells and rows
    /// without weight are skipped.
    fn of_column(
        column: impl Iterator<Item = f64>,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> ValueCounts {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut order: Vec<(u64, u32)> = column
            .enumerate()
            .filter(|(i, x)| !x.is_nan() && weight(*i) > 0.0)
            .map(|(i, x)| (key(x), i as u32))
            .collect();
        order.sort_unstable();
        let coarseness = enough_coarseness(order.iter().map(|(key, _)| *key), 0);
        let mut growing = Growing::new(n_groups, coarseness, order.len().min(MOST_CELLS));
        for (key, i) in &order {
            growing.cell(*key)[slots[*i as usize] as usize] += weight(*i as usize);
        }
        growing.finish()
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
    pub fn counts(&self) -> Matrix {
        self.counts.t().as_standard_layout().into_owned()
    }

    /// The largest number a cell can hold.
    fn end(&self, low: f64) -> f64 {
        number(key(low) | ((1 << self.coarseness) - 1))
    }

    /// The cells with their weights.
    fn iter(&self) -> impl Iterator<Item = (u64, &[f64])> {
        let n_groups = self.counts.ncols().max(1);
        let counts = self.counts.as_slice().unwrap_or_default().chunks_exact(n_groups);
        self.cells.iter().map(|low| key(*low)).zip(counts)
    }

    /// Puts neighbors together until cells are few enough.
    fn coarsen(&mut self) {
        let coarseness = enough_coarseness(self.iter().map(|(key, _)| key), self.coarseness);
        if coarseness > self.coarseness {
            let mut growing = Growing::new(self.counts.ncols(), coarseness, self.cells.len());
            for (key, counts) in self.iter() {
                growing.cell(key).iter_mut().zip(counts).for_each(|(to, n)| *to += n);
            }
            *self = growing.finish();
        }
    }

    /// Adds groups of another: each place is one of theirs and one of mine.
    fn merge(&mut self, other: &ValueCounts, places: &[(usize, usize)]) {
        let coarseness = self.coarseness.max(other.coarseness);
        let room = self.cells.len() + other.cells.len();
        let mut growing = Growing::new(self.counts.ncols(), coarseness, room);
        let mut mine = self.iter().peekable();
        let theirs = other.iter().filter(|(_, n)| places.iter().any(|(from, _)| n[*from] > 0.0));
        for (key, more) in theirs {
            while let Some((key, counts)) = mine.next_if(|(mine, _)| *mine <= key) {
                growing.cell(key).iter_mut().zip(counts).for_each(|(to, n)| *to += n);
            }
            let cell = growing.cell(key);
            places.iter().for_each(|(from, to)| cell[*to] += more[*from]);
        }
        for (key, counts) in mine {
            growing.cell(key).iter_mut().zip(counts).for_each(|(to, n)| *to += n);
        }
        *self = growing.finish();
        self.coarsen();
    }

    fn forget_group(&mut self, mine: usize, other: &ValueCounts, theirs: usize) -> Option<()> {
        if other.coarseness > self.coarseness {
            return None;
        }
        for (key, n) in other.iter().filter(|(_, n)| n[theirs] > 0.0) {
            let low = number(key >> self.coarseness << self.coarseness);
            let at = self.cells.binary_search_by(|cell| cell.total_cmp(&low)).ok()?;
            self.counts[[at, mine]] = take_away(self.counts[[at, mine]], n[theirs])?;
        }
        // Cells nobody is in were never there.
        let mut growing = Growing::new(self.counts.ncols(), self.coarseness, self.cells.len());
        for (key, counts) in self.iter().filter(|(_, counts)| counts.iter().any(|n| *n > 0.0)) {
            growing.cell(key).copy_from_slice(counts);
        }
        *self = growing.finish();
        Some(())
    }

    fn fits(&self, n_groups: usize) -> bool {
        self.coarseness < 64
            && self.counts.dim() == (self.cells.len(), n_groups)
            && self.cells.iter().all(|x| x.is_finite())
            && self.cells.is_sorted_by(|a, b| a < b)
            && self.counts.iter().all(|n| n.is_finite() && *n >= 0.0)
    }
}

/// A tally whose cells come in rising order.
struct Growing {
    n_groups: usize,
    coarseness: u32,
    cells: Vec<u64>,
    counts: Vec<f64>,
}

impl Growing {
    fn new(n_groups: usize, coarseness: u32, room: usize) -> Growing {
        let (cells, counts) = (Vec::with_capacity(room), Vec::with_capacity(room * n_groups));
        Growing { n_groups, coarseness, cells, counts }
    }

    /// The weights of the cell a key falls into, the last one or a new one.
    fn cell(&mut self, key: u64) -> &mut [f64] {
        let cell = key >> self.coarseness;
        if self.cells.last() != Some(&cell) {
            self.cells.push(cell);
            self.counts.resize(self.counts.len() + self.n_groups, 0.0);
        }
        let last = self.counts.len() - self.n_groups;
        &mut self.counts[last..]
    }

    fn finish(self) -> ValueCounts {
        let Growing { n_groups, coarseness, cells, counts } = self;
        ValueCounts {
            coarseness,
            counts: Matrix::from_shape_vec((cells.len(), n_groups), counts)
                .expect("every cell has a number a group"),
            cells: cells.into_iter().map(|cell| number(cell << coarseness)).collect(),
        }
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
pub struct GroupValueCounts {
    /// How many groups there are.
    n_groups: usize,
    /// One entry a column.
    pub columns: Vec<ValueCounts>,
}

impl GroupValueCounts {
    /// GroupValueCounts columns of finite or missing numbers.
    pub fn of_columns(
        x: &Matrix,
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> GroupValueCounts {
        let columns = x
            .columns()
            .into_iter()
            .map(|column| ValueCounts::of_column(column.iter().copied(), slots, weights, n_groups))
            .collect();
        GroupValueCounts { n_groups, columns }
    }
}

impl Grouped for GroupValueCounts {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        GroupValueCounts { n_groups, columns: vec![ValueCounts::empty(n_groups); n_columns] }
    }

    fn shape(&self) -> (usize, usize) {
        (self.n_groups, self.columns.len())
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        for (tally, more) in self.columns.iter_mut().zip(&other.columns) {
            tally.merge(more, &[(theirs, mine)]);
        }
    }

    fn merge_groups(&mut self, places: &[usize], other: &Self) {
        let places: Vec<(usize, usize)> = places.iter().copied().enumerate().collect();
        for (tally, more) in self.columns.iter_mut().zip(&other.columns) {
            tally.merge(more, &places);
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

    fn tally(values: &[f64], slots: &[u32]) -> ValueCounts {
        ValueCounts::of_column(values.iter().copied(), slots, &[], 2)
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
            left.merge(&right, &[(0, 0), (1, 1)]);

            assert_eq!(left, whole);
        }
        assert!(!whole.is_exact() && whole.cells.len() > MOST_CELLS / 4);
        assert_eq!(whole.counts.sum(), 5000.0);
    }

    #[test]
    fn few_values_are_kept_as_they_are_and_forgotten_again() {
        let whole = tally(&[3.0, -1.0, f64::NAN, 3.0, -0.0], &[0, 1, 0, 1, 1]);
        assert_eq!(whole.values(), [-1.0, 0.0, 3.0]);
        assert_eq!(whole.counts(), ndarray::array![[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]);

        let mut left = whole.clone();
        left.forget_group(1, &tally(&[-1.0], &[1]), 1).unwrap();

        assert_eq!(left, tally(&[3.0, 3.0, 0.0], &[0, 1, 1]));
        assert!(left.forget_group(0, &tally(&[7.0], &[0]), 0).is_none());
    }
}
