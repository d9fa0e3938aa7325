//! The common part of classifiers over categorical columns: the codes of a row and the scores of all rows.

use crate::error::Result;
use crate::model::Classifier;
use crate::stats::{category, not_a_category};
use mercer_num::parallel::prelude::*;
use mercer_num::{Matrix, Rows};

/// Rows that one task scores.
const ROWS_PER_TASK: usize = 256;

/// The codes of a row; `None` for a missing value and for a code that does not occur in the training data.
///
/// # Errors
/// If a cell is not a category code.
pub(super) fn codes_of(row: &[f64], levels: &[usize], i: usize) -> Result<Vec<Option<usize>>> {
    let code = |(j, (x, n)): (usize, (&f64, &usize))| {
        let code = category(*x).ok_or_else(|| not_a_category(i, j, *x))?;
        Ok(code.map(|c| c as usize).filter(|c| c < n))
    };
    row.iter().zip(levels).enumerate().map(code).collect()
}

/// The scores of all rows, computed from their codes on all threads.
///
/// # Errors
/// If the number of columns differs, a cell is not a category code, or `score` fails.
pub(super) fn score_rows(
    model: &dyn Classifier,
    levels: &[usize],
    x: &Rows<'_>,
    score: impl Fn(&[Option<usize>], &mut [f64]) -> Result<()> + Sync,
) -> Result<Matrix> {
    model.check_columns(x)?;
    let n_classes = model.classes().len();
    let mut out = Matrix::zeros((x.n_rows(), n_classes));
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    let scored: Vec<Result<()>> = cells
        .par_chunks_mut(ROWS_PER_TASK * n_classes)
        .enumerate()
        .map(|(k, scores)| {
            for (at, scores) in scores.chunks_exact_mut(n_classes).enumerate() {
                let i = k * ROWS_PER_TASK + at;
                score(&codes_of(&x.row(i), levels, i)?, scores)?;
            }
            Ok(())
        })
        .collect();
    // The first invalid cell in row order is reported, independent of the threads.
    scored.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

/// `log p(x | y) = log p(x, y) − log p(y)`, and zero if `p(y)` is zero.
pub(super) fn log_conditional(log_joint: f64, log_condition: f64) -> f64 {
    if log_condition == f64::NEG_INFINITY { 0.0 } else { log_joint - log_condition }
}
