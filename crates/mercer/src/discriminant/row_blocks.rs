//! Rows scored panel by panel on all threads.

use crate::prelude::*;
use mercer_num::rows::Missing;
use mercer_num::simd::sum;
use mercer_num::special::argmax;
use rayon::prelude::*;

/// Rows that are usually looked at together.
pub(super) const PANEL: usize = 256;

/// Fills `width` numbers a row: `fill` gets the cells of up to `panel` rows, row-major, and their answers. It
/// says whether it is sure that every cell is finite, from what it made of them or from [`all_finite`].
/// Sparse rows are written out panel by panel, so they get the bits of dense ones.
///
/// # Errors
/// The first cell that is missing or infinite.
pub(super) fn by_panels(
    x: &Rows<'_>,
    panel: usize,
    width: usize,
    fill: impl Fn(&[f64], &mut [f64]) -> bool + Sync,
) -> Result<Matrix> {
    let (n_rows, n_columns) = (x.n_rows(), x.n_columns());
    let mut out = Matrix::zeros((n_rows, width));
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    let filled: Vec<Result<()>> = cells
        .par_chunks_mut(panel * width.max(1))
        .enumerate()
        .map(|(k, answers)| {
            let first = k * panel;
            let rows = x.slice(first..(first + panel).min(n_rows));
            let panel = match &rows {
                Rows::Sparse(sparse) => {
                    let mut panel = vec![0.0; rows.n_rows() * n_columns];
                    for (row, (columns, values)) in
                        panel.chunks_exact_mut(n_columns).zip(sparse.iter())
                    {
                        columns.iter().zip(values).for_each(|(j, v)| row[*j as usize] += v);
                    }
                    panel.into()
                }
                _ => rows.block(0..rows.n_rows()).unwrap_or_default(),
            };
            if !fill(&panel, answers) {
                crate::data::check_cells(&rows, Missing::Refused)
                    .map_err(|e| e.after_rows(first))?;
            }
            Ok(())
        })
        .collect();
    // Of several bad cells the first is named, whichever thread was faster.
    filled.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

/// Whether all numbers are surely finite: a sum with one that is not never is.
pub(super) fn all_finite(numbers: &[f64]) -> bool {
    sum(numbers).is_finite()
}

/// Writes the code of the highest score of every row, while the scores are in cache.
pub(super) fn write_winners(scores: &[f64], codes: &mut [f64]) {
    let n_classes = scores.len() / codes.len().max(1);
    for (code, scores) in codes.iter_mut().zip(scores.chunks_exact(n_classes.max(1))) {
        *code = argmax(scores) as f64;
    }
}

/// Scores that left the range of a double say nothing: no class is likelier than another.
pub(super) fn tame(scores: &mut [f64]) {
    if scores.iter().any(|s| s.is_nan() || *s == f64::INFINITY) {
        scores.fill(f64::NEG_INFINITY);
    }
}
