//! Dense linear algebra: products and factorizations. All calls to faer are in this module.
//!
//! Arguments and results are row-major [`Matrix`] values. Products are divided into row panels of fixed size, which are
//! distributed over the threads of the current pool. Factorizations run on one thread, on aligned copies, except for
//! the tiled Cholesky factorization and panels of eigenvectors. So the result is bit-identical for any number of
//! threads on one machine. Other instruction sets fuse and block operations differently and may differ in the last
//! digit.

mod block_lanczos;
mod cholesky;
mod double_double_cholesky;
mod double_double_gram;
mod eigen;
mod product;
mod qr;
mod svd;
mod symmetric_matrix;
mod tiled_cholesky;
mod triangular;

pub use block_lanczos::TopEigen;
pub use cholesky::Cholesky;
pub use double_double_cholesky::{DoubleDoubleCholesky, DoubleDoubleMatrix};
pub use double_double_gram::add_double_double_gram;
pub use eigen::SymmetricEigen;
pub use product::{
    add_gram, add_gram_rows, add_matrix_product, add_transposed_product, dot_products, gram,
    lower_triangular_products, multiply, multiply_transposed, subtract_dot_products,
};
pub use qr::{PivotedQr, Qr};
pub use svd::Svd;
pub use symmetric_matrix::SymmetricMatrix;
pub use tiled_cholesky::{CholeskyProgress, cholesky_in_place, inverse_diagonal};
pub use triangular::{solve_lower, solve_lower_transposed, solve_upper, solve_upper_transposed};

use crate::Matrix;
use faer::{Mat, MatRef};
use ndarray::{ArrayView1, ArrayView2};

/// Rows or columns that are transposed at once, so that reads and writes stay in cache.
const ROWS_PER_STRIP: usize = 16;

/// A copy in the aligned memory of faer.
fn to_faer(a: ArrayView2<'_, f64>) -> Mat<f64> {
    let (n, m) = a.dim();
    let mut out = Mat::zeros(n, m);
    for first in (0..n).step_by(ROWS_PER_STRIP) {
        let last = (first + ROWS_PER_STRIP).min(n);
        let rows: Vec<ArrayView1<'_, f64>> = (first..last).map(|i| a.row(i)).collect();
        for j in 0..m {
            let cells = &mut out.col_as_slice_mut(j)[first..last];
            cells.iter_mut().zip(&rows).for_each(|(cell, row)| *cell = row[j]);
        }
    }
    out
}

/// A row-major copy.
fn from_faer(a: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::zeros((a.nrows(), a.ncols()));
    for first in (0..a.ncols()).step_by(ROWS_PER_STRIP) {
        let last = (first + ROWS_PER_STRIP).min(a.ncols());
        let columns: Vec<_> = (first..last).map(|j| a.col(j)).collect();
        for (i, mut row) in out.outer_iter_mut().enumerate() {
            let cells = row.iter_mut().skip(first);
            cells.zip(&columns).for_each(|(cell, column)| *cell = column[i]);
        }
    }
    out
}

/// Estimates `‖A⁻¹‖₁` from solves with `A` and its transpose (Higham 1988, algorithm 2.4): a lower bound that is nearly
/// always within a factor of three.
fn inverse_norm(
    n: usize,
    solve: impl Fn(&mut [f64]),
    solve_transposed: impl Fn(&mut [f64]),
) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let one_norm = |x: &[f64]| x.iter().map(|v| v.abs()).sum::<f64>();
    let mut x = vec![1.0 / n as f64; n];
    let mut best = 0.0;
    let mut last = n;
    // The bound increases in each iteration; five nearly always suffice.
    for iteration in 0..5 {
        solve(&mut x);
        let norm = one_norm(&x);
        if !norm.is_finite() {
            return f64::INFINITY;
        }
        if iteration > 0 && norm <= best {
            break;
        }
        best = norm;
        let mut z: Vec<f64> = x.iter().map(|v| if *v < 0.0 { -1.0 } else { 1.0 }).collect();
        solve_transposed(&mut z);
        let mut largest = 0;
        for (i, v) in z.iter().enumerate() {
            if v.abs() > z[largest].abs() {
                largest = i;
            }
        }
        if largest == last {
            break;
        }
        last = largest;
        x.fill(0.0);
        x[largest] = 1.0;
    }
    // A second estimate, from a vector for which the signs of the first cannot cancel.
    let slope = |i: usize| 1.0 + i as f64 / (n.max(2) - 1) as f64;
    let mut x: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { slope(i) } else { -slope(i) }).collect();
    solve(&mut x);
    best.max(2.0 * one_norm(&x) / (3.0 * n as f64))
}

#[cfg(test)]
mod tests {
    use crate::Matrix;
    use crate::random::Random;

    /// Panics if two matrices differ by more than the tolerance.
    #[track_caller]
    pub fn assert_near(a: &Matrix, b: &Matrix, tolerance: f64) {
        assert_eq!(a.dim(), b.dim());
        for ((at, a), b) in a.indexed_iter().zip(b) {
            assert!((a - b).abs() <= tolerance, "at {at:?}: {a} and {b}");
        }
    }

    /// Standard normal values.
    pub fn normal(n: usize, m: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::from_shape_fn((n, m), |_| random.normal())
    }

    /// `AᵀA + I/10`: symmetric and positive definite.
    pub fn definite(n: usize, seed: u64) -> Matrix {
        let a = normal(n + 3, n, seed);
        a.t().dot(&a) + Matrix::eye(n) * 0.1
    }
}
