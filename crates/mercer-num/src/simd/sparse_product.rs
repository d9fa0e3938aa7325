//! Products of rows that are mostly zeros with a table that is not.
//!
//! The table is cut into panels of a few columns, each of which stays in cache while rows go by, and the sums
//! of a panel stay in registers while the cells of a row do. As in [`simd`](super) nothing is fused and
//! every sum goes over the cells in their order.

use crate::float::Float;
use multiversion::multiversion;
use std::ops::Range;

/// Bytes of a line of a panel: what there are registers for.
const LINE: usize = 256;

/// A table with one line a column of the rows, cut into panels of some of its own columns.
#[derive(Clone, Debug)]
pub struct ColumnPanels<T> {
    n_lines: usize,
    width: usize,
    /// One panel after the other, every line as long as those before: zeros stand behind the last.
    cells: Vec<T>,
}

impl<T: Float> ColumnPanels<T> {
    /// Columns of a panel.
    const COLUMNS: usize = LINE / size_of::<T>();

    /// The table of so many lines and columns, cell by cell.
    pub fn new(n_lines: usize, width: usize, cell: impl Fn(usize, usize) -> T) -> ColumnPanels<T> {
        let mut cells = vec![T::default(); n_lines * width.next_multiple_of(Self::COLUMNS)];
        let panels = cells.chunks_exact_mut((n_lines * Self::COLUMNS).max(1));
        for (first, panel) in (0..width).step_by(Self::COLUMNS).zip(panels) {
            for (j, line) in panel.chunks_exact_mut(Self::COLUMNS).enumerate() {
                line.iter_mut().zip(first..width).for_each(|(to, k)| *to = cell(j, k));
            }
        }
        ColumnPanels { n_lines, width, cells }
    }

    /// The products of some rows with the table, row-major. The cells of row `i` are those from `offsets[i]`
    /// to `offsets[i + 1]`.
    ///
    /// # Panics
    /// If a column has no line, or `out` has another length.
    pub fn times(&self, offsets: &[usize], columns: &[i32], values: &[T], out: &mut [T]) {
        let n = offsets.len().saturating_sub(1);
        assert_eq!(out.len(), n * self.width, "one product a row and a column");
        let panels = self.cells.chunks_exact((self.n_lines * Self::COLUMNS).max(1));
        for (first, panel) in (0..self.width).step_by(Self::COLUMNS).zip(panels) {
            T::sparse_panel(offsets, columns, values, panel, first..self.width, out);
        }
    }
}

macro_rules! panel {
    ($name:ident, $T:ty) => {
        /// The products of some sparse rows with a panel, whose lines are as long as the registers are wide
        /// together. `places` are those from the panel's first column to the end of a row of `out`.
        ///
        /// # Panics
        /// If a column has no line.
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
            places: Range<usize>,
            out: &mut [$T],
        ) {
            const COLUMNS: usize = LINE / size_of::<$T>();
            let (panel, _) = panel.as_chunks::<COLUMNS>();
            for (ends, out) in offsets.windows(2).zip(out.chunks_exact_mut(places.end)) {
                let mut sums = [0.0; COLUMNS];
                let cells = ends[0]..ends[1];
                for (j, v) in columns[cells.clone()].iter().zip(&values[cells]) {
                    let line = &panel[*j as usize];
                    for k in 0..COLUMNS {
                        sums[k] += v * line[k];
                    }
                }
                out[places.start..].iter_mut().zip(&sums).for_each(|(out, sum)| *out = *sum);
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
    fn products_of_thin_rows_equal_the_plain_sum_to_the_bit() {
        for width in [1, 31, 32, 33, 64, 65, 150] {
            check::<f64>(width);
            check::<f32>(width);
        }
    }
}
