//! Rows and columns in JSON, parsed straight into columns: no tree of values is built, so that the memory of a request
//! is bounded by its size.

use super::cells::{Cell, Cells, columns_of_matrix};
use super::json_error;
use crate::error::{ApiError, ApiResult};
use crate::models::Served;
use crate::options::Parameters;
use mercer::data::{Field, Table};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// The most columns of a row without names.
const MAX_COLUMNS: usize = 1 << 20;

/// The keys under which a request may have its rows; exactly one of them.
const ROW_KEYS: [&str; 4] = ["instances", "inputs", "dataframe_records", "dataframe_split"];

/// A JSON request of rows.
#[derive(Default)]
pub(crate) struct RowRequest {
    rows: Option<(String, Columns)>,
    pub parameters: Parameters,
}

/// The cells of a request by column.
#[derive(Default)]
struct Columns {
    layout: Option<Layout>,
    cells: Vec<Cells>,
    n_rows: usize,
    /// The names of the columns of a split table.
    names: Option<Vec<String>>,
}

/// How the columns are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// By position in each row.
    Position,
    /// By name: the index is that of the model's column.
    Name,
}

/// Parses a request for a model.
pub(crate) fn parse(body: &[u8], served: &Served, max_rows: usize) -> ApiResult<RowRequest> {
    let mut request = RowRequest::default();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let seed = RequestSeed { request: &mut request, positions: &served.positions, max_rows };
    seed.deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|e| json_error(&e, body))?;
    Ok(request)
}

impl RowRequest {
    /// The table of the request, in the columns of the model.
    pub fn table(&mut self, served: &Served) -> ApiResult<Table> {
        let Some((_, columns)) = self.rows.take() else {
            return Err(ApiError::bad(format!(
                "the request has no rows; it needs one of {}",
                ROW_KEYS.join(", ")
            )));
        };
        let fields = &served.trained.features.schema.fields;
        let columns = match (columns.names, columns.layout) {
            (Some(names), _) => by_names(columns.cells, &names, served)?,
            (None, Some(Layout::Name)) => columns.cells,
            (None, _) => return table_by_position(columns.cells, columns.n_rows, fields),
        };
        let filled = columns.into_iter().zip(fields).map(|(cells, field)| {
            if cells.len() == 0 {
                return Err(ApiError::bad(format!(
                    "column `{}` is not in the request",
                    field.name
                )));
            }
            cells.into_column(field)
        });
        Ok(Table::new(filled.collect::<ApiResult<_>>()?)?)
    }
}

/// The columns of a model among those with names; others are ignored.
fn by_names(cells: Vec<Cells>, names: &[String], served: &Served) -> ApiResult<Vec<Cells>> {
    if !cells.is_empty() && names.len() != cells.len() {
        return Err(ApiError::bad(format!(
            "the rows have {} values, but there are {} column names",
            cells.len(),
            names.len()
        )));
    }
    let n_fields = served.trained.features.schema.fields.len();
    let mut columns: Vec<Cells> = (0..n_fields).map(|_| Cells::default()).collect();
    for (name, cells) in names.iter().zip(cells) {
        if let Some(k) = served.positions.get(name) {
            if columns[*k].len() > 0 {
                return Err(ApiError::bad(format!(
                    "column `{}` occurs twice",
                    name.escape_debug()
                )));
            }
            columns[*k] = cells;
        }
    }
    Ok(columns)
}

fn table_by_position(cells: Vec<Cells>, n_rows: usize, fields: &[Field]) -> ApiResult<Table> {
    if let [field] = fields
        && field.width == cells.len()
        && field.width > 1
    {
        return Ok(Table::new(columns_of_matrix(row_major(cells, n_rows)?, n_rows, fields)?)?);
    }
    if cells.len() != fields.len() {
        return Err(ApiError::bad(format!(
            "a row has {} values, but the model has {} columns; send one value per column in the order of training, \
             or an object with the names of the columns",
            cells.len(),
            fields.len()
        )));
    }
    let columns = cells.into_iter().zip(fields).map(|(cells, field)| cells.into_column(field));
    Ok(Table::new(columns.collect::<ApiResult<_>>()?)?)
}

/// Columns of numbers as one matrix, row by row.
fn row_major(columns: Vec<Cells>, n_rows: usize) -> ApiResult<Cells> {
    let n_columns = columns.len();
    let mut all = vec![f64::NAN; n_rows * n_columns];
    for (j, column) in columns.into_iter().enumerate() {
        let Cells::Numbers(column) = column else {
            return Err(ApiError::bad("the features of a sparse model must all be numbers"));
        };
        column.iter().enumerate().for_each(|(i, x)| all[i * n_columns + j] = *x);
    }
    Ok(Cells::Numbers(all))
}

/// Parses the whole request: an object with the rows under one of their keys, or the list of rows itself.
struct RequestSeed<'a> {
    request: &'a mut RowRequest,
    positions: &'a HashMap<String, usize>,
    max_rows: usize,
}

impl RequestSeed<'_> {
    fn put<E: de::Error>(&mut self, key: &str, columns: Columns) -> Result<(), E> {
        match &self.request.rows {
            Some((other, _)) => Err(E::custom(format!("both `{other}` and `{key}` are given"))),
            None => {
                self.request.rows = Some((key.to_owned(), columns));
                Ok(())
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for RequestSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RequestSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with rows, or a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, list: A) -> Result<(), A::Error> {
        let mut columns = Columns::default();
        RowsSeed { columns: &mut columns, positions: self.positions, max_rows: self.max_rows }
            .visit_seq(list)?;
        self.put("instances", columns)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let mut columns = Columns::default();
            let (positions, max_rows) = (self.positions, self.max_rows);
            let rows = RowsSeed { columns: &mut columns, positions, max_rows };
            match key.as_ref() {
                "instances" | "dataframe_records" => map.next_value_seed(rows)?,
                "inputs" => map.next_value_seed(InputsSeed(rows))?,
                "dataframe_split" => map.next_value_seed(SplitSeed(rows))?,
                "params" | "parameters" => {
                    self.request.parameters = map.next_value()?;
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            }
            self.put(&key, columns)?;
        }
        Ok(())
    }
}

/// Parses a list of rows.
struct RowsSeed<'a> {
    columns: &'a mut Columns,
    positions: &'a HashMap<String, usize>,
    max_rows: usize,
}

impl<'de> DeserializeSeed<'de> for RowsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let columns = self.columns;
        loop {
            let row = RowSeed { columns: &mut *columns, positions: self.positions };
            if list.next_element_seed(row)?.is_none() {
                return Ok(());
            }
            if columns.n_rows > self.max_rows {
                return Err(de::Error::custom(format!(
                    "more than {} rows; send fewer",
                    self.max_rows
                )));
            }
        }
    }
}

/// Parses one row: a list of values, an object of values by column, or the only value.
struct RowSeed<'a> {
    columns: &'a mut Columns,
    positions: &'a HashMap<String, usize>,
}

impl RowSeed<'_> {
    /// All rows are written alike.
    fn begin<E: de::Error>(&mut self, layout: Layout) -> Result<(), E> {
        if *self.columns.layout.get_or_insert(layout) != layout {
            let row = self.columns.n_rows + 1;
            return Err(E::custom(format!(
                "row {row}: some rows are objects with column names and others are not"
            )));
        }
        Ok(())
    }

    fn push<E: de::Error>(&mut self, k: usize, cell: Cell<'_>) -> Result<(), E> {
        let row = self.columns.n_rows + 1;
        if k >= self.columns.cells.len() {
            if row > 1 || k >= MAX_COLUMNS {
                return Err(self.wrong_length(k + 1));
            }
            self.columns.cells.resize_with(k + 1, Cells::default);
        }
        let pushed = self.columns.cells[k].push(cell);
        pushed.map_err(|why| E::custom(format!("row {row}, value {}: {why}", k + 1)))
    }

    fn wrong_length<E: de::Error>(&self, found: usize) -> E {
        let row = self.columns.n_rows + 1;
        let expected = self.columns.cells.len();
        E::custom(format!("row {row} has at least {found} values, the first row has {expected}"))
    }

    fn single<E: de::Error>(mut self, cell: Cell<'_>) -> Result<(), E> {
        self.begin(Layout::Position)?;
        self.push(0, cell)?;
        self.end(1)
    }

    fn end<E: de::Error>(self, n_values: usize) -> Result<(), E> {
        let (row, width) = (self.columns.n_rows + 1, self.columns.cells.len());
        if n_values != width {
            return Err(E::custom(format!(
                "row {row} has {n_values} values, the first row has {width}"
            )));
        }
        self.columns.n_rows += 1;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: a list of values, an object of values by column, or a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.single(Cell::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.single(Cell::Boolean(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.single(Cell::Number(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.single(Cell::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.single(Cell::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.single(Cell::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        self.begin(Layout::Position)?;
        let mut n_values = 0;
        while let Some(cell) = list.next_element()? {
            self.push(n_values, cell)?;
            n_values += 1;
        }
        self.end(n_values)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.begin(Layout::Name)?;
        let n_before = self.columns.n_rows;
        if self.columns.cells.is_empty() {
            self.columns.cells.resize_with(self.positions.len(), Cells::default);
        }
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let Some(k) = self.positions.get(key.as_ref()) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let cell: Cell<'_> = map.next_value()?;
            let column = &mut self.columns.cells[*k];
            if column.len() > n_before {
                return Err(de::Error::custom(format!(
                    "row {}: column `{key}` occurs twice",
                    n_before + 1
                )));
            }
            // Rows before that did not have the column have no value in it.
            (column.len()..n_before)
                .try_for_each(|_| column.push(Cell::Null))
                .and_then(|()| column.push(cell))
                .map_err(|why| {
                    de::Error::custom(format!("row {}, column `{key}`: {why}", n_before + 1))
                })?;
        }
        self.columns.n_rows += 1;
        let n_rows = self.columns.n_rows;
        for column in self.columns.cells.iter_mut().filter(|column| column.len() > 0) {
            while column.len() < n_rows {
                // Null fits every column.
                column.push(Cell::Null).map_err(de::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Parses MLflow's `inputs`: a list of rows, or an object of columns.
struct InputsSeed<'a>(RowsSeed<'a>);

impl<'de> DeserializeSeed<'de> for InputsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for InputsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows, or an object of columns")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let columns = self.0.columns;
        columns.layout = Some(Layout::Name);
        columns.cells.resize_with(self.0.positions.len(), Cells::default);
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let Some(k) = self.0.positions.get(key.as_ref()) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let FlatCells(cells) = map.next_value()?;
            if cells.len() > self.0.max_rows {
                let limit = self.0.max_rows;
                return Err(de::Error::custom(format!("more than {limit} rows; send fewer")));
            }
            columns.n_rows = columns.n_rows.max(cells.len());
            columns.cells[*k] = cells;
        }
        Ok(())
    }
}

/// Parses MLflow's `dataframe_split`: names of columns, and rows.
struct SplitSeed<'a>(RowsSeed<'a>);

impl<'de> DeserializeSeed<'de> for SplitSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SplitSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `columns` and `data`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let columns = self.0.columns;
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            match key.as_ref() {
                "columns" => columns.names = Some(map.next_value()?),
                "data" => {
                    let (positions, max_rows) = (self.0.positions, self.0.max_rows);
                    map.next_value_seed(RowsSeed { columns: &mut *columns, positions, max_rows })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The cells of a list, of lists in it, and so on, one after the other.
pub(super) struct FlatCells(pub Cells);

impl<'de> de::Deserialize<'de> for FlatCells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FlatCells, D::Error> {
        let mut cells = Cells::default();
        deserializer.deserialize_seq(FlatSeed(&mut cells))?;
        Ok(FlatCells(cells))
    }
}

/// Parses a cell, or a list of such.
struct FlatSeed<'a>(&'a mut Cells);

impl FlatSeed<'_> {
    fn put<E: de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        let index = self.0.len();
        self.0.push(cell).map_err(|why| E::custom(format!("value {}: {why}", index + 1)))
    }
}

impl<'de> DeserializeSeed<'de> for FlatSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FlatSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, strings, booleans or null")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.put(Cell::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.put(Cell::Boolean(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.put(Cell::Number(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.put(Cell::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.put(Cell::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.put(Cell::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(FlatSeed(&mut *self.0))?.is_some() {}
        Ok(())
    }
}
