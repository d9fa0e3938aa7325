//! Rows of the table as text for the page.

use super::data::Data;
use mercer::data::{Column, Values};
use serde_json::{Value, json};

/// Rows of an answer.
pub(super) const MAX_ROWS: usize = 50;
/// Columns of an answer.
const MAX_COLUMNS: usize = 24;
/// Characters of a cell.
const MAX_CHARACTERS: usize = 160;

/// Some rows: the target and the columns named first, then the others.
pub(super) fn table(data: &Data, rows: &[usize], first: &[String]) -> Value {
    let columns = data.rows.table.columns();
    let target = data.target.as_ref().map(|target| target.name.as_str());
    let rank = |column: &&Column| {
        let listed = first.iter().position(|name| *name == column.name);
        (Some(column.name.as_str()) != target, listed.unwrap_or(usize::MAX))
    };
    let mut ordered: Vec<&Column> = columns.iter().collect();
    ordered.sort_by_key(rank);
    let shown = &ordered[..ordered.len().min(MAX_COLUMNS)];
    let cells = |row: usize| -> Vec<Option<String>> {
        shown.iter().map(|column| cell(data, column, row)).collect()
    };
    json!({
        "columns": shown.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        "n_columns": columns.len(),
        "rows": rows
            .iter()
            .map(|row| json!({"row": row, "number": data.row_number(*row), "cells": cells(*row)}))
            .collect::<Vec<_>>(),
    })
}

/// A cell in the notation of its column; `None` if it is missing.
pub(super) fn cell(data: &Data, column: &Column, row: usize) -> Option<String> {
    match (&column.values, data.profile.column(&column.name)) {
        (Values::Numeric(values), Some(profile)) => {
            (!values[row].is_nan()).then(|| profile.notation.format(values[row]))
        }
        (Values::Sparse(_), _) => Some("…".into()),
        (values, _) => values.cell(row).map(|cell| shortened(&cell, MAX_CHARACTERS)),
    }
}

/// A text of at most so many characters.
pub(super) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
