//! Apache Parquet. Its decoder may panic on damaged files, so every call into it is guarded.

use crate::catch_panic::guarded;
use crate::column_summary::{ColumnSummaries, ProfileRequest};
use crate::columnar;
use crate::decoder::Decoder;
use crate::error::{At, Error, Result};
use crate::open::{Input, Storage};
use crate::options::Limits;
use crate::pipeline::{Blocks, Decoded, Pass, Reader};
use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use std::fs::File;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Rows of a batch at most; wide tables have fewer.
const MAX_BATCH: usize = 1 << 16;
/// As in `open`: small files may well repeat themselves.
const EXPANSION_GRACE: u64 = 64 << 20;

/// A Parquet file whose footer is read.
#[derive(Debug)]
pub(crate) struct Parquet {
    input: Input,
    names: Vec<String>,
    metadata: ArrowReaderMetadata,
    /// The decoder moves the file position, so only one pass may read at a time.
    reading: Mutex<()>,
}

impl Parquet {
    pub fn open(input: Input, limits: &Limits) -> Result<Parquet> {
        let metadata = guarded(&input.name, "Parquet", || {
            let file = clone(&input)?;
            ArrowReaderMetadata::load(&file, Default::default()).map_err(|e| damaged(&input, e))
        })?;
        check_sizes(&input, metadata.metadata(), limits)?;
        let names = columnar::names(&input.name, metadata.schema(), limits.columns)?;
        Ok(Parquet { input, names, metadata, reading: Mutex::new(()) })
    }
}

/// Refuses sizes the file cannot justify before anything is allocated for them.
fn check_sizes(input: &Input, metadata: &ParquetMetaData, limits: &Limits) -> Result<()> {
    let lie = |why: &str| Error::Damaged {
        file: input.name.clone(),
        format: "Parquet".to_owned(),
        why: why.to_owned(),
    };
    for chunk in metadata.row_groups().iter().flat_map(|g| g.columns()) {
        let packed = u64::try_from(chunk.compressed_size()).map_err(|_| lie("a negative size"))?;
        let plain = u64::try_from(chunk.uncompressed_size()).map_err(|_| lie("a negative size"))?;
        if packed > input.size {
            return Err(lie("a column is larger than the file"));
        }
        if plain > EXPANSION_GRACE && plain / packed.max(1) > limits.expansion {
            return Err(Error::Limit {
                file: input.name.clone(),
                at: None,
                what: format!("{plain} bytes from {packed} compressed ones"),
                limit: limits.expansion,
                name: "expansion",
            });
        }
    }
    Ok(())
}

fn clone(input: &Input) -> Result<File> {
    match &*input.storage {
        Storage::File(file) => file.try_clone().map_err(|e| input.failed(e)),
        Storage::Memory(_) => Err(damaged(input, "it is read from files only, not from memory")),
    }
}

fn damaged(input: &Input, error: impl std::fmt::Display) -> Error {
    let file = input.name.clone();
    Error::Damaged { file, format: "Parquet".to_owned(), why: error.to_string() }
}

impl Reader for Parquet {
    type Block = RecordBatch;

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, RecordBatch>> {
        let guard = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let columns = columnar::projection(&self.names, pass.decoder);
        let n_rows = (pass.block_size / (8 * columns.len().max(1))).clamp(1, MAX_BATCH);
        let mut batches = guarded(&self.input.name, "Parquet", || {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                clone(&self.input)?,
                self.metadata.clone(),
            );
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
            let reader = builder.with_projection(mask).with_batch_size(n_rows).build();
            reader.map_err(|e| damaged(&self.input, e))
        })?;
        let total = self.metadata.metadata().file_metadata().num_rows().max(1) as u64;
        let (mut n_read, mut reported) = (0, 0);
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            let _guard = &guard;
            if failed {
                return None;
            }
            let batch = guarded(&self.input.name, "Parquet", || {
                batches.next().transpose().map_err(|e| damaged(&self.input, e))
            });
            failed = batch.is_err();
            if let Ok(Some(batch)) = &batch {
                n_read += batch.num_rows() as u64;
                let fraction = n_read as f64 / total as f64;
                let bytes = (self.input.size as f64 * fraction) as u64;
                pass.progress.fetch_add(bytes.saturating_sub(reported), Ordering::Relaxed);
                reported = bytes;
            }
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
        guarded(request.file, "Parquet", || columnar::summarize(block, request))
    }

    fn decode(&self, block: &RecordBatch, decoder: &Decoder) -> Result<Decoded> {
        guarded(decoder.file, "Parquet", || columnar::decode(block, decoder))
    }
}
