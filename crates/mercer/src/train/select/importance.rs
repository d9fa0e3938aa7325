//! Permutation importance: by how much the score of held-out rows falls if the values of a column are shuffled among
//! them (Breiman, 2001; Fisher, Rudin & Dominici, 2019). The models are fitted without the held-out rows.

use super::out_of_fold::FoldRows;
use super::sample::subset;
use crate::catalog::Estimator;
use crate::data::{Column, Table, Values};
use crate::error::Result;
use crate::evaluate::{Folds, Metric};
use crate::model::Monitor;
use crate::preprocess::{Features, Recipe};
use crate::train::Task;
use mercer_num::random::Random;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Rows that importances are measured on at most.
const MAX_ROWS: usize = 3000;
const N_FOLDS: usize = 3;

/// The importance of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The name of the column.
    pub column: String,
    /// The mean over the folds of the fall of the score.
    pub mean: f64,
    /// The standard deviation over the folds.
    pub deviation: f64,
}

/// What is fitted again without some of the rows, and how it is scored.
pub struct RefitOptions<'a> {
    /// The estimator.
    pub estimator: &'a Estimator,
    /// Its features, to be fitted again without each fold.
    pub features: &'a Features,
    /// The recipe of the features.
    pub recipe: &'a Recipe,
    /// The task.
    pub task: Task<'a>,
    /// The metric.
    pub metric: Metric,
    /// The time; what is not reached is left out.
    pub budget: Duration,
}

/// The importances of the columns on held-out rows of a table, the largest first; empty if the time was too short.
///
/// # Errors
/// If a fit fails.
pub fn permutation_importance(
    options: &RefitOptions<'_>,
    table: &Table,
    monitor: &Monitor<'_>,
) -> Result<Vec<Importance>> {
    let start = Instant::now();
    let target = options.features.target.as_deref().unwrap_or_default();
    let codes = super::halving::stratification_codes(table, target, options.task);
    let n_classes = options.task.n_classes();
    let rows = subset(&codes, n_classes, MAX_ROWS, 0);
    let table = table.rows_at(&rows)?;
    let codes: Vec<u32> = rows.iter().map(|i| codes[*i]).collect();
    let planned = Features { map: None, ..options.features.clone() };
    let folds = Folds::new(N_FOLDS, n_classes, 0).split(&codes);
    let names: Vec<String> = planned.schema.fields.iter().map(|f| f.name.clone()).collect();
    let mut falls: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for test in &folds {
        let train: Vec<usize> =
            (0..codes.len()).filter(|i| test.binary_search(i).is_err()).collect();
        let parts = (train.as_slice(), test.as_slice());
        let fold =
            FoldRows::encode(&table, parts, (&planned, options.recipe), options.task, monitor)?;
        let fitted = fold.fit(options.estimator, options.task, monitor)?;
        let held_out = table.rows_at(test)?;
        let score = |table: &Table| -> Result<Option<f64>> {
            let predictions = fold.predict_table(&fitted, table, options.task)?;
            let all: Vec<usize> = (0..predictions.n_rows()).collect();
            Ok(options.metric.utility(&predictions, &all))
        };
        let Some(whole) = score(&held_out)? else { return Ok(Vec::new()) };
        for (j, name) in names.iter().enumerate() {
            if start.elapsed() > options.budget || monitor.stop().is_some() {
                break;
            }
            if let Some(shuffled) = shuffled(&held_out, name)
                && let Some(without) = score(&shuffled)?
            {
                falls[j].push(whole - without);
            }
        }
    }
    let mut importances: Vec<Importance> = names
        .into_iter()
        .zip(falls)
        .filter(|(_, falls)| falls.len() == N_FOLDS)
        .map(|(column, falls)| {
            let mean = falls.iter().sum::<f64>() / falls.len() as f64;
            let variance =
                falls.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (falls.len() - 1) as f64;
            Importance { column, mean, deviation: variance.sqrt() }
        })
        .collect();
    importances.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    Ok(importances)
}

/// The table with the values of one column in a random order.
fn shuffled(table: &Table, name: &str) -> Option<Table> {
    let mut order: Vec<usize> = (0..table.n_rows()).collect();
    Random::new(1).shuffle(&mut order);
    let columns = table.columns().iter().map(|column| match column.name == name {
        true => {
            let values: Values = Table::new(vec![column.clone()])
                .ok()?
                .rows_at(&order)
                .ok()?
                .into_columns()
                .pop()?
                .values;
            Some(Column { name: column.name.clone(), values })
        }
        false => Some(column.clone()),
    });
    Table::new(columns.collect::<Option<Vec<_>>>()?).ok()
}
