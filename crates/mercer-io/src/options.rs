//! Options and limits of reading.

use mercer::data::{DateOrder, Kind, Notation, NumberNotation};
use std::fmt;
use std::str::FromStr;

/// What is known about an input before it is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None` infers it from the extension, then from the content.
    pub format: Option<Format>,
    /// The delimiter of a CSV file; `None` infers it among `,` `;` tab and `|`.
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV file names the columns.
    pub header: bool,
    /// Whether a field of a CSV file may stand in quotes; otherwise they are letters like any other.
    pub quotes: bool,
    /// Cells of a text format that stand for a missing value, compared after trimming. JSON, Parquet
    /// and Arrow have `null` for this.
    pub missing: Vec<String>,
    /// Types that win over inference.
    pub types: Vec<(String, ColumnType)>,
    /// The target column: its levels are collected as they are written, even if they are numbers.
    pub target: Option<String>,
    /// The first index of an svmlight file; `None` is 1 unless index 0 occurs.
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
            types: Vec::new(),
            target: None,
            first_index: None,
            cache_bytes: 64 << 20,
            limits: Limits::default(),
        }
    }
}

/// The type of a column as a user declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A kind; how numbers are written is inferred.
    Kind(Kind),
    /// Numbers with this decimal separator.
    Decimal(char),
    /// Dates, in this order of year, month and day if it is given.
    Date(Option<DateOrder>),
}

impl ColumnType {
    /// The kind of the values.
    pub fn kind(self) -> Kind {
        match self {
            ColumnType::Kind(kind) => kind,
            ColumnType::Decimal(_) | ColumnType::Date(_) => Kind::Numeric,
        }
    }

    /// How the cells are written, where the declaration determines it.
    pub(crate) fn notation(self) -> Option<Notation> {
        match self {
            ColumnType::Decimal(decimal) => {
                Some(Notation::Number(NumberNotation::with_decimal(decimal)))
            }
            ColumnType::Date(order) => order.map(Notation::Date),
            ColumnType::Kind(_) => None,
        }
    }
}

impl From<Kind> for ColumnType {
    fn from(kind: Kind) -> ColumnType {
        ColumnType::Kind(kind)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Kind(kind) => kind.fmt(f),
            ColumnType::Decimal(',') => f.pad("numeric:comma"),
            ColumnType::Decimal(_) => f.pad("numeric:point"),
            ColumnType::Date(None) => f.pad("date"),
            ColumnType::Date(Some(DateOrder::Ymd)) => f.pad("date:ymd"),
            ColumnType::Date(Some(DateOrder::Dmy)) => f.pad("date:dmy"),
            ColumnType::Date(Some(DateOrder::Mdy)) => f.pad("date:mdy"),
        }
    }
}

impl FromStr for ColumnType {
    type Err = String;

    /// `numeric`, `numeric:comma`, `numeric:point`, `categorical`, `boolean`, `text`, `date`, `date:ymd`, `date:dmy` or
    /// `date:mdy`.
    fn from_str(name: &str) -> Result<ColumnType, String> {
        Ok(match name {
            "numeric" => Kind::Numeric.into(),
            "numeric:comma" => ColumnType::Decimal(','),
            "numeric:point" => ColumnType::Decimal('.'),
            "categorical" => Kind::Categorical.into(),
            "boolean" => Kind::Boolean.into(),
            "text" => Kind::Text.into(),
            "date" => ColumnType::Date(None),
            "date:ymd" => ColumnType::Date(Some(DateOrder::Ymd)),
            "date:dmy" => ColumnType::Date(Some(DateOrder::Dmy)),
            "date:mdy" => ColumnType::Date(Some(DateOrder::Mdy)),
            _ => {
                return Err("expected numeric, numeric:comma, numeric:point, categorical, boolean, text, date, \
                            date:ymd, date:dmy or date:mdy"
                    .into());
            }
        })
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
    /// Distinct levels of a categorical column.
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
    /// One flat JSON object per line.
    JsonLines,
    /// A label and index:value pairs per line.
    Svmlight,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, as a file (Feather) or a stream.
    Arrow,
    /// A file that is one document.
    Text,
    /// A file that is one mail.
    Mail,
    /// A file of mails one after the other (mbox).
    Mailbox,
    /// One document per line.
    Lines,
    /// A folder with one folder of documents or mails per class.
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
            Format::Text => "one document",
            Format::Mail => "one mail",
            Format::Mailbox => "a mailbox",
            Format::Lines => "one document per line",
            Format::Folder => "a folder of documents",
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
                "unknown format `{name}`; expected csv, jsonl, svmlight, parquet, arrow, text (the file is one \
                 document), lines (one document per line), mail (.eml) or mailbox (.mbox)"
            )),
        }
    }
}
