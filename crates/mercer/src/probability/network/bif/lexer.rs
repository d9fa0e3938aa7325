//! The tokens of a BIF text with their lines.

use crate::error::{Error, Result};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a number or a keyword.
    Bare(String),
    /// A name in quotes, which is never a keyword.
    Quoted(String),
    /// One of `{ } ( ) [ ] , ; |`.
    Mark(char),
    /// The end of the text.
    End,
}

impl Token {
    /// The token in an error message.
    pub fn shown(&self) -> String {
        match self {
            Token::Bare(word) | Token::Quoted(word) => format!("`{word}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the text".into(),
        }
    }
}

/// The characters that are tokens of their own.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '{' | '}' | '(' | ')' | '[' | ']' | ',' | ';' | '|')
}

/// All tokens with their lines, counted from one; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>> {
    let mut out = Vec::new();
    let mut line = 1;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let start = line;
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|c| *c != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => {
                let mut last = ' ';
                rest.next();
                loop {
                    match rest.next() {
                        None => return Err(unclosed(start, "a comment", "`*/`")),
                        Some('/') if last == '*' => break,
                        Some(c) => {
                            line += usize::from(c == '\n');
                            last = c;
                        }
                    }
                }
            }
            '"' => {
                let mut word = String::new();
                loop {
                    match rest.next() {
                        None => return Err(unclosed(start, "a name", "a closing quote")),
                        Some('"') => break,
                        Some('\\') => word.extend(rest.next()),
                        Some(c) => word.push(c),
                    }
                }
                line += word.matches('\n').count();
                out.push((Token::Quoted(word), start));
            }
            c if is_mark(c) => out.push((Token::Mark(c), line)),
            c => {
                let mut word = String::from(c);
                let ends = |c: &char| c.is_whitespace() || is_mark(*c) || *c == '"';
                while let Some(c) = rest.next_if(|c| !ends(c)) {
                    word.push(c);
                }
                out.push((Token::Bare(word), line));
            }
        }
    }
    out.push((Token::End, line));
    Ok(out)
}

fn unclosed(line: usize, what: &str, expected: &str) -> Error {
    Error::Bif { line, found: format!("{what} without end"), expected: expected.into() }
}
