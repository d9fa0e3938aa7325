//! Reads a stream as encoded rows and assigns them to cross-validation folds.

use super::Task;
use super::training::Training;
use crate::data::{Schema, Stream, Table};
use crate::error::Result;
use crate::evaluate::Folds;
use crate::model::{Monitor, Stop};
use crate::preprocess::{Encoded, Encoder, Step, UNLABELED};
use mercer_num::parallel::{self, Layout};
use std::ops::ControlFlow;

/// Rows of a table with text that are encoded together.
const TEXT_ROWS_PER_TABLE: usize = 1024;

/// Which rows of a stream have a target.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Labels {
    /// All rows; a row without a target is an error.
    All,
    /// The rows whose target is not missing.
    Some,
    /// No row; the target column need not exist.
    None,
}

/// Encoded rows, and which of them belong to which fold.
pub(crate) struct AssignedRows {
    pub rows: Encoded,
    /// For every fold, the indices of its rows.
    pub folds: Vec<Vec<usize>>,
    /// The indices of the unlabeled rows.
    pub unlabeled: Vec<usize>,
}

impl AssignedRows {
    /// The indices of the labeled rows outside a fold.
    pub fn labeled(&self, without: Option<usize>) -> Vec<usize> {
        let mut labeled: Vec<bool> = vec![true; self.rows.rows().n_rows()];
        let held_out = without.and_then(|fold| self.folds.get(fold)).into_iter().flatten();
        self.unlabeled.iter().chain(held_out).for_each(|i| labeled[*i] = false);
        (0..labeled.len()).filter(|i| labeled[*i]).collect()
    }
}

impl Training<'_> {
    /// The rows of one leaf of the merge tree.
    pub(super) fn chunk_rows(&self) -> usize {
        self.estimator.chunk_rows(self.features.n_features(), self.features.layout())
    }

    /// The rows of a table that is read. Texts are long, and a leaf of them would not fit in memory: they are encoded
    /// in smaller tables, whose token counts are then joined to leaves.
    pub(super) fn table_rows(&self) -> usize {
        let text = self.features.steps.iter().any(|step| matches!(step, Step::Text(_)));
        match text && self.features.layout() == Layout::Sparse {
            true => self.chunk_rows().min(TEXT_ROWS_PER_TABLE),
            false => self.chunk_rows(),
        }
    }

    /// The columns to read.
    pub(super) fn input_schema(&self, labels: Labels) -> Schema {
        match self.task {
            _ if labels == Labels::None => self.features.input_schema(None),
            Task::Classification(classes) => self.features.input_schema(Some(classes)),
            Task::Regression => self.features.regression_schema(),
            Task::Unsupervised => self.features.weighted_schema(),
        }
    }

    fn encode(&self, encoder: &Encoder<'_>, table: &Table, labels: Labels) -> Result<Encoded> {
        match (self.task, labels) {
            (_, Labels::None) | (Task::Unsupervised, _) => encoder.encode(table, None),
            (Task::Classification(classes), Labels::Some) => {
                encoder.encode_semi_supervised(table, classes)
            }
            (Task::Classification(classes), Labels::All) => encoder.encode(table, Some(classes)),
            (Task::Regression, _) => encoder.encode_regression(table),
        }
    }

    /// Assigns rows to folds, stratified by class if there are classes. Unlabeled rows are in no fold.
    pub(super) fn assign_folds(
        &self,
        folds: &mut Folds,
        rows: Encoded,
        labels: Labels,
    ) -> AssignedRows {
        let n = rows.rows().n_rows();
        let is_unlabeled = |i: &usize| match labels {
            Labels::All => false,
            Labels::Some => rows.codes[*i] == UNLABELED,
            Labels::None => true,
        };
        let unlabeled: Vec<usize> = (0..n).filter(is_unlabeled).collect();
        if self.n_folds < 2 {
            return AssignedRows { rows, folds: Vec::new(), unlabeled };
        }
        let folds = match self.task {
            Task::Classification(_) if unlabeled.is_empty() => folds.split(&rows.codes),
            Task::Classification(_) => {
                let labeled: Vec<usize> = (0..n).filter(|i| !is_unlabeled(i)).collect();
                let codes: Vec<u32> = labeled.iter().map(|i| rows.codes[*i]).collect();
                let folds = folds.split(&codes).into_iter();
                folds.map(|fold| fold.into_iter().map(|i| labeled[i]).collect()).collect()
            }
            Task::Regression | Task::Unsupervised => folds.split(&vec![0; n]),
        };
        AssignedRows { rows, folds, unlabeled }
    }

    /// Reads the stream once, in groups of tables whose rows are encoded and assigned to folds.
    pub(super) fn each_group<S: Stream>(
        &self,
        stream: &S,
        which: (Labels, u64),
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        take: impl FnMut(Vec<AssignedRows>, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        self.each_table(stream, self.table_rows(), which, monitor, stopped, take)
    }

    /// As [`Training::each_group`], in tables of `table_rows` rows. `pass` counts the passes before, for progress.
    pub(super) fn each_table<S: Stream>(
        &self,
        stream: &S,
        table_rows: usize,
        (labels, pass): (Labels, u64),
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        mut take: impl FnMut(Vec<AssignedRows>, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        let encoder = Encoder::new(&self.features);
        let passes = if self.n_folds > 1 { 2 } else { 1 };
        let total = self.n_rows.map(|n| n * passes);
        let mut folds = Folds::new(self.n_folds, self.task.n_classes(), self.seed);
        let mut n_read: u64 = 0;
        let schema = self.input_schema(labels);
        stream.stream(&schema, table_rows, &mut |tables: Vec<Table>| {
            *stopped = monitor.stop();
            if stopped.is_some() {
                return Ok(ControlFlow::Break(()));
            }
            let n_rows: u64 = tables.iter().map(|t| t.n_rows() as u64).sum();
            let encoded = parallel::map(tables.len(), |k| {
                self.encode(&encoder, &tables[k], labels)
                    .map_err(|e| e.after_rows(n_read as usize + k * table_rows))
            })?;
            let group = encoded
                .into_iter()
                .map(|rows| self.assign_folds(&mut folds, rows, labels))
                .collect();
            take(group, n_read)?;
            n_read += n_rows;
            monitor.report(pass * self.n_rows.unwrap_or(0) + n_read, total);
            Ok(ControlFlow::Continue(()))
        })
    }
}
