//! The report of a table: one entry per column, as JSON, Markdown or a page.

use crate::commands::WithCommand;
use crate::failure::{Failure, Result};
use mercer::data::{Column, ColumnProfile, Kind, Profile, Table, Values};
use mercer::explain::short;
use mercer::preprocess::DroppedColumn;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use std::fmt::Write;

/// Bars of a histogram, and levels that are shown.
const MAX_BARS: usize = 20;

/// The report of a table.
#[derive(Serialize)]
pub struct TableReport<'a> {
    pub data: String,
    pub format: String,
    pub rows: u64,
    pub missing: u64,
    /// The rows that distributions are measured on.
    pub sampled_rows: usize,
    pub target: Option<String>,
    pub columns: Vec<ColumnEntry>,
    pub findings: Vec<WithCommand<'a>>,
}

/// The entry of a column.
#[derive(Serialize)]
pub struct ColumnEntry {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// Why it has this type, where that is not obvious.
    pub reason: Option<String>,
    /// Why `mercer train` drops it.
    pub dropped: Option<String>,
    pub missing: u64,
    pub distinct: String,
    pub range: Option<(String, String)>,
    pub mean: Option<f64>,
    pub median: Option<f64>,
    pub deviation: Option<f64>,
    /// The bars of a histogram, or the most frequent levels: name and fraction.
    pub bars: Vec<(String, f64)>,
}

impl<'a> TableReport<'a> {
    pub fn new(
        (data, format): (&str, String),
        profile: &Profile,
        target: Option<&str>,
        unusable: &[DroppedColumn],
        sample: &Table,
        findings: Vec<WithCommand<'a>>,
    ) -> TableReport<'a> {
        let entry = |column: &ColumnProfile| {
            let dropped = unusable.iter().find(|dropped| dropped.name == column.name);
            let dropped = dropped.map(|dropped| dropped.reason.to_string());
            ColumnEntry::new(column, dropped, sample.column(&column.name))
        };
        TableReport {
            data: data.to_owned(),
            format,
            rows: profile.n_rows,
            missing: profile.columns.iter().map(|c| c.n_missing).sum(),
            sampled_rows: sample.n_rows(),
            target: target.map(str::to_owned),
            columns: profile.columns.iter().map(entry).collect(),
            findings,
        }
    }
}

impl ColumnEntry {
    fn new(
        column: &ColumnProfile,
        dropped: Option<String>,
        values: Option<&Column>,
    ) -> ColumnEntry {
        let shown = |x: f64| column.notation.format(x);
        let mut entry = ColumnEntry {
            name: column.name.clone(),
            kind: column.type_name(),
            reason: column.note.clone(),
            dropped,
            missing: column.n_missing,
            distinct: column.distinct_values(),
            range: match column.kind {
                Kind::Numeric => column.min.map(shown).zip(column.max.map(shown)),
                _ => None,
            },
            mean: None,
            median: None,
            deviation: None,
            bars: Vec::new(),
        };
        match values.map(|column| &column.values) {
            Some(Values::Numeric(x)) => entry.describe_numbers(x, shown),
            Some(Values::Boolean(x)) => {
                let n = x.iter().flatten().count().max(1) as f64;
                let yes = x.iter().flatten().filter(|x| **x).count() as f64;
                entry.bars = vec![("true".into(), yes / n), ("false".into(), 1.0 - yes / n)];
            }
            Some(Values::Categorical { .. }) => entry.bars = level_bars(column),
            _ => {}
        }
        entry
    }

    fn describe_numbers(&mut self, x: &[f64], shown: impl Fn(f64) -> String) {
        let mut x: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
        x.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (x.first().copied(), x.last().copied()) else { return };
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        self.mean = Some(mean);
        self.median = Some(x[x.len() / 2]);
        self.deviation = Some((x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt());
        if low == high {
            return;
        }
        let width = (high - low) / MAX_BARS as f64;
        let mut counts = [0.0; MAX_BARS];
        x.iter().for_each(|x| counts[(((x - low) / width) as usize).min(MAX_BARS - 1)] += 1.0);
        self.bars = counts
            .iter()
            .enumerate()
            .map(|(k, count)| {
                let from = low + width * k as f64;
                (format!("{} to {}", shown(from), shown(from + width)), count / n)
            })
            .collect();
    }
}

/// The most frequent levels with their fractions of all rows.
fn level_bars(column: &ColumnProfile) -> Vec<(String, f64)> {
    let n: u64 = column.level_counts.iter().sum();
    let mut levels: Vec<(&String, &u64)> =
        column.levels.names().iter().zip(&column.level_counts).collect();
    levels.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    levels
        .into_iter()
        .take(MAX_BARS)
        .map(|(level, count)| (level.clone(), *count as f64 / n.max(1) as f64))
        .collect()
}

/// The report as Markdown.
pub fn markdown(report: &TableReport<'_>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    write_markdown(&mut out, report).ok();
    out
}

fn write_markdown(out: &mut String, report: &TableReport<'_>) -> std::fmt::Result {
    let cell = |text: &str| text.replace('|', "\\|");
    writeln!(out, "# {}\n", report.data)?;
    writeln!(
        out,
        "{}: {} rows, {} columns, {} missing values.\n",
        report.format,
        report.rows,
        report.columns.len(),
        report.missing
    )?;
    writeln!(out, "| column | type | missing | distinct | values | remark |")?;
    writeln!(out, "|---|---|---:|---:|---|---|")?;
    for column in &report.columns {
        let values = match &column.range {
            Some((low, high)) => format!("{low} to {high}"),
            None => frequent(column),
        };
        let remark = column.dropped.as_ref().map(|why| format!("dropped: {why}"));
        let remark = remark.or_else(|| column.reason.clone()).unwrap_or_default();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            cell(&column.name),
            column.kind,
            column.missing,
            column.distinct,
            cell(&values),
            cell(&remark)
        )?;
    }
    if !report.findings.is_empty() {
        writeln!(out, "\n## Findings\n")?;
        for finding in &report.findings {
            writeln!(out, "- {}", finding.line())?;
        }
    }
    Ok(())
}

/// The most frequent levels as text.
pub fn frequent(column: &ColumnEntry) -> String {
    let shown = column.bars.iter().take(4);
    let shown = shown.map(|(level, fraction)| format!("{level} ({:.0} %)", 100.0 * fraction));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if column.bars.len() > 4 {
        text += ", …";
    }
    text
}

/// The report as a page.
pub fn html(report: &TableReport<'_>) -> Result<String> {
    let mut environment = Environment::new();
    // Names come from the data and are escaped.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("short", |x: f64| short(x));
    environment
        .render_str(
            include_str!("table_profile.html"),
            context! { r => Serde(report), version => env!("CARGO_PKG_VERSION") },
        )
        .map_err(|e| Failure::Resources(format!("the report page: {e}")))
}
