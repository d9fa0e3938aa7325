//! Some of the rows, and the same ones however the rows are split: those whose cells hash to the
//! smallest keys.
//!
//! A key follows from the cells of a row and nothing else, so equal rows of a group are one entry with a
//! weight, the smallest keys of the whole are among the smallest of every part, and each distinct row is
//! as likely to be kept as any other (bottom-k samples; Cohen & Kaplan 2007). Up to so many rows the
//! sample is the rows themselves.

use super::counts::take_away;
use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::random::splitmix64;
use serde::{Deserialize, Serialize};

/// Entries at most.
const MOST_ROWS: usize = 4096;
/// Above every key; whole numbers up to here fit into a file.
const ALL: u64 = 1 << 62;
/// What stands for a missing cell: no cell may be infinite, and unlike NaN it equals itself.
const GAP: f64 = f64::INFINITY;

/// Rows with the smallest keys, by rising key and group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Flat", into = "Flat")]
pub struct Sample {
    /// Rows whose key is not below this are left out.
    limit: u64,
    entries: Vec<Entry>,
}

/// A row of a group, and how much of it there is.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    key: u64,
    /// Its group.
    pub group: u32,
    /// Its weight.
    pub weight: f64,
    /// Its cells that are no words; [`Entry::cells`] has them as rows have them.
    stored: Vec<f64>,
    /// The words that occur in it, by place behind the other cells, rising.
    pub words: Vec<u32>,
    /// How often they occur.
    pub counts: Vec<f64>,
}

impl Default for Sample {
    fn default() -> Self {
        Sample { limit: ALL, entries: Vec::new() }
    }
}

impl Entry {
    fn new(group: u32, weight: f64, cells: &[f64], mut words: Vec<(u32, f64)>) -> Entry {
        words.sort_unstable_by_key(|(j, _)| *j);
        // Both zeros are one number, and every gap is the same.
        let plain = |x: &f64| if x.is_nan() { GAP } else { x + 0.0 };
        let stored: Vec<f64> = cells.iter().map(plain).collect();
        let (words, counts): (Vec<u32>, Vec<f64>) = words.into_iter().unzip();
        let key = key(&stored, &words, &counts);
        Entry { key, group, weight, stored, words, counts }
    }

    /// The cells that are no words; a missing one is NaN.
    pub fn cells(&self) -> impl Iterator<Item = f64> {
        (0..self.stored.len()).map(|j| self.cell(j))
    }

    /// One of them.
    pub fn cell(&self, j: usize) -> f64 {
        if self.stored[j] == GAP { f64::NAN } else { self.stored[j] }
    }

    fn place(&self) -> (u64, u32) {
        (self.key, self.group)
    }
}

impl Sample {
    /// The sample of some rows: the first `head` columns are cells, the others words. `slots[i]` is the
    /// group of row `i`; rows without weight are skipped.
    pub fn of_rows(rows: &Rows<'_>, head: usize, slots: &[u32], weights: &[f64]) -> Sample {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut entries = Vec::new();
        let mut push = |i: usize, cells: &[f64], words: Vec<(u32, f64)>| {
            if weight(i) > 0.0 {
                entries.push(Entry::new(slots[i], weight(i), cells, words));
            }
        };
        let (n, width) = (rows.n_rows(), rows.n_columns().max(1));
        if let Some(block) = rows.block(0..n) {
            for (i, row) in block.chunks_exact(width).enumerate() {
                let words = row[head..].iter().enumerate().filter(|(_, n)| **n != 0.0);
                push(i, &row[..head], words.map(|(j, n)| (j as u32, *n)).collect());
            }
        } else if let Rows::Sparse(x) = rows {
            let mut cells = vec![0.0; head];
            for (i, (columns, values)) in x.sum_duplicates().view().iter().enumerate() {
                cells.fill(0.0);
                let mut words = Vec::new();
                for (j, value) in columns.iter().zip(values) {
                    match cells.get_mut(*j as usize) {
                        Some(cell) => *cell = *value,
                        None if *value != 0.0 => words.push((*j as u32 - head as u32, *value)),
                        None => {}
                    }
                }
                push(i, &cells, words);
            }
        }
        // Stable: equal rows are added in the order they came.
        entries.sort_by_key(Entry::place);
        let mut sample = Sample { limit: ALL, entries: Vec::new() };
        entries.into_iter().for_each(|entry| sample.push(entry));
        sample.shrink();
        sample
    }

    /// The rows, by rising key.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry at the end, to the last one where that is the same row.
    fn push(&mut self, entry: Entry) {
        match self.entries.last_mut() {
            Some(last) if last.place() == entry.place() => last.weight += entry.weight,
            _ => self.entries.push(entry),
        }
    }

    /// Lowers the limit until there are few enough entries.
    fn shrink(&mut self) {
        if let Some(first_too_many) = self.entries.get(MOST_ROWS) {
            self.limit = self.limit.min(first_too_many.key);
        }
        let kept = self.entries.partition_point(|entry| entry.key < self.limit);
        self.entries.truncate(kept);
    }

    /// Adds the rows of another; `places` has the group here for each of theirs.
    pub fn merge(&mut self, places: &[usize], other: &Sample) {
        self.add(other, |group| places.get(group).copied());
    }

    /// Adds the rows of one of their groups to one of mine.
    pub fn merge_group(&mut self, mine: usize, other: &Sample, theirs: usize) {
        self.add(other, |group| (group == theirs).then_some(mine));
    }

    fn add(&mut self, other: &Sample, place: impl Fn(usize) -> Option<usize>) {
        let moved = other.entries.iter().filter_map(|entry| {
            let group = place(entry.group as usize)? as u32;
            Some(Entry { group, ..entry.clone() })
        });
        let mut entries = std::mem::take(&mut self.entries);
        entries.extend(moved);
        entries.sort_by_key(Entry::place);
        self.limit = self.limit.min(other.limit);
        entries.into_iter().for_each(|entry| self.push(entry));
        self.shrink();
    }

    /// Takes the rows of one of their groups out of one of mine.
    ///
    /// # Errors
    /// If they cannot have been in.
    pub fn forget_group(&mut self, mine: usize, other: &Sample, theirs: usize) -> Result<()> {
        let never = || Error::Forget { why: "it has rows that were never learned".into() };
        let gone = other.entries.iter().filter(|entry| entry.group as usize == theirs);
        for entry in gone.filter(|entry| entry.key < self.limit) {
            let place = (entry.key, mine as u32);
            let at =
                self.entries.binary_search_by_key(&place, Entry::place).map_err(|_| never())?;
            let left = take_away(self.entries[at].weight, entry.weight).ok_or_else(never)?;
            self.entries[at].weight = left;
        }
        self.entries.retain(|entry| entry.weight > 0.0);
        // What the others did not keep cannot be taken out, so it is not kept here either.
        self.limit = self.limit.min(other.limit);
        self.shrink();
        Ok(())
    }

    /// Refuses rows that cannot have been among those of so many groups, cells and words.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, n_groups: usize, head: usize, n_words: usize) -> Result<()> {
        let entry = |entry: &Entry| {
            entry.key < self.limit
                && (entry.group as usize) < n_groups
                && entry.weight.is_finite()
                && entry.weight > 0.0
                && entry.stored.len() == head
                && entry.stored.iter().all(|x| x.is_finite() || *x == GAP)
                && entry.words.len() == entry.counts.len()
                && entry.words.is_sorted_by(|a, b| a < b)
                && entry.words.last().is_none_or(|j| (*j as usize) < n_words)
                && entry.counts.iter().all(|n| n.is_finite() && *n > 0.0)
        };
        let fits = self.limit <= ALL
            && self.entries.len() <= MOST_ROWS
            && self.entries.is_sorted_by(|a, b| a.place() < b.place())
            && self.entries.iter().all(entry);
        if fits { Ok(()) } else { Err(Error::File("a sample that no rows could have".into())) }
    }
}

/// A sample as files have it: a few arrays. Keys follow from the rows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flat {
    limit: u64,
    groups: Vec<u32>,
    weights: Vec<f64>,
    /// The cells of all rows that are no words.
    cells: Vec<f64>,
    /// Where the words of each row end.
    ends: Vec<usize>,
    words: Vec<u32>,
    counts: Vec<f64>,
}

impl From<Sample> for Flat {
    fn from(sample: Sample) -> Flat {
        let entries = &sample.entries;
        let ends = entries.iter().scan(0, |end, entry| {
            *end += entry.words.len();
            Some(*end)
        });
        Flat {
            limit: sample.limit,
            groups: entries.iter().map(|entry| entry.group).collect(),
            weights: entries.iter().map(|entry| entry.weight).collect(),
            cells: entries.iter().flat_map(|entry| entry.stored.iter().copied()).collect(),
            ends: ends.collect(),
            words: entries.iter().flat_map(|entry| entry.words.iter().copied()).collect(),
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
            && flat.ends.last().copied().unwrap_or(0) == flat.words.len()
            && flat.counts.len() == flat.words.len()
            && (if n == 0 { flat.cells.is_empty() } else { flat.cells.len().is_multiple_of(n) });
        if !fits {
            return Err("a sample whose parts do not fit together");
        }
        let head = flat.cells.len() / n.max(1);
        let entry = |k: usize| {
            let start = if k == 0 { 0 } else { flat.ends[k - 1] };
            let words = start..flat.ends[k];
            let stored = flat.cells[k * head..(k + 1) * head].to_vec();
            let (words, counts) = (flat.words[words.clone()].to_vec(), &flat.counts[words]);
            let key = key(&stored, &words, counts);
            let (group, weight, counts) = (flat.groups[k], flat.weights[k], counts.to_vec());
            Entry { key, group, weight, stored, words, counts }
        };
        Ok(Sample { limit: flat.limit, entries: (0..n).map(entry).collect() })
    }
}

/// The key of a row: the same on every machine.
fn key(cells: &[f64], words: &[u32], counts: &[f64]) -> u64 {
    let mut key = 0;
    let mut add = |bits: u64| key = splitmix64(key ^ bits);
    cells.iter().for_each(|x| add(x.to_bits()));
    for (j, n) in words.iter().zip(counts) {
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

    fn of(x: &Matrix, slots: &[u32]) -> Sample {
        Sample::of_rows(&Rows::from(x), x.ncols(), slots, &[])
    }

    #[test]
    fn few_rows_are_all_kept_and_equal_ones_are_one() {
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
    fn any_split_of_many_rows_keeps_the_same() {
        let mut random = Random::new(3);
        let n = 3 * MOST_ROWS;
        let x = Matrix::from_shape_fn((n, 2), |_| random.below(200) as f64);
        let slots: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let part = |from: usize, to: usize| {
            of(&x.slice_axis(Axis(0), Slice::from(from..to)).to_owned(), &slots[from..to])
        };

        let whole = part(0, n);
        let mut parts = part(0, 100);
        parts.merge(&[0, 1, 2], &part(100, 2 * MOST_ROWS));
        parts.merge(&[0, 1, 2], &part(2 * MOST_ROWS, n));

        assert_eq!(parts, whole);
        assert!(whole.entries().len() <= MOST_ROWS);
        assert!(whole.entries().len() > MOST_ROWS - 10);
        assert!(whole.check(3, 2, 0).is_ok());
    }

    #[test]
    fn what_was_added_can_be_taken_out() {
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
    fn a_file_holds_the_whole_sample() {
        let x = array![[7.0, 0.0, 2.0], [f64::NAN, 1.0, 0.0]];
        let sample = Sample::of_rows(&Rows::from(&x), 1, &[0, 1], &[2.0, 0.5]);

        let again = Sample::try_from(Flat::from(sample.clone())).unwrap();

        assert_eq!(again, sample);
    }

    #[test]
    fn words_are_kept_where_they_occur() {
        let x = array![[7.0, 0.0, 2.0], [7.0, 1.0, 0.0]];

        let sample = Sample::of_rows(&Rows::from(&x), 1, &[0, 0], &[]);

        let mut words: Vec<(Vec<u32>, Vec<f64>)> =
            sample.entries().iter().map(|e| (e.words.clone(), e.counts.clone())).collect();
        words.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(words, [(vec![0], vec![1.0]), (vec![1], vec![2.0])]);
        assert!(sample.check(1, 1, 2).is_ok());
        assert!(sample.check(1, 1, 1).is_err());
    }
}
