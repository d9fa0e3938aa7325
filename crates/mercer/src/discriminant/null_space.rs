//! The few directions in which a correlation matrix has no spread.
//!
//! Where columns repeat each other, a handful of eigenvalues are zero but for rounding and the others are far from it.
//! A few steps of inverse iteration on a block of vectors find just those (Parlett 1980, chapter 14), at the price of
//! one Cholesky factor; all eigenvectors take ten times as long.

use mercer_num::Matrix;
use mercer_num::linalg::{Cholesky, Qr, SymmetricEigen, multiply};
use mercer_num::random::Random;
use ndarray::{ArrayView2, Axis, Slice};

/// Fewer columns have all their eigenvectors as soon.
const FEWEST: usize = 64;
/// Vectors to begin with; twice as many while all of them turn out to be thin, up to one in so many columns.
const BLOCK: usize = 8;
const SHARE: usize = 8;
/// Steps before the directions are not clearly enough apart.
const STEPS: usize = 12;
/// How far the next direction has to be above the floor, and what the thin ones may be off, as a share of it.
const APART: f64 = 1e3;
const OFF: f64 = 1e-9;

/// Orthonormal vectors, one a column, along which a matrix of correlations has at most a variance of `floor`. `None`
/// where they are many, or other directions are near: all eigenvectors tell then.
pub(super) fn thin_directions(correlations: &Matrix, floor: f64) -> Option<Matrix> {
    let n = correlations.nrows();
    if n < FEWEST {
        return None;
    }
    let mut lifted = correlations.clone();
    lifted.diag_mut().iter_mut().for_each(|v| *v += floor);
    let factor = Cholesky::of(lifted.view())?;
    let mut random = Random::new(1);
    let mut fresh = |k: usize| Matrix::from_shape_simple_fn((n, k), || random.normal());
    let mut block = fresh(BLOCK);
    for _ in 0..STEPS {
        block = Qr::of(factor.solve_matrix(&block).view()).q();
        let image = multiply(correlations.view(), block.view());
        let ritz = SymmetricEigen::of(multiply(block.t(), image.view()).view())?;
        let thin = ritz.values.iter().filter(|v| **v <= floor).count();
        if thin == ritz.values.len() {
            if 2 * thin > n / SHARE {
                return None;
            }
            block = ndarray::concatenate(Axis(1), &[block.view(), fresh(thin).view()]).ok()?;
            continue;
        }
        let next = ritz.values[thin];
        block = multiply(block.view(), ritz.vectors.view());
        let some = first_columns(&block, thin);
        // How far each is from being turned into a multiple of itself.
        let mut off = multiply(image.view(), first_columns(&ritz.vectors, thin));
        for ((mut off, vector), value) in
            off.columns_mut().into_iter().zip(some.columns()).zip(&ritz.values)
        {
            off.scaled_add(-value, &vector);
        }
        let longest = off.columns().into_iter().map(|v| v.dot(&v)).fold(0.0, f64::max).sqrt();
        if next >= APART * floor && longest <= OFF * next {
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
    fn columns_that_repeat_each_other_leave_one_direction_each() {
        for repeated in [0, 1, 5, 9] {
            let r = correlations(200, repeated);

            let thin = thin_directions(&r, 1e-8).unwrap();

            assert_eq!(thin.ncols(), repeated);
            assert!(r.dot(&thin).iter().all(|v| v.abs() < 1e-12));
            // Each lies in the differences of columns that repeat each other.
            let shared: f64 = (0..repeated)
                .map(|k| {
                    let apart = &thin.row(k) - &thin.row(199 - k);
                    0.5 * apart.dot(&apart)
                })
                .sum();
            assert!((shared - repeated as f64).abs() < 1e-10, "{shared}");
        }
    }

    #[test]
    fn many_directions_or_ones_that_are_not_apart_are_left_to_others() {
        assert_eq!(thin_directions(&correlations(200, 40), 1e-8), None);
        assert_eq!(thin_directions(&correlations(30, 1), 1e-8), None);
        // Spreads that fall through the floor without a gap.
        let mut r = Matrix::eye(100);
        r.diag_mut().iter_mut().enumerate().for_each(|(k, v)| *v = 0.7f64.powi(k as i32));
        assert_eq!(thin_directions(&r, 1e-8), None);
    }
}
