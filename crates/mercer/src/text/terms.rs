//! Terms and their ids: all terms in one buffer of bytes, and a hash table with open addressing.
//!
//! The slot of a term of up to eight bytes stores the term itself, so that a lookup touches one cache line; for
//! a longer term it stores the hash, and the term is then compared. Ids are assigned in the order of arrival.
//! The hash is salted per process; no result depends on it.

use mercer_num::memory::prefetch;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

/// The length in bytes up to which a slot stores the term itself.
const SHORT_TERM_BYTES: usize = 8;
/// The distance, in entries, at which slots are prefetched.
const PREFETCH_DISTANCE: usize = 8;
const MIN_SLOTS: usize = 1 << 10;
/// An odd multiplier with the bits of the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The mask of the first `n` bytes, by `n`.
const MASKS: [u64; SHORT_TERM_BYTES + 1] = {
    let mut masks = [u64::MAX; SHORT_TERM_BYTES + 1];
    let mut n = 0;
    while n < SHORT_TERM_BYTES {
        masks[n] = (1 << (8 * n)) - 1;
        n += 1;
    }
    masks
};

static SALT: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish() | 1);

/// Distinct terms with ids from zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    list: List,
    table: Table,
}

/// Concatenated terms.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    bytes: Vec<u8>,
    /// Where each term ends in `bytes`.
    ends: Vec<usize>,
}

/// The hash table from terms of a list to ids.
#[derive(Clone, Debug)]
pub(super) struct Table {
    slots: Vec<Slot>,
    salt: u64,
}

/// The terms of a document before lookup. Lookups in a batch let the processor prefetch many slots at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    /// The bytes of long terms.
    long: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    length: u32,
    /// Where a long term begins in `long`.
    at: u32,
}

impl Batch {
    /// The bytes of an entry if it is a long term.
    #[inline]
    fn long_term(&self, entry: &Entry) -> &[u8] {
        if entry.length as usize <= SHORT_TERM_BYTES {
            return &[];
        }
        &self.long[entry.at as usize..entry.at as usize + entry.length as usize]
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.long.clear();
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

/// A slot of the table: zero if it is empty, else the id plus one.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    length: u32,
    id: u32,
}

impl List {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a term.
    pub fn term(&self, id: usize) -> &[u8] {
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start..self.ends[id]]
    }

    /// Appends a term.
    pub fn push(&mut self, term: &[u8]) {
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len());
    }
}

impl Terms {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The bytes of a term.
    pub fn term(&self, id: usize) -> &[u8] {
        self.list.term(id)
    }

    /// The memory it takes, in bytes.
    pub fn size(&self) -> usize {
        self.list.bytes.capacity() + 8 * self.list.ends.capacity() + 16 * self.table.slots.len()
    }

    /// Appends the term in a byte range of a text to a batch.
    #[inline]
    pub fn push(&self, text: &[u8], from: usize, to: usize, batch: &mut Batch) {
        self.table.push(text, from, to, batch);
    }

    /// Calls `take` with the ids of the terms of a batch in order; new terms get new ids.
    ///
    /// # Panics
    /// If there are more than 2³² terms, or a term is longer than 4 GB.
    #[inline]
    pub fn ids(&mut self, batch: &Batch, mut take: impl FnMut(u32)) {
        for (k, entry) in batch.entries.iter().enumerate() {
            self.table.fetch(batch, k + PREFETCH_DISTANCE);
            let long = batch.long_term(entry);
            let id = match self.table.lookup(&self.list, entry.key, entry.length, long) {
                Ok(id) => id,
                Err(at) if long.is_empty() => {
                    let bytes = entry.key.to_le_bytes();
                    self.add(&bytes[..entry.length as usize], entry.key, at)
                }
                Err(at) => self.add(long, entry.key, at),
            };
            take(id);
        }
    }

    /// The id of a term, a new one if the term is new.
    #[inline]
    pub fn id(&mut self, term: &[u8]) -> u32 {
        let key = self.table.key(term);
        let found = self.table.lookup(&self.list, key, term.len() as u32, term);
        found.unwrap_or_else(|at| self.add(term, key, at))
    }

    /// The id of a term, if it is in the table.
    #[inline]
    pub fn find(&self, term: &[u8]) -> Option<u32> {
        self.table.find(&self.list, term)
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, term: &[u8], key: u64, at: usize) -> u32 {
        self.list.push(term);
        let id = self.list.len() - 1;
        self.table.put(term, key, at, id);
        if 2 * self.list.len() > self.table.slots.len() {
            self.table.grow();
        }
        id as u32
    }
}

impl Default for Table {
    fn default() -> Table {
        Table { slots: vec![Slot::default(); MIN_SLOTS], salt: *SALT }
    }
}

impl Table {
    /// The table of a list.
    ///
    /// # Errors
    /// The id of the first repeated term.
    pub fn of(list: &List) -> Result<Table, usize> {
        let n_slots = (2 * list.len()).next_power_of_two().max(MIN_SLOTS);
        let mut table = Table { slots: vec![Slot::default(); n_slots], salt: *SALT };
        for id in 0..list.len() {
            let term = list.term(id);
            let key = table.key(term);
            match table.lookup(list, key, term.len() as u32, term) {
                Ok(_) => return Err(id),
                Err(at) => table.put(term, key, at, id),
            }
        }
        Ok(table)
    }

    /// Appends the term in a byte range of a text to a batch.
    #[inline]
    pub fn push(&self, text: &[u8], from: usize, to: usize, batch: &mut Batch) {
        let n = to - from;
        let length = n as u32;
        if n <= SHORT_TERM_BYTES {
            // If eight bytes can be read, a mask cuts off those beyond the term without a branch.
            let key = match text[from..].first_chunk::<SHORT_TERM_BYTES>() {
                Some(bytes) => u64::from_le_bytes(*bytes) & MASKS[n],
                None => short_key(&text[from..to]),
            };
            batch.entries.push(Entry { key, length, at: 0 });
        } else {
            let term = &text[from..to];
            let at = batch.long.len() as u32;
            batch.long.extend_from_slice(term);
            batch.entries.push(Entry { key: long_key(term, self.salt), length, at });
        }
    }

    /// Calls `take` with the ids of the terms of a batch that are in the table.
    #[inline]
    pub fn known_ids(&self, list: &List, batch: &Batch, mut take: impl FnMut(u32)) {
        for (k, entry) in batch.entries.iter().enumerate() {
            self.fetch(batch, k + PREFETCH_DISTANCE);
            if let Ok(id) = self.lookup(list, entry.key, entry.length, batch.long_term(entry)) {
                take(id);
            }
        }
    }

    /// The id of a term, if it is in the table.
    #[inline]
    pub fn find(&self, list: &List, term: &[u8]) -> Option<u32> {
        self.lookup(list, self.key(term), term.len() as u32, term).ok()
    }

    /// Prefetches the slot of a later entry.
    #[inline]
    fn fetch(&self, batch: &Batch, k: usize) {
        if let Some(entry) = batch.entries.get(k) {
            let at = self.start(entry.key, entry.length);
            prefetch(&self.slots[at..=at]);
        }
    }

    /// The id of a term, or the slot where it would be inserted. Only the bytes of long terms are compared.
    #[inline]
    fn lookup(&self, list: &List, key: u64, length: u32, long: &[u8]) -> Result<u32, usize> {
        let mut at = self.start(key, length);
        loop {
            let slot = self.slots[at];
            if slot.key == key && slot.length == length && slot.id != 0 {
                let id = slot.id - 1;
                if length as usize <= SHORT_TERM_BYTES || list.term(id as usize) == long {
                    return Ok(id);
                }
            }
            if slot.id == 0 {
                return Err(at);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Inserts a term into an empty slot.
    fn put(&mut self, term: &[u8], key: u64, at: usize, id: usize) {
        let length = u32::try_from(term.len()).expect("a term is shorter than 4 GB");
        let id = u32::try_from(id + 1).expect("fewer than 2^32 terms");
        self.slots[at] = Slot { key, length, id };
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); 2 * old.len()];
        for slot in old.into_iter().filter(|slot| slot.id != 0) {
            let mut at = self.start(slot.key, slot.length);
            while self.slots[at].id != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }

    #[inline]
    fn start(&self, key: u64, length: u32) -> usize {
        folded(key ^ self.salt, MIX.wrapping_add(u64::from(length) << 1)) as usize
            & (self.slots.len() - 1)
    }

    /// The key of a term: its bytes if it is short, else a hash.
    #[inline]
    fn key(&self, term: &[u8]) -> u64 {
        if term.len() <= SHORT_TERM_BYTES { short_key(term) } else { long_key(term, self.salt) }
    }
}

/// The bytes of a short term, padded with zeros; key and length together determine the term.
#[inline]
fn short_key(term: &[u8]) -> u64 {
    let n = term.len();
    match term {
        // The two reads may overlap; overlapping bytes are equal.
        [a, b, c, d, ..] => {
            let low = u32::from_le_bytes([*a, *b, *c, *d]);
            let last = term.last_chunk::<4>().map_or(0, |last| u32::from_le_bytes(*last));
            u64::from(last) << (8 * (n - 4)) | u64::from(low)
        }
        [a, b, ..] => u64::from(*a) | u64::from(*b) << 8 | u64::from(term[n - 1]) << (8 * (n - 1)),
        [a] => u64::from(*a),
        [] => 0,
    }
}

#[inline]
fn long_key(term: &[u8], salt: u64) -> u64 {
    let (words, _) = term.as_chunks::<8>();
    let last = term.last_chunk::<8>().map_or(0, |last| u64::from_le_bytes(*last));
    let hash = words.iter().fold(salt, |h, w| folded(h ^ u64::from_le_bytes(*w), MIX));
    folded(hash ^ last, MIX ^ (term.len() as u64) << 1)
}

/// The exclusive or of both halves of a 128-bit product.
#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_order_of_arrival() {
        let mut terms = Terms::default();
        let all: Vec<String> = (0..20_000).map(|i| format!("{}{i}", "x".repeat(i % 13))).collect();

        let ids: Vec<u32> = all.iter().map(|t| terms.id(t.as_bytes())).collect();

        assert_eq!(ids, (0..20_000).collect::<Vec<u32>>());
        for (i, term) in all.iter().enumerate() {
            assert_eq!(terms.find(term.as_bytes()), Some(i as u32));
            assert_eq!(terms.term(i), term.as_bytes());
        }
        assert_eq!(terms.find(b"absent"), None);
        assert_eq!(terms.find(b""), None);
    }

    #[test]
    fn a_batch_gives_the_ids_of_single_lookups() {
        let (mut one, mut many, mut batch) = (Terms::default(), Terms::default(), Batch::default());
        let all: Vec<String> = (0..3000)
            .map(|i| "abcdefghijklmn"[..i % 15].to_owned() + &(i % 700).to_string())
            .collect();
        let expected: Vec<u32> = all.iter().map(|t| one.id(t.as_bytes())).collect();
        let mut ids = Vec::new();
        for some in all.chunks(7) {
            batch.clear();
            some.iter().for_each(|term| many.push(term.as_bytes(), 0, term.len(), &mut batch));
            many.ids(&batch, |id| ids.push(id));
            assert_eq!(batch.len(), some.len());
        }

        assert_eq!(ids, expected);
        assert!((0..one.len()).all(|id| one.term(id) == many.term(id)));
        let mut known = Vec::new();
        many.push(b"absent", 0, 6, &mut batch);
        many.table.known_ids(&many.list, &batch, |id| known.push(id));
        assert_eq!(known, expected[expected.len() - batch.len() + 1..]);
    }

    #[test]
    fn a_table_of_a_list_equals_one_that_grew() {
        let mut terms = Terms::default();
        let all: Vec<String> = (0..5000).map(|i| format!("{}{i}", "y".repeat(i % 11))).collect();
        all.iter().for_each(|term| _ = terms.id(term.as_bytes()));

        let table = Table::of(&terms.list).unwrap();

        assert!(
            all.iter().all(|t| table.find(&terms.list, t.as_bytes()) == terms.find(t.as_bytes()))
        );
        assert_eq!(table.find(&terms.list, b"absent"), None);
        let mut twice = terms.list.clone();
        twice.push(b"new");
        twice.push(all[7].as_bytes());
        assert_eq!(Table::of(&twice).map(|_| ()), Err(5001));
    }

    #[test]
    fn terms_are_read_from_byte_ranges() {
        let (mut terms, mut batch) = (Terms::default(), Batch::default());
        let text = "ab\u{0}abcdefghijklmnopqrstuvwxyz";
        let ranges: Vec<(usize, usize)> =
            (0..text.len()).flat_map(|i| (i..=text.len()).map(move |j| (i, j))).collect();
        ranges.iter().for_each(|(i, j)| terms.push(text.as_bytes(), *i, *j, &mut batch));
        let mut ids = Vec::new();
        terms.ids(&batch, |id| ids.push(id as usize));

        for ((i, j), id) in ranges.iter().zip(ids) {
            assert_eq!(terms.term(id), &text.as_bytes()[*i..*j]);
            assert_eq!(terms.find(&text.as_bytes()[*i..*j]), Some(id as u32));
        }
    }

    #[test]
    fn terms_with_common_prefixes_get_different_ids() {
        let mut terms = Terms::default();
        let alike: [&[u8]; 8] =
            [b"a", b"aa", b"aaa", b"aaaa", b"aaaaa", b"\0", b"\0\0", b"aaaaaaaaaaaaaaaaa"];

        let ids: Vec<u32> = alike.iter().map(|t| terms.id(t)).collect();

        assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
