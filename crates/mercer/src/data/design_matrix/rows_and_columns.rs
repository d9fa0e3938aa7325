//! Rows and columns to be visited one by one.

use super::{DesignMatrix, PANEL};
use mercer_num::Rows;
use mercer_num::sparse::{CsrMatrix, SummedDuplicates};
use rayon::prelude::*;
use std::borrow::Cow;

/// The cells of one row.
pub(crate) enum RowEntries<'a> {
    Sparse(&'a [i32], &'a [f64]),
    Dense(Cow<'a, [f64]>),
}

impl<'a> DesignMatrix<'a> {
    /// A row, without the constant.
    pub fn row(&self, i: usize) -> RowEntries<'a> {
        match &self.rows {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                RowEntries::Sparse(columns, &values[..columns.len().min(values.len())])
            }
            rows => RowEntries::Dense(rows.block(i..i + 1).unwrap_or_default()),
        }
    }

    /// `‖x‖²` of every row, without the constant.
    pub fn squared_norms(&self) -> Vec<f64> {
        let length = |i| match self.row(i) {
            RowEntries::Dense(row) => row.iter().map(|x| x * x).sum(),
            RowEntries::Sparse(columns, values) if columns.is_sorted_by(|a, b| a < b) => {
                values.iter().map(|x| x * x).sum()
            }
            // A cell may be stored in parts, which only together have a square.
            RowEntries::Sparse(columns, values) => {
                let mut cells: Vec<(i32, f64)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                cells.sort_by_key(|(j, _)| *j);
                let parts = cells.chunk_by(|a, b| a.0 == b.0);
                parts.map(|part| part.iter().map(|(_, x)| x).sum::<f64>().powi(2)).sum()
            }
        };
        (0..self.n_rows()).into_par_iter().with_min_len(PANEL).map(length).collect()
    }
}

/// Rows to be visited one by one.
pub(crate) enum Lines<'a> {
    Thin(SummedDuplicates<'a>),
    Dense(Rows<'a>),
}

impl<'a> DesignMatrix<'a> {
    /// The rows without the constant; dense ones with few cells that are not zero are kept as those.
    pub fn lines(&self) -> Lines<'a> {
        /// The share of cells up to which it is faster to look at those that are not zero.
        const THIN: f64 = 0.25;
        match self.rows {
            Rows::Sparse(x) => Lines::Thin(x.sum_duplicates()),
            rows => match CsrMatrix::from_dense(&rows, THIN) {
                Some(thin) => Lines::Thin(SummedDuplicates::Owned(thin)),
                None => Lines::Dense(rows),
            },
        }
    }
}

/// The cells of one column.
pub(crate) enum Column<'a> {
    Sparse(&'a [i32], &'a [f64]),
    Dense(Vec<f64>),
    Constant,
}

impl DesignMatrix<'_> {
    /// Some columns; the one behind the last is the constant.
    pub fn columns(&self, which: &[usize]) -> Vec<Column<'_>> {
        let by_column = self.by_column();
        which
            .par_iter()
            .map(|j| match by_column {
                _ if *j >= self.width() => Column::Constant,
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
    /// Visits the cells that are not zero by themselves: row and value.
    #[inline]
    pub fn each(&self, n_rows: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Column::Sparse(rows, values) => {
                rows.iter().zip(*values).for_each(|(i, x)| visit(*i as usize, *x));
            }
            Column::Dense(values) => values.iter().enumerate().for_each(|(i, x)| visit(i, *x)),
            Column::Constant => (0..n_rows).for_each(|i| visit(i, 1.0)),
        }
    }
}
