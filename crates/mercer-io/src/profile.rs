//! What each column holds, judged from the whole input.
//!
//! Truth values if all cells are; numbers if all cells are; else words, or text where there are too
//! many or too long ones. A column that is nearly all numbers is not turned into words in silence:
//! its first other cell is an error.

use crate::column_summary::{ColumnSummaries, ColumnSummary};
use crate::error::{At, Error, Result};
use crate::options::Options;
use mercer::data::{Field, Schema};
use mercer::data::{Kind, Levels};
use std::sync::Arc;

/// A column is a damaged column of numbers if at least nine cells in ten are numbers ...
const NUMBERS_IN_TEN: u64 = 9;
/// ... and at least so many.
const MIN_NUMBERS: u64 = 10;
/// Text repeats itself less and runs longer than categories do.
const TEXT_MIN_ROWS: u64 = 20;
const TEXT_WORDS: f64 = 3.0;
const TEXT_LENGTH: f64 = 40.0;

/// What an input holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Records.
    pub n_rows: u64,
    /// In the order of the file.
    pub columns: Vec<ColumnProfile>,
}

/// What one column holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnProfile {
    /// What the file calls it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Cells without a value.
    pub n_missing: u64,
    /// The line (or row, in Parquet and Arrow) of the first of them.
    pub first_missing_line: Option<u64>,
    /// The words of a categorical column, and of the target whatever it holds.
    pub levels: Arc<Levels>,
    /// How often each of `levels` occurs.
    pub level_counts: Vec<u64>,
    /// Distinct values that were counted.
    pub n_distinct: u64,
    /// Whether counting stopped early, so that there may be more.
    pub distinct_capped: bool,
    /// Features of a sparse column; one for every other kind.
    pub width: usize,
    /// What a sparse file calls its first feature.
    pub first_index: Option<u32>,
    /// The least number, if there are numbers.
    pub min: Option<f64>,
    /// The greatest number, if there are numbers.
    pub max: Option<f64>,
    /// Whether there are numbers and all are whole.
    pub integers: bool,
    /// What the user should be told.
    pub note: Option<String>,
}

impl Profile {
    /// The schema this profile suggests, columns in the order of the file.
    pub fn schema(&self) -> Schema {
        Schema { fields: self.columns.iter().map(ColumnProfile::field).collect() }
    }

    /// The profile of a column.
    pub fn column(&self, name: &str) -> Option<&ColumnProfile> {
        self.columns.iter().find(|c| c.name == name)
    }
}

impl ColumnProfile {
    /// The field of a schema this column suggests.
    pub fn field(&self) -> Field {
        let levels = match self.kind {
            Kind::Categorical => Arc::clone(&self.levels),
            _ => Arc::default(),
        };
        Field {
            name: self.name.clone(),
            kind: self.kind,
            levels,
            width: self.width,
            first_index: self.first_index,
        }
    }
}

/// Who asks, about which file.
pub(crate) struct Judge<'a> {
    pub file: &'a str,
    pub options: &'a Options,
    pub at: fn(u64) -> At,
}

impl Judge<'_> {
    /// The columns whose words are needed and were not all collected.
    pub fn holes(&self, names: &[String], tallies: &ColumnSummaries) -> Vec<String> {
        names
            .iter()
            .zip(&tallies.columns)
            .filter(|(name, tally)| {
                tally.words.skipped
                    && !tally.words.full
                    && tally.n_others + tally.n_booleans > 0
                    && !self.is_damaged(tally)
                    && !matches!(self.asked(name), Some(Kind::Numeric | Kind::Boolean | Kind::Text))
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The profile of everything that was counted.
    pub fn profile(&self, names: &[String], tallies: ColumnSummaries) -> Result<Profile> {
        for name in self.options.kinds.iter().map(|(name, _)| name).chain(&self.options.target) {
            if !names.contains(name) {
                return Err(Error::missing_column(
                    self.file,
                    name,
                    names.iter().map(String::as_str),
                ));
            }
        }
        let n_rows = tallies.n_rows;
        let columns = names
            .iter()
            .zip(tallies.columns)
            .map(|(name, tally)| self.column(name, tally, n_rows))
            .collect::<Result<_>>()?;
        Ok(Profile { n_rows, columns })
    }

    fn column(&self, name: &str, mut tally: ColumnSummary, n_rows: u64) -> Result<ColumnProfile> {
        let kind = self.kind(name, &tally, n_rows)?;
        let (n_distinct, distinct_capped) = tally.n_distinct();
        let mut words: Vec<(String, u64)> = Vec::new();
        if kind == Kind::Categorical || self.is_target(name) {
            let counts = std::mem::take(&mut tally.words.counts);
            // LevelCounts were checked to be UTF-8 when they were collected.
            words = counts
                .into_iter()
                .filter_map(|(word, n)| String::from_utf8(word.into_vec()).ok().map(|w| (w, n)))
                .collect();
            words.sort_unstable();
        }
        let level_counts = words.iter().map(|(_, n)| *n).collect();
        let levels = Arc::new(Levels::new(words.into_iter().map(|(word, _)| word).collect()));
        let numbers = tally.n_numbers > 0;
        if tally.n_present() == 0 && kind != Kind::Sparse {
            tally.note = Some("every value is missing".to_owned());
        }
        Ok(ColumnProfile {
            name: name.to_owned(),
            kind,
            n_missing: tally.n_missing,
            first_missing_line: tally.first_missing,
            levels,
            level_counts,
            n_distinct,
            distinct_capped,
            width: if kind == Kind::Sparse { tally.width as usize } else { 1 },
            first_index: tally.first_index,
            min: numbers.then_some(tally.min),
            max: numbers.then_some(tally.max),
            integers: numbers && tally.integers,
            note: tally.note,
        })
    }

    /// What a column holds: as the user says, as the format says, or as its cells look.
    fn kind(&self, name: &str, tally: &ColumnSummary, n_rows: u64) -> Result<Kind> {
        if let Some(kind) = self.asked(name) {
            self.check_asked(name, kind, tally)?;
            return Ok(kind);
        }
        if let Some(kind) = tally.declared {
            return Ok(kind);
        }
        if self.is_damaged(tally) {
            return Err(self.damaged(name, tally, Kind::Numeric));
        }
        let n_present = tally.n_present();
        Ok(match tally {
            _ if n_present == tally.n_numbers => Kind::Numeric,
            _ if n_present == tally.n_booleans => Kind::Boolean,
            _ if tally.words.full || looks_like_text(tally, n_rows) => Kind::Text,
            _ => Kind::Categorical,
        })
    }

    fn check_asked(&self, name: &str, kind: Kind, tally: &ColumnSummary) -> Result<()> {
        let n_fitting = match kind {
            Kind::Numeric => tally.n_numbers,
            Kind::Boolean => tally.n_booleans,
            Kind::Categorical if tally.words.full => {
                return Err(Error::Limit {
                    file: self.file.to_owned(),
                    at: None,
                    what: format!("the number of distinct words in column `{name}`"),
                    limit: self.options.limits.levels as u64,
                    name: "levels",
                });
            }
            Kind::Categorical | Kind::Text if tally.declared != Some(Kind::Sparse) => return Ok(()),
            Kind::Sparse if tally.declared == Some(Kind::Sparse) => return Ok(()),
            _ => {
                return Err(Error::Option {
                    file: self.file.to_owned(),
                    why: format!("column `{name}` cannot be read as {kind}"),
                });
            }
        };
        if n_fitting == tally.n_present() {
            return Ok(());
        }
        if tally.first_other.is_some() {
            return Err(self.damaged(name, tally, kind));
        }
        let found = if kind == Kind::Numeric { "truth values" } else { "numbers" }.to_owned();
        Err(Error::WrongKind {
            file: self.file.to_owned(),
            column: name.to_owned(),
            found,
            expected: kind,
        })
    }

    fn asked(&self, name: &str) -> Option<Kind> {
        self.options.kinds.iter().rev().find(|(n, _)| n == name).map(|(_, kind)| *kind)
    }

    fn is_target(&self, name: &str) -> bool {
        self.options.target.as_deref() == Some(name)
    }

    /// Nearly all numbers, but not all.
    fn is_damaged(&self, tally: &ColumnSummary) -> bool {
        tally.n_others > 0
            && tally.n_numbers >= MIN_NUMBERS
            && tally.n_numbers * 10 >= tally.n_present() * NUMBERS_IN_TEN
    }

    fn damaged(&self, name: &str, tally: &ColumnSummary, expected: Kind) -> Error {
        let (line, found) = tally.first_other.clone().unwrap_or_default();
        Error::Cell {
            file: self.file.to_owned(),
            at: (self.at)(line),
            column: name.to_owned(),
            found,
            expected,
        }
    }
}

fn looks_like_text(tally: &ColumnSummary, n_rows: u64) -> bool {
    let (n_distinct, _) = tally.n_distinct();
    if n_rows <= TEXT_MIN_ROWS || n_distinct * 2 <= n_rows {
        return false;
    }
    let (mut n, mut n_words, mut length) = (0.0, 0.0, 0.0);
    for (word, count) in &tally.words.counts {
        let count = *count as f64;
        n += count;
        n_words +=
            count * word.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count() as f64;
        length += count * word.len() as f64;
    }
    n_words >= TEXT_WORDS * n || length > TEXT_LENGTH * n
}
