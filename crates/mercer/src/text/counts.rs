//! Term counts of documents and the vocabulary of their terms.
//!
//! Every thread counts the terms of some blocks of documents in a hash table of its own. Then the terms of
//! all tables are sorted into one vocabulary, and every cell gets its column.

use super::analyzer::Analyzer;
use super::counter::{Counter, VocabularyCounter, in_blocks, workers};
use super::selection::Selection;
use super::terms::Terms;
use super::vocabulary::Vocabulary;
use crate::data::DocumentTermMatrix;
use crate::data::token_counts::DocumentBlock;
use crate::error::Result;
use crate::model::Monitor;
use mercer_num::parallel::{self, prelude::*};

/// The column of a term that is not selected.
const NO_COLUMN: u32 = u32::MAX;

/// The terms of documents with their counts, before terms are selected.
pub struct TermCounts {
    tables: Vec<Terms>,
    /// For each table the rank of its terms in the order of all terms.
    ranks: Vec<Vec<u32>>,
    /// Every distinct term in order: its table and its id there.
    order: Vec<(u32, u32)>,
    document_frequencies: Vec<u64>,
    blocks: Vec<DocumentBlock>,
}

/// Finds and counts the terms of documents.
///
/// # Errors
/// If the analyzer is not usable, or [`Error::Stopped`](crate::Error::Stopped).
pub fn count_terms(
    documents: &[&str],
    analyzer: &Analyzer,
    monitor: &Monitor<'_>,
) -> Result<TermCounts> {
    let reader = analyzer.reader()?;
    let mut counters: Vec<(Counter, Vec<(usize, DocumentBlock)>)> =
        workers(documents, monitor, |next| {
            let mut counter = Counter::default();
            let mut blocks = Vec::new();
            while let Some((k, documents)) = next() {
                blocks.push((k, counter.block(&reader, documents.iter().copied())));
            }
            (counter, blocks)
        })?;
    let mut blocks: Vec<(usize, DocumentBlock)> = Vec::new();
    for (counter, (_, some)) in counters.iter_mut().enumerate() {
        blocks.extend(some.drain(..).map(|(k, block)| (k, DocumentBlock { counter, ..block })));
    }
    blocks.sort_unstable_by_key(|(k, _)| *k);
    let blocks = blocks.into_iter().map(|(_, block)| block).collect();
    let counters = counters.into_iter().map(|(counter, _)| counter).collect();
    Ok(TermCounts::new(counters, blocks))
}

impl TermCounts {
    /// The terms of counters, with blocks in the order of the documents.
    pub(super) fn new(counters: Vec<Counter>, blocks: Vec<DocumentBlock>) -> TermCounts {
        let (order, ranks, document_frequencies) = sorted(&counters);
        let tables = counters.into_iter().map(|counter| counter.terms).collect();
        TermCounts { tables, ranks, order, document_frequencies, blocks }
    }

    /// The number of distinct terms.
    pub fn n_terms(&self) -> usize {
        self.order.len()
    }

    /// The number of documents.
    pub fn n_documents(&self) -> u64 {
        self.blocks.iter().map(|block| block.lengths.len() as u64).sum()
    }

    /// The number of documents that contain each term, in the order of the terms.
    pub fn document_frequencies(&self) -> &[u64] {
        &self.document_frequencies
    }

    /// The number of occurrences of each term, in the order of the terms.
    pub fn occurrences(&self) -> Vec<u64> {
        let mut all = vec![0; self.n_terms()];
        for block in &self.blocks {
            let ranks = &self.ranks[block.counter];
            let cells = block.cells.iter();
            cells.for_each(|(id, n)| all[ranks[*id as usize] as usize] += u64::from(*n));
        }
        all
    }

    /// For every term whether it is selected.
    ///
    /// # Errors
    /// If `max_df` is below `min_df`.
    pub fn keep(&self, selection: &Selection) -> Result<Vec<bool>> {
        let too_many = selection.max_features.is_some_and(|most| most < self.n_terms());
        let occurrences = if too_many { self.occurrences() } else { Vec::new() };
        selection.keep(self.n_documents(), &self.document_frequencies, |id| occurrences[id])
    }

    /// The vocabulary of the selected terms, and their counts.
    ///
    /// # Panics
    /// If `keep` has not one entry per term.
    pub fn select(self, keep: &[bool]) -> (Vocabulary, DocumentTermMatrix) {
        let (vocabulary, blocks) = self.select_blocks(keep);
        let n_columns = vocabulary.len();
        (vocabulary, DocumentTermMatrix::from_blocks(&blocks, n_columns))
    }

    /// The vocabulary of the selected terms, and the blocks by its columns.
    pub(super) fn select_blocks(mut self, keep: &[bool]) -> (Vocabulary, Vec<DocumentBlock>) {
        assert_eq!(keep.len(), self.n_terms(), "one entry per term");
        let mut n = 0;
        let columns: Vec<u32> = keep
            .iter()
            .map(|keep| {
                n += u32::from(*keep);
                if *keep { n - 1 } else { NO_COLUMN }
            })
            .collect();
        // The column of every term id of a table, so that a cell needs one lookup.
        let columns: Vec<Vec<u32>> = (self.ranks.par_iter())
            .map(|ranks| ranks.iter().map(|rank| columns[*rank as usize]).collect())
            .collect();
        let (vocabulary, ()) = rayon::join(
            || {
                let selected = self.order.iter().zip(keep).filter(|(_, keep)| **keep);
                let terms = selected
                    .map(|((table, id), _)| self.tables[*table as usize].term(*id as usize));
                let terms = terms.map(|term| std::str::from_utf8(term).unwrap_or("\u{fffd}"));
                Vocabulary::new(terms).expect("terms are distinct")
            },
            || {
                self.blocks.par_iter_mut().with_max_len(1).for_each(|block| {
                    let columns = &columns[block.counter];
                    block.assign_columns(|id| {
                        Some(columns[id as usize]).filter(|column| *column != NO_COLUMN)
                    });
                });
            },
        );
        (vocabulary, self.blocks)
    }
}

/// Counts the terms of a vocabulary in documents; other terms are ignored.
///
/// # Errors
/// If the analyzer is not usable, or [`Error::Stopped`](crate::Error::Stopped).
pub fn count_vocabulary(
    documents: &[&str],
    analyzer: &Analyzer,
    vocabulary: &Vocabulary,
    monitor: &Monitor<'_>,
) -> Result<DocumentTermMatrix> {
    let reader = analyzer.reader()?;
    let lookup = vocabulary.lookup();
    let blocks = in_blocks(documents, monitor, |documents, counter: &mut VocabularyCounter| {
        counter.block(&reader, documents, lookup)
    })?;
    Ok(DocumentTermMatrix::from_blocks(&blocks, vocabulary.len()))
}

/// All terms in order, the rank of each table's terms among them, and their document frequencies.
type Sorted = (Vec<(u32, u32)>, Vec<Vec<u32>>, Vec<u64>);

fn sorted(counters: &[Counter]) -> Sorted {
    let term =
        |(_, table, id): &(u64, u32, u32)| counters[*table as usize].terms.term(*id as usize);
    let mut all: Vec<(u64, u32, u32)> = Vec::new();
    for (table, counter) in counters.iter().enumerate() {
        all.extend(
            (0..counter.terms.len())
                .map(|id| (prefix(counter.terms.term(id)), table as u32, id as u32)),
        );
    }
    parallel::sort_unstable_by(&mut all, |a, b| a.0.cmp(&b.0).then_with(|| term(a).cmp(term(b))));
    let mut order: Vec<(u32, u32)> = Vec::new();
    let mut document_frequencies: Vec<u64> = Vec::new();
    let mut ranks: Vec<Vec<u32>> = counters.iter().map(|c| vec![0; c.terms.len()]).collect();
    let mut last: Option<(u64, u32, u32)> = None;
    for entry in all {
        let (start, table, id) = entry;
        if last.is_none_or(|last| last.0 != start || term(&last) != term(&entry)) {
            order.push((table, id));
            document_frequencies.push(0);
            last = Some(entry);
        }
        ranks[table as usize][id as usize] = order.len() as u32 - 1;
        let n = counters[table as usize].document_frequencies[id as usize];
        document_frequencies[order.len() - 1] += u64::from(n);
    }
    (order, ranks, document_frequencies)
}

/// The first eight bytes as an integer with the same order.
fn prefix(term: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let n = term.len().min(8);
    bytes[..n].copy_from_slice(&term[..n]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::text::Bound;
    use mercer_num::parallel::with_threads;

    const DOCUMENTS: [&str; 4] = ["The cat sat, the cat ran.", "", "A dog ran", "cat & dog & cat!"];

    fn counted(selection: &Selection) -> (Vec<String>, Vec<Vec<f64>>) {
        let counts = count_terms(&DOCUMENTS, &Analyzer::default(), &Monitor::quiet()).unwrap();
        let keep = counts.keep(selection).unwrap();
        let (vocabulary, rows) = counts.select(&keep);
        assert_eq!(rows.lengths, [6, 0, 2, 3]);
        let dense = rows.into_sparse().to_dense();
        let rows = dense.outer_iter().map(|row| row.to_vec()).collect();
        (vocabulary.terms().map(str::to_owned).collect(), rows)
    }

    #[test]
    fn terms_are_sorted_and_counted_per_document() {
        let (terms, rows) = counted(&Selection::default());

        assert_eq!(terms, ["cat", "dog", "ran", "sat", "the"]);
        assert_eq!(
            rows,
            [
                [2.0, 0.0, 1.0, 1.0, 2.0],
                [0.0; 5],
                [0.0, 1.0, 1.0, 0.0, 0.0],
                [2.0, 1.0, 0.0, 0.0, 0.0]
            ]
        );
    }

    #[test]
    fn terms_are_selected_by_document_frequency_and_then_by_occurrences() {
        let twice = Selection { min_df: Bound::Documents(2), ..Selection::default() };
        let half = Selection { max_df: Bound::Fraction(0.25), ..Selection::default() };
        // `dog`, `ran` and `the` occur twice each: the first is selected.
        let two = Selection { max_features: Some(2), ..Selection::default() };

        assert_eq!(counted(&twice).0, ["cat", "dog", "ran"]);
        assert_eq!(counted(&half).0, ["sat", "the"]);
        assert_eq!(counted(&two).0, ["cat", "dog"]);
        let none = Selection { max_df: Bound::Documents(1), ..twice };
        let counts = count_terms(&DOCUMENTS, &Analyzer::default(), &Monitor::quiet()).unwrap();
        assert!(counts.keep(&none).is_err());
    }

    #[test]
    fn any_number_of_threads_gives_the_same_matrix() {
        let long: Vec<String> = (0..4000)
            .map(|i| (0..60).map(|j| format!("w{} ", (i * 7 + j * j * 13) % 997)).collect())
            .collect();
        let texts: Vec<&str> = long.iter().map(String::as_str).collect();
        let run = |threads| {
            with_threads(threads, || {
                let counts = count_terms(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();
                let keep = counts.keep(&Selection::default()).unwrap();
                counts.select(&keep)
            })
        };
        let (vocabulary, rows) = run(1);

        assert_eq!(run(3), (vocabulary.clone(), rows.clone()));
        let again =
            count_vocabulary(&texts, &Analyzer::default(), &vocabulary, &Monitor::quiet()).unwrap();
        assert_eq!(again, rows);
    }

    #[test]
    fn a_cancelled_count_returns_stopped() {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let monitor = Monitor::quiet().cancelled_by(flag);

        let stopped = count_terms(&DOCUMENTS, &Analyzer::default(), &monitor).map(|_| ());

        assert_eq!(stopped, Err(Error::Stopped));
    }
}
