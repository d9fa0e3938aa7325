//! How to read: what the user may say about a file, and how much of it is believed.

use mercer::data::Kind;
use std::fmt;
use std::str::FromStr;

/// What is known about an input before it is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; found by extension, then by content, if not given.
    pub format: Option<Format>,
    /// What separates the fields of a CSV file; inferred among `,` `;` tab and `|` if not given.
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV file names the columns.
    pub header: bool,
    /// Whether a field of a CSV file may stand in quotes; otherwise they are letters like any other.
    pub quotes: bool,
    /// Cells of a text format that stand for a missing value, compared after trimming. JSON, Parquet
    /// and Arrow have `null` for this.
    pub missing: Vec<String>,
    /// Kinds that win over inference.
    pub kinds: Vec<(String, Kind)>,
    /// The column to be learned: its words are cached exactly even where they look like numbers.
    pub target: Option<String>,
    /// The first index of an svmlight file; 1 unless index 0 occurs, if not given.
    pub first_index: Option<u32>,
    /// What is refused as hostile or broken.
    pub limits: Limits,
    /// Bytes of cells that [`profile`](crate::Source::profile) may keep, so that a table that fits is
    /// parsed once; a larger one is read again from the file.
    pub cache_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        let missing = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"];
        Options {
            format: None,
            delimiter: None,
            header: true,
            quotes: true,
            missing: missing.map(str::to_owned).into(),
            kinds: Vec::new(),
            target: None,
            first_index: None,
            cache_bytes: 64 << 20,
            limits: Limits::default(),
        }
    }
}

/// Bounds on what a file may request of the machine; each is named in its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one field.
    pub field_bytes: usize,
    /// Bytes of one record.
    pub record_bytes: usize,
    /// Columns of a table.
    pub columns: usize,
    /// Features of an svmlight file.
    pub width: usize,
    /// How many bytes one compressed byte may become, once 64 MB have come out.
    pub expansion: u64,
    /// Distinct words of a categorical column.
    pub levels: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            field_bytes: 1 << 20,
            record_bytes: 16 << 20,
            columns: 1_000_000,
            width: 100_000_000,
            expansion: 200,
            levels: 10_000,
        }
    }
}

/// The formats we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fields between delimiters.
    Csv,
    /// A flat JSON object a line.
    JsonLines,
    /// A label and index:value pairs a line.
    Svmlight,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, as a file (Feather) or a stream.
    Arrow,
    /// A file that is one text.
    Text,
    /// A file that is one mail.
    Mail,
    /// A file of mails one after the other (mbox).
    Mailbox,
    /// A text a line.
    Lines,
    /// A folder of texts or mails, in a folder a class.
    Folder,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Csv => "CSV",
            Format::JsonLines => "JSON lines",
            Format::Svmlight => "svmlight",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
            Format::Text => "one text",
            Format::Mail => "one mail",
            Format::Mailbox => "a mailbox",
            Format::Lines => "a text a line",
            Format::Folder => "a folder of texts",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    /// The format of a name as written on a command line or at the end of a file name.
    fn from_str(name: &str) -> Result<Format, String> {
        match name.to_ascii_lowercase().as_str() {
            "csv" | "tsv" | "tab" => Ok(Format::Csv),
            "jsonl" | "ndjson" | "json" => Ok(Format::JsonLines),
            "svmlight" | "libsvm" | "svm" => Ok(Format::Svmlight),
            "parquet" | "pq" => Ok(Format::Parquet),
            "arrow" | "feather" | "ipc" | "arrows" => Ok(Format::Arrow),
            "text" => Ok(Format::Text),
            "mail" | "eml" => Ok(Format::Mail),
            "mailbox" | "mbox" => Ok(Format::Mailbox),
            "lines" => Ok(Format::Lines),
            _ => Err(format!(
                "no format is called `{name}`; there are csv, jsonl, svmlight, parquet, arrow, text \
                 (a file is one text), lines (a text a line), mail (a file is one mail) and mailbox"
            )),
        }
    }
}
