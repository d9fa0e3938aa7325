//! What the columns are called and what they hold: stored in every model, matched at every door.

use super::{Column, Kind, Levels, Table};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The columns a model was trained with, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// One entry a column.
    pub fields: Vec<Field>,
}

/// A column's name and what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// What the file calls it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The words of a categorical column.
    #[serde(default)]
    pub levels: Arc<Levels>,
    /// How many numbers a sparse bundle holds; one for every other kind.
    pub width: usize,
    /// What a sparse file calls its first number, zero or one: a file that happens not to use it must
    /// not be read one off.
    #[serde(default)]
    pub first_index: Option<u32>,
}

impl Field {
    /// A column of numbers.
    pub fn numeric(name: impl Into<String>) -> Field {
        Field::new(name, Kind::Numeric)
    }

    /// A column of one value a row.
    pub fn new(name: impl Into<String>, kind: Kind) -> Field {
        Field { name: name.into(), kind, levels: Arc::default(), width: 1, first_index: None }
    }

    /// A column of words.
    pub fn categorical(name: impl Into<String>, levels: Arc<Levels>) -> Field {
        Field { levels, ..Field::new(name, Kind::Categorical) }
    }

    /// The column that was found for it, if it is one.
    ///
    /// # Errors
    /// If there is none, or it is of the wrong kind.
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
    /// The field of a name.
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
    /// Names the first column that is missing or of the wrong kind.
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
