//! Access to single rows and columns.

use super::{DesignMatrix, ROWS_PER_PANEL};
use mercer_num::Rows;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::dot_rows;
use mercer_num::sparse::{CsrMatrix, SummedDuplicates};
use std::borrow::Cow;

/// The entries of one row.
pub(crate) enum RowEntries<'a> {
    Sparse(&'a [i32], &'a [f64]),
    Dense(Cow<'a, [f64]>),
}

impl<'a> DesignMatrix<'a> {
    /// A row, without the intercept.
    pub fn row(&self, i: usize) -> RowEntries<'a> {
        match &self.rows {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                RowEntries::Sparse(columns, &values[..columns.len().min(values.len())])
            }
            rows => RowEntries::Dense(rows.block(i..i + 1).unwrap_or_default()),
        }
    }

    /// `‖x‖²` of every row, without the intercept.
    pub fn squared_norms(&self) -> Vec<f64> {
        let squared_norm = |i| match self.row(i) {
            RowEntries::Dense(row) => row.iter().map(|x| x * x).sum(),
            RowEntries::Sparse(columns, values) if columns.is_sorted_by(|a, b| a < b) => {
                values.iter().map(|x| x * x).sum()
            }
            // Duplicates of an entry are added before they are squared.
            RowEntries::Sparse(columns, values) => {
                let mut entries: Vec<(i32, f64)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                entries.sort_by_key(|(j, _)| *j);
                let duplicates = entries.chunk_by(|a, b| a.0 == b.0);
                duplicates.map(|same| same.iter().map(|(_, x)| x).sum::<f64>().powi(2)).sum()
            }
        };
        (0..self.n_rows()).into_par_iter().with_min_len(ROWS_PER_PANEL).map(squared_norm).collect()
    }
}

/// Rows for solvers that visit one row at a time, without the intercept.
pub(crate) enum RowAccess<'a> {
    Sparse(SummedDuplicates<'a>),
    Dense(Rows<'a>),
}

impl<'a> DesignMatrix<'a> {
    /// The rows one at a time; dense ones with few nonzero entries are converted to sparse rows.
    pub fn row_access(&self) -> RowAccess<'a> {
        /// The fraction of nonzero entries up to which sparse rows are faster.
        const MAX_SPARSE_DENSITY: f64 = 0.25;
        match self.rows {
            Rows::Sparse(x) => RowAccess::Sparse(x.sum_duplicates()),
            rows => match CsrMatrix::from_dense(&rows, MAX_SPARSE_DENSITY) {
                Some(sparse) => RowAccess::Sparse(SummedDuplicates::Owned(sparse)),
                None => RowAccess::Dense(rows),
            },
        }
    }
}

impl RowAccess<'_> {
    /// `‖x‖²`.
    pub(crate) fn squared_norm(&self, i: usize) -> f64 {
        match self {
            RowAccess::Sparse(x) => x.view().row(i).1.iter().map(|v| v * v).sum(),
            RowAccess::Dense(x) => {
                x.block(i..i + 1).unwrap_or_default().iter().map(|v| v * v).sum()
            }
        }
    }

    /// `x·w`.
    #[inline]
    pub(crate) fn dot(&self, i: usize, w: &[f64]) -> f64 {
        match self {
            RowAccess::Sparse(x) => x.view().dot(i, w),
            RowAccess::Dense(x) => {
                let mut sum = [0.0];
                dot_rows(&x.block(i..i + 1).unwrap_or_default(), &w[..x.n_columns()], &mut sum);
                sum[0]
            }
        }
    }

    /// `w += factor · x`.
    #[inline]
    pub(crate) fn add_to(&self, i: usize, factor: f64, w: &mut [f64]) {
        match self {
            RowAccess::Sparse(x) => x.view().add_to(i, factor, w),
            RowAccess::Dense(x) => {
                let row = x.block(i..i + 1).unwrap_or_default();
                w.iter_mut().zip(row.iter()).for_each(|(w, x)| *w += factor * x);
            }
        }
    }

    /// Loads a sparse row into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, i: usize) {
        if let RowAccess::Sparse(x) = self {
            x.view().prefetch_row(i);
        }
    }
}

/// The entries of one column.
pub(crate) enum Column<'a> {
    Sparse(&'a [i32], &'a [f64]),
    Dense(Vec<f64>),
    Intercept,
}

impl DesignMatrix<'_> {
    /// Some columns; the index after the last column is the intercept.
    pub fn columns(&self, indices: &[usize]) -> Vec<Column<'_>> {
        let transposed = self.transposed();
        indices
            .par_iter()
            .map(|j| match transposed {
                _ if *j >= self.width() => Column::Intercept,
                Some(columns) => {
                    let (rows, values) = columns.row(*j);
                    Column::Sparse(rows, values)
                }
                None => Column::Dense((0..self.n_rows()).map(|i| self.rows.get(i, *j)).collect()),
            })
            .collect()
    }
}

impl Column<'_> {
    /// Visits the stored entries: row and value.
    #[inline]
    pub fn for_each(&self, n_rows: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Column::Sparse(rows, values) => {
                rows.iter().zip(*values).for_each(|(i, x)| visit(*i as usize, *x));
            }
            Column::Dense(values) => values.iter().enumerate().for_each(|(i, x)| visit(i, *x)),
            Column::Intercept => (0..n_rows).for_each(|i| visit(i, 1.0)),
        }
    }
}
