//! A fit to rows that are spread over several processes, such as the partitions of a cluster.
//!
//! [`PartitionedFit`] describes the fit and travels to the processes. Each observes its part of the rows
//! ([`PartObserver`]) and returns the sums ([`PartSums`]), which merge in any number of levels. The sums of all rows
//! take the fit through its stages: preprocessing, a kernel map if there is one, and the model, which is finished from
//! sufficient statistics or found by rounds ([`RoundsFit`]). Everything that travels is a model file's kind of bytes and
//! is checked when it is read.

use super::Trained;
use super::target_scale::{TargetScaling, TargetSums};
use crate::catalog::{AnyModel, AnyStats, Capability, Estimator};
use crate::data::{Classes, Dataset, Field, Kind, Schema, Table, check_cells};
use crate::error::{Error, Result};
use crate::file;
use crate::model::{
    BoxedRounds, Gathered, Monitor, RoundPenalty, RoundPoint, RoundProgress, RoundSums, Shape,
    Statistics, Stop, Tree, gather,
};
use crate::preprocess::{
    FeatureObserver, FeatureSums, Features, Reads, Recipe, RowSample, Step, TargetScale,
};
use crate::train::recipe_for;
use mercer_num::Rows;
use mercer_num::parallel;
use mercer_num::rows::Missing;
use serde::de::DeserializeOwned;
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

/// The sums of a part of the rows at some stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSums {
    /// The number of rows.
    pub rows: u64,
    sums: StageSums,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StageSums {
    Preprocessing { features: Box<FeatureSums>, target: TargetSums },
    Map(RowSample),
    Statistics(Box<AnyStats>),
    Round(RoundSums),
}

/// Reads what [`bytes_of`] wrote.
fn value_of<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    file::from_bytes(bytes)?.into_value().map_err(|e| Error::File(e.to_string()))
}

/// The bytes of a value, in the format of model files.
fn bytes_of<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    file::to_bytes(Tree::of(value).map_err(|e| Error::File(e.to_string()))?)
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

fn other_stage() -> Error {
    Error::Merge { why: "the sums belong to another stage of the fit".into() }
}

impl PartSums {
    /// Adds the sums of other rows.
    ///
    /// # Errors
    /// If they are of another stage or of other columns.
    pub fn merge(&mut self, other: &PartSums) -> Result<()> {
        self.rows += other.rows;
        match (&mut self.sums, &other.sums) {
            (
                StageSums::Preprocessing { features, target },
                StageSums::Preprocessing { features: more, target: targets },
            ) => {
                target.merge(targets);
                features.merge(more)
            }
            (StageSums::Map(mine), StageSums::Map(theirs)) => mine.merge(theirs),
            (StageSums::Statistics(mine), StageSums::Statistics(theirs)) => mine.merge(theirs),
            (StageSums::Round(mine), StageSums::Round(theirs)) => {
                if mine.sums.len() != theirs.sums.len() {
                    return Err(other_stage());
                }
                mine.merge(theirs)
            }
            _ => Err(other_stage()),
        }
    }

    /// The bytes that travel to other processes.
    ///
    /// # Errors
    /// If the sums cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        bytes_of(self)
    }

    /// Reads and checks sums.
    ///
    /// # Errors
    /// The first field that is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<PartSums> {
        let part: PartSums = value_of(bytes)?;
        match &part.sums {
            StageSums::Preprocessing { features, target } => match target.is_valid() {
                true => features.check()?,
                false => return Err(Error::File("inconsistent sums of the target".into())),
            },
            StageSums::Map(sample) => sample.check()?,
            StageSums::Statistics(stats) => stats.check()?,
            StageSums::Round(sums) => sums.check()?,
        }
        Ok(part)
    }
}

/// Observes a part of the rows.
pub struct PartObserver {
    fit: Arc<PartitionedFit>,
    state: ObserverState,
    /// The index of the first row of the part.
    first_row: u64,
    rows: u64,
}

enum ObserverState {
    Preprocessing(Box<FeatureObserver>, TargetSums),
    Map(RowSample),
    Statistics(parallel::Tree<AnyStats>),
    Round(BoxedRounds<AnyModel>, parallel::Tree<RoundSums>),
}

impl PartObserver {
    /// Adds rows: as they are read while the preprocessing or a map is fitted, and encoded afterwards. Groups of
    /// [`PartitionedFit::group_rows`] rows, but for the last one, give the same sums however the rows arrive.
    ///
    /// # Errors
    /// If the rows are invalid.
    pub fn observe(
        &mut self,
        rows: PartRows<'_>,
        target: Target<'_>,
        weights: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let n_rows = match &rows {
            PartRows::Table(table) => table.n_rows(),
            PartRows::Matrix(rows) => rows.n_rows(),
        };
        if n_rows == 0 {
            return Ok(());
        }
        let before = (self.first_row + self.rows) as usize;
        self.observe_rows(rows, target, weights, monitor).map_err(|e| e.after_rows(before))?;
        self.rows += n_rows as u64;
        Ok(())
    }

    fn observe_rows(
        &mut self,
        rows: PartRows<'_>,
        target: Target<'_>,
        weights: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let fit = &self.fit;
        match (&mut self.state, rows) {
            (ObserverState::Preprocessing(features, sums), PartRows::Table(table)) => {
                if let Target::Regression(y) = target {
                    sums.observe(y, weights);
                }
                features.observe(table, weights, monitor)
            }
            (ObserverState::Preprocessing(features, _), PartRows::Matrix(rows)) => {
                features.observe(&fit.features.table_of(&rows)?, weights, monitor)
            }
            (ObserverState::Map(sample), rows) => {
                let map = fit.recipe.map.as_ref().ok_or_else(other_stage)?;
                let first_row = self.first_row + self.rows;
                let part = match rows {
                    PartRows::Table(table) => {
                        let encoded = fit.features.encode(table, None)?;
                        check_cells(&encoded.rows(), Missing::Refused)?;
                        RowSample::of(&encoded.rows(), map, first_row)
                    }
                    PartRows::Matrix(rows) => {
                        check_cells(&rows, Missing::Refused)?;
                        match fit.features.encode_matrix(&rows)? {
                            Some(scaled) => RowSample::of(&Rows::from(&scaled), map, first_row),
                            None => RowSample::of(&rows, map, first_row),
                        }
                    }
                };
                sample.merge(&part)
            }
            (ObserverState::Statistics(tree), PartRows::Matrix(rows)) => {
                let descriptions = match fit.estimator.card().reads() {
                    Reads::Mixed => fit.features.descriptions(),
                    _ => Arc::default(),
                };
                let data = fit.dataset(rows.view(), target, weights)?;
                let data = match descriptions.is_empty() {
                    true => data,
                    false => data.with_descriptions(&descriptions)?,
                };
                let Gathered { stats, .. } = fit.estimator.gather(&data, monitor)?;
                tree.push(stats, fit.leaves(&data), AnyStats::merge)
            }
            (ObserverState::Round(rounds, tree), PartRows::Matrix(rows)) => {
                let scaled = fit.standardized(target);
                let target = scaled.as_deref().map_or(target, Target::Regression);
                let data = fit.dataset(rows.view(), target, weights)?;
                let observe =
                    |sums: &mut RoundSums, batch: &Dataset<'_>| rounds.observe(sums, batch);
                let Gathered { stats, .. } = gather(&data, monitor, observe)?;
                tree.push(stats, fit.leaves(&data), RoundSums::merge)
            }
            _ => Err(other_stage()),
        }
    }

    /// The sums of the observed rows; `None` if there were none.
    ///
    /// # Errors
    /// If text columns cannot be counted.
    pub fn finish(self) -> Result<Option<PartSums>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let sums = match self.state {
            ObserverState::Preprocessing(features, target) => {
                Some(StageSums::Preprocessing { features: features.finish()?.into(), target })
            }
            ObserverState::Map(sample) => Some(StageSums::Map(sample)),
            ObserverState::Statistics(tree) => {
                let stats = tree.finish(AnyStats::merge)?;
                stats.map(|stats| StageSums::Statistics(Box::new(stats)))
            }
            ObserverState::Round(_, tree) => tree.finish(RoundSums::merge)?.map(StageSums::Round),
        };
        Ok(sums.map(|sums| PartSums { rows: self.rows, sums }))
    }
}

impl PartitionedFit {
    /// The number of leaves of the merge tree that some rows make.
    fn leaves(&self, data: &Dataset<'_>) -> usize {
        let chunk = match self.by_rounds() {
            true => parallel::chunk_rows(data.n_columns(), data.layout()),
            false => self.estimator.chunk_rows(data.n_columns(), data.layout()),
        };
        data.n_rows().div_ceil(chunk).max(1)
    }

    /// The target in the units of the fit, if it is standardized.
    fn standardized(&self, target: Target<'_>) -> Option<Vec<f64>> {
        match (self.features.target_scale, target) {
            (Some((mean, deviation)), Target::Regression(y)) => {
                Some(TargetScaling { mean, deviation }.standardized(y))
            }
            _ => None,
        }
    }
}

/// The driver's side of a fit by rounds.
pub struct RoundsFit {
    fit: PartitionedFit,
    rounds: BoxedRounds<AnyModel>,
}

impl RoundsFit {
    /// The bytes of the point of the next round; `None` before the first.
    ///
    /// # Errors
    /// If the point cannot be written.
    pub fn point(&self) -> Result<Option<Vec<u8>>> {
        self.rounds.point().as_ref().map(bytes_of).transpose()
    }

    /// Takes the sums of all rows; returns whether another round follows.
    ///
    /// # Errors
    /// If no model can be fitted to the rows.
    pub fn step(&mut self, sums: &PartSums) -> Result<bool> {
        match &sums.sums {
            StageSums::Round(round) => self.rounds.step(round, sums.rows),
            _ => Err(other_stage()),
        }
    }

    /// The current objective and duality gap; `None` before the first evaluation.
    pub fn progress(&self) -> Option<RoundProgress> {
        self.rounds.progress()
    }

    /// The model of the current point.
    ///
    /// # Errors
    /// If no round has evaluated one.
    pub fn finish(self, stopped: Option<Stop>) -> Result<Trained> {
        let RoundsFit { fit, rounds } = self;
        let mut fitted = rounds.finish(stopped)?;
        if let Some((mean, deviation)) = fit.features.target_scale {
            fitted = TargetScaling { mean, deviation }.undo(fitted);
        }
        Ok(Trained::new(fit.estimator, fit.features, fitted, None))
    }
}
