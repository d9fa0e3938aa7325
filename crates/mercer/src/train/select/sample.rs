//! The rows that candidates are compared on: all of them, or a random sample of a large table.

use crate::data::{Classes, Field, Label, Levels, Schema, Stream, Table, Values};
use crate::error::{Error, Result};
use crate::evaluate::{Folds, Split, Splitting};
use crate::model::Monitor;
use crate::train::Task;
use mercer_num::random::Random;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows that are read together.
const ROWS_PER_TABLE: usize = 4096;
/// Rows that candidates are compared on at most,
const MAX_ROWS: u64 = 100_000;
/// and cells.
const MAX_CELLS: u64 = 20_000_000;

/// The rows that candidates are compared on.
pub struct Sample {
    /// The columns and the target.
    pub table: Table,
    /// Whether rows of the input were left out.
    pub is_partial: bool,
}

/// The schema to read: the columns of the table, with the target as the task needs it.
pub fn reading_schema(schema: &Schema, target: &str, task: Task<'_>) -> Schema {
    let fields = schema.fields.iter().map(|field| match task {
        Task::Classification(classes) if field.name == target => class_field(target, classes),
        Task::Regression if field.name == target => {
            Field::written(target.to_owned(), field.notation.clone())
        }
        _ => field.clone(),
    });
    Schema { fields: fields.collect() }
}

fn class_field(target: &str, classes: &Classes) -> Field {
    let names = classes.labels().iter().map(Label::to_string).collect();
    Field::categorical(target.to_owned(), Arc::new(Levels::new(names)))
}

impl Sample {
    /// No rows.
    pub fn empty() -> Sample {
        Sample { table: Table::default(), is_partial: true }
    }

    /// Reads the rows; of a table that is too large, each with the same probability.
    ///
    /// # Errors
    /// The error of the stream, or [`Error::Stopped`].
    pub fn read<S: Stream>(
        stream: &S,
        schema: &Schema,
        n_rows: u64,
        seed: u64,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Sample, S::Error> {
        Sample::read_up_to(MAX_ROWS, stream, schema, n_rows, seed, monitor)
    }

    /// Reads the rows, at most `limit` of them; of a table that is too large, each with the same probability.
    ///
    /// # Errors
    /// The error of the stream, or [`Error::Stopped`].
    pub fn read_up_to<S: Stream>(
        limit: u64,
        stream: &S,
        schema: &Schema,
        n_rows: u64,
        seed: u64,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Sample, S::Error> {
        let width: u64 = schema.fields.iter().map(|field| field.width.max(1) as u64).sum();
        let max_rows = limit.min(MAX_CELLS / width.max(1)).max(1000);
        let is_partial = n_rows > max_rows;
        let probability = max_rows as f64 / n_rows.max(1) as f64;
        monitor.reserve("holding the rows for the comparison", 8 * n_rows.min(max_rows) * width)?;
        let (mut random, mut table) = (Random::new(seed), Table::new(Vec::new())?);
        stream.stream(schema, ROWS_PER_TABLE, &mut |tables| {
            for part in tables {
                let part = match is_partial {
                    true => {
                        let keep = (0..part.n_rows()).filter(|_| random.uniform() < probability);
                        part.rows_at(&keep.collect::<Vec<_>>())?
                    }
                    false => part,
                };
                table.append(part)?;
            }
            Ok(match monitor.stop() {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            })
        })?;
        if monitor.stop().is_some() {
            return Err(Error::Stopped.into());
        }
        Ok(Sample { table, is_partial })
    }
}

/// A random subset of rows with the proportions of the classes, in ascending order.
pub(in crate::train) fn subset(codes: &[u32], n_classes: usize, n: usize, seed: u64) -> Vec<usize> {
    if n >= codes.len() {
        return (0..codes.len()).collect();
    }
    let n_parts = codes.len().div_ceil(n.max(1));
    let mut parts = Folds::new(n_parts, n_classes.max(1), seed).split(codes);
    let mut rows = parts.swap_remove(0);
    // The first part of the split has at least a row of every class that has enough of them.
    let mut more = parts.into_iter().flatten().collect::<Vec<_>>();
    Random::new(seed).shuffle(&mut more);
    rows.extend(more.into_iter().take(n.saturating_sub(rows.len())));
    rows.sort_unstable();
    rows
}

/// The columns that decide about the folds, besides the classes.
#[derive(Default)]
pub(in crate::train) struct SplitColumns {
    /// The group of every row.
    groups: Option<Vec<u32>>,
    /// The time of every row.
    times: Option<Vec<f64>>,
}

impl SplitColumns {
    /// The named columns of a table.
    ///
    /// # Errors
    /// If there is no such column, or it has missing values.
    pub fn of(table: &Table, group: Option<&str>, time: Option<&str>) -> Result<SplitColumns> {
        let groups = group.map(|name| cells_of(table, name)).transpose()?;
        let times = time.map(|name| times_of(table, name)).transpose()?;
        Ok(SplitColumns { groups: groups.map(|cells| group_codes(&cells)), times })
    }

    /// The splits of some rows of the table with the given class codes.
    ///
    /// # Errors
    /// As [`Splitting::splits`].
    pub fn splits(
        &self,
        splitting: &Splitting,
        codes: &[u32],
        rows: &[usize],
    ) -> Result<Vec<Split>> {
        let groups =
            self.groups.as_ref().map(|all| rows.iter().map(|i| all[*i]).collect::<Vec<_>>());
        let times = self.times.as_ref().map(|all| rows.iter().map(|i| all[*i]).collect::<Vec<_>>());
        splitting.splits(codes, groups.as_deref(), times.as_deref())
    }
}

/// The cells of a column as strings.
fn cells_of(table: &Table, name: &str) -> Result<Vec<String>> {
    let column = table.column(name).ok_or_else(|| Error::MissingColumn { name: name.into() })?;
    let cell = |row: usize| {
        column.values.cell(row).ok_or_else(|| Error::Kind {
            column: name.into(),
            found: format!("a missing value in row {}", row + 1),
            expected: "a value in every row, to assign the rows to folds by".into(),
        })
    };
    (0..table.n_rows()).map(cell).collect()
}

/// The times of a column: numbers as they are, strings such as dates by their order.
fn times_of(table: &Table, name: &str) -> Result<Vec<f64>> {
    let cells = cells_of(table, name)?;
    if let Some(Values::Numeric(values)) = table.column(name).map(|column| &column.values) {
        return Ok(values.clone());
    }
    let distinct: BTreeMap<&String, f64> = cells.iter().map(|cell| (cell, 0.0)).collect();
    let ranks: HashMap<&String, f64> = distinct.into_keys().zip((0u32..).map(f64::from)).collect();
    Ok(cells.iter().map(|cell| ranks[cell]).collect())
}

/// A code per distinct string, in order of occurrence.
fn group_codes(cells: &[String]) -> Vec<u32> {
    let mut codes: HashMap<&str, u32> = HashMap::new();
    cells
        .iter()
        .map(|cell| {
            let next = codes.len() as u32;
            *codes.entry(cell).or_insert(next)
        })
        .collect()
}

/// Checks that the comparison has enough rows.
pub(in crate::train) fn check_rows(n_rows: usize, n_folds: usize) -> Result<()> {
    if n_rows < 2 * n_folds.max(2) { Err(Error::NoRows) } else { Ok(()) }
}
