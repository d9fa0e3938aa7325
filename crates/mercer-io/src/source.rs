//! An opened input: what the faces hold in their hands.

use crate::arrow::Arrow;
use crate::cell_cache::KeptBlock;
use crate::cells::Chunker;
use crate::column_summary::{Ask, ColumnSummaries};
use crate::csv::Csv;
use crate::decoder::Decoder;
use crate::documents::{self, Documents};
use crate::error::{Error, Result};
use crate::jsonl::JsonLines;
use crate::open::{Input, Packing};
use crate::options::{Format, Options};
use crate::parquet::Parquet;
use crate::pipeline::{self, Pass, Reader, waves};
use crate::profile::{Judge, Profile};
use crate::sniff;
use crate::svmlight::Svmlight;
use mercer::data::Schema;
use mercer::data::{Kind, Stream, Table};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const BLOCK_SIZE: usize = 1 << 19;

/// An input that is open and can be read again.
#[derive(Debug)]
pub struct Source {
    name: String,
    size: u64,
    packing: Packing,
    options: Options,
    block_size: usize,
    format: Opened,
    /// All cells of the input, if a look at it kept them.
    kept: OnceLock<Vec<KeptBlock>>,
}

#[derive(Debug)]
enum Opened {
    Csv(Csv),
    JsonLines(JsonLines),
    Svmlight(Svmlight),
    Parquet(Parquet),
    Arrow(Arrow),
    Documents(Documents, Format),
}

/// Calls a generic function with the reader of whatever format is open.
macro_rules! with_reader {
    ($source:expr, $reader:ident => $call:expr) => {
        match &$source.format {
            Opened::Csv($reader) => $call,
            Opened::JsonLines($reader) => $call,
            Opened::Svmlight($reader) => $call,
            Opened::Parquet($reader) => $call,
            Opened::Arrow($reader) => $call,
            Opened::Documents($reader, _) => $call,
        }
    };
}

impl Source {
    /// Opens a file, or standard input as `-`, and finds out its format, delimiter and header.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or its beginning is not what its format wants.
    ///
    /// ```
    /// use mercer_io::{Options, Source};
    /// let path = std::env::temp_dir().join("mercer-io-doc.csv");
    /// std::fs::write(&path, "age,city\n31,Ulm\n?,Bonn\n")?;
    ///
    /// let source = Source::open(path.to_str().unwrap(), &Options::default())?;
    /// let profile = source.profile(&|_, _| true)?;
    /// let table = source.read(&profile.schema())?;
    ///
    /// assert_eq!(table.n_rows(), 2);
    /// assert_eq!(profile.columns[0].n_missing, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &str, options: &Options) -> Result<Source> {
        let limits = &options.limits;
        if path != "-" && std::fs::metadata(path).is_ok_and(|about| about.is_dir()) {
            return Source::open_folder(path, options);
        }
        let input = Input::open(path, limits)?;
        let (name, size, packing) = (input.name.clone(), input.size, input.packing);
        if size == 0 {
            return Err(Error::Empty { file: name });
        }
        let named = sniff::by_name(path);
        let format = match (options.format, named) {
            (Some(format), _) | (None, Some((format, _))) => format,
            (None, None) => sniff::by_content(&name, &input.peek(sniff::HEAD)?)?,
        };
        let preset = named.and_then(|(_, delimiter)| delimiter);
        let format = match format {
            Format::Csv => Opened::Csv(Csv::open(input, options, preset)?),
            Format::JsonLines => Opened::JsonLines(JsonLines::open(input)?),
            Format::Svmlight => Opened::Svmlight(Svmlight::open(input, options)?),
            Format::Parquet => Opened::Parquet(Parquet::open(input.unpacked(limits)?, limits)?),
            Format::Arrow => Opened::Arrow(Arrow::open(input.unpacked(limits)?, limits)?),
            Format::Text | Format::Mail | Format::Mailbox | Format::Lines => {
                Opened::Documents(Documents::in_file(input, format, options), format)
            }
            Format::Folder => {
                return Err(Error::System { file: name, why: "is not a folder".to_owned() });
            }
        };
        let options = options.clone();
        let kept = OnceLock::new();
        Ok(Source { name, size, packing, options, block_size: BLOCK_SIZE, format, kept })
    }

    fn open_folder(path: &str, options: &Options) -> Result<Source> {
        let (documents, size) = Documents::in_folder(path, options)?;
        let mut options = options.clone();
        options.target.get_or_insert_with(|| documents::LABEL.to_owned());
        Ok(Source {
            name: path.to_owned(),
            size,
            packing: Packing::None,
            options,
            block_size: BLOCK_SIZE,
            format: Opened::Documents(documents, Format::Folder),
            kept: OnceLock::new(),
        })
    }

    /// What the document in a row is called, counted from zero: its path in a folder.
    pub fn document_name(&self, row: u64) -> Option<String> {
        match &self.format {
            Opened::Documents(documents, _) => documents.document_name(row),
            _ => None,
        }
    }

    /// Reads blocks of about so many bytes instead of half a megabyte; results do not depend on it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_size(self, block_size: usize) -> Source {
        Source { block_size, ..self }
    }

    /// What to call the input in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes on disk, before any decompression.
    pub fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    /// The format that was given or found.
    pub fn format(&self) -> Format {
        match self.format {
            Opened::Csv(_) => Format::Csv,
            Opened::JsonLines(_) => Format::JsonLines,
            Opened::Svmlight(_) => Format::Svmlight,
            Opened::Parquet(_) => Format::Parquet,
            Opened::Arrow(_) => Format::Arrow,
            Opened::Documents(_, format) => format,
        }
    }

    /// What was decided about the input, to be said aloud: "CSV, delimiter `;` (guessed), gzip".
    pub fn description(&self) -> String {
        let mut words = self.format().to_string();
        match &self.format {
            Opened::Csv(csv) => {
                words.push_str(&format!(", delimiter `{}`", sniff::delimiter_name(csv.delimiter)));
                words.push_str(if csv.guessed { " (guessed)" } else { "" });
                words.push_str(if self.options.header { "" } else { ", no header" });
            }
            Opened::Svmlight(svmlight) => {
                if let Some(first) = svmlight.first_index() {
                    words.push_str(&format!(", indices from {first}"));
                }
            }
            Opened::Documents(documents, _) => words.push_str(&documents.description()),
            _ => {}
        }
        if self.packing != Packing::None {
            words.push_str(&format!(", {}", self.packing));
        }
        words
    }

    /// Reads everything once to find what each column holds. `monitor` hears how many bytes of how
    /// many are read and says whether to go on.
    ///
    /// # Errors
    /// If the input is damaged, beyond a limit, or a column of numbers has other cells in it.
    pub fn profile(&self, monitor: &dyn Fn(u64, Option<u64>) -> bool) -> Result<Profile> {
        with_reader!(self, reader => self.profile_with(reader, monitor))
    }

    /// Reads everything into memory.
    ///
    /// # Errors
    /// If the input is damaged or does not fit the schema.
    pub fn read(&self, schema: &Schema) -> Result<Table> {
        let mut whole = None;
        self.stream(schema, usize::MAX, &mut |mut tables| {
            whole = tables.pop();
            Ok(ControlFlow::Continue(()))
        })?;
        whole.ok_or_else(|| self.no_rows())
    }

    fn profile_with<R: Reader>(
        &self,
        reader: &R,
        monitor: &dyn Fn(u64, Option<u64>) -> bool,
    ) -> Result<Profile> {
        let mut ask = Ask::new(&self.name, &self.options);
        let judge = Judge { file: &self.name, options: &self.options, at: reader.at() };
        let mut tallies = self.tally(reader, &ask, monitor)?;
        let mut names = self.names(reader, &tallies);
        let holes = judge.holes(&names, &tallies);
        if !holes.is_empty() {
            ask.words.extend(holes);
            ask.room = AtomicI64::new(self.options.keep as i64);
            tallies = self.tally(reader, &ask, monitor)?;
            names = self.names(reader, &tallies);
        }
        let kept = std::mem::take(&mut tallies.kept);
        let n_kept: usize = kept.iter().map(|block| block.n_rows).sum();
        if ask.keeps() && n_kept as u64 == tallies.n_rows {
            self.kept.get_or_init(|| kept);
        }
        judge.profile(&names, tallies)
    }

    fn names<R: Reader>(&self, reader: &R, tallies: &ColumnSummaries) -> Vec<String> {
        reader.names().map_or_else(|| tallies.names.list.clone(), <[String]>::to_vec)
    }

    fn tally<R: Reader>(
        &self,
        reader: &R,
        ask: &Ask<'_>,
        monitor: &dyn Fn(u64, Option<u64>) -> bool,
    ) -> Result<ColumnSummaries> {
        let pass = self.pass(None);
        let mut all = ColumnSummaries::default();
        waves(
            reader,
            &pass,
            |block| reader.tally(block, ask),
            |wave| {
                for (tallies, line) in wave.results {
                    let bytes: usize = tallies.kept.iter().map(KeptBlock::bytes).sum();
                    ask.room.fetch_sub(bytes as i64, Ordering::Relaxed);
                    all.merge(tallies, line, &ask.limits);
                }
                if !ask.keeps() {
                    all.kept = Vec::new();
                }
                if !monitor(pass.progress.load(Ordering::Relaxed).min(self.size), self.size()) {
                    return Err(mercer::Error::Stopped.into());
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        if all.n_rows == 0 {
            return Err(self.no_rows());
        }
        if let Opened::Svmlight(svmlight) = &self.format {
            svmlight.finish(&mut all);
        }
        Ok(all)
    }

    fn stream_with<R: Reader>(
        &self,
        reader: &R,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let plan = Decoder::new(&self.name, &self.options, schema);
        if let Some(names) = reader.names() {
            plan.check_names(names)?;
        }
        let mut chunker = Chunker::new(&plan, chunk);
        if let (Some(kept), Some(names)) = (self.kept.get(), reader.names())
            && kept.iter().all(|block| block.serves(&plan, names))
        {
            return stream_kept(kept, names, &plan, &mut chunker, take);
        }
        let pass = self.pass(Some(&plan));
        self.settle(schema, &pass)?;
        let mut seen = vec![reader.names().is_some(); plan.fields.len()];
        let mut n_rows = 0;
        waves(
            reader,
            &pass,
            |block| reader.decode(block, &plan),
            |wave| {
                let mut blocks = Vec::with_capacity(wave.results.len());
                for (decoded, _) in wave.results {
                    n_rows += decoded.n_rows as u64;
                    seen.iter_mut().zip(decoded.seen).for_each(|(all, one)| *all |= one);
                    blocks.push(decoded.columns);
                }
                if wave.last {
                    self.check_end(n_rows, &seen, schema)?;
                }
                let mut tables = chunker.push(blocks)?;
                if wave.last {
                    tables.extend(chunker.finish()?);
                }
                if tables.is_empty() { Ok(ControlFlow::Continue(())) } else { take(tables) }
            },
        )
    }

    /// What only the end of the input can tell: that nothing came, or never a column.
    fn check_end(&self, n_rows: u64, seen: &[bool], schema: &Schema) -> Result<()> {
        if n_rows == 0 {
            return Err(self.no_rows());
        }
        let absent = schema.fields.iter().zip(seen).find(|(_, seen)| !**seen);
        let present = schema.fields.iter().zip(seen).filter(|(_, seen)| **seen);
        match absent {
            Some((field, _)) => Err(Error::missing_column(
                &self.name,
                &field.name,
                present.map(|(field, _)| field.name.as_str()),
            )),
            None => Ok(()),
        }
    }

    /// Sparse files know only at their end where their indices begin.
    fn settle(&self, schema: &Schema, pass: &Pass<'_>) -> Result<()> {
        let Opened::Svmlight(svmlight) = &self.format else { return Ok(()) };
        for field in &schema.fields {
            if (field.name == "features") != (field.kind == Kind::Sparse) {
                return Err(Error::WrongKind {
                    file: self.name.clone(),
                    column: field.name.clone(),
                    found: if field.name == "features" { "index:value pairs" } else { "a label" }
                        .to_owned(),
                    expected: field.kind,
                });
            }
        }
        svmlight.settle(schema, pass)
    }

    fn pass<'a>(&self, plan: Option<&'a Decoder<'a>>) -> Pass<'a> {
        Pass {
            block_size: self.block_size,
            record_bytes: self.options.limits.record_bytes,
            plan,
            progress: Arc::new(AtomicU64::new(0)),
        }
    }

    fn no_rows(&self) -> Error {
        let found = match &self.format {
            Opened::Csv(_) if self.options.header => "a header",
            Opened::Parquet(_) | Opened::Arrow(_) => "a schema",
            _ => "empty lines",
        };
        Error::NoRows { file: self.name.clone(), found: found.to_owned() }
    }
}

/// Hands out tables from cells that were kept, a wave of blocks at a time.
fn stream_kept(
    kept: &[KeptBlock],
    names: &[String],
    plan: &Decoder<'_>,
    chunker: &mut Chunker<'_>,
    take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    for wave in kept.chunks(pipeline::wave_size(names.len())) {
        let tables =
            chunker.push(wave.par_iter().map(|block| block.decode(plan, names)).collect())?;
        if !tables.is_empty() && take(tables)?.is_break() {
            return Ok(());
        }
    }
    chunker.finish()?.map_or(Ok(()), |table| take(vec![table]).map(drop))
}

impl Stream for Source {
    type Error = Error;

    /// Decodes under a schema: columns by name in its order, others ignored.
    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        with_reader!(self, reader => self.stream_with(reader, schema, chunk, take))
    }
}
