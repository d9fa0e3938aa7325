//! Arrow record batches as blocks: the common part of Parquet and Arrow IPC.
//!
//! The format declares which columns are numeric and which are strings, and `null` is the only missing value besides NaN.
//! Dates become days and times become seconds, which the profile notes. The levels of integer class labels are written
//! from the integer itself, never through a float.

use crate::arrow_values::{Speller, doubles};
use crate::cells::Cells;
use crate::column_summary::{ColumnSummaries, ColumnSummary, Fallible, Fault, ProfileRequest};
use crate::decoder::{Decoder, FieldDecoder};
use crate::error::{At, Error, Result, shown};
use crate::number;
use crate::pipeline::Decoded;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use mercer::data::{DateOrder, Kind, Notation};

/// What the values of a type mean to us.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Integer,
    Float,
    Decimal,
    /// A time of day or a duration as a count of units, so many to the second.
    Time {
        per_second: f64,
    },
    /// A date or a timestamp as a count of units since 1970-01-01, so many to the day.
    Date {
        per_day: f64,
    },
    Boolean,
    Word,
    Null,
}

const SECONDS: &str = "times are read as seconds";
const SECONDS_PER_DAY: f64 = 86_400.0;

fn class(of: &DataType) -> Option<Class> {
    use DataType::*;
    let per_second = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    };
    Some(match of {
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Class::Integer,
        Float16 | Float32 | Float64 => Class::Float,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => Class::Decimal,
        Date32 => Class::Date { per_day: 1.0 },
        Date64 => Class::Date { per_day: 1e3 * SECONDS_PER_DAY },
        Timestamp(unit, _) => Class::Date { per_day: per_second(unit) * SECONDS_PER_DAY },
        Time32(unit) | Time64(unit) | Duration(unit) => {
            Class::Time { per_second: per_second(unit) }
        }
        Boolean => Class::Boolean,
        Utf8 | LargeUtf8 | Utf8View => Class::Word,
        Null => Class::Null,
        Dictionary(_, values) if !matches!(**values, Dictionary(..)) => class(values)?,
        _ => return None,
    })
}

/// The column names of a schema.
pub(crate) fn names(file: &str, schema: &SchemaRef, limit: usize) -> Result<Vec<String>> {
    if schema.fields().len() > limit {
        return Err(Error::Limit {
            file: file.to_owned(),
            at: None,
            what: format!("a table of {} columns", schema.fields().len()),
            limit: limit as u64,
            name: "columns",
        });
    }
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    crate::csv::check_distinct(&names, file)?;
    Ok(names)
}

/// The indices of the columns of a decoder; all columns without a decoder.
pub(crate) fn projection(names: &[String], decoder: Option<&Decoder>) -> Vec<usize> {
    let wanted = |name: &String| decoder.is_none_or(|p| p.position(name).is_some());
    names.iter().enumerate().filter(|(_, name)| wanted(name)).map(|(j, _)| j).collect()
}

/// The summary of a batch.
pub(crate) fn summarize(batch: &RecordBatch, request: &ProfileRequest) -> Result<ColumnSummaries> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| {
        let column = ColumnOf::new(array, request.file, field.name())?;
        let mut summary = request.new_summary(field.name());
        column
            .count(&mut summary, request)
            .map_err(|f| f.error(request.file, field.name(), At::Row))?;
        Ok(summary)
    });
    let n_rows = batch.num_rows() as u64;
    Ok(ColumnSummaries {
        n_rows,
        first_line: 1,
        columns: columns.collect::<Result<_>>()?,
        ..ColumnSummaries::default()
    })
}

/// The cells of a batch in the columns of a decoder.
pub(crate) fn decode(batch: &RecordBatch, decoder: &Decoder) -> Result<Decoded> {
    let columns = decoder.fields.iter().map(|field_decoder| {
        let name = &field_decoder.field.name;
        let Some(array) = batch.column_by_name(name) else {
            let schema = batch.schema();
            let present = schema.fields().iter().map(|f| f.name().as_str());
            return Err(Error::missing_column(decoder.file, name, present));
        };
        let column = ColumnOf::new(array, decoder.file, name)?;
        let wrong = || Error::WrongKind {
            file: decoder.file.to_owned(),
            column: name.clone(),
            found: array.data_type().to_string(),
            expected: field_decoder.field.kind,
        };
        let cells = column.cells(field_decoder).ok_or_else(wrong)?;
        cells.map_err(|f| f.error(decoder.file, name, At::Row))
    });
    let columns = columns.collect::<Result<_>>()?;
    Ok(Decoded { columns, n_rows: batch.num_rows(), seen: Vec::new() })
}

/// A column with its dictionary, if it has one. The dictionary is not expanded, which could take unbounded memory.
struct ColumnOf<'a> {
    array: &'a ArrayRef,
    values: &'a ArrayRef,
    keys: Option<Vec<usize>>,
    class: Class,
}

impl<'a> ColumnOf<'a> {
    fn new(array: &'a ArrayRef, file: &str, name: &str) -> Result<ColumnOf<'a>> {
        let Some(class) = class(array.data_type()) else {
            return Err(Error::Unsupported {
                file: file.to_owned(),
                column: name.to_owned(),
                found: array.data_type().to_string(),
            });
        };
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            return Ok(ColumnOf { array, values: array, keys: None, class });
        };
        let values = dictionary.values();
        // Without values every key is null.
        let class = if values.is_empty() { Class::Null } else { class };
        let keys = (!values.is_empty()).then(|| dictionary.normalized_keys());
        Ok(ColumnOf { array, values, keys, class })
    }

    /// Where the value of row `i` is, if it has one.
    fn position(&self, i: usize) -> Option<usize> {
        if self.class == Class::Null || self.array.is_null(i) {
            return None;
        }
        let position = self.keys.as_ref().map_or(i, |keys| keys[i]);
        (!self.values.is_null(position)).then_some(position)
    }

    fn count(&self, summary: &mut ColumnSummary, request: &ProfileRequest) -> Fallible {
        summary.declared = match self.class {
            Class::Word => None,
            Class::Boolean => Some(Kind::Boolean),
            // A batch of nulls does not determine the kind.
            Class::Null => None,
            _ => Some(Kind::Numeric),
        };
        match self.class {
            Class::Time { .. } => summary.note = Some(SECONDS.to_owned()),
            Class::Date { .. } => summary.notation = Some(Notation::Date(DateOrder::Ymd)),
            _ => {}
        }
        let numbers = self.numbers();
        let speller = Speller::new(self.values);
        let mut word = String::new();
        for i in 0..self.array.len() {
            let row = i as u64 + 1;
            let Some(position) = self.position(i) else {
                summary.missing(row);
                continue;
            };
            match numbers.as_ref().map(|n| n[position]) {
                Some(x) if x.is_nan() => {
                    summary.missing(row);
                    continue;
                }
                Some(x) => summary.value(finite(x, row)?, false),
                None => {}
            }
            if numbers.is_none() || summary.wants_spelling() {
                word.clear();
                speller.spell(position, &mut word);
            }
            match self.class {
                Class::Boolean => summary.boolean(word.as_bytes(), row, request)?,
                Class::Word => summary.other(word.as_bytes(), row, request)?,
                _ => summary.spelled(word.as_bytes(), row, request)?,
            }
        }
        Ok(())
    }

    /// The cells of a field, if this column can be read as its kind.
    fn cells(&self, to: &FieldDecoder) -> Option<std::result::Result<Cells, Box<Fault>>> {
        let fits = match (to.field.kind, self.class) {
            (Kind::Sparse, _) => false,
            (_, Class::Null) | (Kind::Categorical | Kind::Text, _) => true,
            (Kind::Boolean, class) => class == Class::Boolean,
            (Kind::Numeric, Class::Word) => !to.field.notation.is_plain(),
            (Kind::Numeric, class) => !matches!(class, Class::Boolean | Class::Word),
        };
        fits.then(|| self.fill(to))
    }

    fn fill(&self, to: &FieldDecoder) -> std::result::Result<Cells, Box<Fault>> {
        let n = self.array.len();
        let mut cells = Cells::new(&to.field, n);
        let numbers = if to.field.kind == Kind::Numeric { self.numbers() } else { None };
        let speller = Speller::new(self.values);
        let mut word = String::new();
        for i in 0..n {
            let Some(position) = self.position(i) else {
                cells.push_missing();
                continue;
            };
            if let (Cells::Numeric(v) | Cells::Written(v), Some(numbers)) = (&mut cells, &numbers) {
                let x = numbers[position];
                v.push(if x.is_nan() { x } else { finite(x, i as u64 + 1)? });
                continue;
            }
            word.clear();
            speller.spell(position, &mut word);
            if self.class == Class::Float && word == "NaN" {
                cells.push_missing();
                continue;
            }
            cells.push(word.as_bytes(), word.as_bytes(), i as u64 + 1, to)?;
        }
        Ok(cells)
    }

    /// The values as doubles, NaN where they are null; `None` for strings and booleans.
    fn numbers(&self) -> Option<Vec<f64>> {
        match self.class {
            Class::Integer | Class::Float => doubles(self.values),
            Class::Time { per_second: per_unit } | Class::Date { per_day: per_unit } => {
                Some(doubles(self.values)?.into_iter().map(|x| x / per_unit).collect())
            }
            // Parsed from its digits: dividing a rounded mantissa would round twice.
            Class::Decimal => {
                let speller = Speller::new(self.values);
                let mut word = String::new();
                let mut read = |i: usize| {
                    word.clear();
                    speller.spell(i, &mut word);
                    number::parse(word.as_bytes()).unwrap_or(f64::NAN)
                };
                let value = |i| if self.values.is_null(i) { f64::NAN } else { read(i) };
                Some((0..self.values.len()).map(value).collect())
            }
            Class::Boolean | Class::Word | Class::Null => None,
        }
    }
}

fn finite(x: f64, row: u64) -> std::result::Result<f64, Box<Fault>> {
    if x.is_finite() {
        return Ok(x);
    }
    let found = shown(x.to_string().as_bytes());
    Err(Fault::Cell { line: row, found, expected: Kind::Numeric }.into())
}
