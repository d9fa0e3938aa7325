//! Validates the lengths inside an Arrow file before its reader allocates memory by them.
//!
//! Arrow IPC is a sequence of messages, each with a small flatbuffer and a body (Arrow columnar format, "Encapsulated
//! message format"). A file lists them in a footer, a stream has them one after another. A wrong length could make
//! the reader allocate without bound, so all lengths are checked first; bodies are skipped, except for the lengths of
//! compressed buffers.

use crate::error::{Error, Result};
use crate::open::{Counted, Input};
use crate::options::Limits;
use arrow_ipc::{Block, MessageHeader, RecordBatch, root_as_footer, root_as_message};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

const MAGIC: &[u8] = b"ARROW1";
/// As in `open`: small files may well repeat themselves.
const EXPANSION_GRACE: u64 = 64 << 20;

/// Refuses an Arrow file or stream with a length it does not justify.
pub(crate) fn check(input: &Input, limits: &Limits) -> Result<()> {
    let mut checker =
        Checker { input, reader: input.seeker(&Arc::default()), expansion: limits.expansion };
    if input.peek(MAGIC.len() as u64)? == MAGIC { checker.file() } else { checker.stream() }
}

struct Checker<'a> {
    input: &'a Input,
    reader: Counted,
    expansion: u64,
}

impl Checker<'_> {
    fn file(&mut self) -> Result<()> {
        let size = self.input.size;
        let Some(tail) = size.checked_sub(10) else { return Err(self.lie("it is too short")) };
        let end = self.bytes(tail, 10)?;
        let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
        if !end.ends_with(MAGIC) || length > tail {
            return Err(self.lie("its end is not that of an Arrow file"));
        }
        let bytes = self.bytes(tail - length, length)?;
        let footer = root_as_footer(&bytes).map_err(|e| self.lie(&e.to_string()))?;
        let blocks = [footer.dictionaries(), footer.recordBatches()];
        for block in blocks.into_iter().flatten().flat_map(|list| list.iter()) {
            self.block(block)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        let part = |n: i64| u64::try_from(n).ok().filter(|n| *n <= self.input.size);
        let parts =
            (part(block.offset()), part(block.metaDataLength().into()), part(block.bodyLength()));
        let (Some(offset), Some(meta), Some(body)) = parts else {
            return Err(self.lie("a block is larger than the file"));
        };
        if offset + meta + body > self.input.size {
            return Err(self.lie("a block reaches beyond the file"));
        }
        let bytes = self.bytes(offset, meta)?;
        // The mark that separates new files from old ones, then the length, then the message.
        let skip = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let message = bytes.get(skip..).unwrap_or(&[]);
        self.message(message, offset + meta, Some(body)).map(drop)
    }

    fn stream(&mut self) -> Result<()> {
        let mut at = 0;
        loop {
            // The end-of-stream marker is optional.
            if at + 4 > self.input.size {
                return Ok(());
            }
            let mut word = self.word(at)?;
            at += 4;
            if word == u32::MAX {
                word = self.word(at)?;
                at += 4;
            }
            if word == 0 {
                return Ok(());
            }
            let bytes = self.bytes(at, word.into())?;
            at += u64::from(word);
            at += self.message(&bytes, at, None)?;
        }
    }

    /// Checks a message whose body begins at `begin`; returns the length of the body.
    fn message(&mut self, bytes: &[u8], begin: u64, block: Option<u64>) -> Result<u64> {
        let message = root_as_message(bytes).map_err(|e| self.lie(&e.to_string()))?;
        let body = u64::try_from(message.bodyLength()).unwrap_or(u64::MAX);
        if body > self.input.size.saturating_sub(begin) || block.is_some_and(|b| b < body) {
            return Err(self.lie("a message reaches beyond the file"));
        }
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().and_then(|d| d.data())
            }
            _ => None,
        };
        if let Some(batch) = batch {
            self.batch(&batch, begin, body)?;
        }
        Ok(body)
    }

    fn batch(&mut self, batch: &RecordBatch<'_>, begin: u64, body: u64) -> Result<()> {
        let packed = batch.compression().is_some();
        let mut plain = 0u64;
        for buffer in batch.buffers().iter().flat_map(|list| list.iter()) {
            let offset = u64::try_from(buffer.offset()).unwrap_or(u64::MAX);
            let length = u64::try_from(buffer.length()).unwrap_or(u64::MAX);
            if offset.checked_add(length).is_none_or(|end| end > body) {
                return Err(self.lie("a buffer reaches beyond its message"));
            }
            // A compressed buffer begins with its plain length; -1 means that it is not compressed.
            let said = match packed && length >= 8 {
                true => {
                    i64::from(self.word(begin + offset)?)
                        | i64::from(self.word(begin + offset + 4)?) << 32
                }
                false => -1,
            };
            plain = plain.saturating_add(u64::try_from(said).unwrap_or(length));
        }
        if plain > EXPANSION_GRACE && plain / body.max(1) > self.expansion {
            return Err(Error::Limit {
                file: self.input.name.clone(),
                at: None,
                what: format!("{plain} bytes from {body} compressed ones"),
                limit: self.expansion,
                name: "expansion",
            });
        }
        // A row takes at least one bit; only null columns take none.
        let n_rows = u64::try_from(batch.length()).unwrap_or(u64::MAX);
        if n_rows > plain.saturating_mul(8).saturating_add(1 << 16) {
            return Err(self.lie("it has more rows than bits"));
        }
        Ok(())
    }

    fn word(&mut self, at: u64) -> Result<u32> {
        let bytes = self.bytes(at, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Exactly `n` bytes, which the file must have.
    fn bytes(&mut self, at: u64, n: u64) -> Result<Vec<u8>> {
        if at.checked_add(n).is_none_or(|end| end > self.input.size) {
            return Err(self.lie("a length reaches beyond the file"));
        }
        let mut bytes = vec![0; n as usize];
        let read =
            self.reader.seek(SeekFrom::Start(at)).and_then(|_| self.reader.read_exact(&mut bytes));
        read.map_err(|e| self.input.failed(e))?;
        Ok(bytes)
    }

    fn lie(&self, why: &str) -> Error {
        let file = self.input.name.clone();
        Error::Damaged { file, format: "Arrow".to_owned(), why: why.to_owned() }
    }
}
