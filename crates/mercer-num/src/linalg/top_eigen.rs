//! The largest eigenvalues of a symmetric matrix, from products with blocks of vectors.
//!
//! Block Lanczos with every vector kept orthogonal to all others, restarted from the best vectors so far
//! (Golub & Underwood 1977). A pair counts as found when `‖Av − λv‖` says so, not when it stands still.

use super::{Qr, SymmetricEigen, multiply};
use crate::Matrix;
use crate::random::Random;
use ndarray::{Axis, concatenate, s};

/// Vectors beside those asked for: the farther the next eigenvalue, the faster the rest are found.
const BESIDE: usize = 8;
/// Products of a block before the basis starts anew.
const STEPS: usize = 5;
/// Restarts before what there is must do.
const RESTARTS: usize = 60;

/// Some of the largest eigenvalues of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct TopEigen {
    /// The eigenvalues, falling.
    pub values: Vec<f64>,
    /// Their vectors, one a column.
    pub vectors: Matrix,
    /// `‖Av − λv‖` of each.
    pub residuals: Vec<f64>,
    /// Products with blocks of vectors.
    pub products: usize,
}

impl TopEigen {
    /// The `k` largest eigenvalues of a matrix of size `n` that `apply` multiplies with, to residuals below
    /// `tolerance` times the largest. `go_on` is asked before every product; at its no, what there is is
    /// handed back, which is `None` before the first product.
    ///
    /// # Panics
    /// If there are not as many as `k + 8` rows.
    pub fn of(
        n: usize,
        k: usize,
        apply: impl Fn(&Matrix) -> Matrix,
        tolerance: f64,
        mut go_on: impl FnMut() -> bool,
    ) -> Option<TopEigen> {
        let width = k + BESIDE;
        assert!(width <= n, "a block of fewer vectors than rows");
        let mut random = Random::new(1);
        let mut block = orthonormal(&Matrix::from_shape_simple_fn((n, width), || random.normal()));
        let mut best: Option<TopEigen> = None;
        let mut products = 0;
        for _ in 0..RESTARTS {
            let (mut basis, mut images) = (Matrix::zeros((n, 0)), Matrix::zeros((n, 0)));
            for step in 0..STEPS {
                if !go_on() {
                    return best;
                }
                let image = apply(&block);
                products += 1;
                basis = concatenate![Axis(1), basis, block];
                images = concatenate![Axis(1), images, image];
                let (found, best_vectors) = ritz(&basis, &images, (k, width), products)?;
                let scale = found.values[0].abs();
                let done = found.residuals.iter().all(|r| *r <= tolerance * scale);
                let full = step + 1 == STEPS || basis.ncols() + width > n;
                block = if full { orthonormal(&best_vectors) } else { image };
                best = Some(found);
                if done {
                    return best;
                }
                if full {
                    break;
                }
                // Twice is enough (Kahan, in Parlett 1998).
                for _ in 0..2 {
                    let told = multiply(basis.t(), block.view());
                    block = orthonormal(&(block - multiply(basis.view(), told.view())));
                }
            }
        }
        best
    }
}

/// The best pairs in a subspace with the given basis (Rayleigh and Ritz), and a few vectors more.
fn ritz(
    basis: &Matrix,
    images: &Matrix,
    (k, width): (usize, usize),
    products: usize,
) -> Option<(TopEigen, Matrix)> {
    let small = multiply(basis.t(), images.view());
    let small = (&small + &small.t()) * 0.5;
    let eigen = SymmetricEigen::of(small.view())?;
    let m = eigen.values.len();
    let order: Vec<usize> = (0..width).map(|c| m - 1 - c).collect();
    let chosen = eigen.vectors.select(Axis(1), &order);
    let block = multiply(basis.view(), chosen.view());
    let image = multiply(images.view(), chosen.view());
    let values: Vec<f64> = order.iter().take(k).map(|c| eigen.values[*c]).collect();
    let vectors = block.slice(s![.., ..k]).to_owned();
    let off = &image.slice(s![.., ..k]) - &(&vectors * &ndarray::ArrayView1::from(&values));
    let norm = |c: usize| off.column(c).iter().map(|v| v * v).sum::<f64>().sqrt();
    let residuals = (0..k).map(norm).collect();
    Some((TopEigen { residuals, values, vectors, products }, block))
}

fn orthonormal(a: &Matrix) -> Matrix {
    Qr::of(a.view()).q()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::normal;

    #[test]
    fn the_largest_eigenvalues_are_those_of_the_whole_decomposition() {
        let factor = normal(200, 40, 3);
        let a = multiply(factor.view(), factor.t());

        let top = TopEigen::of(200, 5, |v| multiply(a.view(), v.view()), 1e-12, || true).unwrap();

        let whole = SymmetricEigen::of(a.view()).unwrap();
        for c in 0..5 {
            let expected = whole.values[199 - c];
            assert!((top.values[c] - expected).abs() < 1e-11 * whole.values[199]);
            let cosine = top.vectors.column(c).dot(&whole.vectors.column(199 - c));
            assert!((cosine.abs() - 1.0).abs() < 1e-10);
        }
        assert!(top.residuals.iter().all(|r| *r <= 1e-12 * whole.values[199]));
    }

    #[test]
    fn a_matrix_of_small_rank_has_zeros_beyond_it() {
        let factor = normal(100, 3, 4);
        let a = multiply(factor.view(), factor.t());

        let top = TopEigen::of(100, 6, |v| multiply(a.view(), v.view()), 1e-12, || true).unwrap();

        assert!(top.values[3..].iter().all(|v| v.abs() < 1e-10 * top.values[0]));
    }
}
