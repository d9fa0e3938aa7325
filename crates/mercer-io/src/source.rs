//! An opened input, which the interfaces profile, read and stream.

#[cfg(feature = "all-formats")]
use crate::arrow::Arrow;
use crate::cell_cache::CachedBlock;
use crate::cells::Chunker;
use crate::column_summary::{ColumnSummaries, ProfileRequest};
use crate::csv::Csv;
use crate::decoder::Decoder;
use crate::documents::{self, Documents};
use crate::error::{Error, Result};
use crate::files::{self, Files};
use crate::jsonl::JsonLines;
use crate::open::{Compression, Input};
use crate::options::{Format, Options};
#[cfg(feature = "all-formats")]
use crate::parquet::Parquet;
use crate::pipeline::{self, Pass, Reader, waves};
use crate::profile::ProfileBuilder;
use crate::sniff;
use crate::svmlight::Svmlight;
use mercer::data::Profile;
use mercer::data::Schema;
use mercer::data::{Kind, Stream, Table};
use mercer_num::parallel::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const BLOCK_SIZE: usize = 1 << 19;

/// An input that is open and can be read again.
#[derive(Debug)]
pub struct Source {
    name: String,
    size: u64,
    compression: Compression,
    options: Options,
    block_size: usize,
    format: Opened,
    /// The bytes, to be read again under other options; `None` for a folder.
    input: Option<Input>,
    /// All cells of the input, if the profile pass cached them.
    cached: OnceLock<Vec<CachedBlock>>,
}

#[derive(Debug)]
enum Opened {
    Csv(Files<Csv>),
    JsonLines(JsonLines),
    Svmlight(Svmlight),
    #[cfg(feature = "all-formats")]
    Parquet(Files<Parquet>),
    #[cfg(feature = "all-formats")]
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
            #[cfg(feature = "all-formats")]
            Opened::Parquet($reader) => $call,
            #[cfg(feature = "all-formats")]
            Opened::Arrow($reader) => $call,
            Opened::Documents($reader, _) => $call,
        }
    };
}

impl Source {
    /// Opens a file, or standard input as `-`, and finds out its format, delimiter and header.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or does not start as its format requires.
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
            let tables = files::tables_in(Path::new(path));
            if tables.is_empty() || options.format == Some(Format::Folder) {
                return Source::open_folder(path, options);
            }
            let tables: Vec<String> = tables.iter().map(|t| t.display().to_string()).collect();
            return Ok(Source { name: path.to_owned(), ..Source::open_several(&tables, options)? });
        }
        Source::infer_format(Input::open(path, limits)?, options)
    }

    /// A file in memory, such as one that was dropped on a page: its format is inferred as that of a file on disk, and
    /// gzip and zstd are undone.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn in_memory(name: &str, bytes: Vec<u8>, options: &Options) -> Result<Source> {
        Source::infer_format(Input::from_file_bytes(name, bytes, &options.limits), options)
    }

    /// The same bytes under other options, such as declared types or another target.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn reopened(&self, options: &Options) -> Result<Source> {
        match &self.input {
            Some(input) => Source::infer_format(input.clone(), options),
            None => Source::open(&self.name, options),
        }
    }

    /// Opens an input whose format follows from the options, the name or the contents.
    fn infer_format(input: Input, options: &Options) -> Result<Source> {
        let (name, size, compression) = (input.name.clone(), input.size, input.compression);
        if size == 0 {
            return Err(Error::Empty { file: name });
        }
        let named = sniff::by_name(&name);
        let format = match (options.format, named) {
            (Some(format), _) | (None, Some((format, _))) => format,
            (None, None) => sniff::by_content(&name, &input.peek(sniff::HEAD)?)?,
        };
        let preset = named.and_then(|(_, delimiter)| delimiter);
        Ok(Source {
            name,
            size,
            compression,
            options: options.clone(),
            block_size: BLOCK_SIZE,
            format: Source::opened(input.clone(), format, preset, options)?,
            input: Some(input),
            cached: OnceLock::new(),
        })
    }

    /// Opens several files of CSV or Parquet with the same columns as one table: the rows of the first, then those of
    /// the second, and so on. Folders stand for the tables in them.
    ///
    /// # Errors
    /// If a file cannot be read, or formats or columns differ.
    pub fn open_several(paths: &[String], options: &Options) -> Result<Source> {
        let mut all = Vec::new();
        for path in paths {
            match std::fs::metadata(path).is_ok_and(|about| about.is_dir()) {
                true => all.extend(files::tables_in(Path::new(path))),
                false => all.push(path.into()),
            }
        }
        let (mut size, mut names) = (0, Vec::new());
        let (mut csv, mut others) = (Vec::new(), Vec::new());
        let mut compression = Compression::None;
        for path in &all {
            let source = Source::open(&path.to_string_lossy(), options)?;
            (size, compression) = (size + source.size, source.compression);
            names.push(source.name.clone());
            match source.format {
                Opened::Csv(one) => csv.extend(one.into_readers(&source.name)),
                other => others.push((source.name, other)),
            }
        }
        let format = match (csv.is_empty(), others.is_empty()) {
            (false, true) => Opened::Csv(Files::new(csv)?),
            #[cfg(feature = "all-formats")]
            (true, false) => {
                let parquet = others.into_iter().map(|(file, opened)| match opened {
                    Opened::Parquet(one) => Ok(one.into_readers(&file)),
                    _ => Err(not_one_table(file)),
                });
                let readers: Vec<_> = parquet.collect::<Result<Vec<_>>>()?;
                Opened::Parquet(Files::new(readers.into_iter().flatten().collect())?)
            }
            _ => return Err(not_one_table(names.pop().unwrap_or_default())),
        };
        let options = options.clone();
        let cached = OnceLock::new();
        let name = match &names[..] {
            [first, .., last] => format!("{first} to {last}"),
            names => names.concat(),
        };
        let block_size = BLOCK_SIZE;
        Ok(Source { name, size, compression, options, block_size, format, input: None, cached })
    }

    /// A table in memory, such as the body of a request. No compression is undone.
    ///
    /// # Errors
    /// If it is empty, does not start as its format requires, or the format is read from files only.
    pub fn from_bytes(
        name: &str,
        bytes: Vec<u8>,
        format: Format,
        options: &Options,
    ) -> Result<Source> {
        if bytes.is_empty() {
            return Err(Error::Empty { file: name.to_owned() });
        }
        let input = Input::from_bytes(name, bytes, &options.limits);
        Ok(Source {
            name: name.to_owned(),
            size: input.size,
            compression: Compression::None,
            options: options.clone(),
            block_size: BLOCK_SIZE,
            format: Source::opened(input.clone(), format, None, options)?,
            input: Some(input),
            cached: OnceLock::new(),
        })
    }

    fn opened(
        input: Input,
        format: Format,
        delimiter: Option<u8>,
        options: &Options,
    ) -> Result<Opened> {
        #[cfg(feature = "all-formats")]
        let limits = &options.limits;
        Ok(match format {
            Format::Csv => {
                let name = input.name.clone();
                let csv = Csv::open(input, options, delimiter)?;
                Opened::Csv(Files::new(vec![(name, csv)])?)
            }
            Format::JsonLines => Opened::JsonLines(JsonLines::open(input)?),
            Format::Svmlight => Opened::Svmlight(Svmlight::open(input, options)?),
            #[cfg(feature = "all-formats")]
            Format::Parquet => {
                let name = input.name.clone();
                let parquet = Parquet::open(input.unpacked(limits)?, limits)?;
                Opened::Parquet(Files::new(vec![(name, parquet)])?)
            }
            #[cfg(feature = "all-formats")]
            Format::Arrow => Opened::Arrow(Arrow::open(input.unpacked(limits)?, limits)?),
            #[cfg(not(feature = "all-formats"))]
            Format::Parquet | Format::Arrow => {
                let remedy = "write the table as CSV";
                return Err(Error::not_built(&input.name, format, remedy));
            }
            Format::Text | Format::Mail | Format::Mailbox | Format::Lines => {
                Opened::Documents(Documents::in_file(input, format, options), format)
            }
            Format::Folder => {
                return Err(Error::System { file: input.name, why: "is not a folder".to_owned() });
            }
        })
    }

    fn open_folder(path: &str, options: &Options) -> Result<Source> {
        let (documents, size) = Documents::in_folder(path, options)?;
        let mut options = options.clone();
        options.target.get_or_insert_with(|| documents::LABEL.to_owned());
        Ok(Source {
            name: path.to_owned(),
            size,
            compression: Compression::None,
            options,
            block_size: BLOCK_SIZE,
            format: Opened::Documents(documents, Format::Folder),
            input: None,
            cached: OnceLock::new(),
        })
    }

    /// The column that holds the labels, in formats that carry their own: svmlight files and folders of documents.
    pub fn label_column(&self) -> Option<&'static str> {
        matches!(self.format(), Format::Svmlight | Format::Folder).then_some(documents::LABEL)
    }

    /// The name of the document in a row, counted from zero: its path in a folder.
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

    /// The declared or inferred format.
    pub fn format(&self) -> Format {
        match self.format {
            Opened::Csv(_) => Format::Csv,
            Opened::JsonLines(_) => Format::JsonLines,
            Opened::Svmlight(_) => Format::Svmlight,
            #[cfg(feature = "all-formats")]
            Opened::Parquet(_) => Format::Parquet,
            #[cfg(feature = "all-formats")]
            Opened::Arrow(_) => Format::Arrow,
            Opened::Documents(_, format) => format,
        }
    }

    /// A description of the input: "CSV, delimiter `;` (inferred), gzip".
    pub fn description(&self) -> String {
        let mut words = self.format().to_string();
        match &self.format {
            Opened::Csv(files) => {
                let csv = files.first();
                words.push_str(&format!(", delimiter `{}`", sniff::delimiter_name(csv.delimiter)));
                words.push_str(if csv.inferred { " (inferred)" } else { "" });
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
        let n_files = match &self.format {
            Opened::Csv(files) => files.len(),
            #[cfg(feature = "all-formats")]
            Opened::Parquet(files) => files.len(),
            _ => 1,
        };
        if n_files > 1 {
            words.push_str(&format!(", {n_files} files as one table"));
        }
        if self.compression != Compression::None {
            words.push_str(&format!(", {}", self.compression));
        }
        words
    }

    /// The delimiter of a CSV file.
    fn delimiter(&self) -> Option<u8> {
        match &self.format {
            Opened::Csv(files) => Some(files.first().delimiter),
            _ => None,
        }
    }

    /// The names of the columns that are in the file and not in a schema, where the format declares its columns.
    pub fn extra_columns(&self, schema: &Schema) -> Vec<String> {
        let names = with_reader!(self, reader => reader.names().map(<[String]>::to_vec));
        names.unwrap_or_default().into_iter().filter(|name| schema.field(name).is_none()).collect()
    }

    /// Reads the input once and infers the kind of each column. `monitor` is called with the bytes read and the total,
    /// and returns whether to continue.
    ///
    /// # Errors
    /// If the input is damaged, beyond a limit, or a numeric column has invalid cells.
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
        let mut request = ProfileRequest::new(&self.name, &self.options);
        let builder = ProfileBuilder { file: &self.name, options: &self.options, at: reader.at() };
        let mut summaries = self.summarize(reader, &request, monitor)?;
        let mut names = self.names(reader, &summaries);
        let comma = self.delimiter() == Some(b';');
        let notations = builder.notations(&names, &summaries, comma);
        let incomplete = builder.incomplete(&names, &summaries, &notations);
        if !incomplete.is_empty() || !notations.is_empty() {
            request.exact_levels.extend(incomplete);
            request.notations.extend(notations);
            request.cache_left = AtomicI64::new(self.options.cache_bytes as i64);
            summaries = self.summarize(reader, &request, monitor)?;
            names = self.names(reader, &summaries);
        }
        let cached = std::mem::take(&mut summaries.cached);
        let n_cached: usize = cached.iter().map(|block| block.n_rows).sum();
        if request.caches() && n_cached as u64 == summaries.n_rows {
            self.cached.get_or_init(|| cached);
        }
        builder.profile(&names, summaries)
    }

    fn names<R: Reader>(&self, reader: &R, summaries: &ColumnSummaries) -> Vec<String> {
        reader.names().map_or_else(|| summaries.names.list.clone(), <[String]>::to_vec)
    }

    fn summarize<R: Reader>(
        &self,
        reader: &R,
        request: &ProfileRequest<'_>,
        monitor: &dyn Fn(u64, Option<u64>) -> bool,
    ) -> Result<ColumnSummaries> {
        let pass = self.pass(None);
        let mut all = ColumnSummaries::default();
        waves(
            reader,
            &pass,
            |block| reader.summarize(block, request),
            |wave| {
                for (summaries, line) in wave.results {
                    let bytes: usize = summaries.cached.iter().map(CachedBlock::bytes).sum();
                    request.cache_left.fetch_sub(bytes as i64, Ordering::Relaxed);
                    all.merge(summaries, line, &request.limits);
                }
                if !request.caches() {
                    all.cached = Vec::new();
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
        let decoder = Decoder::new(&self.name, &self.options, schema);
        if let Some(names) = reader.names() {
            decoder.check_names(names)?;
        }
        let mut chunker = Chunker::new(&decoder, chunk);
        if let (Some(cached), Some(names)) = (self.cached.get(), reader.names())
            && cached.iter().all(|block| block.serves(&decoder, names))
        {
            return stream_cached(cached, names, &decoder, &mut chunker, take);
        }
        let pass = self.pass(Some(&decoder));
        self.settle(schema, &pass)?;
        let mut seen = vec![reader.names().is_some(); decoder.fields.len()];
        let mut n_rows = 0;
        waves(
            reader,
            &pass,
            |block| reader.decode(block, &decoder),
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

    /// Checks at the end of the input that there were rows and all columns.
    fn check_end(&self, n_rows: u64, seen: &[bool], schema: &Schema) -> Result<()> {
        if n_rows == 0 {
            return Err(self.no_rows());
        }
        let columns = |wanted: bool| {
            let fields = schema.fields.iter().zip(seen).filter(move |(_, seen)| **seen == wanted);
            fields.map(|(field, _)| field.name.as_str())
        };
        let absent: Vec<&str> = columns(false).collect();
        match absent.is_empty() {
            true => Ok(()),
            false => Err(Error::missing_columns(&self.name, &absent, columns(true))),
        }
    }

    /// Determines the first index of a sparse file, which may depend on its last line.
    fn settle(&self, schema: &Schema, pass: &Pass<'_>) -> Result<()> {
        let Opened::Svmlight(svmlight) = &self.format else { return Ok(()) };
        for field in &schema.fields {
            if (field.name == "features") != (field.kind == Kind::Sparse) {
                return Err(Error::WrongKind {
                    file: self.name.clone(),
                    column: field.name.clone(),
                    found: if field.name == "features" { "index:value pairs" } else { "labels" }
                        .to_owned(),
                    expected: field.kind,
                });
            }
        }
        svmlight.settle(schema, pass)
    }

    fn pass<'a>(&self, decoder: Option<&'a Decoder<'a>>) -> Pass<'a> {
        Pass {
            block_size: self.block_size,
            record_bytes: self.options.limits.record_bytes,
            decoder,
            progress: Arc::new(AtomicU64::new(0)),
        }
    }

    fn no_rows(&self) -> Error {
        let found = match &self.format {
            Opened::Csv(_) if self.options.header => "a header",
            #[cfg(feature = "all-formats")]
            Opened::Parquet(_) | Opened::Arrow(_) => "a schema",
            _ => "empty lines",
        };
        Error::NoRows { file: self.name.clone(), found: found.to_owned() }
    }
}

fn not_one_table(file: String) -> Error {
    let why = "several files are one table only if all are CSV or all are Parquet".to_owned();
    Error::Option { file, why }
}

/// Streams tables from the cached cells, one wave of blocks at a time.
fn stream_cached(
    cached: &[CachedBlock],
    names: &[String],
    decoder: &Decoder<'_>,
    chunker: &mut Chunker<'_>,
    take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    for wave in cached.chunks(pipeline::wave_size(names.len())) {
        let tables =
            chunker.push(wave.par_iter().map(|block| block.decode(decoder, names)).collect())?;
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
