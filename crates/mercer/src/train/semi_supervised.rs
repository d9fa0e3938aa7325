//! Expectation maximization over a stream, for the model of all rows and for those of the cross-validation at once.

use super::Task;
use super::expectation_maximization::{EmOptions, EmState, ExpectedStatistics, iterate};
use super::folds::{AssignedRows, Labels};
use super::training::Training;
use crate::catalog::AnyStats;
use crate::data::{Classes, Stream};
use crate::error::Result;
use crate::model::{Monitor, Stop};
use mercer_num::parallel::{self, Tree};

/// The expected statistics of every state, and whether the pass that sums them was stopped.
type Expectations = (Vec<Option<ExpectedStatistics>>, Option<Stop>);

impl Training<'_> {
    /// Iterates the state of all rows and one state per fold, which leaves the fold out. `more` has unlabeled rows
    /// only.
    pub(super) fn iterate_em<S: Stream>(
        &self,
        options: &EmOptions,
        all: EmState,
        others: Vec<Option<AnyStats>>,
        stream: &S,
        more: Option<&S>,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Vec<Option<EmState>>, S::Error> {
        let Task::Classification(classes) = self.task else {
            return Err(self
                .estimator
                .unable("learn a regression target from unlabeled rows")
                .into());
        };
        let silent = monitor.silent();
        let begin = |stats: AnyStats| EmState::new(&self.estimator, stats, 0, &silent).ok();
        let mut states = vec![Some(all)];
        states.extend(others.into_iter().map(|stats| stats.and_then(begin)));
        iterate(options, &self.estimator, &mut states, &silent, |states| {
            self.expect(options, states, classes, (stream, more), monitor)
        })?;
        Ok(states)
    }

    /// One pass over the rows: the expected statistics of every state, and whether the pass was stopped.
    fn expect<S: Stream>(
        &self,
        options: &EmOptions,
        states: &[Option<EmState>],
        classes: &Classes,
        (stream, more): (&S, Option<&S>),
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Expectations, S::Error> {
        let table_rows = self.table_rows();
        let mut trees: Vec<Tree<ExpectedStatistics>> = states.iter().map(|_| Tree::new()).collect();
        let mut stopped = None;
        let sources = [(Some(stream), Labels::Some), (more, Labels::None)];
        for (source, labels) in sources.into_iter().filter_map(|(s, l)| Some((s?, l))) {
            self.each_group(source, (labels, 0), monitor, &mut stopped, |group, first_row| {
                let parts = parallel::map(group.len(), |k| {
                    self.expect_batch(options, states, &group[k], classes)
                        .map_err(|e| e.after_rows(first_row as usize + k * table_rows))
                })?;
                for parts in parts {
                    for (tree, part) in trees.iter_mut().zip(parts) {
                        tree.push(part, 1, ExpectedStatistics::merge)?;
                    }
                }
                Ok(())
            })?;
        }
        let sums = trees.into_iter().map(|tree| tree.finish(ExpectedStatistics::merge));
        Ok((sums.collect::<Result<_>>()?, stopped))
    }

    /// The expected statistics of a batch under every state.
    fn expect_batch(
        &self,
        options: &EmOptions,
        states: &[Option<EmState>],
        batch: &AssignedRows,
        classes: &Classes,
    ) -> Result<Vec<ExpectedStatistics>> {
        let unlabeled = batch.rows.select(&batch.unlabeled);
        let part = |(k, state): (usize, &Option<EmState>)| {
            let Some(state) = state.as_ref().filter(|state| state.continues(options)) else {
                return Ok(ExpectedStatistics::default());
            };
            let model = &state.fitted.model;
            // The first state has all rows, the next leave out one fold each.
            let labeled = batch.rows.select(&batch.labeled(k.checked_sub(1)));
            let labeled = labeled.dataset(classes)?;
            let mut sum = options.expect(&self.estimator, model, &labeled, classes)?;
            let more = options
                .expect(&self.estimator, model, &unlabeled.unlabeled()?, classes)
                .map_err(|e| e.in_row(&batch.unlabeled))?;
            sum.merge(&more)?;
            Ok(sum)
        };
        states.iter().enumerate().map(part).collect()
    }
}
