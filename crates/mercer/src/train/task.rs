//! The task of a fit: classification, regression or unsupervised learning, and how it follows from the target column.

use crate::data::{Classes, ColumnProfile, Kind, Label, Profile};
use std::collections::HashMap;
use std::fmt;

/// A numeric target with more distinct values than this is a regression target, unless the user asks for classes.
const MAX_NUMERIC_CLASSES: usize = 20;
/// Integers can be the labels of up to this many classes.
const MAX_INTEGER_CLASSES: usize = 100;

/// What an estimator learns about a row.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// Its class.
    Classification(&'a Classes),
    /// A number.
    Regression,
    /// No target: outlier detection, clustering or a transformation of the features.
    Unsupervised,
}

impl Task<'_> {
    /// The classes; none unless the task is classification.
    pub(crate) fn classes(&self) -> Classes {
        match self {
            Task::Classification(classes) => (*classes).clone(),
            Task::Regression | Task::Unsupervised => Classes::default(),
        }
    }

    /// The number of groups that rows are summarized in.
    pub(crate) fn n_classes(&self) -> usize {
        match self {
            Task::Classification(classes) => classes.len(),
            Task::Regression | Task::Unsupervised => 1,
        }
    }
}

/// The two supervised tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupervisedTask {
    /// The target is a class.
    Classification,
    /// The target is a number.
    Regression,
}

impl SupervisedTask {
    /// The task that a target column suggests: regression if it is numeric with many distinct values,
    /// classification otherwise.
    pub fn infer(target: &ColumnProfile) -> SupervisedTask {
        let n = target.levels.len();
        let continuous = target.kind == Kind::Numeric && n > MAX_NUMERIC_CLASSES;
        // The levels of a target are missing only if there are too many to list.
        if n == 0 || continuous {
            SupervisedTask::Regression
        } else {
            SupervisedTask::Classification
        }
    }
}

impl SupervisedTask {
    /// Why a target suggests the task, as a clause.
    pub fn reason(self, target: &ColumnProfile) -> String {
        let distinct = target.distinct_values();
        let (name, kind) = (&target.name, target.kind);
        match self {
            SupervisedTask::Classification => {
                format!("`{name}` is {kind} with {distinct} distinct values")
            }
            SupervisedTask::Regression => {
                format!("`{name}` is numeric with {distinct} distinct values")
            }
        }
    }

    /// The other task.
    #[must_use]
    pub fn other(self) -> SupervisedTask {
        match self {
            SupervisedTask::Classification => SupervisedTask::Regression,
            SupervisedTask::Regression => SupervisedTask::Classification,
        }
    }
}

impl fmt::Display for SupervisedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SupervisedTask::Classification => "classification",
            SupervisedTask::Regression => "regression",
        })
    }
}

/// Why a column is not usable as a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// No target was named.
    Unnamed {
        /// The columns of the table.
        columns: Vec<String>,
    },
    /// There is no such column.
    NoSuchColumn {
        /// The name of the target.
        name: String,
        /// The columns of the table.
        columns: Vec<String>,
    },
    /// Some rows have no target.
    MissingValues {
        /// The target.
        column: String,
        /// The number of rows without a target.
        n_missing: u64,
        /// The line of the first of them.
        line: u64,
        /// The task.
        task: SupervisedTask,
    },
    /// A regression target that is not numeric.
    NotNumeric {
        /// The target.
        column: String,
        /// Its kind.
        kind: Kind,
        /// The estimator.
        estimator: String,
    },
    /// A regression target where classes are needed.
    Continuous {
        /// The target.
        column: String,
        /// The number of distinct values.
        n_distinct: String,
    },
    /// More distinct values than a classifier can have classes.
    TooManyClasses {
        /// The target.
        column: String,
        /// The number of distinct values.
        n_distinct: String,
    },
    /// A single class.
    OneClass {
        /// The target.
        column: String,
        /// The class.
        class: String,
    },
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Unnamed { columns } => {
                write!(f, "no target column is named; the columns are {}", columns.join(", "))
            }
            TargetError::NoSuchColumn { name, columns } => {
                write!(
                    f,
                    "no column `{name}` for the target; the columns are {}",
                    columns.join(", ")
                )
            }
            TargetError::MissingValues { column, n_missing, line, task } => {
                write!(
                    f,
                    "column `{column}`: the target is missing in {n_missing} rows, first in line {line}; fill in \
                     the values or remove these rows"
                )?;
                match task {
                    SupervisedTask::Classification => {
                        f.write_str(", or use them as unlabeled rows (semi-supervised learning)")
                    }
                    SupervisedTask::Regression => Ok(()),
                }
            }
            TargetError::NotNumeric { column, kind, estimator } => write!(
                f,
                "column `{column}` is {kind}, and {estimator} is a regressor and needs a numeric target; choose a \
                 classifier"
            ),
            TargetError::Continuous { column, n_distinct } => write!(
                f,
                "column `{column}` is numeric with {n_distinct} distinct values, a regression target; choose a \
                 regressor, or declare the column categorical if the numbers are class labels"
            ),
            TargetError::TooManyClasses { column, n_distinct } => write!(
                f,
                "column `{column}` has {n_distinct} distinct values, too many for classes; choose another target, or \
                 group its rare values"
            ),
            TargetError::OneClass { column, class } => write!(
                f,
                "column `{column}`: found only one class (`{class}`); a classifier needs at least two classes"
            ),
        }
    }
}

impl std::error::Error for TargetError {}

/// The target column.
///
/// # Errors
/// If none is named, or the table has no such column.
pub fn find_target<'a>(
    name: Option<&str>,
    profile: &'a Profile,
) -> Result<&'a ColumnProfile, TargetError> {
    let columns = || profile.columns.iter().map(|c| c.name.clone()).collect();
    let name = name.ok_or_else(|| TargetError::Unnamed { columns: columns() })?;
    profile
        .column(name)
        .ok_or_else(|| TargetError::NoSuchColumn { name: name.to_owned(), columns: columns() })
}

/// Checks that a target is numeric in every row.
///
/// # Errors
/// If values are missing or the column is not numeric.
pub fn check_regression_target(target: &ColumnProfile, estimator: &str) -> Result<(), TargetError> {
    check_present(target, SupervisedTask::Regression)?;
    if target.kind != Kind::Numeric {
        return Err(TargetError::NotNumeric {
            column: target.name.clone(),
            kind: target.kind,
            estimator: estimator.to_owned(),
        });
    }
    Ok(())
}

/// The classes of a target. With `unlabeled`, rows without a class are allowed.
///
/// # Errors
/// If values are missing, there is a single class, or the target is continuous.
pub fn classes_of_target(target: &ColumnProfile, unlabeled: bool) -> Result<Classes, TargetError> {
    let classes = labels_of_target(target, unlabeled)?;
    if let [class] = classes.labels() {
        return Err(TargetError::OneClass {
            column: target.name.clone(),
            class: class.to_string(),
        });
    }
    Ok(classes)
}

/// As [`classes_of_target`], for a part of the data whose rows may all belong to one of several known classes.
///
/// # Errors
/// If values are missing, or the target is continuous.
pub fn labels_of_target(target: &ColumnProfile, unlabeled: bool) -> Result<Classes, TargetError> {
    if !unlabeled {
        check_present(target, SupervisedTask::Classification)?;
    }
    let n = target.levels.len();
    let most = if target.integers { MAX_INTEGER_CLASSES } else { MAX_NUMERIC_CLASSES };
    let (column, n_distinct) = (target.name.clone(), target.distinct_values());
    if target.kind == Kind::Numeric && (n == 0 || n > most) {
        return Err(TargetError::Continuous { column, n_distinct });
    }
    if n == 0 {
        return Err(TargetError::TooManyClasses { column, n_distinct });
    }
    Ok(Classes::new(target.levels.names().iter().map(|w| Label::parse(w)).collect()))
}

/// Pairs of classes whose labels differ only by case or blanks, most likely by mistake.
pub fn similar_classes(classes: &Classes) -> Vec<(String, String)> {
    let mut first: HashMap<String, String> = HashMap::new();
    let mut pairs = Vec::new();
    for label in classes.labels().iter().map(Label::to_string) {
        let folded: String = label.to_lowercase().split_whitespace().collect();
        match first.get(&folded) {
            Some(other) => pairs.push((other.clone(), label)),
            None => drop(first.insert(folded, label)),
        }
    }
    pairs
}

fn check_present(target: &ColumnProfile, task: SupervisedTask) -> Result<(), TargetError> {
    match target.first_missing_line {
        Some(line) => Err(TargetError::MissingValues {
            column: target.name.clone(),
            n_missing: target.n_missing,
            line,
            task,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Levels;
    use std::sync::Arc;

    fn target(kind: Kind, levels: impl Iterator<Item = String>, integers: bool) -> ColumnProfile {
        let levels = Arc::new(Levels::new(levels.collect()));
        ColumnProfile {
            name: "y".into(),
            kind,
            n_missing: 0,
            first_missing_line: None,
            n_distinct: levels.len() as u64,
            level_counts: Vec::new(),
            levels,
            distinct_capped: false,
            width: 1,
            first_index: None,
            min: None,
            max: None,
            integers,
            notation: crate::data::Notation::Plain,
            declared: false,
            note: None,
        }
    }

    #[test]
    fn numeric_targets_with_many_values_are_regression_targets() {
        let integers = |n: i32| target(Kind::Numeric, (0..n).map(|i| i.to_string()), true);
        let halves = |n: i32| target(Kind::Numeric, (0..n).map(|i| format!("{i}.5")), false);
        let names = target(Kind::Categorical, (0..200).map(|i| format!("c{i}")), false);

        let regression = |t: &ColumnProfile| SupervisedTask::infer(t) == SupervisedTask::Regression;
        assert!(!regression(&integers(20)) && regression(&integers(21)));
        assert!(!regression(&halves(20)) && regression(&halves(21)));
        assert!(!regression(&names));
        assert!(regression(&integers(0)), "too many values to list");
    }

    #[test]
    fn words_with_too_many_values_are_not_called_numbers() {
        let many = target(Kind::Categorical, std::iter::empty(), false);

        let message = classes_of_target(&many, false).unwrap_err().to_string();

        assert!(message.contains("too many for classes") && !message.contains("numeric"));
    }

    #[test]
    fn classes_that_differ_by_case_or_blanks_are_found() {
        let classes = Classes::from_names(["yes", "no", "Yes", " yes ", "n o"]);

        let pairs = similar_classes(&classes);

        let shown: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}|{b}")).collect();
        assert_eq!(shown, [" yes |Yes", "n o|no", " yes |yes"]);
    }

    #[test]
    fn a_part_with_one_class_has_its_label() {
        let one = target(Kind::Categorical, ["yes".to_owned()].into_iter(), false);

        assert_eq!(labels_of_target(&one, false).unwrap(), Classes::from_names(["yes"]));
    }

    #[test]
    fn a_single_class_is_refused_with_its_name() {
        let one = target(Kind::Categorical, ["yes".to_owned()].into_iter(), false);

        let error = classes_of_target(&one, false).unwrap_err();

        assert_eq!(error, TargetError::OneClass { column: "y".into(), class: "yes".into() });
    }
}
