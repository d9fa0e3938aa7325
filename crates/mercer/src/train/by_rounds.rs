//! Training by rounds, for streams whose rows do not fit in memory: one pass over the stream per iteration.
//!
//! A pass sums over the rows at the current state of every fit: one of all rows and, for each cross-validation fold, one
//! without its rows. The sums of chunks are merged in the tree that a matrix in memory would use, so that the model has
//! the bits of [`fit_by_rounds`](crate::model::fit_by_rounds) on the same rows, for any number of threads.

use super::folds::{AssignedRows, Labels};
use super::target_scale::TargetScaling;
use super::training::{Outcome, Training};
use crate::catalog::AnyModel;
use crate::data::Stream;
use crate::error::{Error, Result};
use crate::model::{BoxedRounds, Fitted, Monitor, RoundSums, Statistics, Stop};
use crate::preprocess::Encoded;
use mercer_num::parallel::Tree;
use std::time::Instant;

/// Vectors of weights that a fit stores: the point, the direction, the residual, the preconditioner and their like.
const VECTORS_PER_FIT: u64 = 8;
/// Sums of chunks that are alive at the same time.
const SUMS_IN_FLIGHT: u64 = 8;

/// A fit by rounds, or the error that ended it.
struct RoundsFit {
    rounds: Result<BoxedRounds<AnyModel>>,
    goes_on: bool,
}

impl RoundsFit {
    fn step(&mut self, sums: Option<RoundSums>, rows: u64) {
        let (true, Ok(rounds)) = (self.goes_on, &mut self.rounds) else { return };
        match sums.ok_or(Error::NoRows).and_then(|sums| rounds.step(&sums, rows)) {
            Ok(goes_on) => self.goes_on = goes_on,
            Err(error) => (self.rounds, self.goes_on) = (Err(error), false),
        }
    }

    fn finish(self, stopped: Option<Stop>) -> Result<Fitted<AnyModel>> {
        // A fit that has converged was not stopped early.
        self.rounds?.finish(stopped.filter(|_| self.goes_on))
    }
}

/// The sums of one pass for one fit.
struct PassSums {
    tree: Tree<RoundSums>,
    rows: u64,
}

impl Training<'_> {
    /// Whether the estimator, with its parameters, can be fitted by rounds.
    pub(super) fn learns_by_rounds(&self) -> bool {
        self.estimator.by_rounds(&self.shape()).is_ok()
    }

    /// Fits all rows and, for every fold, the rows of the other folds, side by side; then scores the held-out rows.
    pub(super) fn train_by_rounds<S: Stream>(
        self,
        stream: &S,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let n_fits = if self.n_folds > 1 { self.n_folds + 1 } else { 1 };
        let n_weights = (self.features.n_features() + 1) * self.task.n_classes().max(1);
        let vectors = n_fits as u64 * (VECTORS_PER_FIT + SUMS_IN_FLIGHT);
        monitor.reserve("keeping the sums of rounds", 8 * n_weights as u64 * vectors)?;
        let scaling = self.read_target_scaling(stream, monitor)?;
        let start_fit = |_| {
            let rounds = self.estimator.by_rounds(&self.shape())?;
            Ok(RoundsFit { rounds: Ok(rounds), goes_on: true })
        };
        let mut fits = (0..n_fits).map(start_fit).collect::<Result<Vec<_>>>()?;
        let mut stopped = None;
        while stopped.is_none() && fits.iter().any(|fit| fit.goes_on) {
            let sums = self.sum_round(&fits, scaling, stream, monitor, &mut stopped)?;
            if stopped.is_some() {
                break;
            }
            for (fit, sums) in fits.iter_mut().zip(sums) {
                fit.step(sums.tree.finish(RoundSums::merge)?, sums.rows);
            }
        }
        let mut fits = fits.into_iter();
        let Some(all) = fits.next() else { return Err(Error::NoRows.into()) };
        let in_units = |fitted| match scaling {
            Some(scaling) => scaling.undo(fitted),
            None => fitted,
        };
        let mut fitted = in_units(all.finish(stopped)?);
        fitted.certificate.seconds = start.elapsed().as_secs_f64();
        let scores = if stopped.is_none() && self.n_folds > 1 {
            // A fold without a model (too few rows) is not scored.
            let models: Vec<_> = fits.map(|fit| fit.finish(None).ok().map(in_units)).collect();
            self.score_held_out(&models, stream, Labels::All, monitor, fitted.certificate.rows)?
        } else {
            None
        };
        let mut outcome = self.outcome(fitted, None, scores);
        outcome.trained.features.target_scale = scaling.map(|s| (s.mean, s.deviation));
        Ok(outcome)
    }

    /// One pass over the stream: the sums of every fit that goes on.
    fn sum_round<S: Stream>(
        &self,
        fits: &[RoundsFit],
        scaling: Option<TargetScaling>,
        stream: &S,
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
    ) -> std::result::Result<Vec<PassSums>, S::Error> {
        let mut sums: Vec<PassSums> =
            fits.iter().map(|_| PassSums { tree: Tree::new(), rows: 0 }).collect();
        let leaf = |batch: &AssignedRows| -> Result<Vec<(RoundSums, u64)>> {
            let one = |(k, fit): (usize, &RoundsFit)| match (&fit.rounds, k.checked_sub(1)) {
                (Ok(rounds), None) if fit.goes_on => self.observe(rounds, &batch.rows, scaling),
                (Ok(rounds), fold) if fit.goes_on => {
                    self.observe(rounds, &batch.rows.select(&batch.labeled(fold)), scaling)
                }
                _ => Ok((RoundSums::default(), 0)),
            };
            fits.iter().enumerate().map(one).collect()
        };
        self.each_leaf(stream, Labels::All, monitor, stopped, leaf, |leaves| {
            for (sums, (leaf, rows)) in sums.iter_mut().zip(leaves) {
                sums.tree.push(leaf, 1, RoundSums::merge)?;
                sums.rows += rows;
            }
            Ok(())
        })?;
        Ok(sums)
    }

    /// The sums of some rows at the state of a fit, and their number.
    fn observe(
        &self,
        rounds: &BoxedRounds<AnyModel>,
        rows: &Encoded,
        scaling: Option<TargetScaling>,
    ) -> Result<(RoundSums, u64)> {
        let mut sums = RoundSums::default();
        let n_rows = rows.rows().n_rows() as u64;
        if n_rows == 0 {
            return Ok((sums, 0));
        }
        let targets = scaling.map(|scaling| scaling.standardized(&rows.targets));
        let data = match &targets {
            Some(targets) => rows.regression_dataset_of(targets)?,
            None => self.dataset(rows)?,
        };
        rounds.observe(&mut sums, &data)?;
        Ok((sums, n_rows))
    }
}
