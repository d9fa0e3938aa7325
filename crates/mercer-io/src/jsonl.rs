//! JSON lines: one flat JSON object per line (RFC 8259).
//!
//! Keys are columns, in the order of their first appearance anywhere in the file; `null` and an absent key are missing
//! values. Nested values and repeated keys are refused. A parser of our own keeps the spelling of numbers, which class
//! labels need: `1.50` and 9007199254740993 do not survive a conversion to float.

use crate::block::{TextBlocks, at_newline, n_lines};
use crate::cells::Cells;
use crate::column_summary::{ColumnSummaries, ColumnSummary, Fallible, Fault, ProfileRequest};
use crate::decoder::Decoder;
use crate::error::{At, Error, Result, shown};
use crate::number;
use crate::open::Input;
use crate::pipeline::{Blocks, Decoded, Pass, Reader};
use crate::sniff;
use mercer::data::Kind;
use std::borrow::Cow;

const SHAPE: &str = "one flat JSON object per line";
/// Rows are counted from zero, so no row has this number.
const NEVER: u64 = u64::MAX;

/// A file of JSON lines.
#[derive(Debug)]
pub(crate) struct JsonLines {
    input: Input,
    /// Bytes of the byte-order mark.
    mark: u64,
}

impl JsonLines {
    pub fn open(input: Input) -> Result<JsonLines> {
        let mark = sniff::mark_of_text(&input)?;
        Ok(JsonLines { input, mark })
    }

    /// Parses the records; `pair` takes a key and its value, `end` is called after each record.
    fn records<T>(
        &self,
        bytes: &[u8],
        field_bytes: usize,
        state: &mut T,
        mut pair: impl FnMut(&mut T, &str, Value<'_>, u64) -> Result<()>,
        mut end: impl FnMut(&mut T, u64),
    ) -> Result<()> {
        let text = self.utf8(bytes)?;
        for (i, record) in text.split('\n').enumerate() {
            let line = i as u64 + 1;
            let mut parser = Parser { text: record, at: 0 };
            parser.space();
            if parser.at == record.len() {
                continue;
            }
            let pairs = parser.object(|key, value| {
                if key.len().max(value.size()) > field_bytes {
                    return Err(Refused::Field { key: shown(key.as_bytes()) });
                }
                pair(state, key, value, line).map_err(Refused::Error)
            });
            pairs.map_err(|refused| self.error(refused, line, field_bytes))?;
            end(state, line);
        }
        Ok(())
    }

    fn utf8<'b>(&self, bytes: &'b [u8]) -> Result<&'b str> {
        std::str::from_utf8(bytes).map_err(|e| Error::NotUtf8 {
            file: self.input.name.clone(),
            at: At::Line(1 + n_lines(&bytes[..e.valid_up_to()])),
            place: "somewhere in the line".to_owned(),
        })
    }

    fn error(&self, refused: Refused, line: u64, field_bytes: usize) -> Error {
        let file = self.input.name.clone();
        let at = At::Line(line);
        let found = match refused {
            Refused::Error(error) => return error,
            Refused::Field { key } => {
                let what = format!("the value of key `{key}`");
                let limit = field_bytes as u64;
                return Error::Limit { file, at: Some(at), what, limit, name: "field_bytes" };
            }
            Refused::Nested { key } => format!("key `{key}` holds a list or an object"),
            Refused::Syntax { at, what } => format!("{what} at byte {}", at + 1),
        };
        Error::Syntax { file, at, found, expected: SHAPE.to_owned() }
    }

    fn repeated(&self, key: &str, line: u64) -> Error {
        Error::Syntax {
            file: self.input.name.clone(),
            at: At::Line(line),
            found: format!("key `{}` appears twice", shown(key.as_bytes())),
            expected: SHAPE.to_owned(),
        }
    }
}

/// The summaries of a block on the way: what is known of each column's last cell.
struct Counting {
    summaries: ColumnSummaries,
    /// For each column how many rows had its key, and the last of them.
    met: Vec<(u64, u64)>,
    /// The line of each row.
    lines: Vec<u64>,
}

impl Reader for JsonLines {
    type Block = Vec<u8>;

    fn names(&self) -> Option<&[String]> {
        None
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
        let mut counting = Counting {
            summaries: ColumnSummaries { named: true, ..ColumnSummaries::default() },
            met: Vec::new(),
            lines: Vec::new(),
        };
        let count = |c: &mut Counting, key: &str, value: Value<'_>, line: u64| {
            let row = c.summaries.n_rows;
            let j = self.column(c, key, request, line)?;
            let (n_met, last) = &mut c.met[j];
            if *last == row {
                return Err(self.repeated(key, line));
            }
            // Fewer meetings than rows: the first row without the key is known here.
            if *n_met < row {
                let gap = c.lines[*n_met as usize];
                c.summaries.columns[j].first_missing.get_or_insert(gap);
            }
            (*n_met, *last) = (*n_met + 1, row);
            let counted = value.count(&mut c.summaries.columns[j], line, request);
            counted.map_err(|f| f.error(request.file, key, At::Line))
        };
        let end = |c: &mut Counting, line: u64| {
            c.summaries.n_rows += 1;
            c.lines.push(line);
        };
        self.records(block, request.limits.field_bytes, &mut counting, count, end)?;
        Ok(counting.finish())
    }

    fn decode(&self, block: &Vec<u8>, decoder: &Decoder) -> Result<Decoded> {
        let n = n_lines(block) as usize;
        let columns = decoder.fields.iter().map(|f| Cells::new(&f.field, n)).collect();
        let seen = vec![false; decoder.fields.len()];
        let mut decoded = Decoded { columns, n_rows: 0, seen };
        let take = |d: &mut Decoded, key: &str, value: Value<'_>, line: u64| {
            let Some(k) = decoder.position(key) else { return Ok(()) };
            if d.columns[k].len() > d.n_rows {
                return Err(self.repeated(key, line));
            }
            d.seen[k] = true;
            let taken = value.push(&mut d.columns[k], line, decoder, k);
            taken.map_err(|f| f.error(decoder.file, key, At::Line))
        };
        let end = |d: &mut Decoded, _: u64| {
            d.n_rows += 1;
            let n_rows = d.n_rows;
            d.columns.iter_mut().filter(|c| c.len() < n_rows).for_each(Cells::push_missing);
        };
        self.records(block, decoder.limits.field_bytes, &mut decoded, take, end)?;
        Ok(decoded)
    }
}

impl JsonLines {
    /// The index of a key among the columns; a new key is added.
    fn column(
        &self,
        c: &mut Counting,
        key: &str,
        request: &ProfileRequest,
        line: u64,
    ) -> Result<usize> {
        if let Some(j) = c.summaries.names.position(key) {
            return Ok(j);
        }
        if c.met.len() >= request.limits.columns {
            return Err(Error::Limit {
                file: request.file.to_owned(),
                at: Some(At::Line(line)),
                what: "the number of different keys".to_owned(),
                limit: request.limits.columns as u64,
                name: "columns",
            });
        }
        c.summaries.names.add(key);
        c.summaries.columns.push(request.new_summary(key));
        c.met.push((0, NEVER));
        Ok(c.met.len() - 1)
    }
}

impl Counting {
    /// Counts absent keys as missing.
    fn finish(mut self) -> ColumnSummaries {
        let n_rows = self.summaries.n_rows;
        for (summary, (n_met, _)) in self.summaries.columns.iter_mut().zip(&self.met) {
            if *n_met < n_rows {
                summary.n_missing += n_rows - n_met;
                let gap = self.lines[*n_met as usize];
                summary.first_missing =
                    Some(summary.first_missing.map_or(gap, |line| line.min(gap)));
            }
        }
        self.summaries.first_line = self.lines.first().copied().unwrap_or(0);
        self.summaries
    }
}

/// The value of a key: a number as it is written, a text without its quotes.
enum Value<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    Text(Cow<'a, str>),
}

impl Value<'_> {
    fn size(&self) -> usize {
        match self {
            Value::Null | Value::Bool(_) => 0,
            Value::Number(text) => text.len(),
            Value::Text(text) => text.len(),
        }
    }

    fn count(&self, summary: &mut ColumnSummary, line: u64, request: &ProfileRequest) -> Fallible {
        match self {
            Value::Null => summary.missing(line),
            Value::Bool(true) => summary.boolean(b"true", line, request)?,
            Value::Bool(false) => summary.boolean(b"false", line, request)?,
            Value::Number(text) => match number::scan(text.as_bytes(), 0) {
                Some(n) => summary.number(&n, text.as_bytes(), line, request)?,
                None => summary.other(text.as_bytes(), line, request)?,
            },
            Value::Text(text) => summary.other(text.as_bytes(), line, request)?,
        }
        Ok(())
    }

    /// A JSON string is read as a number only in a column whose numbers are written as strings.
    fn push(&self, cells: &mut Cells, line: u64, decoder: &Decoder, k: usize) -> Fallible {
        let text = match self {
            Value::Null => {
                cells.push_missing();
                return Ok(());
            }
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Number(text) => text,
            Value::Text(text) => text,
        };
        let field = &decoder.fields[k].field;
        let (expected, plain) = (field.kind, field.notation.is_plain());
        if matches!(self, Value::Text(_)) && expected == Kind::Numeric && plain {
            return Err(Fault::Cell { line, found: shown(text.as_bytes()), expected }.into());
        }
        cells.push(text.as_bytes(), text.as_bytes(), line, &decoder.fields[k])
    }
}

/// Why a record is refused.
enum Refused {
    Syntax { at: usize, what: &'static str },
    Nested { key: String },
    Field { key: String },
    Error(Error),
}

/// A strict reader of one flat object.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn object(
        &mut self,
        mut pair: impl FnMut(&str, Value<'a>) -> std::result::Result<(), Refused>,
    ) -> std::result::Result<(), Refused> {
        self.space();
        self.expect(b'{', "no `{`")?;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return self.end();
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.expect(b':', "no `:` behind a key")?;
            self.space();
            let value = self.value(&key)?;
            pair(&key, value)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return self.end();
                }
                _ => return Err(self.refuse("no `,` or `}` behind a value")),
            }
        }
    }

    fn end(&mut self) -> std::result::Result<(), Refused> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.refuse("text behind the object")) }
    }

    fn value(&mut self, key: &str) -> std::result::Result<Value<'a>, Refused> {
        match self.peek() {
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'{' | b'[') => Err(Refused::Nested { key: shown(key.as_bytes()) }),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [
                    ("null", Value::Null),
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                ];
                let rest = &self.text[self.at..];
                match words.into_iter().find(|(word, _)| rest.starts_with(word)) {
                    Some((word, value)) => {
                        self.at += word.len();
                        Ok(value)
                    }
                    None => Err(self.refuse("no value behind a key")),
                }
            }
        }
    }

    /// JSON is stricter than we are elsewhere: no `+1`, `.5`, `5.` or `01`.
    fn number(&mut self) -> std::result::Result<Value<'a>, Refused> {
        let begin = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let zero = self.peek() == Some(b'0');
        let n_whole = self.digits();
        if n_whole == 0 || (zero && n_whole > 1) {
            return Err(self.refuse("a malformed number"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.refuse("a malformed number"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.refuse("a malformed number"));
            }
        }
        Ok(Value::Number(&self.text[begin..self.at]))
    }

    fn digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let n = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += n;
        n
    }

    fn string(&mut self) -> std::result::Result<Cow<'a, str>, Refused> {
        self.expect(b'"', "no quoted key")?;
        let begin = self.at;
        let mut owned: Option<String> = None;
        let mut copied = begin;
        loop {
            match self.peek() {
                None => return Err(self.refuse("a string that never ends")),
                Some(b'"') => break,
                Some(b'\\') => {
                    let out = owned.get_or_insert_with(String::new);
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    let c = self.escape()?;
                    owned.get_or_insert_with(String::new).push(c);
                    copied = self.at;
                }
                Some(b) if b < 0x20 => return Err(self.refuse("a control character in a string")),
                Some(_) => self.at += 1,
            }
        }
        let tail = &self.text[copied..self.at];
        self.at += 1;
        Ok(match owned {
            None => Cow::Borrowed(tail),
            Some(mut out) => {
                out.push_str(tail);
                Cow::Owned(out)
            }
        })
    }

    fn escape(&mut self) -> std::result::Result<char, Refused> {
        let Some(b) = self.peek() else { return Err(self.refuse("a string that never ends")) };
        self.at += 1;
        Ok(match b {
            b'"' | b'\\' | b'/' => char::from(b),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.refuse("an unknown escape")),
        })
    }

    /// The character of `\uXXXX`, or of two of them where one is not enough.
    fn unicode(&mut self) -> std::result::Result<char, Refused> {
        let high = self.hex()?;
        let code = match high {
            0xd800..=0xdbff if self.text[self.at..].starts_with("\\u") => {
                self.at += 2;
                match self.hex()? {
                    low @ 0xdc00..=0xdfff => 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
                    _ => return Err(self.refuse("half a surrogate pair")),
                }
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.refuse("half a surrogate pair"))
    }

    fn hex(&mut self) -> std::result::Result<u32, Refused> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let code = digits.and_then(|d| {
            d.iter().try_fold(0, |n, b| char::from(*b).to_digit(16).map(|d| n * 16 + d))
        });
        self.at += 4;
        code.ok_or_else(|| Refused::Syntax { at: self.at - 4, what: "four hex digits are missing" })
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> std::result::Result<(), Refused> {
        if self.peek() != Some(byte) {
            return Err(self.refuse(what));
        }
        self.at += 1;
        Ok(())
    }

    fn refuse(&self, what: &'static str) -> Refused {
        Refused::Syntax { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Option<Vec<(String, String)>> {
        let mut out = Vec::new();
        let read = Parser { text, at: 0 }.object(|key, value| {
            let shown = match value {
                Value::Null => "null".to_owned(),
                Value::Bool(b) => b.to_string(),
                Value::Number(n) => format!("#{n}"),
                Value::Text(t) => format!("'{t}'"),
            };
            out.push((key.to_owned(), shown));
            Ok(())
        });
        read.is_ok().then_some(out)
    }

    #[test]
    fn flat_objects_are_read_as_written() {
        let read =
            pairs(r#" { "a" : 1.50 , "b":"x\n\"\u00e9\ud83d\ude00" ,"c":null,"":true } "#).unwrap();

        let values: Vec<&str> = read.iter().map(|(_, v)| v.as_str()).collect();
        assert_eq!(values, ["#1.50", "'x\n\"é😀'", "null", "true"]);
        assert_eq!(pairs("{}").unwrap().len(), 0);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "{",
            "{}x",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{'a':1}",
            "{\"a\":01}",
            "{\"a\":+1}",
            "{\"a\":.5}",
            "{\"a\":5.}",
            "{\"a\":1e}",
            "{\"a\":NaN}",
            "{\"a\":\"\t\"}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\u12g4\"}",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\ud800\\u0041\"}",
            "{\"a\":tru}",
            "{\"a\":1 \"b\":2}",
            "[1]",
            "{\"a\":\"\\u00",
            "{\"a\":\"",
            "{\"a\":[1]}",
            "{\"é",
        ] {
            assert!(pairs(text).is_none(), "{text}");
        }
    }
}
