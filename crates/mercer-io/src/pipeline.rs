//! The loop over the blocks of all formats: one thread reads blocks ahead, all threads process a wave of blocks, and the
//! results are taken in the order of the file.
//!
//! Memory is bounded by two waves, the one being processed and the one being read. A block is processed without its
//! position in the file, so its lines are counted from its own start and moved to their position here.

use crate::cells::Cells;
use crate::column_summary::{ColumnSummaries, ProfileRequest};
use crate::decoder::Decoder;
use crate::error::{At, Result};
use mercer_num::parallel::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;

/// Several small blocks per thread balance the load at the end of a wave.
const BLOCKS_PER_THREAD: usize = 8;
const MAX_WAVE: usize = 128;
/// Wide tables cost memory by column: about so many columns are summarized at a time, in all blocks.
const MAX_WAVE_COLUMNS: usize = 1 << 18;

/// What every format can do.
pub(crate) trait Reader: Sync {
    /// Some whole records.
    type Block: Send + Sync;

    /// Column names, where the format has them before its records.
    fn names(&self) -> Option<&[String]>;

    /// The blocks in order; with a decoder, only its columns are needed.
    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, Self::Block>>;

    /// How many lines (or rows) of the file a block takes.
    fn n_lines(&self, block: &Self::Block) -> u64;

    /// The first line (or row) of the first block, counted from zero.
    fn first_line(&self) -> u64 {
        0
    }

    /// The first line (or row) of the file that a block begins; `None` if it continues one.
    fn restarts_at(&self, _block: &Self::Block) -> Option<u64> {
        None
    }

    /// The position in its errors: a line or a row.
    fn at(&self) -> fn(u64) -> At {
        At::Line
    }

    /// The summary of a block.
    fn summarize(&self, block: &Self::Block, request: &ProfileRequest) -> Result<ColumnSummaries>;

    /// The cells of a block in the columns of a decoder.
    fn decode(&self, block: &Self::Block, decoder: &Decoder) -> Result<Decoded>;
}

/// Blocks in the order of the file.
pub(crate) type Blocks<'a, B> = Box<dyn Iterator<Item = Result<B>> + 'a>;

/// One reading of the whole input.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    pub block_size: usize,
    pub record_bytes: usize,
    /// The columns to decode; formats with columns of their own read no others.
    #[cfg_attr(
        not(feature = "all-formats"),
        expect(dead_code, reason = "read by columnar formats")
    )]
    pub decoder: Option<&'a Decoder<'a>>,
    /// Bytes read from disk so far.
    pub progress: Arc<AtomicU64>,
}

/// A decoded block.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub columns: Vec<Cells>,
    pub n_rows: usize,
    /// For each field whether any record had it; empty if the format declares its columns.
    pub seen: Vec<bool>,
}

/// A wave of results, each with the number of lines before its block, and whether it is the last.
pub(crate) struct Wave<T> {
    pub results: Vec<(T, u64)>,
    pub last: bool,
}

/// Runs `work` on all blocks and passes the results to `take`, wave by wave.
pub(crate) fn waves<R: Reader, T: Send>(
    reader: &R,
    pass: &Pass<'_>,
    work: impl Fn(&R::Block) -> Result<T> + Sync,
    mut take: impl FnMut(Wave<T>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let size = wave_size(reader.names().map_or(1, <[String]>::len));
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(size);
        scope.spawn(move || match reader.blocks(pass) {
            // The receiver is dropped when no more blocks are needed.
            Ok(mut blocks) => while blocks.next().is_some_and(|b| sender.send(b).is_ok()) {},
            Err(error) => drop(sender.send(Err(error))),
        });
        let mut line = reader.first_line();
        loop {
            let blocks: Vec<Result<R::Block>> = receiver.iter().take(size).collect();
            let last = blocks.len() < size;
            let worked: Vec<(Result<T>, u64, Option<u64>)> = blocks
                .into_par_iter()
                .with_max_len(1)
                .map(|block| match block {
                    Ok(block) => (work(&block), reader.n_lines(&block), reader.restarts_at(&block)),
                    Err(error) => (Err(error), 0, None),
                })
                .collect();
            let mut results = Vec::with_capacity(worked.len());
            for (result, n_lines, restart) in worked {
                line = restart.unwrap_or(line);
                results.push((result.map_err(|e| e.later(line))?, line));
                line += n_lines;
            }
            if take(Wave { results, last })?.is_break() || last {
                return Ok(());
            }
        }
    })
}

/// How many blocks are worked on together.
pub(crate) fn wave_size(n_columns: usize) -> usize {
    let threads = rayon::current_num_threads();
    (threads * BLOCKS_PER_THREAD).min(MAX_WAVE).min(MAX_WAVE_COLUMNS / n_columns.max(1)).max(1)
}
