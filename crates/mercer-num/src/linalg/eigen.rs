//! `A = V Λ Vᵀ` for symmetric `A`.

use super::{from_faer, to_faer};
use crate::Matrix;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};
use ndarray::ArrayView2;

/// The eigenvalues and eigenvectors of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricEigen {
    /// The eigenvalues, rising.
    pub values: Vec<f64>,
    /// The eigenvectors, one a column, each with its entry of largest size above zero.
    pub vectors: Matrix,
}

impl SymmetricEigen {
    /// Decomposes the lower triangle of a square matrix; `None` where it holds numbers that are not
    /// finite, or, which has not been seen, where the iteration does not settle.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn of(a: ArrayView2<'_, f64>) -> Option<SymmetricEigen> {
        assert_eq!(a.nrows(), a.ncols(), "only square matrices have eigenvalues");
        if a.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let n = a.nrows();
        let a = to_faer(a);
        let mut vectors = Mat::zeros(n, n);
        let mut values = Diag::zeros(n);
        let scratch = self_adjoint_evd_scratch::<f64>(
            n,
            ComputeEigenvectors::Yes,
            Par::Seq,
            Default::default(),
        );
        self_adjoint_evd(
            a.as_ref(),
            values.as_mut(),
            Some(vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        )
        .ok()?;
        let values = values.as_ref().column_vector().iter().copied().collect();
        let mut vectors = from_faer(vectors.as_ref());
        for mut vector in vectors.columns_mut() {
            let largest =
                vector.iter().fold(0.0, |a: f64, v| if v.abs() > a.abs() { *v } else { a });
            if largest < 0.0 {
                vector.mapv_inplace(|v| -v);
            }
        }
        Some(SymmetricEigen { values, vectors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, normal};
    use ndarray::array;

    #[test]
    fn eigenvalues_by_hand() {
        let eigen = SymmetricEigen::of(array![[2.0, 9.0], [1.0, 2.0]].view()).unwrap();

        let half = 0.5f64.sqrt();
        assert!((eigen.values[0] - 1.0).abs() < 1e-14 && (eigen.values[1] - 3.0).abs() < 1e-14);
        assert_near(&eigen.vectors.mapv(f64::abs), &array![[half, half], [half, half]], 1e-14);
        assert!(eigen.vectors[[0, 1]] > 0.0 && eigen.vectors[[1, 1]] > 0.0);
    }

    #[test]
    fn the_parts_multiply_to_the_matrix() {
        for n in [1, 2, 9, 100] {
            let a = normal(n, n, 6);
            let a = &a + &a.t();
            let eigen = SymmetricEigen::of(a.view()).unwrap();

            let scaled = &eigen.vectors * &ndarray::Array1::from(eigen.values.clone());
            assert_near(&scaled.dot(&eigen.vectors.t()), &a, 1e-11);
            assert_near(&eigen.vectors.t().dot(&eigen.vectors), &Matrix::eye(n), 1e-12);
            assert!(eigen.values.is_sorted());
        }
    }
}
