//! Compressed sparse rows (CSR): the column indices and values of the stored entries of every row, in any order.
//!
//! A cell may be stored in parts, as in scipy; its value is their sum. Operations that are linear in the cells add the
//! parts. Operations that need the value of a cell, to square or to compare it, use [`SparseView::sum_duplicates`],
//! which copies only if there are such parts.

use crate::parallel::prelude::*;
use crate::rows::Sparse;
use std::fmt;
use std::ops::Range;

/// Rows that one thread scans at a time.
const ROWS_PER_CHUNK: usize = 512;

/// Borrowed compressed rows with 32-bit columns, as in scipy, and machine-size offsets.
#[derive(Clone, Copy, Debug)]
pub struct SparseView<'a> {
    n_columns: usize,
    /// The start of every row and the end of the last; empty for a matrix stored by columns.
    offsets: &'a [usize],
    /// The offset of the first stored cell.
    start: usize,
    columns: &'a [i32],
    values: &'a [f64],
}

/// The columns and the values of the cells of one row.
pub type Cells<'a> = (&'a [i32], &'a [f64]);

impl<'a> SparseView<'a> {
    /// Rows of `n_columns` columns; row `i` has the cells `offsets[i]..offsets[i + 1]`.
    ///
    /// # Errors
    /// The first inconsistency.
    ///
    /// ```
    /// use mercer_num::SparseView;
    /// let x = SparseView::try_new(3, &[0, 2, 3], &[2, 0, 2], &[5.0, 6.0, 7.0])?;
    /// assert_eq!((x.get(0, 2), x.get(1, 0)), (5.0, 0.0));
    /// assert!(SparseView::try_new(2, &[0, 2, 3], &[2, 0, 2], &[5.0, 6.0, 7.0]).is_err());
    /// # Ok::<(), mercer_num::sparse::InvalidCsr>(())
    /// ```
    pub fn try_new(
        n_columns: usize,
        offsets: &'a [usize],
        columns: &'a [i32],
        values: &'a [f64],
    ) -> Result<SparseView<'a>, InvalidCsr> {
        let n_cells = columns.len();
        if n_cells != values.len() {
            return Err(InvalidCsr::Lengths { columns: n_cells, values: values.len() });
        }
        let Some(end) = offsets.last() else { return Err(InvalidCsr::NoOffsets) };
        if let Some(row) = offsets.windows(2).position(|row| row[0] > row[1]) {
            return Err(InvalidCsr::DecreasingOffsets { row });
        }
        if *end > n_cells {
            return Err(InvalidCsr::MissingEntries { found: n_cells, expected: *end });
        }
        // Without its sign, a negative column is a huge one. The largest is found by a loop without branches; the
        // invalid cell is located only if there is one.
        let used = &columns[offsets[0]..*end];
        let outside = |j: &i32| *j as u32 as usize >= n_columns;
        let largest = used.iter().fold(0, |largest, j| (*j as u32).max(largest)) as i32;
        if outside(&largest)
            && let Some(k) = used.iter().position(outside)
        {
            let row = offsets.partition_point(|at| *at <= offsets[0] + k) - 1;
            return Err(InvalidCsr::ColumnOutOfRange { row, column: used[k], n_columns });
        }
        Ok(SparseView { n_columns, offsets, start: 0, columns, values })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Whether the cells are stored row by row. A matrix stored by columns has no rows.
    pub fn is_csr(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The cells of row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Cells<'a> {
        let cells = self.offsets[i] - self.start..self.offsets[i + 1] - self.start;
        (&self.columns[cells.clone()], &self.values[cells])
    }

    /// The columns of row `i` and of all rows behind it.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn columns_from(&self, i: usize) -> &'a [i32] {
        &self.columns[self.offsets[i] - self.start..]
    }

    /// The cells row by row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cells<'a>> + use<'a> {
        let x = *self;
        (0..x.n_rows()).map(move |i| x.row(i))
    }

    /// The rows of a range, without copying.
    ///
    /// # Panics
    /// If the range exceeds the matrix.
    pub fn slice(&self, range: Range<usize>) -> SparseView<'a> {
        SparseView { offsets: &self.offsets[range.start..range.end + 1], ..*self }
    }

    /// `Σⱼ xⱼ wⱼ` over the cells of row `i`, in four independent sums.
    ///
    /// # Panics
    /// If there is no such row, or `w` has fewer entries than columns.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        assert!(w.len() >= self.n_columns, "one entry per column");
        let (columns, values) = self.row(i);
        // SAFETY: the constructor checked that every column is below `n_columns`.
        let term = |j: i32, v: f64| v * unsafe { w.get_unchecked(j as usize) };
        let (four, rest) = columns.as_chunks::<4>();
        let (with, tail) = values.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for (j, v) in four.iter().zip(with) {
            for k in 0..4 {
                sums[k] += term(j[k], v[k]);
            }
        }
        for (sum, (j, v)) in sums.iter_mut().zip(rest.iter().zip(tail)) {
            *sum += term(*j, *v);
        }
        (sums[0] + sums[2]) + (sums[1] + sums[3])
    }

    /// `wⱼ += times · xⱼ` over the cells of row `i`.
    ///
    /// # Panics
    /// If there is no such row, or `w` has fewer entries than columns.
    #[inline]
    pub fn add_to(&self, i: usize, times: f64, w: &mut [f64]) {
        assert!(w.len() >= self.n_columns, "one entry per column");
        let (columns, values) = self.row(i);
        for (j, v) in columns.iter().zip(values) {
            // SAFETY: the constructor checked that every column is below `n_columns`.
            *unsafe { w.get_unchecked_mut(*j as usize) } += times * v;
        }
    }

    /// Whether the columns of every row are ascending.
    pub fn has_sorted_columns(&self) -> bool {
        self.iter().all(|(columns, _)| columns.is_sorted_by(|a, b| a < b))
    }

    /// `aⱼₖ += times · xⱼ xₖ` over the pairs of cells of row `i`, in a packed lower triangle of all columns. The
    /// columns of the row must be ascending.
    ///
    /// # Panics
    /// If there is no such row, or the triangle is too small.
    #[inline]
    pub fn add_cross_products(&self, i: usize, times: f64, a: &mut [f64]) {
        assert!(a.len() >= packed_row_start(self.n_columns), "one cell per pair of columns");
        let (columns, values) = self.row(i);
        let row_start = |j: i32| packed_row_start(j as usize);
        let mut add = |row_start: usize, j: i32, product: f64| {
            // SAFETY: the constructor checked that every column is below `n_columns`; the last row of the triangle has
            // space for all of them behind its start, and the other rows start before it.
            *unsafe { a.get_unchecked_mut(row_start.wrapping_add(j as usize)) } += product;
        };
        // Two rows of the triangle at a time, so that the common cells are read once.
        let (pairs, last) = columns.as_chunks::<2>();
        for (k, ([j, l], [x, y])) in pairs.iter().zip(values.as_chunks::<2>().0).enumerate() {
            let ((start_j, with_x), (start_l, with_y)) =
                ((row_start(*j), times * x), (row_start(*l), times * y));
            for (other, v) in columns[..2 * k].iter().zip(values) {
                add(start_j, *other, with_x * v);
                add(start_l, *other, with_y * v);
            }
            add(start_j, *j, with_x * x);
            add(start_l, *j, with_y * x);
            add(start_l, *l, with_y * y);
        }
        if let ([j], [.., x]) = (last, values) {
            let with_x = times * x;
            columns
                .iter()
                .zip(values)
                .for_each(|(other, v)| add(row_start(*j), *other, with_x * v));
        }
    }

    /// Prefetches row `i`; without effect on any result.
    #[inline]
    pub fn prefetch_row(&self, i: usize) {
        let (columns, values) = self.row(i);
        crate::memory::prefetch(columns);
        crate::memory::prefetch(values);
    }

    /// The transpose: row `j` of the result holds column `j`, in ascending order of rows.
    pub fn transpose(&self) -> CsrMatrix {
        let mut offsets = vec![0; self.n_columns + 1];
        self.iter().flat_map(|(columns, _)| columns).for_each(|j| offsets[*j as usize + 1] += 1);
        for j in 0..self.n_columns {
            offsets[j + 1] += offsets[j];
        }
        let mut next = offsets.clone();
        let n_cells = offsets[self.n_columns];
        let (mut columns, mut values) = (vec![0; n_cells], vec![0.0; n_cells]);
        for (i, (row, cells)) in self.iter().enumerate() {
            for (j, v) in row.iter().zip(cells) {
                let bit_of = &mut next[*j as usize];
                (columns[*bit_of], values[*bit_of]) = (i as i32, *v);
                *bit_of += 1;
            }
        }
        CsrMatrix { n_columns: self.n_rows(), offsets, columns, values }
    }

    /// The cell in row `i` and column `j`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        let parts = columns.iter().zip(values).filter(|(column, _)| **column as usize == j);
        parts.fold(0.0, |sum, (_, v)| sum + v)
    }

    /// The same rows without duplicate cells: borrowed, or a copy if a cell is stored in parts.
    pub fn sum_duplicates(&self) -> SummedDuplicates<'a> {
        // The offsets at which rows begin; the end of a row is the next one.
        let starts = &self.offsets[..self.offsets.len().saturating_sub(1)];
        let chunks = starts.par_chunks(ROWS_PER_CHUNK).enumerate();
        let in_parts: Vec<bool> = chunks.flat_map_collect(|(k, starts)| {
            let mut marks = ColumnBits::new();
            let ends = &self.offsets[k * ROWS_PER_CHUNK + 1..];
            let cells = |(from, to): (&usize, &usize)| {
                marks.has_duplicates(&self.columns[from - self.start..to - self.start])
            };
            starts.iter().zip(ends).map(cells).collect::<Vec<_>>()
        });
        if !in_parts.contains(&true) {
            return SummedDuplicates::Borrowed(*self);
        }
        let mut whole = CsrMatrix { n_columns: self.n_columns, ..Default::default() };
        whole.offsets.push(0);
        for ((columns, values), in_parts) in self.iter().zip(in_parts) {
            if in_parts {
                whole.push_summed(columns, values);
            } else {
                whole.columns.extend_from_slice(columns);
                whole.values.extend_from_slice(values);
            }
            whole.offsets.push(whole.columns.len());
        }
        SummedDuplicates::Owned(whole)
    }
}

/// The offset of row `j` in a packed lower triangle; also the number of cells of a triangle with `j` rows.
#[inline]
pub fn packed_row_start(j: usize) -> usize {
    j * (j + 1) / 2
}

impl<'a> From<&'a Sparse> for SparseView<'a> {
    fn from(x: &'a Sparse) -> Self {
        let offsets = if x.is_csr() { x.indptr().into_raw_storage() } else { &[] };
        SparseView {
            n_columns: x.cols(),
            offsets,
            // A slice of a matrix has the offsets of the original.
            start: offsets.first().copied().unwrap_or(0),
            columns: x.indices(),
            values: x.data(),
        }
    }
}

/// Rows without duplicate cells.
#[derive(Clone, Debug)]
pub enum SummedDuplicates<'a> {
    /// The original rows.
    Borrowed(SparseView<'a>),
    /// A copy with the parts of each cell summed.
    Owned(CsrMatrix),
}

impl SummedDuplicates<'_> {
    /// The rows.
    pub fn view(&self) -> SparseView<'_> {
        match self {
            SummedDuplicates::Borrowed(x) => *x,
            SummedDuplicates::Owned(x) => x.view(),
        }
    }
}

/// Owned compressed rows without duplicate cells.
#[derive(Clone, Debug, Default)]
pub struct CsrMatrix {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// The nonzero cells of dense rows; `None` if their fraction exceeds `max_density`.
    ///
    /// ```
    /// use mercer_num::{Rows, sparse::CsrMatrix};
    /// let x = ndarray::array![[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
    /// let sparse = CsrMatrix::from_dense(&Rows::from(&x), 0.5).unwrap();
    /// assert_eq!(sparse.view().row(0), (&[1][..], &[2.0][..]));
    /// assert!(CsrMatrix::from_dense(&Rows::from(&x), 0.1).is_none());
    /// ```
    pub fn from_dense(rows: &crate::Rows<'_>, max_density: f64) -> Option<CsrMatrix> {
        let (n, width) = (rows.n_rows(), rows.n_columns());
        let most = (max_density * (n * width) as f64) as usize;
        let mut sparse = CsrMatrix { n_columns: width, offsets: vec![0], ..Default::default() };
        for i in 0..n {
            let row = rows.block(i..i + 1)?;
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                sparse.columns.push(j as i32);
                sparse.values.push(*v);
            }
            if sparse.columns.len() > most {
                return None;
            }
            sparse.offsets.push(sparse.columns.len());
        }
        Some(sparse)
    }

    /// Copies of some rows, in the given order.
    pub fn of_rows(x: &SparseView<'_>, rows: &[usize]) -> CsrMatrix {
        let mut copy =
            CsrMatrix { n_columns: x.n_columns(), offsets: vec![0], ..Default::default() };
        for i in rows {
            let (columns, values) = x.row(*i);
            copy.columns.extend_from_slice(columns);
            copy.values.extend_from_slice(values);
            copy.offsets.push(copy.columns.len());
        }
        copy
    }

    /// The rows.
    pub fn view(&self) -> SparseView<'_> {
        SparseView {
            n_columns: self.n_columns,
            offsets: &self.offsets,
            start: 0,
            columns: &self.columns,
            values: &self.values,
        }
    }

    /// Every cell multiplied by the factor of its column.
    ///
    /// # Panics
    /// If there are fewer factors than columns.
    #[must_use]
    pub fn scale_columns(mut self, factors: &[f64]) -> CsrMatrix {
        self.columns.iter().zip(&mut self.values).for_each(|(j, v)| *v *= factors[*j as usize]);
        self
    }

    /// The matrix with `f` applied to every stored cell.
    #[must_use]
    pub fn map(mut self, f: impl Fn(f64) -> f64) -> CsrMatrix {
        self.values.iter_mut().for_each(|v| *v = f(*v));
        self
    }

    /// Appends the cells of a row in ascending order of columns; parts of a cell are added in their order.
    fn push_summed(&mut self, columns: &[i32], values: &[f64]) {
        let first = self.columns.len();
        let mut cells: Vec<(i32, f64)> =
            columns.iter().copied().zip(values.iter().copied()).collect();
        cells.sort_by_key(|(j, _)| *j);
        for (j, v) in cells {
            if self.columns.len() > first && self.columns.last() == Some(&j) {
                let last = self.values.len() - 1;
                self.values[last] += v;
            } else {
                self.columns.push(j);
                self.values.push(v);
            }
        }
    }
}

/// A bit set of columns by their low bits, small enough for the first-level cache.
struct ColumnBits {
    bits: Vec<u64>,
    sorted: Vec<i32>,
}

impl ColumnBits {
    const N_WORDS: usize = 1 << 11;

    fn new() -> ColumnBits {
        ColumnBits { bits: vec![0; ColumnBits::N_WORDS], sorted: Vec::new() }
    }

    fn bit_of(j: i32) -> (usize, u64) {
        (j as usize >> 6 & (ColumnBits::N_WORDS - 1), 1 << (j & 63))
    }

    /// Whether a column occurs twice in a row. Columns with the same bit are compared by sorting.
    fn has_duplicates(&mut self, columns: &[i32]) -> bool {
        if columns.is_sorted_by(|a, b| a < b) {
            return false;
        }
        let mut met = 0;
        for j in columns {
            let (word, bit) = ColumnBits::bit_of(*j);
            met |= self.bits[word] & bit;
            self.bits[word] |= bit;
        }
        columns.iter().for_each(|j| self.bits[ColumnBits::bit_of(*j).0] = 0);
        if met == 0 {
            return false;
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(columns);
        self.sorted.sort_unstable();
        !self.sorted.is_sorted_by(|a, b| a < b)
    }
}

/// Why arrays do not form a valid CSR matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidCsr {
    /// The numbers of columns and values differ.
    Lengths {
        /// The number of columns.
        columns: usize,
        /// The number of values.
        values: usize,
    },
    /// There are no offsets, not even the start of the first row.
    NoOffsets,
    /// An offset is below the one before it.
    DecreasingOffsets {
        /// Counted from zero.
        row: usize,
    },
    /// The offsets exceed the stored cells.
    MissingEntries {
        /// The number of stored cells.
        found: usize,
        /// The number that the offsets require.
        expected: usize,
    },
    /// A column index out of range.
    ColumnOutOfRange {
        /// Counted from zero.
        row: usize,
        /// Counted from zero.
        column: i32,
        /// The number of columns.
        n_columns: usize,
    },
}

impl fmt::Display for InvalidCsr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidCsr::Lengths { columns, values } => {
                write!(f, "there are {columns} column indices and {values} values")
            }
            InvalidCsr::NoOffsets => write!(f, "there are no row offsets"),
            InvalidCsr::DecreasingOffsets { row } => {
                write!(f, "row {} ends before it starts", row + 1)
            }
            InvalidCsr::MissingEntries { found, expected } => {
                write!(f, "the row offsets require {expected} cells, found {found}")
            }
            InvalidCsr::ColumnOutOfRange { row, column, n_columns } => write!(
                f,
                "row {} has a cell at column index {column}, the indices of {n_columns} columns are \
                 below that number and not negative",
                row + 1
            ),
        }
    }
}

impl std::error::Error for InvalidCsr {}

#[cfg(test)]
mod tests {
    use super::*;
    use sprs::TriMatI;

    /// `[[2 + 3, 0, 1], [0, 0, 0], [6, 4, 0]]`, unsorted.
    const OFFSETS: [usize; 4] = [0, 3, 3, 5];
    const COLUMNS: [i32; 5] = [2, 0, 0, 1, 0];
    const VALUES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 6.0];

    fn view<'a>() -> SparseView<'a> {
        SparseView::try_new(3, &OFFSETS, &COLUMNS, &VALUES).unwrap()
    }

    #[test]
    fn cells_are_read_in_any_order_and_parts_added() {
        let x = view();

        assert_eq!((x.n_rows(), x.n_columns()), (3, 3));
        assert_eq!((x.get(0, 0), x.get(0, 1), x.get(0, 2)), (5.0, 0.0, 1.0));
        assert_eq!(x.row(2), (&[1, 0][..], &[4.0, 6.0][..]));
        assert_eq!(x.columns_from(1), &[1, 0]);
    }

    #[test]
    fn a_slice_of_a_slice_is_the_rows_in_between() {
        let x = view().slice(1..3).slice(1..2);

        assert_eq!(x.n_rows(), 1);
        assert_eq!(x.row(0), view().row(2));
        assert_eq!(view().slice(3..3).n_rows(), 0);
    }

    #[test]
    fn only_rows_with_duplicates_are_summed() {
        let whole = view().sum_duplicates();

        let SummedDuplicates::Owned(_) = whole else { panic!("a cell is in parts") };
        assert_eq!(whole.view().row(0), (&[0, 2][..], &[5.0, 1.0][..]));
        assert_eq!(whole.view().row(1), (&[][..], &[][..]));
        assert_eq!(whole.view().row(2), view().row(2));
        assert!(matches!(view().slice(1..3).sum_duplicates(), SummedDuplicates::Borrowed(_)));
    }

    #[test]
    fn columns_with_the_same_bit_are_distinguished() {
        const FAR: i32 = 1 << 17;
        let once = SparseView::try_new(1 << 20, &[0, 2], &[FAR + 5, 5], &[1.0, 2.0]).unwrap();
        let twice =
            SparseView::try_new(1 << 20, &[0, 3], &[FAR, 5, FAR], &[1.0, 2.0, 4.0]).unwrap();

        assert!(matches!(once.sum_duplicates(), SummedDuplicates::Borrowed(_)));
        assert_eq!(twice.sum_duplicates().view().row(0), (&[5, FAR][..], &[2.0, 5.0][..]));
    }

    #[test]
    fn invalid_arrays_are_refused() {
        let refused = |n_columns, offsets: &[usize], columns: &[i32], values: &[f64]| {
            SparseView::try_new(n_columns, offsets, columns, values).map(|_| ()).unwrap_err()
        };

        let two = [1.0, 2.0];
        assert_eq!(refused(3, &[0, 2], &[0], &two), InvalidCsr::Lengths { columns: 1, values: 2 });
        assert_eq!(refused(3, &[], &[], &[]), InvalidCsr::NoOffsets);
        assert_eq!(refused(3, &[0, 2, 1], &[0, 1], &two), InvalidCsr::DecreasingOffsets { row: 1 });
        assert_eq!(
            refused(3, &[0, 3], &[0, 1], &two),
            InvalidCsr::MissingEntries { found: 2, expected: 3 }
        );
        let column = |column| InvalidCsr::ColumnOutOfRange { row: 1, column, n_columns: 3 };
        assert_eq!(refused(3, &[0, 1, 2], &[0, 3], &two), column(3));
        assert_eq!(refused(3, &[0, 1, 2], &[0, -1], &two), column(-1));
        assert!(SparseView::try_new(0, &[0, 0], &[], &[]).is_ok());
    }

    #[test]
    fn an_owned_matrix_is_borrowed_without_a_copy() {
        let mut cells = TriMatI::<f64, i32>::new((3, 4));
        cells.add_triplet(0, 1, 2.0);
        cells.add_triplet(2, 3, 5.0);
        let by_rows: Sparse = cells.to_csr();
        let cut: Sparse = by_rows.slice_outer(1..3).to_owned();
        let by_columns: Sparse = cells.to_csc();

        assert_eq!(SparseView::from(&by_rows).get(2, 3), 5.0);
        assert_eq!(SparseView::from(&cut).get(1, 3), 5.0);
        assert!(SparseView::from(&cut).is_csr());
        assert!(!SparseView::from(&by_columns).is_csr());
    }

    #[test]
    fn cross_products_fill_the_lower_triangle() {
        let (columns, values) = ([0, 2, 0, 1, 2], [3.0, 5.0, 2.0, 3.0, 4.0]);
        let x = SparseView::try_new(3, &[0, 2, 2, 5], &columns, &values).unwrap();
        let [mut first, mut last] = [[0.0; 6]; 2];

        x.add_cross_products(0, 2.0, &mut first);
        x.add_cross_products(1, 2.0, &mut first);
        x.add_cross_products(2, 1.0, &mut last);

        assert!(x.has_sorted_columns());
        assert_eq!(first, [18.0, 0.0, 0.0, 30.0, 0.0, 50.0]);
        assert_eq!(last, [4.0, 6.0, 9.0, 8.0, 12.0, 16.0]);
    }
}
