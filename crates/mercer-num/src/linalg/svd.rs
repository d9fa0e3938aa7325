//! Singular value decomposition `A = U Σ Vᵀ`.

use super::{from_faer, to_faer};
use crate::Matrix;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, Par};
use ndarray::ArrayView2;

/// The thin singular value decomposition.
#[derive(Clone, Debug, PartialEq)]
pub struct Svd {
    /// The left singular vectors, one per column.
    pub u: Matrix,
    /// The singular values, descending.
    pub values: Vec<f64>,
    /// The right singular vectors, one per column.
    pub v: Matrix,
}

impl Svd {
    /// Decomposes a matrix of any shape; `None` if it has entries that are not finite, or if the iteration does not
    /// converge, which has not been observed.
    pub fn of(a: ArrayView2<'_, f64>) -> Option<Svd> {
        if a.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let (m, n) = a.dim();
        let size = m.min(n);
        let a = to_faer(a);
        let (mut u, mut v) = (Mat::zeros(m, size), Mat::zeros(n, size));
        let mut values = Diag::zeros(size);
        let thin = ComputeSvdVectors::Thin;
        let scratch = svd_scratch::<f64>(m, n, thin, thin, Par::Seq, Default::default());
        svd(
            a.as_ref(),
            values.as_mut(),
            Some(u.as_mut()),
            Some(v.as_mut()),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        )
        .ok()?;
        let values = values.as_ref().column_vector().iter().copied().collect();
        Some(Svd { u: from_faer(u.as_ref()), values, v: from_faer(v.as_ref()) })
    }

    /// The ratio of the largest to the smallest singular value; infinite if the latter is zero.
    pub fn condition(&self) -> f64 {
        match (self.values.first(), self.values.last()) {
            (Some(first), Some(last)) => first / last,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, normal};
    use ndarray::array;

    #[test]
    fn singular_values_by_hand() {
        let svd = Svd::of(array![[0.0, 3.0], [-4.0, 0.0], [0.0, 0.0]].view()).unwrap();

        assert!((svd.values[0] - 4.0).abs() < 1e-14 && (svd.values[1] - 3.0).abs() < 1e-14);
        assert!((svd.condition() - 4.0 / 3.0).abs() < 1e-14);
        assert_eq!(Svd::of(array![[f64::NAN]].view()), None);
    }

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        for (m, n) in [(1, 1), (9, 4), (4, 9), (80, 80)] {
            let a = normal(m, n, 5);
            let svd = Svd::of(a.view()).unwrap();

            let scaled = &svd.u * &ndarray::Array1::from(svd.values.clone());
            assert_near(&scaled.dot(&svd.v.t()), &a, 1e-12);
            assert_near(&svd.u.t().dot(&svd.u), &Matrix::eye(m.min(n)), 1e-12);
            assert_near(&svd.v.t().dot(&svd.v), &Matrix::eye(m.min(n)), 1e-12);
            assert!(svd.values.is_sorted_by(|a, b| a >= b));
        }
    }
}
