//! Out-of-core training of online learners, for streams whose rows do not fit in memory.
//!
//! Every pass reads the stream again in parts and hands each part to all learners: one that learns all rows and, for
//! every cross-validation fold, one that skips the rows of the fold. Parts end at fixed rows, so the result does not
//! depend on the number of threads.
//!
//! Rows are shuffled within a part only. If the rows are sorted by class, a part has a single class and the learner
//! forgets the classes before it; the certificate notes this.

use super::folds::{AssignedRows, Labels};
use super::target_scale::{TargetScaling, TargetSums};
use super::training::{Outcome, Training};
use crate::catalog::AnyModel;
use crate::data::{Dataset, Stream};
use crate::error::{Error, Result};
use crate::model::{BoxedOutOfCoreFit, Fitted, Monitor, Stop};
use crate::preprocess::Encoded;
use mercer_num::parallel::prelude::*;
use std::time::Instant;

/// The rows of a part,
const ROWS_PER_PART: usize = 16_384;
/// and the bytes that end a part earlier.
const MAX_PART_BYTES: u64 = 24 << 20;
/// Values that a learner stores for each of its weights.
const VALUES_PER_WEIGHT: u64 = 3;
/// Rows count as sorted by class if the class changes this many times less often than in random order.
const MIN_RUN_RATIO: f64 = 20.0;
/// The note in the certificate.
const SORTED_BY_CLASS: &str = "warning: the rows are sorted by class, and an online learner forgets the classes of \
     earlier parts; shuffle the rows (`shuf`), or allow enough memory to hold all of them";

/// An online learner, or the error that ended it.
struct Learner {
    parts: Result<BoxedOutOfCoreFit<AnyModel>>,
    goes_on: bool,
}

impl Learner {
    fn take(&mut self, data: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) {
        if let Ok(parts) = &mut self.parts
            && self.goes_on
            && let Err(error) = parts.take(data, rows, monitor)
        {
            self.parts = Err(error);
        }
    }

    fn end_pass(&mut self) {
        if let Ok(parts) = &mut self.parts
            && self.goes_on
        {
            match parts.end_pass() {
                Ok(goes_on) => self.goes_on = goes_on,
                Err(error) => self.parts = Err(error),
            }
        }
        self.goes_on &= self.parts.is_ok();
    }

    fn finish(self, stopped: Option<Stop>) -> Result<Fitted<AnyModel>> {
        // A learner that has converged was not stopped early.
        self.parts?.finish(stopped.filter(|_| self.goes_on))
    }
}

impl Training<'_> {
    /// Trains on parts of the stream, one pass per epoch.
    pub(super) fn train_out_of_core<S: Stream>(
        self,
        stream: &S,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let shape = self.shape();
        let n_learners = if self.n_folds > 1 { self.n_folds + 1 } else { 1 };
        let n_weight_vectors =
            shape.classes.map_or(1, |classes| if classes.len() == 2 { 1 } else { classes.len() });
        let weights =
            8 * VALUES_PER_WEIGHT * (shape.n_columns * n_weight_vectors * n_learners) as u64;
        monitor.reserve("storing weights", weights)?;
        let scaling = self.read_target_scaling(stream, monitor)?;
        let mut learners = Vec::with_capacity(n_learners);
        for _ in 0..n_learners {
            learners
                .push(Learner { parts: Ok(self.estimator.out_of_core(&shape)?), goes_on: true });
        }
        let (mut stopped, mut order) = (None, Order::default());
        while stopped.is_none() && learners[0].goes_on {
            self.each_part(
                stream,
                (Labels::All, ROWS_PER_PART),
                monitor,
                &mut stopped,
                |part, first| {
                    order.observe(&part.rows.codes);
                    let targets = scaling.map(|scaling| scaling.standardized(&part.rows.targets));
                    let data = match &targets {
                        Some(targets) => part.rows.regression_dataset_of(targets)?,
                        None => self.dataset(&part.rows)?,
                    };
                    learners.par_iter_mut().enumerate().for_each(|(k, learner)| {
                        learner.take(&data, &part.labeled(k.checked_sub(1)), monitor);
                    });
                    match &learners[0].parts {
                        Err(error) => Err(error.clone().after_rows(first as usize)),
                        Ok(_) => Ok(()),
                    }
                },
            )?;
            if stopped.is_none() {
                learners.iter_mut().for_each(Learner::end_pass);
            }
        }
        let mut learners = learners.into_iter();
        let Some(all) = learners.next() else { return Err(Error::NoRows.into()) };
        let in_units = |fitted| match scaling {
            Some(scaling) => scaling.undo(fitted),
            None => fitted,
        };
        let mut fitted = in_units(all.finish(stopped)?);
        fitted.certificate.seconds = start.elapsed().as_secs_f64();
        if order.is_sorted() {
            fitted.certificate = fitted.certificate.note(SORTED_BY_CLASS);
        }
        let scores = if stopped.is_none() && self.n_folds > 1 {
            // A fold without a model (too few rows) is not scored.
            let models: Vec<_> =
                learners.map(|learner| learner.finish(None).ok().map(in_units)).collect();
            self.score_held_out(&models, stream, Labels::All, monitor, fitted.certificate.rows)?
        } else {
            None
        };
        let mut outcome = self.outcome(fitted, None, scores);
        outcome.trained.features.target_scale = scaling.map(|s| (s.mean, s.deviation));
        Ok(outcome)
    }

    /// The scaling of the target in one pass, if the recipe asks for it. It is that of all rows for every fold: a
    /// shift and a factor of the target do not tell the targets of held-out rows.
    pub(super) fn read_target_scaling<S: Stream>(
        &self,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Option<TargetScaling>, S::Error> {
        if !self.standardizes_target() {
            return Ok(None);
        }
        let (mut sums, mut stopped) = (TargetSums::default(), None);
        self.each_part(stream, (Labels::All, ROWS_PER_PART), monitor, &mut stopped, |part, _| {
            sums.observe(&part.rows.targets, &part.rows.weights);
            Ok(())
        })?;
        Ok(sums.scaling().map(|scaling| self.undoable(scaling)))
    }

    /// Reads the stream once, in parts of `max_rows` rows, or fewer if they are long.
    pub(super) fn each_part<S: Stream>(
        &self,
        stream: &S,
        (labels, max_rows): (Labels, usize),
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        mut take: impl FnMut(AssignedRows, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        let (mut pending, mut n_rows, mut n_bytes, mut first) = (Vec::new(), 0, 0, 0);
        self.each_group(stream, (labels, 0), monitor, stopped, |group, _| {
            for assigned in group {
                n_rows += assigned.rows.rows().n_rows();
                n_bytes += assigned.rows.n_bytes();
                pending.push(assigned);
                if n_rows >= max_rows || n_bytes >= MAX_PART_BYTES {
                    take(concatenate(std::mem::take(&mut pending))?, first)?;
                    first += n_rows as u64;
                    (n_rows, n_bytes) = (0, 0);
                }
            }
            Ok(())
        })?;
        if stopped.is_none() && !pending.is_empty() {
            take(concatenate(pending)?, first)?;
        }
        Ok(())
    }
}

/// The order of the classes in the stream.
#[derive(Default)]
struct Order {
    /// The number of rows of each class.
    rows_of: Vec<u64>,
    last: Option<u32>,
    /// The number of rows whose class differs from that of the row before.
    changes: u64,
}

impl Order {
    fn observe(&mut self, codes: &[u32]) {
        for code in codes {
            let class = *code as usize;
            self.rows_of.resize(self.rows_of.len().max(class + 1), 0);
            self.rows_of[class] += 1;
            self.changes += u64::from(self.last.replace(*code).is_some_and(|last| last != *code));
        }
    }

    /// Whether the class changes far less often than in random order.
    fn is_sorted(&self) -> bool {
        let n = self.rows_of.iter().sum::<u64>() as f64;
        let same: f64 = self.rows_of.iter().map(|rows| (*rows as f64 / n).powi(2)).sum();
        MIN_RUN_RATIO * (self.changes as f64) < n * (1.0 - same)
    }
}

/// Concatenates batches.
fn concatenate(batches: Vec<AssignedRows>) -> Result<AssignedRows> {
    let (mut rows, mut folds, mut unlabeled) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = 0;
    for batch in batches {
        folds.resize(batch.folds.len().max(folds.len()), Vec::new());
        for (fold, some) in folds.iter_mut().zip(&batch.folds) {
            fold.extend(some.iter().map(|i| before + i));
        }
        unlabeled.extend(batch.unlabeled.iter().map(|i| before + i));
        before += batch.rows.rows().n_rows();
        rows.push(batch.rows);
    }
    Ok(AssignedRows { rows: Encoded::join(rows).ok_or(Error::NoRows)?, folds, unlabeled })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sorted(codes: &[u32]) -> bool {
        let mut order = Order::default();
        codes.chunks(7).for_each(|part| order.observe(part));
        order.is_sorted()
    }

    #[test]
    fn rows_sorted_by_class_are_detected() {
        let sorted: Vec<u32> = (0..600).map(|i| i / 200).collect();
        let mixed: Vec<u32> = (0..600).map(|i| (i * i + i / 7) % 3).collect();
        // One row in a hundred is of the other class: in any order most rows follow a row of their class.
        let rare: Vec<u32> = (0..600).map(|i| u32::from(i % 100 == 50)).collect();

        assert!(is_sorted(&sorted));
        assert!(!is_sorted(&mixed) && !is_sorted(&rare));
        assert!(!is_sorted(&[0, 1]) && !is_sorted(&[]));
    }
}
