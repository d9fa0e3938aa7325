//! The borrowed view of a feature matrix, dense or sparse.
//!
//! Loops over dense rows need contiguous `f64` values. [`Rows::block`] borrows a slice if the memory has this layout,
//! and copies a few rows otherwise (`f32`, Fortran order, strides). The copy stays in cache, so that no caller converts
//! a whole matrix.

use crate::parallel::prelude::*;
use crate::sparse::SparseView;
use ndarray::{ArcArray2, Array2, ArrayView1, ArrayView2, s};
use sprs::CsMatI;
use std::borrow::Cow;
use std::ops::Range;

/// A dense matrix.
pub type Matrix = Array2<f64>;
/// A dense matrix with several owners, copied on write.
pub type SharedMatrix = ArcArray2<f64>;
/// A CSR matrix with 32-bit columns, as in scipy, and machine-size offsets.
pub type Sparse = CsMatI<f64, i32, usize>;

/// A borrowed feature matrix. NaN is a missing value in dense rows; cells that are not stored in sparse rows are zero.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Double precision, any strides.
    Dense(ArrayView2<'a, f64>),
    /// Single precision, any strides; converted block by block.
    Single(ArrayView2<'a, f32>),
    /// Compressed rows with unsorted cells.
    Sparse(SparseView<'a>),
}

impl<'a> Rows<'a> {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Rows::Dense(x) => x.nrows(),
            Rows::Single(x) => x.nrows(),
            Rows::Sparse(x) => x.n_rows(),
        }
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        match self {
            Rows::Dense(x) => x.ncols(),
            Rows::Single(x) => x.ncols(),
            Rows::Sparse(x) => x.n_columns(),
        }
    }

    /// The same rows with a shorter lifetime.
    pub fn view(&self) -> Rows<'_> {
        match self {
            Rows::Dense(x) => Rows::Dense(x.view()),
            Rows::Single(x) => Rows::Single(x.view()),
            Rows::Sparse(x) => Rows::Sparse(*x),
        }
    }

    /// The rows of a range, without copying.
    ///
    /// # Panics
    /// If the range exceeds the matrix.
    pub fn slice(&self, range: Range<usize>) -> Rows<'a> {
        match self {
            Rows::Dense(x) => Rows::Dense((*x).slice_move(s![range, ..])),
            Rows::Single(x) => Rows::Single((*x).slice_move(s![range, ..])),
            Rows::Sparse(x) => Rows::Sparse(x.slice(range)),
        }
    }

    /// The dense rows of a range as one row-major slice, or `None` for sparse rows.
    pub fn block(&self, range: Range<usize>) -> Option<Cow<'a, [f64]>> {
        match self {
            Rows::Dense(x) => Some(contiguous((*x).slice_move(s![range, ..]))),
            Rows::Single(x) => Some(Cow::Owned(row_major(x.slice(s![range, ..]), f64::from))),
            Rows::Sparse(_) => None,
        }
    }

    /// The same in single precision.
    pub fn block_single(&self, range: Range<usize>) -> Option<Cow<'a, [f32]>> {
        match self {
            Rows::Dense(x) => Some(Cow::Owned(row_major(x.slice(s![range, ..]), |v| v as f32))),
            Rows::Single(x) => Some(contiguous((*x).slice_move(s![range, ..]))),
            Rows::Sparse(_) => None,
        }
    }

    /// The cell in row `i` and column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Rows::Dense(x) => x[[i, j]],
            Rows::Single(x) => f64::from(x[[i, j]]),
            Rows::Sparse(x) => x.get(i, j),
        }
    }

    /// Row `i` as a dense vector.
    pub fn row(&self, i: usize) -> Vec<f64> {
        match self {
            Rows::Sparse(x) => {
                let mut out = vec![0.0; x.n_columns()];
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(j, v)| out[*j as usize] += v);
                out
            }
            _ => self.block(i..i + 1).map(Cow::into_owned).unwrap_or_default(),
        }
    }

    /// Row and column of the first cell that is infinite, or NaN unless `missing` allows it.
    pub fn first_invalid_cell(&self, missing: Missing) -> Option<(usize, usize)> {
        let bad = |v: f64| v.is_infinite() || (missing == Missing::Refused && v.is_nan());
        match (self, missing) {
            (Rows::Dense(x), Missing::Allowed) => first_invalid(x, |v| v.abs() == f64::INFINITY),
            (Rows::Dense(x), Missing::Refused) => first_invalid(x, |v| !v.is_finite()),
            (Rows::Single(x), Missing::Allowed) => first_invalid(x, |v| v.abs() == f32::INFINITY),
            (Rows::Single(x), Missing::Refused) => first_invalid(x, |v| !v.is_finite()),
            (Rows::Sparse(x), _) => x.iter().enumerate().find_map(|(i, (columns, values))| {
                let k = values.iter().position(|v| bad(*v))?;
                Some((i, columns[k] as usize))
            }),
        }
    }
}

/// Whether NaN is a missing value or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// NaN is a missing value.
    Allowed,
    /// NaN is refused.
    Refused,
}

/// Row and column of the first invalid cell of a matrix.
fn first_invalid<T: Copy + Sync>(
    x: &ArrayView2<'_, T>,
    bad: impl Fn(T) -> bool + Sync,
) -> Option<(usize, usize)> {
    /// Cells that one thread checks without an early exit, so that the loop is vectorized.
    const CELLS_PER_CHECK: usize = 1 << 14;
    let Some(cells) = x.as_slice() else {
        return x.indexed_iter().find(|(_, v)| bad(**v)).map(|(at, _)| at);
    };
    let some_bad = |cells: &[T]| cells.iter().fold(false, |some, v| some | bad(*v));
    let bad_parts: Vec<bool> = cells.par_chunks(CELLS_PER_CHECK).map(some_bad).collect();
    let first = CELLS_PER_CHECK * bad_parts.iter().position(|bad| *bad)?;
    let at = first + cells[first..].iter().position(|v| bad(*v))?;
    Some((at / x.ncols(), at % x.ncols()))
}

fn contiguous<T: Copy + Default>(x: ArrayView2<'_, T>) -> Cow<'_, [T]> {
    match x.to_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(row_major(x, |v| v)),
    }
}

/// A row-major copy. Column-major memory is read in strips of a few columns, so that reads and writes stay in cache.
fn row_major<T: Copy, U: Copy + Default>(x: ArrayView2<'_, T>, to: impl Fn(T) -> U) -> Vec<U> {
    const STRIP_COLUMNS: usize = 16;
    if x.is_standard_layout() {
        return x.iter().map(|v| to(*v)).collect();
    }
    let (n_rows, n_columns) = x.dim();
    let mut out = vec![U::default(); n_rows * n_columns];
    for first in (0..n_columns).step_by(STRIP_COLUMNS) {
        let strip = x.slice(s![.., first..(first + STRIP_COLUMNS).min(n_columns)]);
        for (row, out) in strip.rows().into_iter().zip(out.chunks_exact_mut(n_columns)) {
            out[first..].iter_mut().zip(row).for_each(|(out, v)| *out = to(*v));
        }
    }
    out
}

impl<'a> From<&'a Matrix> for Rows<'a> {
    fn from(x: &'a Matrix) -> Self {
        Rows::Dense(x.view())
    }
}

impl<'a> From<&'a Sparse> for Rows<'a> {
    fn from(x: &'a Sparse) -> Self {
        Rows::Sparse(x.into())
    }
}

impl<'a> From<ArrayView1<'a, f64>> for Rows<'a> {
    fn from(x: ArrayView1<'a, f64>) -> Self {
        Rows::Dense(x.insert_axis(ndarray::Axis(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{ShapeBuilder, array};
    use sprs::TriMatI;

    #[test]
    fn a_block_is_row_major_for_any_memory_order() {
        let c_order = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let mut f_order = Matrix::zeros((3, 2).f());
        f_order.assign(&c_order);
        let single = c_order.mapv(|v| v as f32);

        let expected: &[f64] = &[3.0, 4.0, 5.0, 6.0];
        assert_eq!(&*Rows::from(&c_order).block(1..3).unwrap(), expected);
        assert_eq!(&*Rows::from(&f_order).block(1..3).unwrap(), expected);
        assert_eq!(&*Rows::Single(single.view()).block(1..3).unwrap(), expected);
        assert!(matches!(Rows::from(&c_order).block(1..3), Some(Cow::Borrowed(_))));
        let expected: &[f32] = &[3.0, 4.0, 5.0, 6.0];
        assert_eq!(&*Rows::from(&c_order).block_single(1..3).unwrap(), expected);
        assert_eq!(&*Rows::from(&f_order).block_single(1..3).unwrap(), expected);
        let borrowed = Rows::Single(single.view()).block_single(1..3).unwrap();
        assert!(matches!(borrowed, Cow::Borrowed(cells) if cells == expected));
    }

    #[test]
    fn sparse_rows_equal_dense_ones() {
        let mut cells = TriMatI::<f64, i32>::new((3, 4));
        cells.add_triplet(0, 1, 2.0);
        cells.add_triplet(2, 0, -1.0);
        cells.add_triplet(2, 3, 5.0);
        let sparse: Sparse = cells.to_csr();

        let tail = Rows::from(&sparse).slice(1..3);

        assert_eq!((tail.n_rows(), tail.n_columns()), (2, 4));
        assert_eq!(tail.row(0), [0.0; 4]);
        assert_eq!(tail.row(1), [-1.0, 0.0, 0.0, 5.0]);
        assert_eq!((tail.get(1, 3), tail.get(1, 2)), (5.0, 0.0));
    }

    #[test]
    fn the_first_invalid_cell_is_found() {
        let x = array![[1.0, f64::NAN], [f64::INFINITY, 2.0]];

        assert_eq!(Rows::from(&x).first_invalid_cell(Missing::Allowed), Some((1, 0)));
        assert_eq!(Rows::from(&x).first_invalid_cell(Missing::Refused), Some((0, 1)));
        let mut large = Array2::<f32>::zeros((700, 130));
        (large[[600, 5]], large[[400, 129]], large[[400, 17]]) =
            (f32::NAN, f32::INFINITY, f32::NAN);
        let bad = |missing| Rows::Single(large.view()).first_invalid_cell(missing);
        assert_eq!(
            (bad(Missing::Allowed), bad(Missing::Refused)),
            (Some((400, 129)), Some((400, 17)))
        );
        large[[400, 129]] = 0.0;
        assert_eq!(Rows::Single(large.view()).first_invalid_cell(Missing::Allowed), None);
    }
}
