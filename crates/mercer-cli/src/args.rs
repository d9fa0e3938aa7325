//! The command line, declared.

use crate::commands::{Bayes, DecisionOptions, Kernel};
use clap::{ArgGroup, Args as Group, Parser, Subcommand, ValueHint};
use mercer::data::Kind;
use mercer_io::Format;
use std::path::PathBuf;
use std::time::Duration;

/// Learn from a table, predict, and show the work.
///
/// Probabilistic and maximum-margin learners with a certificate for every fit.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "\
Example:
  mercer train examples/data/penguins.csv --target species
  mercer predict penguins.mercer new.csv --proba > predictions.csv

Exit codes: 0 done, 2 usage, 3 data, 4 model file, 5 resources, 6 not converged (--strict),
130 interrupted."
)]
pub struct Args {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Group)]
pub struct Common {
    /// Print results as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Threads to use; 0 takes every core. The results are the same bits either way
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Refuse work that would take more memory than this (e.g. 500M, 4G)
    #[arg(long, global = true, value_parser = bytes, value_name = "SIZE")]
    pub memory: Option<u64>,
    /// Stop after this long (e.g. 30s, 5m) and keep what was learned, marked as cut short
    #[arg(long, global = true, value_parser = duration, value_name = "TIME")]
    pub time_limit: Option<Duration>,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    Train(Box<Train>),
    Predict(Predict),
    Evaluate(Evaluate),
    Compare(Compare),
    Decide(Decide),
    Explain(Explain),
    Bayes(Bayes),
    Inspect(Inspect),
    Kernel(Kernel),
    Models(Models),
    Merge(Merge),
    Forget(Forget),
    Sample(Sample),
    Completions(Completions),
    #[command(hide = true)]
    Generate(Generate),
}

/// How to read a table.
#[derive(Group)]
pub struct Reading {
    /// The format, if its name and contents do not tell: csv, jsonl, svmlight, parquet, arrow, text
    /// (the file is one text), lines (a text a line), mail (.eml), mailbox (.mbox)
    #[arg(long, value_parser = format, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// What separates fields; guessed and said aloud if not given
    #[arg(long, value_parser = delimiter, value_name = "CHAR")]
    pub delimiter: Option<u8>,
    /// The first line is data; columns are called column_1, column_2, …
    #[arg(long)]
    pub no_header: bool,
    /// Quotes are letters like any other, as in many tables with tabs between the fields
    #[arg(long)]
    pub no_quotes: bool,
    /// A word that stands for a missing value, besides the usual ones (may repeat)
    #[arg(long, value_name = "WORD")]
    pub missing: Vec<String>,
    /// What a column holds: numeric, categorical, boolean or text (may repeat)
    #[arg(long = "column", value_parser = column, value_name = "NAME=KIND")]
    pub columns: Vec<(String, Kind)>,
}

/// Learn from a table and save the model.
///
/// Prints what was read, the certificate of the fit and a cross-validated report, and saves the
/// model and a page with pictures.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer train penguins.csv --target species
  mercer train penguins.csv --target species --model gaussian-nb --set var_smoothing=1e-6
  mercer train tax.csv --target evade --likelihood taxable_income=gaussian
  mercer train mail.tsv --target label --text body
  mercer train 20news/                        # a folder of texts a class
  mercer train mail.tsv --target label --text body --prepare text=tf-idf --prepare ngrams=1-2
  mercer train big.tsv --target label --text body --model sgd \
      --prepare hash=2^20 --prepare hash-sign=alternate --prepare norm=l2   # as a HashingVectorizer
  mercer train data.svm                       # svmlight files carry their labels
  mercer train data.csv --target y --model logistic --features rff:1000
  mercer train data.csv --model one-class-svm --set nu=0.05   # rows alone: no target
  mercer train data.csv --model kernel-pca --set kernel=rbf --set n_components=2   # predict tells components
  mercer train mail.csv --target spam --unlabeled     # empty cells of spam are learned from too
  mercer train mail.csv --target spam --cost costs.csv --reject 0.2   # kept in the model
  zcat big.csv.gz | mercer train - --target y --out big.mercer")]
pub struct Train {
    /// The table: CSV, TSV, Parquet, Arrow, JSON lines or svmlight, plain or compressed, or a folder
    /// with a folder of texts or mails (.eml, .mbox) for every class; `-` is standard input
    #[arg(value_hint = ValueHint::AnyPath)]
    pub data: String,
    /// The column to learn; estimators that learn from rows alone leave it out
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Learn from the words of this column of text, and from no other column (may repeat)
    #[arg(long = "text", value_name = "COLUMN")]
    pub texts: Vec<String>,
    /// The estimator; see `mercer models`. Without it one is chosen and the reason told
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// A parameter of the estimator (may repeat)
    #[arg(long = "set", value_parser = key_value, value_name = "KEY=VALUE")]
    pub settings: Vec<(String, String)>,
    /// What a column is like within a class, for mixed-nb: auto, gaussian, kernel, equal-width,
    /// equal-frequency, entropy, split, poisson, exponential, categorical, bernoulli, multinomial
    /// (may repeat; other columns are auto)
    #[arg(long = "likelihood", value_parser = key_value, value_name = "COLUMN=WORD")]
    pub likelihoods: Vec<(String, String)>,
    /// Prepare columns: impute=mean|median|NUMBER, scale=standard|min-max,
    /// bins=equal-width:N|equal-frequency:N, words=indicators|ignore (may repeat). For columns of
    /// text: text=counts|binary|tf-idf|lecture, or in parts tf=count|log|frequency|binary,
    /// idf=none|smooth|plain|information|information-plus-one, norm=none|l1|l2; ngrams=1-2,
    /// terms=words|unicode-words|characters|characters-in-words, pattern=REGEX, case=keep,
    /// accents=ascii|unicode, stop-words=english|LIST, stem=LANGUAGE, min-df=2, max-df=0.5,
    /// max-terms=N; hash=N or hash=2^K (no vocabulary: bounded memory whatever the texts),
    /// hash-sign=alternate (half of the hashed words count negative, so that words in one column cancel on
    /// average; not for naive Bayes)
    #[arg(long, value_name = "STEP")]
    pub prepare: Vec<String>,
    /// Send the prepared columns through a kernel map, kept in the model: rff:N (random Fourier
    /// features), nystroem:N, sketch:N:DEGREE, chi2 or poly:DEGREE; behind commas, parameters of the map
    /// (nystroem:500,kernel=laplacian); rff:error=0.05 or nystroem:error=0.01 for as many columns as such an
    /// error takes. Numbers are standardized before, unless --prepare scales them
    #[arg(long, value_name = "MAP")]
    pub features: Option<String>,
    /// Leave a column out (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Use the estimator, columns, levels and classes of another model, so that the two can be merged
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath, conflicts_with_all = ["prepare", "ignore", "features"])]
    pub like: Option<PathBuf>,
    #[command(flatten)]
    pub partly: SemiSupervised,
    #[command(flatten)]
    pub deciding: DecisionOptions,
    /// Folds of the cross-validation; 0 skips it
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=100), value_name = "N")]
    pub folds: u16,
    /// What the folds are drawn by
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Where to save the model [default: the table's name with .mercer]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Where to save the page with pictures [default: beside the model, with .html]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Do not write the page
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
    /// On Ctrl-C, save what was learned until then, marked as cut short
    #[arg(long)]
    pub keep_best: bool,
    /// Fail with exit code 6 if the fit was cut short
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Rows without a class.
#[derive(Group)]
#[command(group(ArgGroup::new("without_class").args(["unlabeled", "unlabeled_data"]).multiple(true)))]
pub struct SemiSupervised {
    /// Learn from rows whose target is missing too: each counts in every class by how probable the
    /// class is, round after round, until the likelihood no longer changes (expectation maximization)
    #[arg(long, visible_alias = "unlabelled", help_heading = "Rows without a class")]
    pub unlabeled: bool,
    /// Learn from all rows of another table with the same columns, which needs no target; words of
    /// texts and levels that only it has are not learned
    #[arg(long, visible_alias = "unlabelled-data", help_heading = "Rows without a class", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub unlabeled_data: Option<String>,
    /// How much a row without a class counts beside one with a class
    #[arg(long, help_heading = "Rows without a class", default_value_t = 1.0, requires = "without_class", value_parser = at_least_zero, value_name = "WEIGHT")]
    pub unlabeled_weight: f64,
    /// The rounds end when the likelihood changes by less than this share of itself
    #[arg(long, help_heading = "Rows without a class", default_value_t = 1e-6, requires = "without_class", value_parser = at_least_zero, value_name = "SHARE")]
    pub unlabeled_tolerance: f64,
    /// Rounds at most
    #[arg(long, help_heading = "Rows without a class", default_value_t = 100, requires = "without_class", value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub unlabeled_rounds: u64,
}

/// Predict the rows of a table with a saved model.
///
/// Writes CSV: one line a row, in order. Columns are matched by name.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer predict penguins.mercer new.csv --proba > predictions.csv
  cat new.csv | mercer predict penguins.mercer - --density
  mercer predict mail.mercer new.csv --cost costs.csv --reject 0.2 --prior spam=0.8
  mercer predict prices.mercer new.csv --interval 0.95
  mercer predict mail.mercer letter.eml
  tail -f log | mercer predict mail.mercer - --format lines")]
pub struct Predict {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Add the probability of every class
    #[arg(long)]
    pub proba: bool,
    /// Add log p(row): rows unlike anything learned have very small values
    #[arg(long)]
    pub density: bool,
    /// Add a column that says which rows are outliers: rows with a log p(row) that only this share of
    /// the rows learned from, held out in turn, are below
    #[arg(long, value_parser = share, value_name = "SHARE")]
    pub outliers: Option<f64>,
    /// Take the share from the rows of this very table instead, as for a model that was trained
    /// without folds
    #[arg(long, requires = "outliers")]
    pub outliers_here: bool,
    #[command(flatten)]
    pub deciding: DecisionOptions,
    /// Add the ends of an interval that holds the number with this probability
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub interval: Option<f64>,
    /// Write here instead of standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Judge a saved model on a table that has the target.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer evaluate penguins.mercer test.csv --json
  mercer evaluate mail.mercer test.csv --cost costs.csv --reject 0.2 --prior spam=0.8")]
pub struct Evaluate {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    #[command(flatten)]
    pub deciding: DecisionOptions,
    #[command(flatten)]
    pub reading: Reading,
}

/// Compare estimators on the same folds of a table.
///
/// Every estimator learns the rows of all folds but one and judges the rows of that one, so that every row is
/// judged once; the folds are the same for all of them. With one column of numbers the picture shows the
/// posteriors over the rows, with two the borders between the classes.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer compare iris.csv --target species --models lda,logistic,perceptron
  mercer compare iris.csv --target species --use petal_length --models lda,logistic --plot sigmoids.svg
  mercer compare iris.csv --target species --models lda,logistic --set logistic.C=10")]
pub struct Compare {
    /// The table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// The column to learn
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// The estimators, with commas between; see `mercer models`
    #[arg(long, required = true, value_delimiter = ',', value_name = "ID,ID")]
    pub models: Vec<String>,
    /// A parameter of one of them (may repeat)
    #[arg(long = "set", value_parser = key_value, value_name = "ID.KEY=VALUE")]
    pub settings: Vec<(String, String)>,
    /// Learn from this column and no other (may repeat)
    #[arg(long = "use", value_name = "COLUMN")]
    pub used: Vec<String>,
    /// Prepare columns, as in `mercer train` (may repeat)
    #[arg(long, value_name = "STEP")]
    pub prepare: Vec<String>,
    /// Leave a column out (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Folds of the cross-validation
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=100), value_name = "N")]
    pub folds: u16,
    /// What the folds are drawn by
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Draw the models of all rows, to a file that ends in .svg, .png or .html
    #[arg(long, short = 'o', visible_alias = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Store in a model what wrong answers cost, when to give none, and new priors.
///
/// `predict` and `evaluate` then decide so; their own flags change it for one run.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer decide mail.mercer --cost costs.csv --reject 0.2 --prior spam=0.8 --out mail.mercer
  mercer decide mail.mercer --forget --out plain.mercer")]
pub struct Decide {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub deciding: DecisionOptions,
    /// Take out what was stored before: answers are the most probable class again, unless other flags
    /// say more
    #[arg(long)]
    pub forget: bool,
    /// Where to save the model
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

/// Tell why a row gets its class or number, step by step.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer explain penguins.mercer penguins.csv --row 3
  mercer explain mail.mercer letter.eml --html why.html")]
pub struct Explain {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Which row, counted from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub row: u64,
    /// Also write a page that shows the text with the words that decided marked
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Show what is inside a model file, as words or as pictures.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer inspect penguins.mercer
  mercer inspect penguins.mercer --plot curves.svg            # one curve a class and column
  mercer inspect digits.mercer --image 28x28 --plot digits.png   # columns that are pixels")]
pub struct Inspect {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Draw what the classes look like, to a file that ends in .svg, .png or .html
    #[arg(long, short = 'o', visible_alias = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// The columns are the pixels of an image of so many rows and columns, row by row: draw the mean
    /// and the deviation, or the probability, of every class as an image
    #[arg(long, requires = "plot", value_parser = image, value_name = "ROWSxCOLUMNS")]
    pub image: Option<(usize, usize)>,
    /// Draw these columns only (may repeat)
    #[arg(long = "column", requires = "plot", conflicts_with = "image", value_name = "NAME")]
    pub columns: Vec<String>,
}

/// List the estimators, or show one with its parameters.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer models gaussian-nb")]
pub struct Models {
    /// The estimator
    pub id: Option<String>,
}

/// Make one model of several, as if it had learned all their rows.
#[derive(Group)]
#[command(after_help = "\
Example:
  mercer train monday.csv --target y --out monday.mercer
  mercer train tuesday.csv --target y --like monday.mercer --out tuesday.mercer
  mercer merge monday.mercer tuesday.mercer --out week.mercer")]
pub struct Merge {
    /// The model files
    #[arg(required = true, num_args = 2.., value_hint = ValueHint::FilePath)]
    pub models: Vec<PathBuf>,
    /// Where to save the merged model
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

/// Take rows back out of a model, as if it had never learned them.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer forget week.mercer withdrawn.csv --out week.mercer")]
pub struct Forget {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The rows to forget, with the target; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Where to save the model without them
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
}

/// Draw new rows from what a model learned, as a table.
///
/// For models with a density over rows: a class by its prior, then a value for every column.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer sample penguins.mercer --rows 100 > invented.csv")]
pub struct Sample {
    /// The model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// How many rows
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    pub rows: u64,
    /// What the rows are drawn by
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Write here instead of standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
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

/// Write the files that are made from the catalog.
#[derive(Group)]
#[command(after_help = "Example:\n  mercer generate --check")]
pub struct Generate {
    /// Write nothing; fail if a file is not what it would be
    #[arg(long)]
    pub check: bool,
}

fn share(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it is a share between 0 and 1".into()),
    }
}

fn key_value(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it as KEY=VALUE".into()),
    }
}

fn column(word: &str) -> Result<(String, Kind), String> {
    // The name may hold an equals sign, the kind cannot.
    let (name, kind) = word.rsplit_once('=').ok_or("write it as NAME=KIND")?;
    let kind = match kind {
        "numeric" => Kind::Numeric,
        "categorical" => Kind::Categorical,
        "boolean" => Kind::Boolean,
        "text" => Kind::Text,
        _ => return Err("the kinds are numeric, categorical, boolean and text".into()),
    };
    Ok((name.to_owned(), kind))
}

fn format(word: &str) -> Result<Format, String> {
    match word {
        "csv" | "tsv" => Ok(Format::Csv),
        "jsonl" | "ndjson" => Ok(Format::JsonLines),
        "svmlight" | "libsvm" => Ok(Format::Svmlight),
        "parquet" => Ok(Format::Parquet),
        "arrow" | "feather" => Ok(Format::Arrow),
        "text" => Ok(Format::Text),
        "lines" => Ok(Format::Lines),
        "mail" | "eml" => Ok(Format::Mail),
        "mailbox" | "mbox" => Ok(Format::Mailbox),
        _ => Err("the formats are csv, jsonl, svmlight, parquet, arrow, text, lines, mail and \
                  mailbox"
            .into()),
    }
}

fn delimiter(word: &str) -> Result<u8, String> {
    match word.as_bytes() {
        [byte] => Ok(*byte),
        _ if word == "\\t" || word == "tab" => Ok(b'\t'),
        _ => Err("it is one character, or `tab`".into()),
    }
}

fn at_least_zero(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("it is a number of at least 0".into()),
    }
}

/// `28x28`.
fn image(word: &str) -> Result<(usize, usize), String> {
    let parsed = word.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match parsed {
        Some((rows, columns)) if rows > 0 && columns > 0 => Ok((rows, columns)),
        _ => Err("write it like 28x28".into()),
    }
}

/// A probability strictly between zero and one.
fn level(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("it is a number between 0 and 1, like 0.95".into()),
    }
}

/// `4G`, `500M`, `64k`, `1000`.
fn bytes(word: &str) -> Result<u64, String> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        _ => return Err("write it like 500M or 4G".into()),
    };
    let number: f64 = digits.parse().map_err(|_| "write it like 500M or 4G")?;
    let bytes = number * unit as f64;
    if bytes.is_finite() && bytes >= 1.0 {
        Ok(bytes as u64)
    } else {
        Err("it must be above zero".into())
    }
}

/// `90`, `90s`, `5m`, `1.5h`, `200ms`.
fn duration(word: &str) -> Result<Duration, String> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &word[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("write it like 30s, 5m or 2h".into()),
    };
    let number: f64 = digits.parse().map_err(|_| "write it like 30s, 5m or 2h")?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| "it must be zero or more".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &mut clap::Command) {
            // The command that clap adds to every group needs none.
            for command in command.get_subcommands_mut().filter(|c| c.get_name() != "help") {
                let help = command.render_long_help().to_string();
                assert!(help.contains("Example"), "{} shows no example", command.get_name());
                check(command);
            }
        }
        check(&mut Args::command());
    }

    #[test]
    fn sizes_and_times_read_as_people_write_them() {
        assert_eq!(bytes("1.5k"), Ok(1536));
        assert_eq!(bytes("300M"), Ok(300 << 20));
        assert!(bytes("lots").is_err() && bytes("-1G").is_err());
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("soon").is_err() && duration("-1").is_err());
    }
}
