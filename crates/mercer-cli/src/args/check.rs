//! The options of `mercer check` and `mercer profile`.

use super::{Reading, parse};
use clap::{Args as Group, ValueHint};
use mercer::train::SupervisedTask;
use mercer::train::checks::Check;
use std::path::PathBuf;

/// The findings that are not reported.
#[derive(Group)]
pub struct IgnoredChecks {
    /// Do not report this check, by its code such as MRC004 (may repeat); `--ignore` drops a column instead
    #[arg(long = "ignore-check", value_name = "CODE")]
    pub codes: Vec<Check>,
}

/// Check a table, or a new table against a model: leaks, duplicates, imbalance, identifiers, drift and more.
///
/// Every finding has a code, what was measured, the columns and rows that show it, and a remedy. The codes are
/// explained in docs/checks. `mercer train` runs the same checks.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer check churn.csv --target churned
  mercer check churn.csv --target churned --ignore-check MRC006
  mercer check new.csv churn.mercer                # drift against the training data of a model")]
pub struct CheckArgs {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Model file: compares the table with the training data of the model
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: Option<PathBuf>,
    /// Target column
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// What to learn [default: inferred from the target]
    #[arg(long, value_parser = parse::task, value_name = "classification|regression")]
    pub task: Option<SupervisedTask>,
    /// Leave a column out (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    #[command(flatten)]
    pub ignored: IgnoredChecks,
    #[command(flatten)]
    pub reading: Reading,
}

/// Describe the columns of a table: types and why, missing values, distributions, findings.
///
/// Reads the table as a stream; distributions are those of at most 50,000 random rows.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer profile churn.csv
  mercer profile churn.csv --target churned --out churn-profile.html
  mercer profile churn.csv --out churn.md
  mercer profile churn.csv --json > churn.json")]
pub struct ProfileArgs {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Target column, to check the table for learning it
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Report to write, as .html, .md or .json [default: text on standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub ignored: IgnoredChecks,
    #[command(flatten)]
    pub reading: Reading,
}
