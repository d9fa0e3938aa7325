//! Feature hashing: the column of a term is its hash modulo the number of columns, so no vocabulary is
//! learned or stored (Weinberger et al., 2009).
//!
//! The hash is MurmurHash3 for 32 bits with seed zero. Its absolute value determines the column and its
//! sign the sign of the count, as in scikit-learn.

use super::analyzer::{Analyzer, Scratch};
use super::counter::in_blocks;
use super::document_frequencies::DocumentFrequencies;
use crate::data::DocumentTermMatrix;
use crate::error::{Error, Result};
use crate::model::Monitor;
use serde::{Deserialize, Serialize};

/// The hash function from terms to columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hashing {
    /// The number of columns.
    pub n_features: usize,
    /// Whether the sign of the hash is the sign of the count.
    pub sign: Sign,
}

/// Whether the sign of the hash is the sign of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// About half of the terms have negative counts, so that collisions cancel on average.
    Alternate,
    /// All counts are positive, as naive Bayes requires.
    Positive,
}

impl Default for Hashing {
    fn default() -> Hashing {
        Hashing { n_features: 1 << 20, sign: Sign::Alternate }
    }
}

impl Hashing {
    /// The column of a term, and whether its count is positive.
    ///
    /// ```
    /// use mercer::text::Hashing;
    /// let hashing = Hashing { n_features: 16, ..Hashing::default() };
    /// assert_eq!(hashing.column(b"hello"), (7, true));
    /// ```
    pub fn column(&self, term: &[u8]) -> (u32, bool) {
        let hash = murmur3(term, 0) as i32;
        let (size, n) = (u64::from(hash.unsigned_abs()), self.n_features as u64);
        // A power of two needs no division.
        let column = if n.is_power_of_two() { size & (n - 1) } else { size % n };
        (column as u32, self.sign == Sign::Positive || hash >= 0)
    }

    /// Refuses an invalid number of columns.
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
            expected: "an integer from 1 to 2147483647".into(),
        })
    }

    /// Counts the terms of documents by column.
    ///
    /// # Errors
    /// If the analyzer is not usable, or [`Error::Stopped`].
    pub fn count(
        &self,
        texts: &[&str],
        analyzer: &Analyzer,
        monitor: &Monitor<'_>,
    ) -> Result<DocumentTermMatrix> {
        self.check()?;
        let reader = analyzer.reader()?;
        let blocks = in_blocks(texts, monitor, |texts, state: &mut (Scratch, Vec<u64>)| {
            let (scratch, row) = state;
            let mut rows = DocumentTermMatrix::default();
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
                    // A zero from cancellation is stored: the column occurs in the document.
                    rows.values.push(value);
                }
                rows.starts.push(rows.columns.len());
                rows.lengths.push(row.len() as u32);
            }
            rows
        })?;
        let mut all = DocumentTermMatrix {
            starts: vec![0],
            n_columns: self.n_features,
            ..DocumentTermMatrix::default()
        };
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

    /// For every column its term of the highest document frequency, if it has any.
    pub fn names(&self, df: &DocumentFrequencies) -> Vec<Option<String>> {
        let mut best: Vec<Option<usize>> = vec![None; self.n_features];
        for (id, term) in df.vocabulary.terms().enumerate() {
            let best = &mut best[self.column(term.as_bytes()).0 as usize];
            if best.is_none_or(|other| df.frequencies[other] < df.frequencies[id]) {
                *best = Some(id);
            }
        }
        best.iter().map(|id| id.map(|id| df.vocabulary.term(id).to_owned())).collect()
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
    fn the_hash_is_murmurhash3() {
        // From the verification values that accompany the reference implementation.
        assert_eq!(murmur3(b"", 0), 0);
        assert_eq!(murmur3(b"", 1), 0x514e_28b7);
        assert_eq!(murmur3(b"hello", 0), 0x248b_fa47);
        assert_eq!(murmur3(b"hello, world", 0), 0x149b_bb7f);
        assert_eq!(murmur3(b"The quick brown fox jumps over the lazy dog", 0), 0x2e4f_f723);
    }

    #[test]
    fn colliding_terms_add_up_or_cancel() {
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
    fn columns_are_named_by_their_most_frequent_terms() {
        let hashing = Hashing { n_features: 2, sign: Sign::Positive };
        let texts = ["ham ham eggs", "ham"];
        let df = DocumentFrequencies::of(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();

        let names = hashing.names(&df);

        let at = hashing.column(b"ham").0 as usize;
        assert_eq!(names[at].as_deref(), Some("ham"));
        assert!(Hashing { n_features: 0, ..hashing }.check().is_err());
    }
}
