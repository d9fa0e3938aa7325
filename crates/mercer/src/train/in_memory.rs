//! Training by a solver that needs all rows in memory, and its cross-validation.

use super::cross_validate::{HeldOutScores, score_batch};
use super::folds::{AssignedRows, Labels};
use super::training::{Outcome, Training};
use crate::catalog::{AnyModel, Capability};
use crate::data::Stream;
use crate::error::{Error, Result};
use crate::evaluate::Folds;
use crate::model::{Fitted, Monitor};
use crate::preprocess::Encoded;
use mercer_num::parallel::Layout;
use std::time::Instant;

/// Bytes of encoded rows that an online learner holds in memory; above it trains out of core.
const MAX_ONLINE_BYTES: u64 = 128 << 20;

/// The rows of a stream, if they fit in memory.
enum Read {
    InMemory(Encoded),
    TooLarge,
}

impl Training<'_> {
    /// Reads all rows, fits them, and fits again without each fold. An online learner whose rows do not fit in
    /// memory is trained out of core.
    pub(super) fn train_in_memory<S: Stream>(
        self,
        stream: &S,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let rows = match self.read_all(stream, monitor)? {
            Read::InMemory(rows) => rows,
            Read::TooLarge => return self.train_out_of_core(stream, start, monitor),
        };
        let fitted = self.estimator.fit(&self.dataset(&rows)?, monitor)?;
        let scores = if self.n_folds > 1 && fitted.certificate.stopped().is_none() {
            self.cross_validate(rows, &monitor.planned())?
        } else {
            None
        };
        Ok(self.outcome(fitted, None, scores))
    }

    fn read_all<S: Stream>(
        &self,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Read, S::Error> {
        // The tables as they are read, and the joined rows.
        let reserve = |bytes: u64| monitor.reserve("holding the rows in memory", 2 * bytes);
        let width = self.features.n_features() as u64;
        let online = self.estimator.card().can(Capability::Online);
        if let (Some(n), Layout::Dense, false) = (self.n_rows, self.features.layout(), online) {
            reserve(8 * n * width)?;
        }
        let max_bytes = match online {
            true => monitor.memory().map_or(MAX_ONLINE_BYTES, |bytes| bytes / 4),
            false => u64::MAX,
        };
        let (mut parts, mut stopped, mut n_bytes) = (Vec::new(), None, 0);
        let mut take = |group: Vec<AssignedRows>| {
            for assigned in group {
                n_bytes += assigned.rows.n_bytes();
                parts.push(assigned.rows);
            }
            if n_bytes > max_bytes { Err(Error::Stopped) } else { reserve(n_bytes) }
        };
        // The rows of a single table stay where they are encoded; those of several have to be joined.
        let plain = !online && self.features.map.is_none();
        let single = plain && stream.has_cached_counts(&self.input_schema(Labels::All));
        let table_rows = if single { usize::MAX } else { self.table_rows() };
        let (all, stop) = ((Labels::All, 0), &mut stopped);
        let read = self.each_table(stream, table_rows, all, monitor, stop, |group, _| take(group));
        if n_bytes > max_bytes {
            return Ok(Read::TooLarge);
        }
        read?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        Ok(Read::InMemory(Encoded::join(parts).ok_or(Error::NoRows)?))
    }

    /// Scores each fold by a model fitted to the others; `None` if the time is up.
    fn cross_validate(
        &self,
        rows: Encoded,
        monitor: &Monitor<'_>,
    ) -> Result<Option<HeldOutScores>> {
        let mut folds = Folds::new(self.n_folds, self.task.n_classes(), self.seed);
        let batch = self.assign_folds(&mut folds, rows, Labels::All);
        let models: Vec<_> =
            (0..batch.folds.len()).map(|fold| self.fit_without(&batch, fold, monitor)).collect();
        let classes = self.task.classes();
        let mut scores = HeldOutScores::new(&classes);
        scores.merge(score_batch((&batch, 0), &models, &classes, 1)?);
        Ok(monitor.stop().is_none().then_some(scores))
    }

    /// The model of all folds but one; `None` where the rows are too few or the fit was stopped early.
    fn fit_without(
        &self,
        batch: &AssignedRows,
        fold: usize,
        monitor: &Monitor<'_>,
    ) -> Option<Fitted<AnyModel>> {
        let others = batch.rows.select(&batch.labeled(Some(fold)));
        let fitted = self.estimator.fit(&self.dataset(&others).ok()?, monitor).ok()?;
        fitted.certificate.stopped().is_none().then_some(fitted)
    }
}
