//! What can go wrong, with the facts a caller could act on.

use mercer_num::memory::Bytes;
use thiserror::Error;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. Rows and columns count from one in messages, from zero in fields.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No rows, or none with any weight.
    #[error("no rows to learn from")]
    NoRows,
    /// No column an estimator could use.
    #[error("no column is left to learn from; text columns need a text model")]
    NoFeatures,
    /// Nothing to tell apart.
    #[error("only one class (`{class}`) is present; a classifier needs at least two classes")]
    OneClass {
        /// The class.
        class: String,
    },
    /// Classes that no hyperplane tells apart.
    #[error(
        "`{first}` and `{second}` cannot be told apart without a mistake: {} of `{first}` is the same point as {} \
         of `{second}` (they are {distance:.1e} apart). Set `margin` to `soft`, or take another kernel",
        mixture(&witness[0]),
        mixture(&witness[1])
    )]
    NotSeparable {
        /// A class.
        first: String,
        /// Another.
        second: String,
        /// Rows of the first and of the second with their shares: the mixtures meet.
        witness: [Vec<(usize, f64)>; 2],
        /// How far the mixtures are from each other.
        distance: f64,
    },
    /// A matrix of the wrong width.
    #[error("found {found} columns where {expected} were expected")]
    Columns {
        /// What came.
        found: usize,
        /// What should have come.
        expected: usize,
    },
    /// Two things that go together differ in length.
    #[error("{what} has length {found} where {expected} was expected")]
    Length {
        /// Which.
        what: String,
        /// What came.
        found: usize,
        /// What should have come.
        expected: usize,
    },
    /// Sparse rows that lie by columns.
    #[error("the sparse matrix is stored by columns; convert it to rows with `to_csr`")]
    ByColumns,
    /// A cell that cannot be computed with.
    #[error("row {}, column {}: {value} is not a finite number", row + 1, column + 1)]
    NotFinite {
        /// Counted from zero.
        row: usize,
        /// Counted from zero.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A cell that counts nothing: negative, or not zero or one where only those are.
    #[error("row {}, column {}: {value} is not a count", row + 1, column + 1)]
    NotACount {
        /// Counted from zero.
        row: usize,
        /// Counted from zero.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A cell that is no category: negative, not whole, or too large.
    #[error(
        "row {}, column {}: {value} is not the code of a category, a whole number from 0 to 16777215",
        row + 1, column + 1
    )]
    NotACategory {
        /// Counted from zero.
        row: usize,
        /// Counted from zero.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A category that was never seen, where that is not allowed.
    #[error(
        "row {}, column {}: category {value} was not seen in training; say `unseen` is `ignore` or \
         `other` to go on without it", row + 1, column + 1
    )]
    UnseenCategory {
        /// Counted from zero.
        row: usize,
        /// Counted from zero.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A sample weight that is negative or not finite.
    #[error("row {}: weight {value} is not a finite number of at least zero", row + 1)]
    Weight {
        /// Counted from zero.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// A bell curve without width.
    #[error(
        "column {} does not vary in class `{class}`, so its density is infinite; \
         raise `var_smoothing` or leave the column out", column + 1
    )]
    ZeroVariance {
        /// Counted from zero.
        column: usize,
        /// In which class.
        class: String,
    },
    /// Numbers whose squares leave the range of a double.
    #[error("column {} holds numbers too large to square; scale it down", column + 1)]
    TooLarge {
        /// Counted from zero.
        column: usize,
    },
    /// Steps that grew beyond all numbers.
    #[error(
        "the weights grew beyond all numbers in pass {pass}; scale the columns (`--prepare \
         scale=standard`, or a StandardScaler), or take shorter steps with a smaller `eta0`"
    )]
    Diverged {
        /// The pass it happened in, counted from one.
        pass: u64,
    },
    /// A parameter outside its range.
    #[error("parameter `{name}` is {found}; it must be {expected}")]
    Parameter {
        /// Its name.
        name: String,
        /// What came.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// A parameter nobody declared.
    #[error("`{estimator}` has no parameter `{name}`; it has {known}")]
    UnknownParameter {
        /// Whose parameter.
        estimator: String,
        /// What came.
        name: String,
        /// What there is.
        known: String,
    },
    /// An estimator that is not in the catalog.
    #[error("no estimator is called `{id}`; there are {known}")]
    UnknownEstimator {
        /// What came.
        id: String,
        /// What there is.
        known: String,
    },
    /// Something the estimator cannot do.
    #[error("`{estimator}` cannot {what}")]
    Unable {
        /// Which estimator.
        estimator: String,
        /// What was asked.
        what: String,
    },
    /// A column the model was trained with is not there.
    #[error("column `{name}` is missing")]
    MissingColumn {
        /// Its name.
        name: String,
    },
    /// Two columns of one name.
    #[error("column `{name}` appears twice")]
    RepeatedColumn {
        /// Its name.
        name: String,
    },
    /// A column of the wrong kind.
    #[error("column `{column}` is {found}; {expected} was expected")]
    Kind {
        /// Its name.
        column: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A row without a class or number to learn.
    #[error("row {}: column `{column}` has no value, so there is nothing to learn from the row", row + 1)]
    MissingTarget {
        /// Counted from zero.
        row: usize,
        /// The target.
        column: String,
    },
    /// A class the model does not know.
    #[error("class `{class}` is not one of {known}")]
    UnknownClass {
        /// What came.
        class: String,
        /// What there is.
        known: String,
    },
    /// A random variable a table does not have.
    #[error("no variable is called `{name}`; there are {known}")]
    UnknownVariable {
        /// What came.
        name: String,
        /// What there is.
        known: String,
    },
    /// Parts that do not make a Bayesian network.
    #[error("variable `{variable}`: {why}")]
    Network {
        /// Where.
        variable: String,
        /// What does not fit.
        why: String,
    },
    /// Text that is not in the BIF format.
    #[error("line {line}: found {found} where {expected} was expected")]
    Bif {
        /// Counted from one.
        line: usize,
        /// What came.
        found: String,
        /// What should have come.
        expected: String,
    },
    /// A value a random variable does not take.
    #[error("`{variable}` does not take the value `{value}`; it takes {known}")]
    UnknownValue {
        /// Whose value.
        variable: String,
        /// What came.
        value: String,
        /// What there is.
        known: String,
    },
    /// A number that is no probability, count or cost where one must stand.
    #[error("{what} is {value}; it must be {expected}")]
    Number {
        /// Which number.
        what: String,
        /// What came.
        value: f64,
        /// What is allowed.
        expected: String,
    },
    /// Probabilities that do not add up to one.
    #[error("{what} add up to {sum}, not to 1")]
    NotOne {
        /// Which.
        what: String,
        /// What they add up to.
        sum: f64,
    },
    /// A condition, or evidence, of probability zero.
    #[error("{what} has probability 0, so nothing can be concluded from it")]
    Impossible {
        /// The condition.
        what: String,
    },
    /// Two summaries that do not fit together.
    #[error("cannot merge: {why}")]
    Merge {
        /// What differs.
        why: String,
    },
    /// More was taken out than had been put in.
    #[error("cannot forget: {why}")]
    Forget {
        /// What is short.
        why: String,
    },
    /// The memory budget does not allow it.
    #[error(
        "{what} needs about {}, more than the budget of {}{}",
        Bytes(*needed), Bytes(*budget), after(instead)
    )]
    Memory {
        /// For what.
        what: String,
        /// The estimate.
        needed: u64,
        /// What is allowed.
        budget: u64,
        /// What could be done; empty where there is nothing to advise.
        instead: &'static str,
    },
    /// Stopped before anything was learned.
    #[error("stopped before a single row was learned from")]
    Stopped,
    /// A model file that is damaged or not one.
    #[error("not a usable model file: {0}")]
    File(String),
    /// The system refused to read or write.
    #[error("{path}: {why}")]
    System {
        /// Which file.
        path: String,
        /// What the system said.
        why: String,
    },
}

impl Error {
    /// The same error in a batch that comes after `n` other rows.
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
            Error::MissingTarget { row, column } => Error::MissingTarget { row: row + n, column },
            other => other,
        }
    }

    /// The same error where the rows looked at stand at some places among all.
    #[must_use]
    pub fn in_row(mut self, places: &[usize]) -> Error {
        if let Error::NotFinite { row, .. }
        | Error::NotACount { row, .. }
        | Error::NotACategory { row, .. }
        | Error::UnseenCategory { row, .. }
        | Error::Weight { row, .. }
        | Error::MissingTarget { row, .. } = &mut self
        {
            *row = places.get(*row).copied().unwrap_or(*row);
        }
        self
    }

    /// The same error where the columns looked at stand at some places among all.
    #[must_use]
    pub fn in_column(mut self, places: &[usize]) -> Error {
        if let Error::NotFinite { column, .. }
        | Error::NotACount { column, .. }
        | Error::NotACategory { column, .. }
        | Error::UnseenCategory { column, .. }
        | Error::ZeroVariance { column, .. }
        | Error::TooLarge { column } = &mut self
        {
            *column = places.get(*column).copied().unwrap_or(*column);
        }
        self
    }
}

/// Advice, where there is any.
fn after(instead: &str) -> String {
    if instead.is_empty() { String::new() } else { format!("; {instead}") }
}

/// Rows, counted from one, and their shares; of many the largest.
fn mixture(parts: &[(usize, f64)]) -> String {
    const SHOWN: usize = 4;
    if let [(row, _)] = parts {
        return format!("row {}", row + 1);
    }
    let mut parts = parts.to_vec();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = parts.iter().take(SHOWN).map(|(row, share)| format!("{share:.3} row {}", row + 1));
    let rest = if parts.len() > SHOWN {
        format!(" + {} more", parts.len() - SHOWN)
    } else {
        String::new()
    };
    format!("{}{rest}", shown.collect::<Vec<_>>().join(" + "))
}
