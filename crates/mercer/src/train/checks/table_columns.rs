//! Checks of the columns by their profiles: no information, too many levels, mostly missing.

use super::{Check, Finding, Remedy};
use crate::data::{ColumnProfile, Kind, Profile};
use crate::preprocess::DroppedColumn;

/// Levels of a categorical column that are many,
const MIN_LEVELS: usize = 50;
/// if there are more than one for so many rows.
const MAX_ROWS_PER_LEVEL: u64 = 2;
/// Dropped columns that are named.
const MAX_NAMED: usize = 12;
/// Columns with more missing values than this fraction.
const MAX_MISSING: f64 = 0.5;

pub(super) fn check(
    profile: &Profile,
    target: Option<&ColumnProfile>,
    ignore: &[String],
    unusable: &[DroppedColumn],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !unusable.is_empty() {
        let named = unusable.iter().take(MAX_NAMED);
        let reasons: Vec<String> =
            named.map(|column| format!("`{}` ({})", column.name, column.reason)).collect();
        let more = match unusable.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let figure = format!("dropped {}{more}", reasons.join(", "));
        let mut remedy =
            Remedy::new("nothing needs to be done; ignoring them silences this finding");
        for column in unusable.iter().take(MAX_NAMED) {
            remedy = remedy.option("--ignore", column.name.clone());
        }
        let finding = Finding::new(Check::UnusableColumns, figure, remedy);
        findings.push(finding.columns(unusable.iter().map(|c| c.name.clone()).collect()));
    }
    let used = |c: &&ColumnProfile| {
        target.is_none_or(|target| target.name != c.name)
            && !ignore.contains(&c.name)
            && !unusable.iter().any(|column| column.name == c.name)
    };
    for column in profile.columns.iter().filter(used) {
        findings.extend(cardinality(column, profile.n_rows));
        findings.extend(missing(column, profile.n_rows));
    }
    findings
}

fn cardinality(column: &ColumnProfile, n_rows: u64) -> Option<Finding> {
    let n = column.levels.len();
    let many = n > MIN_LEVELS && n as u64 * MAX_ROWS_PER_LEVEL > n_rows;
    if column.kind != Kind::Categorical || !many {
        return None;
    }
    let figure = format!(
        "`{}` has {n} levels in {n_rows} rows; most levels occur once and tell nothing about new rows",
        column.name
    );
    let remedy = Remedy::new("drop it, or read its tokens as text (`--column NAME=text`)")
        .option("--ignore", column.name.clone());
    Some(Finding::new(Check::HighCardinality, figure, remedy).columns(vec![column.name.clone()]))
}

fn missing(column: &ColumnProfile, n_rows: u64) -> Option<Finding> {
    let fraction = column.n_missing as f64 / n_rows.max(1) as f64;
    if fraction <= MAX_MISSING {
        return None;
    }
    let figure = format!("`{}` is missing in {:.0} % of the rows", column.name, 100.0 * fraction);
    let remedy = Remedy::new("drop it, unless that it is missing tells something about the target")
        .option("--ignore", column.name.clone());
    Some(Finding::new(Check::MostlyMissing, figure, remedy).columns(vec![column.name.clone()]))
}
