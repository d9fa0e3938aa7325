//! The options of `mercer tune`.

use super::{FoldOptions, Reading, parse};
use clap::{Args as Group, ValueHint};
use mercer::train::SupervisedTask;
use std::path::PathBuf;
use std::time::Duration;

/// Which settings are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchKind {
    Grid,
    Random,
    Halving,
}

/// Search the hyperparameters of an estimator by cross-validation.
///
/// Prints the settings with their scores, the best one, whether it lies at the edge of the grid, and the command that
/// trains it. Kernel support vector machines with the same kernel share their kernel values over all folds and all C;
/// ridge and kernel-ridge are scored by leave-one-out in closed form unless --folds is given.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer tune spam.csv --target class --model svc
  mercer tune spam.csv --target class --model svc --grid C=0.1,1,10,100 --grid gamma=x0.1:x10:5
  mercer tune prices.csv --target price --model kernel-ridge --set kernel=rbf --plot scores.svg
  mercer tune big.csv --target y --model mlp --search halving --budget 5m
  mercer tune big.csv --target y --model svr --search random --trials 30")]
pub struct Tune {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Target column
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Estimator; see `mercer models`
    #[arg(long, value_name = "ID")]
    pub model: String,
    /// Values of a hyperparameter (may repeat): a list such as C=0.1,1,10, or a range at equal ratios such as
    /// alpha=1e-3:1e3 or alpha=1e-3:1e3:7. A value with x in front is a multiple of gamma=scale, as gamma=x0.3
    /// [default: a grid of the estimator]
    #[arg(long, value_parser = parse::key_value, value_name = "KEY=VALUES")]
    pub grid: Vec<(String, String)>,
    /// Which settings to try: all of them (grid), some drawn at random between the smallest and the largest values
    /// (random), or all on few rows and the better ones on more (halving)
    #[arg(long, default_value = "grid", value_parser = parse::search, value_name = "grid|random|halving")]
    pub search: SearchKind,
    /// Number of settings of a random search
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub trials: u32,
    /// Parameter that all settings share (may repeat)
    #[arg(long = "set", value_parser = parse::key_value, value_name = "KEY=VALUE")]
    pub settings: Vec<(String, String)>,
    /// Metric to compare by, as in `mercer train`
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// What to learn [default: that of the estimator]
    #[arg(long, value_parser = parse::task, value_name = "classification|regression")]
    pub task: Option<SupervisedTask>,
    /// Time for the search; the best setting so far is reported when it ends [default: no limit]
    #[arg(long, value_parser = parse::duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Fit every setting to every fold, even if it is far behind the best after the first one
    #[arg(long)]
    pub no_prune: bool,
    /// Preprocessing step, as in `mercer train` (may repeat)
    #[arg(long, value_name = "STEP")]
    pub prepare: Vec<String>,
    /// Kernel approximation or polynomial features, as in `mercer train`
    #[arg(long, value_name = "MAP")]
    pub features: Option<String>,
    /// Use only this column as a feature (may repeat)
    #[arg(long = "use", value_name = "COLUMN")]
    pub used: Vec<String>,
    /// Drop a column (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Column with the sample weight of each row, as in `mercer train`
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Number of cross-validation folds [default: 5; leave-one-out for ridge and kernel-ridge]
    #[arg(long, value_parser = clap::value_parser!(u16).range(2..=100), value_name = "N")]
    pub folds: Option<u16>,
    /// Random seed of the folds and of a random search
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub split: FoldOptions,
    /// Plot the scores over one or two hyperparameters, as .svg, .png or .html
    #[arg(long, short = 'o', visible_alias = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}
