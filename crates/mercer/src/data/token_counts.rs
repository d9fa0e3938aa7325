//! Sparse term counts of documents: the document-term matrix in blocks of consecutive documents.
//!
//! Blocks are written by different threads. [`TokenCounts`] holds the blocks of a whole column of text and
//! lends slices of it; [`DocumentTermMatrix`] is the same in one compressed sparse row (CSR) matrix.

use mercer_num::Sparse;
use mercer_num::parallel::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// A document-term matrix in CSR format, one row per document; columns ascend within a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentTermMatrix {
    /// Where each row starts, and where the last one ends.
    pub starts: Vec<usize>,
    /// The column of each stored cell.
    pub columns: Vec<i32>,
    /// The value of each stored cell.
    pub values: Vec<f64>,
    /// The number of tokens of each document, inside or outside the vocabulary.
    pub lengths: Vec<u32>,
    /// The number of columns.
    pub n_columns: usize,
}

impl DocumentTermMatrix {
    /// The number of documents.
    pub fn n_rows(&self) -> usize {
        self.lengths.len()
    }

    /// The same as a sparse matrix.
    pub fn into_sparse(self) -> Sparse {
        Sparse::new((self.lengths.len(), self.n_columns), self.starts, self.columns, self.values)
    }

    /// One matrix of consecutive blocks, written by all threads.
    pub(crate) fn from_blocks(blocks: &[DocumentBlock], n_columns: usize) -> DocumentTermMatrix {
        let whole = blocks.iter().map(|block| block.slice(0..block.lengths.len()));
        DocumentTermMatrix::concatenate(&whole.collect::<Vec<_>>(), n_columns)
    }

    fn concatenate(blocks: &[BlockSlice<'_>], n_columns: usize) -> DocumentTermMatrix {
        let n_cells = blocks.iter().map(|block| block.cells.len()).sum();
        let mut matrix = DocumentTermMatrix {
            starts: vec![0],
            columns: vec![0; n_cells],
            values: vec![0.0; n_cells],
            lengths: Vec::new(),
            n_columns,
        };
        let mut columns = matrix.columns.as_mut_slice();
        let mut values = matrix.values.as_mut_slice();
        let mut copies = Vec::with_capacity(blocks.len());
        let mut start = 0;
        for block in blocks {
            matrix.starts.extend(block.ends.iter().map(|end| start + end - block.before));
            matrix.lengths.extend_from_slice(block.lengths);
            start += block.cells.len();
            let (block_columns, more_columns) = columns.split_at_mut(block.cells.len());
            let (block_values, more_values) = values.split_at_mut(block.cells.len());
            copies.push((block_columns, block_values, block.cells));
            (columns, values) = (more_columns, more_values);
        }
        copies.into_par_iter().for_each(|(columns, values, cells)| {
            for ((column, value), (id, n)) in columns.iter_mut().zip(values).zip(cells) {
                *column = *id as i32;
                *value = f64::from(*n);
            }
        });
        matrix
    }
}

/// The counts of some consecutive documents: by the term ids of a counter while terms are counted, by
/// column in the end.
#[derive(Debug, PartialEq)]
pub(crate) struct DocumentBlock {
    /// The counter that numbered the terms.
    pub counter: usize,
    /// Pairs of term id (or column) and count.
    pub cells: Vec<(u32, u32)>,
    /// Where the cells of each document end.
    pub ends: Vec<usize>,
    /// The number of tokens of each document.
    pub lengths: Vec<u32>,
}

impl DocumentBlock {
    /// An empty block with capacity for some documents.
    pub fn with_capacity<'t>(documents: impl Iterator<Item = &'t str>) -> DocumentBlock {
        let (n, bytes) =
            documents.fold((0, 0), |(n, bytes), document| (n + 1, bytes + document.len()));
        DocumentBlock {
            counter: 0,
            cells: Vec::with_capacity(bytes / 10),
            ends: Vec::with_capacity(n),
            lengths: Vec::with_capacity(n),
        }
    }

    /// The memory it takes, in bytes.
    pub fn size(&self) -> usize {
        8 * self.cells.capacity() + 12 * self.ends.capacity() + size_of::<DocumentBlock>()
    }

    /// Ends a document of so many tokens.
    pub fn end_document(&mut self, n_tokens: u32) {
        self.ends.push(self.cells.len());
        self.lengths.push(n_tokens);
    }

    /// Replaces term ids by columns, ascending within a document; terms without a column are dropped.
    pub fn assign_columns(&mut self, column: impl Fn(u32) -> Option<u32>) {
        let (mut from, mut to) = (0, 0);
        let mut row: Vec<u64> = Vec::new();
        for end in &mut self.ends {
            row.clear();
            row.extend(self.cells[from..*end].iter().filter_map(|(id, n)| {
                column(*id).map(|column| u64::from(column) << 32 | u64::from(*n))
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

    fn slice(&self, documents: Range<usize>) -> BlockSlice<'_> {
        let end = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        let (before, last) = (end(documents.start), end(documents.end));
        let lengths = &self.lengths[documents.clone()];
        BlockSlice {
            cells: &self.cells[before..last],
            ends: &self.ends[documents],
            before,
            lengths,
        }
    }
}

/// Some documents of a block.
struct BlockSlice<'a> {
    cells: &'a [(u32, u32)],
    ends: &'a [usize],
    /// The number of cells of the block before the slice.
    before: usize,
    lengths: &'a [u32],
}

/// The term counts of consecutive documents, by the columns of a vocabulary. A clone shares the counts.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenCounts {
    blocks: Arc<[DocumentBlock]>,
    /// The first document of each block.
    firsts: Arc<[usize]>,
    documents: Range<usize>,
    n_columns: usize,
}

impl TokenCounts {
    pub(crate) fn new(blocks: Vec<DocumentBlock>, n_columns: usize) -> TokenCounts {
        let mut n = 0;
        let firsts = blocks.iter().map(|block| {
            n += block.lengths.len();
            n - block.lengths.len()
        });
        let firsts = firsts.collect();
        TokenCounts { blocks: blocks.into(), firsts, documents: 0..n, n_columns }
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// A range of the documents.
    ///
    /// # Panics
    /// If the range exceeds the documents.
    pub fn slice(&self, documents: Range<usize>) -> TokenCounts {
        let inside = documents.start <= documents.end && documents.end <= self.len();
        assert!(inside, "a range within the documents");
        let from = self.documents.start;
        TokenCounts { documents: from + documents.start..from + documents.end, ..self.clone() }
    }

    /// The counts as one matrix.
    pub fn matrix(&self) -> DocumentTermMatrix {
        let Range { start, end } = self.documents;
        let from = self.firsts.partition_point(|first| *first <= start).saturating_sub(1);
        let to = self.firsts.partition_point(|first| *first < end);
        let blocks: Vec<BlockSlice<'_>> = (from..to)
            .map(|k| {
                let (block, first) = (&self.blocks[k], self.firsts[k]);
                block.slice(start.saturating_sub(first)..block.lengths.len().min(end - first))
            })
            .collect();
        DocumentTermMatrix::concatenate(&blocks, self.n_columns)
    }
}
