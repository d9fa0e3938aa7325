//! Text cut into blocks of whole records, in order, each ending with a newline.

use crate::error::{At, Error, Result};
use crate::open::Input;
use std::io::Read;

/// Where the last record that is certainly whole ends, if there is one.
pub(crate) type Cut<'a> = Box<dyn Fn(&[u8]) -> Option<usize> + 'a>;

/// Reads a text in blocks; the incomplete record at the end of a block starts the next one.
pub(crate) struct TextBlocks<'a> {
    pub input: &'a Input,
    pub reader: Box<dyn Read + Send>,
    pub cut: Cut<'a>,
    pub size: usize,
    pub record_bytes: usize,
    rest: Vec<u8>,
    done: bool,
}

impl<'a> TextBlocks<'a> {
    pub fn new(
        input: &'a Input,
        reader: Box<dyn Read + Send>,
        size: usize,
        record_bytes: usize,
        cut: Cut<'a>,
    ) -> TextBlocks<'a> {
        TextBlocks {
            input,
            reader,
            cut,
            size: size.max(1),
            record_bytes,
            rest: Vec::new(),
            done: false,
        }
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        let mut block = Vec::with_capacity(self.rest.len() + self.size + 64);
        block.append(&mut self.rest);
        // A record longer than a block is read on in growing steps.
        let mut step = self.size.saturating_sub(block.len()).max(self.size / 2).max(1);
        loop {
            let n = (&mut self.reader).take(step as u64).read_to_end(&mut block);
            if n.map_err(|e| self.input.failed(e))? == 0 {
                self.done = true;
                return self.finish(block);
            }
            if let Some(end) = (self.cut)(&block) {
                self.rest = block[end..].to_vec();
                block.truncate(end);
                return Ok(Some(block));
            }
            if block.len() > self.record_bytes {
                return Err(self.too_long());
            }
            step = block.len();
        }
    }

    fn finish(&self, mut block: Vec<u8>) -> Result<Option<Vec<u8>>> {
        if block.last().is_some_and(|b| *b != b'\n') {
            block.push(b'\n');
        }
        if block.is_empty() {
            return Ok(None);
        }
        if (self.cut)(&block) != Some(block.len()) {
            return Err(Error::Quote {
                file: self.input.name.clone(),
                at: At::Line(1 + last_whole_line(&block, &self.cut)),
                found: "a quoted field that begins in this record is never closed".to_owned(),
            });
        }
        Ok(Some(block))
    }

    fn too_long(&self) -> Error {
        Error::Limit {
            file: self.input.name.clone(),
            at: Some(At::Line(1)),
            what: "a record (is a quote left open?)".to_owned(),
            limit: self.record_bytes as u64,
            name: "record_bytes",
        }
    }
}

fn last_whole_line(block: &[u8], cut: &Cut<'_>) -> u64 {
    cut(block).map_or(0, |end| n_lines(&block[..end]))
}

impl Iterator for TextBlocks<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let block = self.read();
        self.done |= block.is_err();
        block.transpose()
    }
}

/// How many lines end in a text.
pub(crate) fn n_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The cut of formats where a newline always ends a record.
pub(crate) fn at_newline(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', bytes).map(|at| at + 1)
}

/// A cell without the spaces around it.
#[inline]
pub(crate) fn trim(cell: &[u8]) -> &[u8] {
    match (cell.first(), cell.last()) {
        (Some(a), Some(b)) if *a > b' ' && *b > b' ' => cell,
        _ => cell.trim_ascii(),
    }
}
