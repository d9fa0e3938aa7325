//! Observing a part of the rows, in whatever stage the fit is.

use super::sums::{StageSums, other_stage};
use super::{PartRows, PartSums, PartitionedFit, Target};
use crate::catalog::{AnyModel, AnyStats};
use crate::data::{Dataset, check_cells};
use crate::error::Result;
use crate::model::{BoxedRounds, Gathered, Monitor, RoundSums, Statistics, gather};
use crate::preprocess::{FeatureObserver, Reads, RowSample};
use crate::train::target_scale::{TargetScaling, TargetSums};
use mercer_num::Rows;
use mercer_num::parallel;
use mercer_num::rows::Missing;
use std::sync::Arc;

/// Observes a part of the rows.
pub struct PartObserver {
    pub(super) fit: Arc<PartitionedFit>,
    pub(super) state: ObserverState,
    /// The index of the first row of the part.
    pub(super) first_row: u64,
    pub(super) rows: u64,
}

pub(super) enum ObserverState {
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
