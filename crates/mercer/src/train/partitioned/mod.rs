//! A fit to rows that are spread over several processes, such as the partitions of a cluster.
//!
//! [`PartitionedFit`] describes the fit and travels to the processes. Each observes its part of the rows
//! ([`PartObserver`]) and returns the sums ([`PartSums`]), which merge in any number of levels. The sums of all rows
//! take the fit through its stages: preprocessing, a kernel map if there is one, and the model, which is finished from
//! sufficient statistics or found by rounds ([`RoundsFit`]). Everything that travels is a model file's kind of bytes and
//! is checked when it is read.

mod observer;
mod rounds;
mod sums;

pub use self::observer::PartObserver;
pub use self::rounds::RoundsFit;
pub use self::sums::PartSums;

use self::observer::ObserverState;
use self::sums::{StageSums, bytes_of, other_stage, value_of};
use super::Trained;
use super::target_scale::{TargetScaling, TargetSums};
use crate::catalog::{AnyModel, Capability, Estimator};
use crate::data::{Classes, Dataset, Field, Kind, Schema, Table};
use crate::error::{Error, Result};
use crate::model::{BoxedRounds, Monitor, RoundPenalty, RoundPoint, Shape};
use crate::preprocess::{FeatureObserver, Features, Reads, Recipe, RowSample, Step, TargetScale};
use crate::train::recipe_for;
use mercer_num::Rows;
use mercer_num::parallel;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Rows that are observed together hold about this many values.
const VALUES_PER_GROUP: usize = 1 << 21;

/// The description of a fit, the same in every process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionedFit {
    /// The estimator with its parameters.
    pub estimator: Estimator,
    /// The preprocessing, fitted as far as the stage says.
    pub features: Features,
    /// The classes; `None` for regression.
    pub classes: Option<Classes>,
    /// What the next pass over the rows is for.
    pub stage: Stage,
    /// What the penalty of a fit by rounds is on.
    pub penalty: RoundPenalty,
    recipe: Recipe,
}

/// What a pass over the rows is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Imputation, scaling, frequent levels, vocabularies, the scale of the target.
    Preprocessing,
    /// The sample that a kernel map is fitted to.
    Map,
    /// The statistics of the model, or the sums of its rounds.
    Fit,
}

/// A part of the rows.
#[derive(Clone, Copy)]
pub enum PartRows<'a> {
    /// Columns by name.
    Table(&'a Table),
    /// Numeric columns, or encoded features.
    Matrix(Rows<'a>),
}

/// The target of a part of the rows.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// Class codes.
    Classes(&'a [u32]),
    /// Regression targets.
    Regression(&'a [f64]),
}

impl PartitionedFit {
    /// The fit of a table: columns are preprocessed as [`recipe_for`] decides, after the steps of the recipe.
    ///
    /// # Errors
    /// If parameters are invalid, or the estimator cannot use a column.
    pub fn of_table(
        estimator: Estimator,
        schema: &Schema,
        target: &str,
        weights: Option<String>,
        classes: Option<Classes>,
        recipe: Recipe,
    ) -> Result<PartitionedFit> {
        let recipe = recipe_for(&estimator, recipe)?;
        let reads = match recipe.map {
            Some(_) => Reads::NumericAndText,
            None => estimator.card().reads(),
        };
        let schema = schema.without(target);
        let schema = weights.iter().fold(schema, |schema, name| schema.without(name));
        let (mut features, dropped) =
            Features::plan_for(&schema, Some(target), recipe.categories, reads)?;
        if let Some((column, reason)) = dropped.first() {
            return Err(Error::Kind {
                column: column.clone(),
                found: reason.to_string(),
                expected: format!("a column that `{}` can use; leave it out", estimator.id()),
            });
        }
        features.weights = weights;
        PartitionedFit::new(estimator, features, classes, recipe)
    }

    /// The fit of a numeric matrix, which is scaled and mapped as the recipe says.
    ///
    /// # Errors
    /// If parameters are invalid.
    pub fn of_matrix(
        estimator: Estimator,
        features: Features,
        classes: Option<Classes>,
        recipe: Recipe,
    ) -> Result<PartitionedFit> {
        let target = TargetScale::Keep;
        let recipe = Recipe { map: recipe.map, scale: recipe.scale, target, ..Recipe::default() };
        PartitionedFit::new(estimator, features, classes, recipe)
    }

    fn new(
        estimator: Estimator,
        features: Features,
        classes: Option<Classes>,
        recipe: Recipe,
    ) -> Result<PartitionedFit> {
        estimator.check()?;
        if let Some(classes) = &classes {
            classes.check_several()?;
        }
        let stage = Stage::Preprocessing;
        let fit = PartitionedFit {
            estimator,
            features,
            classes,
            stage,
            penalty: RoundPenalty::default(),
            recipe,
        };
        if fit.features.needs_sums(&fit.recipe)? || fit.standardizes_target() {
            return Ok(fit);
        }
        let features = fit.features.clone().without_sums(&fit.recipe)?;
        Ok(PartitionedFit { features, ..fit }.preprocessed())
    }

    /// The stage after the preprocessing.
    fn preprocessed(self) -> PartitionedFit {
        let stage = if self.recipe.map.is_some() { Stage::Map } else { Stage::Fit };
        PartitionedFit { stage, ..self }
    }

    fn standardizes_target(&self) -> bool {
        self.classes.is_none()
            && self.recipe.target == TargetScale::Standard
            && self.estimator.card().can(Capability::TargetScaleDependent)
    }

    /// Whether the model is found by rounds and not from statistics of one pass.
    pub fn by_rounds(&self) -> bool {
        self.estimator.no_rows().is_none()
    }

    /// The number of rows that a process should observe together. It depends on the columns only, so that the sums of a
    /// part do not depend on how its rows arrive.
    pub fn group_rows(&self) -> usize {
        let width = self.features.n_features().max(1);
        let chunk = self.estimator.chunk_rows(width, self.features.layout());
        let groups = (VALUES_PER_GROUP / width / chunk.max(1)).max(1);
        chunk << groups.ilog2()
    }

    /// The fit for processes that observe encoded rows: without levels, vocabularies and kernel maps, which can be much
    /// larger than the sums.
    #[must_use]
    pub fn of_encoded_rows(&self) -> PartitionedFit {
        let width = self.features.n_features();
        let field = Field { width, ..Field::new("features", Kind::Sparse) };
        let features = Features {
            steps: vec![Step::Sparse],
            target_scale: self.features.target_scale,
            ..Features::of_schema(Schema { fields: vec![field] })
        };
        PartitionedFit { features, recipe: Recipe::default(), ..self.clone() }
    }

    /// The bytes that travel to other processes.
    ///
    /// # Errors
    /// If the description cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        bytes_of(self)
    }

    /// Reads and checks a description.
    ///
    /// # Errors
    /// The first field that is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<PartitionedFit> {
        let fit: PartitionedFit = value_of(bytes)?;
        fit.estimator.check()?;
        fit.features.check()?;
        Ok(fit)
    }

    /// Starts to observe a part of the rows of which the first has the index `first_row`. In a fit by rounds, `point` is
    /// that of the round.
    ///
    /// # Errors
    /// If the point is not one of this fit.
    pub fn observer(
        self: &Arc<Self>,
        first_row: u64,
        point: Option<&[u8]>,
    ) -> Result<PartObserver> {
        let state = match self.stage {
            Stage::Preprocessing => ObserverState::Preprocessing(
                Box::new(FeatureObserver::new(&self.features, &self.recipe, first_row)?),
                TargetSums::default(),
            ),
            Stage::Map => ObserverState::Map(RowSample::default()),
            Stage::Fit if !self.by_rounds() => ObserverState::Statistics(parallel::Tree::new()),
            Stage::Fit => {
                let mut rounds = self.new_rounds()?;
                if let Some(point) = point {
                    rounds.move_to(&value_of::<RoundPoint>(point)?)?;
                }
                ObserverState::Round(rounds, parallel::Tree::new())
            }
        };
        Ok(PartObserver { fit: Arc::clone(self), state, first_row, rows: 0 })
    }

    /// Merges the sums of parts, in their order.
    ///
    /// # Errors
    /// If they are of different fits.
    pub fn merge(&self, parts: Vec<PartSums>) -> Result<Option<PartSums>> {
        let mut tree = parallel::Tree::new();
        for part in parts {
            tree.push(part, 1, PartSums::merge)?;
        }
        tree.finish(PartSums::merge)
    }

    /// The fit in its next stage, from the sums of all rows.
    ///
    /// # Errors
    /// If the sums are of another stage, or no preprocessing can be fitted.
    pub fn advance(&self, sums: &PartSums, monitor: &Monitor<'_>) -> Result<PartitionedFit> {
        match (self.stage, &sums.sums) {
            (Stage::Preprocessing, StageSums::Preprocessing { features, target }) => {
                let mut fit = self.clone();
                fit.features = match fit.features.needs_sums(&fit.recipe)? {
                    true => fit.features.with_sums(&fit.recipe, features)?,
                    false => fit.features.without_sums(&fit.recipe)?,
                };
                if fit.standardizes_target() {
                    let scaling = target.scaling().map(|scaling| fit.undoable(scaling));
                    fit.features.target_scale = scaling.map(|s| (s.mean, s.deviation));
                }
                Ok(fit.preprocessed())
            }
            (Stage::Map, StageSums::Map(sample)) => {
                let mut fit = self.clone();
                let map = self.recipe.map.as_ref().ok_or_else(other_stage)?;
                let fitted = sample.fit(map, self.features.layout(), monitor)?;
                fit.features.map = Some(fitted.into());
                fit.stage = Stage::Fit;
                Ok(fit)
            }
            _ => Err(other_stage()),
        }
    }

    /// The scaling without the shift, if the model has no intercept that could undo it.
    fn undoable(&self, scaling: TargetScaling) -> TargetScaling {
        match self.estimator.params().get("fit_intercept") {
            Some(Value::Bool(false)) => TargetScaling { mean: 0.0, ..scaling },
            _ => scaling,
        }
    }

    /// The model of the statistics of all rows.
    ///
    /// # Errors
    /// If there are too few rows, or the sums are not statistics of this estimator.
    pub fn finish(&self, sums: PartSums, monitor: &Monitor<'_>) -> Result<Trained> {
        let StageSums::Statistics(stats) = sums.sums else { return Err(other_stage()) };
        let fitted = self.estimator.finish_within(&stats, sums.rows, monitor)?;
        Ok(Trained::new(self.estimator.clone(), self.features.clone(), fitted, Some(*stats)))
    }

    /// Starts the rounds.
    ///
    /// # Errors
    /// If parameters are invalid, or the estimator does not learn by rounds.
    pub fn rounds(&self) -> Result<RoundsFit> {
        if self.stage != Stage::Fit {
            return Err(other_stage());
        }
        Ok(RoundsFit { fit: self.clone(), rounds: self.new_rounds()? })
    }

    fn new_rounds(&self) -> Result<BoxedRounds<AnyModel>> {
        let mut rounds = self.estimator.by_rounds(&self.shape())?;
        if self.penalty != RoundPenalty::Columns {
            rounds.set_penalty(self.penalty);
        }
        Ok(rounds)
    }

    fn shape(&self) -> Shape<'_> {
        Shape {
            classes: self.classes.as_ref(),
            n_columns: self.features.n_features(),
            layout: self.features.layout(),
        }
    }

    /// The encoded rows with target and weights.
    fn dataset<'a>(
        &'a self,
        rows: Rows<'a>,
        target: Target<'a>,
        weights: &'a [f64],
    ) -> Result<Dataset<'a>> {
        let data = match (target, &self.classes) {
            (Target::Classes(codes), Some(classes)) => Dataset::classes(rows, codes, classes)?,
            (Target::Regression(y), None) => Dataset::regression(rows, y)?,
            _ => return Err(self.estimator.unable("learn this kind of target")),
        };
        if weights.is_empty() { Ok(data) } else { data.weighted(weights) }
    }
}
