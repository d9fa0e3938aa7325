//! Several files of one format as one table: the rows of the first, then those of the second, and so on.

use crate::column_summary::{ColumnSummaries, ProfileRequest};
use crate::decoder::Decoder;
use crate::error::{At, Error, Result};
use crate::pipeline::{Blocks, Decoded, Pass, Reader};
use std::path::{Path, PathBuf};

/// The readers of files with the same columns, at least one.
#[derive(Debug)]
pub(crate) struct Files<R> {
    readers: Vec<R>,
}

/// A block, the index of its file, and whether it is the first of the file.
pub(crate) struct FileBlock<B> {
    file: usize,
    is_first: bool,
    block: B,
}

impl<R: Reader> Files<R> {
    /// The files in order, with their names for messages.
    ///
    /// # Errors
    /// If a file has other columns than the first one.
    pub fn new(readers: Vec<(String, R)>) -> Result<Files<R>> {
        if let Some((first, reader)) = readers.first() {
            for (file, other) in &readers {
                if other.names() != reader.names() {
                    let shown = |reader: &R| reader.names().unwrap_or_default().join(", ");
                    let why = format!(
                        "its columns are {}, and those of {first} are {}; files of one table have the same columns \
                         in the same order",
                        shown(other),
                        shown(reader)
                    );
                    return Err(Error::Option { file: file.clone(), why });
                }
            }
        }
        Ok(Files { readers: readers.into_iter().map(|(_, reader)| reader).collect() })
    }

    /// The reader of the first file.
    pub fn first(&self) -> &R {
        &self.readers[0]
    }

    /// The readers, each with a name for messages.
    pub fn into_readers(self, name: &str) -> Vec<(String, R)> {
        self.readers.into_iter().map(|reader| (name.to_owned(), reader)).collect()
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.readers.len()
    }
}

impl<R: Reader> Reader for Files<R> {
    type Block = FileBlock<R::Block>;

    fn names(&self) -> Option<&[String]> {
        self.first().names()
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, Self::Block>> {
        let files = self.readers.iter().enumerate();
        Ok(Box::new(files.flat_map(move |(file, reader)| -> Blocks<'a, Self::Block> {
            match reader.blocks(pass) {
                Ok(blocks) => Box::new(blocks.enumerate().map(move |(k, block)| {
                    Ok(FileBlock { file, is_first: k == 0, block: block? })
                })),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        })))
    }

    fn n_lines(&self, block: &Self::Block) -> u64 {
        self.readers[block.file].n_lines(&block.block)
    }

    fn first_line(&self) -> u64 {
        self.first().first_line()
    }

    fn restarts_at(&self, block: &Self::Block) -> Option<u64> {
        block.is_first.then(|| self.readers[block.file].first_line())
    }

    fn at(&self) -> fn(u64) -> At {
        self.first().at()
    }

    fn summarize(&self, block: &Self::Block, request: &ProfileRequest) -> Result<ColumnSummaries> {
        self.readers[block.file].summarize(&block.block, request)
    }

    fn decode(&self, block: &Self::Block, decoder: &Decoder) -> Result<Decoded> {
        self.readers[block.file].decode(&block.block, decoder)
    }
}

/// The tables in a folder, in nested folders too, in the order of their names; none if it has no files of tables.
/// Names that begin with `.` or `_` are skipped, as Spark and Hive do.
pub(crate) fn tables_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase());
        let name = name.unwrap_or_default();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            found.extend(tables_in(&path));
        } else if is_table(&name) {
            found.push(path);
        }
    }
    found
}

fn is_table(name: &str) -> bool {
    let plain = [".gz", ".gzip", ".zst", ".zstd"].iter().find_map(|end| name.strip_suffix(end));
    let plain = plain.unwrap_or(name);
    [".csv", ".tsv", ".parquet"].iter().any(|end| plain.ends_with(end))
}
