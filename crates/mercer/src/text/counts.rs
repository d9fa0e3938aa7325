//! How often every term occurs in every text.
//!
//! Texts are dealt out in blocks to as many workers as there are threads, each with a table of its
//! own. Then all tables are sorted into one vocabulary, and every cell is written once, where it
//! belongs. Counts are whole numbers and the vocabulary is sorted, so nothing depends on who took
//! which block.

use super::analyzer::{Analyzer, Reader, Scratch};
use super::terms::{Batch, Terms};
use super::vocabulary::{Lookup, Vocabulary};
use crate::error::{Error, Result};
use crate::model::{Monitor, Statistics};
use mercer_num::Sparse;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering as Order;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of text that a worker takes at a time.
const BLOCK: usize = 1 << 17;
/// The number of a term that is left out.
const NOWHERE: u32 = u32::MAX;

/// Counts in compressed rows, one a text; columns are in order within a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRows {
    /// Where each row starts, and where the last one ends.
    pub starts: Vec<usize>,
    /// The column of each cell.
    pub columns: Vec<i32>,
    /// The number of each cell.
    pub values: Vec<f64>,
    /// How many terms each text has, known or not.
    pub lengths: Vec<u32>,
    /// How many columns there are.
    pub n_columns: usize,
}

impl TextRows {
    /// How many texts there are.
    pub fn n_rows(&self) -> usize {
        self.lengths.len()
    }

    /// The same as a sparse matrix.
    pub fn into_sparse(self) -> Sparse {
        Sparse::new((self.lengths.len(), self.n_columns), self.starts, self.columns, self.values)
    }
}

/// Which terms are told apart, by the texts they occur in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Terms in fewer texts are left out.
    pub min_df: Bound,
    /// Terms in more texts are left out.
    pub max_df: Bound,
    /// Of more terms than this, those that occur most often stay, the first of equals.
    pub max_features: Option<usize>,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection { min_df: Bound::Texts(1), max_df: Bound::Share(1.0), max_features: None }
    }
}

/// A number of texts, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// So many texts.
    Texts(u64),
    /// This share of the texts.
    Share(f64),
}

impl Bound {
    /// The number of texts it stands for among `n`.
    pub fn of(self, n: u64) -> f64 {
        match self {
            Bound::Texts(texts) => texts as f64,
            Bound::Share(share) => share * n as f64,
        }
    }
}

impl Selection {
    /// For every term whether it stays: `documents` says in how many of `n` texts it occurs,
    /// `occurrences` how often in all.
    ///
    /// # Errors
    /// If the bounds leave no room.
    pub fn keep(
        &self,
        n: u64,
        documents: &[u64],
        occurrences: impl Fn(usize) -> u64,
    ) -> Result<Vec<bool>> {
        let (low, high) = (self.min_df.of(n), self.max_df.of(n));
        if high < low {
            return Err(Error::Parameter {
                name: "max_df".into(),
                found: format!("{high} texts"),
                expected: format!("at least min_df, {low} texts"),
            });
        }
        let mut keep: Vec<bool> =
            documents.iter().map(|df| (low..=high).contains(&(*df as f64))).collect();
        if let Some(most) = self.max_features {
            let mut kept: Vec<usize> = (0..keep.len()).filter(|id| keep[*id]).collect();
            if kept.len() > most {
                kept.sort_by_key(|id| std::cmp::Reverse(occurrences(*id)));
                kept[most..].iter().for_each(|id| keep[*id] = false);
            }
        }
        Ok(keep)
    }
}

/// Terms that were found in texts and counted, not yet chosen among.
pub struct Tallied {
    tables: Vec<Terms>,
    /// For each table the place of its terms in the order of all.
    places: Vec<Vec<u32>>,
    /// Every distinct term in order: its table and its number there.
    order: Vec<(u32, u32)>,
    documents: Vec<u64>,
    blocks: Vec<Block>,
}

/// The counts of some consecutive texts, by the terms of a table, or in the end by column.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    pub table: usize,
    pub cells: Vec<(u32, u32)>,
    /// Where each text's cells end.
    pub ends: Vec<usize>,
    pub lengths: Vec<u32>,
}

/// Finds and counts the terms of texts.
///
/// # Errors
/// If the analyzer is not usable, or [`Error::Stopped`].
pub fn tally(texts: &[&str], analyzer: &Analyzer, monitor: &Monitor<'_>) -> Result<Tallied> {
    let reader = analyzer.reader()?;
    let mut counters: Vec<(Counter, Vec<(usize, Block)>)> = workers(texts, monitor, |next| {
        let mut counter = Counter::default();
        let mut blocks = Vec::new();
        while let Some((k, texts)) = next() {
            blocks.push((k, counter.block(&reader, texts.iter().copied())));
        }
        (counter, blocks)
    })?;
    let mut blocks: Vec<(usize, Block)> = Vec::new();
    for (table, (_, some)) in counters.iter_mut().enumerate() {
        blocks.extend(some.drain(..).map(|(k, block)| (k, Block { table, ..block })));
    }
    blocks.sort_unstable_by_key(|(k, _)| *k);
    let blocks = blocks.into_iter().map(|(_, block)| block).collect();
    let counters = counters.into_iter().map(|(counter, _)| counter).collect();
    Ok(Tallied::new(counters, blocks))
}

impl Tallied {
    /// What workers found, in the order of the texts.
    pub(super) fn new(counters: Vec<Counter>, blocks: Vec<Block>) -> Tallied {
        let (order, places, documents) = sorted(&counters);
        let tables = counters.into_iter().map(|counter| counter.terms).collect();
        Tallied { tables, places, order, documents, blocks }
    }

    /// How many distinct terms there are.
    pub fn n_terms(&self) -> usize {
        self.order.len()
    }

    /// How many texts there are.
    pub fn n_texts(&self) -> u64 {
        self.blocks.iter().map(|block| block.lengths.len() as u64).sum()
    }

    /// In how many texts each term occurs, in the order of the terms.
    pub fn documents(&self) -> &[u64] {
        &self.documents
    }

    /// How often each term occurs, in the order of the terms.
    pub fn occurrences(&self) -> Vec<u64> {
        let mut all = vec![0; self.n_terms()];
        for block in &self.blocks {
            let places = &self.places[block.table];
            block
                .cells
                .iter()
                .for_each(|(id, n)| all[places[*id as usize] as usize] += u64::from(*n));
        }
        all
    }

    /// Which terms stay.
    ///
    /// # Errors
    /// If the bounds leave no room.
    pub fn keep(&self, selection: &Selection) -> Result<Vec<bool>> {
        let most = selection.max_features.is_some_and(|most| most < self.n_terms());
        let occurrences = if most { self.occurrences() } else { Vec::new() };
        selection.keep(self.n_texts(), &self.documents, |id| occurrences[id])
    }

    /// The terms that stay, with their counts.
    ///
    /// # Panics
    /// If `keep` has not one entry a term.
    pub fn counts(self, keep: &[bool]) -> (Vocabulary, TextRows) {
        let (vocabulary, blocks) = self.chosen(keep);
        let n_columns = vocabulary.len();
        (vocabulary, joined(blocks, n_columns))
    }

    /// The terms that stay, and the blocks by their columns.
    pub(super) fn chosen(mut self, keep: &[bool]) -> (Vocabulary, Vec<Block>) {
        assert_eq!(keep.len(), self.n_terms(), "one entry a term");
        let mut n = 0;
        let moved: Vec<u32> = keep
            .iter()
            .map(|keep| {
                n += u32::from(*keep);
                if *keep { n - 1 } else { NOWHERE }
            })
            .collect();
        // The column of each table's terms, so that a cell looks once.
        let columns: Vec<Vec<u32>> = (self.places.par_iter())
            .map(|places| places.iter().map(|place| moved[*place as usize]).collect())
            .collect();
        let (vocabulary, ()) = rayon::join(
            || {
                let kept = self.order.iter().zip(keep).filter(|(_, keep)| **keep);
                let terms =
                    kept.map(|((table, id), _)| self.tables[*table as usize].term(*id as usize));
                let terms = terms.map(|term| std::str::from_utf8(term).unwrap_or("\u{fffd}"));
                Vocabulary::new(terms).expect("every term comes once")
            },
            || {
                self.blocks.par_iter_mut().with_max_len(1).for_each(|block| {
                    let columns = &columns[block.table];
                    block.arrange(|id| columns[id as usize]);
                });
            },
        );
        (vocabulary, self.blocks)
    }
}

/// Counts the terms of a vocabulary in texts; other terms are passed over.
///
/// # Errors
/// If the analyzer is not usable, or [`Error::Stopped`].
pub fn count(
    texts: &[&str],
    analyzer: &Analyzer,
    vocabulary: &Vocabulary,
    monitor: &Monitor<'_>,
) -> Result<TextRows> {
    let reader = analyzer.reader()?;
    let known = vocabulary.lookup();
    let blocks = in_blocks(texts, monitor, |texts, counter: &mut KnownCounter| {
        counter.block(&reader, texts, known)
    })?;
    Ok(joined(blocks, vocabulary.len()))
}

/// Runs over blocks of texts with all threads; `work` gets a thread's own state.
pub(super) fn in_blocks<S: Default, T: Send>(
    texts: &[&str],
    monitor: &Monitor<'_>,
    work: impl Fn(&[&str], &mut S) -> T + Sync,
) -> Result<Vec<T>> {
    let done = workers(texts, monitor, |next| {
        let mut state = S::default();
        let mut done = Vec::new();
        while let Some((k, texts)) = next() {
            done.push((k, work(texts, &mut state)));
        }
        done
    })?;
    let mut done: Vec<(usize, T)> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(k, _)| *k);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

/// Lets every thread take blocks of texts until there are none.
fn workers<'t, T: Send>(
    texts: &'t [&'t str],
    monitor: &Monitor<'_>,
    work: impl Fn(&mut dyn FnMut() -> Option<(usize, &'t [&'t str])>) -> T + Sync,
) -> Result<Vec<T>> {
    let blocks = blocks_of(texts);
    let taken = AtomicUsize::new(0);
    let n = rayon::current_num_threads().min(blocks.len()).max(1);
    let done = (0..n)
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let mut next = || {
                let k = taken.fetch_add(1, Ordering::Relaxed);
                let range = blocks.get(k).filter(|_| monitor.stop().is_none())?;
                Some((k, &texts[range.clone()]))
            };
            work(&mut next)
        })
        .collect();
    // Whoever stopped left blocks behind.
    if monitor.stop().is_some() { Err(Error::Stopped) } else { Ok(done) }
}

/// Consecutive texts of about so many bytes.
fn blocks_of(texts: &[&str]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        bytes += text.len() + 64;
        if bytes >= BLOCK {
            blocks.push(from..i + 1);
            (from, bytes) = (i + 1, 0);
        }
    }
    if from < texts.len() {
        blocks.push(from..texts.len());
    }
    blocks
}

/// A worker's terms and what it knows of each.
#[derive(Default)]
pub(super) struct Counter {
    terms: Terms,
    marks: Vec<Mark>,
    documents: Vec<u32>,
    row: u32,
    batch: Batch,
    scratch: Scratch,
}

/// The last text a term was met in and its cell there.
#[derive(Clone, Copy, Default)]
struct Mark {
    row: u32,
    cell: u32,
}

impl Counter {
    /// Counts the terms of texts and keeps the counts.
    pub(super) fn block<'t>(
        &mut self,
        reader: &Reader,
        texts: impl Iterator<Item = &'t str> + Clone,
    ) -> Block {
        let mut block = Block::with_room(texts.clone());
        for text in texts {
            let n = self.gather(reader, text);
            let Counter { terms, marks, documents, row, batch, .. } = self;
            terms.ids(batch, |id| {
                if id as usize == marks.len() {
                    marks.push(Mark::default());
                    documents.push(0);
                }
                if block.add(&mut marks[id as usize], *row, id) {
                    documents[id as usize] += 1;
                }
            });
            block.end(n);
        }
        block
    }

    /// Counts in how many texts terms occur and forgets the rest.
    pub(super) fn observe<'t>(&mut self, reader: &Reader, texts: impl Iterator<Item = &'t str>) {
        for text in texts {
            self.gather(reader, text);
            let Counter { terms, marks, documents, row, batch, .. } = self;
            terms.ids(batch, |id| {
                let id = id as usize;
                if id == marks.len() {
                    marks.push(Mark::default());
                    documents.push(0);
                }
                if marks[id].row != *row {
                    marks[id].row = *row;
                    documents[id] += 1;
                }
            });
        }
    }

    /// Fills the batch with the terms of the next text.
    fn gather(&mut self, reader: &Reader, text: &str) -> u32 {
        let Counter { terms, batch, scratch, row, .. } = self;
        *row += 1;
        batch.clear();
        reader.each(text, scratch, |text, from, to| terms.push(text, from, to, batch));
        batch.len() as u32
    }

    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        self.terms.size() + 12 * self.marks.capacity()
    }
}

/// A worker that knows the terms already: those of a text are sorted, and equal ones lie side by side.
#[derive(Default)]
struct KnownCounter {
    ids: Vec<u32>,
    batch: Batch,
    scratch: Scratch,
}

impl KnownCounter {
    fn block(&mut self, reader: &Reader, texts: &[&str], known: Lookup<'_>) -> Block {
        let mut block = Block::with_room(texts.iter().copied());
        let KnownCounter { ids, batch, scratch } = self;
        for text in texts {
            batch.clear();
            ids.clear();
            reader.each(text, scratch, |text, from, to| known.push(text, from, to, batch));
            known.known_ids(batch, |id| ids.push(id));
            ids.sort_unstable();
            let same = ids.chunk_by(|a, b| a == b);
            block.cells.extend(same.map(|ids| (ids[0], ids.len() as u32)));
            block.end(batch.len() as u32);
        }
        block
    }
}

impl Block {
    fn with_room<'t>(texts: impl Iterator<Item = &'t str>) -> Block {
        let (n, bytes) = texts.fold((0, 0), |(n, bytes), text| (n + 1, bytes + text.len()));
        Block {
            table: 0,
            cells: Vec::with_capacity(bytes / 10),
            ends: Vec::with_capacity(n),
            lengths: Vec::with_capacity(n),
        }
    }

    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        8 * self.cells.capacity() + 12 * self.ends.capacity() + size_of::<Block>()
    }

    /// Counts a term of the text under way; true if it is its first there.
    #[inline]
    fn add(&mut self, mark: &mut Mark, row: u32, id: u32) -> bool {
        if mark.row == row {
            self.cells[mark.cell as usize].1 += 1;
            return false;
        }
        *mark = Mark { row, cell: self.cells.len() as u32 };
        self.cells.push((id, 1));
        true
    }

    fn end(&mut self, length: u32) {
        self.ends.push(self.cells.len());
        self.lengths.push(length);
    }

    /// Gives the cells their final columns, in order within a text; some go.
    fn arrange(&mut self, column: impl Fn(u32) -> u32) {
        let (mut from, mut to) = (0, 0);
        let mut row: Vec<u64> = Vec::new();
        for end in &mut self.ends {
            row.clear();
            row.extend(self.cells[from..*end].iter().filter_map(|(id, n)| {
                let column = column(*id);
                (column != NOWHERE).then_some(u64::from(column) << 32 | u64::from(*n))
            }));
            row.sort_unstable();
            from = *end;
            for cell in &row {
                self.cells[to] = ((cell >> 32) as u32, *cell as u32);
                to += 1;
            }
            *end = to;
        }
        self.cells.truncate(to);
    }
}

/// One matrix of all blocks.
fn joined(blocks: Vec<Block>, n_columns: usize) -> TextRows {
    let parts = blocks.iter().map(|block| block.part(0..block.lengths.len()));
    joined_parts(&parts.collect::<Vec<_>>(), n_columns)
}

/// Some texts of a block.
pub(super) struct Part<'a> {
    cells: &'a [(u32, u32)],
    ends: &'a [usize],
    /// What comes before the first end.
    before: usize,
    lengths: &'a [u32],
}

impl Block {
    /// Some of its texts.
    pub(super) fn part(&self, texts: Range<usize>) -> Part<'_> {
        let end = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        let (before, last) = (end(texts.start), end(texts.end));
        let lengths = &self.lengths[texts.clone()];
        Part { cells: &self.cells[before..last], ends: &self.ends[texts], before, lengths }
    }
}

/// One matrix of texts by column, written by all threads.
pub(super) fn joined_parts(parts: &[Part<'_>], n_columns: usize) -> TextRows {
    let n_cells = parts.iter().map(|part| part.cells.len()).sum();
    let mut rows = TextRows {
        starts: vec![0],
        columns: vec![0; n_cells],
        values: vec![0.0; n_cells],
        lengths: Vec::new(),
        n_columns,
    };
    let (mut columns, mut values) = (rows.columns.as_mut_slice(), rows.values.as_mut_slice());
    let mut copies = Vec::with_capacity(parts.len());
    let mut start = 0;
    for part in parts {
        rows.starts.extend(part.ends.iter().map(|end| start + end - part.before));
        rows.lengths.extend_from_slice(part.lengths);
        start += part.cells.len();
        let (some_columns, more_columns) = columns.split_at_mut(part.cells.len());
        let (some_values, more_values) = values.split_at_mut(part.cells.len());
        copies.push((some_columns, some_values, part.cells));
        (columns, values) = (more_columns, more_values);
    }
    copies.into_par_iter().for_each(|(columns, values, cells)| {
        for ((column, value), (id, n)) in columns.iter_mut().zip(values).zip(cells) {
            *column = *id as i32;
            *value = f64::from(*n);
        }
    });
    rows
}

/// All terms in order, the places of each table's terms among them, and their numbers of texts.
type Sorted = (Vec<(u32, u32)>, Vec<Vec<u32>>, Vec<u64>);

fn sorted(counters: &[Counter]) -> Sorted {
    let term =
        |(_, table, id): &(u64, u32, u32)| counters[*table as usize].terms.term(*id as usize);
    let mut all: Vec<(u64, u32, u32)> = Vec::new();
    for (table, counter) in counters.iter().enumerate() {
        all.extend(
            (0..counter.terms.len())
                .map(|id| (beginning(counter.terms.term(id)), table as u32, id as u32)),
        );
    }
    all.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| term(a).cmp(term(b))));
    let mut order: Vec<(u32, u32)> = Vec::new();
    let mut documents: Vec<u64> = Vec::new();
    let mut places: Vec<Vec<u32>> = counters.iter().map(|c| vec![0; c.terms.len()]).collect();
    let mut last: Option<(u64, u32, u32)> = None;
    for entry in all {
        let (start, table, id) = entry;
        if last.is_none_or(|last| last.0 != start || term(&last) != term(&entry)) {
            order.push((table, id));
            documents.push(0);
            last = Some(entry);
        }
        places[table as usize][id as usize] = order.len() as u32 - 1;
        let n = counters[table as usize].documents[id as usize];
        documents[order.len() - 1] += u64::from(n);
    }
    (order, places, documents)
}

/// The first eight bytes as a number that sorts as they do.
fn beginning(term: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let n = term.len().min(8);
    bytes[..n].copy_from_slice(&term[..n]);
    u64::from_be_bytes(bytes)
}

/// In how many of so many texts each term occurs: what idf weights come from. Two can be added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentCounts {
    /// How many texts there were.
    pub n_texts: u64,
    /// Their terms in order.
    pub vocabulary: Vocabulary,
    /// In how many texts each of them occurs.
    pub documents: Vec<u64>,
}

impl DocumentCounts {
    /// Counts texts.
    ///
    /// # Errors
    /// If the analyzer is not usable, or [`Error::Stopped`].
    ///
    /// ```
    /// use mercer::prelude::*;
    /// use mercer::text::{Analyzer, DocumentCounts};
    /// let mut monday = DocumentCounts::of(&["an apple"], &Analyzer::default(), &Monitor::quiet())?;
    /// let tuesday = DocumentCounts::of(&["an egg"], &Analyzer::default(), &Monitor::quiet())?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.vocabulary.terms().collect::<Vec<_>>(), ["an", "apple", "egg"]);
    /// assert_eq!((monday.n_texts, monday.documents), (2, vec![2, 1, 1]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of(texts: &[&str], analyzer: &Analyzer, monitor: &Monitor<'_>) -> Result<Self> {
        let reader = analyzer.reader()?;
        let counters = workers(texts, monitor, |next| {
            let mut counter = Counter::default();
            while let Some((_, texts)) = next() {
                counter.observe(&reader, texts.iter().copied());
            }
            counter
        })?;
        let tallied = Tallied::new(counters, Vec::new());
        let keep = vec![true; tallied.n_terms()];
        Ok(DocumentCounts::chosen(tallied, &keep, texts.len() as u64).0)
    }

    /// Those of the terms that stay, and the blocks by their columns.
    pub(super) fn chosen(tallied: Tallied, keep: &[bool], n_texts: u64) -> (Self, Vec<Block>) {
        let kept = tallied.documents.iter().zip(keep).filter(|(_, keep)| **keep);
        let documents = kept.map(|(n, _)| *n).collect();
        let (vocabulary, blocks) = tallied.chosen(keep);
        (DocumentCounts { n_texts, vocabulary, documents }, blocks)
    }
}

impl Statistics for DocumentCounts {
    fn merge(&mut self, other: &Self) -> Result<()> {
        let (mut i, mut j) = (0, 0);
        let mut terms = Vec::with_capacity(self.vocabulary.len().max(other.vocabulary.len()));
        let mut documents = Vec::with_capacity(terms.capacity());
        while i < self.documents.len() || j < other.documents.len() {
            let mine = (i < self.documents.len()).then(|| self.vocabulary.term(i));
            let theirs = (j < other.documents.len()).then(|| other.vocabulary.term(j));
            let order = match (mine, theirs) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Order::Less,
                _ => Order::Greater,
            };
            let (mut n, mut term) = (0, "");
            if let (Some(mine), Order::Less | Order::Equal) = (mine, order) {
                (n, term) = (n + self.documents[i], mine);
                i += 1;
            }
            if let (Some(theirs), Order::Greater | Order::Equal) = (theirs, order) {
                (n, term) = (n + other.documents[j], theirs);
                j += 1;
            }
            terms.push(term);
            documents.push(n);
        }
        let vocabulary = Vocabulary::new(terms)?;
        *self = DocumentCounts { n_texts: self.n_texts + other.n_texts, vocabulary, documents };
        Ok(())
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let refuse = |why: String| Error::Forget { why };
        let n_texts = (self.n_texts.checked_sub(other.n_texts))
            .ok_or_else(|| refuse(format!("{} of {} texts", other.n_texts, self.n_texts)))?;
        let mut documents = self.documents.clone();
        for (term, n) in other.vocabulary.terms().zip(&other.documents) {
            let left = self.vocabulary.find(term).and_then(|id| {
                documents[id] = documents[id].checked_sub(*n)?;
                Some(())
            });
            left.ok_or_else(|| refuse(format!("the term `{term}` more often than it was there")))?;
        }
        let left = || (0..documents.len()).filter(|id| documents[*id] > 0);
        let vocabulary = Vocabulary::new(left().map(|id| self.vocabulary.term(id)))?;
        let documents = left().map(|id| documents[id]).collect();
        *self = DocumentCounts { n_texts, vocabulary, documents };
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let sorted = self.vocabulary.terms().is_sorted_by(|a, b| a < b);
        let fits = self.documents.len() == self.vocabulary.len()
            && self.documents.iter().all(|n| (1..=self.n_texts).contains(n));
        if sorted && fits {
            Ok(())
        } else {
            Err(Error::File("counts of texts that no texts could have given".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::parallel::with_threads;

    const TEXTS: [&str; 4] = ["The cat sat, the cat ran.", "", "A dog ran", "cat & dog & cat!"];

    fn counted(selection: &Selection) -> (Vec<String>, Vec<Vec<f64>>) {
        let tallied = tally(&TEXTS, &Analyzer::default(), &Monitor::quiet()).unwrap();
        let keep = tallied.keep(selection).unwrap();
        let (vocabulary, rows) = tallied.counts(&keep);
        assert_eq!(rows.lengths, [6, 0, 2, 3]);
        let dense = rows.into_sparse().to_dense();
        let rows = dense.outer_iter().map(|row| row.to_vec()).collect();
        (vocabulary.terms().map(str::to_owned).collect(), rows)
    }

    #[test]
    fn terms_are_sorted_and_counted_by_text() {
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
    fn terms_are_chosen_by_texts_and_then_by_occurrences() {
        let twice = Selection { min_df: Bound::Texts(2), ..Selection::default() };
        let half = Selection { max_df: Bound::Share(0.25), ..Selection::default() };
        // `dog`, `ran` and `the` occur twice each: the first of equals stays.
        let two = Selection { max_features: Some(2), ..Selection::default() };

        assert_eq!(counted(&twice).0, ["cat", "dog", "ran"]);
        assert_eq!(counted(&half).0, ["sat", "the"]);
        assert_eq!(counted(&two).0, ["cat", "dog"]);
        let none = Selection { max_df: Bound::Texts(1), ..twice };
        let tallied = tally(&TEXTS, &Analyzer::default(), &Monitor::quiet()).unwrap();
        assert!(tallied.keep(&none).is_err());
    }

    #[test]
    fn any_number_of_threads_gives_the_same_matrix() {
        let long: Vec<String> = (0..4000)
            .map(|i| (0..60).map(|j| format!("w{} ", (i * 7 + j * j * 13) % 997)).collect())
            .collect();
        let texts: Vec<&str> = long.iter().map(String::as_str).collect();
        let run = |threads| {
            with_threads(threads, || {
                let tallied = tally(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();
                let keep = tallied.keep(&Selection::default()).unwrap();
                tallied.counts(&keep)
            })
        };
        let (vocabulary, rows) = run(1);

        assert_eq!(run(3), (vocabulary.clone(), rows.clone()));
        let again = count(&texts, &Analyzer::default(), &vocabulary, &Monitor::quiet()).unwrap();
        assert_eq!(again, rows);
    }

    #[test]
    fn counts_of_parts_add_up_and_come_off() {
        let of = |texts: &[&str]| {
            DocumentCounts::of(texts, &Analyzer::default(), &Monitor::quiet()).unwrap()
        };
        let whole = of(&TEXTS);
        let mut sum = of(&TEXTS[2..]);
        sum.merge(&of(&TEXTS[..2])).unwrap();
        assert_eq!(sum, whole);
        whole.check().unwrap();

        sum.forget(&of(&TEXTS[..2])).unwrap();

        assert_eq!(sum, of(&TEXTS[2..]));
        assert!(sum.forget(&of(&["zebra"])).is_err());
    }

    #[test]
    fn a_cancelled_count_stops() {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let monitor = Monitor::quiet().cancelled_by(flag);

        let stopped = tally(&TEXTS, &Analyzer::default(), &monitor).map(|_| ());

        assert_eq!(stopped, Err(Error::Stopped));
    }
}
