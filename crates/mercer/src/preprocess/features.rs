//! The features of a table: the steps that turn its columns into the rows of an estimator.

use super::{DateStep, DroppedColumn, FeatureMap, NumericStep, OneHotStep, TextStep};
use crate::data::{Classes, Field, Kind, Label, Levels, Notation, Schema};
use crate::error::{Error, Result};
use mercer_num::parallel::Layout;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The preprocessing of a model, stored with it: which columns it reads and the step of each column. Planned by
/// [`Features::plan`], fitted by [`Features::fit`], applied by [`Features::encode`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The feature columns.
    pub schema: Schema,
    /// One step per column.
    pub steps: Vec<Step>,
    /// The name of the target column, if there is one.
    pub target: Option<String>,
    /// The name of the column of sample weights in the training data, if there is one; it is not a feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Whether terms of texts are stored as dense columns that are categories with the codes 0 and 1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dense_text: bool,
    /// The mean and the standard deviation of the regression target, if the fit standardized it. The stored model
    /// predicts in the original units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_scale: Option<(f64, f64)>,
    /// How the values of a regression target are written in text formats.
    #[serde(default, skip_serializing_if = "Notation::is_plain")]
    pub target_notation: Notation,
    /// The columns of the training data that are not features, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedColumn>,
    /// The kernel map of the encoded columns, if any.
    #[serde(default)]
    pub map: Option<Arc<FeatureMap>>,
}

impl Features {
    /// No columns and no target, for rows that are encoded already.
    pub(crate) fn none() -> Features {
        Features {
            schema: Schema { fields: Vec::new() },
            steps: Vec::new(),
            target: None,
            weights: None,
            dense_text: false,
            target_scale: None,
            target_notation: Notation::default(),
            dropped: Vec::new(),
            map: None,
        }
    }
}

/// The preprocessing step of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A numeric or boolean column: imputed, discretized, transformed, scaled.
    Numeric(NumericStep),
    /// A column of dates: elapsed days and parts of the calendar.
    Date(DateStep),
    /// Indicators of the levels of a categorical column.
    OneHot(OneHotStep),
    /// The code of the level; the number of levels for an unknown category.
    Code,
    /// Term counts or tf-idf weights of a text column.
    Text(Arc<TextStep>),
    /// The features of a sparse column, unchanged.
    Sparse,
}

/// How an estimator interprets the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Real numbers.
    Numeric,
    /// Real numbers, with term counts of text columns among them.
    NumericAndText,
    /// Counts.
    Counts,
    /// Category codes.
    Categorical,
    /// Category codes, with the presence of terms of text columns among them.
    CategoricalAndText,
    /// Each column by its description.
    Mixed,
}

impl Features {
    /// Numeric columns without preprocessing, as for a matrix.
    pub fn plain(names: impl IntoIterator<Item = String>) -> Features {
        let fields: Vec<Field> = names.into_iter().map(Field::numeric).collect();
        let steps = vec![Step::Numeric(NumericStep::default()); fields.len()];
        Features { steps, ..Features::of_schema(Schema { fields }) }
    }

    /// The features of a schema, without steps.
    pub fn of_schema(schema: Schema) -> Features {
        Features {
            schema,
            steps: Vec::new(),
            target: None,
            weights: None,
            dense_text: false,
            target_scale: None,
            target_notation: Notation::Plain,
            dropped: Vec::new(),
            map: None,
        }
    }

    /// The common features of two models; `None` if they differ. A target that only one of them names is that of
    /// both.
    pub fn common(&self, other: &Features) -> Option<Features> {
        let target = match (&self.target, &other.target) {
            (Some(mine), Some(theirs)) if mine != theirs => return None,
            (mine, theirs) => mine.clone().or_else(|| theirs.clone()),
        };
        let equal = self.schema == other.schema
            && self.steps == other.steps
            && self.weights == other.weights
            && self.dense_text == other.dense_text
            && self.target_scale == other.target_scale
            && self.map == other.map;
        equal.then(|| Features { target, ..self.clone() })
    }

    /// The columns before the text columns, without a kernel map.
    pub(crate) fn without_text(&self) -> Features {
        let n = self.steps.iter().filter(|step| !is_text(step)).count();
        let fields = self.schema.fields[..n].to_vec();
        Features {
            steps: self.steps[..n].to_vec(),
            weights: self.weights.clone(),
            ..Features::of_schema(Schema { fields })
        }
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.map.as_ref().map_or_else(|| self.n_encoded(), |map| map.n_outputs())
    }

    /// The number of encoded columns before the kernel map; without a map, the number of features.
    pub fn n_encoded(&self) -> usize {
        self.widths().sum()
    }

    pub(super) fn widths(&self) -> impl Iterator<Item = usize> {
        self.schema.fields.iter().zip(&self.steps).map(|(field, step)| match step {
            Step::Numeric(step) => step.width(),
            Step::Date(step) => step.width(),
            Step::OneHot(step) => step.width(&field.levels),
            Step::Code => 1,
            Step::Text(step) => step.width(),
            Step::Sparse => field.width,
        })
    }

    /// For every feature, the index of its column. Empty if a kernel map mixes the columns.
    pub fn origins(&self) -> Vec<usize> {
        if self.map.is_some() {
            return Vec::new();
        }
        let widths: Vec<usize> = self.widths().collect();
        widths.iter().enumerate().flat_map(|(k, w)| std::iter::repeat_n(k, *w)).collect()
    }

    /// The storage of the encoded rows.
    pub fn layout(&self) -> Layout {
        let sparse = |step: &Step| match step {
            Step::Sparse => true,
            Step::Text(_) => !self.dense_text,
            _ => false,
        };
        let stays_sparse = self.map.as_ref().is_none_or(|map| map.keeps_sparse());
        if stays_sparse && self.steps.iter().any(sparse) { Layout::Sparse } else { Layout::Dense }
    }

    /// The columns to read: those of the features and, with `classes`, the target as a categorical column and the
    /// sample weights.
    pub fn input_schema(&self, classes: Option<&Classes>) -> Schema {
        let mut schema = self.schema.clone();
        if let (Some(target), Some(classes)) = (&self.target, classes) {
            let names = classes.labels().iter().map(Label::to_string).collect();
            let levels = Arc::new(Levels::new(names));
            schema.fields.push(Field::categorical(target.clone(), levels));
            schema.fields.extend(self.weights.clone().map(Field::numeric));
        }
        schema
    }

    /// The columns to read for regression: those of the features, and the target and the sample weights as numeric
    /// columns.
    pub fn regression_schema(&self) -> Schema {
        let mut schema = self.weighted_schema();
        let target = self.target.clone();
        schema.fields.extend(target.map(|name| Field::written(name, self.target_notation.clone())));
        schema
    }

    /// The feature columns and the column of sample weights.
    pub fn weighted_schema(&self) -> Schema {
        let mut schema = self.schema.clone();
        schema.fields.extend(self.weights.clone().map(Field::numeric));
        schema
    }

    /// Checks features that were read from a file.
    ///
    /// # Errors
    /// [`Error::File`] if steps and columns do not match.
    pub fn check(&self) -> Result<()> {
        let fits = self.schema.fields.len() == self.steps.len()
            && self.schema.fields.iter().zip(&self.steps).all(|(field, step)| match step {
                Step::Numeric(_) => matches!(field.kind, Kind::Numeric | Kind::Boolean),
                Step::Date(_) => field.kind == Kind::Numeric,
                Step::OneHot(step) => field.kind == Kind::Categorical && step.fits(field),
                Step::Code => matches!(field.kind, Kind::Categorical | Kind::Boolean),
                Step::Text(_) => field.kind == Kind::Text,
                Step::Sparse => field.kind == Kind::Sparse && self.steps.len() == 1,
            })
            && self.steps.is_sorted_by_key(is_text)
            && self.schema.fields.iter().all(|f| f.width >= 1 || f.kind == Kind::Sparse);
        let target_fits = self.target_scale.is_none_or(|(mean, deviation)| {
            mean.is_finite() && deviation.is_finite() && deviation > 0.0
        });
        if !fits || !target_fits {
            return Err(Error::File("the preprocessing steps do not match the columns".into()));
        }
        if let Some(map) = &self.map {
            map.check()?;
            if map.n_inputs() != self.n_encoded() {
                return Err(Error::File(
                    "the kernel map has another number of input columns than the features".into(),
                ));
            }
        }
        self.steps.iter().try_for_each(|step| match step {
            Step::Numeric(step) => step.check(),
            Step::Date(step) => step.check(),
            Step::Text(step) => step.check(),
            _ => Ok(()),
        })
    }
}

pub(super) fn is_text(step: &Step) -> bool {
    matches!(step, Step::Text(_))
}

/// The number of codes of a column.
pub(super) fn n_codes(field: &Field) -> usize {
    if field.kind == Kind::Boolean { 2 } else { field.levels.len() }
}
