//! Counters of terms, one per thread, and the blocks of documents they take.
//!
//! Every thread takes the next block of documents until none is left, and numbers terms in a hash table of
//! its own. Counts are integers and the vocabulary is sorted later, so the result does not depend on which
//! thread took which block.

use super::analyzer::{Reader, Scratch};
use super::terms::{Batch, Terms};
use super::vocabulary::Lookup;
use crate::data::token_counts::DocumentBlock;
use crate::error::{Error, Result};
use crate::model::Monitor;
use mercer_num::parallel::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of text in a block.
const BYTES_PER_BLOCK: usize = 1 << 17;
/// Bytes that a document counts for besides its text.
const BYTES_PER_DOCUMENT: usize = 64;

/// Applies `work` to all blocks of documents on all threads; `work` gets a state of its thread.
pub(super) fn in_blocks<S: Default, T: Send>(
    documents: &[&str],
    monitor: &Monitor<'_>,
    work: impl Fn(&[&str], &mut S) -> T + Sync,
) -> Result<Vec<T>> {
    let done = workers(documents, monitor, |next| {
        let mut state = S::default();
        let mut done = Vec::new();
        while let Some((k, documents)) = next() {
            done.push((k, work(documents, &mut state)));
        }
        done
    })?;
    let mut done: Vec<(usize, T)> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(k, _)| *k);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

/// Runs one worker per thread; each takes the next block of documents until none is left.
pub(super) fn workers<'t, T: Send>(
    documents: &'t [&'t str],
    monitor: &Monitor<'_>,
    work: impl Fn(&mut dyn FnMut() -> Option<(usize, &'t [&'t str])>) -> T + Sync,
) -> Result<Vec<T>> {
    let blocks = blocks_of(documents);
    let taken = AtomicUsize::new(0);
    let n = rayon::current_num_threads().min(blocks.len()).max(1);
    let done = (0..n)
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let mut next = || {
                let k = taken.fetch_add(1, Ordering::Relaxed);
                let range = blocks.get(k).filter(|_| monitor.stop().is_none())?;
                Some((k, &documents[range.clone()]))
            };
            work(&mut next)
        })
        .collect();
    // A worker that stopped early has left blocks uncounted.
    if monitor.stop().is_some() { Err(Error::Stopped) } else { Ok(done) }
}

/// Ranges of consecutive documents of about [`BYTES_PER_BLOCK`] bytes.
fn blocks_of(documents: &[&str]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, document) in documents.iter().enumerate() {
        bytes += document.len() + BYTES_PER_DOCUMENT;
        if bytes >= BYTES_PER_BLOCK {
            blocks.push(from..i + 1);
            (from, bytes) = (i + 1, 0);
        }
    }
    if from < documents.len() {
        blocks.push(from..documents.len());
    }
    blocks
}

/// The terms of one thread, with their document frequencies.
#[derive(Default)]
pub(super) struct Counter {
    pub terms: Terms,
    pub document_frequencies: Vec<u32>,
    last_seen: Vec<LastSeen>,
    document: u32,
    batch: Batch,
    scratch: Scratch,
}

/// The last document a term occurred in, and its cell there.
#[derive(Clone, Copy, Default)]
struct LastSeen {
    document: u32,
    cell: u32,
}

impl Counter {
    /// Counts the terms of documents and returns the counts.
    pub fn block<'t>(
        &mut self,
        reader: &Reader,
        documents: impl Iterator<Item = &'t str> + Clone,
    ) -> DocumentBlock {
        let mut block = DocumentBlock::with_capacity(documents.clone());
        for text in documents {
            let n_tokens = self.gather(reader, text);
            let Counter { terms, last_seen, document_frequencies, document, batch, .. } = self;
            terms.ids(batch, |id| {
                if id as usize == last_seen.len() {
                    last_seen.push(LastSeen::default());
                    document_frequencies.push(0);
                }
                if count_in(&mut block, &mut last_seen[id as usize], *document, id) {
                    document_frequencies[id as usize] += 1;
                }
            });
            block.end_document(n_tokens);
        }
        block
    }

    /// Updates the document frequencies only.
    pub fn observe<'t>(&mut self, reader: &Reader, documents: impl Iterator<Item = &'t str>) {
        for text in documents {
            self.gather(reader, text);
            let Counter { terms, last_seen, document_frequencies, document, batch, .. } = self;
            terms.ids(batch, |id| {
                let id = id as usize;
                if id == last_seen.len() {
                    last_seen.push(LastSeen::default());
                    document_frequencies.push(0);
                }
                if last_seen[id].document != *document {
                    last_seen[id].document = *document;
                    document_frequencies[id] += 1;
                }
            });
        }
    }

    /// Fills the batch with the terms of the next document.
    fn gather(&mut self, reader: &Reader, text: &str) -> u32 {
        let Counter { terms, batch, scratch, document, .. } = self;
        *document += 1;
        batch.clear();
        reader.each(text, scratch, |text, from, to| terms.push(text, from, to, batch));
        batch.len() as u32
    }

    /// The memory it takes, in bytes.
    pub fn size(&self) -> usize {
        self.terms.size() + 12 * self.last_seen.capacity()
    }
}

/// Counts one occurrence of a term in the current document; true if it is the first.
#[inline]
fn count_in(block: &mut DocumentBlock, last_seen: &mut LastSeen, document: u32, id: u32) -> bool {
    if last_seen.document == document {
        block.cells[last_seen.cell as usize].1 += 1;
        return false;
    }
    *last_seen = LastSeen { document, cell: block.cells.len() as u32 };
    block.cells.push((id, 1));
    true
}

/// A counter for a known vocabulary: sorts the term ids of a document, so that equal ones are adjacent.
#[derive(Default)]
pub(super) struct VocabularyCounter {
    ids: Vec<u32>,
    batch: Batch,
    scratch: Scratch,
}

impl VocabularyCounter {
    pub fn block(
        &mut self,
        reader: &Reader,
        documents: &[&str],
        vocabulary: Lookup<'_>,
    ) -> DocumentBlock {
        let mut block = DocumentBlock::with_capacity(documents.iter().copied());
        let VocabularyCounter { ids, batch, scratch } = self;
        for text in documents {
            batch.clear();
            ids.clear();
            reader.each(text, scratch, |text, from, to| vocabulary.push(text, from, to, batch));
            vocabulary.known_ids(batch, |id| ids.push(id));
            ids.sort_unstable();
            let equal = ids.chunk_by(|a, b| a == b);
            block.cells.extend(equal.map(|ids| (ids[0], ids.len() as u32)));
            block.end_document(batch.len() as u32);
        }
        block
    }
}
