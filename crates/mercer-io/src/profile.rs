//! The profile of an input: the kind of every column, inferred from all of its cells.
//!
//! A column is boolean or numeric if all its cells are, otherwise categorical, or text if the strings are long and
//! hardly repeat (see [`mercer::train::infer_kind`]). Numbers with separators or units and dates are recognized by
//! their notation ([`mercer::data::NotationCounts`]) and summarized by a second pass. A column of which nearly all
//! cells are numbers is not read as categorical: its first other cell is an error.

use crate::column_summary::{ColumnSummaries, ColumnSummary};
use crate::error::{At, Error, Result};
use crate::options::{ColumnType, Options};
use mercer::data::{ColumnProfile, Kind, Levels, Notation, NotationCounts, Profile, is_boolean};
use mercer::train::{StringTotals, infer_kind, is_code_name, is_free_text};
use std::sync::Arc;

/// Whole numbers in a column of codes are categories if there are at most this many levels.
const MAX_CODES: usize = 100;
/// Spellings of two truth values that are looked at.
const MAX_BOOLEAN_LEVELS: usize = 12;

/// Makes the profile of a file.
pub(crate) struct ProfileBuilder<'a> {
    pub file: &'a str,
    pub options: &'a Options,
    pub at: fn(u64) -> At,
}

impl ProfileBuilder<'_> {
    /// The columns whose levels are needed and were not all collected in the first pass.
    pub fn incomplete(
        &self,
        names: &[String],
        summaries: &ColumnSummaries,
        notations: &[(String, Notation)],
    ) -> Vec<String> {
        names
            .iter()
            .zip(&summaries.columns)
            .filter(|(name, summary)| {
                let strings = summary.n_others + summary.n_booleans > 0
                    && !summary.cell_counts().is_numeric_with_invalid_cells();
                summary.levels.skipped
                    && !summary.levels.full
                    && (strings || self.may_be_codes(name, summary))
                    && !notations.iter().any(|(notated, _)| notated == *name)
                    && !matches!(
                        self.declared_kind(name),
                        Some(Kind::Numeric | Kind::Boolean | Kind::Text)
                    )
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The columns whose cells are not plain numbers, with the notation of nearly all cells. In a file with
    /// semicolons, or with a column that can only have a decimal comma, `1,234` is not a thousand.
    pub fn notations(
        &self,
        names: &[String],
        summaries: &ColumnSummaries,
        semicolons: bool,
    ) -> Vec<(String, Notation)> {
        let columns = || names.iter().zip(&summaries.columns);
        let counts: Vec<NotationCounts> = columns()
            .map(|(name, summary)| match self.may_be_notated(name, summary) {
                true => summary.levels.notations(),
                false => NotationCounts::default(),
            })
            .collect();
        let comma = semicolons || counts.iter().any(NotationCounts::has_decimal_comma);
        columns()
            .zip(&counts)
            .filter_map(|((name, summary), counts)| {
                let notation = match self.declared(name) {
                    Some(ColumnType::Date(None)) => Notation::Date(counts.date_order()?),
                    _ => counts.infer(summary.n_numbers, comma)?,
                };
                let dates = notation.is_date() && self.declared_kind(name) == Some(Kind::Numeric);
                let wanted = !dates || matches!(self.declared(name), Some(ColumnType::Date(_)));
                wanted.then(|| (name.clone(), notation))
            })
            .collect()
    }

    /// Whether the strings of a column may be numbers or dates.
    fn may_be_notated(&self, name: &str, summary: &ColumnSummary) -> bool {
        summary.n_others > 0
            && summary.notation.is_none()
            && matches!(summary.declared, None | Some(Kind::Numeric))
            && !matches!(
                self.declared_kind(name),
                Some(Kind::Categorical | Kind::Boolean | Kind::Text | Kind::Sparse)
            )
    }

    /// Whether whole numbers may be the codes of categories, by the name of the column and their range.
    fn may_be_codes(&self, name: &str, summary: &ColumnSummary) -> bool {
        let range = summary.max - summary.min;
        summary.n_numbers == summary.n_present()
            && summary.integers
            && summary.declared.is_none()
            && summary.notation.is_none()
            // A range of two values is binary, and one of many is rather a number or an identifier.
            && range >= 2.0
            && summary.min >= 0.0
            && summary.max < 1e6
            && !self.is_target(name)
            && self.declared(name).is_none()
            && is_code_name(name)
    }

    /// The profile of all cells.
    pub fn profile(&self, names: &[String], summaries: ColumnSummaries) -> Result<Profile> {
        for name in self.options.types.iter().map(|(name, _)| name).chain(&self.options.target) {
            if !names.contains(name) {
                return Err(Error::missing_column(
                    self.file,
                    name,
                    names.iter().map(String::as_str),
                ));
            }
        }
        let n_rows = summaries.n_rows;
        let columns = names
            .iter()
            .zip(summaries.columns)
            .map(|(name, summary)| self.column(name, summary, n_rows))
            .collect::<Result<_>>()?;
        Ok(Profile { n_rows, columns })
    }

    fn column(&self, name: &str, mut summary: ColumnSummary, n_rows: u64) -> Result<ColumnProfile> {
        let kind = self.kind(name, &mut summary, n_rows)?;
        let (n_distinct, distinct_capped) = summary.n_distinct();
        let mut levels: Vec<(String, u64)> = Vec::new();
        if kind == Kind::Categorical || self.is_target(name) {
            let counts = std::mem::take(&mut summary.levels.counts);
            // Levels were checked to be UTF-8 when they were collected.
            levels = counts
                .into_iter()
                .filter_map(|(level, n)| {
                    String::from_utf8(level.into_vec()).ok().map(|level| (level, n))
                })
                .collect();
            levels.sort_unstable();
        }
        let level_counts = levels.iter().map(|(_, n)| *n).collect();
        let levels = Arc::new(Levels::new(levels.into_iter().map(|(level, _)| level).collect()));
        let numbers = summary.n_numbers > 0;
        if summary.n_present() == 0 && kind != Kind::Sparse {
            summary.note = Some("every value is missing".to_owned());
        }
        let notation = summary.notation.filter(|_| kind == Kind::Numeric).unwrap_or_default();
        Ok(ColumnProfile {
            name: name.to_owned(),
            kind,
            n_missing: summary.n_missing,
            first_missing_line: summary.first_missing,
            levels,
            level_counts,
            n_distinct,
            distinct_capped,
            width: if kind == Kind::Sparse { summary.width as usize } else { 1 },
            first_index: summary.first_index,
            min: numbers.then_some(summary.min),
            max: numbers.then_some(summary.max),
            integers: numbers && summary.integers && !notation.is_date(),
            declared: self.declared(name).is_some(),
            note: summary.note.or_else(|| (!notation.is_plain()).then(|| notation.to_string())),
            notation,
        })
    }

    /// The kind of a column: as declared by the user, as declared by the format, or inferred from its cells.
    fn kind(&self, name: &str, summary: &mut ColumnSummary, n_rows: u64) -> Result<Kind> {
        if let Some(notation) = summary.notation.as_ref().filter(|_| summary.n_others > 0) {
            let (line, found) = summary.first_other.clone().unwrap_or_default();
            return Err(Error::Notation {
                file: self.file.to_owned(),
                at: (self.at)(line),
                column: name.to_owned(),
                found,
                notation: notation.to_string(),
            });
        }
        if let Some(kind) = self.declared_kind(name) {
            self.check_declared(name, kind, summary)?;
            return Ok(kind);
        }
        if summary.notation.is_some() {
            return Ok(Kind::Numeric);
        }
        if let Some(kind) = summary.declared {
            return Ok(kind);
        }
        let n_levels = summary.levels.counts.len();
        if self.may_be_codes(name, summary) && !summary.levels.full && n_levels > 2 {
            if n_levels <= MAX_CODES && n_levels as u64 * 2 <= n_rows {
                summary.note = Some(format!(
                    "whole numbers, named like a code: {n_levels} categories; `--column {name}=numeric` to change"
                ));
                return Ok(Kind::Categorical);
            }
            return Ok(Kind::Numeric);
        }
        if summary.cell_counts().is_numeric_with_invalid_cells() {
            return Err(self.invalid_cell(name, summary, Kind::Numeric));
        }
        if !self.is_target(name) && is_boolean_column(summary) {
            summary.note = Some("several spellings of true and false".to_owned());
            return Ok(Kind::Boolean);
        }
        let full = summary.levels.full;
        let kind = infer_kind(&summary.cell_counts(), || full || is_text(summary, n_rows));
        if kind == Kind::Text && full {
            let limit = self.options.limits.levels;
            summary.note = Some(format!("more than {limit} levels, read as tokens"));
        }
        Ok(kind)
    }

    fn check_declared(&self, name: &str, kind: Kind, summary: &ColumnSummary) -> Result<()> {
        let n_fitting = match kind {
            Kind::Numeric => summary.n_numbers,
            Kind::Boolean => match spells_booleans(summary) {
                true => summary.n_present(),
                false => summary.n_booleans,
            },
            Kind::Categorical if summary.levels.full => {
                return Err(Error::Limit {
                    file: self.file.to_owned(),
                    at: None,
                    what: format!("the number of distinct values in column `{name}`"),
                    limit: self.options.limits.levels as u64,
                    name: "levels",
                });
            }
            Kind::Categorical | Kind::Text if summary.declared != Some(Kind::Sparse) => {
                return Ok(());
            }
            Kind::Sparse if summary.declared == Some(Kind::Sparse) => return Ok(()),
            _ => {
                return Err(Error::Option {
                    file: self.file.to_owned(),
                    why: format!("column `{name}` cannot be read as {kind}"),
                });
            }
        };
        if n_fitting == summary.n_present() {
            return Ok(());
        }
        if summary.first_other.is_some() {
            return Err(self.invalid_cell(name, summary, kind));
        }
        let found =
            if kind == Kind::Numeric { "boolean values" } else { "numeric values" }.to_owned();
        Err(Error::WrongKind {
            file: self.file.to_owned(),
            column: name.to_owned(),
            found,
            expected: kind,
        })
    }

    fn declared(&self, name: &str) -> Option<ColumnType> {
        self.options.types.iter().rev().find(|(n, _)| n == name).map(|(_, of)| *of)
    }

    fn declared_kind(&self, name: &str) -> Option<Kind> {
        self.declared(name).map(ColumnType::kind)
    }

    fn is_target(&self, name: &str) -> bool {
        self.options.target.as_deref() == Some(name)
    }

    fn invalid_cell(&self, name: &str, summary: &ColumnSummary, expected: Kind) -> Error {
        let (line, found) = summary.first_other.clone().unwrap_or_default();
        Error::Cell {
            file: self.file.to_owned(),
            at: (self.at)(line),
            column: name.to_owned(),
            found,
            expected,
        }
    }
}

fn levels(summary: &ColumnSummary) -> impl Iterator<Item = &str> {
    summary.levels.counts.keys().filter_map(|level| std::str::from_utf8(level).ok())
}

/// Whether every cell is one of several spellings of true and false.
fn is_boolean_column(summary: &ColumnSummary) -> bool {
    let few = !summary.levels.skipped
        && !summary.levels.full
        && summary.levels.counts.len() <= MAX_BOOLEAN_LEVELS;
    few && summary.n_others > 0 && is_boolean(levels(summary))
}

/// Whether every cell of a column that the user declares to be boolean is a spelling of true or false.
fn spells_booleans(summary: &ColumnSummary) -> bool {
    let numbers = summary.n_numbers == summary.n_present();
    let zero_or_one = numbers && summary.integers && summary.min >= 0.0 && summary.max <= 1.0;
    let strings = !summary.levels.skipped
        && !summary.levels.full
        && levels(summary).all(|level| mercer::data::parse_boolean(level).is_some());
    summary.n_present() > 0 && (zero_or_one || !numbers && strings)
}

fn is_text(summary: &ColumnSummary, n_rows: u64) -> bool {
    let (n_distinct, _) = summary.n_distinct();
    is_free_text(n_rows, n_distinct, || {
        let mut totals = StringTotals::default();
        for (level, count) in &summary.levels.counts {
            let tokens = level.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
            let count = *count as f64;
            totals.n_strings += count;
            totals.n_tokens += count * tokens.count() as f64;
            totals.length += count * level.len() as f64;
        }
        totals
    })
}
