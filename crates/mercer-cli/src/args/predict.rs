//! The options of the commands that apply a model.

use super::{Reading, parse};
use crate::commands::DecisionOptions;
use clap::{Args as Group, ValueHint};
use std::path::PathBuf;

/// Predict the rows of a table with a saved model.
///
/// Writes CSV with one line per row, in order. Columns are matched by name.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer predict penguins.mercer new.csv --proba > predictions.csv
  cat new.csv | mercer predict penguins.mercer - --density
  mercer predict mail.mercer new.csv --cost costs.csv --reject 0.2 --prior spam=0.8
  mercer predict prices.mercer new.csv --interval 0.95
  mercer predict penguins.mercer new.csv --sets 0.9    # the classes that are plausible at 90 %
  mercer predict churn.mercer new.csv --keep customer_id --proba > predictions.csv
  mercer predict lda.mercer new.csv --projection
  mercer predict mail.mercer letter.eml
  tail -f log | mercer predict mail.mercer - --format lines")]
pub struct Predict {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Add the posterior probability of every class
    #[arg(long)]
    pub proba: bool,
    /// Add the log density log p(row); outliers have very small values
    #[arg(long)]
    pub density: bool,
    /// Add the coordinates along the discriminant axes (Fisher's projection), for lda
    #[arg(long)]
    pub projection: bool,
    /// Add a column that marks outliers: rows whose log density is below that of this fraction of the
    /// held-out training rows
    #[arg(long, value_parser = parse::fraction, value_name = "FRACTION")]
    pub outliers: Option<f64>,
    /// Compute the outlier threshold from this table instead of the training rows, as for a model that was
    /// trained without cross-validation
    #[arg(long, requires = "outliers")]
    pub outliers_here: bool,
    #[command(flatten)]
    pub decision: DecisionOptions,
    /// Add the bounds of a prediction interval with this coverage probability: the posterior predictive interval of
    /// estimators that have one, and a conformal interval from the cross-validation of the training rows of others
    #[arg(long, value_name = "LEVEL", value_parser = parse::level)]
    pub interval: Option<f64>,
    /// With --interval: a conformal interval even if the estimator has a posterior predictive one. Its coverage does not
    /// rest on the assumptions of the estimator
    #[arg(long, requires = "interval")]
    pub conformal: bool,
    /// Add the classes of a conformal prediction set, separated by |, that contains the true class with at least this
    /// probability; from the cross-validation of the training rows
    #[arg(long, value_name = "LEVEL", value_parser = parse::level)]
    pub sets: Option<f64>,
    /// Copy this column of the table to the predictions, in front of them (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub keep: Vec<String>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Evaluate a saved model on a table with the target.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer evaluate penguins.mercer test.csv --json
  mercer evaluate mail.mercer test.csv --cost costs.csv --reject 0.2 --prior spam=0.8")]
pub struct Evaluate {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Column with the sample weight of each row, a finite number of at least 0: a row of weight 2 counts as two rows
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    #[command(flatten)]
    pub decision: DecisionOptions,
    #[command(flatten)]
    pub reading: Reading,
}

/// Store a cost matrix, a reject option or new class priors in a model.
///
/// `predict` and `evaluate` then decide by them; their own options override them for one run.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer decide mail.mercer --cost costs.csv --reject 0.2 --prior spam=0.8 --out mail.mercer
  mercer decide mail.mercer --forget --out plain.mercer")]
pub struct Decide {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub decision: DecisionOptions,
    /// Remove the stored decision rule first: without other options the most probable class is predicted
    /// again
    #[arg(long)]
    pub forget: bool,
    /// Model file to write
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

/// Explain the prediction of one row, with the contribution of every feature.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer explain penguins.mercer penguins.csv --row 3
  mercer explain mail.mercer letter.eml --html why.html")]
pub struct Explain {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Row to explain, counted from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub row: u64,
    /// Also write an HTML page that highlights the tokens by their contribution
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Sample new rows from a generative model, as a table.
///
/// For models with a density over rows: a class is drawn from the prior, then a value for every column.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer sample penguins.mercer --rows 100 > sampled.csv
  mercer sample penguins.mercer --class Gentoo > gentoos.csv")]
pub struct Sample {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Number of rows
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    pub rows: u64,
    /// Class of all rows [default: drawn from the priors]
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// Random seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}
