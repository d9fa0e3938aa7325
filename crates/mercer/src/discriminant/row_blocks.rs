//! Scores of rows, block by block on all threads.

use crate::prelude::*;
use mercer_num::parallel::prelude::*;
use mercer_num::rows::Missing;
use mercer_num::simd::sum;
use mercer_num::special::argmax;

/// Rows of one block.
pub(super) const ROWS_PER_BLOCK: usize = 256;

/// Fills `width` values per row: `fill` receives the cells of up to `block` rows, row-major, and their output. It returns
/// whether all cells are known to be finite, from its results or from [`all_finite`]. Sparse rows become dense blocks, so
/// that they give the same bits as dense rows.
///
/// # Errors
/// The first cell that is missing or infinite.
pub(super) fn score_blocks(
    x: &Rows<'_>,
    block: usize,
    width: usize,
    fill: impl Fn(&[f64], &mut [f64]) -> bool + Sync,
) -> Result<Matrix> {
    let (n_rows, n_columns) = (x.n_rows(), x.n_columns());
    let mut out = Matrix::zeros((n_rows, width));
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    let filled: Vec<Result<()>> = cells
        .par_chunks_mut(block * width.max(1))
        .enumerate()
        .map(|(k, answers)| {
            let first = k * block;
            let rows = x.slice(first..(first + block).min(n_rows));
            let block = match &rows {
                Rows::Sparse(sparse) => {
                    let mut block = vec![0.0; rows.n_rows() * n_columns];
                    for (row, (columns, values)) in
                        block.chunks_exact_mut(n_columns).zip(sparse.iter())
                    {
                        columns.iter().zip(values).for_each(|(j, v)| row[*j as usize] += v);
                    }
                    block.into()
                }
                _ => rows.block(0..rows.n_rows()).unwrap_or_default(),
            };
            if !fill(&block, answers) {
                crate::data::check_cells(&rows, Missing::Refused)
                    .map_err(|e| e.after_rows(first))?;
            }
            Ok(())
        })
        .collect();
    // The first bad cell is reported, whichever thread finished first.
    filled.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

/// Whether the sum is finite, which implies that all values are.
pub(super) fn all_finite(numbers: &[f64]) -> bool {
    sum(numbers).is_finite()
}

/// Writes the class code of the highest score of every row.
pub(super) fn write_argmax(scores: &[f64], codes: &mut [f64]) {
    let n_classes = scores.len() / codes.len().max(1);
    for (code, scores) in codes.iter_mut().zip(scores.chunks_exact(n_classes.max(1))) {
        *code = argmax(scores) as f64;
    }
}

/// Sets the scores of a row that overflowed to minus infinity: no class is preferred.
pub(super) fn reset_overflow(scores: &mut [f64]) {
    if scores.iter().any(|s| s.is_nan() || *s == f64::INFINITY) {
        scores.fill(f64::NEG_INFINITY);
    }
}
