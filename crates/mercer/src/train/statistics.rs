//! Training by sufficient statistics.
//!
//! One pass over the stream accumulates the statistics of all rows and of every fold. The model that scores a fold is
//! made from the merged statistics of the other folds, so ten folds read the data no more often than one fit. A
//! second pass scores every row by the model of the other folds.

use super::EmOptions;
use super::expectation_maximization::EmState;
use super::folds::{AssignedRows, Labels};
use super::training::{Outcome, Training};
use crate::catalog::{AnyModel, AnyStats};
use crate::data::Stream;
use crate::error::{Error, Result};
use crate::model::{Fitted, Monitor, Stop};
use crate::preprocess::Encoded;
use mercer_num::parallel::{self, Tree};
use std::time::Instant;

/// If the statistics of all folds take more bytes than this, each fold has one running sum and no merge tree.
const MAX_TREE_BYTES: u64 = 64 << 20;
/// Statistics that are alive at the same time besides those of the folds.
const STATISTICS_IN_FLIGHT: u64 = 8;

/// The statistics of one pass.
struct Sums {
    total: Accumulator,
    folds: Vec<Accumulator>,
    rows: u64,
    stopped: Option<Stop>,
}

/// A sum of statistics.
enum Accumulator {
    /// Merged by the tree that a matrix in memory would use, which gives the same bits.
    Tree(Tree<AnyStats>),
    /// Merged in order, to hold a single summary of a wide table.
    Running(Option<Box<AnyStats>>),
}

impl Accumulator {
    fn push(&mut self, leaf: AnyStats) -> Result<()> {
        match self {
            Accumulator::Tree(tree) => tree.push(leaf, 1, AnyStats::merge),
            Accumulator::Running(Some(sum)) => sum.merge(&leaf),
            Accumulator::Running(sum) => {
                *sum = Some(Box::new(leaf));
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Option<AnyStats>> {
        match self {
            Accumulator::Tree(tree) => tree.finish(AnyStats::merge),
            Accumulator::Running(sum) => Ok(sum.map(|sum| *sum)),
        }
    }
}

impl Training<'_> {
    /// Fits all rows and, for every fold, the rows of the other folds; then scores the held-out rows.
    pub(super) fn train_by_statistics<S: Stream>(
        self,
        em: Option<&EmOptions>,
        stream: &S,
        more: Option<&S>,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let labels = if em.is_some() { Labels::Some } else { Labels::All };
        let sums = self.accumulate(stream, labels, monitor)?;
        let Some(mut stats) = sums.total.finish()? else {
            return Err(if sums.stopped.is_some() { Error::Stopped } else { Error::NoRows }.into());
        };
        let mut fitted = self.estimator.finish_within(&stats, sums.rows, monitor)?;
        fitted.certificate = fitted.certificate.stopped_by(sums.stopped);
        let folds = sums.folds.into_iter().map(Accumulator::finish).collect::<Result<Vec<_>>>()?;
        let others = sums_without_each(folds)?;
        let models = match em {
            _ if fitted.certificate.stopped().is_some() => Vec::new(),
            Some(options) => {
                let all = EmState::at(fitted, stats, sums.rows);
                let states = self.iterate_em(options, all, others, stream, more, monitor)?;
                let mut states = states.into_iter();
                let Some(Some(all)) = states.next() else { return Err(Error::NoRows.into()) };
                (fitted, stats) = all.finish();
                states.map(|state| state.map(|state| state.finish().0)).collect()
            }
            None => self.fold_models(others, &monitor.silent()),
        };
        fitted.certificate.seconds = start.elapsed().as_secs_f64();
        let scores = if fitted.certificate.stopped().is_none() && self.n_folds > 1 {
            self.score_held_out(&models, stream, labels, monitor, sums.rows)?
        } else {
            None
        };
        Ok(self.outcome(fitted, Some(stats), scores))
    }

    fn accumulate<S: Stream>(
        &self,
        stream: &S,
        labels: Labels,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Sums, S::Error> {
        let summary =
            self.estimator.summary_bytes(self.task.n_classes(), self.features.n_features());
        let summaries = self.n_folds as u64 + STATISTICS_IN_FLIGHT;
        monitor.reserve("keeping statistics", summary.saturating_mul(summaries))?;
        let wide = summary * self.n_folds as u64 > MAX_TREE_BYTES;
        let fold = |_| match wide {
            true => Accumulator::Running(None),
            false => Accumulator::Tree(Tree::new()),
        };
        let mut sums = Sums {
            total: Accumulator::Tree(Tree::new()),
            folds: (0..self.n_folds).map(fold).collect(),
            rows: 0,
            stopped: None,
        };
        let leaf = |batch: &AssignedRows| {
            let n_labeled = batch.rows.rows().n_rows() - batch.unlabeled.len();
            Ok((n_labeled as u64, self.leaves(batch)?))
        };
        let (mut rows, mut stopped) = (0, None);
        self.each_leaf(
            stream,
            labels,
            monitor,
            &mut stopped,
            leaf,
            |(n_labeled, (total, folds))| {
                rows += n_labeled;
                sums.total.push(total)?;
                sums.folds.iter_mut().zip(folds).try_for_each(|(fold, leaf)| fold.push(leaf))
            },
        )?;
        (sums.rows, sums.stopped) = (rows, stopped);
        Ok(sums)
    }

    /// Reads the stream once and hands the leaves of the merge tree to `push`, in order.
    pub(super) fn each_leaf<S: Stream, L: Send>(
        &self,
        stream: &S,
        labels: Labels,
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        leaf: impl Fn(&AssignedRows) -> Result<L> + Sync + Send,
        mut push: impl FnMut(L) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        let chunk = self.chunk_rows();
        if self.table_rows() < chunk {
            return self.each_part(stream, (labels, chunk), monitor, stopped, |part, first_row| {
                push(leaf(&part).map_err(|e| e.after_rows(first_row as usize))?)
            });
        }
        self.each_group(stream, (labels, 0), monitor, stopped, |group, first_row| {
            let leaves = parallel::map(group.len(), |k| {
                leaf(&group[k]).map_err(|e| e.after_rows(first_row as usize + k * chunk))
            })?;
            leaves.into_iter().try_for_each(&mut push)
        })
    }

    /// The statistics of the labeled rows of a batch, and those of each fold.
    fn leaves(&self, batch: &AssignedRows) -> Result<(AnyStats, Vec<AnyStats>)> {
        let total = match batch.unlabeled[..] {
            [] => self.leaf(&batch.rows)?,
            _ => {
                let labeled = batch.labeled(None);
                self.leaf(&batch.rows.select(&labeled)).map_err(|e| e.in_row(&labeled))?
            }
        };
        let fold = |k: usize| self.leaf(&batch.rows.select(&batch.folds[k]));
        Ok((total, parallel::map(batch.folds.len(), fold)?))
    }

    fn leaf(&self, rows: &Encoded) -> Result<AnyStats> {
        let unable = || self.estimator.unable("learn from a stream");
        let mut stats = self.estimator.no_rows().ok_or_else(unable)?;
        self.estimator.observe(&mut stats, &self.dataset(rows)?)?;
        Ok(stats)
    }

    /// The model of each summary; `None` where the rows are too few or the fit was stopped early. Such a fold is
    /// not scored.
    fn fold_models(
        &self,
        others: Vec<Option<AnyStats>>,
        monitor: &Monitor<'_>,
    ) -> Vec<Option<Fitted<AnyModel>>> {
        let model = |stats: Option<AnyStats>| {
            let fitted = self.estimator.finish_within(&stats?, 0, monitor).ok()?;
            fitted.certificate.stopped().is_none().then_some(fitted)
        };
        others.into_iter().map(model).collect()
    }
}

/// For every fold, the merged statistics of the other folds. Prefix and suffix sums avoid a subtraction, which would
/// lose digits. Wide statistics are expensive to copy; each is copied once.
fn sums_without_each(folds: Vec<Option<AnyStats>>) -> Result<Vec<Option<AnyStats>>> {
    let add = |sum: Option<AnyStats>, next: &Option<AnyStats>| -> Result<Option<AnyStats>> {
        match (sum, next) {
            (Some(mut sum), Some(next)) => {
                sum.merge(next)?;
                Ok(Some(sum))
            }
            (sum, next) => Ok(sum.or_else(|| next.clone())),
        }
    };
    let mut before = Vec::with_capacity(folds.len());
    let mut sum = None;
    for fold in &folds {
        before.push(sum.clone());
        sum = add(sum, fold)?;
    }
    drop(sum);
    let (mut others, mut after) = (Vec::with_capacity(folds.len()), None);
    for (fold, before) in folds.into_iter().zip(before).rev() {
        others.push(add(before, &after)?);
        after = add(fold, &after)?;
    }
    others.reverse();
    Ok(others)
}
