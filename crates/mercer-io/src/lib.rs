//! Reads tables: CSV, JSON lines, svmlight, Parquet, Arrow and folders of documents and mails, compressed or piped.
//!
//! [`Source::open`] infers format, delimiter and compression. [`Source::profile`] reads the input once and infers the
//! kind of each column. [`Source::read`] and the [`mercer::data::Stream`] of a source decode it under a schema, which
//! comes from that profile or from a saved model.
//!
//! In the order of the data: `open` (files, stdin, gzip, zstd), `sniff` (format and delimiter), one module per format,
//! each yielding blocks of complete records; `pipeline` reads blocks ahead and processes several of them in parallel;
//! `column_summary` counts cells and `profile` infers the kinds; `decoder` and `cells` make tables of exact length.

#![forbid(unsafe_code)]

#[cfg(feature = "all-formats")]
mod arrow;
#[cfg(feature = "all-formats")]
mod arrow_check;
#[cfg(feature = "all-formats")]
mod arrow_values;
mod block;
mod catch_panic;
mod cell_cache;
mod cells;
mod column_summary;
#[cfg(feature = "all-formats")]
mod columnar;
mod csv;
mod decoder;
mod documents;
mod error;
mod files;
mod jsonl;
mod mail;
mod missing;
mod number;
mod open;
mod options;
#[cfg(feature = "all-formats")]
mod parquet;
mod pipeline;
mod profile;
mod sniff;
mod source;
mod svmlight;

pub use error::{At, Error, Result};
pub use mercer::data::{ColumnProfile, Profile};
pub use options::{ColumnType, Format, Limits, Options};
pub use source::Source;
