//! `A = L Lᵀ` in place for large matrices, tile by tile on all threads.
//!
//! Right-looking: a tile on the diagonal is factored, the rows below it are solved, and what they tell is
//! taken off the rest. Tiles have a fixed size and every cell is changed in a fixed order, so any number of
//! threads gives the same bits. What is finished after `k` columns is the factor of the first `k` rows and
//! columns, so that who runs out of time has a smaller problem solved.

use super::{Cholesky, solve_lower};
use crate::Matrix;
use crate::float::Float;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::ArrayView2;
use rayon::prelude::*;

/// Rows and columns of a tile.
const TILE: usize = 256;

/// How far a factorization came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CholeskyProgress {
    /// All of it.
    Complete,
    /// The first rows and columns: then it was told to stop.
    Partial(usize),
    /// The matrix is not positive definite, or not so far from it that rounding could tell.
    Indefinite,
}

/// Puts the factor of a row-major symmetric matrix into its lower triangle, which is all that is read; what
/// stands above the diagonal is of no meaning before and after. `go_on` is asked with the number of finished
/// columns. Tiles on the diagonal are factored in double precision, whatever the cells are kept in.
///
/// # Panics
/// If the matrix is not square.
pub fn cholesky_in_place<T: Float + ComplexField>(
    a: &mut [T],
    n: usize,
    mut go_on: impl FnMut(usize) -> bool,
) -> CholeskyProgress {
    assert_eq!(a.len(), n * n, "a square matrix");
    for first in (0..n).step_by(TILE) {
        if !go_on(first) {
            return CholeskyProgress::Partial(first);
        }
        let last = (first + TILE).min(n);
        let width = last - first;
        let own =
            Matrix::from_shape_fn((width, width), |(i, j)| a[(first + i) * n + first + j].into());
        let Some(factor) = Cholesky::of(own.view()) else { return CholeskyProgress::Indefinite };
        let lower: Vec<T> = factor.lower().iter().map(|v| T::narrow(*v)).collect();
        for (i, row) in lower.chunks_exact(width).enumerate() {
            a[(first + i) * n + first..][..width].copy_from_slice(row);
        }
        // The rows below, solved: X Lᵀ = A.
        let mut below = vec![T::default(); (n - last) * width];
        let rest = &mut a[last * n..];
        below.par_chunks_mut(TILE * width).zip(rest.par_chunks_mut(TILE * n)).for_each(
            |(below, rows)| {
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
            },
        );
        rest.par_chunks_mut(TILE * n).enumerate().for_each(|(k, rows)| {
            let (from, some) = (k * TILE, rows.len() / n);
            let own = &below[from * width..(from + some) * width];
            let others = &below[..(from + some) * width];
            // By columns and turned: the constructor by rows with a stride mixes up its strides (faer 0.24.4).
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

/// The diagonal of `A⁻¹` from the factor of `A`, on all threads; `go_on` is asked now and then, and `None` is the
/// answer to its no.
pub fn inverse_diagonal(
    l: ArrayView2<'_, f64>,
    go_on: impl Fn() -> bool + Sync,
) -> Option<Vec<f64>> {
    let n = l.nrows();
    let tiles: Option<Vec<Vec<f64>>> = (0..n.div_ceil(TILE))
        .into_par_iter()
        .map(|k| {
            if !go_on() {
                return None;
            }
            let first = k * TILE;
            let (rest, width) = (n - first, TILE.min(n - first));
            // L⁻¹ has nothing above its diagonal.
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

/// `b ← L₂₂⁻¹ b` for what stands right of and below `first`, tile by tile, without a copy of `L`.
fn solve_tail(l: ArrayView2<'_, f64>, first: usize, b: &mut [f64], width: usize) {
    let n = l.nrows();
    for from in (first..n).step_by(TILE) {
        let to = (from + TILE).min(n);
        let (done, open) = b.split_at_mut((from - first) * width);
        let open = &mut open[..(to - from) * width];
        if from > first {
            let told = l.slice(ndarray::s![from..to, first..from]).to_owned();
            let told = told.as_slice().unwrap_or_default();
            matmul(
                MatMut::from_row_major_slice_mut(open, to - from, width),
                Accum::Add,
                MatRef::from_row_major_slice(told, to - from, from - first),
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
    fn tiles_give_the_factor_and_any_number_of_threads_the_same_bits() {
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
    fn what_is_stopped_is_the_factor_of_the_first_rows() {
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
