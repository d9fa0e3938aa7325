//! Whole texts: a folder of files with a folder a class, one file, or a text a line.
//!
//! A document has two columns, `text` and, in a folder of folders, `label`: the name of the folder
//! it lies in. A schema of another model is served all the same: its one column of text is the
//! document, whatever it is called, and a class asked for behind it is the folder. Bytes that are not
//! UTF-8 are read as Latin-1, in which every byte is a letter: mail is often so.

use crate::block::{TextBlocks, at_newline};
use crate::cells::Cells;
use crate::drive::{Blocks, Decoded, Pass, Reader};
use crate::error::{At, Error, Result};
use crate::open::Input;
use crate::options::{Limits, Options};
use crate::plan::Plan;
use crate::tally::{Ask, Tallies, Tally};
use mercer::data::Kind;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// What a folder's classes are called.
pub(crate) const LABEL: &str = "label";
const TEXT: &str = "text";

/// Documents, wherever they lie.
#[derive(Debug)]
pub(crate) struct Documents {
    name: String,
    kept: Kept,
    limits: Limits,
}

#[derive(Debug)]
enum Kept {
    /// Files in the order of their paths, each with its class if they have one.
    Folder { files: Vec<(PathBuf, Option<String>)>, n_outside: usize },
    /// One document.
    Whole(Input),
    /// A document a line.
    Lines(Input),
}

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
                loose.push((entry, None));
            }
        }
        let n_outside = if classed.is_empty() { 0 } else { loose.len() };
        let files = if classed.is_empty() { loose } else { classed };
        if files.is_empty() {
            return Err(Error::Empty { file: path.to_owned() });
        }
        let size =
            |(path, _): &(PathBuf, _)| std::fs::metadata(path).map_or(0, |about| about.len());
        let bytes = files.iter().map(size).sum();
        let kept = Kept::Folder { files, n_outside };
        Ok((Documents { name: path.to_owned(), kept, limits: options.limits }, bytes))
    }

    /// One file as one document.
    pub fn whole(input: Input, options: &Options) -> Documents {
        let name = input.name.clone();
        Documents { name, kept: Kept::Whole(input), limits: options.limits }
    }

    /// One document a line.
    pub fn lines(input: Input, options: &Options) -> Documents {
        let name = input.name.clone();
        Documents { name, kept: Kept::Lines(input), limits: options.limits }
    }

    /// What there is, to be said aloud.
    pub fn description(&self) -> String {
        let Kept::Folder { files, n_outside } = &self.kept else { return String::new() };
        let mut words = format!(", {} files", files.len());
        let classes: std::collections::BTreeSet<_> =
            files.iter().filter_map(|f| f.1.as_ref()).collect();
        if !classes.is_empty() {
            words += &format!(" in {} classes", classes.len());
        }
        if *n_outside > 0 {
            words += &format!(" ({n_outside} files outside of a class are not used)");
        }
        words
    }

    /// What a document is called: its path, where it has one.
    pub fn document_name(&self, row: u64) -> Option<String> {
        match &self.kept {
            Kept::Folder { files, .. } => {
                files.get(row as usize).map(|(path, _)| path.display().to_string())
            }
            _ => None,
        }
    }

    fn text(&self, bytes: Vec<u8>, file: &str) -> Result<String> {
        if bytes.len() > self.limits.record_bytes {
            return Err(Error::Limit {
                file: file.to_owned(),
                at: None,
                what: "a document".to_owned(),
                limit: self.limits.record_bytes as u64,
                name: "record_bytes",
            });
        }
        if bytes.contains(&0) {
            return Err(Error::System {
                file: file.to_owned(),
                why: "it is not a text, it has zero bytes; take it out of the data".to_owned(),
            });
        }
        Ok(readable(bytes))
    }

    fn read(&self, path: &Path) -> Result<String> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|e| Error::System { file: name.clone(), why: e.to_string() })?;
        self.text(bytes, &name)
    }
}

/// Bytes as text: UTF-8 without its mark, else Latin-1.
fn readable(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
        Err(other) => other.into_bytes().into_iter().map(char::from).collect(),
    }
}

/// What lies in a folder, in order, without what is hidden.
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

/// All files of a class, however deep.
fn collect(
    folder: &Path,
    class: &Option<String>,
    files: &mut Vec<(PathBuf, Option<String>)>,
) -> Result<()> {
    for entry in entries(folder)? {
        if entry.is_dir() {
            collect(&entry, class, files)?;
        } else {
            files.push((entry, class.clone()));
        }
    }
    Ok(())
}

impl Reader for Documents {
    type Block = SomeTexts;

    fn names(&self) -> Option<&[String]> {
        None
    }

    fn blocks<'a>(&'a self, pass: &'a Pass<'a>) -> Result<Blocks<'a, SomeTexts>> {
        match &self.kept {
            Kept::Folder { files, .. } => {
                let mut files = files.iter();
                Ok(Box::new(std::iter::from_fn(move || {
                    let (mut block, mut bytes) = (SomeTexts::default(), 0);
                    while bytes < pass.block_size {
                        let Some((path, class)) = files.next() else { break };
                        match self.read(path) {
                            Ok(text) => {
                                bytes += text.len() + 64;
                                pass.progress.fetch_add(text.len() as u64, Ordering::Relaxed);
                                block.texts.push((text, class.clone()));
                            }
                            Err(error) => return Some(Err(error)),
                        }
                    }
                    (!block.texts.is_empty()).then_some(Ok(block))
                })))
            }
            Kept::Whole(input) => {
                let mut bytes = Vec::new();
                let read = input.reader(&pass.progress)?.read_to_end(&mut bytes);
                read.map_err(|e| input.failed(e))?;
                let text = self.text(bytes, &self.name)?;
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

    fn tally(&self, block: &SomeTexts, ask: &Ask) -> Result<Tallies> {
        let mut tallies =
            Tallies { named: true, n_rows: block.texts.len() as u64, ..Tallies::default() };
        let mut text = Tally::default();
        text.declared = Some(Kind::Text);
        text.n_others = tallies.n_rows;
        if block.texts.iter().any(|(_, class)| class.is_some()) {
            let mut label = Tally::exact();
            label.declared = Some(Kind::Categorical);
            for (row, (_, class)) in block.texts.iter().enumerate() {
                let word = class.as_deref().unwrap_or_default().as_bytes();
                let counted = label.other(word, row as u64 + 1, ask);
                counted.map_err(|f| f.error(ask.file, LABEL, At::Row))?;
            }
            tallies.names.add(LABEL);
            tallies.columns.push(label);
        }
        tallies.names.add(TEXT);
        tallies.columns.push(text);
        tallies.first_line = 1;
        Ok(tallies)
    }

    fn decode(&self, block: &SomeTexts, plan: &Plan) -> Result<Decoded> {
        let n = block.texts.len();
        let kind = |k: usize| plan.fields[k].field.kind;
        let n_texts = plan.fields.iter().filter(|f| f.field.kind == Kind::Text).count();
        let (mut columns, mut seen) = (Vec::new(), Vec::new());
        for (k, to) in plan.fields.iter().enumerate() {
            let name = to.field.name.as_str();
            let mut cells = Cells::new(kind(k), n);
            let is_text = kind(k) == Kind::Text && (n_texts == 1 || name == TEXT);
            // The class stands alone behind the text, as the target of a model does.
            let behind = plan.fields.len() == 2 && k == 1 && kind(0) == Kind::Text;
            let is_class = kind(k) == Kind::Categorical
                && (name == LABEL || behind)
                && block.texts.iter().all(|(_, class)| class.is_some());
            match &mut cells {
                Cells::Text(v) if is_text => {
                    v.extend(block.texts.iter().map(|(text, _)| Some(text.clone())));
                }
                Cells::Codes(v) if is_class => v.extend(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_utf8_are_latin_1() {
        assert_eq!(readable(b"\xef\xbb\xbfna\xc3\xafve".to_vec()), "naïve");
        assert_eq!(readable(b"na\xefve".to_vec()), "naïve");
    }
}
