//! A bottom-k sample of the rows (Cohen & Kaplan 2007): the rows with the smallest hash values.
//!
//! The hash of a row depends on its cells only. So equal rows of a group are one entry with a weight, any split of the
//! rows merges to the same sample, and each distinct row is sampled with equal probability. Up to the maximum size, the
//! sample consists of all rows.

use super::counts::subtract_count;
use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::random::splitmix64;
use serde::{Deserialize, Serialize};

/// Maximum number of entries.
const MAX_ROWS: usize = 4096;
/// Above every key. Integers up to here are stored in a file exactly.
const KEY_BOUND: u64 = 1 << 62;
/// The representation of a missing cell: no cell is infinite, and unlike NaN it equals itself.
const MISSING_CELL: f64 = f64::INFINITY;

/// The rows with the smallest keys, ascending by key and group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Flat", into = "Flat")]
pub struct Sample {
    /// Rows whose key is not below this limit are not in the sample.
    limit: u64,
    entries: Vec<Entry>,
}

/// A distinct row of a group and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    key: u64,
    /// Its group.
    pub group: u32,
    /// Its weight.
    pub weight: f64,
    /// The cells that are not terms, with [`MISSING_CELL`] for missing ones.
    stored: Vec<f64>,
    /// The terms that occur, as ascending indices behind the other cells.
    pub terms: Vec<u32>,
    /// The count of each term.
    pub counts: Vec<f64>,
}

impl Default for Sample {
    fn default() -> Self {
        Sample { limit: KEY_BOUND, entries: Vec::new() }
    }
}

impl Entry {
    fn new(group: u32, weight: f64, cells: &[f64], mut terms: Vec<(u32, f64)>) -> Entry {
        terms.sort_unstable_by_key(|(j, _)| *j);
        // Both zeros are equal, and so are all missing cells.
        let plain = |x: &f64| if x.is_nan() { MISSING_CELL } else { x + 0.0 };
        let stored: Vec<f64> = cells.iter().map(plain).collect();
        let (terms, counts): (Vec<u32>, Vec<f64>) = terms.into_iter().unzip();
        let key = key(&stored, &terms, &counts);
        Entry { key, group, weight, stored, terms, counts }
    }

    /// The cells that are not terms; NaN if missing.
    pub fn cells(&self) -> impl Iterator<Item = f64> {
        (0..self.stored.len()).map(|j| self.cell(j))
    }

    /// One of the cells that are not terms.
    pub fn cell(&self, j: usize) -> f64 {
        if self.stored[j] == MISSING_CELL { f64::NAN } else { self.stored[j] }
    }

    fn order_key(&self) -> (u64, u32) {
        (self.key, self.group)
    }
}

impl Sample {
    /// The sample of rows whose first `head` columns are cells and the others terms. `group_of_row[i]` is the group of
    /// row `i`. Rows of weight zero are skipped.
    pub fn of_rows(rows: &Rows<'_>, head: usize, group_of_row: &[u32], weights: &[f64]) -> Sample {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut entries = Vec::new();
        let mut push = |i: usize, cells: &[f64], terms: Vec<(u32, f64)>| {
            if weight(i) > 0.0 {
                entries.push(Entry::new(group_of_row[i], weight(i), cells, terms));
            }
        };
        let (n, width) = (rows.n_rows(), rows.n_columns().max(1));
        if let Some(block) = rows.block(0..n) {
            for (i, row) in block.chunks_exact(width).enumerate() {
                let terms = row[head..].iter().enumerate().filter(|(_, n)| **n != 0.0);
                push(i, &row[..head], terms.map(|(j, n)| (j as u32, *n)).collect());
            }
        } else if let Rows::Sparse(x) = rows {
            let mut cells = vec![0.0; head];
            for (i, (columns, values)) in x.sum_duplicates().view().iter().enumerate() {
                cells.fill(0.0);
                let mut terms = Vec::new();
                for (j, value) in columns.iter().zip(values) {
                    match cells.get_mut(*j as usize) {
                        Some(cell) => *cell = *value,
                        None if *value != 0.0 => terms.push((*j as u32 - head as u32, *value)),
                        None => {}
                    }
                }
                push(i, &cells, terms);
            }
        }
        // The sort is stable: the weights of equal rows are added in their order.
        entries.sort_by_key(Entry::order_key);
        let mut sample = Sample { limit: KEY_BOUND, entries: Vec::new() };
        entries.into_iter().for_each(|entry| sample.push(entry));
        sample.shrink();
        sample
    }

    /// The sampled rows, ascending by key.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Appends an entry, or adds its weight to the last one if that is the same row.
    fn push(&mut self, entry: Entry) {
        match self.entries.last_mut() {
            Some(last) if last.order_key() == entry.order_key() => last.weight += entry.weight,
            _ => self.entries.push(entry),
        }
    }

    /// Lowers the limit until there are few enough entries.
    fn shrink(&mut self) {
        if let Some(first_too_many) = self.entries.get(MAX_ROWS) {
            self.limit = self.limit.min(first_too_many.key);
        }
        let retained = self.entries.partition_point(|entry| entry.key < self.limit);
        self.entries.truncate(retained);
    }

    /// Adds the rows of another sample; `targets[theirs]` is the group here.
    pub fn merge(&mut self, targets: &[usize], other: &Sample) {
        self.add(other, |group| targets.get(group).copied());
    }

    /// Adds the rows of the group `theirs` to the group `mine`.
    pub fn merge_group(&mut self, mine: usize, other: &Sample, theirs: usize) {
        self.add(other, |group| (group == theirs).then_some(mine));
    }

    fn add(&mut self, other: &Sample, order_key: impl Fn(usize) -> Option<usize>) {
        let moved = other.entries.iter().filter_map(|entry| {
            let group = order_key(entry.group as usize)? as u32;
            Some(Entry { group, ..entry.clone() })
        });
        let mut entries = std::mem::take(&mut self.entries);
        entries.extend(moved);
        entries.sort_by_key(Entry::order_key);
        self.limit = self.limit.min(other.limit);
        entries.into_iter().for_each(|entry| self.push(entry));
        self.shrink();
    }

    /// Removes the rows of the group `theirs` from the group `mine`.
    ///
    /// # Errors
    /// If they cannot have been part of it.
    pub fn forget_group(&mut self, mine: usize, other: &Sample, theirs: usize) -> Result<()> {
        let never =
            || Error::Forget { why: "it has rows that are not in the training data".into() };
        let removed = other.entries.iter().filter(|entry| entry.group as usize == theirs);
        for entry in removed.filter(|entry| entry.key < self.limit) {
            let order_key = (entry.key, mine as u32);
            let at = self
                .entries
                .binary_search_by_key(&order_key, Entry::order_key)
                .map_err(|_| never())?;
            let left = subtract_count(self.entries[at].weight, entry.weight).ok_or_else(never)?;
            self.entries[at].weight = left;
        }
        self.entries.retain(|entry| entry.weight > 0.0);
        // Rows that the other sample does not hold cannot be removed, so they are excluded here too.
        self.limit = self.limit.min(other.limit);
        self.shrink();
        Ok(())
    }

    /// Refuses entries that do not match these numbers of groups, cells and terms.
    ///
    /// # Errors
    /// [`Error::File`] if they do not match.
    pub fn check(&self, n_groups: usize, head: usize, n_terms: usize) -> Result<()> {
        let entry = |entry: &Entry| {
            entry.key < self.limit
                && (entry.group as usize) < n_groups
                && entry.weight.is_finite()
                && entry.weight > 0.0
                && entry.stored.len() == head
                && entry.stored.iter().all(|x| x.is_finite() || *x == MISSING_CELL)
                && entry.terms.len() == entry.counts.len()
                && entry.terms.is_sorted_by(|a, b| a < b)
                && entry.terms.last().is_none_or(|j| (*j as usize) < n_terms)
                && entry.counts.iter().all(|n| n.is_finite() && *n > 0.0)
        };
        let fits = self.limit <= KEY_BOUND
            && self.entries.len() <= MAX_ROWS
            && self.entries.is_sorted_by(|a, b| a.order_key() < b.order_key())
            && self.entries.iter().all(entry);
        if fits { Ok(()) } else { Err(Error::File("an inconsistent sample".into())) }
    }
}

/// The file format of a sample: a few arrays. Keys are recomputed from the rows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flat {
    limit: u64,
    groups: Vec<u32>,
    weights: Vec<f64>,
    /// The cells of all rows that are not terms.
    cells: Vec<f64>,
    /// The end of the terms of each row.
    ends: Vec<usize>,
    terms: Vec<u32>,
    counts: Vec<f64>,
}

impl From<Sample> for Flat {
    fn from(sample: Sample) -> Flat {
        let entries = &sample.entries;
        let ends = entries.iter().scan(0, |end, entry| {
            *end += entry.terms.len();
            Some(*end)
        });
        Flat {
            limit: sample.limit,
            groups: entries.iter().map(|entry| entry.group).collect(),
            weights: entries.iter().map(|entry| entry.weight).collect(),
            cells: entries.iter().flat_map(|entry| entry.stored.iter().copied()).collect(),
            ends: ends.collect(),
            terms: entries.iter().flat_map(|entry| entry.terms.iter().copied()).collect(),
            counts: entries.iter().flat_map(|entry| entry.counts.iter().copied()).collect(),
        }
    }
}

impl TryFrom<Flat> for Sample {
    type Error = &'static str;

    fn try_from(flat: Flat) -> std::result::Result<Sample, Self::Error> {
        let n = flat.groups.len();
        let fits = flat.weights.len() == n
            && flat.ends.len() == n
            && flat.ends.is_sorted()
            && flat.ends.last().copied().unwrap_or(0) == flat.terms.len()
            && flat.counts.len() == flat.terms.len()
            && (if n == 0 { flat.cells.is_empty() } else { flat.cells.len().is_multiple_of(n) });
        if !fits {
            return Err("the arrays of a sample have different lengths");
        }
        let head = flat.cells.len() / n.max(1);
        let entry = |k: usize| {
            let start = if k == 0 { 0 } else { flat.ends[k - 1] };
            let terms = start..flat.ends[k];
            let stored = flat.cells[k * head..(k + 1) * head].to_vec();
            let (terms, counts) = (flat.terms[terms.clone()].to_vec(), &flat.counts[terms]);
            let key = key(&stored, &terms, counts);
            let (group, weight, counts) = (flat.groups[k], flat.weights[k], counts.to_vec());
            Entry { key, group, weight, stored, terms, counts }
        };
        Ok(Sample { limit: flat.limit, entries: (0..n).map(entry).collect() })
    }
}

/// The hash of a row, the same on every platform.
fn key(cells: &[f64], terms: &[u32], counts: &[f64]) -> u64 {
    let mut key = 0;
    let mut add = |bits: u64| key = splitmix64(key ^ bits);
    cells.iter().for_each(|x| add(x.to_bits()));
    for (j, n) in terms.iter().zip(counts) {
        add(u64::from(*j));
        add(n.to_bits());
    }
    key >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Matrix;
    use mercer_num::random::Random;
    use ndarray::{Axis, Slice, array};

    fn of(x: &Matrix, group_of_row: &[u32]) -> Sample {
        Sample::of_rows(&Rows::from(x), x.ncols(), group_of_row, &[])
    }

    #[test]
    fn few_rows_are_all_sampled_and_equal_ones_are_one_entry() {
        let x = array![[1.0, f64::NAN], [2.0, 0.0], [1.0, f64::NAN], [2.0, -0.0]];

        let sample = of(&x, &[0, 0, 0, 1]);

        let mut found: Vec<(u32, f64, f64)> = (sample.entries().iter())
            .map(|e| (e.group, e.weight, e.cells().next().unwrap()))
            .collect();
        found.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(found, [(0, 1.0, 2.0), (0, 2.0, 1.0), (1, 1.0, 2.0)]);
        assert_eq!(sample.entries().iter().filter(|e| e.cells().any(f64::is_nan)).count(), 1);
        assert!(sample.check(2, 2, 0).is_ok());
    }

    #[test]
    fn any_split_of_many_rows_gives_the_same_sample() {
        let mut random = Random::new(3);
        let n = 3 * MAX_ROWS;
        let x = Matrix::from_shape_fn((n, 2), |_| random.below(200) as f64);
        let group_of_row: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let part = |from: usize, to: usize| {
            of(&x.slice_axis(Axis(0), Slice::from(from..to)).to_owned(), &group_of_row[from..to])
        };

        let whole = part(0, n);
        let mut parts = part(0, 100);
        parts.merge(&[0, 1, 2], &part(100, 2 * MAX_ROWS));
        parts.merge(&[0, 1, 2], &part(2 * MAX_ROWS, n));

        assert_eq!(parts, whole);
        assert!(whole.entries().len() <= MAX_ROWS);
        assert!(whole.entries().len() > MAX_ROWS - 10);
        assert!(whole.check(3, 2, 0).is_ok());
    }

    #[test]
    fn merged_rows_can_be_removed() {
        let x = array![[1.0], [2.0], [3.0]];
        let first = of(&x, &[0, 1, 0]);
        let more = of(&array![[2.0], [5.0]], &[0, 0]);

        let mut sample = first.clone();
        sample.merge(&[1], &more);
        sample.forget_group(1, &more, 0).unwrap();

        assert_eq!(sample, first);
        assert!(sample.forget_group(1, &more, 0).is_err());
    }

    #[test]
    fn a_sample_survives_serialization() {
        let x = array![[7.0, 0.0, 2.0], [f64::NAN, 1.0, 0.0]];
        let sample = Sample::of_rows(&Rows::from(&x), 1, &[0, 1], &[2.0, 0.5]);

        let again = Sample::try_from(Flat::from(sample.clone())).unwrap();

        assert_eq!(again, sample);
    }

    #[test]
    fn only_terms_that_occur_are_stored() {
        let x = array![[7.0, 0.0, 2.0], [7.0, 1.0, 0.0]];

        let sample = Sample::of_rows(&Rows::from(&x), 1, &[0, 0], &[]);

        let mut terms: Vec<(Vec<u32>, Vec<f64>)> =
            sample.entries().iter().map(|e| (e.terms.clone(), e.counts.clone())).collect();
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(terms, [(vec![0], vec![1.0]), (vec![1], vec![2.0])]);
        assert!(sample.check(1, 1, 2).is_ok());
        assert!(sample.check(1, 1, 1).is_err());
    }
}
