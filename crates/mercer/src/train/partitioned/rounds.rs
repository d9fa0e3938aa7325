//! The driver's side of a fit by rounds.

use super::sums::{StageSums, bytes_of, other_stage};
use super::{PartSums, PartitionedFit};
use crate::catalog::AnyModel;
use crate::error::Result;
use crate::model::{BoxedRounds, RoundProgress, Stop};
use crate::train::Trained;
use crate::train::target_scale::TargetScaling;

/// The driver's side of a fit by rounds.
pub struct RoundsFit {
    pub(super) fit: PartitionedFit,
    pub(super) rounds: BoxedRounds<AnyModel>,
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
