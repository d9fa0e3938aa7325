//! The table of the session: its profile, its target, and what the checks found.

use super::code::{self, Snippets};
use super::histogram::{Groups, histogram};
use super::session::Session;
use super::{Message, shown_rows};
use crate::error::{ApiError, ApiResult};
use mercer::data::{Classes, ColumnProfile, Kind, Notation, Profile};
use mercer::model::Monitor;
use mercer::preprocess::DroppedColumn;
use mercer::train::checks::{Finding, check_table, sample_rows};
use mercer::train::select::{Sample, reading_schema};
use mercer::train::{
    SupervisedTask, TargetError, Task, check_regression_target, classes_of_target, find_target,
    unusable_columns,
};
use mercer_io::{ColumnType, Options, Source};
use serde::Deserialize;
use serde_json::{Value, json};

/// The types that a column can be declared to have.
const TYPES: [&str; 5] = ["numeric", "categorical", "boolean", "text", "date"];
/// Columns of an answer.
const MAX_COLUMNS: usize = 60;
/// Seed of the sample, the default seed of the folds.
pub(super) const SEED: u64 = 0;

/// What the user chose about a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choices {
    /// Declared types.
    pub types: Vec<(String, ColumnType)>,
    /// The target.
    pub target: Option<String>,
    /// The task; `None` infers it from the target.
    pub task: Option<SupervisedTask>,
    /// Columns that are no features.
    pub ignore: Vec<String>,
}

/// The target with its task.
pub(super) struct Target {
    pub name: String,
    pub task: SupervisedTask,
    /// The classes; none for a regression.
    pub classes: Classes,
    /// Why the task follows from the target.
    pub reason: String,
}

impl Target {
    pub fn task(&self) -> Task<'_> {
        match self.task {
            SupervisedTask::Classification => Task::Classification(&self.classes),
            SupervisedTask::Regression => Task::Regression,
        }
    }
}

/// A table that is open.
pub(super) struct Data {
    /// The name in commands: the path on the command line, or the name of the dropped file.
    pub name: String,
    pub source: Source,
    pub profile: Profile,
    pub choices: Choices,
    pub target: Option<Target>,
    /// Identifiers, constants and duplicates.
    pub unusable: Vec<DroppedColumn>,
    /// The rows of comparisons and of the page: all, or a sample of a large table.
    pub rows: Sample,
    /// The rows that were checked.
    pub checked: Sample,
    pub findings: Vec<Finding>,
}

impl Data {
    /// Profiles and checks a source.
    pub fn read(
        name: &str,
        source: Source,
        choices: Choices,
        monitor: &Monitor<'_>,
    ) -> ApiResult<Data> {
        let profile = source.profile(&|_, _| monitor.stop().is_none())?;
        let named = choices.target.as_deref().or(source.label_column());
        let target = named.map(|name| find(name, choices.task, &profile)).transpose()?;
        let ignore: Vec<String> = choices.ignore.clone();
        let name_of_target = target.as_ref().map(|target| target.name.as_str());
        let unusable = unusable_columns(&profile, name_of_target, &ignore, &source, monitor)?;
        let sparse = profile.columns.iter().filter(|column| column.kind == Kind::Sparse);
        let dropped = unusable.iter().map(|column| &column.name);
        let left_out: Vec<String> =
            ignore.iter().chain(dropped).chain(sparse.map(|c| &c.name)).cloned().collect();
        let supervised = target.as_ref().and_then(|t| Some((profile.column(&t.name)?, t.task)));
        let checked = sample_rows(&profile, supervised, &left_out, &source, monitor)?;
        let findings = check_table(&profile, supervised, &ignore, &unusable, &checked);
        let schema = match &target {
            Some(target) => reading_schema(&profile.schema(), &target.name, target.task()),
            None => profile.schema(),
        };
        let rows = Sample::read(&source, &schema, profile.n_rows, SEED, monitor)?;
        let name = name.to_owned();
        Ok(Data { name, source, profile, choices, target, unusable, rows, checked, findings })
    }

    /// The same table with other choices.
    pub fn with(&self, choices: Choices, monitor: &Monitor<'_>) -> ApiResult<Data> {
        let source = self.source.reopened(&reading(&choices))?;
        Data::read(&self.name, source, choices, monitor)
    }

    /// The target, or the advice to choose one.
    pub fn target(&self) -> ApiResult<&Target> {
        self.target.as_ref().ok_or_else(|| ApiError::bad("choose the target column first"))
    }

    /// The number of a row of `rows` in the file, counted from one; `None` if the rows are a sample.
    pub fn row_number(&self, row: usize) -> Option<usize> {
        (!self.rows.is_partial).then_some(row + 1)
    }
}

/// The options of reading a table.
pub(super) fn reading(choices: &Choices) -> Options {
    Options { types: choices.types.clone(), target: choices.target.clone(), ..Options::default() }
}

/// The target column with its task and classes.
fn find(name: &str, task: Option<SupervisedTask>, profile: &Profile) -> ApiResult<Target> {
    let column = find_target(Some(name), profile)?;
    let task = task.unwrap_or_else(|| SupervisedTask::infer(column));
    let classes = match task {
        SupervisedTask::Regression => {
            check_regression_target(column, "regression").map(|()| Classes::default())?
        }
        SupervisedTask::Classification => classes_of_target(column, false)?,
    };
    Ok(Target { name: name.to_owned(), task, classes, reason: task.reason(column) })
}

impl From<TargetError> for ApiError {
    fn from(error: TargetError) -> ApiError {
        ApiError::bad(error.to_string())
    }
}

/// A part of the columns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Columns {
    /// The first column.
    #[serde(default)]
    from: usize,
    /// Text that the names contain.
    #[serde(default)]
    filter: String,
}

/// `data.describe`: the profile.
pub(super) fn describe(session: &Session, message: Message) -> ApiResult<Value> {
    let Columns { from, filter } = message.parse()?;
    let data = session.data()?;
    let wanted = filter.to_lowercase();
    let matching: Vec<&ColumnProfile> = data
        .profile
        .columns
        .iter()
        .filter(|column| column.name.to_lowercase().contains(&wanted))
        .collect();
    let groups = Groups::of(&data);
    let columns: Vec<Value> = matching
        .iter()
        .skip(from)
        .take(MAX_COLUMNS)
        .map(|column| describe_column(&data, column, &groups))
        .collect();
    Ok(json!({
        "name": data.name,
        "format": data.source.description(),
        "n_rows": data.profile.n_rows,
        "n_columns": data.profile.columns.len(),
        "n_missing": data.profile.columns.iter().map(|c| c.n_missing).sum::<u64>(),
        "sampled_rows": data.rows.table.n_rows(),
        "is_sample": data.rows.is_partial,
        "target": data.target.as_ref().map(|target| target.name.as_str()),
        "task": data.target.as_ref().map(|target| describe_task(&data, target)),
        "column_names": data.profile.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        "groups": groups.names,
        "group_label": groups.label,
        "columns": columns,
        "n_matching": matching.len(),
        "from": from,
        "findings": data.findings.iter().map(|f| describe_finding(&data, f)).collect::<Vec<_>>(),
        "code": Snippets::of_table(&data),
    }))
}

fn describe_task(data: &Data, target: &Target) -> Value {
    // Only numbers can be both classes and a regression target.
    let kind = data.profile.column(&target.name).map(|column| column.kind);
    let other = (kind == Some(Kind::Numeric)).then(|| target.task.other().to_string());
    json!({
        "name": target.task.to_string(),
        "reason": target.reason,
        "other": other,
        "classes": target.classes.labels().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// A finding with the command of its remedy.
pub(super) fn describe_finding(data: &Data, finding: &Finding) -> Value {
    let options = &finding.remedy.options;
    json!({
        "code": finding.code,
        "title": finding.title,
        "figure": finding.figure,
        "columns": finding.columns,
        "rows": finding.rows,
        "advice": finding.remedy.advice,
        "command": (!options.is_empty()).then(|| code::train_command(data, options)),
        "page": format!("docs/checks/{}.md", finding.code),
    })
}

fn describe_column(data: &Data, column: &ColumnProfile, groups: &Groups) -> Value {
    let values = data.rows.table.column(&column.name).map(|column| &column.values);
    let dropped = data.unusable.iter().find(|dropped| dropped.name == column.name);
    let is_target = data.target.as_ref().is_some_and(|target| target.name == column.name);
    let (type_name, n) = (column.type_name(), data.profile.n_rows);
    json!({
        "name": column.name,
        "type": type_name,
        "types": if column.kind == Kind::Sparse { vec![] } else { TYPES.to_vec() },
        "why": why(column, n),
        "declared": column.declared,
        "ignored": data.choices.ignore.contains(&column.name),
        "is_target": is_target,
        "dropped": dropped.map(|dropped| dropped.reason.to_string()),
        "n_missing": column.n_missing,
        "missing_fraction": column.n_missing as f64 / n.max(1) as f64,
        "distinct": column.distinct_values(),
        "range": column.shown_range(),
        "examples": values.map_or_else(Vec::new, |values| {
            let cells = (0..values.len().min(200)).filter_map(|i| values.cell(i));
            let mut examples: Vec<String> = Vec::new();
            for cell in cells.map(|cell| shown_rows::shortened(&cell, 60)) {
                if examples.len() < 3 && !examples.contains(&cell) {
                    examples.push(cell);
                }
            }
            examples
        }),
        "histogram": values.and_then(|values| histogram(column, values, groups)),
    })
}

/// Why a column has its type.
fn why(column: &ColumnProfile, n_rows: u64) -> String {
    if column.declared {
        return "chosen by you".into();
    }
    if let Some(note) = &column.note {
        return note.clone();
    }
    let n_present = n_rows - column.n_missing.min(n_rows);
    match (column.kind, &column.notation) {
        (_, Notation::Date(_)) => format!("all {n_present} values are dates"),
        (Kind::Numeric, _) if column.integers => format!("all {n_present} values are integers"),
        (Kind::Numeric, _) => format!("all {n_present} values are numbers"),
        (Kind::Categorical, _) => {
            let distinct = column.distinct_values();
            format!("{distinct} distinct strings in {n_present} values")
        }
        (Kind::Boolean, _) => format!("all {n_present} values are true or false"),
        (Kind::Text, _) => "long or mostly distinct strings".into(),
        (Kind::Sparse, _) => format!("{} features in index:value pairs", column.width),
    }
}

/// `data.target`: chooses the target and, if it is given, the task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTarget {
    target: Option<String>,
    #[serde(default)]
    task: Option<String>,
}

pub(super) fn set_target(session: &Session, message: Message) -> ApiResult<Value> {
    let NewTarget { target, task } = message.parse()?;
    let task = match task.as_deref() {
        None => None,
        Some("classification") => Some(SupervisedTask::Classification),
        Some("regression") => Some(SupervisedTask::Regression),
        Some(_) => return Err(ApiError::bad("the task is `classification` or `regression`")),
    };
    let data = session.data()?;
    let choices = Choices { target, task, ..data.choices.clone() };
    session.replace(data.with(choices, &session.monitor())?);
    Ok(json!({}))
}

/// `data.type`: declares the type of a column; `ignore` leaves it out, `null` infers the type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewType {
    column: String,
    #[serde(rename = "type")]
    type_name: Option<String>,
}

pub(super) fn set_type(session: &Session, message: Message) -> ApiResult<Value> {
    let NewType { column, type_name } = message.parse()?;
    let data = session.data()?;
    if data.profile.column(&column).is_none() {
        return Err(ApiError::bad(format!("there is no column `{column}`")));
    }
    let mut choices = data.choices.clone();
    choices.types.retain(|(name, _)| *name != column);
    choices.ignore.retain(|name| *name != column);
    match type_name.as_deref() {
        None => {}
        Some("ignore") if data.target.as_ref().is_some_and(|target| target.name == column) => {
            return Err(ApiError::bad(format!("`{column}` is the target; choose another first")));
        }
        Some("ignore") => choices.ignore.push(column),
        Some(name) => {
            choices.types.push((column, name.parse().map_err(|e: String| ApiError::bad(e))?))
        }
    }
    session.replace(data.with(choices, &session.monitor())?);
    Ok(json!({}))
}

/// `data.rows`: some rows as text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowRange {
    #[serde(default)]
    from: usize,
}

pub(super) fn rows(session: &Session, message: Message) -> ApiResult<Value> {
    let RowRange { from } = message.parse()?;
    let data = session.data()?;
    let n = data.rows.table.n_rows();
    let last = from.saturating_add(shown_rows::MAX_ROWS).min(n);
    let rows: Vec<usize> = (from.min(n)..last).collect();
    let mut answer = shown_rows::table(&data, &rows, &[]);
    answer["from"] = json!(from);
    answer["n_rows"] = json!(n);
    answer["is_sample"] = json!(data.rows.is_partial);
    Ok(answer)
}
