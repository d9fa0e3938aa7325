//! Prediction in blocks of rows, so that Ctrl-C can end it between two blocks.

use super::Fitted;
use crate::array::Matrix;
use crate::work;
use mercer::model::chunk_rows;
use mercer::{Error, Result};
use mercer_num::Rows;
use mercer_num::parallel::{self, Layout};
use ndarray::{Array2, ShapeError};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Dense cells of a block: tens of milliseconds of work.
const CELLS_PER_BLOCK: usize = 1 << 24;

/// Rows of a sparse block, at least.
const MIN_SPARSE_ROWS_PER_BLOCK: usize = 65_536;

/// One result per row.
pub(super) fn vector_in_blocks<T: Copy + Default + Send + Sync>(
    rows: &Rows<'_>,
    cancel: &AtomicBool,
    predict: impl Fn(&Rows<'_>) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    write_in_blocks(rows, 1, cancel, |rows, out| {
        parallel::copy(&predict(rows)?, out);
        Ok(())
    })
}

/// `width` results per row, which `predict` writes into the output.
fn write_in_blocks<T: Copy + Default>(
    rows: &Rows<'_>,
    width: usize,
    cancel: &AtomicBool,
    predict: impl Fn(&Rows<'_>, &mut [T]) -> Result<()>,
) -> Result<Vec<T>> {
    let n_rows = rows.n_rows();
    let size = match rows {
        // Slicing sparse rows costs time proportional to the number of columns.
        Rows::Sparse(_) => rows.n_columns().max(MIN_SPARSE_ROWS_PER_BLOCK),
        _ => (CELLS_PER_BLOCK / rows.n_columns().max(8 * width).max(1))
            .next_multiple_of(chunk_rows(rows.n_columns(), Layout::Dense)),
    };
    let mut out = vec![T::default(); n_rows * width];
    if n_rows <= size {
        predict(rows, &mut out)?;
        return Ok(out);
    }
    for (first, out) in (0..n_rows).step_by(size).zip(out.chunks_mut(size * width)) {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let block = rows.slice(first..(first + size).min(n_rows));
        predict(&block, out).map_err(|e| e.after_rows(first))?;
    }
    Ok(out)
}

impl Fitted {
    /// One result per row, as a numpy vector.
    pub(super) fn vector<'py, T: Element + Copy + Default + Send + Sync>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
        predict: impl Fn(&Rows<'_>) -> Result<Vec<T>> + Sync,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        let rows = x.rows()?;
        let values = work::run(py, |cancel| vector_in_blocks(&rows, cancel, &predict))?;
        Ok(values.into_pyarray(py))
    }

    /// `width` results per row, as a numpy matrix.
    pub(super) fn matrix<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
        width: usize,
        predict: impl Fn(&Rows<'_>) -> Result<Array2<T>> + Sync,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        self.matrix_into(py, x, width, |rows, out| {
            parallel::copy(&predict(rows)?.into_raw_vec_and_offset().0, out);
            Ok(())
        })
    }

    /// The same for predictions that write into the output.
    pub(super) fn matrix_into<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
        width: usize,
        predict: impl Fn(&Rows<'_>, &mut [T]) -> Result<()> + Sync,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let rows = x.rows()?;
        let n_rows = rows.n_rows();
        let values = work::run(py, |cancel| write_in_blocks(&rows, width, cancel, &predict))?;
        let refuse = |e: ShapeError| PyRuntimeError::new_err(e.to_string());
        Ok(Array2::from_shape_vec((n_rows, width), values).map_err(refuse)?.into_pyarray(py))
    }
}
