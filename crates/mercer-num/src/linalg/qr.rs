//! QR factorization `A = Q R`, with or without column pivoting.

use super::{from_faer, inverse_norm, solve_upper, solve_upper_transposed, to_faer};
use crate::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::{col_pivoting, no_pivoting};
use faer::{Conj, Mat, Par};
use ndarray::ArrayView2;

/// The Householder factorization `A = Q R`.
#[derive(Clone, Debug)]
pub struct Qr {
    reflections: Reflections,
    r: Matrix,
}

impl Qr {
    /// Factors a matrix of any shape.
    pub fn of(a: ArrayView2<'_, f64>) -> Qr {
        use no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
        let (m, n) = a.dim();
        let mut basis = to_faer(a);
        let block = recommended_block_size::<f64>(m, n);
        let mut coefficients = Mat::zeros(block, m.min(n));
        let scratch = qr_in_place_scratch::<f64>(m, n, block, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        qr_in_place(
            basis.as_mut(),
            coefficients.as_mut(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let r = upper(&basis);
        Qr { reflections: Reflections { basis, coefficients }, r }
    }

    /// `R`, with zeros below the diagonal and `min(n_rows, n_columns)` rows.
    pub fn r(&self) -> &Matrix {
        &self.r
    }

    /// The thin `Q`: its columns that are multiplied by `R`.
    pub fn q(&self) -> Matrix {
        self.reflections.thin_q()
    }

    /// `Qᵀ B`, all rows of it. The rows below those of `R` are the components orthogonal to the columns of `A`.
    ///
    /// # Panics
    /// If `B` has another number of rows than `A`.
    pub fn transposed_times(&self, b: &Matrix) -> Matrix {
        self.reflections.transposed_times(b)
    }
}

/// The factorization `A P = Q R` with column pivoting: every step selects the column with the largest remaining norm,
/// so that the diagonal of `R` decreases and reveals the rank.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    reflections: Reflections,
    r: Matrix,
    order: Vec<usize>,
}

impl PivotedQr {
    /// Factors a matrix of any shape.
    pub fn of(a: ArrayView2<'_, f64>) -> PivotedQr {
        use col_pivoting::factor::{qr_in_place, qr_in_place_scratch};
        let (m, n) = a.dim();
        let mut basis = to_faer(a);
        let block = no_pivoting::factor::recommended_block_size::<f64>(m, n);
        let mut coefficients = Mat::zeros(block, m.min(n));
        let (mut order, mut back) = (vec![0usize; n], vec![0usize; n]);
        let scratch = qr_in_place_scratch::<usize, f64>(m, n, block, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        qr_in_place(
            basis.as_mut(),
            coefficients.as_mut(),
            &mut order,
            &mut back,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let r = upper(&basis);
        PivotedQr { reflections: Reflections { basis, coefficients }, r, order }
    }

    /// `R`, with zeros below the diagonal and `min(n_rows, n_columns)` rows.
    pub fn r(&self) -> &Matrix {
        &self.r
    }

    /// The column of `A` of each column of `R`.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The thin `Q`: its columns that are multiplied by `R`.
    pub fn q(&self) -> Matrix {
        self.reflections.thin_q()
    }

    /// `Qᵀ B`, all rows of it.
    ///
    /// # Panics
    /// If `B` has another number of rows than `A`.
    pub fn transposed_times(&self, b: &Matrix) -> Matrix {
        self.reflections.transposed_times(b)
    }

    /// The number of diagonal entries of `R` above `tolerance` times the largest.
    pub fn rank(&self, tolerance: f64) -> usize {
        let largest = self.r.diag().iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        self.r.diag().iter().take_while(|v| v.abs() > tolerance * largest).count()
    }

    /// An estimate of `‖R⁻¹‖₁` for square `R`; times `‖R‖₁`, its condition number.
    ///
    /// # Panics
    /// If `A` has fewer rows than columns.
    pub fn inverse_norm(&self) -> f64 {
        inverse_norm(
            self.r.ncols(),
            |x| solve_upper(self.r.view(), x, 1),
            |x| solve_upper_transposed(self.r.view(), x, 1),
        )
    }
}

fn upper(basis: &Mat<f64>) -> Matrix {
    let (m, n) = (basis.nrows(), basis.ncols());
    Matrix::from_shape_fn((m.min(n), n), |(i, j)| if i <= j { basis[(i, j)] } else { 0.0 })
}

/// `Q` as a product of Householder reflections.
#[derive(Clone, Debug)]
struct Reflections {
    basis: Mat<f64>,
    coefficients: Mat<f64>,
}

impl Reflections {
    fn thin_q(&self) -> Matrix {
        let (m, n) = (self.basis.nrows(), self.basis.ncols());
        let size = m.min(n);
        let mut q = Mat::from_fn(m, size, |i, j| if i == j { 1.0 } else { 0.0 });
        let scratch = apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
            m,
            self.coefficients.nrows(),
            size,
        );
        apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.basis.as_ref().subcols(0, size),
            self.coefficients.as_ref(),
            Conj::No,
            q.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        from_faer(q.as_ref())
    }

    fn transposed_times(&self, b: &Matrix) -> Matrix {
        let (m, n) = (self.basis.nrows(), self.basis.ncols());
        assert_eq!(b.nrows(), m, "as many rows as the factored matrix");
        let mut out = to_faer(b.view());
        let scratch = apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<f64>(
            m,
            self.coefficients.nrows(),
            b.ncols(),
        );
        apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
            self.basis.as_ref().subcols(0, m.min(n)),
            self.coefficients.as_ref(),
            Conj::No,
            out.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        from_faer(out.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, normal};
    use ndarray::{Axis, array, s};

    #[test]
    fn a_factorization_by_hand() {
        let qr = Qr::of(array![[3.0, 1.0], [4.0, 7.0]].view());

        // The norm of the first column, and the remainder of the second: 25/5 and 17/5.
        let r = qr.r().mapv(f64::abs);
        assert_near(&r, &array![[5.0, 6.2], [0.0, 3.4]], 1e-14);
    }

    #[test]
    fn factors_multiply_to_the_matrix_and_q_is_orthogonal() {
        for (m, n) in [(1, 1), (3, 3), (40, 7), (7, 40), (300, 70)] {
            let a = normal(m, n, 1);
            let (plain, pivoted) = (Qr::of(a.view()), PivotedQr::of(a.view()));
            let size = m.min(n);

            assert_near(&plain.q().dot(plain.r()), &a, 1e-12);
            assert_near(&plain.q().t().dot(&plain.q()), &Matrix::eye(size), 1e-13);
            assert_near(&pivoted.q().dot(pivoted.r()), &a.select(Axis(1), pivoted.order()), 1e-12);
            let top = plain.transposed_times(&a);
            assert_near(&top.slice(s![..size, ..]).to_owned(), plain.r(), 1e-12);
            let top = pivoted.transposed_times(&a.select(Axis(1), pivoted.order()));
            assert_near(&top.slice(s![..size, ..]).to_owned(), pivoted.r(), 1e-12);
        }
    }

    #[test]
    fn pivoting_reveals_the_rank() {
        let thin_q = normal(30, 4, 2);
        let mixed = thin_q.dot(&normal(4, 9, 3));

        let qr = PivotedQr::of(mixed.view());

        assert_eq!(qr.rank(1e-10), 4);
        assert_eq!(PivotedQr::of(thin_q.view()).rank(1e-10), 4);
        assert_eq!(PivotedQr::of(Matrix::zeros((3, 2)).view()).rank(1e-10), 0);
        assert!(qr.inverse_norm() > 1e10);
    }
}
