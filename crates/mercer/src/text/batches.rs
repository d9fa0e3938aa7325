//! Texts that come in batches: all threads look for their terms, and what they found is kept while there is
//! room for it.
//!
//! Which terms have a column is known when the last text has come. Then the counts that were kept get
//! their columns, and no text is read a second time. Without room the texts have to come again; what becomes
//! of them is the same, to the bit.

use super::analyzer::{Analyzer, Reader};
use super::counts::{
    Block, Counter, DocumentCounts, Part, Selection, Tallied, TextRows, joined_parts,
};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Texts that a worker takes at a time.
const SOME: usize = 64;

/// What is known of texts that come in batches.
pub(crate) struct Gathering {
    reader: Reader,
    counters: Vec<Mutex<Counter>>,
    n_texts: u64,
    /// Bytes that counts may take.
    room: usize,
    kept: Option<Kept>,
}

/// The counts of all texts so far, each block with its place.
#[derive(Default)]
struct Kept {
    blocks: Vec<(usize, Block)>,
    n_bytes: usize,
}

impl Gathering {
    /// No texts yet, and room for so many bytes of counts.
    pub(crate) fn new(analyzer: &Analyzer, room: u64) -> Result<Gathering> {
        let counters = (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let kept = (room > 0).then(Kept::default);
        Ok(Gathering { reader: analyzer.reader()?, counters, n_texts: 0, room, kept })
    }

    /// Takes texts; a missing one has no terms and is none.
    pub(crate) fn observe(&mut self, batches: &[&[Option<String>]]) {
        let some: Vec<_> = batches.iter().flat_map(|batch| batch.chunks(SOME)).collect();
        let first = self.kept.as_ref().map(|kept| kept.blocks.len());
        let taken = AtomicUsize::new(0);
        let found: Vec<(usize, Block)> = (self.counters.par_iter().enumerate())
            .with_max_len(1)
            .flat_map_iter(|(table, counter)| {
                let mut counter = counter.lock().unwrap_or_else(PoisonError::into_inner);
                let mut blocks = Vec::new();
                loop {
                    let k = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(some) = some.get(k) else { return blocks };
                    let texts = some.iter().map(|text| text.as_deref().unwrap_or_default());
                    match first {
                        Some(first) => {
                            let block = counter.block(&self.reader, texts);
                            blocks.push((first + k, Block { table, ..block }));
                        }
                        None => counter.observe(&self.reader, texts),
                    }
                }
            })
            .collect();
        let texts = batches.iter().flat_map(|batch| batch.iter().flatten());
        self.n_texts += texts.count() as u64;
        if let Some(kept) = &mut self.kept {
            kept.n_bytes += found.iter().map(|(_, block)| block.size()).sum::<usize>();
            kept.blocks.extend(found);
            if kept.n_bytes > self.room {
                self.forget();
            }
        }
    }

    /// Keeps no counts.
    pub(crate) fn forget(&mut self) {
        self.kept = None;
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> u64 {
        let one = |c: &Mutex<Counter>| c.lock().unwrap_or_else(PoisonError::into_inner).size();
        let counters: usize = self.counters.iter().map(one).sum();
        (counters + self.kept.as_ref().map_or(0, |kept| kept.n_bytes)) as u64
    }

    /// The terms that stay, of more than may stay those in most texts; and the texts by their columns, if
    /// there was room.
    ///
    /// # Errors
    /// If the bounds leave no room.
    pub(crate) fn finish(
        self,
        selection: &Selection,
    ) -> Result<(DocumentCounts, Option<CountedTexts>)> {
        let own = |c: Mutex<Counter>| c.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counters = self.counters.into_iter().map(own).collect();
        let (keeps, mut blocks) =
            (self.kept.is_some(), self.kept.map_or_else(Vec::new, |kept| kept.blocks));
        blocks.sort_unstable_by_key(|(k, _)| *k);
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        let tallied = Tallied::new(counters, blocks);
        let documents = tallied.documents();
        let keep = selection.keep(self.n_texts, documents, |id| documents[id])?;
        let (counts, blocks) = DocumentCounts::chosen(tallied, &keep, self.n_texts);
        let counted = keeps.then(|| CountedTexts::new(blocks, counts.vocabulary.len()));
        Ok((counts, counted))
    }
}

/// Consecutive texts whose terms were counted by the columns of a vocabulary. A copy shares the counts.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedTexts {
    blocks: Arc<[Block]>,
    /// The first text of each block.
    firsts: Arc<[usize]>,
    texts: Range<usize>,
    n_columns: usize,
}

impl CountedTexts {
    fn new(blocks: Vec<Block>, n_columns: usize) -> CountedTexts {
        let mut n = 0;
        let firsts = blocks.iter().map(|block| {
            n += block.lengths.len();
            n - block.lengths.len()
        });
        let firsts = firsts.collect();
        CountedTexts { blocks: blocks.into(), firsts, texts: 0..n, n_columns }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// How many columns there are.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Some of the texts.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn slice(&self, texts: Range<usize>) -> CountedTexts {
        assert!(texts.start <= texts.end && texts.end <= self.len(), "texts that are there");
        let from = self.texts.start;
        CountedTexts { texts: from + texts.start..from + texts.end, ..self.clone() }
    }

    /// Their counts in compressed rows.
    pub fn rows(&self) -> TextRows {
        let Range { start, end } = self.texts;
        let from = self.firsts.partition_point(|first| *first <= start).saturating_sub(1);
        let to = self.firsts.partition_point(|first| *first < end);
        let parts: Vec<Part<'_>> = (from..to)
            .map(|k| {
                let (block, first) = (&self.blocks[k], self.firsts[k]);
                block.part(start.saturating_sub(first)..block.lengths.len().min(end - first))
            })
            .collect();
        joined_parts(&parts, self.n_columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Monitor;
    use crate::text::{Bound, count};

    fn texts() -> Vec<Option<String>> {
        let text = |i: usize| (0..i % 9).map(|j| format!("w{} ", (i * j) % 97)).collect();
        (0..500).map(|i| (i % 7 != 3).then(|| text(i))).collect()
    }

    fn gathered(room: u64) -> Gathering {
        let mut gathering = Gathering::new(&Analyzer::default(), room).unwrap();
        let texts = texts();
        gathering.observe(&[&texts[..130], &texts[130..200]]);
        gathering.observe(&[&texts[200..]]);
        gathering
    }

    #[test]
    fn kept_texts_are_what_a_second_reading_counts() {
        let some = Selection { min_df: Bound::Texts(3), ..Selection::default() };
        let (counts, counted) = gathered(1 << 20).finish(&some).unwrap();
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(|t| t.as_deref().unwrap_or_default()).collect();
        let counted = counted.unwrap();

        for range in [0..500, 0..1, 63..65, 64..128, 100..431, 500..500] {
            let again = count(
                &texts[range.clone()],
                &Analyzer::default(),
                &counts.vocabulary,
                &Monitor::quiet(),
            );
            assert_eq!(counted.slice(range.clone()).rows(), again.unwrap(), "{range:?}");
            let twice = counted.slice(range.start..500).slice(0..range.len());
            assert_eq!(twice, counted.slice(range));
        }
    }

    #[test]
    fn counts_are_the_same_with_and_without_room() {
        let (kept, texts) = gathered(1 << 20).finish(&Selection::default()).unwrap();
        let (counts, none) = gathered(0).finish(&Selection::default()).unwrap();
        let (small, nothing) = gathered(1000).finish(&Selection::default()).unwrap();

        assert_eq!(texts.map(|texts| texts.len()), Some(500));
        assert_eq!((none, nothing), (None, None));
        assert_eq!(kept, counts);
        assert_eq!(small, counts);
        // Missing texts are none.
        assert_eq!(counts.n_texts, 500 - 71);
    }

    #[test]
    fn what_is_kept_is_counted_as_memory() {
        let (kept, not) = (gathered(1 << 20), gathered(0));

        assert!(kept.size() > not.size() + 8 * 1000, "{} and {}", kept.size(), not.size());
    }
}
