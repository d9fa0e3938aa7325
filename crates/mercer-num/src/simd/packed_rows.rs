//! Sparse rows in packed form: column and value in single precision side by side, two thirds of the memory.
//!
//! For solvers that read the same rows many times and tolerate rounding on the way, because their result is recomputed
//! from the original rows.

use crate::SparseView;
use crate::memory::prefetch_line;
use crate::parallel::prelude::*;
use multiversion::multiversion;

/// Rows per task.
const ROWS_PER_CHUNK: usize = 512;

/// A column and its value.
pub type Cell = (u32, f32);

/// A copy of sparse rows; every column is below `n_columns`.
#[derive(Clone, Debug)]
pub struct PackedRows {
    n_columns: usize,
    offsets: Vec<usize>,
    cells: Vec<Cell>,
}

impl PackedRows {
    /// A copy; `None` if a value overflows single precision.
    ///
    /// ```
    /// use mercer_num::SparseView;
    /// use mercer_num::simd::packed_rows::PackedRows;
    /// let x = SparseView::try_new(3, &[0, 2, 3], &[2, 0, 2], &[5.0, 6.0, 7.0])?;
    /// let packed = PackedRows::of(&x).ok_or("too large")?;
    /// assert_eq!(packed.dot(0, &[1.0, 0.0, 2.0]), 16.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(x: &SparseView<'_>) -> Option<PackedRows> {
        let n = x.n_rows();
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        let mut end = 0;
        for (columns, _) in x.iter() {
            end += columns.len();
            offsets.push(end);
        }
        let mut cells = vec![(0, 0.0); offsets[n]];
        let mut left = cells.as_mut_slice();
        let mut chunks = Vec::new();
        for first in (0..n).step_by(ROWS_PER_CHUNK) {
            let last = (first + ROWS_PER_CHUNK).min(n);
            let (chunk, rest) =
                std::mem::take(&mut left).split_at_mut(offsets[last] - offsets[first]);
            chunks.push((first..last, chunk));
            left = rest;
        }
        let fits = chunks.into_par_iter().map(|(rows, mut out)| {
            let mut fits = true;
            for i in rows {
                let (columns, values) = x.row(i);
                let (own, rest) = std::mem::take(&mut out).split_at_mut(columns.len());
                for (cell, (j, v)) in own.iter_mut().zip(columns.iter().zip(values)) {
                    *cell = (*j as u32, *v as f32);
                    fits &= cell.1.is_finite();
                }
                out = rest;
            }
            fits
        });
        let fits: Vec<bool> = fits.collect();
        fits.iter().all(|fits| *fits).then_some(PackedRows {
            n_columns: x.n_columns(),
            offsets,
            cells,
        })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    #[inline]
    fn row(&self, i: usize) -> &[Cell] {
        &self.cells[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Prefetches row `i`; without effect on any result.
    #[inline]
    pub fn prefetch_row(&self, i: usize) {
        crate::memory::prefetch(self.row(i));
    }

    /// Prefetches the rows of a table at the columns of row `i`; without effect on any result.
    #[inline]
    pub fn prefetch_table<T>(&self, i: usize, table: &[T]) {
        self.row(i).iter().for_each(|(j, _)| prefetch_line(table, *j as usize));
    }

    /// `Σⱼ xⱼ wⱼ` over the cells of row `i`, in four independent sums.
    ///
    /// # Panics
    /// If there is no such row, or `w` has fewer entries than columns.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        assert!(w.len() >= self.n_columns, "one entry per column");
        // SAFETY: every column is below `n_columns`, as in the original rows.
        let term = |(j, v): Cell| f64::from(v) * unsafe { w.get_unchecked(j as usize) };
        let (four, rest) = self.row(i).as_chunks::<4>();
        let mut sums = [0.0; 4];
        for cells in four {
            for k in 0..4 {
                sums[k] += term(cells[k]);
            }
        }
        sums.iter_mut().zip(rest).for_each(|(sum, cell)| *sum += term(*cell));
        (sums[0] + sums[2]) + (sums[1] + sums[3])
    }

    /// `wⱼ += times · xⱼ` over the cells of row `i`.
    ///
    /// # Panics
    /// If there is no such row, or `w` has fewer entries than columns.
    #[inline]
    pub fn add_to(&self, i: usize, times: f64, w: &mut [f64]) {
        assert!(w.len() >= self.n_columns, "one entry per column");
        for (j, v) in self.row(i) {
            // SAFETY: every column is below `n_columns`, as in the original rows.
            *unsafe { w.get_unchecked_mut(*j as usize) } += times * f64::from(*v);
        }
    }
}

/// A cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
struct Line([f32; Line::SIZE]);

impl Line {
    const SIZE: usize = 16;
}

/// A table with rows of `N` values, eight or sixteen, none of which crosses a cache line.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignedTable<const N: usize> {
    n_rows: usize,
    lines: Vec<Line>,
}

impl<const N: usize> AlignedTable<N> {
    const ROWS_PER_LINE: usize = Line::SIZE / N;

    /// So many rows of zeros.
    pub fn zeros(n_rows: usize) -> AlignedTable<N> {
        const { assert!(Line::SIZE.is_multiple_of(N), "whole rows in a line") };
        AlignedTable { n_rows, lines: vec![Line::default(); n_rows.div_ceil(Self::ROWS_PER_LINE)] }
    }

    /// All rows.
    #[inline]
    pub fn rows(&self) -> &[[f32; N]] {
        // SAFETY: lines consist of values only, and there are enough of them for the rows.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.n_rows) }
    }

    /// All rows, mutable.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut [[f32; N]] {
        // SAFETY: as above, with exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.n_rows) }
    }
}

impl PackedRows {
    /// `Σⱼ xⱼ tableⱼ` over the cells of row `i`, for all lanes of the table.
    ///
    /// # Panics
    /// If there is no such row, or the table has fewer rows than columns.
    #[inline]
    pub fn dot_table<const N: usize>(&self, i: usize, table: &AlignedTable<N>) -> [f32; N] {
        assert!(table.n_rows >= self.n_columns, "one table row per column");
        // SAFETY: every column is below `n_columns`, as in the original rows.
        unsafe { dot_table(self.row(i), table.rows()) }
    }

    /// `tableⱼ += times · xⱼ` over the cells of row `i`, for all lanes of the table.
    ///
    /// # Panics
    /// If there is no such row, or the table has fewer rows than columns.
    #[inline]
    pub fn add_to_table<const N: usize>(
        &self,
        i: usize,
        times: &[f32; N],
        table: &mut AlignedTable<N>,
    ) {
        assert!(table.n_rows >= self.n_columns, "one table row per column");
        // SAFETY: every column is below `n_columns`, as in the original rows.
        unsafe { add_to_table(self.row(i), times, table.rows_mut()) }
    }
}

/// The table must have one row per column of the cells.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
unsafe fn dot_table<const N: usize>(cells: &[Cell], table: &[[f32; N]]) -> [f32; N] {
    let (two, rest) = cells.as_chunks::<2>();
    let [mut even, mut odd] = [[0.0f32; N]; 2];
    for [(i, x), (j, y)] in two {
        let (a, b) =
            unsafe { (table.get_unchecked(*i as usize), table.get_unchecked(*j as usize)) };
        for k in 0..N {
            even[k] += x * a[k];
            odd[k] += y * b[k];
        }
    }
    for (j, x) in rest {
        let a = unsafe { table.get_unchecked(*j as usize) };
        for k in 0..N {
            even[k] += x * a[k];
        }
    }
    for k in 0..N {
        even[k] += odd[k];
    }
    even
}

/// The table must have one row per column of the cells.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
unsafe fn add_to_table<const N: usize>(cells: &[Cell], times: &[f32; N], table: &mut [[f32; N]]) {
    let times = *times;
    for (j, x) in cells {
        let a = unsafe { table.get_unchecked_mut(*j as usize) };
        for k in 0..N {
            a[k] += times[k] * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> PackedRows {
        let x = SparseView::try_new(4, &[0, 3, 3, 4], &[3, 0, 1, 2], &[1.0, -2.0, 0.5, 4.0]);
        PackedRows::of(&x.unwrap()).unwrap()
    }

    fn check_lanes<const N: usize>() {
        let x = rows();
        let mut table = AlignedTable::<N>::zeros(4);
        for (j, row) in table.rows_mut().iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(k, w)| *w = (j * 3 + k) as f32);
        }
        let column = |table: &AlignedTable<N>, k: usize| -> Vec<f64> {
            table.rows().iter().map(|row| f64::from(row[k])).collect()
        };

        for i in 0..3 {
            let before = table.clone();
            let dots = x.dot_table(i, &table);
            let times = std::array::from_fn(|k| k as f32 - 2.0);
            x.add_to_table(i, &times, &mut table);

            for k in 0..N {
                let mut alone = column(&before, k);
                assert_eq!(f64::from(dots[k]), x.dot(i, &alone));
                x.add_to(i, f64::from(times[k]), &mut alone);
                assert_eq!(column(&table, k), alone);
            }
        }
    }

    #[test]
    fn every_lane_equals_the_scalar_product() {
        check_lanes::<8>();
        check_lanes::<16>();
    }

    #[test]
    fn values_that_overflow_single_precision_are_not_packed() {
        let x = SparseView::try_new(1, &[0, 1], &[0], &[1e300]).unwrap();

        assert!(PackedRows::of(&x).is_none());
    }
}
