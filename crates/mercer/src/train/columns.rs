//! Selects the columns that an estimator learns from.

use crate::catalog::{Capability, Card};
use crate::data::{Field, Kind, Schema};
use crate::error::{Error, Result};
use crate::preprocess::{CategoryEncoding, DropReason, DroppedColumn, Features, Reads};

/// Which columns an estimator may learn from, as the user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnSelection<'a> {
    /// Columns to drop.
    pub ignore: &'a [String],
    /// If not empty, the only columns to use.
    pub only: &'a [String],
    /// Columns that tell nothing about new rows (see [`super::unusable_columns`]).
    pub unusable: &'a [DroppedColumn],
}

/// The planned features and the columns that they leave out.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedColumns {
    /// The features, to be fitted next.
    pub features: Features,
    /// The columns that are not used, with the reason.
    pub dropped: Vec<(String, DropReason)>,
}

impl ColumnSelection<'_> {
    /// Plans the features of an estimator from a schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a selected column does not exist, [`Error::NoFeatures`] if none is left.
    pub fn plan(
        &self,
        mut schema: Schema,
        target: Option<&str>,
        card: &Card,
        categories: CategoryEncoding,
    ) -> Result<SelectedColumns> {
        let columns: Vec<String> = schema.fields.iter().map(|f| f.name.clone()).collect();
        for (parameter, names) in [("ignore", self.ignore), ("columns", self.only)] {
            if let Some(name) = names.iter().find(|name| !columns.contains(name)) {
                return Err(Error::Parameter {
                    name: parameter.into(),
                    found: name.clone(),
                    expected: format!("one of the columns {}", columns.join(", ")),
                });
            }
        }
        let is_target = |name: &str| Some(name) == target;
        let mut dropped = Vec::new();
        let ignored = |f: &Field| !self.ignore.contains(&f.name);
        dropped.extend(split_off(&mut schema, ignored, &DropReason::Ignored));
        for column in self.unusable.iter().filter(|column| !self.only.contains(&column.name)) {
            let used = |f: &Field| f.name != column.name || is_target(&f.name);
            dropped.extend(split_off(&mut schema, used, &column.reason));
        }
        if !self.only.is_empty() {
            let used = |f: &Field| is_target(&f.name) || self.only.contains(&f.name);
            dropped.extend(split_off(&mut schema, used, &DropReason::NotSelected));
        }
        let numeric = |f: &Field| matches!(f.kind, Kind::Numeric | Kind::Boolean);
        let reads = match card.reads() {
            // A Gaussian density of an indicator that is constant within a class is unbounded and outweighs all other
            // features. Without numeric columns there is nothing else to learn from.
            Reads::Numeric
                if card.can(Capability::FactorizedLikelihood)
                    && categories == CategoryEncoding::Auto
                    && schema.fields.iter().any(|f| numeric(f) && !is_target(&f.name)) =>
            {
                for (kind, reason) in
                    [(Kind::Categorical, DropReason::Categorical), (Kind::Text, DropReason::Text)]
                {
                    let used = |f: &Field| f.kind != kind || is_target(&f.name);
                    dropped.extend(split_off(&mut schema, used, &reason));
                }
                Reads::Numeric
            }
            Reads::Numeric => Reads::NumericAndText,
            Reads::Categorical => Reads::CategoricalAndText,
            reads => reads,
        };
        let (mut features, more) = Features::plan_for(&schema, target, categories, reads)?;
        dropped.extend(more);
        if let Some(field) = target.and_then(|name| schema.field(name)) {
            features.target_notation = field.notation.clone();
        }
        features.dropped = (dropped.iter())
            .map(|(name, reason)| DroppedColumn { name: name.clone(), reason: reason.clone() })
            .collect();
        Ok(SelectedColumns { features, dropped })
    }
}

/// Removes the fields that are not used and returns their names.
fn split_off(
    schema: &mut Schema,
    used: impl Fn(&Field) -> bool,
    reason: &DropReason,
) -> Vec<(String, DropReason)> {
    let (kept, dropped) = std::mem::take(&mut schema.fields).into_iter().partition(used);
    schema.fields = kept;
    dropped.into_iter().map(|field: Field| (field.name, reason.clone())).collect()
}
