//! Cholesky factorization `A = L Lᵀ` of a symmetric positive definite matrix.

use super::{from_faer, inverse_norm, solve_lower, solve_lower_transposed, to_faer};
use crate::Matrix;
use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use ndarray::ArrayView2;

/// The lower triangular factor of a symmetric positive definite matrix.
///
/// ```
/// use mercer_num::linalg::Cholesky;
/// let a = ndarray::array![[4.0, 2.0], [2.0, 5.0]];
/// let factor = Cholesky::of(a.view()).ok_or("not positive definite")?;
/// assert_eq!(factor.solve(&[8.0, 9.0]), [1.375, 1.25]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cholesky {
    lower: Matrix,
}

impl Cholesky {
    /// Factors the lower triangle of a square matrix; `None` if it is not numerically positive definite.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn of(a: ArrayView2<'_, f64>) -> Option<Cholesky> {
        assert_eq!(a.nrows(), a.ncols(), "only square matrices have a Cholesky factor");
        let n = a.nrows();
        let mut l = to_faer(a);
        let scratch = cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        cholesky_in_place(l.as_mut(), Default::default(), Par::Seq, stack, Default::default())
            .ok()?;
        let mut lower = from_faer(l.as_ref());
        for i in 0..n {
            lower.row_mut(i).iter_mut().skip(i + 1).for_each(|v| *v = 0.0);
        }
        // The factorization passes infinities through.
        lower.iter().all(|v| v.is_finite()).then_some(Cholesky { lower })
    }

    /// `L`, with zeros above the diagonal.
    pub fn lower(&self) -> &Matrix {
        &self.lower
    }

    /// `A⁻¹ b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        solve_lower(self.lower.view(), &mut x, 1);
        solve_lower_transposed(self.lower.view(), &mut x, 1);
        x
    }

    /// `A⁻¹ B`.
    pub fn solve_matrix(&self, b: &Matrix) -> Matrix {
        let width = b.ncols();
        let mut x = b.as_standard_layout().into_owned();
        let cells = x.as_slice_mut().expect("a copy in standard layout is contiguous");
        solve_lower(self.lower.view(), cells, width);
        solve_lower_transposed(self.lower.view(), cells, width);
        x
    }

    /// `A⁻¹`.
    pub fn inverse(&self) -> Matrix {
        self.solve_matrix(&Matrix::eye(self.lower.nrows()))
    }

    /// `log det A`.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.lower.diag().iter().map(|v| v.ln()).sum::<f64>()
    }

    /// An estimate of `‖A⁻¹‖₁`; times `‖A‖₁`, the condition number of `A`.
    pub fn inverse_norm(&self) -> f64 {
        let solve = |x: &mut [f64]| {
            solve_lower(self.lower.view(), x, 1);
            solve_lower_transposed(self.lower.view(), x, 1);
        };
        inverse_norm(self.lower.nrows(), solve, solve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, definite, normal};
    use ndarray::array;

    #[test]
    fn a_factor_by_hand() {
        let factor = Cholesky::of(array![[4.0, 0.0], [2.0, 5.0]].view()).unwrap();

        assert_eq!(factor.lower(), array![[2.0, 0.0], [1.0, 2.0]]);
        assert!((factor.log_determinant() - 16f64.ln()).abs() < 1e-15);
        assert_eq!(factor.inverse(), array![[0.3125, -0.125], [-0.125, 0.25]]);
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        assert_eq!(Cholesky::of(array![[1.0, 2.0], [2.0, 1.0]].view()), None);
        assert_eq!(Cholesky::of(array![[0.0]].view()), None);
        assert_eq!(Cholesky::of(array![[f64::NAN]].view()), None);
        assert_eq!(Cholesky::of(array![[f64::INFINITY]].view()), None);
        assert!(Cholesky::of(Matrix::zeros((0, 0)).view()).is_some());
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        for n in [1, 2, 5, 33, 150] {
            let a = definite(n, 7);
            let factor = Cholesky::of(a.view()).unwrap();
            let b = normal(n, 3, 8);

            assert_near(&factor.lower().dot(&factor.lower().t()), &a, 1e-11 * n as f64);
            assert_near(&a.dot(&factor.solve_matrix(&b)), &b, 1e-9);
            let x = factor.solve(b.column(0).to_vec().as_slice());
            assert_near(
                &a.dot(&Matrix::from_shape_vec((n, 1), x).unwrap()),
                &b.slice(ndarray::s![.., 0..1]).to_owned(),
                1e-9,
            );
        }
    }

    #[test]
    fn the_condition_number_is_estimated_within_a_factor_of_three() {
        for n in [1, 2, 3, 10, 60] {
            let factor = Cholesky::of(definite(n, n as u64).view()).unwrap();
            let inverse = factor.inverse();
            let norm = |m: &Matrix| {
                m.columns()
                    .into_iter()
                    .map(|c| c.iter().map(|v| v.abs()).sum::<f64>())
                    .fold(0.0, f64::max)
            };

            let ratio = factor.inverse_norm() / norm(&inverse);
            assert!((0.33..1.0 + 1e-9).contains(&ratio), "{ratio} at {n}");
        }
    }
}
