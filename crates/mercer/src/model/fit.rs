//! The ways to fit a model: from sufficient statistics that can be merged, or by a solver that needs the rows in
//! memory. Estimators with one mergeable summary per iteration are in [`rounds`](super::rounds).

use crate::data::{Classes, Dataset, Target};
use crate::error::{Error, Result};
use crate::model::{Certificate, Fitted, Monitor, Params, Stop};
use mercer_num::parallel::{self, Layout};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Instant;

/// An estimator that is fitted to rows.
pub trait Fit: Params {
    /// The fitted model.
    type Model;

    /// Fits a model to all rows, on all threads of the current pool.
    ///
    /// # Errors
    /// If parameters or data are invalid, or the fit was stopped before a model existed.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>>;

    /// Fits a model to all rows, starting from another model of the same classes and columns (warm start).
    ///
    /// # Errors
    /// As [`Fit::fit`], or if the estimator has no warm start, which is the default.
    fn fit_from(
        &self,
        _start: &Self::Model,
        _data: &Dataset<'_>,
        _monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        Err(Error::Unable { estimator: Self::NAME.into(), what: "start from another model".into() })
    }

    /// Updates a model, or starts a new one, with one pass over more rows (scikit-learn's `partial_fit`).
    ///
    /// # Errors
    /// As [`Fit::fit`], or if the estimator does not learn online, which is the default.
    fn partial_fit(
        &self,
        _before: Option<&Self::Model>,
        _data: &Dataset<'_>,
        _monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        Err(Error::Unable { estimator: Self::NAME.into(), what: "learn online".into() })
    }

    /// Starts a fit to rows that come in parts, in as many passes as it needs.
    ///
    /// # Errors
    /// If parameters are invalid, or the estimator does not learn online, which is the default.
    fn out_of_core(&self, _shape: &Shape<'_>) -> Result<BoxedOutOfCoreFit<Self::Model>> {
        Err(Error::Unable { estimator: Self::NAME.into(), what: "learn out of core".into() })
    }
}

/// The shape of the data, known before the first row.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The classes of a classification problem.
    pub classes: Option<&'a Classes>,
    /// The number of columns.
    pub n_columns: usize,
    /// The memory layout of the rows.
    pub layout: Layout,
}

/// The state of an out-of-core fit to rows that come in parts.
pub trait OutOfCoreFit: Send {
    /// The fitted model.
    type Model;

    /// Updates the state with the given rows of a part; with fewer if the monitor stops it.
    ///
    /// # Errors
    /// If the rows are invalid.
    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()>;

    /// Ends a pass over all rows; returns whether another pass follows.
    ///
    /// # Errors
    /// If there were no rows, or the weights diverged.
    fn end_pass(&mut self) -> Result<bool>;

    /// The model of the current state.
    ///
    /// # Errors
    /// If there were no rows.
    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<Self::Model>>;
}

/// An out-of-core fit of any estimator.
pub type BoxedOutOfCoreFit<M> = Box<dyn OutOfCoreFit<Model = M>>;

/// Sufficient statistics of rows that can be merged in any grouping.
pub trait Statistics: Default + Clone + Send + Sync + Serialize + DeserializeOwned {
    /// Adds the statistics of other rows.
    ///
    /// # Errors
    /// If the columns differ.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Removes rows.
    ///
    /// # Errors
    /// If they cannot have been part of the statistics.
    fn forget(&mut self, other: &Self) -> Result<()>;

    /// Refuses inconsistent values, as of a damaged file.
    ///
    /// # Errors
    /// The first inconsistency found.
    fn check(&self) -> Result<()>;

    /// The number of columns and the classes, if the statistics know them.
    fn outline(&self) -> Option<(usize, Classes)> {
        None
    }

    /// Whether the rows can be read back from the statistics.
    fn holds_rows(&self) -> bool {
        false
    }

    /// The number of rows per chunk. It depends on the number of columns and the storage of the data only, so that the
    /// merge tree does not depend on the number of threads.
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        parallel::chunk_rows(n_columns, layout)
    }

    /// An estimate of the memory for so many classes and columns, in bytes.
    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        24 * n_classes.max(1) as u64 * n_columns as u64
    }
}

/// An estimator that is fitted from sufficient statistics: naive Bayes, discriminant analysis, least squares, ridge
/// regression, tf-idf, scaling.
pub trait Accumulate: Params {
    /// The sufficient statistics.
    type Stats: Statistics;
    /// The fitted model.
    type Model: Send;

    /// Adds rows to the statistics.
    ///
    /// # Errors
    /// If the rows are invalid.
    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()>;

    /// Computes the model.
    ///
    /// # Errors
    /// If there are too few rows.
    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model>;

    /// Computes the model by a search: the best model so far and the reason, if the monitor stops it.
    ///
    /// # Errors
    /// If there are too few rows.
    fn finish_within(
        &self,
        stats: &Self::Stats,
        _monitor: &Monitor<'_>,
    ) -> Result<(Self::Model, Option<Stop>)> {
        Ok((self.finish(stats)?, None))
    }

    /// The certificate of the solution.
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

/// The statistics of all rows, or of those before a stop.
pub struct Gathered<S> {
    /// The statistics.
    pub stats: S,
    /// The number of rows in them.
    pub rows: u64,
    /// The reason if some rows are missing.
    pub stopped: Option<Stop>,
}

impl<S> Gathered<S> {
    /// The same rows with converted statistics.
    pub fn map<T>(self, f: impl FnOnce(S) -> T) -> Gathered<T> {
        Gathered { stats: f(self.stats), rows: self.rows, stopped: self.stopped }
    }
}

/// Computes the statistics of rows over the fixed chunks and the fixed merge tree.
///
/// # Errors
/// If rows are invalid, or the fit was stopped before the first chunk.
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
