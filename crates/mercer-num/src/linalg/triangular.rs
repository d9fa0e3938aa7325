//! Triangular solves, in place.

use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::traits::ComplexField;
use faer::{MatMut, MatRef, Par};
use ndarray::ArrayView2;

/// `b ← L⁻¹ b` for a row-major `b` of `width` columns; cells of `L` above the diagonal are not read.
///
/// # Panics
/// If the sizes do not match.
pub fn solve_lower<T: ComplexField + Copy>(l: ArrayView2<'_, T>, b: &mut [T], width: usize) {
    with(l, b, width, |l, b| solve_lower_triangular_in_place(l, b, Par::Seq));
}

/// `b ← L⁻ᵀ b`.
///
/// # Panics
/// If the sizes do not match.
pub fn solve_lower_transposed<T: ComplexField + Copy>(
    l: ArrayView2<'_, T>,
    b: &mut [T],
    width: usize,
) {
    with(l, b, width, |l, b| solve_upper_triangular_in_place(l.transpose(), b, Par::Seq));
}

/// `b ← U⁻¹ b`; cells of `U` below the diagonal are not read.
///
/// # Panics
/// If the sizes do not match.
pub fn solve_upper(u: ArrayView2<'_, f64>, b: &mut [f64], width: usize) {
    with(u, b, width, |u, b| solve_upper_triangular_in_place(u, b, Par::Seq));
}

/// `b ← U⁻ᵀ b`.
///
/// # Panics
/// If the sizes do not match.
pub fn solve_upper_transposed(u: ArrayView2<'_, f64>, b: &mut [f64], width: usize) {
    with(u, b, width, |u, b| solve_lower_triangular_in_place(u.transpose(), b, Par::Seq));
}

fn with<T: ComplexField + Copy>(
    a: ArrayView2<'_, T>,
    b: &mut [T],
    width: usize,
    solve: impl FnOnce(MatRef<'_, T>, MatMut<'_, T>),
) {
    let n = a.nrows();
    assert_eq!((a.ncols(), b.len()), (n, n * width), "a square system with one row per row of b");
    if n == 0 || width == 0 {
        return;
    }
    let a = a.as_standard_layout();
    let a = MatRef::from_row_major_slice(a.as_slice().unwrap_or_default(), n, n);
    solve(a, MatMut::from_row_major_slice_mut(b, n, width));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn solves_by_hand() {
        // The nines must not be read.
        let l = array![[2.0, 9.0], [1.0, 4.0]];
        let u = array![[2.0, 1.0], [9.0, 4.0]];
        let run = |f: fn(ArrayView2<'_, f64>, &mut [f64], usize), a: &crate::Matrix| {
            let mut b = [4.0, 8.0, 10.0, 12.0];
            f(a.view(), &mut b, 2);
            b
        };

        assert_eq!(run(solve_lower, &l), [2.0, 4.0, 2.0, 2.0]);
        assert_eq!(run(solve_upper_transposed, &u), [2.0, 4.0, 2.0, 2.0]);
        assert_eq!(run(solve_upper, &u), [0.75, 2.5, 2.5, 3.0]);
        assert_eq!(run(solve_lower_transposed, &l), [0.75, 2.5, 2.5, 3.0]);
    }
}
