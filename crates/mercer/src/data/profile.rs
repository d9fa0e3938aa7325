//! The profile of a table: kinds, missing values, levels and ranges of its columns.
//!
//! A profile describes the whole input. It suggests a schema, and the task, the preprocessing and the estimator
//! are chosen from it (see [`crate::train`]).

use super::{Field, Kind, Levels, Notation, Schema};
use std::sync::Arc;

/// The profile of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The number of rows.
    pub n_rows: u64,
    /// One profile per column, in the order of the file.
    pub columns: Vec<ColumnProfile>,
}

/// The profile of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnProfile {
    /// The name of the column.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// The number of missing values.
    pub n_missing: u64,
    /// The line (or the row, in Parquet and Arrow files) of the first missing value.
    pub first_missing_line: Option<u64>,
    /// The levels of a categorical column, or of a target of any kind.
    pub levels: Arc<Levels>,
    /// The frequency of each of the `levels`.
    pub level_counts: Vec<u64>,
    /// The number of distinct values that were counted.
    pub n_distinct: u64,
    /// Whether counting stopped at a limit, so that there may be more distinct values.
    pub distinct_capped: bool,
    /// The number of features of a sparse column; one for every other kind.
    pub width: usize,
    /// The index of the first feature in a sparse file, zero or one.
    pub first_index: Option<u32>,
    /// The minimum, if there are numeric values.
    pub min: Option<f64>,
    /// The maximum, if there are numeric values.
    pub max: Option<f64>,
    /// Whether there are numeric values and all of them are integers.
    pub integers: bool,
    /// How numeric values are written.
    pub notation: Notation,
    /// Whether the user declared the type of the column, so that nothing is inferred about it.
    pub declared: bool,
    /// A remark for the user: why the column has its kind, where that is not obvious.
    pub note: Option<String>,
}

impl Profile {
    /// The schema that this profile suggests, with the columns in the order of the file.
    pub fn schema(&self) -> Schema {
        Schema { fields: self.columns.iter().map(ColumnProfile::field).collect() }
    }

    /// The profile of a column.
    pub fn column(&self, name: &str) -> Option<&ColumnProfile> {
        self.columns.iter().find(|c| c.name == name)
    }
}

impl ColumnProfile {
    /// The field of a schema that this column suggests.
    pub fn field(&self) -> Field {
        let levels = match self.kind {
            Kind::Categorical => Arc::clone(&self.levels),
            _ => Arc::default(),
        };
        Field {
            name: self.name.clone(),
            kind: self.kind,
            levels,
            width: self.width,
            first_index: self.first_index,
            notation: self.notation.clone(),
        }
    }

    /// The type of the column for users: `date` for dates, else its kind.
    pub fn type_name(&self) -> String {
        match &self.notation {
            Notation::Date(_) => "date".to_owned(),
            _ => self.kind.to_string(),
        }
    }

    /// The range of a numeric column as text: dates as dates, numbers with their unit.
    pub fn shown_range(&self) -> String {
        match (self.kind, self.min, self.max) {
            (Kind::Numeric, Some(min), Some(max)) => {
                format!("{} to {}", self.notation.format(min), self.notation.format(max))
            }
            _ => String::new(),
        }
    }

    /// The number of distinct values as text: "150", or "more than 16" where counting stopped.
    pub fn distinct_values(&self) -> String {
        if self.distinct_capped {
            format!("more than {}", self.n_distinct)
        } else {
            self.n_distinct.to_string()
        }
    }
}
