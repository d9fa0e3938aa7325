//! Infers format and delimiter from the name and the first bytes of a file.

use crate::csv::{n_fields, record_end};
use crate::error::{At, Error, Result};
use crate::open::Input;
use crate::options::Format;
use std::str::FromStr;

/// The number of bytes that are inspected.
pub(crate) const HEAD: u64 = 1 << 16;
const CANDIDATES: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Records that must agree on a delimiter.
const SAMPLE: usize = 50;

/// The format of a name, and the delimiter that goes with it.
pub(crate) fn by_name(name: &str) -> Option<(Format, Option<u8>)> {
    let lower = name.to_ascii_lowercase();
    let plain = [".gz", ".gzip", ".zst", ".zstd"].iter().find_map(|end| lower.strip_suffix(end));
    let (_, extension) = plain.unwrap_or(&lower).rsplit_once('.')?;
    let delimiter = matches!(extension, "tsv" | "tab").then_some(b'\t');
    Some((Format::from_str(extension).ok()?, delimiter))
}

/// The format of some first bytes.
pub(crate) fn by_content(file: &str, head: &[u8]) -> Result<Format> {
    if head.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if head.starts_with(b"ARROW1") || head.starts_with(&[0xff; 4]) {
        return Ok(Format::Arrow);
    }
    let (_, text) = strip_mark(file, head)?;
    if text.contains(&0) {
        return Err(Error::UnknownFormat {
            file: file.to_owned(),
            found: "it is not text".to_owned(),
        });
    }
    let first = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    if first.is_some_and(|line| line.starts_with(b"{")) {
        return Ok(Format::JsonLines);
    }
    let mut lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    match lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) {
        Some(line) if is_svmlight_line(line) => Ok(Format::Svmlight),
        _ => Ok(Format::Csv),
    }
}

/// Whether a line is a label and at least one index:value pair.
fn is_svmlight_line(line: &[u8]) -> bool {
    let line = line.split(|b| *b == b'#').next().unwrap_or(line);
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    let label = words.next().is_some_and(|w| !w.contains(&b':'));
    let mut n_pairs = 0;
    // The last token may be cut off.
    let pairs = words.all(|w| {
        n_pairs += 1;
        let mut parts = w.splitn(2, |b| *b == b':');
        let index = parts.next().unwrap_or_default();
        let is_index = index == b"qid" || index.iter().all(u8::is_ascii_digit);
        is_index
            && parts.next().is_some_and(|v| v.iter().all(|b| b.is_ascii_graphic() && *b != b','))
    });
    label && pairs && n_pairs > 0
}

/// The text behind a byte-order mark, and how long the mark is.
pub(crate) fn strip_mark<'a>(file: &str, head: &'a [u8]) -> Result<(usize, &'a [u8])> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(Error::NotUtf8 {
            file: file.to_owned(),
            at: At::Line(1),
            place: "the byte-order mark is that of UTF-16".to_owned(),
        });
    }
    Ok(match head.strip_prefix(&[0xef, 0xbb, 0xbf]) {
        Some(text) => (3, text),
        None => (0, head),
    })
}

/// The length of the byte-order mark of a text that must not be empty.
pub(crate) fn mark_of_text(input: &Input) -> Result<u64> {
    let head = input.peek(4)?;
    let (mark, text) = strip_mark(&input.name, &head)?;
    if text.is_empty() {
        return Err(Error::Empty { file: input.name.clone() });
    }
    Ok(mark as u64)
}

/// The delimiter all records agree on, with the most fields; a comma if there is none.
pub(crate) fn delimiter(head: &[u8]) -> u8 {
    let agreeing = CANDIDATES.iter().filter_map(|d| agreed_fields(head, *d).map(|n| (n, *d)));
    if let Some((_, d)) = agreeing.filter(|(n, _)| *n > 1).max_by_key(|(n, d)| (*n, rank(*d))) {
        return d;
    }
    // A ragged file is refused later, with the delimiter of its header.
    let header = &head[..record_end(head, b',').unwrap_or(head.len())];
    let by_header = CANDIDATES.iter().map(|d| (n_fields(header, *d), *d));
    by_header.max_by_key(|(n, d)| (*n, rank(*d))).map_or(b',', |(_, d)| d)
}

/// The rank of a candidate: the first wins a tie.
fn rank(delimiter: u8) -> usize {
    CANDIDATES.iter().rev().position(|d| *d == delimiter).unwrap_or(0)
}

/// How many fields every record has, if they agree.
fn agreed_fields(head: &[u8], delimiter: u8) -> Option<usize> {
    let mut rest = head;
    let mut agreed = None;
    for _ in 0..SAMPLE {
        let Some(end) = record_end(rest, delimiter) else { break };
        let record = &rest[..end];
        rest = &rest[end..];
        if record.trim_ascii().is_empty() {
            continue;
        }
        let n = n_fields(record, delimiter);
        if *agreed.get_or_insert(n) != n {
            return None;
        }
    }
    // A single line without an end is a record too.
    agreed.or_else(|| Some(n_fields(head, delimiter)))
}

/// The name of a delimiter.
pub(crate) fn delimiter_name(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        b' ' => "space".to_owned(),
        other => char::from(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_inferred_from_names() {
        assert_eq!(by_name("a/b.csv"), Some((Format::Csv, None)));
        assert_eq!(by_name("b.TSV.gz"), Some((Format::Csv, Some(b'\t'))));
        assert_eq!(by_name("x.tar/b.libsvm.zst"), Some((Format::Svmlight, None)));
        assert_eq!(by_name("data.txt"), None);
    }

    #[test]
    fn formats_are_inferred_from_contents() {
        let of = |text: &[u8]| by_content("f", text);
        assert_eq!(of(b"PAR1...."), Ok(Format::Parquet));
        assert_eq!(of(b"\n {\"a\": 1}\n"), Ok(Format::JsonLines));
        assert_eq!(of(b"# made by hand\n+1 3:0.5 7:1 # note\n"), Ok(Format::Svmlight));
        assert_eq!(of(b"time,note\n12:30,a\n"), Ok(Format::Csv));
        assert!(of(b"\x00\x01\x02").is_err());
    }

    #[test]
    fn the_delimiter_splits_all_records_alike() {
        assert_eq!(delimiter(b"a;b\n1,5;2,5\n"), b';');
        assert_eq!(delimiter(b"a,b\n\"x;y;z\",2\n"), b',');
        assert_eq!(delimiter(b"a|b|c\n1|2|3"), b'|');
        assert_eq!(delimiter(b"a\tb\n1\t2\n"), b'\t');
        assert_eq!(delimiter(b"word\nother\n"), b',');
        assert_eq!(delimiter(b"a,b\n1\n"), b',');
    }
}
