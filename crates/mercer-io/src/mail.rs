//! Mails as texts: subject, sender and body of a message (RFC 5322, MIME), whatever they were encoded
//! in, and the messages of a mailbox file (mbox, RFC 4155).
//!
//! The text of a mail is its decoded subject, a line with its sender, and its body: the parts written as
//! plain text, or else those written as HTML without their tags. What is attached is not read. A file
//! without a header is read as plain text: bodies are often saved alone.

use crate::catch_panic::guarded;
use crate::error::{Error, Result};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::html::html_to_text;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{
    Encoding, HeaderName, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};
use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

/// Inline tags, which may occur within a word; other tags separate words, as `<td>` does.
const WITHIN_WORDS: [&str; 18] = [
    "a", "abbr", "b", "big", "code", "em", "font", "i", "ins", "mark", "s", "small", "span",
    "strong", "sub", "sup", "u", "wbr",
];

/// Whether a file is one mail by its name.
pub(crate) fn is_mail(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("eml"))
}

/// Whether a file holds many mails by its name.
pub(crate) fn is_mailbox(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("mbox"))
}

/// The text of a mail; `None` if it has no header.
pub(crate) fn text_of(bytes: &[u8], file: &str) -> Result<Option<String>> {
    let Some(bytes) = prepared(bytes) else { return Ok(None) };
    // The parser means never to panic, and has arithmetic that only damaged mails reach.
    guarded(file, "a mail", || {
        let parser = MessageParser::new().with_minimal_headers();
        let message = parser.parse(bytes.as_ref()).filter(has_known_header);
        Ok(message.as_ref().map(whole_text))
    })
}

/// Bytes as text: UTF-8 without its mark, else Latin-1.
pub(crate) fn readable(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
        Err(other) => other.into_bytes().into_iter().map(char::from).collect(),
    }
}

/// A mail prepared for the parser: from its first header on, headers in UTF-8, a newline at the end.
fn prepared(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    // What a mailbox puts before each of its messages.
    let bytes = match bytes.strip_prefix(b"From ") {
        Some(_) => &bytes[end_of_line(bytes)..],
        None => bytes,
    };
    let first = &bytes[..end_of_line(bytes)];
    let name = &first[..memchr::memchr(b':', first)?];
    if name.is_empty() || !name.trim_ascii_end().iter().all(u8::is_ascii_graphic) {
        return None;
    }
    let headers = &bytes[..end_of_headers(bytes)];
    let whole = bytes.ends_with(b"\n");
    if whole && std::str::from_utf8(headers).is_ok() {
        return Some(Cow::Borrowed(bytes));
    }
    let mut all = readable(headers.to_vec()).into_bytes();
    all.extend_from_slice(&bytes[headers.len()..]);
    if !whole {
        all.push(b'\n');
    }
    Some(Cow::Owned(all))
}

fn end_of_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

/// The position of the empty line after the headers.
fn end_of_headers(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        let line = &bytes[at..at + end_of_line(&bytes[at..])];
        if line.trim_ascii().is_empty() {
            break;
        }
        at += line.len();
    }
    at
}

/// A first line like `Note: see below` is no header of a mail.
fn has_known_header(message: &Message<'_>) -> bool {
    message.headers().iter().any(|header| !matches!(header.name, HeaderName::Other(_)))
}

fn whole_text(message: &Message<'_>) -> String {
    let mut text = String::new();
    if let Some(subject) = message.subject() {
        text += subject.trim();
        text.push('\n');
    }
    if let Some(sender) = message.from().and_then(|from| from.first()) {
        let parts = [sender.name(), sender.address()];
        text += &parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        text.push('\n');
    }
    text.push('\n');
    let headers = text.len();
    for part in message.text_bodies() {
        add(&mut text, message, part);
    }
    // Many senders leave the plain part empty.
    if text[headers..].trim().is_empty() {
        text.truncate(headers);
        for part in message.html_bodies() {
            add(&mut text, message, part);
        }
    }
    text
}

/// Appends the text of a part.
fn add(text: &mut String, message: &Message<'_>, part: &MessagePart<'_>) {
    match &part.body {
        PartType::Text(body) => *text += decoded(message, part).as_deref().unwrap_or(body),
        PartType::Html(body) => {
            let body = decoded(message, part).map_or(Cow::Borrowed(body.as_ref()), Cow::Owned);
            *text += &html_to_text(&separate_words(&body));
        }
        _ => return,
    }
    text.push('\n');
}

/// The text of a part that names no known charset and is not UTF-8: Latin-1, as elsewhere.
fn decoded(message: &Message<'_>, part: &MessagePart<'_>) -> Option<String> {
    let charset = part.content_type().and_then(|kind| kind.attribute("charset"));
    if charset.is_some_and(|name| charset_decoder(name.as_bytes()).is_some()) {
        return None;
    }
    let (PartType::Text(body) | PartType::Html(body)) = &part.body else { return None };
    if !body.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    let raw = message.raw_message.get(part.offset_body as usize..part.offset_end as usize)?;
    let bytes = match part.encoding {
        Encoding::None => Some(raw.to_vec()),
        Encoding::QuotedPrintable => quoted_printable_decode(raw),
        Encoding::Base64 => base64_decode(raw),
    };
    bytes.map(readable)
}

/// The page with a space before every tag that separates words.
fn separate_words(html: &str) -> String {
    let mut separated = String::with_capacity(html.len() + html.len() / 8);
    let mut pieces = html.split('<');
    separated += pieces.next().unwrap_or_default();
    for piece in pieces {
        let tag = piece.strip_prefix('/').unwrap_or(piece);
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = &tag[..end];
        let within = WITHIN_WORDS.iter().any(|word| name.eq_ignore_ascii_case(word));
        if !name.is_empty() && !within {
            separated.push(' ');
        }
        separated.push('<');
        separated += piece;
    }
    separated
}

/// The messages of a mailbox, each from its first header on. A line `From ` at the beginning or after an empty line
/// starts a message; in a body it is escaped as `>From `.
pub(crate) struct Mails<R> {
    lines: R,
    file: String,
    record_bytes: usize,
    /// Whether the first `From ` line was met.
    begun: bool,
    done: bool,
}

impl<R: BufRead> Mails<R> {
    pub fn new(lines: R, file: &str, record_bytes: usize) -> Mails<R> {
        Mails { lines, file: file.to_owned(), record_bytes, begun: false, done: false }
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut mail, mut line, mut behind_empty) = (Vec::new(), Vec::new(), !self.begun);
        loop {
            line.clear();
            let read = self.lines.read_until(b'\n', &mut line);
            let n =
                read.map_err(|e| Error::System { file: self.file.clone(), why: e.to_string() })?;
            if n == 0 {
                self.done = true;
                return Ok(self.begun.then_some(mail));
            }
            let empty = line.trim_ascii().is_empty();
            if behind_empty && line.starts_with(b"From ") {
                if std::mem::replace(&mut self.begun, true) {
                    return Ok(Some(mail));
                }
                behind_empty = false;
                continue;
            }
            if !self.begun && !empty {
                return Err(Error::Damaged {
                    file: self.file.clone(),
                    format: "a mailbox".to_owned(),
                    why: "its first line does not begin with `From `".to_owned(),
                });
            }
            behind_empty = empty;
            let quotes = line.iter().take_while(|byte| **byte == b'>').count();
            let quoted = quotes > 0 && line[quotes..].starts_with(b"From ");
            mail.extend_from_slice(&line[usize::from(quoted)..]);
            if mail.len() > self.record_bytes {
                return Err(too_long(&self.file, self.record_bytes));
            }
        }
    }
}

impl<R: BufRead> Iterator for Mails<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let mail = self.read();
        self.done |= mail.is_err();
        mail.transpose()
    }
}

/// The refusal of a document beyond the limit.
pub(crate) fn too_long(file: &str, record_bytes: usize) -> Error {
    Error::Limit {
        file: file.to_owned(),
        at: None,
        what: "a document".to_owned(),
        limit: record_bytes as u64,
        name: "record_bytes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mail: &[u8]) -> String {
        text_of(mail, "a.eml").unwrap().unwrap()
    }

    #[test]
    fn headers_are_decoded_and_others_left_out() {
        let mail = b"Received: by far\r\nSubject: =?UTF-8?B?R3LDvMOfZQ==?= an\r\n =?iso-8859-1?Q?_J=F6rg?=\r\n\
            From: =?utf-8?q?Zo=C3=AB?= <zoe@example.org>\r\n\r\nbody\r\n";

        assert_eq!(text(mail), "Grüße an  Jörg\nZoë zoe@example.org\n\nbody\r\n\n");
    }

    #[test]
    fn plain_parts_win_over_html_and_html_over_nothing() {
        let both = |plain: &str| {
            format!(
                "Subject: x\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\n{plain}\n--b\n\
                 Content-Type: text/html\n\n<td>rich</td><td>w<b>or</b>ds &amp; more</td>\n--b--\n"
            )
        };

        assert!(!text(both("poor words").as_bytes()).contains("rich"));
        assert_eq!(text(both("").as_bytes()).trim(), "x\n\nrich words & more");
    }

    #[test]
    fn bytes_are_decoded_by_their_encoding_and_charset() {
        let body = |headers: &str, body: &[u8]| {
            let mut mail =
                format!("Subject: x\nContent-Type: text/plain{headers}\n\n").into_bytes();
            mail.extend_from_slice(body);
            text(&mail).trim_start_matches('x').trim().to_owned()
        };

        assert_eq!(
            body(
                "; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable",
                b"na=EFve=\n ly"
            ),
            "naïve ly"
        );
        assert_eq!(
            body("; charset=\"koi8-r\"\nContent-Transfer-Encoding: base64", b"0NLJ18XU"),
            "привет"
        );
        assert_eq!(body("; charset=shift_jis", b"\x83\x65\x83\x58\x83\x67"), "テスト");
        // Without a declared encoding, the byte is read as Latin-1.
        assert_eq!(body("", b"na\xefve"), "naïve");
        assert_eq!(body("\nContent-Transfer-Encoding: base64", b"bmHvdmU="), "naïve");
    }

    #[test]
    fn bytes_that_are_no_utf8_are_latin_1() {
        assert_eq!(readable(b"\xef\xbb\xbfna\xc3\xafve".to_vec()), "naïve");
        assert_eq!(readable(b"na\xefve".to_vec()), "naïve");
    }

    #[test]
    fn what_begins_with_no_header_is_no_mail() {
        assert_eq!(text_of(b"Win the money prize", "a").unwrap(), None);
        assert_eq!(text_of(b"Note: win the money\n", "a").unwrap(), None);
        assert_eq!(text_of(b"gr\xfc\xdfe: win", "a").unwrap(), None);
        assert_eq!(text_of(b"", "a").unwrap(), None);
        assert_eq!(text(b"Subject: gr\xfc\xdfe").trim(), "grüße");
    }

    #[test]
    fn a_mailbox_falls_apart_where_its_messages_begin() {
        let mbox =
            b"From a@b Mon\nSubject: 1\n\nFrom: here\n>From there\n\nFrom a@b Tue\nSubject: 2\n\n";
        let mails = |bytes: &[u8]| Mails::new(bytes, "a.mbox", 1000).collect::<Result<Vec<_>>>();

        let found = mails(mbox).unwrap();

        assert_eq!(found.len(), 2);
        assert_eq!(found[0], b"Subject: 1\n\nFrom: here\nFrom there\n\n");
        assert_eq!(mails(b"\n").unwrap().len(), 0);
        assert!(mails(b"Subject: 1\n").unwrap_err().to_string().contains("`From `"));
        assert!(Mails::new(&mbox[..], "a", 5).any(|mail| mail.is_err()));
    }
}
