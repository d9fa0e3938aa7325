//! The learning curve: the scores of held-out rows and of training rows against the number of training rows. If the two
//! still approach each other at the end, more rows would help; if they have met at a low score, another model might.

use super::importance::RefitOptions;
use super::out_of_fold::FoldRows;
use super::sample::subset;
use crate::data::Table;
use crate::error::Result;
use crate::evaluate::Folds;
use crate::model::Monitor;
use crate::preprocess::Features;
use serde::Serialize;
use std::time::Instant;

/// Rows of the largest table that is used; of more rows, a sample.
const MAX_ROWS: usize = 20_000;
const N_FOLDS: usize = 3;
/// The number of training rows doubles from point to point; there are at most so many points.
const MAX_POINTS: usize = 6;
/// The training rows of the first point at least.
const MIN_ROWS: usize = 20;
/// A point is expected to take so many times the seconds of the one before it, which has half the rows.
const GROWTH: u32 = 3;

/// A point of the learning curve, averaged over the folds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LearningPoint {
    /// The number of training rows.
    pub n_rows: usize,
    /// The score of the training rows.
    pub train: f64,
    /// The score of the held-out rows.
    pub test: f64,
}

/// The learning curve of an estimator, with as many points as the time allows, the fewest rows first.
///
/// # Errors
/// If a fit fails.
pub fn learning_curve(
    options: &RefitOptions<'_>,
    table: &Table,
    monitor: &Monitor<'_>,
) -> Result<Vec<LearningPoint>> {
    let start = Instant::now();
    let target = options.features.target.as_deref().unwrap_or_default();
    let codes = super::halving::stratification_codes(table, target, options.task);
    let n_classes = options.task.n_classes();
    let rows = subset(&codes, n_classes, MAX_ROWS, 0);
    let (table, codes): (Table, Vec<u32>) =
        (table.rows_at(&rows)?, rows.iter().map(|i| codes[*i]).collect());
    let planned = Features { map: None, ..options.features.clone() };
    let folds = Folds::new(N_FOLDS, n_classes, 0).split(&codes);
    let n_train = codes.len() - folds.iter().map(Vec::len).max().unwrap_or_default();
    let mut points = Vec::new();
    for n_rows in sizes(n_train) {
        let (of_point, mut sums) = (Instant::now(), [0.0; 2]);
        for test in &folds {
            let rest: Vec<usize> =
                (0..codes.len()).filter(|i| test.binary_search(i).is_err()).collect();
            let of_rest: Vec<u32> = rest.iter().map(|i| codes[*i]).collect();
            let chosen = subset(&of_rest, n_classes, n_rows, 0);
            let train: Vec<usize> = chosen.iter().map(|k| rest[*k]).collect();
            let parts = (train.as_slice(), test.as_slice());
            let fold =
                FoldRows::encode(&table, parts, (&planned, options.recipe), options.task, monitor)?;
            let fitted = fold.fit(options.estimator, options.task, monitor)?;
            for (sum, part) in sums.iter_mut().zip([train.as_slice(), test.as_slice()]) {
                let predictions =
                    fold.predict_table(&fitted, &table.rows_at(part)?, options.task)?;
                let all: Vec<usize> = (0..predictions.n_rows()).collect();
                let Some(score) = options.metric.score(&predictions, &all) else {
                    return Ok(Vec::new());
                };
                *sum += score / N_FOLDS as f64;
            }
        }
        points.push(LearningPoint { n_rows, train: sums[0], test: sums[1] });
        if start.elapsed() + GROWTH * of_point.elapsed() > options.budget {
            break;
        }
    }
    Ok(points)
}

/// The numbers of training rows: all of them and their halves.
fn sizes(n_train: usize) -> Vec<usize> {
    let halves = (0..MAX_POINTS).map(|k| n_train >> k);
    let mut sizes: Vec<usize> = halves.filter(|n| *n >= MIN_ROWS.min(n_train)).collect();
    sizes.reverse();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_double_up_to_all_rows() {
        assert_eq!(sizes(640), [20, 40, 80, 160, 320, 640]);
        assert_eq!(sizes(15), [15]);
        assert_eq!(sizes(10_000), [312, 625, 1250, 2500, 5000, 10_000]);
    }
}
