//! Weighted histograms of numeric columns by group, in bounded memory.
//!
//! A column with few distinct values stores each of them. With more, neighboring values share a bin: the lowest bits of
//! their representation are dropped, one more whenever there are too many bins. The number of dropped bits depends on
//! the set of values only and never decreases as values are added, so any split of the rows merges to the same bins,
//! unlike with sampling or balancing sketches.

use super::Grouped;
use super::counts::subtract_count;
use crate::error::{Error, Result};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};

/// Maximum number of bins of a column.
const MAX_BINS: usize = 1024;

/// The weighted histogram of one column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueCounts {
    /// The number of low bits that are dropped.
    coarseness: u32,
    /// The smallest value of each bin, ascending.
    bins: Vec<f64>,
    /// `Σ w`, one row per bin and one column per group.
    counts: Matrix,
}

impl ValueCounts {
    fn empty(n_groups: usize) -> ValueCounts {
        ValueCounts { counts: Matrix::zeros((0, n_groups)), ..ValueCounts::default() }
    }

    /// Counts the cells of a column; `group_of_row[i]` is the group of row `i`. Missing cells and rows of weight zero
    /// are skipped.
    fn of_column(
        column: impl Iterator<Item = f64>,
        group_of_row: &[u32],
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
        let mut builder = HistogramBuilder::new(n_groups, coarseness, order.len().min(MAX_BINS));
        for (key, i) in &order {
            builder.bin(*key)[group_of_row[*i as usize] as usize] += weight(*i as usize);
        }
        builder.finish()
    }

    /// Whether every bin holds a single value.
    pub fn is_exact(&self) -> bool {
        self.coarseness == 0
    }

    /// One representative per bin: its value if it holds a single one, else the middle.
    pub fn values(&self) -> Vec<f64> {
        if self.is_exact() {
            return self.bins.clone();
        }
        // Halving first avoids overflow.
        self.bins.iter().map(|low| 0.5 * low + 0.5 * self.end(*low)).collect()
    }

    /// The smallest value of each bin, ascending.
    pub fn bins(&self) -> &[f64] {
        &self.bins
    }

    /// The smallest value, and the largest one that the last bin can hold; `None` without values.
    pub fn range(&self) -> Option<(f64, f64)> {
        let (low, last) = (self.bins.first()?, self.bins.last()?);
        Some((*low, if self.is_exact() { *last } else { self.end(*last) }))
    }

    /// The weights, one row per group and one column per bin.
    pub fn counts(&self) -> Matrix {
        self.counts.t().as_standard_layout().into_owned()
    }

    /// The largest value that a bin can hold.
    fn end(&self, low: f64) -> f64 {
        value_of_key(key(low) | ((1 << self.coarseness) - 1))
    }

    /// The bins with their weights.
    fn iter(&self) -> impl Iterator<Item = (u64, &[f64])> {
        let n_groups = self.counts.ncols().max(1);
        let counts = self.counts.as_slice().unwrap_or_default().chunks_exact(n_groups);
        self.bins.iter().map(|low| key(*low)).zip(counts)
    }

    /// Joins neighboring bins until there are few enough.
    fn coarsen(&mut self) {
        let coarseness = enough_coarseness(self.iter().map(|(key, _)| key), self.coarseness);
        if coarseness > self.coarseness {
            let mut builder =
                HistogramBuilder::new(self.counts.ncols(), coarseness, self.bins.len());
            for (key, counts) in self.iter() {
                builder.bin(key).iter_mut().zip(counts).for_each(|(to, n)| *to += n);
            }
            *self = builder.finish();
        }
    }

    /// Adds groups of another histogram; each pair is a group of theirs and one of mine.
    fn merge(&mut self, other: &ValueCounts, pairs: &[(usize, usize)]) {
        let coarseness = self.coarseness.max(other.coarseness);
        let capacity = self.bins.len() + other.bins.len();
        let mut builder = HistogramBuilder::new(self.counts.ncols(), coarseness, capacity);
        let mut mine = self.iter().peekable();
        let theirs = other.iter().filter(|(_, n)| pairs.iter().any(|(from, _)| n[*from] > 0.0));
        for (key, more) in theirs {
            while let Some((key, counts)) = mine.next_if(|(mine, _)| *mine <= key) {
                builder.bin(key).iter_mut().zip(counts).for_each(|(to, n)| *to += n);
            }
            let bin = builder.bin(key);
            pairs.iter().for_each(|(from, to)| bin[*to] += more[*from]);
        }
        for (key, counts) in mine {
            builder.bin(key).iter_mut().zip(counts).for_each(|(to, n)| *to += n);
        }
        *self = builder.finish();
        self.coarsen();
    }

    fn forget_group(&mut self, mine: usize, other: &ValueCounts, theirs: usize) -> Option<()> {
        if other.coarseness > self.coarseness {
            return None;
        }
        for (key, n) in other.iter().filter(|(_, n)| n[theirs] > 0.0) {
            let low = value_of_key(key >> self.coarseness << self.coarseness);
            let at = self.bins.binary_search_by(|bin| bin.total_cmp(&low)).ok()?;
            self.counts[[at, mine]] = subtract_count(self.counts[[at, mine]], n[theirs])?;
        }
        // Removes empty bins.
        let mut builder =
            HistogramBuilder::new(self.counts.ncols(), self.coarseness, self.bins.len());
        for (key, counts) in self.iter().filter(|(_, counts)| counts.iter().any(|n| *n > 0.0)) {
            builder.bin(key).copy_from_slice(counts);
        }
        *self = builder.finish();
        Some(())
    }

    fn fits(&self, n_groups: usize) -> bool {
        self.coarseness < 64
            && self.counts.dim() == (self.bins.len(), n_groups)
            && self.bins.iter().all(|x| x.is_finite())
            && self.bins.is_sorted_by(|a, b| a < b)
            && self.counts.iter().all(|n| n.is_finite() && *n >= 0.0)
            // A bin exists because of a value that it holds.
            && self.counts.outer_iter().all(|counts| counts.iter().any(|n| *n > 0.0))
    }
}

/// A histogram under construction, whose bins come in ascending order.
struct HistogramBuilder {
    n_groups: usize,
    coarseness: u32,
    bins: Vec<u64>,
    counts: Vec<f64>,
}

impl HistogramBuilder {
    fn new(n_groups: usize, coarseness: u32, capacity: usize) -> HistogramBuilder {
        let (bins, counts) =
            (Vec::with_capacity(capacity), Vec::with_capacity(capacity * n_groups));
        HistogramBuilder { n_groups, coarseness, bins, counts }
    }

    /// The weights of the bin of a key: the last bin or a new one.
    fn bin(&mut self, key: u64) -> &mut [f64] {
        let bin = key >> self.coarseness;
        if self.bins.last() != Some(&bin) {
            self.bins.push(bin);
            self.counts.resize(self.counts.len() + self.n_groups, 0.0);
        }
        let last = self.counts.len() - self.n_groups;
        &mut self.counts[last..]
    }

    fn finish(self) -> ValueCounts {
        let HistogramBuilder { n_groups, coarseness, bins, counts } = self;
        ValueCounts {
            coarseness,
            counts: Matrix::from_shape_vec((bins.len(), n_groups), counts)
                .expect("one count per bin and group"),
            bins: bins.into_iter().map(|bin| value_of_key(bin << coarseness)).collect(),
        }
    }
}

/// The bits of a value as an integer of the same order; both zeros have one key.
fn key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The value of a key; the bounds of the outermost bins stay finite.
fn value_of_key(key: u64) -> f64 {
    let x = f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key });
    match x.is_finite() {
        true => x,
        false if key >> 63 == 1 => f64::MAX,
        false => f64::MIN,
    }
}

/// The smallest number of low bits to drop, at least `at_least`, so that ascending keys fall into few enough bins. Two
/// neighbors stay in different bins as long as their highest differing bit is not dropped.
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
    while n_cells > MAX_BINS {
        coarseness += 1;
        n_cells -= differing[coarseness as usize];
    }
    coarseness
}

/// The histograms of several columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupValueCounts {
    /// The number of groups.
    n_groups: usize,
    /// One histogram per column.
    pub columns: Vec<ValueCounts>,
}

impl GroupValueCounts {
    /// Counts the values of columns with finite or missing cells.
    pub fn of_columns(
        x: &Matrix,
        group_of_row: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> GroupValueCounts {
        let columns = x
            .columns()
            .into_iter()
            .map(|column| {
                ValueCounts::of_column(column.iter().copied(), group_of_row, weights, n_groups)
            })
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
        for (histogram, more) in self.columns.iter_mut().zip(&other.columns) {
            histogram.merge(more, &[(theirs, mine)]);
        }
    }

    fn merge_groups(&mut self, pairs: &[usize], other: &Self) {
        let pairs: Vec<(usize, usize)> = pairs.iter().copied().enumerate().collect();
        for (histogram, more) in self.columns.iter_mut().zip(&other.columns) {
            histogram.merge(more, &pairs);
        }
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        for (j, (histogram, removed)) in self.columns.iter_mut().zip(&other.columns).enumerate() {
            histogram.forget_group(mine, removed, theirs).ok_or_else(|| Error::Forget {
                why: format!("column {} has fewer such values", j + 1),
            })?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.columns.iter().all(|histogram| histogram.fits(self.n_groups)) {
            Ok(())
        } else {
            Err(Error::File("inconsistent histograms".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use proptest::prelude::*;

    fn histogram(values: &[f64], group_of_row: &[u32]) -> ValueCounts {
        ValueCounts::of_column(values.iter().copied(), group_of_row, &[], 2)
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_values(a in -1e300..1e300f64, b in -1e-300..1e300f64) {
            prop_assert_eq!(key(a).cmp(&key(b)), a.total_cmp(&b));
            prop_assert_eq!(value_of_key(key(a)), a);
        }
    }

    #[test]
    fn any_split_of_many_values_merges_to_the_same_bins() {
        let mut random = Random::new(3);
        let values: Vec<f64> =
            (0..5000).map(|i| if i % 3 == 0 { 0.0 } else { random.normal() }).collect();
        let group_of_row: Vec<u32> = (0..5000).map(|i| i % 2).collect();
        let whole = histogram(&values, &group_of_row);

        for cut in [1, 700, 2500, 4999] {
            let mut left = histogram(&values[..cut], &group_of_row[..cut]);
            let right = histogram(&values[cut..], &group_of_row[cut..]);
            left.merge(&right, &[(0, 0), (1, 1)]);

            assert_eq!(left, whole);
        }
        assert!(!whole.is_exact() && whole.bins.len() > MAX_BINS / 4);
        assert_eq!(whole.counts.sum(), 5000.0);
    }

    #[test]
    fn few_values_are_stored_exactly_and_can_be_removed() {
        let whole = histogram(&[3.0, -1.0, f64::NAN, 3.0, -0.0], &[0, 1, 0, 1, 1]);
        assert_eq!(whole.values(), [-1.0, 0.0, 3.0]);
        assert_eq!(whole.counts(), ndarray::array![[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]);

        let mut left = whole.clone();
        left.forget_group(1, &histogram(&[-1.0], &[1]), 1).unwrap();

        assert_eq!(left, histogram(&[3.0, 3.0, 0.0], &[0, 1, 1]));
        assert!(left.forget_group(0, &histogram(&[7.0], &[0]), 0).is_none());
    }
}
