//! The schema of a table: names and kinds of the columns. It is stored in every model and matched against the data of
//! every prediction.

use super::{Column, Kind, Levels, Notation, Table};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The columns that a model was trained on, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// One field per column.
    pub fields: Vec<Field>,
}

/// The name and the kind of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The name in the header of the file.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// The levels of a categorical column.
    #[serde(default)]
    pub levels: Arc<Levels>,
    /// The number of features of a sparse column; one for every other kind.
    pub width: usize,
    /// The index of the first feature in a sparse file, zero or one. It is stored, because a later file need not use
    /// the first feature.
    #[serde(default)]
    pub first_index: Option<u32>,
    /// How the values of a numeric column are written in text formats.
    #[serde(default, skip_serializing_if = "Notation::is_plain")]
    pub notation: Notation,
}

impl Field {
    /// A numeric column.
    pub fn numeric(name: impl Into<String>) -> Field {
        Field::new(name, Kind::Numeric)
    }

    /// A column with one value per row.
    pub fn new(name: impl Into<String>, kind: Kind) -> Field {
        Field {
            name: name.into(),
            kind,
            levels: Arc::default(),
            width: 1,
            first_index: None,
            notation: Notation::Plain,
        }
    }

    /// A numeric column whose values are written in a notation.
    pub fn written(name: impl Into<String>, notation: Notation) -> Field {
        Field { notation, ..Field::numeric(name) }
    }

    /// A categorical column.
    pub fn categorical(name: impl Into<String>, levels: Arc<Levels>) -> Field {
        Field { levels, ..Field::new(name, Kind::Categorical) }
    }

    /// The given column, if it matches this field.
    ///
    /// # Errors
    /// If the column is missing or has the wrong kind.
    pub(crate) fn check<'c>(&self, column: Option<&'c Column>) -> Result<&'c Column> {
        let missing = || Error::MissingColumn { name: self.name.clone() };
        let column = column.ok_or_else(missing)?;
        if column.values.kind() == self.kind {
            return Ok(column);
        }
        Err(Error::Kind {
            column: self.name.clone(),
            found: column.values.kind().to_string(),
            expected: self.kind.to_string(),
        })
    }
}

impl Schema {
    /// The field with a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The schema without one column.
    pub fn without(&self, name: &str) -> Schema {
        Schema { fields: self.fields.iter().filter(|f| f.name != name).cloned().collect() }
    }

    /// Checks that a table has exactly these columns in this order.
    ///
    /// # Errors
    /// The first column that is missing or has the wrong kind.
    pub fn check(&self, table: &Table) -> Result<()> {
        for (i, field) in self.fields.iter().enumerate() {
            field.check(table.columns().get(i).filter(|c| c.name == field.name))?;
        }
        if table.columns().len() != self.fields.len() {
            return Err(Error::Columns {
                found: table.columns().len(),
                expected: self.fields.len(),
            });
        }
        Ok(())
    }
}
