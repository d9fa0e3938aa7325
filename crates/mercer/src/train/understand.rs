//! Understands a table in memory: what its strings stand for, as the readers of files do it for text formats.

use super::{CellCounts, StringTotals, infer_kind, is_free_text};
use crate::data::{
    Column, ColumnProfile, Field, Kind, Levels, MISSING, Notation, NotationCounts, Profile, Schema,
    Table, UNSEEN, Values, is_boolean, parse_boolean,
};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Strings that stand for a missing value.
const MISSING_STRINGS: [&str; 8] = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"];
/// Distinct numbers are counted up to this limit.
const MAX_DISTINCT_NUMBERS: usize = 16;

/// The profile of a table and the table with its strings parsed: numbers in any notation, dates, booleans, categories
/// and text. Columns of other kinds stay as they are.
///
/// # Errors
/// If the columns cannot form a table.
pub fn understand(table: Table) -> Result<(Profile, Table)> {
    let n_rows = table.n_rows() as u64;
    let mut profiles = Vec::new();
    let mut columns = Vec::new();
    for column in table.into_columns() {
        let field = match &column.values {
            Values::Text(strings) => field_of(&column.name, strings),
            Values::Categorical { levels, .. } => {
                Field::categorical(column.name.clone(), Arc::clone(levels))
            }
            values => Field::new(column.name.clone(), values.kind()),
        };
        let values = parsed(column.values, &field)?;
        profiles.push(profile_of(&field, &values));
        columns.push(Column { name: column.name, values });
    }
    Ok((Profile { n_rows, columns: profiles }, Table::new(columns)?))
}

/// A table with its strings parsed as a schema says; other columns are ignored.
///
/// # Errors
/// [`Error::MissingColumn`], or [`Error::Kind`] if a cell is not what its column holds.
pub fn parse_table(table: Table, schema: &Schema) -> Result<Table> {
    let mut columns: BTreeMap<String, Values> =
        table.into_columns().into_iter().map(|column| (column.name, column.values)).collect();
    let parse = |field: &Field| {
        let missing = || Error::MissingColumn { name: field.name.clone() };
        let values = columns.remove(&field.name).ok_or_else(missing)?;
        Ok(Column { name: field.name.clone(), values: parsed(values, field)? })
    };
    Table::new(schema.fields.iter().map(parse).collect::<Result<_>>()?)
}

fn present(strings: &[Option<String>]) -> impl Iterator<Item = &str> + Clone {
    let strings = strings.iter().flatten().map(|string| string.trim());
    strings.filter(|string| !MISSING_STRINGS.contains(string))
}

fn number(string: &str) -> Option<f64> {
    // The grammar of numbers in files has no `inf` and no `nan`.
    let begins = string.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    string.parse().ok().filter(|x: &f64| begins && x.is_finite())
}

/// The field that the strings of a column suggest.
fn field_of(name: &str, strings: &[Option<String>]) -> Field {
    let mut counts = CellCounts::default();
    let mut notations = NotationCounts::default();
    let mut levels: BTreeMap<&str, u64> = BTreeMap::new();
    let mut totals = StringTotals::default();
    for string in present(strings) {
        match string.to_ascii_lowercase().as_str() {
            _ if number(string).is_some() => counts.n_numeric += 1,
            "true" | "false" => counts.n_boolean += 1,
            _ => {
                counts.n_other += 1;
                notations.add(string, 1);
            }
        }
        *levels.entry(string).or_default() += 1;
        totals.n_strings += 1.0;
        totals.n_tokens += string.split_whitespace().count() as f64;
        totals.length += string.len() as f64;
    }
    if counts.n_other > 0
        && counts.n_boolean == 0
        && let Some(notation) = notations.infer(counts.n_numeric, notations.has_decimal_comma())
        && present(strings).all(|string| notation.parse(string).is_some())
    {
        return Field::written(name, notation);
    }
    if counts.n_other > 0 && is_boolean(levels.keys().copied()) {
        return Field::new(name, Kind::Boolean);
    }
    let n_distinct = levels.len() as u64;
    match infer_kind(&counts, || is_free_text(strings.len() as u64, n_distinct, || totals)) {
        Kind::Categorical => {
            let names = levels.keys().map(|level| (*level).to_owned()).collect();
            Field::categorical(name, Arc::new(Levels::new(names)))
        }
        kind => Field::new(name, kind),
    }
}

/// Values as a field describes them.
fn parsed(values: Values, field: &Field) -> Result<Values> {
    let Values::Text(strings) = values else { return converted(values, field) };
    let cell = |string: &Option<String>| {
        let string = string.as_deref().map(str::trim)?;
        (!MISSING_STRINGS.contains(&string)).then(|| string.to_owned())
    };
    let wrong = |string: &str| Error::Kind {
        column: field.name.clone(),
        found: format!("`{string}`"),
        expected: match field.notation.is_plain() {
            true => field.kind.to_string(),
            false => field.notation.to_string(),
        },
    };
    let cells = strings.iter().map(cell);
    Ok(match field.kind {
        Kind::Numeric => {
            let value = |cell: Option<String>| match cell {
                None => Ok(f64::NAN),
                Some(text) => {
                    let value = match &field.notation {
                        Notation::Plain => number(&text),
                        notation => notation.parse(&text),
                    };
                    value.ok_or_else(|| wrong(&text))
                }
            };
            Values::Numeric(cells.map(value).collect::<Result<_>>()?)
        }
        Kind::Boolean => {
            let value = |cell: Option<String>| match cell {
                None => Ok(None),
                Some(text) => parse_boolean(&text).map(Some).ok_or_else(|| wrong(&text)),
            };
            Values::Boolean(cells.map(value).collect::<Result<_>>()?)
        }
        Kind::Categorical => {
            let code = |cell: Option<String>| cell.map_or(MISSING, |text| field.levels.code(&text));
            Values::Categorical {
                codes: cells.map(code).collect(),
                levels: Arc::clone(&field.levels),
            }
        }
        Kind::Text => Values::Text(strings),
        Kind::Sparse => return Err(wrong("strings")),
    })
}

/// Values that are no strings, as a field describes them.
fn converted(values: Values, field: &Field) -> Result<Values> {
    match (values, field.kind) {
        (Values::Boolean(v), Kind::Categorical) => {
            let text = |x: Option<bool>| x.map(|x| x.to_string());
            parsed(Values::Text(v.into_iter().map(text).collect()), field)
        }
        (Values::Boolean(v), Kind::Numeric) => {
            Ok(Values::Numeric(v.into_iter().map(|x| x.map_or(f64::NAN, f64::from)).collect()))
        }
        (Values::Numeric(v), Kind::Categorical | Kind::Boolean) => {
            let text = |x: f64| (!x.is_nan()).then(|| x.to_string());
            parsed(Values::Text(v.into_iter().map(text).collect()), field)
        }
        (values, kind) if values.kind() == kind => Ok(values),
        (values, kind) => Err(Error::Kind {
            column: field.name.clone(),
            found: values.kind().to_string(),
            expected: kind.to_string(),
        }),
    }
}

/// The profile of parsed values.
fn profile_of(field: &Field, values: &Values) -> ColumnProfile {
    let mut profile = ColumnProfile {
        name: field.name.clone(),
        kind: field.kind,
        n_missing: values.n_missing() as u64,
        first_missing_line: None,
        levels: Arc::clone(&field.levels),
        level_counts: vec![0; field.levels.len()],
        n_distinct: 0,
        distinct_capped: false,
        width: field.width,
        first_index: None,
        min: None,
        max: None,
        integers: false,
        notation: field.notation.clone(),
        declared: false,
        note: (!field.notation.is_plain()).then(|| field.notation.to_string()),
    };
    match values {
        Values::Numeric(x) => {
            let numbers = || x.iter().copied().filter(|x| !x.is_nan());
            let mut distinct: Vec<f64> = Vec::new();
            for x in numbers() {
                if distinct.len() <= MAX_DISTINCT_NUMBERS && !distinct.contains(&x) {
                    distinct.push(x);
                }
            }
            profile.n_distinct = distinct.len().min(MAX_DISTINCT_NUMBERS) as u64;
            profile.distinct_capped = distinct.len() > MAX_DISTINCT_NUMBERS;
            profile.min = numbers().min_by(f64::total_cmp);
            profile.max = numbers().max_by(f64::total_cmp);
            profile.integers = !distinct.is_empty()
                && !field.notation.is_date()
                && numbers().all(|x| x.fract() == 0.0);
        }
        Values::Categorical { codes, .. } => {
            for code in codes.iter().filter(|code| **code < UNSEEN) {
                profile.level_counts[*code as usize] += 1;
            }
            profile.n_distinct = profile.level_counts.iter().filter(|n| **n > 0).count() as u64;
        }
        Values::Boolean(v) => {
            let both = [true, false].iter().filter(|x| v.contains(&Some(**x))).count();
            profile.n_distinct = both as u64;
        }
        Values::Text(_) | Values::TokenCounts(_) | Values::Sparse(_) => {
            profile.distinct_capped = true;
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(name: &str, cells: &[&str]) -> Column {
        let cells = cells.iter().map(|cell| Some((*cell).to_owned())).collect();
        Column { name: name.into(), values: Values::Text(cells) }
    }

    #[test]
    fn strings_are_numbers_dates_booleans_or_categories() {
        let table = Table::new(vec![
            strings("plain", &["1", "2.5", "NA"]),
            strings("comma", &["1,5", "1.234,5", "3"]),
            strings("day", &["2024-01-01", "", "2024-02-01"]),
            strings("flag", &["Yes", "no", "Y"]),
            strings("color", &["red", "blue", "red"]),
        ])
        .unwrap();

        let (profile, parsed) = understand(table.clone()).unwrap();

        let kinds: Vec<String> = profile.columns.iter().map(ColumnProfile::type_name).collect();
        assert_eq!(kinds, ["numeric", "numeric", "date", "boolean", "categorical"]);
        assert_eq!(parsed.column("comma").unwrap().values, Values::Numeric(vec![1.5, 1234.5, 3.0]));
        assert_eq!(profile.columns[4].level_counts, [1, 2]);
        let again = parse_table(table, &profile.schema()).unwrap();
        assert_eq!(again.column("flag"), parsed.column("flag"));
    }

    #[test]
    fn a_cell_in_another_notation_is_refused_by_its_column() {
        let (profile, _) =
            understand(Table::new(vec![strings("x", &["1,5", "2,5"])]).unwrap()).unwrap();
        let other = Table::new(vec![strings("x", &["a"])]).unwrap();

        let error = parse_table(other, &profile.schema()).unwrap_err().to_string();

        assert!(error.contains('x') && error.contains("`a`"), "{error}");
    }
}
