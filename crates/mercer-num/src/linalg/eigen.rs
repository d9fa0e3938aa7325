//! Eigendecomposition `A = V Λ Vᵀ` of a symmetric matrix.

use super::{from_faer, to_faer};
use crate::Matrix;
use crate::parallel::prelude::*;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag::tridiag_in_place;
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as left_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply_left,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Conj, Mat, Par};
use ndarray::ArrayView2;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Matrices of at least so many rows are decomposed on all threads.
const MIN_PARALLEL_ROWS: usize = 256;
/// Eigenvectors that one thread transforms at a time.
const VECTORS_PER_PANEL: usize = 128;

/// Decompositions of at least so many rows take long enough to be interrupted.
const MIN_INTERRUPTIBLE_ROWS: usize = 600;
/// The interval in which an interruptible decomposition asks whether to go on.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The eigenvalues and eigenvectors of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricEigen {
    /// The eigenvalues, ascending.
    pub values: Vec<f64>,
    /// The eigenvectors, one per column, each with a positive entry of largest magnitude.
    pub vectors: Matrix,
}

impl SymmetricEigen {
    /// Decomposes the lower triangle of a square matrix; `None` if it has entries that are not finite, or if the
    /// iteration does not converge, which has not been observed.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn of(a: ArrayView2<'_, f64>) -> Option<SymmetricEigen> {
        SymmetricEigen::of_while(a, || true)
    }

    /// The same, or `None` soon after `go_on` returned false. It is called from time to time if the matrix is large. The
    /// tridiagonalization cannot be stopped from outside: it runs on a thread of its own, which is left to end alone.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn of_while(a: ArrayView2<'_, f64>, go_on: impl FnMut() -> bool) -> Option<SymmetricEigen> {
        assert_eq!(a.nrows(), a.ncols(), "only square matrices have eigenvalues");
        if a.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let (values, mut vectors) = match a.nrows() {
            n if n < MIN_PARALLEL_ROWS => decompose_serial(to_faer(a))?,
            n if n < MIN_INTERRUPTIBLE_ROWS => Tridiagonal::of(to_faer(a))?.eigen(),
            _ => interruptible(to_faer(a), go_on)?.eigen(),
        };
        for mut vector in vectors.col_iter_mut() {
            let cells = vector.rb().iter();
            let largest = cells.fold(0.0, |a: f64, v| if v.abs() > a.abs() { *v } else { a });
            if largest < 0.0 {
                vector.rb_mut().iter_mut().for_each(|v| *v = -*v);
            }
        }
        let vectors = from_faer(vectors.as_ref());
        Some(SymmetricEigen { values, vectors })
    }
}

type Parts = (Vec<f64>, Mat<f64>);

fn decompose_serial(a: Mat<f64>) -> Option<Parts> {
    let n = a.nrows();
    let (mut values, mut vectors) = (Diag::zeros(n), Mat::zeros(n, n));
    let yes = ComputeEigenvectors::Yes;
    let scratch = self_adjoint_evd_scratch::<f64>(n, yes, Par::Seq, Default::default());
    self_adjoint_evd(
        a.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    Some((values.as_ref().column_vector().iter().copied().collect(), vectors))
}

/// The same in three steps, the last on all threads: the tridiagonalization `A = Q T Qᵀ`, the eigenvectors of `T`, and
/// the product of `Q` with panels of them.
struct Tridiagonal {
    /// The Householder vectors of `Q`, below the diagonal.
    a: Mat<f64>,
    reflections: Mat<f64>,
    /// The eigenvalues, and the eigenvectors of `T`.
    values: Diag<f64>,
    vectors: Mat<f64>,
}

/// The first two steps on a thread of their own, as long as `go_on` agrees.
fn interruptible(a: Mat<f64>, mut go_on: impl FnMut() -> bool) -> Option<Tridiagonal> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(Tridiagonal::of(a)).ok());
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Timeout) if go_on() => {}
            Err(_) => return None,
        }
    }
}

impl Tridiagonal {
    fn of(mut a: Mat<f64>) -> Option<Tridiagonal> {
        let n = a.nrows();
        let size = recommended_block_size::<f64>(n, n);
        let mut reflections = Mat::zeros(size, n - 1);
        let yes = ComputeEigenvectors::Yes;
        let scratch = self_adjoint_evd_scratch::<f64>(n, yes, Par::Seq, Default::default());
        let mut buffer = MemBuffer::new(scratch);
        tridiag_in_place(
            a.as_mut(),
            reflections.as_mut(),
            Par::Seq,
            MemStack::new(&mut buffer),
            Default::default(),
        );
        let (mut values, mut vectors) = (Diag::zeros(n), Mat::zeros(n, n));
        let (mut diagonal, mut beside) = (Diag::zeros(n), Diag::zeros(n));
        (0..n).for_each(|i| diagonal[i] = a[(i, i)]);
        (1..n).for_each(|i| beside[i - 1] = a[(i, i - 1)]);
        tridiagonal_self_adjoint_evd(
            diagonal.as_ref(),
            beside.as_ref(),
            values.as_mut(),
            Some(vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut buffer),
            Default::default(),
        )
        .ok()?;
        Some(Tridiagonal { a, reflections, values, vectors })
    }

    fn eigen(self) -> Parts {
        let Tridiagonal { a, reflections, values, mut vectors } = self;
        let (n, size) = (a.nrows(), reflections.nrows());
        let basis = a.submatrix(1, 0, n - 1, n - 1);
        let (mut panels, mut rest) = (Vec::new(), vectors.as_mut());
        while rest.ncols() > 0 {
            let some = VECTORS_PER_PANEL.min(rest.ncols());
            let (panel, others) = rest.split_at_col_mut(some);
            panels.push(panel);
            rest = others;
        }
        panels.into_par_iter().for_each(|some| {
            let m = some.ncols();
            let scratch = left_scratch::<f64>(n - 1, size, m);
            apply_left(
                basis,
                reflections.as_ref(),
                Conj::No,
                some.subrows_mut(1, n - 1),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        });
        (values.as_ref().column_vector().iter().copied().collect(), vectors)
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
    fn a_large_decomposition_ends_soon_after_it_is_stopped() {
        let a = normal(MIN_INTERRUPTIBLE_ROWS, MIN_INTERRUPTIBLE_ROWS, 2);
        let a = &a + &a.t();
        let mut polls = 0;

        let stopped = SymmetricEigen::of_while(a.view(), || {
            polls += 1;
            false
        });

        // A fast machine may be done before the first poll.
        assert!(polls <= 1 && stopped.is_none() == (polls == 1));
        assert_eq!(SymmetricEigen::of_while(a.view(), || true), SymmetricEigen::of(a.view()));
    }

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        for n in [1, 2, 9, 100, 300] {
            let a = normal(n, n, 6);
            let a = &a + &a.t();
            let eigen = SymmetricEigen::of(a.view()).unwrap();

            let scaled = &eigen.vectors * &ndarray::Array1::from(eigen.values.clone());
            assert_near(&scaled.dot(&eigen.vectors.t()), &a, 1e-10);
            assert_near(&eigen.vectors.t().dot(&eigen.vectors), &Matrix::eye(n), 1e-12);
            assert!(eigen.values.is_sorted());
        }
    }
}
