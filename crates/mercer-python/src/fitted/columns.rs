//! The columns of a model: names, kinds, levels and preprocessing.

use crate::error::raised;
use mercer::Error;
use mercer::catalog::Estimator;
use mercer::data::{ColumnDescription, Kind, Levels};
use mercer::data::{Field, Schema};
use mercer::preprocess::{Features, NumericStep, Reads, Step};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The columns of a model file. A sparse matrix without names is one field of many columns, because a name for
/// each of a million columns would be larger than the model.
pub(crate) fn features(
    names: Option<Vec<String>>,
    levels: Option<Vec<Option<Vec<String>>>>,
    n_columns: usize,
    sparse: bool,
) -> PyResult<Features> {
    match names {
        Some(names) if names.len() == n_columns => {
            let mut features = Features::plain(names);
            for (k, names) in levels.into_iter().flatten().enumerate().take(n_columns) {
                if let Some(names) = names {
                    let levels = Levels::try_from(names).map_err(PyValueError::new_err)?;
                    let name = std::mem::take(&mut features.schema.fields[k].name);
                    features.schema.fields[k] = Field::categorical(name, Arc::new(levels));
                    features.steps[k] = Step::Code;
                }
            }
            Ok(features)
        }
        Some(names) => Err(raised(Error::Length {
            what: "the list of column names".into(),
            found: names.len(),
            expected: n_columns,
        })),
        None if sparse => {
            let field = Field { width: n_columns, ..Field::new("features", Kind::Sparse) };
            let schema = Schema { fields: vec![field] };
            Ok(Features { steps: vec![Step::Sparse], ..Features::of_schema(schema) })
        }
        None => Ok(Features::plain((0..n_columns).map(default_name))),
    }
}

/// Descriptions of the columns, for estimators of mixed columns; empty for the others.
pub(super) fn column_descriptions(
    estimator: &Estimator,
    features: &Features,
) -> Arc<[ColumnDescription]> {
    match estimator.card().reads() {
        Reads::Mixed => features.descriptions(),
        _ => Arc::default(),
    }
}

fn default_name(j: usize) -> String {
    format!("x{j}")
}

/// The names of the columns, or `None` if the rows had none.
pub(super) fn names(features: &Features) -> Option<Vec<String>> {
    let names = features.names();
    let sparse = features.steps.contains(&Step::Sparse);
    let default = names.iter().enumerate().all(|(j, name)| *name == default_name(j));
    (!sparse && !default).then_some(names)
}

/// The levels of each categorical column, `None` for the others.
pub(super) fn levels(features: &Features) -> Vec<Option<Vec<String>>> {
    (features.schema.fields.iter().zip(&features.steps))
        .map(|(field, step)| match step {
            Step::Code if field.kind == Kind::Boolean => {
                Some(vec!["false".to_owned(), "true".to_owned()])
            }
            Step::Code => Some(field.levels.names().to_vec()),
            _ => None,
        })
        .collect()
}

/// The names of the columns of a table with text columns; `None` without text columns.
pub(super) fn table_names(features: &Features) -> Option<Vec<String>> {
    let fields = &features.schema.fields;
    let has_text = fields.iter().any(|field| field.kind == Kind::Text);
    has_text.then(|| fields.iter().map(|field| field.name.clone()).collect())
}

/// The columns that the model preprocesses, other than by encoding categories or text.
pub(super) fn preprocessed(features: &Features) -> Vec<&str> {
    let unchanged = Step::Numeric(NumericStep::default());
    (features.schema.fields.iter().zip(&features.steps))
        .filter(|(field, step)| {
            ![&unchanged, &Step::Sparse, &Step::Code].contains(step) && field.kind != Kind::Text
        })
        .map(|(field, _)| field.name.as_str())
        .collect()
}
