//! Plans the features of a table: the step of every column, and the columns that are dropped.

use super::features::{Features, Reads, Step, is_text};
use super::{CategoryEncoding, NumericStep};
use crate::data::{Field, Kind, Schema};
use crate::error::{Error, Result};
use std::sync::Arc;

/// Why a column is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// All values are missing.
    Empty,
    /// It is categorical, and the estimator needs numeric features.
    Categorical,
    /// It is free text, and the estimator does not read text.
    Text,
    /// The user selected other columns.
    NotSelected,
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
        let any_numeric = columns.clone().any(|f| matches!(f.kind, Kind::Numeric | Kind::Boolean));
        let mut features = Features {
            schema: Schema::default(),
            steps: Vec::new(),
            target: target.map(str::to_owned),
            weights: None,
            map: None,
        };
        let mut dropped = Vec::new();
        for field in columns {
            match step_of(field, categories, reads, any_numeric) {
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
    any_numeric: bool,
) -> std::result::Result<Step, DropReason> {
    let codes =
        matches!(reads, Reads::Categorical | Reads::Mixed) && categories == CategoryEncoding::Auto;
    let text = matches!(reads, Reads::Counts | Reads::Mixed | Reads::NumericAndText)
        && categories != CategoryEncoding::Drop;
    let one_hot = categories == CategoryEncoding::OneHot
        || (categories == CategoryEncoding::Auto && !any_numeric);
    match field.kind {
        Kind::Boolean if codes => Ok(Step::Code),
        Kind::Numeric | Kind::Boolean => Ok(Step::Numeric(NumericStep::default())),
        Kind::Categorical if field.levels.is_empty() => Err(DropReason::Empty),
        Kind::Categorical if codes => Ok(Step::Code),
        Kind::Categorical if one_hot => Ok(Step::OneHot),
        Kind::Categorical => Err(DropReason::Categorical),
        Kind::Text if text => Ok(Step::Text(Arc::default())),
        Kind::Text => Err(DropReason::Text),
        Kind::Sparse => Ok(Step::Sparse),
    }
}
