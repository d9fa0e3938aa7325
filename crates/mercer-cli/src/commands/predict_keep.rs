//! Columns of the table that `mercer predict --keep` copies to the predictions.

use mercer::data::{Field, Kind, Schema, Table};
use mercer::predict::csv_field;
use serde_json::{Map, Value, json};

/// The columns to copy.
pub(super) struct Kept<'a> {
    pub names: &'a [String],
}

impl Kept<'_> {
    /// The schema with the columns to copy; those that are no features are read as they are written.
    pub fn add_to(&self, mut schema: Schema) -> Schema {
        for name in self.names {
            if schema.field(name).is_none() {
                schema.fields.push(Field::new(name.clone(), Kind::Text));
            }
        }
        schema
    }

    /// The header of the predictions with the names of the columns in front.
    pub fn header(&self, header: String) -> String {
        if header.is_empty() {
            return header;
        }
        let names: Vec<String> = self.names.iter().map(|name| csv_field(name) + ",").collect();
        names.concat() + &header
    }

    /// The lines of the predictions with the cells of their rows in front, or among the fields of JSON.
    pub fn lines(&self, lines: String, table: &Table, json: bool) -> String {
        if self.names.is_empty() {
            return lines;
        }
        let mut joined = String::with_capacity(2 * lines.len());
        for (i, line) in records(&lines).enumerate() {
            let cells = self.names.iter().map(|name| {
                let cell = table.column(name).and_then(|column| column.values.cell(i));
                (name, cell)
            });
            if json {
                joined.push_str(&with_fields(line, cells));
                continue;
            }
            for (_, cell) in cells {
                joined.push_str(&csv_field(&cell.unwrap_or_default()));
                joined.push(',');
            }
            joined.push_str(line);
        }
        joined
    }
}

/// The records of a CSV text, each with its newline; a quoted field may have newlines of its own.
fn records(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split_inclusive(move |c| {
        quoted ^= c == '"';
        c == '\n' && !quoted
    })
}

/// A JSON object on a line with further fields.
fn with_fields<'a>(
    line: &str,
    cells: impl Iterator<Item = (&'a String, Option<String>)>,
) -> String {
    let mut object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    for (name, cell) in cells {
        object.insert(name.clone(), json!(cell));
    }
    Value::from(object).to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newline_in_quotes_does_not_end_a_record() {
        let found: Vec<&str> = records("a,\"x\ny\"\nb\n").collect();

        assert_eq!(found, ["a,\"x\ny\"\n", "b\n"]);
    }
}
