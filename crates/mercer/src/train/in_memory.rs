//! Training by a solver that needs all rows in memory, and its cross-validation.

use super::cross_validate::{HeldOutScores, score_batch};
use super::folds::{AssignedRows, Labels};
use super::training::{Outcome, Training};
use crate::catalog::Capability;
use crate::data::{SelectedRows, Stream, Table};
use crate::error::{Error, Result};
use crate::evaluate::Folds;
use crate::model::Monitor;
use crate::preprocess::{Encoded, Step};
use mercer_num::Matrix;
use mercer_num::parallel::Layout;
use std::ops::ControlFlow;
use std::time::Instant;

/// Bytes of encoded rows that an online learner holds in memory; above it trains out of core.
const MAX_ONLINE_BYTES: u64 = 128 << 20;
/// The fraction of the memory budget for the rows of an estimator that can do without them. The solver in memory needs
/// about as much again, and rows are held twice while they are joined.
const BUDGET_FRACTION: u64 = 4;

/// Rows that are read together.
const ROWS_PER_TABLE: usize = 4096;

/// The rows of a stream, if they fit in memory.
enum Read {
    InMemory(Encoded),
    TooLarge,
}

impl Training<'_> {
    /// Reads all rows, fits them, and fits again without each fold. If the rows do not fit in memory, an online learner
    /// is trained out of core, and an estimator by rounds with a pass over the stream per iteration.
    pub(super) fn train_in_memory<S: Stream>(
        self,
        stream: &S,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let rows = match self.read_all(stream, monitor)? {
            Read::InMemory(rows) => rows,
            Read::TooLarge if self.is_online() => {
                return self.train_out_of_core(stream, start, monitor);
            }
            Read::TooLarge => return self.train_by_rounds(stream, start, monitor),
        };
        let (fitted, scaling) = self.fit_rows(&rows, monitor)?;
        let scores = if self.n_folds > 1 && fitted.certificate.stopped().is_none() {
            let refitted = self.read_refitted(stream, monitor)?;
            self.cross_validate(rows, refitted.as_ref(), &monitor.planned())?
        } else {
            None
        };
        let mut outcome = self.outcome(fitted, None, scores);
        outcome.trained.features.target_scale = scaling.map(|s| (s.mean, s.deviation));
        Ok(outcome)
    }

    fn is_online(&self) -> bool {
        self.estimator.card().can(Capability::Online)
    }

    fn read_all<S: Stream>(
        &self,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Read, S::Error> {
        // The tables as they are read, and the joined rows.
        let reserve = |bytes: u64| monitor.reserve("holding the rows in memory", 2 * bytes);
        let width = self.features.n_features() as u64;
        let (online, rounds) = (self.is_online(), self.learns_by_rounds());
        let max_bytes = match monitor.memory().map(|bytes| bytes / BUDGET_FRACTION) {
            Some(bytes) if online || rounds => bytes,
            None if online => MAX_ONLINE_BYTES,
            _ => u64::MAX,
        };
        match (self.n_rows, self.features.layout()) {
            (Some(n), Layout::Dense) if rounds && 8 * n * width > max_bytes => {
                return Ok(Read::TooLarge);
            }
            (Some(n), Layout::Dense) if !online => reserve(8 * n * width)?,
            _ => {}
        }
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

    /// The columns whose steps are fitted again without each fold; `None` if there are none.
    ///
    /// Means, medians, ranges and frequent levels of all rows would let held-out rows influence their own encoding.
    /// Vocabularies, document frequencies and kernel maps, and all steps of estimators that are fitted by statistics or
    /// out of core, are those of all rows nevertheless: they do not depend on the target, so that they cannot leak it,
    /// and fitting them again would take a pass over the stream per fold.
    fn read_refitted<S: Stream>(
        &self,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Option<Table>, S::Error> {
        let columns = self.features.without_text();
        let fitted = |step: &Step| match step {
            Step::Numeric(_) => self.recipe.needs_numeric_fit(),
            Step::Date(_) => self.recipe.needs_numeric_fit(),
            Step::OneHot(step) => self.recipe.groups_levels() && step.own.is_some(),
            _ => false,
        };
        if self.features.map.is_some() || !columns.steps.iter().any(fitted) {
            return Ok(None);
        }
        let mut rows: Option<Table> = None;
        stream.stream(&columns.weighted_schema(), ROWS_PER_TABLE, &mut |tables| {
            for table in tables {
                match &mut rows {
                    Some(rows) => rows.append(table)?,
                    None => rows = Some(table),
                }
            }
            let n_rows = rows.as_ref().map_or(0, Table::n_rows);
            let n_bytes = 8 * n_rows * columns.schema.fields.len();
            monitor.reserve("holding the columns for cross-validation", n_bytes as u64)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// Scores each fold by a model fitted to the others; `None` if the time is up. The steps of the columns in
    /// `refitted` are fitted to the other folds too.
    fn cross_validate(
        &self,
        rows: Encoded,
        refitted: Option<&Table>,
        monitor: &Monitor<'_>,
    ) -> Result<Option<HeldOutScores>> {
        let mut folds = Folds::new(self.n_folds, self.task.n_classes(), self.seed);
        let batch = self.assign_folds(&mut folds, rows, Labels::All);
        let classes = self.task.classes();
        let mut scores = HeldOutScores::new(&classes);
        for (fold, held_out) in batch.folds.iter().enumerate() {
            let others = batch.labeled(Some(fold));
            let encoded = match refitted {
                Some(columns) => Some(self.encode_without(&batch.rows, columns, &others)?),
                None => None,
            };
            let rows = encoded.as_ref().unwrap_or(&batch.rows);
            // A fold without a model, because the rows are too few or the fit was stopped early, is not scored.
            let fitted = self.fit_rows(&rows.select(&others), monitor).ok();
            let fitted = fitted.map(|(fitted, _)| fitted);
            let fitted = fitted.filter(|fitted| fitted.certificate.stopped().is_none());
            let all = (0..held_out.len()).collect();
            let rows = rows.select(held_out);
            let held_out = AssignedRows { rows, folds: vec![all], unlabeled: Vec::new() };
            scores.merge(score_batch((&held_out, 0), &[fitted], &classes, 1)?);
        }
        Ok(monitor.stop().is_none().then_some(scores))
    }

    /// All rows, encoded by steps that are fitted to some of them.
    fn encode_without(&self, rows: &Encoded, columns: &Table, fitted: &[usize]) -> Result<Encoded> {
        let planned = self.features.without_text();
        let n_replaced = planned.n_encoded();
        let stream = SelectedRows { table: columns, rows: fitted };
        let refitted = planned.fit(&self.recipe, &stream, &Monitor::quiet())?;
        let mut first = Matrix::zeros((columns.n_rows(), refitted.n_encoded()));
        refitted.encode_into(columns, &mut first.view_mut())?;
        let n = refitted.steps.len();
        let mut features = self.features.clone();
        features.steps[..n].clone_from_slice(&refitted.steps);
        Ok(rows.with_first_features(&first, n_replaced, features.descriptions()))
    }
}
