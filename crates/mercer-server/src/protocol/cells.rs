//! The values of a column, from the cells of a request to the kind of the model's column.

use crate::error::{ApiError, ApiResult};
use mercer::data::{Column, Field, Kind, Levels, MISSING, UNSEEN, Values};
use mercer_num::Sparse;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Integers of at least this magnitude are not all representable, so they name no category.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// One cell.
#[derive(Debug)]
pub(crate) enum Cell<'a> {
    Null,
    Number(f64),
    Boolean(bool),
    Text(Cow<'a, str>),
}

impl<'de> Deserialize<'de> for Cell<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cell<'de>, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a string, a boolean or null")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Cell<'de>, E> {
        Ok(Cell::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Cell<'de>, E> {
        Ok(Cell::Boolean(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Cell<'de>, E> {
        Ok(Cell::Number(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Cell<'de>, E> {
        Ok(Cell::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Cell<'de>, E> {
        Ok(Cell::Number(value))
    }

    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(value.to_owned())))
    }
}

/// The cells of a column or a tensor, all of one type or null.
#[derive(Debug, PartialEq)]
pub(crate) enum Cells {
    /// Only nulls so far.
    Nulls(usize),
    /// NaN is null.
    Numbers(Vec<f64>),
    Booleans(Vec<Option<bool>>),
    Strings(Vec<Option<String>>),
}

impl Default for Cells {
    fn default() -> Cells {
        Cells::Nulls(0)
    }
}

impl Cells {
    pub fn len(&self) -> usize {
        match self {
            Cells::Nulls(n) => *n,
            Cells::Numbers(all) => all.len(),
            Cells::Booleans(all) => all.len(),
            Cells::Strings(all) => all.len(),
        }
    }

    /// What the cells hold, for messages.
    fn noun(&self) -> &'static str {
        match self {
            Cells::Nulls(_) => "nulls",
            Cells::Numbers(_) => "numbers",
            Cells::Booleans(_) => "booleans",
            Cells::Strings(_) => "strings",
        }
    }

    /// Appends a cell; the message of the error says what does not fit.
    pub fn push(&mut self, cell: Cell<'_>) -> Result<(), String> {
        if let (Cells::Nulls(n), false) = (&*self, matches!(cell, Cell::Null)) {
            *self = match cell {
                Cell::Number(_) => Cells::Numbers(vec![f64::NAN; *n]),
                Cell::Boolean(_) => Cells::Booleans(vec![None; *n]),
                Cell::Text(_) | Cell::Null => Cells::Strings(vec![None; *n]),
            };
        }
        match (&mut *self, cell) {
            (Cells::Nulls(n), Cell::Null) => *n += 1,
            (Cells::Numbers(all), Cell::Number(x)) => all.push(x),
            (Cells::Numbers(all), Cell::Null) => all.push(f64::NAN),
            (Cells::Booleans(all), Cell::Boolean(x)) => all.push(Some(x)),
            (Cells::Booleans(all), Cell::Null) => all.push(None),
            (Cells::Strings(all), Cell::Text(x)) => all.push(Some(x.into_owned())),
            (Cells::Strings(all), Cell::Null) => all.push(None),
            (cells, cell) => {
                let found = match cell {
                    Cell::Number(_) => "a number",
                    Cell::Boolean(_) => "a boolean",
                    Cell::Text(_) => "a string",
                    Cell::Null => "null",
                };
                return Err(format!("found {found} after {}", cells.noun()));
            }
        }
        Ok(())
    }

    /// The column of a field.
    pub fn into_column(self, field: &Field) -> ApiResult<Column> {
        let values = self.into_values(field).map_err(|(row, found)| {
            let row = row.map_or(String::new(), |row| format!("row {}, ", row + 1));
            let name = field.name.escape_debug();
            let expected = expected(field.kind);
            ApiError::bad(format!("{row}column `{name}`: found {found}, expected {expected}"))
        })?;
        Ok(Column { name: field.name.clone(), values })
    }

    /// The values of a field, or the row and what was found there.
    fn into_values(self, field: &Field) -> Result<Values, (Option<usize>, String)> {
        let noun = self.noun().to_owned();
        match (field.kind, self) {
            (Kind::Numeric, Cells::Nulls(n)) => Ok(Values::Numeric(vec![f64::NAN; n])),
            (Kind::Numeric, Cells::Numbers(all)) => {
                match all.iter().position(|x| x.is_infinite()) {
                    Some(row) => Err((Some(row), all[row].to_string())),
                    None => Ok(Values::Numeric(all)),
                }
            }
            (Kind::Numeric, Cells::Booleans(all)) => {
                let number = |x: Option<bool>| x.map_or(f64::NAN, f64::from);
                Ok(Values::Numeric(all.into_iter().map(number).collect()))
            }
            (Kind::Boolean, Cells::Nulls(n)) => Ok(Values::Boolean(vec![None; n])),
            (Kind::Boolean, Cells::Booleans(all)) => Ok(Values::Boolean(all)),
            (Kind::Boolean, Cells::Numbers(all)) => booleans(&all),
            (Kind::Boolean, Cells::Strings(all)) => booleans_of_strings(&all),
            (Kind::Categorical, cells) => categories(cells, &field.levels),
            (Kind::Text, Cells::Nulls(n)) => Ok(Values::Text(vec![None; n])),
            (Kind::Text, Cells::Strings(all)) => Ok(Values::Text(all)),
            (Kind::Numeric | Kind::Text | Kind::Sparse, _) => Err((None, noun)),
        }
    }
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Numeric => "finite numbers or null",
        Kind::Boolean => "booleans, the numbers 0 and 1, or null",
        Kind::Categorical => "strings or null",
        Kind::Text => "strings or null",
        Kind::Sparse => "one tensor with a column for every feature",
    }
}

fn booleans(all: &[f64]) -> Result<Values, (Option<usize>, String)> {
    let boolean = |(row, x): (usize, &f64)| match *x {
        x if x.is_nan() => Ok(None),
        0.0 => Ok(Some(false)),
        1.0 => Ok(Some(true)),
        x => Err((Some(row), x.to_string())),
    };
    Ok(Values::Boolean(all.iter().enumerate().map(boolean).collect::<Result<_, _>>()?))
}

fn booleans_of_strings(all: &[Option<String>]) -> Result<Values, (Option<usize>, String)> {
    let boolean = |(row, text): (usize, &Option<String>)| match text {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(_) => Err((Some(row), "another string than true or false".to_owned())),
    };
    Ok(Values::Boolean(all.iter().enumerate().map(boolean).collect::<Result<_, _>>()?))
}

fn categories(cells: Cells, levels: &Arc<Levels>) -> Result<Values, (Option<usize>, String)> {
    let codes = match cells {
        Cells::Nulls(n) => vec![MISSING; n],
        Cells::Strings(all) => {
            let code = |text: Option<String>| text.map_or(MISSING, |text| levels.code(&text));
            all.into_iter().map(code).collect()
        }
        Cells::Booleans(all) => {
            let code = |x: Option<bool>| x.map_or(MISSING, |x| levels.code(&x.to_string()));
            all.into_iter().map(code).collect()
        }
        Cells::Numbers(all) => {
            let code = |(row, x): (usize, &f64)| match *x {
                x if x.is_nan() => Ok(MISSING),
                x if x.abs() >= MAX_EXACT_INTEGER => {
                    Err((Some(row), format!("the number {x}, which may be rounded")))
                }
                x => Ok(level_of_number(x, levels)),
            };
            all.iter().enumerate().map(code).collect::<Result<_, _>>()?
        }
    };
    Ok(Values::Categorical { codes, levels: Arc::clone(levels) })
}

/// The level that a number is: written as the number is, or of the same value, as 1 is the level `1.0`.
fn level_of_number(x: f64, levels: &Levels) -> u32 {
    let code = levels.code(&x.to_string());
    if code != UNSEEN {
        return code;
    }
    let same = |level: &String| level.parse::<f64>().is_ok_and(|level| level == x);
    levels.names().iter().position(same).map_or(UNSEEN, |code| code as u32)
}

/// A numeric matrix, row by row, as the columns of a schema.
pub(crate) fn columns_of_matrix(
    cells: Cells,
    n_rows: usize,
    fields: &[Field],
) -> ApiResult<Vec<Column>> {
    let n_columns = fields.len();
    if let [field] = fields
        && field.kind == Kind::Sparse
    {
        return Ok(vec![sparse_column(cells, n_rows, field)?]);
    }
    let mut columns: Vec<Cells> = (0..n_columns).map(|_| Cells::default()).collect();
    match cells {
        Cells::Numbers(all) => {
            for (j, column) in columns.iter_mut().enumerate() {
                *column =
                    Cells::Numbers(all.iter().skip(j).step_by(n_columns.max(1)).copied().collect());
            }
        }
        Cells::Strings(all) => {
            columns.iter_mut().for_each(|column| *column = Cells::Strings(Vec::new()));
            for (i, text) in all.into_iter().enumerate() {
                if let Cells::Strings(column) = &mut columns[i % n_columns] {
                    column.push(text);
                }
            }
        }
        Cells::Booleans(all) => {
            for (j, column) in columns.iter_mut().enumerate() {
                *column = Cells::Booleans(
                    all.iter().skip(j).step_by(n_columns.max(1)).copied().collect(),
                );
            }
        }
        Cells::Nulls(_) => columns.iter_mut().for_each(|column| *column = Cells::Nulls(n_rows)),
    }
    columns.into_iter().zip(fields).map(|(cells, field)| cells.into_column(field)).collect()
}

/// The features of a sparse column, from a matrix with one column for each of them.
fn sparse_column(cells: Cells, n_rows: usize, field: &Field) -> ApiResult<Column> {
    let wrong = |found: &str| {
        ApiError::bad(format!(
            "column `{}`: found {found}, expected a matrix of finite numbers with {} columns",
            field.name, field.width
        ))
    };
    let Cells::Numbers(all) = cells else { return Err(wrong(cells.noun())) };
    if all.len() != n_rows * field.width {
        return Err(wrong(&format!("{} numbers in {n_rows} rows", all.len())));
    }
    if let Some(x) = all.iter().find(|x| !x.is_finite()) {
        return Err(wrong(&if x.is_nan() { "a missing value".to_owned() } else { x.to_string() }));
    }
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in all.chunks(field.width.max(1)) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as i32);
            values.push(*x);
        }
        starts.push(indices.len());
    }
    let rows = Sparse::new((n_rows, field.width), starts, indices, values);
    Ok(Column { name: field.name.clone(), values: Values::Sparse(rows) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn cells(json: &str) -> Result<Cells, String> {
        let list: Vec<Cell<'_>> = serde_json::from_str(json).map_err(|e| e.to_string())?;
        let mut cells = Cells::default();
        list.into_iter().try_for_each(|cell| cells.push(cell)).map(|()| cells)
    }

    #[test]
    fn null_is_a_missing_value_of_every_type() {
        assert_eq!(cells("[null, null]").unwrap(), Cells::Nulls(2));
        let Cells::Numbers(numbers) = cells("[null, 1, 2.5, null]").unwrap() else { panic!() };
        assert!(numbers[0].is_nan() && numbers[1] == 1.0 && numbers[3].is_nan());
        let strings = cells(r#"[null, "a"]"#).unwrap();
        assert_eq!(strings, Cells::Strings(vec![None, Some("a".into())]));
        assert!(cells(r#"[1, "a"]"#).unwrap_err().contains("found a string after numbers"));
        assert!(cells("[[1]]").is_err());
    }

    #[test]
    fn numbers_name_levels_by_value() {
        let levels = Arc::new(Levels::new(vec!["1".into(), "2.0".into(), "b".into()]));
        let field = Field::categorical("c", levels);
        let codes = |json: &str| match cells(json).unwrap().into_column(&field).unwrap().values {
            Values::Categorical { codes, .. } => codes,
            _ => panic!(),
        };

        assert_eq!(codes("[1, 2, 3, null]"), [0, 1, UNSEEN, MISSING]);
        assert_eq!(codes(r#"["b", "x"]"#), [2, UNSEEN]);
        let rounded = cells("[9007199254740993]").unwrap().into_column(&field).unwrap_err();
        assert!(rounded.message.contains("may be rounded"), "{rounded:?}");
    }
}
