//! The command line: the global options here, the options of each command in the other files.

mod check;
mod files;
mod folds;
mod learn;
mod parse;
mod plot;
mod predict;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod studio;
mod tune;

pub use check::{CheckArgs, IgnoredChecks, ProfileArgs};
pub use files::{Completions, Forget, Generate, Inspect, Merge, Models};
pub use folds::FoldOptions;
pub use learn::{Compare, SemiSupervised, Train};
pub use plot::{Plot, PlotKind};
pub use predict::{Decide, Evaluate, Explain, Predict, Sample};
#[cfg(feature = "serve")]
pub use serve::Serve;
#[cfg(feature = "serve")]
pub use studio::Studio;
pub use tune::{SearchKind, Tune};

use crate::commands::{Bayes, Hyperplane, Kernel};
use clap::{Args as Group, Parser, Subcommand};
use mercer_io::{ColumnType, Format};
use std::time::Duration;

/// Machine learning for tables and text: train, predict, evaluate and explain.
///
/// Classical estimators (naive Bayes, discriminant analysis, linear models, support vector machines, neural
/// networks); every fit comes with a certificate of convergence.
#[derive(Parser)]
#[command(
    name = "mercer",
    version,
    max_term_width = 100,
    after_help = "\
Example:
  mercer train examples/data/penguins.csv --target species
  mercer predict penguins.mercer new.csv --proba > predictions.csv

Exit codes: 0 success, 2 usage, 3 data, 4 model file, 5 resources, 6 not converged (--strict),
130 interrupted."
)]
pub struct Args {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// The options of every command.
#[derive(Group)]
pub struct Common {
    /// Print results as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no messages and no reports of fits; requested data and errors are still printed
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Replace existing files even if they are no models, reports or plots
    #[arg(long, global = true)]
    pub force: bool,
    /// Number of threads; 0 uses every core. Results do not depend on it
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Memory limit (e.g. 500M, 4G); a fit that needs more is refused
    #[arg(long, global = true, value_parser = parse::bytes, value_name = "SIZE")]
    pub memory: Option<u64>,
    /// Time limit (e.g. 30s, 5m); a fit that reaches it returns its current model, marked as not converged
    #[arg(long, global = true, value_parser = parse::duration, value_name = "TIME")]
    pub time_limit: Option<Duration>,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    Train(Box<Train>),
    Predict(Predict),
    Evaluate(Evaluate),
    Compare(Compare),
    Tune(Tune),
    Check(CheckArgs),
    Profile(ProfileArgs),
    Decide(Decide),
    Explain(Explain),
    Bayes(Bayes),
    Inspect(Inspect),
    Plot(Plot),
    Hyperplane(Hyperplane),
    Kernel(Kernel),
    Models(Models),
    Merge(Merge),
    Forget(Forget),
    Sample(Sample),
    #[cfg(feature = "serve")]
    Serve(Serve),
    #[cfg(feature = "serve")]
    Studio(Studio),
    Completions(Completions),
    #[command(hide = true)]
    Generate(Generate),
}

/// How to read a table.
#[derive(Group)]
pub struct Reading {
    /// File format, if the name and the contents do not determine it: csv, jsonl, svmlight, parquet, arrow,
    /// text (the file is one document), lines (one document per line), mail (.eml), mailbox (.mbox)
    #[arg(long, value_parser = parse::format, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Field delimiter of a CSV file [default: inferred and reported]
    #[arg(long, value_parser = parse::delimiter, value_name = "CHAR")]
    pub delimiter: Option<u8>,
    /// The file has no header line; the columns are named column_1, column_2, …
    #[arg(long)]
    pub no_header: bool,
    /// Read quotation marks as ordinary characters, as in many tab-separated files
    #[arg(long)]
    pub no_quotes: bool,
    /// String that marks a missing value, besides the usual ones (empty, NA, NaN, ?, …; may repeat)
    #[arg(long, value_name = "STRING")]
    pub missing: Vec<String>,
    /// Type of a column: numeric, categorical, boolean, text or date; numeric:comma and numeric:point set the decimal
    /// separator, date:ymd, date:dmy and date:mdy the order. A column with a declared type is never dropped (may
    /// repeat) [default: inferred and reported]
    #[arg(long = "column", value_parser = parse::column, value_name = "NAME=TYPE")]
    pub columns: Vec<(String, ColumnType)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_valid() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &mut clap::Command) {
            // The `help` command that clap adds to every group needs none.
            for command in command.get_subcommands_mut().filter(|c| c.get_name() != "help") {
                let help = command.render_long_help().to_string();
                assert!(help.contains("Example"), "{} shows no example", command.get_name());
                check(command);
            }
        }
        check(&mut Args::command());
    }
}
