//! The options of `mercer train` and `mercer compare`.

use super::{FoldOptions, IgnoredChecks, Reading, parse};
use crate::commands::DecisionOptions;
use clap::{ArgGroup, Args as Group, ValueHint};
use mercer::train::SupervisedTask;
use std::path::PathBuf;
use std::time::Duration;

/// Train an estimator on a table and save the model.
///
/// Without `--model`, candidates from the whole catalog are compared by cross-validation, and the best one is trained.
/// Prints the task, the columns, the leaderboard, the certificate of the fit and cross-validated scores, and saves the model and an HTML
/// report with plots.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer train penguins.csv --target species                  # the best of several estimators
  mercer train prices.csv --target price --metric mae --budget 5m
  mercer train penguins.csv --target species --model gaussian-nb --set var_smoothing=1e-6
  mercer train tax.csv --target evade --likelihood taxable_income=gaussian
  mercer train mail.tsv --target label --text body
  mercer train 20news/                        # one folder of documents per class
  mercer train mail.tsv --target label --text body --prepare text=tf-idf --prepare ngrams=1-2
  mercer train big.tsv --target label --text body --model sgd \\
      --prepare hash=2^20 --prepare hash-sign=alternate --prepare norm=l2   # hashing vectorizer
  mercer train data.svm                       # svmlight files contain the labels
  mercer train data.csv --target y --model logistic --features rff:1000   # random Fourier features
  mercer train data.csv --target y --model logistic --features rff:500 --append   # beside the columns
  mercer train data.csv --target y --weights n    # a row counts n times
  mercer train visits.csv --target y --group patient   # no patient in both training and test rows
  mercer train data.csv --model one-class-svm --set nu=0.05   # unsupervised: no target
  mercer train data.csv --model kernel-pca --set kernel=rbf --set n_components=2
  mercer train mail.csv --target spam --unlabeled     # semi-supervised
  mercer train mail.csv --target spam --cost costs.csv --reject 0.2   # stored in the model
  zcat big.csv.gz | mercer train - --target y --out big.mercer")]
pub struct Train {
    /// Table: CSV, TSV, Parquet, Arrow, JSON lines or svmlight, plain or compressed; or a folder with one
    /// folder of documents or mails (.eml, .mbox) per class; `-` is standard input
    #[arg(value_hint = ValueHint::AnyPath)]
    pub data: String,
    /// More files with the same columns, read as one table; a folder of CSV or Parquet files is one table as well
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub more: Vec<String>,
    /// Target column; not needed for unsupervised estimators
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Use the tokens of this text column as features, and no other columns (may repeat)
    #[arg(long = "text", value_name = "COLUMN")]
    pub texts: Vec<String>,
    /// What to learn: the class of a row or a number [default: inferred from the target]
    #[arg(long, value_parser = parse::task, value_name = "classification|regression")]
    pub task: Option<SupervisedTask>,
    /// Estimator; see `mercer models` [default: the best of several by cross-validation]
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Metric to select the estimator by: accuracy, balanced-accuracy, f1, log-loss, brier, ece, roc-auc, pr-auc, mcc,
    /// kappa, top-3; r2, rmse, mae, mape [default: accuracy or r2]
    #[arg(long, value_name = "METRIC", conflicts_with = "model")]
    pub metric: Option<String>,
    /// Time for the comparison of estimators, such as 30s or 5m; 0 takes a fast baseline without a comparison
    /// [default: 60s; small tables need less]
    #[arg(long, value_parser = parse::duration, value_name = "TIME", conflicts_with = "model")]
    pub budget: Option<Duration>,
    /// Parameter of the estimator (may repeat)
    #[arg(long = "set", value_parser = parse::key_value, value_name = "KEY=VALUE")]
    pub settings: Vec<(String, String)>,
    /// Likelihood of a column given the class, for mixed-nb: auto, gaussian, kernel, equal-width,
    /// equal-frequency, entropy, split, poisson, exponential, categorical, bernoulli, multinomial
    /// (may repeat) [default: auto]
    #[arg(long = "likelihood", value_parser = parse::key_value, value_name = "COLUMN=FAMILY")]
    pub likelihoods: Vec<(String, String)>,
    /// Preprocessing step (may repeat): impute=mean|median|NUMBER, scale=standard|min-max,
    /// bins=equal-width:N|equal-frequency:N, categories=one-hot|drop. For text columns:
    /// text=counts|binary|tf-idf|lecture, or its parts tf=count|log|frequency|binary,
    /// idf=none|smooth|plain|information|information-plus-one, norm=none|l1|l2; ngrams=1-2,
    /// terms=words|unicode-words|characters|characters-in-words, pattern=REGEX, case=keep,
    /// accents=ascii|unicode, stop-words=english|LIST, stem=LANGUAGE, min-df=2, max-df=0.5, max-terms=N;
    /// hash=N or hash=2^K (feature hashing: no vocabulary, bounded memory), hash-sign=alternate (random
    /// signs, so that collisions cancel on average; not for naive Bayes)
    #[arg(long, value_name = "STEP")]
    pub prepare: Vec<String>,
    /// Kernel approximation or polynomial features after the preprocessing: rff:N (random Fourier features),
    /// nystroem:N, sketch:N:DEGREE (tensor sketch), chi2, poly:DEGREE; with parameters after commas
    /// (nystroem:500,kernel=laplacian); rff:error=0.05 and nystroem:error=0.01 choose the number of features
    /// by the approximation error. Numeric columns are standardized first unless --prepare scales them
    #[arg(long, value_name = "MAP")]
    pub features: Option<String>,
    /// Append the features of --features to the columns instead of replacing them: the estimator is linear in both
    #[arg(long, requires = "features")]
    pub append: bool,
    /// Drop a column (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Use every column, also those that tell nothing about new rows: identifiers, constants and duplicates
    #[arg(long)]
    pub keep_columns: bool,
    /// Column with the sample weight of each row, a finite number of at least 0: a row of weight 2 counts as two rows,
    /// in the fit and in the cross-validated scores. The column is not a feature
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Use the estimator, columns, levels and classes of another model, so that the two can be merged
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath, conflicts_with_all = ["prepare", "ignore", "features", "append", "weights"])]
    pub like: Option<PathBuf>,
    #[command(flatten)]
    pub semi_supervised: SemiSupervised,
    #[command(flatten)]
    pub decision: DecisionOptions,
    #[command(flatten)]
    pub ignored: IgnoredChecks,
    /// Do not check the table. The checks read a sample of the rows in a pass of their own, which also measures importances
    /// and the distributions that `mercer check NEW MODEL` compares with
    #[arg(long)]
    pub no_checks: bool,
    /// Number of cross-validation folds; 0 skips the cross-validation
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=100), value_name = "N")]
    pub folds: u16,
    /// Random seed of the folds
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub split: FoldOptions,
    /// Model file to write [default: the name of the table with .mercer]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// HTML report to write [default: the name of the model with .html]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Do not write the HTML report
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
    /// On Ctrl-C, save the current model, marked as not converged
    #[arg(long)]
    pub keep_best: bool,
    /// Fail with exit code 6 if the fit did not converge
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Unlabeled rows.
#[derive(Group)]
#[command(group(ArgGroup::new("without_class").args(["unlabeled", "unlabeled_data"]).multiple(true)))]
pub struct SemiSupervised {
    /// Learn from rows with a missing target as well, by expectation maximization: each row is weighted in
    /// every class by its posterior probability until the likelihood converges
    #[arg(long, visible_alias = "unlabelled", help_heading = "Semi-supervised learning")]
    pub unlabeled: bool,
    /// Learn from the unlabeled rows of another table with the same columns; terms and levels that only this
    /// table has are ignored
    #[arg(long, visible_alias = "unlabelled-data", help_heading = "Semi-supervised learning", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub unlabeled_data: Option<String>,
    /// Weight of an unlabeled row relative to a labeled one
    #[arg(long, help_heading = "Semi-supervised learning", default_value_t = 1.0, requires = "without_class", value_parser = parse::at_least_zero, value_name = "WEIGHT")]
    pub unlabeled_weight: f64,
    /// Stop when the relative change of the log likelihood is at most this
    #[arg(long, help_heading = "Semi-supervised learning", default_value_t = 1e-6, requires = "without_class", value_parser = parse::at_least_zero, value_name = "TOLERANCE")]
    pub unlabeled_tolerance: f64,
    /// Maximum number of iterations
    #[arg(long, help_heading = "Semi-supervised learning", default_value_t = 100, requires = "without_class", value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub unlabeled_iterations: u64,
}

/// Compare estimators by cross-validation on the same folds.
///
/// Without `--models`, the candidates of `mercer train` are compared, and the leaderboard is printed.
/// With one numeric column the plot shows the posterior probabilities, with two the decision boundaries.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer compare iris.csv --target species
  mercer compare iris.csv --target species --models lda,logistic,perceptron
  mercer compare iris.csv --target species --use petal_length --models lda,logistic --plot sigmoids.svg
  mercer compare iris.csv --target species --models lda,logistic --set logistic.C=10")]
pub struct Compare {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: String,
    /// Target column
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Estimators, separated by commas; see `mercer models` [default: the portfolio of `mercer train`]
    #[arg(long, value_delimiter = ',', value_name = "ID,ID")]
    pub models: Vec<String>,
    /// Without --models: what to learn [default: inferred from the target]
    #[arg(long, value_parser = parse::task, value_name = "classification|regression", conflicts_with = "models")]
    pub task: Option<SupervisedTask>,
    /// Without --models: metric to compare by, as in `mercer train`
    #[arg(long, value_name = "METRIC", conflicts_with = "models")]
    pub metric: Option<String>,
    /// Without --models: time for the comparison [default: 60s]
    #[arg(long, value_parser = parse::duration, value_name = "TIME", conflicts_with = "models")]
    pub budget: Option<Duration>,
    /// Parameter of one of the estimators (may repeat)
    #[arg(long = "set", value_parser = parse::key_value, value_name = "ID.KEY=VALUE")]
    pub settings: Vec<(String, String)>,
    /// Use only this column as a feature (may repeat)
    #[arg(long = "use", value_name = "COLUMN")]
    pub used: Vec<String>,
    /// Preprocessing step, as in `mercer train` (may repeat)
    #[arg(long, value_name = "STEP")]
    pub prepare: Vec<String>,
    /// Drop a column (may repeat)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Column with the sample weight of each row, as in `mercer train`
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Number of cross-validation folds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=100), value_name = "N")]
    pub folds: u16,
    /// Random seed of the folds
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub split: FoldOptions,
    /// Plot the models fitted to all rows, as .svg, .png or .html
    #[arg(long, short = 'o', visible_alias = "out", value_name = "FILE", value_hint = ValueHint::FilePath, requires = "models")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}
