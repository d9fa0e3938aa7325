//! The null space of a correlation matrix, if it has few dimensions.
//!
//! With collinear columns, a few eigenvalues are zero up to rounding and the others are well separated. A few steps of
//! inverse subspace iteration find their eigenvectors (Parlett 1980, chapter 14) at the cost of one Cholesky
//! factorization; a full eigendecomposition takes ten times as long.

use mercer_num::Matrix;
use mercer_num::linalg::{Cholesky, Qr, SymmetricEigen, multiply};
use mercer_num::random::Random;
use ndarray::{ArrayView2, Axis, Slice};

/// For fewer columns, a full eigendecomposition is as fast.
const MIN_COLUMNS: usize = 64;
/// Vectors of the first iteration. Their number doubles while all are null vectors, up to one in so many columns.
const INITIAL_VECTORS: usize = 8;
const MIN_COLUMNS_PER_NULL_VECTOR: usize = 8;
/// Iterations before the null space is declared not separated.
const MAX_ITERATIONS: usize = 12;
/// The smallest ratio of the next eigenvalue to the floor, and the largest residual relative to that eigenvalue.
const MIN_SEPARATION: f64 = 1e3;
const MAX_RELATIVE_RESIDUAL: f64 = 1e-9;

/// An orthonormal basis, one vector per column, of the eigenvectors with eigenvalues of at most `floor`. `None` if they
/// are many or not well separated from the others: a full eigendecomposition is needed then.
pub(super) fn null_space(correlations: &Matrix, floor: f64) -> Option<Matrix> {
    let n = correlations.nrows();
    if n < MIN_COLUMNS {
        return None;
    }
    let mut lifted = correlations.clone();
    lifted.diag_mut().iter_mut().for_each(|v| *v += floor);
    let factor = Cholesky::of(lifted.view())?;
    let mut random = Random::new(1);
    let mut fresh = |k: usize| Matrix::from_shape_simple_fn((n, k), || random.normal());
    let mut block = fresh(INITIAL_VECTORS);
    for _ in 0..MAX_ITERATIONS {
        block = Qr::of(factor.solve_matrix(&block).view()).q();
        let image = multiply(correlations.view(), block.view());
        let ritz = SymmetricEigen::of(multiply(block.t(), image.view()).view())?;
        let null_vectors = ritz.values.iter().filter(|v| **v <= floor).count();
        if null_vectors == ritz.values.len() {
            if 2 * null_vectors > n / MIN_COLUMNS_PER_NULL_VECTOR {
                return None;
            }
            block =
                ndarray::concatenate(Axis(1), &[block.view(), fresh(null_vectors).view()]).ok()?;
            continue;
        }
        let next = ritz.values[null_vectors];
        block = multiply(block.view(), ritz.vectors.view());
        let some = first_columns(&block, null_vectors);
        // The residuals `Rv − λv`.
        let mut off = multiply(image.view(), first_columns(&ritz.vectors, null_vectors));
        for ((mut off, vector), value) in
            off.columns_mut().into_iter().zip(some.columns()).zip(&ritz.values)
        {
            off.scaled_add(-value, &vector);
        }
        let longest = off.columns().into_iter().map(|v| v.dot(&v)).fold(0.0, f64::max).sqrt();
        if next >= MIN_SEPARATION * floor && longest <= MAX_RELATIVE_RESIDUAL * next {
            return Some(some.as_standard_layout().into_owned());
        }
    }
    None
}

/// The first `n` columns.
pub(super) fn first_columns(m: &Matrix, n: usize) -> ArrayView2<'_, f64> {
    m.slice_axis(Axis(1), Slice::from(..n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Correlations of `n` columns of which the last few repeat the first.
    fn correlations(n: usize, repeated: usize) -> Matrix {
        let mut random = Random::new(4);
        let mut x = Matrix::from_shape_simple_fn((4 * n, n), || random.normal());
        for k in 0..repeated {
            let first = x.column(k).to_owned();
            x.column_mut(n - 1 - k).assign(&first);
        }
        let gram = x.t().dot(&x);
        Matrix::from_shape_fn((n, n), |(i, j)| gram[[i, j]] / (gram[[i, i]] * gram[[j, j]]).sqrt())
    }

    #[test]
    fn each_duplicate_column_adds_one_null_vector() {
        for repeated in [0, 1, 5, 9] {
            let r = correlations(200, repeated);

            let null_vectors = null_space(&r, 1e-8).unwrap();

            assert_eq!(null_vectors.ncols(), repeated);
            assert!(r.dot(&null_vectors).iter().all(|v| v.abs() < 1e-12));
            // Each lies in the differences of columns that repeat each other.
            let shared: f64 = (0..repeated)
                .map(|k| {
                    let centered = &null_vectors.row(k) - &null_vectors.row(199 - k);
                    0.5 * centered.dot(&centered)
                })
                .sum();
            assert!((shared - repeated as f64).abs() < 1e-10, "{shared}");
        }
    }

    #[test]
    fn large_or_unseparated_null_spaces_are_declined() {
        assert_eq!(null_space(&correlations(200, 40), 1e-8), None);
        assert_eq!(null_space(&correlations(30, 1), 1e-8), None);
        // Spreads that fall through the floor without a gap.
        let mut r = Matrix::eye(100);
        r.diag_mut().iter_mut().enumerate().for_each(|(k, v)| *v = 0.7f64.powi(k as i32));
        assert_eq!(null_space(&r, 1e-8), None);
    }
}
