//! Products of sparse rows with a dense table.
//!
//! The table is divided into panels of a few columns, each of which stays in cache during a pass over the rows, and the
//! sums of a panel stay in registers during the pass over the cells of a row. As in [`simd`](super), no operations are
//! fused, and every sum runs over the cells in their order.

use crate::float::Float;
use multiversion::multiversion;
use std::ops::Range;

/// Bytes of a row of a panel, which fill the registers.
const BYTES_PER_PANEL_ROW: usize = 256;

/// A table with one row per column of the data, divided into panels of its own columns.
#[derive(Clone, Debug)]
pub struct ColumnPanels<T> {
    n_table_rows: usize,
    width: usize,
    /// The panels one after the other; the rows of the last are padded with zeros.
    cells: Vec<T>,
}

impl<T: Float> ColumnPanels<T> {
    /// Columns per panel.
    const COLUMNS: usize = BYTES_PER_PANEL_ROW / size_of::<T>();

    /// The table with `cell(j, k)` in row `j` and column `k`.
    pub fn new(
        n_table_rows: usize,
        width: usize,
        cell: impl Fn(usize, usize) -> T,
    ) -> ColumnPanels<T> {
        let mut cells = vec![T::default(); n_table_rows * width.next_multiple_of(Self::COLUMNS)];
        let panels = cells.chunks_exact_mut((n_table_rows * Self::COLUMNS).max(1));
        for (first, panel) in (0..width).step_by(Self::COLUMNS).zip(panels) {
            for (j, line) in panel.chunks_exact_mut(Self::COLUMNS).enumerate() {
                line.iter_mut().zip(first..width).for_each(|(to, k)| *to = cell(j, k));
            }
        }
        ColumnPanels { n_table_rows, width, cells }
    }

    /// The products of rows with the table, row-major. The cells of row `i` are `offsets[i]..offsets[i + 1]`.
    ///
    /// # Panics
    /// If a column is outside of the table, or `out` has another length.
    pub fn times(&self, offsets: &[usize], columns: &[i32], values: &[T], out: &mut [T]) {
        let n = offsets.len().saturating_sub(1);
        assert_eq!(out.len(), n * self.width, "one product per row and column");
        let panels = self.cells.chunks_exact((self.n_table_rows * Self::COLUMNS).max(1));
        for (first, panel) in (0..self.width).step_by(Self::COLUMNS).zip(panels) {
            T::sparse_panel(offsets, columns, values, panel, first..self.width, out);
        }
    }
}

macro_rules! panel {
    ($name:ident, $T:ty) => {
        /// The products of sparse rows with a panel. `columns_of_out` are the entries of `out` from the panel's first column
        /// on.
        ///
        /// # Panics
        /// If a column is outside of the table.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $name(
            offsets: &[usize],
            columns: &[i32],
            values: &[$T],
            panel: &[$T],
            columns_of_out: Range<usize>,
            out: &mut [$T],
        ) {
            const COLUMNS: usize = BYTES_PER_PANEL_ROW / size_of::<$T>();
            let (panel, _) = panel.as_chunks::<COLUMNS>();
            for (ends, out) in offsets.windows(2).zip(out.chunks_exact_mut(columns_of_out.end)) {
                let mut sums = [0.0; COLUMNS];
                let cells = ends[0]..ends[1];
                for (j, v) in columns[cells.clone()].iter().zip(&values[cells]) {
                    let line = &panel[*j as usize];
                    for k in 0..COLUMNS {
                        sums[k] += v * line[k];
                    }
                }
                out[columns_of_out.start..]
                    .iter_mut()
                    .zip(&sums)
                    .for_each(|(out, sum)| *out = *sum);
            }
        }
    };
}

panel!(sparse_panel_single, f32);
panel!(sparse_panel_double, f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn check<T: Float>(width: usize) {
        let mut random = Random::new(width as u64);
        let table: Vec<T> = (0..7 * width).map(|_| T::narrow(random.normal())).collect();
        let panels = ColumnPanels::new(7, width, |j, k| table[j * width + k]);
        let (offsets, columns) = ([1, 3, 3, 7], [0, 6, 2, 5, 0, 1, 6]);
        let values: Vec<T> = (0..7).map(|_| T::narrow(random.normal())).collect();
        let mut found = vec![T::narrow(9.0); 3 * width];

        panels.times(&offsets, &columns, &values, &mut found);

        for (i, cells) in [1..3, 3..3, 3..7].into_iter().enumerate() {
            for k in 0..width {
                let mut sum = T::default();
                for at in cells.clone() {
                    let cell: f64 = table[columns[at] as usize * width + k].into();
                    let product = T::narrow(values[at].into() * cell);
                    sum = T::narrow(sum.into() + product.into());
                }
                assert_eq!(found[i * width + k], sum, "{width} columns");
            }
        }
    }

    #[test]
    fn products_equal_the_scalar_sum_to_the_bit() {
        for width in [1, 31, 32, 33, 64, 65, 150] {
            check::<f64>(width);
            check::<f32>(width);
        }
    }
}
