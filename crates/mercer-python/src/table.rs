//! Tables from Python: named numeric, categorical, boolean and text columns.
//!
//! Categories are strings, or codes into the levels of a fitted column (`codes`), which need not be looked up again.

use crate::error::raised;
use mercer::data::{Column as Named, Levels, MISSING, Table, UNSEEN, Values};
use mercer::data::{Field, Schema};
use mercer::train::StringTotals;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The name, the kind (`numeric`, `categorical`, `codes`, `boolean`, `text`) and the values of a column.
#[derive(FromPyObject)]
pub struct Column<'py>(String, String, Cells<'py>);

#[derive(FromPyObject)]
enum Cells<'py> {
    Numeric(PyReadonlyArray1<'py, f64>),
    Codes(PyReadonlyArray1<'py, u32>),
    Strings(Vec<Option<String>>),
}

/// Whether strings are free text rather than categories; see [`mercer::train::is_free_text`].
#[pyfunction]
pub fn is_free_text(n_strings: u64, n_distinct: u64, n_tokens: f64, length: f64) -> bool {
    let totals = StringTotals { n_strings: n_strings as f64, n_tokens, length };
    mercer::train::is_free_text(n_strings, n_distinct, || totals)
}

/// The table of some columns.
pub fn read(columns: Vec<Column<'_>>) -> PyResult<Table> {
    read_as(columns, &Schema::default())
}

/// The table of some columns, of which those of codes have the levels of a schema.
pub fn read_as(columns: Vec<Column<'_>>, schema: &Schema) -> PyResult<Table> {
    let named = |Column(name, kind, cells): Column<'_>| {
        let values = match (kind.as_str(), cells) {
            ("numeric", Cells::Numeric(x)) => Values::Numeric(x.as_array().to_vec()),
            ("codes", Cells::Codes(codes)) => known_categories(&name, codes, schema)?,
            ("boolean", Cells::Numeric(x)) => {
                let value = |x: &f64| (!x.is_nan()).then_some(*x != 0.0);
                Values::Boolean(x.as_array().iter().map(value).collect())
            }
            ("categorical", Cells::Strings(strings)) => categories(strings),
            ("text", Cells::Strings(strings)) => Values::Text(strings),
            ("boolean", Cells::Strings(strings)) => {
                Values::Boolean(strings.iter().map(|s| s.as_ref().map(|s| s == "true")).collect())
            }
            _ => {
                let why = format!("column {name:?} does not have values of the kind `{kind}`");
                return Err(PyValueError::new_err(why));
            }
        };
        Ok(Named { name, values })
    };
    let columns = columns.into_iter().map(named).collect::<PyResult<Vec<_>>>()?;
    Table::new(columns).map_err(raised)
}

/// Codes into the levels of a column.
fn known_categories(
    name: &str,
    codes: PyReadonlyArray1<'_, u32>,
    schema: &Schema,
) -> PyResult<Values> {
    let levels = schema.field(name).map(|field| Arc::clone(&field.levels)).unwrap_or_default();
    let codes = codes.as_array().to_vec();
    if codes.iter().any(|code| *code as usize >= levels.len() && *code < UNSEEN) {
        let why = format!("column {name:?} has codes that are no levels of the fitted column");
        return Err(PyValueError::new_err(why));
    }
    Ok(Values::Categorical { codes, levels })
}

fn categories(strings: Vec<Option<String>>) -> Values {
    let distinct: BTreeSet<&String> = strings.iter().flatten().collect();
    let levels = Levels::new(distinct.into_iter().cloned().collect());
    let code = |category: &Option<String>| match category {
        Some(category) => Some(levels.code(category)).filter(|c| *c != UNSEEN).unwrap_or(MISSING),
        None => MISSING,
    };
    let codes = strings.iter().map(code).collect();
    Values::Categorical { codes, levels: Arc::new(levels) }
}

/// The names, kinds and levels of the columns of a table.
pub fn schema(table: &Table) -> Schema {
    let field = |column: &Named| match &column.values {
        Values::Categorical { levels, .. } => Field::categorical(&*column.name, Arc::clone(levels)),
        values => Field::new(&*column.name, values.kind()),
    };
    Schema { fields: table.columns().iter().map(field).collect() }
}
