//! Plans the features of a table: the step of every column, and the columns that are dropped.

use super::features::{Features, Reads, Step, is_text};
use super::{CategoryEncoding, DateStep, NumericStep, OneHotStep, Recipe};
use crate::data::{Field, Kind, Schema};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A column of the training data that is not a feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedColumn {
    /// Its name.
    pub name: String,
    /// Why it is dropped.
    pub reason: DropReason,
}

/// Why a column is dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// The user asked for it.
    Ignored,
    /// It has the sample weights.
    Weights,
    /// It identifies the row: every value occurs once.
    Identifier,
    /// Every row has the same value.
    Constant(String),
    /// Every row has the same value as in another column.
    Duplicate(String),
    /// All values are missing.
    Empty,
    /// It is categorical, and the recipe drops categorical columns or the estimator models numeric columns only.
    Categorical,
    /// It is free text, and the estimator does not use text.
    Text,
    /// The user selected other columns.
    NotSelected,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DropReason::Ignored => f.write_str("ignored by the user"),
            DropReason::Weights => f.write_str("sample weights"),
            DropReason::Identifier => f.write_str(
                "identifier: every row has a value of its own, which tells nothing about new rows",
            ),
            DropReason::Constant(value) => write!(f, "constant: every value is `{value}`"),
            DropReason::Duplicate(other) => write!(f, "duplicate of `{other}`"),
            DropReason::Empty => f.write_str("all values are missing"),
            DropReason::Categorical => {
                f.write_str("categorical; the estimator models numeric columns")
            }
            DropReason::Text => f.write_str("text; the estimator models numeric columns"),
            DropReason::NotSelected => f.write_str("not selected"),
        }
    }
}

impl Features {
    /// Plans the features of all columns but the target, and lists the dropped columns with the reason. Recipes that
    /// depend on the data need [`Features::fit`] next.
    ///
    /// # Errors
    /// [`Error::NoFeatures`] if no column is left.
    pub fn plan(
        schema: &Schema,
        target: Option<&str>,
        categories: CategoryEncoding,
    ) -> Result<(Features, Vec<(String, DropReason)>)> {
        Features::plan_for(schema, target, categories, Reads::Numeric)
    }

    /// As [`Features::plan`], for an estimator that reads other values than real numbers: category codes, counts of
    /// terms, or both. Text columns come last.
    ///
    /// # Errors
    /// [`Error::NoFeatures`] if no column is left.
    pub fn plan_for(
        schema: &Schema,
        target: Option<&str>,
        categories: CategoryEncoding,
        reads: Reads,
    ) -> Result<(Features, Vec<(String, DropReason)>)> {
        let columns = schema.fields.iter().filter(|f| Some(f.name.as_str()) != target);
        let mut features = Features {
            target: target.map(str::to_owned),
            ..Features::of_schema(Schema::default())
        };
        let mut dropped = Vec::new();
        for field in columns {
            match step_of(field, categories, reads) {
                Ok(step) => {
                    features.schema.fields.push(field.clone());
                    features.steps.push(step);
                }
                Err(reason) => dropped.push((field.name.clone(), reason)),
            }
        }
        if features.steps.contains(&Step::Sparse) && features.steps.len() > 1 {
            return Err(Error::Kind {
                column: features.schema.fields[0].name.clone(),
                found: "next to a sparse column".into(),
                expected: "a single sparse column".into(),
            });
        }
        if features.steps.is_empty() {
            return Err(Error::NoFeatures);
        }
        features.move_text_last();
        Ok((features, dropped))
    }

    fn move_text_last(&mut self) {
        let (fields, steps) = (&mut self.schema.fields, &mut self.steps);
        let mut both: Vec<_> = fields.drain(..).zip(steps.drain(..)).collect();
        both.sort_by_key(|(_, step)| is_text(step));
        (*fields, *steps) = both.into_iter().unzip();
    }
}

/// The step of a column, or why it is dropped.
fn step_of(
    field: &Field,
    categories: CategoryEncoding,
    reads: Reads,
) -> std::result::Result<Step, DropReason> {
    let reads_codes =
        matches!(reads, Reads::Categorical | Reads::CategoricalAndText | Reads::Mixed);
    let codes = reads_codes && categories == CategoryEncoding::Auto;
    let text = !matches!(reads, Reads::Numeric | Reads::Categorical);
    match field.kind {
        Kind::Boolean if codes => Ok(Step::Code),
        Kind::Numeric if field.notation.is_date() => Ok(Step::Date(DateStep::default())),
        Kind::Numeric | Kind::Boolean => Ok(Step::Numeric(NumericStep::default())),
        Kind::Categorical if field.levels.is_empty() => Err(DropReason::Empty),
        Kind::Categorical if codes => Ok(Step::Code),
        Kind::Categorical if categories == CategoryEncoding::Drop => Err(DropReason::Categorical),
        Kind::Categorical => {
            Ok(Step::OneHot(OneHotStep::planned(&Recipe { categories, ..Recipe::default() })))
        }
        Kind::Text if text => Ok(Step::Text(Arc::default())),
        Kind::Text => Err(DropReason::Text),
        Kind::Sparse => Ok(Step::Sparse),
    }
}
