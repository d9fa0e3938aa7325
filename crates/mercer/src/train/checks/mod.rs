//! Checks of a table and of a fit: coded findings, each with a figure, its evidence and a remedy.
//!
//! [`check_table`] looks at the data before a fit, [`check_fit`] at a fit and its cross-validated scores, and
//! [`check_drift`] compares a new table with the training data. Every interface shows the same findings; the pages of
//! `docs/checks` explain each code.

mod baseline;
mod convergence;
mod drift;
mod duplicates;
mod grid;
mod labels;
mod leak;
mod overfitting;
mod scaling;
mod table_columns;

pub use drift::{Reference, check_drift};
pub use grid::GridEdge;

use crate::data::{ColumnProfile, Field, Profile, Stream, Table};
use crate::evaluate::{ClassificationReport, RegressionReport};
use crate::model::Monitor;
use crate::preprocess::DroppedColumn;
use crate::train::select::{Leaderboard, Sample};
use crate::train::{SupervisedTask, Trained};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Rows that a table is checked on at most.
const MAX_ROWS: u64 = 50_000;
/// Rows that a finding names as its evidence.
const MAX_EVIDENCE: usize = 10;

/// Declares the checks: variant, code and title.
macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $Check:ident = $code:literal, $title:literal;)+) => {
        /// A check. Its code never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Check { $($(#[doc = $doc])+ $Check,)+ }

        impl Check {
            /// All checks, in the order of their codes.
            pub const ALL: &[Check] = &[$(Check::$Check,)+];

            /// The code, such as `MRC001`.
            pub fn code(self) -> &'static str {
                match self { $(Check::$Check => $code,)+ }
            }

            /// What is found, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Check::$Check => $title,)+ }
            }
        }
    };
}

checks! {
    /// A single column predicts the target almost perfectly.
    TargetLeak = "MRC001", "target leak";
    /// Rows occur several times, so that folds are not independent.
    DuplicateRows = "MRC002", "duplicate rows across folds";
    /// The model is not better than a constant prediction.
    BelowBaseline = "MRC003", "not better than the baseline";
    /// Training rows are predicted much better than held-out rows.
    Overfitting = "MRC004", "overfitting";
    /// Not even the training rows are predicted well.
    Underfitting = "MRC005", "underfitting";
    /// One class has many times the rows of another.
    Imbalance = "MRC006", "imbalanced classes";
    /// Classes with too few rows to learn or to evaluate.
    RareClasses = "MRC007", "rare classes";
    /// Identifiers, constants and duplicated columns.
    UnusableColumns = "MRC008", "columns without information";
    /// Labels of the target that differ only in case or blanks.
    LabelSpelling = "MRC009", "labels that differ in spelling only";
    /// Columns of very different spread under an estimator that depends on it.
    UnscaledColumns = "MRC010", "unscaled columns";
    /// A hyperparameter whose best value is the first or last of its grid.
    GridEdge = "MRC011", "hyperparameter at the edge of its grid";
    /// A kernel that is not positive semi-definite on the training rows.
    KernelNotPsd = "MRC012", "kernel not positive semi-definite";
    /// A fit that did not converge, or whose duality gap is open.
    NotConverged = "MRC013", "not converged";
    /// Probabilities that do not match the frequencies.
    Miscalibrated = "MRC014", "miscalibrated probabilities";
    /// Scores that differ more between folds than chance explains.
    UnstableFolds = "MRC015", "unstable folds";
    /// A new table that differs from the training data.
    Drift = "MRC016", "drift";
    /// Categorical columns with almost as many levels as rows.
    HighCardinality = "MRC017", "high-cardinality categories";
    /// Columns of which most values are missing.
    MostlyMissing = "MRC018", "mostly missing values";
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for Check {
    type Err = String;

    /// The check with a code, in any case.
    fn from_str(code: &str) -> Result<Check, String> {
        let found = Check::ALL.iter().find(|check| check.code().eq_ignore_ascii_case(code.trim()));
        found.copied().ok_or_else(|| {
            let (first, last) = (Check::ALL[0], Check::ALL[Check::ALL.len() - 1]);
            format!("unknown check `{code}`; expected a code from {first} to {last}")
        })
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The check.
    pub code: Check,
    /// What is found, in a few words.
    pub title: &'static str,
    /// What was measured, as a sentence.
    pub figure: String,
    /// The columns concerned.
    pub columns: Vec<String>,
    /// Rows that show it, counted from one; empty if there are none, or if the table was sampled.
    pub rows: Vec<u64>,
    /// What to do about it.
    pub remedy: Remedy,
}

/// What to do about a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Remedy {
    /// In words.
    pub advice: String,
    /// Options of `mercer train`, which interfaces complete to a command.
    pub options: Vec<String>,
}

impl Finding {
    /// A finding without columns and rows.
    fn new(check: Check, figure: impl Into<String>, remedy: Remedy) -> Finding {
        Finding {
            code: check,
            title: check.title(),
            figure: figure.into(),
            columns: Vec::new(),
            rows: Vec::new(),
            remedy,
        }
    }

    /// With the columns concerned.
    fn columns(self, columns: Vec<String>) -> Finding {
        Finding { columns, ..self }
    }

    /// With rows as evidence, by their index.
    fn rows(self, rows: impl Iterator<Item = usize>) -> Finding {
        Finding { rows: rows.take(MAX_EVIDENCE).map(|i| i as u64 + 1).collect(), ..self }
    }
}

impl Remedy {
    fn new(advice: impl Into<String>) -> Remedy {
        Remedy { advice: advice.into(), options: Vec::new() }
    }

    fn option(mut self, option: &str, value: impl Into<String>) -> Remedy {
        self.options.extend([option.to_owned(), value.into()]);
        self
    }
}

/// The rows that a table is checked on.
struct Rows<'a> {
    table: &'a Table,
    /// Whether row numbers are those of the file.
    complete: bool,
}

impl Rows<'_> {
    /// Rows as evidence; none if the table is a sample.
    fn evidence(&self, rows: Vec<usize>) -> std::vec::IntoIter<usize> {
        if self.complete { rows.into_iter() } else { Vec::new().into_iter() }
    }
}

/// Reads the rows that a table is checked on: the target and all columns but those in `left_out`.
///
/// # Errors
/// The error of the stream, or [`crate::Error::Stopped`].
pub fn sample_rows<S: Stream>(
    profile: &Profile,
    target: Option<(&ColumnProfile, SupervisedTask)>,
    left_out: &[String],
    stream: &S,
    monitor: &Monitor<'_>,
) -> Result<Sample, S::Error> {
    let mut schema = profile.schema();
    schema.fields.retain(|field| !left_out.contains(&field.name));
    for field in &mut schema.fields {
        if let Some((column, SupervisedTask::Classification)) = target
            && column.name == field.name
        {
            *field = Field::categorical(column.name.clone(), column.levels.clone());
        }
    }
    Sample::read_up_to(MAX_ROWS, stream, &schema, profile.n_rows, 0, monitor)
}

/// Checks a table before a fit, by its profile and by a sample of its rows. `ignore` are columns that are not
/// features, `unusable` those that are dropped.
pub fn check_table(
    profile: &Profile,
    target: Option<(&ColumnProfile, SupervisedTask)>,
    ignore: &[String],
    unusable: &[DroppedColumn],
    sample: &Sample,
) -> Vec<Finding> {
    let mut findings = table_columns::check(profile, target.map(|(t, _)| t), ignore, unusable);
    let rows = Rows { table: &sample.table, complete: !sample.is_partial };
    if let Some((column, task)) = target {
        findings.extend(labels::check(column, task));
        findings.extend(leak::check(&rows, &column.name, task));
        findings.extend(duplicates::check(&rows, &column.name));
    }
    findings.sort_by_key(|finding| finding.code.code());
    findings
}

/// What is known of a fit.
pub struct FitFacts<'a> {
    /// The model.
    pub trained: &'a Trained,
    /// The cross-validated scores of a classifier.
    pub classification: Option<&'a ClassificationReport>,
    /// The cross-validated scores of a regressor.
    pub regression: Option<&'a RegressionReport>,
    /// The candidates that were compared.
    pub leaderboard: Option<&'a Leaderboard>,
    /// Hyperparameters at the edge of the grid that they were searched on.
    pub grid_edges: &'a [GridEdge],
    /// Some of the training rows with the target, to be predicted by the model.
    pub rows: Option<&'a Table>,
}

/// Checks a fit.
pub fn check_fit(facts: &FitFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(baseline::check(facts));
    findings.extend(baseline::check_folds(facts));
    findings.extend(baseline::check_calibration(facts));
    findings.extend(overfitting::check(facts));
    findings.extend(scaling::check(facts.trained));
    findings.extend(grid::check(facts));
    findings.extend(convergence::check(facts.trained));
    findings.sort_by_key(|finding| finding.code.code());
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_without_holes() {
        for (k, check) in Check::ALL.iter().enumerate() {
            assert_eq!(check.code(), format!("MRC{:03}", k + 1));
            assert_eq!(check.code().to_lowercase().parse(), Ok(*check));
        }
        assert!("MRC999".parse::<Check>().unwrap_err().contains("MRC001"));
    }
}
