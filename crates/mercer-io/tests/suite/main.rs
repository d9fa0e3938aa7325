//! What holds for all of mercer-io, seen from outside.

// A test may unwrap; clippy sees that only inside the test functions themselves.
#![allow(clippy::unwrap_used)]

mod columnar;
mod csv;
mod damage;
mod documents;
mod errors;
mod files;
mod text_formats;

use mercer::data::{Table, Values};
use mercer_io::{Error, Options, Profile, Source};
use std::io::Write;
use tempfile::NamedTempFile;

/// A file of some bytes whose name ends with `suffix`.
fn file(suffix: &str, bytes: &[u8]) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.flush().unwrap();
    file
}

fn open(file: &NamedTempFile, options: &Options) -> Result<Source, Error> {
    Source::open(file.path().to_str().unwrap(), options)
}

/// Profile and table of some bytes.
fn read_with(suffix: &str, bytes: &[u8], options: &Options) -> Result<(Profile, Table), Error> {
    let file = file(suffix, bytes);
    both_ways(options, |options| open(&file, options))
}

/// Profile and table, with cells kept from the first look and with the file read again: the same.
fn both_ways(
    options: &Options,
    open: impl Fn(&Options) -> Result<Source, Error>,
) -> Result<(Profile, Table), Error> {
    let read = |cache_bytes: u64| {
        let source = open(&Options { cache_bytes, ..options.clone() })?;
        let profile = source.profile(&|_, _| true)?;
        let table = source.read(&profile.schema())?;
        Ok((profile, table))
    };
    let (kept, again): (Result<_, Error>, Result<_, Error>) = (read(1 << 20), read(0));
    // As text: gaps are NaN, which equals nothing.
    assert_eq!(format!("{kept:?}"), format!("{again:?}"));
    kept
}

fn read(suffix: &str, bytes: impl AsRef<[u8]>) -> (Profile, Table) {
    read_with(suffix, bytes.as_ref(), &Options::default()).unwrap()
}

/// The message of the error reading gives.
fn refused(suffix: &str, bytes: impl AsRef<[u8]>, options: &Options) -> String {
    read_with(suffix, bytes.as_ref(), options).unwrap_err().to_string()
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match &table.column(name).unwrap().values {
        Values::Numeric(v) => v,
        other => panic!("{name}: {other:?}"),
    }
}

/// The cells of a column as words, `-` where missing.
fn words(table: &Table, name: &str) -> Vec<String> {
    let values = &table.column(name).unwrap().values;
    (0..values.len()).map(|i| values.cell(i).unwrap_or_else(|| "-".to_owned())).collect()
}
