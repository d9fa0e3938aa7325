//! The profile of an input: the kind of every column, inferred from all of its cells.
//!
//! A column is boolean or numeric if all its cells are, otherwise categorical, or text if the strings are long and
//! hardly repeat (see [`mercer::train::infer_kind`]). A column of which nearly all cells are numbers is not read as
//! categorical: its first other cell is an error.

use crate::column_summary::{ColumnSummaries, ColumnSummary};
use crate::error::{At, Error, Result};
use crate::options::Options;
use mercer::data::{ColumnProfile, Kind, Levels, Profile};
use mercer::train::{StringTotals, infer_kind, is_free_text};
use std::sync::Arc;

/// Makes the profile of a file.
pub(crate) struct ProfileBuilder<'a> {
    pub file: &'a str,
    pub options: &'a Options,
    pub at: fn(u64) -> At,
}

impl ProfileBuilder<'_> {
    /// The columns whose levels are needed and were not all collected in the first pass.
    pub fn incomplete(&self, names: &[String], summaries: &ColumnSummaries) -> Vec<String> {
        names
            .iter()
            .zip(&summaries.columns)
            .filter(|(name, summary)| {
                summary.levels.skipped
                    && !summary.levels.full
                    && summary.n_others + summary.n_booleans > 0
                    && !summary.cell_counts().is_numeric_with_invalid_cells()
                    && !matches!(
                        self.declared(name),
                        Some(Kind::Numeric | Kind::Boolean | Kind::Text)
                    )
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The profile of all cells.
    pub fn profile(&self, names: &[String], summaries: ColumnSummaries) -> Result<Profile> {
        for name in self.options.kinds.iter().map(|(name, _)| name).chain(&self.options.target) {
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
        let kind = self.kind(name, &summary, n_rows)?;
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
            integers: numbers && summary.integers,
            note: summary.note,
        })
    }

    /// The kind of a column: as declared by the user, as declared by the format, or inferred from its cells.
    fn kind(&self, name: &str, summary: &ColumnSummary, n_rows: u64) -> Result<Kind> {
        if let Some(kind) = self.declared(name) {
            self.check_declared(name, kind, summary)?;
            return Ok(kind);
        }
        if let Some(kind) = summary.declared {
            return Ok(kind);
        }
        if summary.cell_counts().is_numeric_with_invalid_cells() {
            return Err(self.invalid_cell(name, summary, Kind::Numeric));
        }
        Ok(infer_kind(&summary.cell_counts(), || summary.levels.full || is_text(summary, n_rows)))
    }

    fn check_declared(&self, name: &str, kind: Kind, summary: &ColumnSummary) -> Result<()> {
        let n_fitting = match kind {
            Kind::Numeric => summary.n_numbers,
            Kind::Boolean => summary.n_booleans,
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

    fn declared(&self, name: &str) -> Option<Kind> {
        self.options.kinds.iter().rev().find(|(n, _)| n == name).map(|(_, kind)| *kind)
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
