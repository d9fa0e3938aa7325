//! The largest eigenvalues of a symmetric matrix by the block Lanczos method.
//!
//! All basis vectors are orthogonalized against each other, and the iteration is restarted from the best Ritz vectors
//! (Golub & Underwood 1977; Wu & Simon 2000). Blocks are narrow: a basis of many small steps contains higher powers of
//! the matrix than one of few wide steps, for the same arithmetic. An eigenpair has converged when the residual `‖Av −
//! λv‖` is below the tolerance.

use super::{Qr, SymmetricEigen, multiply};
use crate::Matrix;
use crate::random::Random;
use ndarray::{ArrayView2, s};

/// Vectors per block, multiplied at once.
const BLOCK_VECTORS: usize = 12;
/// Minimum and maximum number of products between two convergence checks, each of which decomposes the projected
/// matrix.
const MIN_PRODUCTS_BETWEEN_CHECKS: usize = 2;
const MAX_PRODUCTS_BETWEEN_CHECKS: usize = 8;
/// Maximum number of products.
const MAX_PRODUCTS: usize = 1000;

/// Some of the largest eigenvalues of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct TopEigen {
    /// The eigenvalues, descending.
    pub values: Vec<f64>,
    /// The eigenvectors, one per column.
    pub vectors: Matrix,
    /// `‖Av − λv‖` of each.
    pub residuals: Vec<f64>,
    /// Products with blocks of vectors.
    pub products: usize,
}

impl TopEigen {
    /// The minimum size of a matrix for the `k` largest eigenvalues.
    pub fn min_rows(k: usize) -> usize {
        k + 3 * BLOCK_VECTORS
    }

    /// The `k` largest eigenvalues of a matrix of size `n` that `apply` multiplies with, to residuals below `tolerance`
    /// times the largest eigenvalue. `go_on` is called before every product; if it returns false, the current
    /// approximation is the result, or `None` before there are `k` vectors.
    ///
    /// # Panics
    /// If there are fewer rows than [`TopEigen::min_rows`].
    pub fn of(
        n: usize,
        k: usize,
        apply: impl Fn(&Matrix) -> Matrix,
        tolerance: f64,
        mut go_on: impl FnMut() -> bool,
    ) -> Option<TopEigen> {
        assert!(n >= TopEigen::min_rows(k), "the matrix is too small for {k} eigenvalues");
        let mut random = Random::new(1);
        let mut block =
            orthonormal(&Matrix::from_shape_simple_fn((n, BLOCK_VECTORS), || random.normal()));
        let mut space = KrylovSpace::new(n, (8 * (k + BLOCK_VECTORS)).min(n));
        // The product of the next check, and the largest residual at the last one.
        let (mut next_check, mut before) = (0, (0, f64::INFINITY));
        for products in 1..=MAX_PRODUCTS {
            let last = !go_on() || products == MAX_PRODUCTS;
            if !last {
                block = space.grow(&block, &apply);
            }
            let early = space.used < k + BLOCK_VECTORS || products < next_check;
            if !last && early && !space.full() {
                continue;
            }
            let ritz = space.ritz(k)?;
            let good = |residuals: &[f64]| {
                residuals.iter().all(|r| *r <= tolerance * ritz.values[0].abs())
            };
            let worst = ritz.residuals.iter().fold(0.0, |a: f64, r| a.max(*r));
            let off = worst / ritz.values[0].abs();
            next_check = products + wait(before, (products, off), tolerance);
            before = (products, off);
            if last || good(&ritz.residuals) {
                let found = space.measured(&ritz, k, &apply, products);
                if last || good(&found.residuals) {
                    return Some(found);
                }
            }
            if space.full() {
                space.restart(&ritz, k + BLOCK_VECTORS);
            }
        }
        None
    }
}

/// The number of products until the next check: half of those that the observed rate of convergence predicts.
fn wait(before: (usize, f64), now: (usize, f64), tolerance: f64) -> usize {
    let fall = (before.1 / now.1).ln() / (now.0 - before.0) as f64;
    let left = (now.1 / tolerance).ln() / fall;
    // Residuals that do not decrease, or are NaN, are checked again soon.
    if left > 0.0 {
        (left / 2.0).clamp(MIN_PRODUCTS_BETWEEN_CHECKS as f64, MAX_PRODUCTS_BETWEEN_CHECKS as f64)
            as usize
    } else {
        MIN_PRODUCTS_BETWEEN_CHECKS
    }
}

/// The Krylov space: `A · basis = basis · small + next · tail` with an orthonormal basis, where the tail belongs to the
/// last block.
struct KrylovSpace {
    basis: Matrix,
    small: Matrix,
    tail: Matrix,
    used: usize,
}

/// The best eigenpairs in the space (Rayleigh-Ritz), the largest first.
struct Ritz {
    values: Vec<f64>,
    /// Their vectors in the basis, one per column.
    within: Matrix,
    /// `‖Av − λv‖` of the first pairs, computed from the tail.
    residuals: Vec<f64>,
}

impl KrylovSpace {
    fn new(n: usize, most: usize) -> KrylovSpace {
        KrylovSpace {
            basis: Matrix::zeros((n, most)),
            small: Matrix::zeros((most, most)),
            tail: Matrix::zeros((BLOCK_VECTORS, BLOCK_VECTORS)),
            used: 0,
        }
    }

    fn full(&self) -> bool {
        self.used + BLOCK_VECTORS > self.basis.ncols()
    }

    fn basis(&self) -> ArrayView2<'_, f64> {
        self.basis.slice(s![.., ..self.used])
    }

    /// Adds a block to the basis and returns the next one: the orthonormalized new part of its product.
    fn grow(&mut self, block: &Matrix, apply: impl Fn(&Matrix) -> Matrix) -> Matrix {
        let (before, after) = (self.used, self.used + BLOCK_VECTORS);
        self.basis.slice_mut(s![.., before..after]).assign(block);
        self.used = after;
        let image = apply(block);
        let projected = multiply(self.basis().t(), image.view());
        self.small.slice_mut(s![..after, before..after]).assign(&projected);
        self.small.slice_mut(s![before..after, ..after]).assign(&projected.t());
        let mut next = orthonormal(&(&image - &multiply(self.basis(), projected.view())));
        // Two orthogonalizations are enough (Kahan, in Parlett 1998).
        let rest = multiply(self.basis().t(), next.view());
        next = orthonormal(&(next - multiply(self.basis(), rest.view())));
        self.tail = multiply(next.t(), image.view());
        next
    }

    /// `None` if there are fewer than `k` vectors, or values are not finite.
    fn ritz(&self, k: usize) -> Option<Ritz> {
        let m = self.used;
        if m < k {
            return None;
        }
        let eigen = SymmetricEigen::of(self.small.slice(s![..m, ..m]))?;
        let within = eigen.vectors.slice(s![.., ..;-1]).to_owned();
        let beyond = multiply(self.tail.view(), within.slice(s![m - BLOCK_VECTORS.., ..k]));
        let residuals = beyond.columns().into_iter().map(|c| c.dot(&c).sqrt()).collect();
        Some(Ritz { values: eigen.values.iter().rev().copied().collect(), within, residuals })
    }

    fn vectors(&self, ritz: &Ritz, count: usize) -> Matrix {
        multiply(self.basis(), ritz.within.slice(s![.., ..count]))
    }

    /// Restarts with the best Ritz vectors; the next block determines their coupling to it.
    fn restart(&mut self, ritz: &Ritz, keep: usize) {
        let best = self.vectors(ritz, keep);
        self.basis.slice_mut(s![.., ..keep]).assign(&best);
        self.small.fill(0.0);
        for (i, value) in ritz.values.iter().take(keep).enumerate() {
            self.small[[i, i]] = *value;
        }
        self.used = keep;
    }

    /// The first pairs, with residuals from an additional product.
    fn measured(
        &self,
        ritz: &Ritz,
        k: usize,
        apply: impl Fn(&Matrix) -> Matrix,
        products: usize,
    ) -> TopEigen {
        let (values, vectors) = (ritz.values[..k].to_vec(), self.vectors(ritz, k));
        let off = apply(&vectors) - &vectors * &ndarray::ArrayView1::from(&values);
        let residuals = off.columns().into_iter().map(|c| c.dot(&c).sqrt()).collect();
        TopEigen { values, vectors, residuals, products }
    }
}

fn orthonormal(a: &Matrix) -> Matrix {
    Qr::of(a.view()).q()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::normal;

    #[test]
    fn eigenvalues_match_the_full_decomposition() {
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
    fn eigenvalues_beyond_the_rank_are_zero() {
        let factor = normal(100, 3, 4);
        let a = multiply(factor.view(), factor.t());

        let top = TopEigen::of(100, 6, |v| multiply(a.view(), v.view()), 1e-12, || true).unwrap();

        assert!(top.values[3..].iter().all(|v| v.abs() < 1e-10 * top.values[0]));
    }
}
