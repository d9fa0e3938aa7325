//! In-place Cholesky factorization `A = L Lᵀ` of large matrices, tile by tile on all threads.
//!
//! Right-looking: a diagonal tile is factored, the rows below it are solved, and their product is subtracted from the
//! trailing matrix. Tiles have a fixed size and every cell is updated in a fixed order, so that the result is
//! bit-identical for any number of threads. After `k` columns, the leading `k × k` block holds a finished factor, which
//! is usable if the factorization is stopped there.

use super::{Cholesky, solve_lower};
use crate::Matrix;
use crate::float::Float;
use crate::parallel::prelude::*;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::ArrayView2;

/// Rows and columns of a tile.
const ROWS_PER_TILE: usize = 256;

/// How far a factorization came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CholeskyProgress {
    /// The factor is complete.
    Complete,
    /// The factorization was stopped after so many rows and columns.
    Partial(usize),
    /// The matrix is not numerically positive definite.
    Indefinite,
}

/// Replaces the lower triangle of a row-major symmetric matrix by its factor. Cells above the diagonal are neither read
/// nor defined afterwards. `go_on` is called with the number of finished columns. Diagonal tiles are factored in double
/// precision for any type of cells.
///
/// # Panics
/// If the matrix is not square.
pub fn cholesky_in_place<T: Float + ComplexField>(
    a: &mut [T],
    n: usize,
    mut go_on: impl FnMut(usize) -> bool,
) -> CholeskyProgress {
    assert_eq!(a.len(), n * n, "a square matrix");
    for first in (0..n).step_by(ROWS_PER_TILE) {
        if !go_on(first) {
            return CholeskyProgress::Partial(first);
        }
        let last = (first + ROWS_PER_TILE).min(n);
        let width = last - first;
        let own =
            Matrix::from_shape_fn((width, width), |(i, j)| a[(first + i) * n + first + j].into());
        let Some(factor) = Cholesky::of(own.view()) else { return CholeskyProgress::Indefinite };
        let lower: Vec<T> = factor.lower().iter().map(|v| T::narrow(*v)).collect();
        for (i, row) in lower.chunks_exact(width).enumerate() {
            a[(first + i) * n + first..][..width].copy_from_slice(row);
        }
        // The rows below solve X Lᵀ = A.
        let mut below = vec![T::default(); (n - last) * width];
        let rest = &mut a[last * n..];
        below
            .par_chunks_mut(ROWS_PER_TILE * width)
            .zip(rest.par_chunks_mut(ROWS_PER_TILE * n))
            .for_each(|(below, rows)| {
                for (to, row) in below.chunks_exact_mut(width).zip(rows.chunks_exact(n)) {
                    to.copy_from_slice(&row[first..last]);
                }
                let l = MatRef::from_row_major_slice(&lower, width, width);
                let some = below.len() / width;
                let b = MatMut::from_row_major_slice_mut(below, some, width);
                solve_lower_triangular_in_place(l, b.transpose_mut(), Par::Seq);
                for (from, row) in below.chunks_exact(width).zip(rows.chunks_exact_mut(n)) {
                    row[first..last].copy_from_slice(from);
                }
            });
        rest.par_chunks_mut(ROWS_PER_TILE * n).enumerate().for_each(|(k, rows)| {
            let (from, some) = (k * ROWS_PER_TILE, rows.len() / n);
            let own = &below[from * width..(from + some) * width];
            let others = &below[..(from + some) * width];
            // By columns and transposed, because faer 0.24.4 confuses the strides in its row-wise constructor.
            let cells = &mut rows[last..];
            let to = MatMut::from_column_major_slice_with_stride_mut(cells, from + some, some, n);
            matmul(
                to.transpose_mut(),
                Accum::Add,
                MatRef::from_row_major_slice(own, some, width),
                MatRef::from_row_major_slice(others, from + some, width).transpose(),
                T::narrow(-1.0),
                Par::Seq,
            );
        });
    }
    CholeskyProgress::Complete
}

/// The diagonal of `A⁻¹` from the factor of `A`, on all threads; `None` if `go_on`, which is called from time to time,
/// returns false.
pub fn inverse_diagonal(
    l: ArrayView2<'_, f64>,
    go_on: impl Fn() -> bool + Sync,
) -> Option<Vec<f64>> {
    let n = l.nrows();
    let tiles: Option<Vec<Vec<f64>>> = (0..n.div_ceil(ROWS_PER_TILE))
        .into_par_iter()
        .map(|k| {
            if !go_on() {
                return None;
            }
            let first = k * ROWS_PER_TILE;
            let (rest, width) = (n - first, ROWS_PER_TILE.min(n - first));
            // L⁻¹ is lower triangular.
            let mut unit = vec![0.0; rest * width];
            (0..width).for_each(|j| unit[j * width + j] = 1.0);
            solve_tail(l, first, &mut unit, width);
            let mut sums = vec![0.0; width];
            for row in unit.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += v * v);
            }
            Some(sums)
        })
        .collect();
    tiles.map(|tiles| tiles.concat())
}

/// `b ← L₂₂⁻¹ b` for the trailing block from `first` on, tile by tile, without a copy of `L`.
fn solve_tail(l: ArrayView2<'_, f64>, first: usize, b: &mut [f64], width: usize) {
    let n = l.nrows();
    for from in (first..n).step_by(ROWS_PER_TILE) {
        let to = (from + ROWS_PER_TILE).min(n);
        let (done, open) = b.split_at_mut((from - first) * width);
        let open = &mut open[..(to - from) * width];
        if from > first {
            let product = l.slice(ndarray::s![from..to, first..from]).to_owned();
            let product = product.as_slice().unwrap_or_default();
            matmul(
                MatMut::from_row_major_slice_mut(open, to - from, width),
                Accum::Add,
                MatRef::from_row_major_slice(product, to - from, from - first),
                MatRef::from_row_major_slice(done, from - first, width),
                -1.0,
                Par::Seq,
            );
        }
        solve_lower(l.slice(ndarray::s![from..to, from..to]), open, width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, definite};
    use crate::parallel::with_threads;

    fn lower(cells: &[f64], n: usize) -> Matrix {
        Matrix::from_shape_fn((n, n), |(i, j)| if j <= i { cells[i * n + j] } else { 0.0 })
    }

    #[test]
    fn the_tiled_factor_is_right_for_any_number_of_threads() {
        for n in [1, 256, 257, 520] {
            let a = definite(n, 2);
            let run = |threads| {
                let mut cells = a.as_slice().unwrap().to_vec();
                let how = with_threads(threads, || cholesky_in_place(&mut cells, n, |_| true));
                assert_eq!(how, CholeskyProgress::Complete);
                lower(&cells, n)
            };

            let l = run(1);

            assert_near(&l, Cholesky::of(a.view()).unwrap().lower(), 1e-10 * n as f64);
            assert_eq!(run(3), l);
            let diagonal = inverse_diagonal(l.view(), || true).unwrap();
            let inverse = Cholesky::of(a.view()).unwrap().inverse();
            for (found, expected) in diagonal.iter().zip(inverse.diag()) {
                assert!((found - expected).abs() <= 1e-9 * expected, "{n}");
            }
        }
    }

    #[test]
    fn a_stopped_factorization_is_the_factor_of_the_leading_block() {
        let a = definite(530, 3);
        let mut cells = a.as_slice().unwrap().to_vec();

        let how = cholesky_in_place(&mut cells, 530, |done| done < 512);

        assert_eq!(how, CholeskyProgress::Partial(512));
        let first = a.slice(ndarray::s![..512, ..512]).to_owned();
        let found = lower(&cells, 530).slice(ndarray::s![..512, ..512]).to_owned();
        assert_near(&found, Cholesky::of(first.view()).unwrap().lower(), 1e-8);
        let mut none = vec![1.0, 2.0, 2.0, 1.0];
        assert_eq!(cholesky_in_place(&mut none, 2, |_| true), CholeskyProgress::Indefinite);
    }
}
