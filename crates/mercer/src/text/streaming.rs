//! Term counts of documents that arrive in batches.
//!
//! The columns of terms are known only after the last batch. The counts of all documents are cached until
//! then, as long as they fit into a memory budget, and get their columns without a second pass over the
//! documents. If they do not fit, the documents have to be read again; the counts are the same to the bit.

use super::analyzer::{Analyzer, Reader};
use super::counter::Counter;
use super::counts::TermCounts;
use super::document_frequencies::DocumentFrequencies;
use super::selection::Selection;
use crate::data::TokenCounts;
use crate::data::token_counts::DocumentBlock;
use crate::error::Result;
use mercer_num::parallel::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Documents in a block.
const DOCUMENTS_PER_BLOCK: usize = 64;

/// Counts the terms of documents that arrive in batches.
pub(crate) struct StreamingCounter {
    reader: Reader,
    counters: Vec<Mutex<Counter>>,
    n_documents: u64,
    /// The memory budget of the cache, in bytes.
    max_bytes: usize,
    cache: Option<Cache>,
}

/// The counts of all documents so far, each block with its index.
#[derive(Default)]
struct Cache {
    blocks: Vec<(usize, DocumentBlock)>,
    n_bytes: usize,
}

impl StreamingCounter {
    /// A counter that caches at most `max_bytes` of counts.
    pub(crate) fn new(analyzer: &Analyzer, max_bytes: u64) -> Result<StreamingCounter> {
        let counters = (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let cache = (max_bytes > 0).then(Cache::default);
        let reader = analyzer.reader()?;
        Ok(StreamingCounter { reader, counters, n_documents: 0, max_bytes, cache })
    }

    /// Counts the terms of batches. A missing value has no terms and is not a document.
    pub(crate) fn observe(&mut self, batches: &[&[Option<String>]]) {
        let blocks: Vec<_> =
            batches.iter().flat_map(|batch| batch.chunks(DOCUMENTS_PER_BLOCK)).collect();
        let first = self.cache.as_ref().map(|cache| cache.blocks.len());
        let taken = AtomicUsize::new(0);
        let found: Vec<(usize, DocumentBlock)> = (self.counters.par_iter().enumerate())
            .with_max_len(1)
            .flat_map_collect(|(index, counter)| {
                let mut counter = counter.lock().unwrap_or_else(PoisonError::into_inner);
                let mut counted = Vec::new();
                loop {
                    let k = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(block) = blocks.get(k) else { return counted };
                    let documents = block.iter().map(|text| text.as_deref().unwrap_or_default());
                    match first {
                        Some(first) => {
                            let block = counter.block(&self.reader, documents);
                            counted.push((first + k, DocumentBlock { counter: index, ..block }));
                        }
                        None => counter.observe(&self.reader, documents),
                    }
                }
            });
        let documents = batches.iter().flat_map(|batch| batch.iter().flatten());
        self.n_documents += documents.count() as u64;
        if let Some(cache) = &mut self.cache {
            cache.n_bytes += found.iter().map(|(_, block)| block.size()).sum::<usize>();
            cache.blocks.extend(found);
            if cache.n_bytes > self.max_bytes {
                self.drop_cache();
            }
        }
    }

    /// Drops the cached counts, and caches none from now on.
    pub(crate) fn drop_cache(&mut self) {
        self.cache = None;
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size(&self) -> u64 {
        let one = |c: &Mutex<Counter>| c.lock().unwrap_or_else(PoisonError::into_inner).size();
        let counters: usize = self.counters.iter().map(one).sum();
        (counters + self.cache.as_ref().map_or(0, |cache| cache.n_bytes)) as u64
    }

    /// The document frequencies of the selected terms, and the cached counts by their columns. If there are
    /// more than `max_features` terms, those of the highest document frequencies are selected.
    ///
    /// # Errors
    /// If `max_df` is below `min_df`.
    pub(crate) fn finish(
        self,
        selection: &Selection,
    ) -> Result<(DocumentFrequencies, Option<TokenCounts>)> {
        let own = |c: Mutex<Counter>| c.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counters = self.counters.into_iter().map(own).collect();
        let (cached, mut blocks) =
            (self.cache.is_some(), self.cache.map_or_else(Vec::new, |cache| cache.blocks));
        blocks.sort_unstable_by_key(|(k, _)| *k);
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        let counts = TermCounts::new(counters, blocks);
        let frequencies = counts.document_frequencies();
        let keep = selection.keep(self.n_documents, frequencies, |id| frequencies[id])?;
        let (frequencies, blocks) = DocumentFrequencies::select(counts, &keep, self.n_documents);
        let counts = cached.then(|| TokenCounts::new(blocks, frequencies.vocabulary.len()));
        Ok((frequencies, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Monitor;
    use crate::text::{Bound, count_vocabulary};

    fn documents() -> Vec<Option<String>> {
        let text = |i: usize| (0..i % 9).map(|j| format!("w{} ", (i * j) % 97)).collect();
        (0..500).map(|i| (i % 7 != 3).then(|| text(i))).collect()
    }

    fn counted(max_bytes: u64) -> StreamingCounter {
        let mut counter = StreamingCounter::new(&Analyzer::default(), max_bytes).unwrap();
        let documents = documents();
        counter.observe(&[&documents[..130], &documents[130..200]]);
        counter.observe(&[&documents[200..]]);
        counter
    }

    #[test]
    fn cached_counts_equal_those_of_a_second_pass() {
        let selection = Selection { min_df: Bound::Documents(3), ..Selection::default() };
        let (df, counts) = counted(1 << 20).finish(&selection).unwrap();
        let documents = documents();
        let documents: Vec<&str> =
            documents.iter().map(|t| t.as_deref().unwrap_or_default()).collect();
        let counts = counts.unwrap();

        for range in [0..500, 0..1, 63..65, 64..128, 100..431, 500..500] {
            let again = count_vocabulary(
                &documents[range.clone()],
                &Analyzer::default(),
                &df.vocabulary,
                &Monitor::quiet(),
            );
            assert_eq!(counts.slice(range.clone()).matrix(), again.unwrap(), "{range:?}");
            let twice = counts.slice(range.start..500).slice(0..range.len());
            assert_eq!(twice, counts.slice(range));
        }
    }

    #[test]
    fn frequencies_do_not_depend_on_the_cache_size() {
        let (df, counts) = counted(1 << 20).finish(&Selection::default()).unwrap();
        let (df_uncached, none) = counted(0).finish(&Selection::default()).unwrap();
        let (df_dropped, dropped) = counted(1000).finish(&Selection::default()).unwrap();

        assert_eq!(counts.map(|counts| counts.len()), Some(500));
        assert_eq!((none, dropped), (None, None));
        assert_eq!(df_uncached, df);
        assert_eq!(df_dropped, df);
        // Missing values are not documents.
        assert_eq!(df.n_documents, 500 - 71);
    }

    #[test]
    fn cached_counts_are_included_in_the_size() {
        let (cached, uncached) = (counted(1 << 20), counted(0));

        assert!(cached.size() > uncached.size() + 8 * 1000);
    }
}
