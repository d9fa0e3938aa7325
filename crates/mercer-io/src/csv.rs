//! CSV: fields between delimiters, one record per line, quotes around fields with a delimiter, a quote or a newline
//! (RFC 4180).
//!
//! A quote is special only at the beginning of a field. Empty lines are skipped. Cells are trimmed; text columns keep
//! the spaces inside quotes. Numbers are parsed in place, before the end of the field is searched, which makes the
//! reader fast.

use crate::block::{Cut, TextBlocks, at_newline, n_lines, trim};
use crate::cell_cache::{CachedBlock, CachedColumn};
use crate::cells::Cells;
use crate::column_summary::{ColumnSummaries, ColumnSummary, Fallible, ProfileRequest};
use crate::decoder::Decoder;
use crate::error::{At, Error, Result};
use crate::number::{self, Number};
use crate::open::Input;
use crate::options::Options;
use crate::pipeline::{Blocks, Decoded, Pass, Reader};
use crate::sniff;
use memchr::{memchr, memchr2, memrchr};
use mercer_num::simd::bytes::positions_of_either;
use std::ops::Range;
use std::sync::Arc;

const QUOTE: u8 = b'"';

/// A CSV file whose header is read.
#[derive(Debug)]
pub(crate) struct Csv {
    input: Input,
    names: Vec<String>,
    pub delimiter: u8,
    /// Whether the delimiter was inferred.
    pub inferred: bool,
    /// Whether fields may stand in quotes.
    quotes: bool,
    /// Bytes before the first record: byte-order mark, empty lines, header.
    skip: u64,
    first_line: u64,
}

impl Csv {
    /// Finds the delimiter and the names of the columns.
    pub fn open(input: Input, options: &Options, preset: Option<u8>) -> Result<Csv> {
        let file = input.name.clone();
        let head = input.peek(sniff::HEAD)?;
        let (bom, text) = sniff::strip_mark(&file, &head)?;
        let delimiter = match options.delimiter.or(preset) {
            Some(d) if d.is_ascii_alphanumeric() || b"\"\n\r.+-".contains(&d) || !d.is_ascii() => {
                let why = format!("`{}` cannot be a delimiter", d.escape_ascii());
                return Err(Error::Option { file, why });
            }
            Some(d) => d,
            None => sniff::delimiter(text),
        };
        let inferred = options.delimiter.or(preset).is_none();
        let (names, quotes) = (Vec::new(), options.quotes);
        let mut csv = Csv { input, names, delimiter, inferred, quotes, skip: 0, first_line: 0 };
        csv.read_header(bom as u64, options)?;
        Ok(csv)
    }

    /// The first record determines the number of columns and their names.
    fn read_header(&mut self, bom: u64, options: &Options) -> Result<()> {
        let file = self.input.name.clone();
        self.skip = bom;
        let record_bytes = options.limits.record_bytes;
        let pass =
            Pass { block_size: 1 << 16, record_bytes, decoder: None, progress: Arc::default() };
        let (mut n_bytes, mut line) = (0, 0);
        // A header longer than a block is found by the same loop that reads blocks.
        let mut first = None;
        for block in self.text_blocks(&pass)? {
            let block = block?;
            if block.iter().any(|b| !matches!(b, b'\n' | b'\r')) {
                first = Some(block);
                break;
            }
            n_bytes += block.len() as u64;
            line += n_lines(&block);
        }
        let Some(block) = first else { return Err(Error::Empty { file }) };
        let blank = block.iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        let record = &block[blank..];
        let end = self.record_end(record).unwrap_or(record.len());
        let record = &record[..end];
        if record.len() > record_bytes {
            return Err(over(&file, 1, "the header", record_bytes, "record_bytes"));
        }
        let cells = split(record, self.delimiter, self.quotes, &file)?;
        if cells.len() > options.limits.columns {
            let limit = options.limits.columns;
            return Err(over(
                &file,
                1,
                &format!("a table of {} columns", cells.len()),
                limit,
                "columns",
            ));
        }
        if !options.header {
            self.names = (1..=cells.len()).map(|j| format!("column_{j}")).collect();
            return Ok(());
        }
        self.skip += n_bytes + (blank + end) as u64;
        self.first_line = line + n_lines(&block[..blank + end]);
        self.names = header(cells);
        check_distinct(&self.names, &file)
    }

    fn text_blocks<'a>(&'a self, pass: &Pass<'_>) -> Result<TextBlocks<'a>> {
        let reader = self.input.reader_from(self.skip, &pass.progress)?;
        let delimiter = self.delimiter;
        let cut: Cut<'_> = match self.quotes {
            true => Box::new(move |bytes: &[u8]| last_record_end(bytes, delimiter)),
            false => Box::new(at_newline),
        };
        Ok(TextBlocks::new(&self.input, reader, pass.block_size, pass.record_bytes, cut))
    }
}

impl Reader for Csv {
    type Block = Vec<u8>;

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, Vec<u8>>> {
        Ok(Box::new(self.text_blocks(pass)?))
    }

    fn n_lines(&self, block: &Vec<u8>) -> u64 {
        n_lines(block)
    }

    fn first_line(&self) -> u64 {
        self.first_line
    }

    fn summarize(&self, block: &Vec<u8>, request: &ProfileRequest) -> Result<ColumnSummaries> {
        let columns = self.names.iter().map(|name| request.new_summary(name)).collect();
        let mut sink = SummarySink { request, numeric_tokens: request.missing.numeric, columns };
        let limits = (request.limits.field_bytes, request.limits.record_bytes);
        let (read, cached, sink) = if request.caches() {
            let n = n_lines(block) as usize;
            let cached = self
                .names
                .iter()
                .map(|name| CachedColumn::new(request.holds_texts(name), n, block.len()));
            let mut sink = CacheSink { summary: sink, cached: cached.collect() };
            let read = self.records(block, limits, &mut sink)?;
            let cached = CachedBlock { columns: sink.cached, n_rows: read.n_rows as usize };
            (read, Some(cached), sink.summary)
        } else {
            (self.records(block, limits, &mut sink)?, None, sink)
        };
        Ok(ColumnSummaries {
            n_rows: read.n_rows,
            first_line: read.first_line,
            columns: sink.columns,
            cached: cached.into_iter().collect(),
            ..ColumnSummaries::default()
        })
    }

    fn decode(&self, block: &Vec<u8>, decoder: &Decoder) -> Result<Decoded> {
        let n = n_lines(block) as usize;
        let positions: Vec<Option<usize>> =
            self.names.iter().map(|name| decoder.position(name)).collect();
        let cells = positions
            .iter()
            .map(|position| position.map(|k| (k, Cells::new(&decoder.fields[k].field, n))))
            .collect();
        let mut sink = DecodeSink { decoder, numeric_tokens: decoder.missing.numeric, cells };
        let limits = (decoder.limits.field_bytes, decoder.limits.record_bytes);
        let read = self.records(block, limits, &mut sink)?;
        // By field, not by column of the file.
        let mut columns: Vec<(usize, Cells)> = sink.cells.into_iter().flatten().collect();
        columns.sort_by_key(|(k, _)| *k);
        let columns = columns.into_iter().map(|(_, cells)| cells).collect();
        Ok(Decoded { columns, n_rows: read.n_rows as usize, seen: Vec::new() })
    }
}

/// Takes cells where they are found.
trait Sink {
    /// Whether column `j` takes numbers without their text.
    fn takes_values(&self, j: usize) -> bool;
    fn value(&mut self, j: usize, value: f64, whole: bool);
    fn number(&mut self, j: usize, number: &Number, text: &[u8], line: u64) -> Fallible;
    /// `raw` is the cell without its quotes, `text` without the spaces around it too.
    fn cell(&mut self, j: usize, text: &[u8], raw: &[u8], line: u64) -> Fallible;
}

struct SummarySink<'a> {
    request: &'a ProfileRequest<'a>,
    /// Whether a number may stand for a missing value.
    numeric_tokens: bool,
    columns: Vec<ColumnSummary>,
}

impl Sink for SummarySink<'_> {
    #[inline(always)]
    fn takes_values(&self, j: usize) -> bool {
        !self.numeric_tokens && !self.columns[j].levels.collected()
    }

    #[inline(always)]
    fn value(&mut self, j: usize, value: f64, whole: bool) {
        self.columns[j].value(value, whole);
    }

    #[inline]
    fn number(&mut self, j: usize, number: &Number, text: &[u8], line: u64) -> Fallible {
        if self.request.missing.numeric && self.request.missing.contains(text) {
            self.columns[j].missing(line);
            return Ok(());
        }
        self.columns[j].number(number, text, line, self.request)
    }

    #[inline]
    fn cell(&mut self, j: usize, text: &[u8], _: &[u8], line: u64) -> Fallible {
        self.columns[j].cell(text, line, self.request)
    }
}

/// Summarizes cells and caches them.
struct CacheSink<'a> {
    summary: SummarySink<'a>,
    cached: Vec<CachedColumn>,
}

impl Sink for CacheSink<'_> {
    #[inline(always)]
    fn takes_values(&self, j: usize) -> bool {
        self.summary.takes_values(j)
    }

    #[inline(always)]
    fn value(&mut self, j: usize, value: f64, whole: bool) {
        self.summary.value(j, value, whole);
        self.cached[j].value(value);
    }

    fn number(&mut self, j: usize, number: &Number, text: &[u8], line: u64) -> Fallible {
        let missing = self.summary.numeric_tokens && self.summary.request.missing.contains(text);
        let value = number.value(text);
        if missing {
            self.cached[j].missing();
        } else if self.takes_values(j) && value.is_finite() {
            self.cached[j].value(value);
        } else {
            self.cached[j].string(text, text);
        }
        self.summary.number(j, number, text, line)
    }

    fn cell(&mut self, j: usize, text: &[u8], raw: &[u8], line: u64) -> Fallible {
        if self.summary.request.missing.contains(text) {
            self.cached[j].missing();
        } else {
            match number::parse(text).filter(|_| self.takes_values(j)) {
                Some(value) => self.cached[j].value(value),
                None => self.cached[j].string(text, raw),
            }
        }
        self.summary.cell(j, text, raw, line)
    }
}

struct DecodeSink<'a> {
    decoder: &'a Decoder<'a>,
    /// Whether a number may stand for a missing value.
    numeric_tokens: bool,
    /// For every column of the file, the index of its field and its cells; `None` if it is not read.
    cells: Vec<Option<(usize, Cells)>>,
}

impl Sink for DecodeSink<'_> {
    #[inline(always)]
    fn takes_values(&self, j: usize) -> bool {
        !self.numeric_tokens && matches!(self.cells[j], Some((_, Cells::Numeric(_))))
    }

    #[inline(always)]
    fn value(&mut self, j: usize, value: f64, _: bool) {
        if let Some((_, Cells::Numeric(v))) = &mut self.cells[j] {
            v.push(value);
        }
    }

    #[inline]
    fn number(&mut self, j: usize, number: &Number, text: &[u8], line: u64) -> Fallible {
        let Some((k, cells)) = &mut self.cells[j] else { return Ok(()) };
        if self.decoder.missing.numeric && self.decoder.missing.contains(text) {
            cells.push_missing();
            return Ok(());
        }
        cells.push_number(number, text, line, &self.decoder.fields[*k])
    }

    #[inline]
    fn cell(&mut self, j: usize, text: &[u8], raw: &[u8], line: u64) -> Fallible {
        let Some((k, cells)) = &mut self.cells[j] else { return Ok(()) };
        if self.decoder.missing.contains(text) {
            cells.push_missing();
            return Ok(());
        }
        cells.push(text, raw, line, &self.decoder.fields[*k])
    }
}

/// The delimiters and newlines of a block, found one window at a time, including those inside quotes, which the
/// caller skips.
struct Separators<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// The window whose separators are known.
    window: Range<usize>,
    /// Their positions in the window.
    positions: Vec<u32>,
    n_separators: usize,
    next: usize,
}

/// The positions of a window stay in cache until they are used.
const WINDOW_BYTES: usize = 4096;

impl<'a> Separators<'a> {
    fn new(bytes: &'a [u8], delimiter: u8) -> Separators<'a> {
        let positions = vec![0; WINDOW_BYTES];
        Separators { bytes, delimiter, window: 0..0, positions, n_separators: 0, next: 0 }
    }

    /// The first separator at or behind a position; the end of the block if there is none.
    #[inline(always)]
    fn next_from(&mut self, at: usize) -> usize {
        loop {
            while let Some(position) = self.positions[..self.n_separators].get(self.next) {
                self.next = self.next.wrapping_add(1);
                let position = self.window.start.wrapping_add(*position as usize);
                if position >= at {
                    return position;
                }
            }
            if self.window.end >= self.bytes.len() {
                return self.bytes.len();
            }
            self.scan_window();
        }
    }

    #[inline(never)]
    fn scan_window(&mut self) {
        self.window = self.window.end..(self.window.end + WINDOW_BYTES).min(self.bytes.len());
        let window = &self.bytes[self.window.clone()];
        self.n_separators = positions_of_either(window, self.delimiter, b'\n', &mut self.positions);
        self.next = 0;
    }
}

/// The number of records of a block and the line of the first.
struct Parsed {
    n_rows: u64,
    first_line: u64,
}

/// The position of the parser in a block.
struct Cursor {
    /// The next byte.
    at: usize,
    /// The line of that byte, counted from one.
    line: u64,
    /// A buffer for the current quoted field without its quotes.
    unquoted: Vec<u8>,
}

impl Csv {
    /// Parses the records of a block, which ends with a newline, and passes the cells to the sink.
    fn records<S: Sink>(
        &self,
        bytes: &[u8],
        (field_bytes, record_bytes): (usize, usize),
        sink: &mut S,
    ) -> Result<Parsed> {
        let n_columns = self.names.len();
        let mut read = Parsed { n_rows: 0, first_line: 0 };
        let mut separators = Separators::new(bytes, self.delimiter);
        let mut cursor = Cursor { at: 0, line: 1, unquoted: Vec::new() };
        while cursor.at < bytes.len() {
            if let Some(n) = blank_line(bytes, cursor.at) {
                cursor.at += n;
                cursor.line += 1;
                continue;
            }
            if read.n_rows == 0 {
                read.first_line = cursor.line;
            }
            let (begin, begin_line) = (cursor.at, cursor.line);
            for j in 0..n_columns {
                let expected = if j + 1 == n_columns { b'\n' } else { self.delimiter };
                let separator = separators.next_from(cursor.at);
                // Most fields of most files are short numbers. The next field begins behind the separator, not behind
                // the number, so that the processor can parse several fields at once.
                if sink.takes_values(j)
                    && let Some(short) = number::scan_short(bytes, cursor.at)
                    && short.end == separator
                    && bytes.get(separator) == Some(&expected)
                {
                    sink.value(j, short.value(), short.is_plain_integer());
                    cursor.at = separator.wrapping_add(1);
                    continue;
                }
                self.general_field(bytes, j, separator, field_bytes, &mut cursor, sink)?;
                if bytes[cursor.at] != expected {
                    return Err(self.ragged(&bytes[begin..], begin_line));
                }
                cursor.at += 1;
            }
            if cursor.at - begin > record_bytes {
                let file = &self.input.name;
                return Err(over(file, begin_line, "a record", record_bytes, "record_bytes"));
            }
            cursor.line += 1;
            read.n_rows += 1;
        }
        Ok(read)
    }

    /// Parses a field of any form: a number, a quoted field or plain text up to the separator. The cursor stops at the
    /// end of the field.
    fn general_field<S: Sink>(
        &self,
        bytes: &[u8],
        j: usize,
        separator: usize,
        field_bytes: usize,
        cursor: &mut Cursor,
        sink: &mut S,
    ) -> Result<()> {
        let (start, line) = (cursor.at, cursor.line);
        let parsed = match number::scan(bytes, start) {
            Some(n) if ends(bytes, n.end, self.delimiter) => {
                cursor.at = n.end + usize::from(bytes[n.end] == b'\r');
                sink.number(j, &n, &bytes[start..n.end], line)
            }
            _ if self.quotes && bytes[start] == QUOTE => {
                cursor.at = self.unquote(bytes, start, line, &mut cursor.unquoted)?;
                cursor.line += n_lines(&bytes[start..cursor.at]);
                sink.cell(j, trim(&cursor.unquoted), &cursor.unquoted, line)
            }
            _ => {
                cursor.at = separator;
                let text = trim(&bytes[start..separator]);
                sink.cell(j, text, text, line)
            }
        };
        if let Err(fault) = parsed {
            return Err(fault.error(&self.input.name, &self.names[j], At::Line));
        }
        if cursor.at - start > field_bytes {
            let (file, what) = (&self.input.name, format!("a field of column `{}`", self.names[j]));
            return Err(over(file, cursor.line, &what, field_bytes, "field_bytes"));
        }
        Ok(())
    }

    /// Where the first record ends.
    fn record_end(&self, bytes: &[u8]) -> Option<usize> {
        match self.quotes {
            true => record_end(bytes, self.delimiter),
            false => memchr(b'\n', bytes).map(|n| n + 1),
        }
    }

    /// Copies a quoted field without its quotes and returns its end.
    fn unquote(&self, bytes: &[u8], start: usize, line: u64, into: &mut Vec<u8>) -> Result<usize> {
        into.clear();
        let refuse = |found: &str| Error::Quote {
            file: self.input.name.clone(),
            at: At::Line(line),
            found: found.to_owned(),
        };
        let mut at = start + 1;
        loop {
            let Some(n) = memchr(QUOTE, &bytes[at..]) else {
                return Err(refuse("a quoted field is never closed"));
            };
            into.extend_from_slice(&bytes[at..at + n]);
            at += n + 1;
            if bytes.get(at) != Some(&QUOTE) {
                break;
            }
            into.push(QUOTE);
            at += 1;
        }
        let end = field_end(bytes, at, self.delimiter);
        if !bytes[at..end].trim_ascii().is_empty() {
            return Err(refuse("there is text between a closing quote and the end of its field"));
        }
        Ok(end)
    }

    #[cold]
    fn ragged(&self, rest: &[u8], line: u64) -> Error {
        let record = &rest[..self.record_end(rest).unwrap_or(rest.len())];
        let found = match self.quotes {
            true => n_fields(record, self.delimiter),
            false => 1 + memchr::memchr_iter(self.delimiter, record).count(),
        };
        Error::Ragged {
            file: self.input.name.clone(),
            at: At::Line(line),
            found,
            expected: self.names.len(),
            delimiter: sniff::delimiter_name(self.delimiter),
        }
    }
}

#[cold]
fn over(file: &str, line: u64, what: &str, limit: usize, name: &'static str) -> Error {
    let at = Some(At::Line(line));
    Error::Limit { file: file.to_owned(), at, what: what.to_owned(), limit: limit as u64, name }
}

/// The length of an empty line, if there is one here.
#[inline]
fn blank_line(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes[at] {
        b'\n' => Some(1),
        b'\r' if bytes.get(at + 1) == Some(&b'\n') => Some(2),
        _ => None,
    }
}

/// Whether a field may end here.
#[inline]
fn ends(bytes: &[u8], at: usize, delimiter: u8) -> bool {
    match bytes.get(at) {
        Some(b'\n') => true,
        Some(b'\r') => bytes.get(at + 1) == Some(&b'\n'),
        Some(b) => *b == delimiter,
        None => false,
    }
}

/// The delimiter or newline that ends the unquoted field here. Most fields are short, and for them a
/// plain loop beats the start-up of a vectorized search.
#[inline]
fn field_end(bytes: &[u8], start: usize, delimiter: u8) -> usize {
    let rest = &bytes[start..];
    let is_end = |b: &u8| *b == delimiter || *b == b'\n';
    match rest.iter().take(16).position(is_end) {
        Some(n) => start + n,
        None => {
            let near = rest.len().min(16);
            let n = memchr2(delimiter, b'\n', &rest[near..]).unwrap_or(rest.len() - near);
            start + near + n
        }
    }
}

/// Where the last whole record ends, in bytes that begin with a record.
fn last_record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut last = None;
    each_unquoted_range(bytes, delimiter, |begin, end| {
        last = memrchr(b'\n', &bytes[begin..end]).map(|n| begin + n + 1).or(last);
        true
    });
    last
}

/// Where the first record ends.
pub(crate) fn record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut first = None;
    each_unquoted_range(bytes, delimiter, |begin, end| {
        first = memchr(b'\n', &bytes[begin..end]).map(|n| begin + n + 1);
        first.is_none()
    });
    first
}

/// How many fields a record has.
pub(crate) fn n_fields(record: &[u8], delimiter: u8) -> usize {
    let mut n = 1;
    each_unquoted_range(record, delimiter, |begin, end| {
        n += memchr::memchr_iter(delimiter, &record[begin..end]).count();
        true
    });
    n
}

/// Visits the ranges outside quoted fields, in order, while `visit` returns true. The rest after an unclosed quote is
/// not visited.
fn each_unquoted_range(bytes: &[u8], delimiter: u8, mut visit: impl FnMut(usize, usize) -> bool) {
    let mut begin = 0;
    let mut at = 0;
    while let Some(n) = memchr(QUOTE, &bytes[at..]) {
        let quote = at + n;
        let opens = quote == 0 || bytes[quote - 1] == delimiter || bytes[quote - 1] == b'\n';
        at = quote + 1;
        if !opens {
            continue;
        }
        if !visit(begin, quote) {
            return;
        }
        loop {
            let Some(n) = memchr(QUOTE, &bytes[at..]) else { return };
            at += n + 1;
            if bytes.get(at) != Some(&QUOTE) {
                break;
            }
            at += 1;
        }
        begin = at;
    }
    visit(begin, bytes.len());
}

/// The cells of one record, trimmed and, where they may stand in quotes, without them.
fn split(record: &[u8], delimiter: u8, quotes: bool, file: &str) -> Result<Vec<String>> {
    let mut bounds = Vec::new();
    let mut begin = 0;
    let mut visit = |from: usize, to: usize| {
        for n in memchr::memchr_iter(delimiter, &record[from..to]) {
            bounds.push(begin..from + n);
            begin = from + n + 1;
        }
        true
    };
    match quotes {
        true => each_unquoted_range(record, delimiter, visit),
        false => {
            visit(0, record.len());
        }
    }
    bounds.push(begin..record.len());
    bounds
        .into_iter()
        .enumerate()
        .map(|(j, range)| {
            let cell = trim(&record[range]);
            let inside = cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\""));
            let cell = inside.filter(|_| quotes).unwrap_or(cell);
            let text = std::str::from_utf8(cell).map_err(|_| Error::NotUtf8 {
                file: file.to_owned(),
                at: At::Line(1),
                place: format!("column {}", j + 1),
            })?;
            let text = if quotes { text.replace("\"\"", "\"") } else { text.to_owned() };
            Ok(text.trim().to_owned())
        })
        .collect()
}

fn header(cells: Vec<String>) -> Vec<String> {
    let named = cells.into_iter().enumerate();
    named
        .map(|(j, name)| if name.is_empty() { format!("column_{}", j + 1) } else { name })
        .collect()
}

/// Refuses two columns of one name.
pub(crate) fn check_distinct(names: &[String], file: &str) -> Result<()> {
    let mut positions = hashbrown::HashMap::<&str, usize>::new();
    for (j, name) in names.iter().enumerate() {
        if let Some(first) = positions.insert(name, j) {
            return Err(Error::RepeatedColumn {
                file: file.to_owned(),
                name: name.clone(),
                first: first + 1,
                second: j + 1,
            });
        }
    }
    Ok(())
}
