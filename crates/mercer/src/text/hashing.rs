//! Terms by hash: a column is a number computed from the term, so there is no vocabulary to learn
//! or to keep (Weinberger et al., 2009).
//!
//! The hash is MurmurHash3 for 32 bits with seed zero. Its absolute value modulo the number of
//! columns is the column and its sign the sign of the count, as in scikit-learn.

use super::analyzer::{Analyzer, Scratch};
use super::counts::{DocumentCounts, TextRows, in_blocks};
use crate::error::{Error, Result};
use crate::model::Monitor;
use serde::{Deserialize, Serialize};

/// How terms become columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hashing {
    /// How many columns there are.
    pub n_features: usize,
    /// What the sign of a hash does.
    pub sign: Sign,
}

/// What the sign of a hash does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// Half of the terms count negative, so that terms in one column cancel on average.
    Alternate,
    /// Every count is positive, as naive Bayes needs it.
    Positive,
}

impl Default for Hashing {
    fn default() -> Hashing {
        Hashing { n_features: 1 << 20, sign: Sign::Alternate }
    }
}

impl Hashing {
    /// The column of a term, and whether it counts positive.
    ///
    /// ```
    /// use mercer::text::Hashing;
    /// let hashing = Hashing { n_features: 16, ..Hashing::default() };
    /// assert_eq!(hashing.column(b"hello"), (7, true));
    /// ```
    pub fn column(&self, term: &[u8]) -> (u32, bool) {
        let hash = murmur3(term, 0) as i32;
        let (size, n) = (u64::from(hash.unsigned_abs()), self.n_features as u64);
        // The usual numbers of columns are powers of two, for which nothing needs to be divided.
        let column = if n.is_power_of_two() { size & (n - 1) } else { size % n };
        (column as u32, self.sign == Sign::Positive || hash >= 0)
    }

    /// Refuses a number of columns that no matrix has.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<()> {
        if (1..=i32::MAX as usize).contains(&self.n_features) {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "n_features".into(),
            found: self.n_features.to_string(),
            expected: "a whole number from 1 to 2147483647".into(),
        })
    }

    /// Counts the terms of texts by column.
    ///
    /// # Errors
    /// If the analyzer is not usable, or [`Error::Stopped`].
    pub fn count(
        &self,
        texts: &[&str],
        analyzer: &Analyzer,
        monitor: &Monitor<'_>,
    ) -> Result<TextRows> {
        self.check()?;
        let reader = analyzer.reader()?;
        let blocks = in_blocks(texts, monitor, |texts, state: &mut (Scratch, Vec<u64>)| {
            let (scratch, row) = state;
            let mut rows = TextRows::default();
            for text in texts {
                row.clear();
                reader.each(text, scratch, |text, from, to| {
                    let (column, positive) = self.column(&text[from..to]);
                    row.push(u64::from(column) << 1 | u64::from(positive));
                });
                row.sort_unstable();
                for same in row.chunk_by(|a, b| a >> 1 == b >> 1) {
                    let value = same.iter().map(|cell| (cell & 1) as f64 * 2.0 - 1.0).sum();
                    rows.columns.push((same[0] >> 1) as i32);
                    // Terms that cancel leave a zero: the column was met.
                    rows.values.push(value);
                }
                rows.starts.push(rows.columns.len());
                rows.lengths.push(row.len() as u32);
            }
            rows
        })?;
        let mut all =
            TextRows { starts: vec![0], n_columns: self.n_features, ..TextRows::default() };
        let n_cells = blocks.iter().map(|block| block.columns.len()).sum();
        all.columns.reserve_exact(n_cells);
        all.values.reserve_exact(n_cells);
        for block in blocks {
            let start = all.columns.len();
            all.starts.extend(block.starts.iter().map(|end| start + end));
            all.columns.extend_from_slice(&block.columns);
            all.values.extend_from_slice(&block.values);
            all.lengths.extend_from_slice(&block.lengths);
        }
        Ok(all)
    }

    /// For every column the term that brought most texts to it, where any did.
    pub fn names(&self, counts: &DocumentCounts) -> Vec<Option<String>> {
        let mut best: Vec<Option<usize>> = vec![None; self.n_features];
        for (id, term) in counts.vocabulary.terms().enumerate() {
            let place = &mut best[self.column(term.as_bytes()).0 as usize];
            if place.is_none_or(|other| counts.documents[other] < counts.documents[id]) {
                *place = Some(id);
            }
        }
        best.iter().map(|id| id.map(|id| counts.vocabulary.term(id).to_owned())).collect()
    }
}

/// MurmurHash3, the 32-bit variant (Appleby, 2011).
fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let scramble = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (words, rest) = bytes.as_chunks::<4>();
    let mut h = seed;
    for word in words {
        h ^= scramble(u32::from_le_bytes(*word));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !rest.is_empty() {
        let tail = match bytes.last_chunk::<4>() {
            Some(last) => u32::from_le_bytes(*last) >> (32 - 8 * rest.len()),
            None => rest.iter().rev().fold(0, |k: u32, b| k << 8 | u32::from(*b)),
        };
        h ^= scramble(tail);
    }
    h ^= bytes.len() as u32;
    h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_murmurs() {
        // From the verification values that accompany the reference implementation.
        assert_eq!(murmur3(b"", 0), 0);
        assert_eq!(murmur3(b"", 1), 0x514e_28b7);
        assert_eq!(murmur3(b"hello", 0), 0x248b_fa47);
        assert_eq!(murmur3(b"hello, world", 0), 0x149b_bb7f);
        assert_eq!(murmur3(b"The quick brown fox jumps over the lazy dog", 0), 0x2e4f_f723);
    }

    #[test]
    fn terms_of_one_column_add_up_or_cancel() {
        let one = Hashing { n_features: 1, sign: Sign::Positive };
        let signed = Hashing { n_features: 1, sign: Sign::Alternate };
        let texts = ["one two three four", ""];
        let signs: f64 = ["one", "two", "three", "four"]
            .iter()
            .map(|w| if (murmur3(w.as_bytes(), 0) as i32) < 0 { -1.0 } else { 1.0 })
            .sum();

        let positive = one.count(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();
        let both = signed.count(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();

        assert_eq!((positive.starts, positive.values), (vec![0, 1, 1], vec![4.0]));
        assert_eq!(both.values, [signs]);
    }

    #[test]
    fn names_come_back_from_the_texts() {
        let hashing = Hashing { n_features: 2, sign: Sign::Positive };
        let texts = ["ham ham eggs", "ham"];
        let counts = DocumentCounts::of(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();

        let names = hashing.names(&counts);

        let at = hashing.column(b"ham").0 as usize;
        assert_eq!(names[at].as_deref(), Some("ham"));
        assert!(Hashing { n_features: 0, ..hashing }.check().is_err());
    }
}
