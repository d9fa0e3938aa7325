//! Apache Arrow IPC: the file format with a footer (also called Feather) and the stream without.

use crate::arrow_check;
use crate::catch_panic::guarded;
use crate::column_summary::{ColumnSummaries, ProfileRequest};
use crate::columnar;
use crate::decoder::Decoder;
use crate::error::{At, Error, Result};
use crate::open::{Counted, Input};
use crate::options::Limits;
use crate::pipeline::{Blocks, Decoded, Pass, Reader};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// An Arrow file or stream whose schema is read.
#[derive(Debug)]
pub(crate) struct Arrow {
    input: Input,
    names: Vec<String>,
    layout: Layout,
}

#[derive(Clone, Copy, Debug)]
enum Layout {
    File,
    Stream,
}

/// The reader of a file or of a stream; both yield record batches.
enum Batches {
    File(Box<FileReader<BufReader<Counted>>>),
    Stream(Box<StreamReader<BufReader<Counted>>>),
}

impl Batches {
    fn schema(&self) -> SchemaRef {
        match self {
            Batches::File(reader) => reader.schema(),
            Batches::Stream(reader) => reader.schema(),
        }
    }

    fn next(&mut self) -> Option<std::result::Result<RecordBatch, ArrowError>> {
        match self {
            Batches::File(reader) => reader.next(),
            Batches::Stream(reader) => reader.next(),
        }
    }
}

impl Arrow {
    pub fn open(input: Input, limits: &Limits) -> Result<Arrow> {
        guarded(&input.name, "Arrow", || arrow_check::check(&input, limits))?;
        let layout = if input.peek(6)? == b"ARROW1" { Layout::File } else { Layout::Stream };
        let mut arrow = Arrow { input, names: Vec::new(), layout };
        let schema = arrow.batches(None, &Arc::default())?.schema();
        arrow.names = columnar::names(&arrow.input.name, &schema, limits.columns)?;
        Ok(arrow)
    }

    fn batches(&self, columns: Option<Vec<usize>>, progress: &Arc<AtomicU64>) -> Result<Batches> {
        let reader = BufReader::with_capacity(1 << 18, self.input.seeker(progress));
        guarded(&self.input.name, "Arrow", || {
            let opened = match self.layout {
                Layout::File => {
                    FileReader::try_new(reader, columns).map(|r| Batches::File(Box::new(r)))
                }
                Layout::Stream => {
                    StreamReader::try_new(reader, columns).map(|r| Batches::Stream(Box::new(r)))
                }
            };
            opened.map_err(|e| self.damaged(e))
        })
    }

    fn damaged(&self, error: impl std::fmt::Display) -> Error {
        let file = self.input.name.clone();
        Error::Damaged { file, format: "Arrow".to_owned(), why: error.to_string() }
    }
}

impl Reader for Arrow {
    type Block = RecordBatch;

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, RecordBatch>> {
        let columns = columnar::projection(&self.names, pass.decoder);
        let mut batches = self.batches(Some(columns), &pass.progress)?;
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let batch = guarded(&self.input.name, "Arrow", || {
                batches.next().transpose().map_err(|e| self.damaged(e))
            });
            failed = batch.is_err();
            batch.transpose()
        })))
    }

    fn n_lines(&self, block: &RecordBatch) -> u64 {
        block.num_rows() as u64
    }

    fn at(&self) -> fn(u64) -> At {
        At::Row
    }

    fn summarize(&self, block: &RecordBatch, request: &ProfileRequest) -> Result<ColumnSummaries> {
        guarded(request.file, "Arrow", || columnar::summarize(block, request))
    }

    fn decode(&self, block: &RecordBatch, decoder: &Decoder) -> Result<Decoded> {
        guarded(decoder.file, "Arrow", || columnar::decode(block, decoder))
    }
}
