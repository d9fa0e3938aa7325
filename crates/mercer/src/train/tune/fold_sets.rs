//! Encoded rows with their splits. Folds whose preprocessing is the same share the encoded rows, and with them kernel
//! values.

use crate::data::{SelectedRows, Table};
use crate::error::{Error, Result};
use crate::evaluate::Split;
use crate::model::Monitor;
use crate::preprocess::{Encoded, Encoder, Features, Recipe};
use crate::train::Task;

/// All rows, encoded by preprocessing that was fitted to the training rows of some splits.
pub(super) struct FoldSet {
    pub rows: Encoded,
    pub features: Features,
    /// The splits with their indices among all splits.
    pub splits: Vec<(usize, Split)>,
}

/// Encodes a table for every split. Preprocessing is fitted to the training rows of each split; splits for which it comes
/// out the same, because nothing is fitted, share one set.
///
/// # Errors
/// If the preprocessing cannot be fitted or a row cannot be encoded.
pub(super) fn fold_sets(
    table: &Table,
    splits: &[Split],
    (planned, recipe): (&Features, &Recipe),
    task: Task<'_>,
    monitor: &Monitor<'_>,
) -> Result<Vec<FoldSet>> {
    let mut sets: Vec<FoldSet> = Vec::new();
    for (k, split) in splits.iter().enumerate() {
        let fitted_to = SelectedRows { table, rows: &split.train };
        let features = planned.clone().fit(recipe, &fitted_to, &monitor.silent())?;
        if let Some(set) = sets.iter_mut().find(|set| set.features == features) {
            set.splits.push((k, split.clone()));
            continue;
        }
        let rows = encode(table, &features, task)?;
        sets.push(FoldSet { rows, features, splits: vec![(k, split.clone())] });
    }
    Ok(sets)
}

/// All rows of a table, encoded.
pub(super) fn encode(table: &Table, features: &Features, task: Task<'_>) -> Result<Encoded> {
    let encoder = Encoder::new(features);
    match task {
        Task::Classification(classes) => encoder.encode(table, Some(classes)),
        Task::Regression => encoder.encode_regression(table),
        Task::Unsupervised => Err(Error::NoFeatures),
    }
}
