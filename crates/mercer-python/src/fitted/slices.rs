//! Answers for many rows, some at a time.

use mercer::model::chunk_rows;
use mercer::{Error, Result};
use mercer_num::Rows;
use mercer_num::parallel::{self, Layout};
use std::sync::atomic::{AtomicBool, Ordering};

/// Dense cells predicted between two looks at the cancel flag: tens of milliseconds.
const CELLS_AT_ONCE: usize = 1 << 24;

/// An answer for each of the rows, some rows at a time, so that the work can be given up between.
pub(super) fn by_slices<T: Copy + Default + Send + Sync>(
    rows: &Rows<'_>,
    cancel: &AtomicBool,
    answer: impl Fn(&Rows<'_>) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    by_slices_to(rows, 1, cancel, |rows, out| {
        parallel::copy(&answer(rows)?, out);
        Ok(())
    })
}

/// `width` answers for each of the rows, each written where it stays.
pub(super) fn by_slices_to<T: Copy + Default>(
    rows: &Rows<'_>,
    width: usize,
    cancel: &AtomicBool,
    answer: impl Fn(&Rows<'_>, &mut [T]) -> Result<()>,
) -> Result<Vec<T>> {
    let n_rows = rows.n_rows();
    let size = match rows {
        // Preparing a sparse slice costs as much as the data is wide.
        Rows::Sparse(_) => rows.n_columns().max(65_536),
        _ => (CELLS_AT_ONCE / rows.n_columns().max(8 * width).max(1))
            .next_multiple_of(chunk_rows(rows.n_columns(), Layout::Dense)),
    };
    let mut out = vec![T::default(); n_rows * width];
    if n_rows <= size {
        answer(rows, &mut out)?;
        return Ok(out);
    }
    for (first, out) in (0..n_rows).step_by(size).zip(out.chunks_mut(size * width)) {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let slice = rows.slice(first..(first + size).min(n_rows));
        answer(&slice, out).map_err(|e| e.after_rows(first))?;
    }
    Ok(out)
}
