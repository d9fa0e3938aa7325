//! The sparse text format of SVMlight and LIBSVM: `label [qid:n] index:value ... [# comment]`.
//!
//! It has two columns: `label`, whose levels are kept as written, and `features`, a sparse column.
//! Indices start at one, unless index zero occurs in the file or the options set it.

use crate::block::{TextBlocks, at_newline, n_lines};
use crate::cells::{Cells, SparseRows};
use crate::column_summary::{ColumnSummaries, ColumnSummary, ProfileRequest};
use crate::decoder::Decoder;
use crate::error::{At, Error, Result, shown};
use crate::number;
use crate::open::Input;
use crate::options::Options;
use crate::pipeline::{Blocks, Decoded, Pass, Reader, waves};
use crate::sniff;
use mercer::data::Kind;
use mercer::data::Schema;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::documents::LABEL;
const FEATURES: &str = "features";
const SHAPE: &str = "`label index:value ...` with increasing indices";

/// An svmlight file.
#[derive(Debug)]
pub(crate) struct Svmlight {
    input: Input,
    /// Bytes of the byte-order mark.
    mark: u64,
    names: [String; 2],
    /// The index of the first feature, once it is known.
    first_index: OnceLock<u32>,
}

impl Svmlight {
    pub fn open(input: Input, options: &Options) -> Result<Svmlight> {
        let first_index = options.first_index.map_or_else(OnceLock::new, OnceLock::from);
        if let Some(index) = options.first_index.filter(|i| *i > 1) {
            let why = format!("indices begin with 0 or 1, not with {index}");
            return Err(Error::Option { file: input.name, why });
        }
        let mark = sniff::mark_of_text(&input)?;
        Ok(Svmlight { input, mark, names: [LABEL.to_owned(), FEATURES.to_owned()], first_index })
    }

    /// The index of the first feature, if it is known already.
    pub fn first_index(&self) -> Option<u32> {
        self.first_index.get().copied()
    }

    /// Determines the first index before decoding: from the schema, or by a pass over the file, because index zero may
    /// occur in the last line.
    pub fn settle(&self, schema: &Schema, pass: &Pass<'_>) -> Result<()> {
        if let Some(first) = schema.fields.iter().find_map(|field| field.first_index) {
            self.first_index.get_or_init(|| first);
        }
        if self.first_index.get().is_some() {
            return Ok(());
        }
        let mut zero = false;
        let work = |block: &Vec<u8>| {
            let mut zero = false;
            let look = |index: u64, _: f64, _: u64| {
                zero |= index == 0;
                Ok(())
            };
            self.records(block, |_, _| Ok(()), look)?;
            Ok(zero)
        };
        waves(self, pass, work, |wave| {
            zero |= wave.results.iter().any(|(z, _)| *z);
            Ok(if zero { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        self.first_index.get_or_init(|| u32::from(!zero));
        Ok(())
    }

    /// Makes the width of the features from the largest index, once all records are counted.
    pub fn finish(&self, summaries: &mut ColumnSummaries) {
        let [label, features] = summaries.columns.as_mut_slice() else { return };
        let first = *self.first_index.get_or_init(|| u32::from(!features.index_zero));
        features.width = features.width.saturating_sub(u64::from(first)).max(1);
        features.first_index = Some(first);
        features.note = Some(format!("indices count from {first}"));
        // Too many distinct labels for classes: a regression target.
        let regression = label.levels.full && label.n_present() == label.n_numbers;
        label.declared = Some(if regression { Kind::Numeric } else { Kind::Categorical });
    }

    /// Parses the records: `label` takes the label and its line, `pair` an index, a value, a line.
    fn records(
        &self,
        bytes: &[u8],
        mut label: impl FnMut(&[u8], u64) -> Result<()>,
        mut pair: impl FnMut(u64, f64, u64) -> Result<()>,
    ) -> Result<Option<u64>> {
        let mut first = None;
        for (i, record) in bytes.split(|b| *b == b'\n').enumerate() {
            let line = i as u64 + 1;
            let end = memchr::memchr(b'#', record).unwrap_or(record.len());
            let mut words = record[..end].split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
            let Some(word) = words.next() else { continue };
            if word.contains(&b':') {
                return Err(
                    self.refuse(line, format!("the first word `{}` is no label", shown(word)))
                );
            }
            first.get_or_insert(line);
            label(word, line)?;
            let mut last = None;
            for word in words.filter(|w| !w.starts_with(b"qid:")) {
                let Some((index, value)) = parse_pair(word) else {
                    return Err(self.refuse(line, format!("`{}` is no index:value", shown(word))));
                };
                if last.is_some_and(|last| index <= last) {
                    let found = format!("index {index} is repeated or smaller than the one before");
                    return Err(self.refuse(line, found));
                }
                last = Some(index);
                pair(index, value, line)?;
            }
        }
        Ok(first)
    }

    fn refuse(&self, line: u64, found: String) -> Error {
        let file = self.input.name.clone();
        Error::Syntax { file, at: At::Line(line), found, expected: SHAPE.to_owned() }
    }
}

impl Reader for Svmlight {
    type Block = Vec<u8>;

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, Vec<u8>>> {
        let reader = self.input.reader_from(self.mark, &pass.progress)?;
        let cut = Box::new(at_newline);
        Ok(Box::new(TextBlocks::new(&self.input, reader, pass.block_size, pass.record_bytes, cut)))
    }

    fn n_lines(&self, block: &Vec<u8>) -> u64 {
        n_lines(block)
    }

    fn summarize(&self, block: &Vec<u8>, request: &ProfileRequest) -> Result<ColumnSummaries> {
        let mut label = ColumnSummary::exact();
        let mut features = ColumnSummary::default();
        features.declared = Some(Kind::Sparse);
        let mut n_rows = 0;
        let count = |word: &[u8], line: u64| {
            n_rows += 1;
            label.cell(word, line, request).map_err(|f| f.error(request.file, LABEL, At::Line))
        };
        let measure = |index: u64, value: f64, line: u64| {
            if index > request.limits.width as u64 {
                return Err(Error::Limit {
                    file: request.file.to_owned(),
                    at: Some(At::Line(line)),
                    what: format!("index {index}"),
                    limit: request.limits.width as u64,
                    name: "width",
                });
            }
            features.index_zero |= index == 0;
            features.width = features.width.max(index + 1);
            features.value(value, false);
            Ok(())
        };
        let first_line = self.records(block, count, measure)?.unwrap_or(0);
        Ok(ColumnSummaries {
            n_rows,
            first_line,
            columns: vec![label, features],
            ..ColumnSummaries::default()
        })
    }

    fn decode(&self, block: &Vec<u8>, decoder: &Decoder) -> Result<Decoded> {
        let first = u64::from(self.first_index().unwrap_or(1));
        let label = decoder.position(LABEL).map(|k| &decoder.fields[k]);
        let width = decoder.position(FEATURES).map(|k| decoder.fields[k].field.width);
        let mut labels = match label {
            Some(label) => Cells::new(&label.field, 0),
            None => Cells::Numeric(Vec::new()),
        };
        let mut rows = SparseRows::default();
        let mut ends: Vec<usize> = Vec::new();
        let n_pairs = std::cell::Cell::new(0);
        let take_label = |word: &[u8], line: u64| {
            ends.push(n_pairs.get());
            let Some(field) = label else { return Ok(()) };
            if decoder.missing.contains(word) {
                labels.push_missing();
                return Ok(());
            }
            let pushed = labels.push(word, word, line, field);
            pushed.map_err(|f| f.error(decoder.file, LABEL, At::Line))
        };
        let take_pair = |index: u64, value: f64, line: u64| {
            let Some(width) = width else { return Ok(()) };
            let column = index.checked_sub(first).filter(|c| *c < width as u64);
            let Some(column) = column.and_then(|c| i32::try_from(c).ok()) else {
                let file = decoder.file.to_owned();
                return Err(Error::Width { file, at: At::Line(line), index, width });
            };
            rows.indices.push(column);
            rows.values.push(value);
            n_pairs.set(rows.indices.len());
            Ok(())
        };
        self.records(block, take_label, take_pair)?;
        // Each label came when the row before it had ended; the first of these ends is none.
        let n_rows = ends.len();
        ends.push(rows.indices.len());
        rows.ends = ends.split_off(1);
        let columns = decoder.fields.iter().map(|f| match f.field.name.as_str() {
            LABEL => labels.clone(),
            _ => Cells::Sparse(std::mem::take(&mut rows)),
        });
        Ok(Decoded { columns: columns.collect(), n_rows, seen: Vec::new() })
    }
}

fn parse_pair(word: &[u8]) -> Option<(u64, f64)> {
    let colon = memchr::memchr(b':', word)?;
    let index = &word[..colon];
    if index.is_empty() || index.len() > 18 {
        return None;
    }
    let index = index
        .iter()
        .try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')))?;
    Some((index, number::parse(&word[colon + 1..])?))
}
