//! The vocabulary: distinct terms, each with an id.
//!
//! In a model file a vocabulary is front-coded: the number of terms, then for every term the length of the
//! prefix it shares with its predecessor and the remaining bytes. A sorted vocabulary takes a few bytes per
//! term.

use super::terms::{Batch, List, Table};
use crate::error::{Error, Result};
use crate::model::Cached;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Distinct terms, numbered from zero.
#[derive(Clone, Default)]
pub struct Vocabulary {
    terms: List,
    /// Built on the first lookup: a fit that only saves never needs it.
    table: Cached<Table>,
}

/// A vocabulary with its hash table.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    terms: &'a List,
    table: &'a Table,
}

impl Vocabulary {
    /// A vocabulary of terms in their order.
    ///
    /// # Errors
    /// If a term is repeated.
    ///
    /// ```
    /// let vocabulary = mercer::text::Vocabulary::new(["ham", "spam"])?;
    /// assert_eq!(vocabulary.find("spam"), Some(1));
    /// assert_eq!(vocabulary.find("eggs"), None);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn new<T: AsRef<str>>(terms: impl IntoIterator<Item = T>) -> Result<Vocabulary> {
        let mut list = List::default();
        terms.into_iter().for_each(|term| list.push(term.as_ref().as_bytes()));
        Vocabulary::of(list)
    }

    fn of(terms: List) -> Result<Vocabulary> {
        let vocabulary = Vocabulary { terms, table: Cached::default() };
        let terms = &vocabulary.terms;
        // Sorted terms are distinct if neighbors are.
        if (1..terms.len()).all(|id| terms.term(id - 1) < terms.term(id)) {
            return Ok(vocabulary);
        }
        let made = vocabulary.table.get_or_fail(|| Table::of(terms)).map(|_| ());
        match made {
            Ok(()) => Ok(vocabulary),
            Err(id) => Err(Error::Parameter {
                name: "vocabulary".into(),
                found: format!("`{}` twice", vocabulary.term(id)),
                expected: "distinct terms".into(),
            }),
        }
    }

    /// Builds the hash table, if needed.
    pub(super) fn lookup(&self) -> Lookup<'_> {
        let distinct = || Table::of(&self.terms).expect("terms are distinct");
        Lookup { terms: &self.terms, table: self.table.get(distinct) }
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The term of an id.
    ///
    /// # Panics
    /// If the id is out of range.
    pub fn term(&self, id: usize) -> &str {
        // Terms are valid UTF-8, or slices of valid UTF-8 cut by a reader.
        std::str::from_utf8(self.terms.term(id)).unwrap_or("\u{fffd}")
    }

    /// The terms in their order.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|id| self.term(id))
    }

    /// The id of a term.
    pub fn find(&self, term: &str) -> Option<usize> {
        let Lookup { terms, table } = self.lookup();
        table.find(terms, term.as_bytes()).map(|id| id as usize)
    }

    fn packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_number(&mut out, self.len());
        let mut before: &[u8] = &[];
        for id in 0..self.len() {
            let term = self.terms.term(id);
            let shared = before.iter().zip(term).take_while(|(a, b)| a == b).count();
            push_number(&mut out, shared);
            push_number(&mut out, term.len() - shared);
            out.extend_from_slice(&term[shared..]);
            before = term;
        }
        // The next array of the file starts at a multiple of eight bytes.
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    fn unpacked(mut bytes: &[u8]) -> Option<Vocabulary> {
        let mut list = List::default();
        let mut term: Vec<u8> = Vec::new();
        let n = take_number(&mut bytes)?;
        for _ in 0..n {
            let shared = take_number(&mut bytes)?;
            let more = take_number(&mut bytes)?;
            if shared > term.len() || more > bytes.len() {
                return None;
            }
            term.truncate(shared);
            term.extend_from_slice(&bytes[..more]);
            bytes = &bytes[more..];
            std::str::from_utf8(&term).ok()?;
            list.push(&term);
        }
        let ends = bytes.len() < 8 && bytes.iter().all(|byte| *byte == 0);
        ends.then(|| Vocabulary::of(list).ok()).flatten()
    }
}

impl Lookup<'_> {
    /// Appends the term in a byte range of a text to a batch.
    #[inline]
    pub(super) fn push(&self, text: &[u8], from: usize, to: usize, batch: &mut Batch) {
        self.table.push(text, from, to, batch);
    }

    /// Calls `take` with the ids of the terms of a batch that are in the vocabulary.
    #[inline]
    pub(super) fn known_ids(&self, batch: &Batch, take: impl FnMut(u32)) {
        self.table.known_ids(self.terms, batch, take);
    }
}

/// LEB128: seven bits per byte, the lowest first; the high bit is set if more bytes follow.
fn push_number(out: &mut Vec<u8>, mut n: usize) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut n: usize = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        n |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Vocabulary) -> bool {
        self.len() == other.len() && self.terms().eq(other.terms())
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.terms()).finish()
    }
}

impl Serialize for Vocabulary {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.packed())
    }
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Packed;
        impl<'de> Visitor<'de> for Packed {
            type Value = Vocabulary;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the bytes of a vocabulary")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> std::result::Result<Vocabulary, E> {
                Vocabulary::unpacked(bytes).ok_or_else(|| E::custom("the vocabulary is corrupt"))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> std::result::Result<Vocabulary, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                self.visit_bytes(&bytes)
            }
        }
        deserializer.deserialize_bytes(Packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_round_trips_and_compresses() {
        let terms: Vec<String> = (1000..3000).map(|i| format!("wort{i}")).collect();
        let vocabulary = Vocabulary::new(&terms).unwrap();

        let packed = vocabulary.packed();

        assert_eq!(Vocabulary::unpacked(&packed), Some(vocabulary.clone()));
        assert!(packed.len() < 4 * terms.len(), "{} bytes", packed.len());
        let json = serde_json::to_string(&vocabulary).unwrap();
        assert_eq!(serde_json::from_str::<Vocabulary>(&json).unwrap(), vocabulary);
    }

    #[test]
    fn corrupt_bytes_are_refused() {
        for bytes in [&[1, 1, b'a'][..], &[0, 2, b'a'], &[0x80], &[0, 1, 0xff], &[0, 1, b'a', 1, 0]]
        {
            assert!(Vocabulary::unpacked(bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn repeated_terms_are_refused() {
        let twice = Vocabulary::new(["a", "c", "b", "c", "a"]).unwrap_err();

        assert!(twice.to_string().contains("`c` twice"), "{twice}");
        assert!(Vocabulary::new(["a", "a"]).is_err());
        assert_eq!(Vocabulary::unpacked(&[2, 0, 1, b'a', 1, 0, 0, 0]), None);
    }

    #[test]
    fn terms_are_found_in_sorted_and_unsorted_vocabularies() {
        for terms in [["ab", "b", "long enough for a hash"], ["long enough for a hash", "b", "ab"]]
        {
            let vocabulary = Vocabulary::new(terms).unwrap();

            assert_eq!(terms.map(|term| vocabulary.find(term)), [Some(0), Some(1), Some(2)]);
            assert_eq!(vocabulary.find("c"), None);
        }
    }
}
