//! The options of the commands about estimators and model files.

use super::{Reading, parse};
use clap::{Args as Group, ValueHint};
use std::path::PathBuf;

/// Show the contents of a model file as text or as plots.
///
/// Linear models, discriminants and support vector machines with a linear kernel list their weights w and intercepts
/// b, ridge regression the posterior covariance of its coefficients, linear discriminant analysis Fisher's projection.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer inspect penguins.mercer
  mercer inspect lda.mercer --sort     # weights and intercepts of the classes, Fisher's projection
  mercer inspect penguins.mercer --plot densities.svg         # class-conditional densities per column
  mercer inspect digits.mercer --image 28x28 --plot digits.png   # columns that are pixels")]
pub struct Inspect {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Plot the class-conditional distributions, as .svg, .png or .html
    #[arg(long, short = 'o', visible_alias = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// The columns are the pixels of an image of this size, row by row: plot the mean and the standard
    /// deviation, or the probability, of every class as an image
    #[arg(long, requires = "plot", value_parser = parse::image, value_name = "ROWSxCOLUMNS")]
    pub image: Option<(usize, usize)>,
    /// Plot only this column (may repeat)
    #[arg(long = "column", requires = "plot", conflicts_with = "image", value_name = "NAME")]
    pub columns: Vec<String>,
    /// Sort the coefficients of linear functions by their magnitude
    #[arg(long)]
    pub sort: bool,
}

/// List the estimators, or describe one with its parameters.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer models gaussian-nb")]
pub struct Models {
    /// Estimator
    pub id: Option<String>,
}

/// Merge models into the model of all their training rows.
///
/// The result equals a fit to the concatenated tables.
#[derive(Group)]
#[command(after_help = "\
Example:
  mercer train monday.csv --target y --out monday.mercer
  mercer train tuesday.csv --target y --like monday.mercer --out tuesday.mercer
  mercer merge monday.mercer tuesday.mercer --out week.mercer")]
pub struct Merge {
    /// Model files
    #[arg(required = true, num_args = 2.., value_hint = ValueHint::FilePath)]
    pub models: Vec<PathBuf>,
    /// Model file to write
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

/// Remove training rows from a model.
///
/// The result equals a fit without these rows.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer forget week.mercer withdrawn.csv --out week.mercer")]
pub struct Forget {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Rows to remove, with the target; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Model file to write
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
}

/// Print a completion script for a shell.
#[derive(Group)]
#[command(
    after_help = "Example:\n  mercer completions bash > ~/.local/share/bash-completion/completions/mercer"
)]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell
    pub shell: clap_complete::Shell,
}

/// Write the files that are generated from the catalog.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer generate --check")]
pub struct Generate {
    /// Write nothing; fail if a file is out of date
    #[arg(long)]
    pub check: bool,
}
