//! The errors of this crate: one variant for every problem that a caller can act on.
//!
//! A message says where the problem is, what was found, what was expected, and what to do about it.

use mercer_num::memory::Bytes;
use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Rows and columns are counted from zero in fields and from one in messages.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no rows, or all sample weights are zero.
    #[error("found no rows with a positive weight; at least one is required")]
    NoRows,
    /// No column is usable as a feature.
    #[error(
        "found no feature columns; add a numeric, categorical or boolean column, or choose an estimator \
         that accepts text"
    )]
    NoFeatures,
    /// Text columns without a term that passes the filters.
    #[error(
        "the vocabulary of {columns} is empty: no token occurs in at least {min_df} and at most {max_df}; lower \
         `min-df`, raise `max-df`, or change the tokens (`pattern`, `stop-words`, `terms`)"
    )]
    EmptyVocabulary {
        /// The text columns.
        columns: String,
        /// The smallest document frequency.
        min_df: String,
        /// The largest document frequency.
        max_df: String,
    },
    /// The target has a single class.
    #[error(
        "found only one class (`{class}`) in the target; a classifier needs at least two classes"
    )]
    OneClass {
        /// The only class.
        class: String,
    },
    /// No hyperplane separates two classes.
    #[error(
        "the classes `{first}` and `{second}` are not linearly separable in the feature space of the kernel: {} of \
         `{first}` coincides with {} of `{second}` (distance {distance:.1e}, {} of the spread of the rows); set \
         `margin` to `soft`, or choose another kernel",
        mixture(&witness[0]),
        mixture(&witness[1]),
        fraction(*distance, *spread)
    )]
    NotSeparable {
        /// The first class.
        first: String,
        /// The second class.
        second: String,
        /// A convex combination of rows of each class, as pairs of row and coefficient: the two coincide.
        witness: [Vec<(usize, f64)>; 2],
        /// The distance of the two combinations, computed from the rows.
        distance: f64,
        /// The largest distance of a row from the first one, in the feature space.
        spread: f64,
    },
    /// Neither a separating hyperplane of two classes nor a witness against one was found.
    #[error(
        "whether a hyperplane separates the classes `{first}` and `{second}` could not be decided: the closest convex \
         combinations found have the distance {distance:.1e}, {} of the spread of the rows, and kernel values are not \
         accurate enough to do better; center and standardize the columns, raise `max_iter`, or set `margin` to `soft`",
        fraction(*distance, *spread)
    )]
    Undecided {
        /// The first class.
        first: String,
        /// The second class.
        second: String,
        /// The distance of the closest convex combinations found.
        distance: f64,
        /// The largest distance of a row from the first one, in the feature space.
        spread: f64,
    },
    /// The number of columns is wrong.
    #[error("found {found} columns, expected {expected}")]
    Columns {
        /// The number found.
        found: usize,
        /// The number expected.
        expected: usize,
    },
    /// Two arrays that belong together differ in length.
    #[error("{what} has length {found}, expected {expected}")]
    Length {
        /// The name of the array.
        what: String,
        /// The number found.
        found: usize,
        /// The number expected.
        expected: usize,
    },
    /// A sparse matrix in CSC format.
    #[error("the sparse matrix is in CSC format, expected CSR; convert it with `to_csr()`")]
    ByColumns,
    /// A cell that is NaN or infinite.
    #[error("row {}, column {}: found {value}, expected a finite number{}", row + 1, column + 1, missing(*value))]
    NotFinite {
        /// The row, counted from zero.
        row: usize,
        /// The column, counted from zero.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A cell that is not a count: negative, or neither zero nor one where the features are binary.
    #[error(
        "row {}, column {}: found {value}, expected a count (at least 0, or exactly 0 or 1 for binary features \
         that are not binarized); drop the column or choose an estimator for real-valued features",
        row + 1, column + 1
    )]
    NotACount {
        /// The row, counted from zero.
        row: usize,
        /// The column, counted from zero.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A cell that is not a category code: negative, not an integer, or too large.
    #[error(
        "row {}, column {}: found {value}, expected a category code (an integer from 0 to 16777215); encode the \
         categories as integers first",
        row + 1, column + 1
    )]
    NotACategory {
        /// The row, counted from zero.
        row: usize,
        /// The column, counted from zero.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A category that did not occur in the training data, where `unseen` is `error`.
    #[error(
        "row {}, column {}: category {value} does not occur in the training data; set `unseen` to `ignore` or \
         `other` to accept unknown categories",
        row + 1, column + 1
    )]
    UnseenCategory {
        /// The row, counted from zero.
        row: usize,
        /// The column, counted from zero.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A sample weight that is negative or not finite.
    #[error("row {}: found sample weight {value}, expected a finite number of at least 0", row + 1)]
    Weight {
        /// The row, counted from zero.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// A column without variance in a class, under a Gaussian likelihood.
    #[error(
        "column {} has zero variance in class `{class}`, so its Gaussian density is infinite; increase \
         `var_smoothing` or drop the column",
        column + 1
    )]
    ZeroVariance {
        /// The column, counted from zero.
        column: usize,
        /// The class.
        class: String,
    },
    /// A class whose covariance has no inverse.
    #[error(
        "the covariance of class `{class}` is singular: rank {rank} of {n_columns} columns, from {rows} rows; regularize \
         it with a larger `reg_param` (such as 0.1) or a `shrinkage`, or choose `rda`, which estimates how much"
    )]
    SingularCovariance {
        /// The class.
        class: String,
        /// The rank found.
        rank: usize,
        /// The rank expected.
        n_columns: usize,
        /// The total weight of the rows of the class.
        rows: f64,
    },
    /// A column whose squares overflow a 64-bit float.
    #[error(
        "column {} has values whose squares overflow; divide the column by a large constant", column + 1
    )]
    TooLarge {
        /// The column, counted from zero.
        column: usize,
    },
    /// A prediction that overflows a 64-bit float.
    #[error(
        "row {}: the prediction is {value}, because the row or the weights of the model are too large for 64-bit floats; \
         scale the columns (`--prepare scale=standard`, or a StandardScaler) and train again",
        row + 1
    )]
    Overflow {
        /// The row, counted from zero.
        row: usize,
        /// The value found: NaN or infinite.
        value: f64,
    },
    /// Gradient descent that diverged.
    #[error(
        "the weights diverged in epoch {pass}; standardize the columns (`--prepare scale=standard`, or a \
         StandardScaler), or decrease the learning rate `eta0`"
    )]
    Diverged {
        /// The epoch, counted from one.
        pass: u64,
    },
    /// A parameter with an invalid value.
    #[error("parameter `{name}` is {found}; it must be {expected}")]
    Parameter {
        /// Its name.
        name: String,
        /// The value found.
        found: String,
        /// The values that are valid.
        expected: String,
    },
    /// A parameter that the estimator does not have.
    #[error("`{estimator}` has no parameter `{name}`; its parameters are {known}")]
    UnknownParameter {
        /// The estimator.
        estimator: String,
        /// The name found.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// An estimator that is not in the catalog.
    #[error("unknown estimator `{id}`; the estimators are {known}")]
    UnknownEstimator {
        /// The identifier found.
        id: String,
        /// The identifiers that exist.
        known: String,
    },
    /// An operation that the estimator does not support.
    #[error("`{estimator}` cannot {what}")]
    Unable {
        /// The estimator.
        estimator: String,
        /// The operation, as a verb.
        what: String,
    },
    /// A column that the model needs is not in the data.
    #[error("column `{name}` is not in the data")]
    MissingColumn {
        /// Its name.
        name: String,
    },
    /// Two columns with the same name.
    #[error("column name `{name}` is not unique; rename one of the columns")]
    RepeatedColumn {
        /// Its name.
        name: String,
    },
    /// A column of the wrong type.
    #[error("column `{column}` is {found}, expected {expected}")]
    Kind {
        /// Its name.
        column: String,
        /// The type found.
        found: String,
        /// The type expected.
        expected: String,
    },
    /// A row whose target is missing.
    #[error("row {}: the target `{column}` is missing; drop the rows without a target", row + 1)]
    MissingTarget {
        /// The row, counted from zero.
        row: usize,
        /// The target column.
        column: String,
    },
    /// A class that is not among the known ones.
    #[error("unknown class `{class}`; the classes are {known}")]
    UnknownClass {
        /// The class found.
        class: String,
        /// The classes that exist.
        known: String,
    },
    /// A random variable that is not in the table or network.
    #[error("unknown variable `{name}`; the variables are {known}")]
    UnknownVariable {
        /// The name found.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// An invalid Bayesian network.
    #[error("variable `{variable}`: {why}")]
    Network {
        /// The variable.
        variable: String,
        /// The problem.
        why: String,
    },
    /// A syntax error in a BIF file.
    #[error("line {line}: found {found}, expected {expected}")]
    Bif {
        /// The line, counted from one.
        line: usize,
        /// The token found.
        found: String,
        /// The token expected.
        expected: String,
    },
    /// A value outside the domain of a random variable.
    #[error("variable `{variable}` has no value `{value}`; its values are {known}")]
    UnknownValue {
        /// The variable.
        variable: String,
        /// The value found.
        value: String,
        /// The values that exist.
        known: String,
    },
    /// A number that is not a valid probability, count or cost.
    #[error("{what} is {value}; it must be {expected}")]
    Number {
        /// What the number is.
        what: String,
        /// The number found.
        value: f64,
        /// The numbers that are valid.
        expected: String,
    },
    /// Probabilities that do not sum to one.
    #[error("{what} sum to {sum}, expected 1")]
    NotOne {
        /// Which probabilities.
        what: String,
        /// Their sum.
        sum: f64,
    },
    /// Conditioning on an event of probability zero.
    #[error("{what} has probability 0, so the conditional probability is undefined")]
    Impossible {
        /// The event.
        what: String,
    },
    /// Statistics that cannot be merged.
    #[error("cannot merge: {why}")]
    Merge {
        /// The difference.
        why: String,
    },
    /// Rows to forget that were never observed.
    #[error("cannot forget: {why}")]
    Forget {
        /// The shortage.
        why: String,
    },
    /// The memory budget is too small.
    #[error(
        "{what} needs about {}, more than the memory budget of {}{}",
        Bytes(*needed), Bytes(*budget), after(instead)
    )]
    Memory {
        /// The operation.
        what: String,
        /// The estimate in bytes.
        needed: u64,
        /// The budget in bytes.
        budget: u64,
        /// The remedy; empty if there is none.
        instead: &'static str,
    },
    /// No candidate of a model selection could be fitted.
    #[error("no candidate could be fitted: {why}")]
    Selection {
        /// Why the first of them failed.
        why: String,
    },
    /// The fit was stopped before it could return a model.
    #[error("stopped before the fit could return a model; raise the time limit")]
    Stopped,
    /// A file that is not a valid model file.
    #[error("not a valid model file: {0}")]
    File(String),
    /// The operating system failed to read or write a file.
    #[error("{path}: {why}")]
    System {
        /// The file.
        path: String,
        /// The message of the operating system.
        why: String,
    },
}

impl Error {
    /// The same error with its row moved by `n`, for a batch that follows `n` other rows.
    #[must_use]
    pub fn after_rows(self, n: usize) -> Error {
        match self {
            Error::NotFinite { row, column, value } => {
                Error::NotFinite { row: row + n, column, value }
            }
            Error::NotACount { row, column, value } => {
                Error::NotACount { row: row + n, column, value }
            }
            Error::NotACategory { row, column, value } => {
                Error::NotACategory { row: row + n, column, value }
            }
            Error::UnseenCategory { row, column, value } => {
                Error::UnseenCategory { row: row + n, column, value }
            }
            Error::Weight { row, value } => Error::Weight { row: row + n, value },
            Error::Overflow { row, value } => Error::Overflow { row: row + n, value },
            Error::MissingTarget { row, column } => Error::MissingTarget { row: row + n, column },
            other => other,
        }
    }

    /// The same error with its row replaced by `rows[row]`, for a selection of rows.
    #[must_use]
    pub fn in_row(mut self, rows: &[usize]) -> Error {
        if let Error::NotFinite { row, .. }
        | Error::NotACount { row, .. }
        | Error::NotACategory { row, .. }
        | Error::UnseenCategory { row, .. }
        | Error::Weight { row, .. }
        | Error::Overflow { row, .. }
        | Error::MissingTarget { row, .. } = &mut self
        {
            *row = rows.get(*row).copied().unwrap_or(*row);
        }
        self
    }

    /// The same error with its column replaced by `columns[column]`, for a selection of columns.
    #[must_use]
    pub fn in_column(mut self, columns: &[usize]) -> Error {
        if let Error::NotFinite { column, .. }
        | Error::NotACount { column, .. }
        | Error::NotACategory { column, .. }
        | Error::UnseenCategory { column, .. }
        | Error::ZeroVariance { column, .. }
        | Error::TooLarge { column } = &mut self
        {
            *column = columns.get(*column).copied().unwrap_or(*column);
        }
        self
    }
}

/// The remedy, if there is one.
fn after(instead: &str) -> String {
    if instead.is_empty() { String::new() } else { format!("; {instead}") }
}

/// The remedy for a cell that is not finite.
fn missing(value: f64) -> &'static str {
    if value.is_nan() {
        "; impute missing values (`--prepare impute=mean`, or a SimpleImputer) or drop the row"
    } else {
        "; drop the row or clip the value"
    }
}

/// A distance as a fraction of the spread of the rows.
fn fraction(distance: f64, spread: f64) -> String {
    if spread > 0.0 { format!("{:.1e}", distance / spread) } else { "all".into() }
}

/// A convex combination of rows, counted from one; if it has many rows, those of the largest coefficients.
fn mixture(rows: &[(usize, f64)]) -> String {
    const MAX_ROWS_SHOWN: usize = 4;
    if let [(row, _)] = rows {
        return format!("row {}", row + 1);
    }
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = rows.iter().take(MAX_ROWS_SHOWN);
    let shown = shown.map(|(row, coefficient)| format!("{coefficient:.3} row {}", row + 1));
    let rest = if rows.len() > MAX_ROWS_SHOWN {
        format!(" + {} more", rows.len() - MAX_ROWS_SHOWN)
    } else {
        String::new()
    };
    format!("{}{rest}", shown.collect::<Vec<_>>().join(" + "))
}
