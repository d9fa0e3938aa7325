//! Documents: a folder with one folder of files per class, one file, one document per line, or mails.
//!
//! A document has two columns, `text` and, in a folder of folders, `label`: the name of the folder. A schema with other
//! names is served as well: its only text column is the document, and a categorical column after it is the label.
//! Bytes that are not UTF-8 are read as Latin-1, in which every byte is a character. Files with the extension `.eml` are
//! read as mails, those with `.mbox` as mailboxes.

use crate::block::{TextBlocks, at_newline};
use crate::cells::Cells;
use crate::column_summary::{ColumnSummaries, ColumnSummary, ProfileRequest};
use crate::decoder::Decoder;
use crate::error::{At, Error, Result};
use crate::mail::{self, Mails, is_mail, is_mailbox, readable};
use crate::open::Input;
use crate::options::{Format, Limits, Options};
use crate::pipeline::{Blocks, Decoded, Pass, Reader};
use mercer::data::Kind;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The column of the labels.
pub(crate) const LABEL: &str = "label";
const TEXT: &str = "text";

/// The documents of a folder or a file.
#[derive(Debug)]
pub(crate) struct Documents {
    name: String,
    cached: Kept,
    limits: Limits,
}

#[derive(Debug)]
enum Kept {
    /// Files in the order of their paths.
    Folder { files: Vec<Filed>, n_documents: u64, n_outside: usize },
    /// One document, written as a text or a mail.
    Whole(Input, Written),
    /// One document per line.
    Lines(Input),
    /// A mail after the other.
    Mailbox(Input),
}

/// A file of a folder.
#[derive(Debug)]
struct Filed {
    path: PathBuf,
    class: Option<String>,
    /// How many documents lie before it: a mailbox has many.
    first: u64,
}

/// What the bytes of a document are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    AsText,
    AsMail,
}

impl Written {
    fn by_name(path: &Path) -> Written {
        if is_mail(path) { Written::AsMail } else { Written::AsText }
    }
}

/// Texts one after the other.
type Texts<'a> = Box<dyn Iterator<Item = Result<String>> + 'a>;

/// Some documents with their classes.
#[derive(Debug, Default)]
pub(crate) struct SomeTexts {
    texts: Vec<(String, Option<String>)>,
}

impl Documents {
    /// The files of a folder, and their bytes in all.
    pub fn in_folder(path: &str, options: &Options) -> Result<(Documents, u64)> {
        let root = Path::new(path);
        let (mut loose, mut classed) = (Vec::new(), Vec::new());
        for entry in entries(root)? {
            if entry.is_dir() {
                let class = entry.file_name().map(|n| n.to_string_lossy().into_owned());
                collect(&entry, &class, &mut classed)?;
            } else {
                loose.push(Filed { path: entry, class: None, first: 0 });
            }
        }
        let n_outside = if classed.is_empty() { 0 } else { loose.len() };
        let mut files = if classed.is_empty() { loose } else { classed };
        let (mut n_documents, mut bytes) = (0, 0);
        for file in &mut files {
            file.first = n_documents;
            n_documents +=
                if is_mailbox(&file.path) { n_mails(&file.path, &options.limits)? } else { 1 };
            bytes += std::fs::metadata(&file.path).map_or(0, |about| about.len());
        }
        if n_documents == 0 {
            return Err(Error::Empty { file: path.to_owned() });
        }
        let cached = Kept::Folder { files, n_documents, n_outside };
        Ok((Documents { name: path.to_owned(), cached, limits: options.limits }, bytes))
    }

    /// The documents of one file.
    pub fn in_file(input: Input, format: Format, options: &Options) -> Documents {
        let name = input.name.clone();
        let cached = match format {
            Format::Lines => Kept::Lines(input),
            Format::Mailbox => Kept::Mailbox(input),
            Format::Mail => Kept::Whole(input, Written::AsMail),
            _ => Kept::Whole(input, Written::AsText),
        };
        Documents { name, cached, limits: options.limits }
    }

    /// A description of the folder.
    pub fn description(&self) -> String {
        let Kept::Folder { files, n_documents, n_outside } = &self.cached else {
            return String::new();
        };
        let mut words = format!(", {} files", files.len());
        if files.iter().any(|file| is_mailbox(&file.path)) {
            words += &format!(" with {n_documents} texts");
        }
        let classes: std::collections::BTreeSet<_> =
            files.iter().filter_map(|f| f.class.as_ref()).collect();
        if !classes.is_empty() {
            words += &format!(" in {} classes", classes.len());
        }
        if *n_outside > 0 {
            words += &format!(" ({n_outside} files outside the class folders are not used)");
        }
        words
    }

    /// The name of a document: its path, and its number in a mailbox.
    pub fn document_name(&self, row: u64) -> Option<String> {
        let Kept::Folder { files, n_documents, .. } = &self.cached else { return None };
        if row >= *n_documents {
            return None;
        }
        // The last file whose first document is at or before the row; an empty mailbox shares it with the next file.
        let place = files.partition_point(|file| file.first <= row).checked_sub(1)?;
        let Filed { path, first, .. } = files.get(place)?;
        let name = path.display().to_string();
        Some(if is_mailbox(path) { format!("{name}#{}", row - first + 1) } else { name })
    }

    fn text(&self, bytes: Vec<u8>, file: &str, written: Written) -> Result<String> {
        if bytes.len() > self.limits.record_bytes {
            return Err(mail::too_long(file, self.limits.record_bytes));
        }
        if written == Written::AsMail
            && let Some(text) = mail::text_of(&bytes, file)?
        {
            return Ok(text);
        }
        if bytes.contains(&0) {
            return Err(Error::System {
                file: file.to_owned(),
                why: "it is not text (it contains null bytes); remove it from the data".to_owned(),
            });
        }
        Ok(readable(bytes))
    }

    /// The texts of a file in a folder.
    fn texts<'a>(&'a self, path: &Path, progress: &Arc<AtomicU64>) -> Texts<'a> {
        let name = path.display().to_string();
        if is_mailbox(path) {
            return match Input::open(&name, &self.limits) {
                Ok(input) => self.mails(&input, progress),
                Err(error) => Box::new(std::iter::once(Err(error))),
            };
        }
        let read = std::fs::read(path)
            .map_err(|e| Error::System { file: name.clone(), why: e.to_string() })
            .and_then(|bytes| {
                progress.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                self.text(bytes, &name, Written::by_name(path))
            });
        Box::new(std::iter::once(read))
    }

    /// The documents of a mailbox; errors name the number of the mail.
    fn mails<'a>(&'a self, input: &Input, progress: &Arc<AtomicU64>) -> Texts<'a> {
        match input.reader(progress) {
            Ok(reader) => {
                let reader = BufReader::with_capacity(1 << 16, reader);
                let mails = Mails::new(reader, &input.name, self.limits.record_bytes);
                let name = input.name.clone();
                Box::new(mails.enumerate().map(move |(i, mail)| {
                    self.text(mail?, &format!("{name}#{}", i + 1), Written::AsMail)
                }))
            }
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

/// How many mails a mailbox holds.
fn n_mails(path: &Path, limits: &Limits) -> Result<u64> {
    let input = Input::open(&path.display().to_string(), limits)?;
    let reader = BufReader::with_capacity(1 << 16, input.reader(&Arc::default())?);
    let mails = Mails::new(reader, &input.name, limits.record_bytes);
    mails.map(|mail| mail.map(|_| 1)).sum()
}

/// The entries of a folder, sorted, without hidden ones.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let refuse = |e: std::io::Error| Error::System {
        file: folder.display().to_string(),
        why: e.to_string(),
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        if path.file_name().is_some_and(|n| !n.to_string_lossy().starts_with('.')) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// All files of a class, in nested folders too.
fn collect(folder: &Path, class: &Option<String>, files: &mut Vec<Filed>) -> Result<()> {
    for entry in entries(folder)? {
        if entry.is_dir() {
            collect(&entry, class, files)?;
        } else {
            files.push(Filed { path: entry, class: class.clone(), first: 0 });
        }
    }
    Ok(())
}

/// Texts gathered to blocks of about the size of a pass.
fn in_blocks<'a>(
    pass: &'a Pass<'a>,
    mut texts: impl Iterator<Item = Result<(String, Option<String>)>> + 'a,
) -> Blocks<'a, SomeTexts> {
    Box::new(std::iter::from_fn(move || {
        let (mut block, mut bytes) = (SomeTexts::default(), 0);
        while bytes < pass.block_size {
            match texts.next() {
                Some(Ok((text, class))) => {
                    bytes += text.len() + 64;
                    block.texts.push((text, class));
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        (!block.texts.is_empty()).then_some(Ok(block))
    }))
}

impl Reader for Documents {
    type Block = SomeTexts;

    fn names(&self) -> Option<&[String]> {
        None
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, SomeTexts>> {
        match &self.cached {
            Kept::Folder { files, .. } => Ok(in_blocks(
                pass,
                files.iter().flat_map(|file| {
                    let texts = self.texts(&file.path, &pass.progress);
                    texts.map(|text| Ok((text?, file.class.clone())))
                }),
            )),
            Kept::Mailbox(input) => {
                let mails = self.mails(input, &pass.progress);
                Ok(in_blocks(pass, mails.map(|text| Ok((text?, None)))))
            }
            Kept::Whole(input, written) => {
                let mut bytes = Vec::new();
                let read = input.reader(&pass.progress)?.read_to_end(&mut bytes);
                read.map_err(|e| input.failed(e))?;
                let text = self.text(bytes, &self.name, *written)?;
                Ok(Box::new(std::iter::once(Ok(SomeTexts { texts: vec![(text, None)] }))))
            }
            Kept::Lines(input) => {
                let reader = input.reader(&pass.progress)?;
                let cut = Box::new(at_newline);
                let size = pass.block_size;
                let blocks = TextBlocks::new(input, reader, size, pass.record_bytes, cut);
                Ok(Box::new(blocks.map(|block| {
                    let texts = block?;
                    let lines = texts.strip_suffix(b"\n").unwrap_or(&texts).split(|b| *b == b'\n');
                    let text =
                        |line: &[u8]| readable(line.strip_suffix(b"\r").unwrap_or(line).to_vec());
                    Ok(SomeTexts { texts: lines.map(|line| (text(line), None)).collect() })
                })))
            }
        }
    }

    fn n_lines(&self, block: &SomeTexts) -> u64 {
        block.texts.len() as u64
    }

    fn at(&self) -> fn(u64) -> At {
        At::Row
    }

    fn summarize(&self, block: &SomeTexts, request: &ProfileRequest) -> Result<ColumnSummaries> {
        let mut summaries = ColumnSummaries {
            named: true,
            n_rows: block.texts.len() as u64,
            ..ColumnSummaries::default()
        };
        let mut text = ColumnSummary::default();
        text.declared = Some(Kind::Text);
        text.n_others = summaries.n_rows;
        if block.texts.iter().any(|(_, class)| class.is_some()) {
            let mut label = ColumnSummary::exact();
            label.declared = Some(Kind::Categorical);
            for (row, (_, class)) in block.texts.iter().enumerate() {
                let word = class.as_deref().unwrap_or_default().as_bytes();
                let counted = label.other(word, row as u64 + 1, request);
                counted.map_err(|f| f.error(request.file, LABEL, At::Row))?;
            }
            summaries.names.add(LABEL);
            summaries.columns.push(label);
        }
        summaries.names.add(TEXT);
        summaries.columns.push(text);
        summaries.first_line = 1;
        Ok(summaries)
    }

    fn decode(&self, block: &SomeTexts, decoder: &Decoder) -> Result<Decoded> {
        let n = block.texts.len();
        let kind = |k: usize| decoder.fields[k].field.kind;
        let n_texts = decoder.fields.iter().filter(|f| f.field.kind == Kind::Text).count();
        let (mut columns, mut seen) = (Vec::new(), Vec::new());
        for (k, to) in decoder.fields.iter().enumerate() {
            let name = to.field.name.as_str();
            let mut cells = Cells::new(&to.field, n);
            let is_text = kind(k) == Kind::Text && (n_texts == 1 || name == TEXT);
            // The label follows the text, as the target of a model does.
            let behind = decoder.fields.len() == 2 && k == 1 && kind(0) == Kind::Text;
            let is_class = kind(k) == Kind::Categorical
                && (name == LABEL || behind)
                && block.texts.iter().all(|(_, class)| class.is_some());
            match &mut cells {
                Cells::Text(v) if is_text => {
                    v.extend(block.texts.iter().map(|(text, _)| Some(text.clone())));
                }
                Cells::Categorical(v) if is_class => v.extend(
                    block
                        .texts
                        .iter()
                        .filter_map(|(_, c)| c.as_ref().map(|c| to.code(c.as_bytes()))),
                ),
                other => (0..n).for_each(|_| other.push_missing()),
            }
            seen.push(is_text || is_class);
            columns.push(cells);
        }
        Ok(Decoded { columns, n_rows: n, seen })
    }
}
