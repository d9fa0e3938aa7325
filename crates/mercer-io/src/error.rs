//! What can go wrong between bytes and tables: where it stands, what was found, what to do.

use mercer::data::Kind;
use std::fmt;
use thiserror::Error;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A position in a file, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// A line of a text format.
    Line(u64),
    /// A row of a columnar format.
    Row(u64),
}

impl At {
    /// The position after `by` more lines or rows.
    fn later(self, by: u64) -> At {
        match self {
            At::Line(n) => At::Line(n + by),
            At::Row(n) => At::Row(n + by),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Line(n) => write!(f, "line {n}"),
            At::Row(n) => write!(f, "row {n}"),
        }
    }
}

/// What went wrong while reading.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read.
    #[error("{file}: {why}")]
    System {
        /// Which file.
        file: String,
        /// The message of the operating system.
        why: String,
    },
    /// Not a single byte.
    #[error("{file} is empty; there is nothing to read")]
    Empty {
        /// Which file.
        file: String,
    },
    /// A file without rows.
    #[error("{file} has no rows, only {found}; if its first line is data, say `--no-header`")]
    NoRows {
        /// Which file.
        file: String,
        /// What there is instead.
        found: String,
    },
    /// Bytes of no format we read.
    #[error(
        "{file}: cannot tell the format ({found}); name it: `--format csv`, `jsonl`, `svmlight`, \
         `parquet` or `arrow`"
    )]
    UnknownFormat {
        /// Which file.
        file: String,
        /// What speaks against a text file.
        found: String,
    },
    /// A format that this build does not read.
    #[error(
        "{file}: this build of mercer does not read {format}; {remedy}, or build mercer with \
         `--features all-formats`"
    )]
    NotBuilt {
        /// Which file.
        file: String,
        /// Its format or compression.
        format: String,
        /// What to do with the file instead.
        remedy: String,
    },
    /// A format that contradicts itself.
    #[error("{file} is not whole or not {format}: {why}")]
    Damaged {
        /// Which file.
        file: String,
        /// What it was read as.
        format: String,
        /// The message of its reader.
        why: String,
    },
    /// A row with too few or too many fields.
    #[error(
        "{file}, {at}: found {found} fields where the first line has {expected}; \
         is `{delimiter}` the delimiter, and is text with a `{delimiter}` in it quoted?"
    )]
    Ragged {
        /// Which file.
        file: String,
        /// Where.
        at: At,
        /// Fields of this row.
        found: usize,
        /// Fields of the first row.
        expected: usize,
        /// What separates them, as written on a command line.
        delimiter: String,
    },
    /// A quote that does not close, or closes in the middle of a field.
    #[error(
        "{file}, {at}: {found}; write a quote inside a quoted field twice (`\"\"`), or read quotes as letters \
         like any other (`--no-quotes`)"
    )]
    Quote {
        /// Which file.
        file: String,
        /// The start of the field.
        at: At,
        /// What is wrong with it.
        found: String,
    },
    /// Two columns of one name.
    #[error("{file}: column `{name}` appears twice, as number {first} and {second}; rename one")]
    RepeatedColumn {
        /// Which file.
        file: String,
        /// The name.
        name: String,
        /// Counted from one.
        first: usize,
        /// Counted from one.
        second: usize,
    },
    /// A column that the file does not have.
    #[error("{file} has no column `{name}`{}; it has {present}", suggest(.close))]
    MissingColumn {
        /// Which file.
        file: String,
        /// The name of the column.
        name: String,
        /// What there is.
        present: String,
        /// A similar name.
        close: Option<String>,
    },
    /// Several columns that are not there.
    #[error("{file}: no columns {}; it has {present}", list(.names))]
    MissingColumns {
        /// Which file.
        file: String,
        /// The names of the columns.
        names: Vec<String>,
        /// What there is.
        present: String,
    },
    /// A cell that is not written as the other cells of its column.
    #[error(
        "{file}, {at}, column `{column}`: `{found}` is not among the {notation}; `--missing '{found}'` treats it as \
         missing, `--column {column}=categorical` reads every cell as a category"
    )]
    Notation {
        /// Which file.
        file: String,
        /// Where.
        at: At,
        /// The column.
        column: String,
        /// The cell.
        found: String,
        /// How the other cells are written.
        notation: String,
    },
    /// A cell that is not what its column holds.
    #[error(
        "{file}, {at}, column `{column}`: `{found}` is not {}; `--missing '{found}'` treats it as \
         missing, `--column {column}=categorical` reads the column as words",
        one_of(.expected)
    )]
    Cell {
        /// Which file.
        file: String,
        /// Where.
        at: At,
        /// The column.
        column: String,
        /// What stands there.
        found: String,
        /// What the column holds.
        expected: Kind,
    },
    /// A whole column of the wrong kind.
    #[error("{file}, column `{column}`: it holds {found} where {expected} values were expected")]
    WrongKind {
        /// Which file.
        file: String,
        /// The column.
        column: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: Kind,
    },
    /// A column type that is not supported.
    #[error(
        "{file}, column `{column}`: {found} is nested or not supported; \
         flatten it or leave the column out"
    )]
    Unsupported {
        /// Which file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// Bytes that are not UTF-8.
    #[error(
        "{file}, {at}, {place}: not UTF-8 text; convert the file, e.g. `iconv -f latin1 -t utf8`"
    )]
    NotUtf8 {
        /// Which file.
        file: String,
        /// Where.
        at: At,
        /// The column, or what is known of it.
        place: String,
    },
    /// A line that is not valid JSON lines or svmlight.
    #[error("{file}, {at}: {found}; expected {expected}")]
    Syntax {
        /// Which file.
        file: String,
        /// Where.
        at: At,
        /// What is wrong.
        found: String,
        /// The expected format.
        expected: String,
    },
    /// A sparse index beyond what the model knows.
    #[error(
        "{file}, {at}: index {index} is beyond the {width} features expected; \
         was the model trained on other data?"
    )]
    Width {
        /// Which file.
        file: String,
        /// Where.
        at: At,
        /// As the file has it.
        index: u64,
        /// How many features there are.
        width: usize,
    },
    /// A limit that guards against hostile or broken files.
    #[error("{file}{}: {what} exceeds the limit of {limit}; raise `{name}` if this is meant", position(.at))]
    Limit {
        /// Which file.
        file: String,
        /// The position, if there is one.
        at: Option<At>,
        /// What is too large.
        what: String,
        /// What is allowed.
        limit: u64,
        /// The field of [`crate::Limits`].
        name: &'static str,
    },
    /// An option that makes no sense for this input.
    #[error("{file}: {why}")]
    Option {
        /// Which file.
        file: String,
        /// What does not fit.
        why: String,
    },
    /// An error of the core crate.
    #[error(transparent)]
    Core(#[from] mercer::Error),
}

impl Error {
    /// Whether a limit or the machine stood in the way, rather than the data.
    pub fn is_resource(&self) -> bool {
        matches!(self, Error::Limit { .. } | Error::Core(mercer::Error::Memory { .. }))
    }

    /// The error with its position moved by `by` lines, because lines are counted within a block.
    pub(crate) fn later(mut self, by: u64) -> Error {
        match &mut self {
            Error::Ragged { at, .. }
            | Error::Quote { at, .. }
            | Error::Cell { at, .. }
            | Error::Notation { at, .. }
            | Error::NotUtf8 { at, .. }
            | Error::Syntax { at, .. }
            | Error::Width { at, .. }
            | Error::Limit { at: Some(at), .. } => *at = at.later(by),
            _ => {}
        }
        self
    }

    /// A format that needs the feature `all-formats`.
    #[cfg(not(feature = "all-formats"))]
    pub(crate) fn not_built(file: &str, format: impl fmt::Display, remedy: &str) -> Error {
        let (format, remedy) = (format.to_string(), remedy.to_owned());
        Error::NotBuilt { file: file.to_owned(), format, remedy }
    }

    /// Names a column that is not there, with what is and what may have been meant.
    pub(crate) fn missing_column<'a>(
        file: &str,
        name: &str,
        present: impl Iterator<Item = &'a str> + Clone,
    ) -> Error {
        let close = present
            .clone()
            .map(|p| (distance(&p.to_lowercase(), &name.to_lowercase()), p))
            .filter(|(d, p)| *d <= 1 + p.chars().count().min(name.chars().count()) / 4)
            .min_by_key(|(d, _)| *d)
            .map(|(_, p)| p.to_owned());
        let present = some_of(present);
        Error::MissingColumn { file: file.to_owned(), name: name.to_owned(), present, close }
    }

    /// Names all columns that are not there.
    pub(crate) fn missing_columns<'a>(
        file: &str,
        names: &[&str],
        present: impl Iterator<Item = &'a str> + Clone,
    ) -> Error {
        match names {
            [name] => Error::missing_column(file, name, present),
            names => Error::MissingColumns {
                file: file.to_owned(),
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                present: some_of(present),
            },
        }
    }
}

/// The first names of a list and the number of the others.
fn some_of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let shown: Vec<String> = names.clone().take(20).map(|p| format!("`{p}`")).collect();
    let more = names.count().saturating_sub(shown.len());
    let mut list = shown.join(", ");
    if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    list
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn suggest(close: &Option<String>) -> String {
    close.as_ref().map_or(String::new(), |c| format!(" (did you mean `{c}`?)"))
}

fn position(at: &Option<At>) -> String {
    at.map_or(String::new(), |at| format!(", {at}"))
}

fn one_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Numeric => "a finite number",
        Kind::Boolean => "`true` or `false`",
        Kind::Categorical => "a word",
        Kind::Text => "text",
        Kind::Sparse => "a list of index:value",
    }
}

/// Cells are shown, not dumped: at most 60 characters of one.
pub(crate) fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(&cell[..cell.len().min(400)]);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// Insertions, deletions and substitutions between two names (Levenshtein, 1966), one row at a
/// time. Names are cut to 64 characters: the answer is only a hint.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_column_suggests_its_neighbor() {
        let error =
            Error::missing_column("a.csv", "Sepal_lenght", ["sepal_length", "x"].into_iter());

        let said = error.to_string();

        assert!(said.contains("did you mean `sepal_length`?"), "{said}");
        assert!(said.contains("it has `sepal_length`, `x`"), "{said}");
    }

    #[test]
    fn kitten_is_three_steps_from_sitting() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn long_cells_are_cut() {
        assert_eq!(shown(&[b'x'; 100]), format!("{}...", "x".repeat(60)));
    }
}
