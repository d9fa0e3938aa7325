//! Ways to learn: by one mergeable summary of the rows, or by a solver that needs the rows in memory. Estimators that
//! learn by one mergeable summary per iteration are in [`rounds`](super::rounds).

use crate::data::{Classes, Dataset, Target};
use crate::error::{Error, Result};
use crate::model::{Certificate, Fitted, Monitor, Params, Stop};
use mercer_num::parallel::{self, Layout};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Instant;

/// Learns a model from rows.
pub trait Fit: Params {
    /// What is learned.
    type Model;

    /// Learns from all rows, on all threads of the current pool.
    ///
    /// # Errors
    /// If parameters or data are not usable, or it was stopped before anything was learned.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>>;

    /// Learns from all rows, beginning at another model of the same classes and columns: what its card
    /// calls `warm`.
    ///
    /// # Errors
    /// As [`Fit::fit`], or if it cannot, which is the rule.
    fn fit_from(
        &self,
        _start: &Self::Model,
        _data: &Dataset<'_>,
        _monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        Err(Error::Unable { estimator: Self::NAME.into(), what: "begin at another model".into() })
    }

    /// Goes on from a model, or from nothing, with one pass over more rows: what its card calls `online`.
    ///
    /// # Errors
    /// As [`Fit::fit`], or if it cannot, which is the rule.
    fn learn_on(
        &self,
        _before: Option<&Self::Model>,
        _data: &Dataset<'_>,
        _monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        Err(Error::Unable { estimator: Self::NAME.into(), what: "learn row by row".into() })
    }

    /// Begins to learn from rows that come in parts, as often as it wants to see them: what its card calls
    /// `online`.
    ///
    /// # Errors
    /// If parameters are not usable, or it cannot, which is the rule.
    fn in_parts(&self, _shape: &Shape<'_>) -> Result<BoxedParts<Self::Model>> {
        Err(Error::Unable { estimator: Self::NAME.into(), what: "learn rows in parts".into() })
    }
}

/// What is known about rows before the first of them comes.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The classes, where classes are learned.
    pub classes: Option<&'a Classes>,
    /// How many columns there are.
    pub n_columns: usize,
    /// How the rows lie in memory.
    pub layout: Layout,
}

/// Learning under way, from rows that come in parts.
pub trait InParts: Send {
    /// What is learned.
    type Model;

    /// Learns the rows at some places of a part; fewer where the monitor says to end.
    ///
    /// # Errors
    /// If the rows are not usable.
    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()>;

    /// Ends a pass over all rows, and says whether it wants to see them again.
    ///
    /// # Errors
    /// If there were no rows, or what is learned has left the numbers there are.
    fn end_pass(&mut self) -> Result<bool>;

    /// The model, as far as it has come.
    ///
    /// # Errors
    /// If it has seen nothing.
    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<Self::Model>>;
}

/// Learning in parts, whoever does it.
pub type BoxedParts<M> = Box<dyn InParts<Model = M>>;

/// A summary of rows that can be added to another, in any grouping.
pub trait Statistics: Default + Clone + Send + Sync + Serialize + DeserializeOwned {
    /// Adds the rows of another summary.
    ///
    /// # Errors
    /// If the two are not about the same columns.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Takes rows back out.
    ///
    /// # Errors
    /// If they cannot have been in.
    fn forget(&mut self, other: &Self) -> Result<()>;

    /// Refuses numbers that no rows could have given; for summaries that come from a file.
    ///
    /// # Errors
    /// What does not fit.
    fn check(&self) -> Result<()>;

    /// The number of columns and the classes, where it knows them without a model being made.
    fn outline(&self) -> Option<(usize, Classes)> {
        None
    }

    /// Whether rows can be read back out of it.
    fn holds_rows(&self) -> bool {
        false
    }

    /// How many rows one leaf summarizes. It depends on the width and the storage of the data and
    /// on nothing else, so that any number of threads builds the same tree.
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        parallel::chunk_rows(n_columns, layout)
    }

    /// About how many bytes the summary of so many classes and columns takes.
    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        24 * n_classes.max(1) as u64 * n_columns as u64
    }
}

/// Learns from one summary: naive Bayes, discriminants, least squares, ridge, tf-idf, scaling.
pub trait Accumulate: Params {
    /// The summary.
    type Stats: Statistics;
    /// What is learned.
    type Model: Send;

    /// Adds rows to a summary.
    ///
    /// # Errors
    /// If the rows are not usable.
    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()>;

    /// Makes the model.
    ///
    /// # Errors
    /// If the summary is of too little.
    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model>;

    /// Makes the model where that takes a search: the best so far, and why, if the monitor ends it.
    ///
    /// # Errors
    /// If the summary is of too little.
    fn finish_within(
        &self,
        stats: &Self::Stats,
        _monitor: &Monitor<'_>,
    ) -> Result<(Self::Model, Option<Stop>)> {
        Ok((self.finish(stats)?, None))
    }

    /// What can be said about the solution from the summary.
    fn certificate(&self, _stats: &Self::Stats, _model: &Self::Model) -> Certificate {
        Certificate::closed_form()
    }
}

impl<A: Accumulate> Fit for A {
    type Model = A::Model;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<A::Model>> {
        let start = Instant::now();
        self.check()?;
        if data.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        if data.n_columns() == 0 {
            return Err(Error::NoFeatures);
        }
        let observe = |stats: &mut A::Stats, batch: &Dataset<'_>| self.observe(stats, batch);
        let Gathered { stats, rows, stopped } = gather(data, monitor, observe)?;
        let (model, cut) = self.finish_within(&stats, monitor)?;
        let certificate =
            self.certificate(&stats, &model).rows(rows).stopped_by(stopped.or(cut)).since(start);
        Ok(Fitted { model, certificate })
    }
}

/// The summary of all rows, or of those before a stop.
pub struct Gathered<S> {
    /// The summary.
    pub stats: S,
    /// How many rows are in it.
    pub rows: u64,
    /// Why it is not all of them.
    pub stopped: Option<Stop>,
}

impl<S> Gathered<S> {
    /// The same rows in another form of summary.
    pub fn map<T>(self, f: impl FnOnce(S) -> T) -> Gathered<T> {
        Gathered { stats: f(self.stats), rows: self.rows, stopped: self.stopped }
    }
}

/// Summarizes rows over the fixed chunk plan and merge tree.
///
/// # Errors
/// If rows are not usable, or it was stopped before the first chunk.
pub fn gather<S: Statistics>(
    data: &Dataset<'_>,
    monitor: &Monitor<'_>,
    observe: impl Fn(&mut S, &Dataset<'_>) -> Result<()> + Sync,
) -> Result<Gathered<S>> {
    let n_rows = data.n_rows();
    let n_classes = match data.target() {
        Target::Classes { classes, .. } => classes.len(),
        _ => 1,
    };
    monitor.reserve("keeping statistics", S::bytes(n_classes, data.n_columns()))?;
    let chunk = S::chunk_rows(data.n_columns(), data.layout());
    let plan = parallel::chunks(n_rows, chunk);
    let mut stopped = None;
    let leaf = |k: usize| {
        let range = k * chunk..((k + 1) * chunk).min(n_rows);
        let mut stats = S::default();
        observe(&mut stats, &data.slice(range)).map_err(|e| e.after_rows(k * chunk))?;
        Ok(stats)
    };
    let (stats, done) = parallel::reduce(plan.len(), leaf, S::merge, |done| {
        monitor.report((done * chunk) as u64, Some(n_rows as u64));
        stopped = monitor.stop();
        stopped.is_none()
    })?;
    let rows = (done * chunk).min(n_rows) as u64;
    monitor.report(rows, Some(n_rows as u64));
    match stats {
        Some(stats) => Ok(Gathered { stats, rows, stopped }),
        None if stopped.is_some() => Err(Error::Stopped),
        None => Ok(Gathered { stats: S::default(), rows, stopped }),
    }
}
