//! Pivoted Cholesky factorization `Pᵀ A P = L Lᵀ` in double-double precision, for symmetric positive semidefinite `A`
//! of any rank.

use crate::Matrix;
use crate::double_double::{DoubleDouble, dot};
use crate::parallel::prelude::*;

/// Rows per task.
const ROWS_PER_TASK: usize = 16;

/// A symmetric matrix in double-double precision; only the lower triangles are used.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubleDoubleMatrix {
    /// The values rounded to doubles.
    pub high: Matrix,
    /// The rounding errors.
    pub low: Matrix,
}

impl DoubleDoubleMatrix {
    /// The cell in row `i` and column `j` of the lower triangle.
    pub fn at(&self, i: usize, j: usize) -> DoubleDouble {
        let at = if i >= j { [i, j] } else { [j, i] };
        DoubleDouble { high: self.high[at], low: self.low[at] }
    }

    /// Sets the cell in row `i` and column `j` of the lower triangle.
    pub fn set(&mut self, i: usize, j: usize, x: DoubleDouble) {
        (self.high[[i, j]], self.low[[i, j]]) = (x.high, x.low);
    }

    /// A matrix of zeros.
    pub fn zeros(n: usize) -> DoubleDoubleMatrix {
        DoubleDoubleMatrix { high: Matrix::zeros((n, n)), low: Matrix::zeros((n, n)) }
    }

    /// `A x`.
    pub fn times(&self, x: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let n = self.high.nrows();
        let mut out = vec![DoubleDouble::ZERO; n];
        for i in 0..n {
            for j in 0..i {
                let a = self.at(i, j);
                out[i] = out[i] + a * x[j];
                out[j] = out[j] + a * x[i];
            }
            out[i] = out[i] + self.at(i, i) * x[i];
        }
        out
    }
}

/// The factor, truncated at the rank.
#[derive(Clone, Debug)]
pub struct DoubleDoubleCholesky {
    /// The row of `A` of each row of `L`.
    order: Vec<usize>,
    rank: usize,
    /// `L`, row-major, with rows in pivot order.
    lower: DoubleDoubleMatrix,
}

impl DoubleDoubleCholesky {
    /// Factors a matrix. A column whose pivot does not exceed its tolerance does not increase the rank.
    ///
    /// # Panics
    /// Unless there is one tolerance per column.
    pub fn of(a: &DoubleDoubleMatrix, tolerances: &[f64]) -> DoubleDoubleCholesky {
        let n = a.high.nrows();
        assert_eq!(tolerances.len(), n, "one tolerance per column");
        let mut order: Vec<usize> = (0..n).collect();
        let mut rest: Vec<DoubleDouble> = (0..n).map(|i| a.at(i, i)).collect();
        let mut lower = DoubleDoubleMatrix::zeros(n);
        let mut rank = 0;
        for k in 0..n {
            // The largest ratio of remaining diagonal entry to tolerance; the first on ties.
            let mut best = k;
            let excess = |p: usize| rest[order[p]].high / tolerances[order[p]];
            for p in k + 1..n {
                if excess(p) > excess(best) {
                    best = p;
                }
            }
            // Also ends if the ratio is NaN.
            if excess(best).partial_cmp(&1.0) != Some(std::cmp::Ordering::Greater) {
                break;
            }
            order.swap(k, best);
            swap_rows(&mut lower, k, best);
            let pivot = rest[order[k]].sqrt();
            lower.set(k, k, pivot);
            let below = column_below(a, &lower, &order, k, pivot);
            for (i, x) in (k + 1..n).zip(below) {
                lower.set(i, k, x);
                rest[order[i]] = rest[order[i]] - x * x;
            }
            rank = k + 1;
        }
        DoubleDoubleCholesky { order, rank, lower }
    }

    /// The number of pivots above their tolerance.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The row of `A` of each row of the factor; the pivots come first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The factor rounded to doubles: one row per row of `A` in pivot order, one column per pivot.
    pub fn lower(&self) -> Matrix {
        let cells = ndarray::s![.., ..self.rank];
        &self.lower.high.slice(cells) + &self.lower.low.slice(cells)
    }

    /// `L₁₁⁻¹ b` for the pivot rows of `b`; `b` and the result are in pivot order.
    pub fn forward(&self, b: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let mut x: Vec<DoubleDouble> = Vec::with_capacity(self.rank);
        let (mut high, mut low) = (vec![0.0; self.rank], vec![0.0; self.rank]);
        for i in 0..self.rank {
            let (lh, ll) = self.row(i, i);
            let value = (b[i] - dot(lh, ll, &high[..i], &low[..i])) / self.lower.at(i, i);
            (high[i], low[i]) = (value.high, value.low);
            x.push(value);
        }
        x
    }

    /// `L₁₁⁻ᵀ b`.
    pub fn backward(&self, b: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let mut x = b.to_vec();
        for i in (0..self.rank).rev() {
            x[i] = x[i] / self.lower.at(i, i);
            for k in 0..i {
                x[k] = x[k] - self.lower.at(i, k) * x[i];
            }
        }
        x
    }

    /// `L₁₁⁻¹` rounded to doubles, in pivot order. Its transpose times itself is the inverse of the pivot rows and
    /// columns of `A`.
    pub fn inverse_lower(&self) -> Matrix {
        let r = self.rank;
        let columns: Vec<Vec<f64>> = (0..r)
            .into_par_iter()
            .map(|j| {
                let mut unit = vec![DoubleDouble::ZERO; r];
                unit[j] = DoubleDouble::from(1.0);
                self.forward(&unit).iter().map(|x| x.value()).collect()
            })
            .collect();
        Matrix::from_shape_fn((r, r), |(i, j)| columns[j][i])
    }

    /// `log det` of the pivot rows and columns of `A`.
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.rank).map(|i| self.lower.at(i, i).high.ln()).sum::<f64>()
    }

    fn row(&self, i: usize, n: usize) -> (&[f64], &[f64]) {
        row(&self.lower, i, n)
    }
}

/// The first `n` cells of a row.
fn row(a: &DoubleDoubleMatrix, i: usize, n: usize) -> (&[f64], &[f64]) {
    let width = a.high.ncols();
    let cells = |m: &'_ Matrix| -> std::ops::Range<usize> {
        debug_assert!(m.is_standard_layout());
        i * width..i * width + n
    };
    let range = cells(&a.high);
    let high = a.high.as_slice().unwrap_or_default();
    let low = a.low.as_slice().unwrap_or_default();
    (&high[range.clone()], &low[range])
}

/// The column below pivot `k`, row by row on all threads.
fn column_below(
    a: &DoubleDoubleMatrix,
    lower: &DoubleDoubleMatrix,
    order: &[usize],
    k: usize,
    pivot: DoubleDouble,
) -> Vec<DoubleDouble> {
    let (kh, kl) = row(lower, k, k);
    (k + 1..order.len())
        .into_par_iter()
        .with_min_len(ROWS_PER_TASK)
        .map(|i| {
            let (ih, il) = row(lower, i, k);
            (a.at(order[i], order[k]) - dot(ih, il, kh, kl)) / pivot
        })
        .collect()
}

fn swap_rows(a: &mut DoubleDoubleMatrix, i: usize, j: usize) {
    if i != j {
        for m in [&mut a.high, &mut a.low] {
            for k in 0..m.ncols() {
                m.swap([i, k], [j, k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::{assert_near, definite};

    fn double_double(a: &Matrix) -> DoubleDoubleMatrix {
        DoubleDoubleMatrix { high: a.clone(), low: Matrix::zeros(a.raw_dim()) }
    }

    /// The Hilbert matrix, whose condition number at size 12 is 1.7e16.
    fn hilbert(n: usize) -> DoubleDoubleMatrix {
        let mut out = DoubleDoubleMatrix::zeros(n);
        for i in 0..n {
            for j in 0..=i {
                out.set(i, j, DoubleDouble::from(1.0) / DoubleDouble::from((i + j + 1) as f64));
            }
        }
        out
    }

    #[test]
    fn a_matrix_too_ill_conditioned_for_doubles_is_inverted() {
        let factor = DoubleDoubleCholesky::of(&hilbert(12), &[1e-30; 12]);

        assert_eq!(factor.rank(), 12);
        let inverse = factor.inverse_lower();
        let index = |i| factor.order().iter().position(|p| *p == i).unwrap();
        // The corners of the inverse of the n x n Hilbert matrix: n² and (2n−1) C(2n−2, n−1)².
        let corner = |i: usize| inverse.column(index(i)).iter().map(|v| v * v).sum::<f64>();
        assert!((corner(0) / 144.0 - 1.0).abs() < 1e-14);
        assert!((corner(11) / (23.0 * 705_432f64.powi(2)) - 1.0).abs() < 1e-14);
        assert!(solved(&hilbert(12), &factor) < 1e-13);
    }

    /// The largest entry of `A x − 1` where `x` solves `A x = 1`.
    fn solved(a: &DoubleDoubleMatrix, factor: &DoubleDoubleCholesky) -> f64 {
        let n = factor.order().len();
        let z = factor.backward(&factor.forward(&vec![DoubleDouble::from(1.0); n]));
        let mut x = vec![DoubleDouble::ZERO; n];
        factor.order().iter().zip(z).for_each(|(index, z)| x[*index] = z);
        a.times(&x).iter().map(|v| (*v - DoubleDouble::from(1.0)).value().abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        for n in [1, 2, 9, 40] {
            let a = definite(n, 3);
            let factor = DoubleDoubleCholesky::of(&double_double(&a), &vec![1e-20; n]);

            let lower = factor.lower();
            let product = lower.dot(&lower.t());
            let order = factor.order();
            let transposed = Matrix::from_shape_fn((n, n), |(i, j)| a[[order[i], order[j]]]);
            assert_near(&product, &transposed, 1e-12 * n as f64);
            assert!(solved(&double_double(&a), &factor) < 1e-25);
        }
    }

    #[test]
    fn the_numerical_rank_is_found() {
        let sparse = crate::linalg::tests::normal(3, 7, 4);
        let a = sparse.t().dot(&sparse);

        assert_eq!(DoubleDoubleCholesky::of(&double_double(&a), &[1e-12; 7]).rank(), 3);
        assert_eq!(
            DoubleDoubleCholesky::of(&double_double(&Matrix::zeros((2, 2))), &[1e-12; 2]).rank(),
            0
        );
    }
}
