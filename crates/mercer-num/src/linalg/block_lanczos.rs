//! The largest eigenvalues of a symmetric matrix, from products with blocks of vectors.
//!
//! Block Lanczos with every vector kept orthogonal to all others, restarted from the best vectors so far
//! (Golub & Underwood 1977; Wu & Simon 2000). Blocks are narrow: a basis of many small steps holds higher
//! powers of the matrix than one of few wide steps, for the same arithmetic. A pair counts as found when
//! `‖Av − λv‖` says so, not when it stands still.

use super::{Qr, SymmetricEigen, multiply};
use crate::Matrix;
use crate::random::Random;
use ndarray::{ArrayView2, s};

/// Vectors of a block: what a product works on at a time.
const BLOCK: usize = 12;
/// Products between two looks at what was found, at least and at most: taking the small matrix apart is not free.
const SOON: usize = 2;
const LATE: usize = 8;
/// Products before what there is must do.
const PRODUCTS: usize = 1000;

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
    /// The fewest rows of a matrix whose `k` largest eigenvalues can be looked for.
    pub fn min_rows(k: usize) -> usize {
        k + 3 * BLOCK
    }

    /// The `k` largest eigenvalues of a matrix of size `n` that `apply` multiplies with, to residuals below
    /// `tolerance` times the largest. `go_on` is asked before every product; at its no, what there is is
    /// handed back, which is `None` before there are `k` vectors.
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
        assert!(n >= TopEigen::min_rows(k), "a matrix of too few rows for {k} eigenvalues");
        let mut random = Random::new(1);
        let mut block = orthonormal(&Matrix::from_shape_simple_fn((n, BLOCK), || random.normal()));
        let mut space = Space::new(n, (8 * (k + BLOCK)).min(n));
        // When to look, and the worst residual of the look before.
        let (mut look, mut before) = (0, (0, f64::INFINITY));
        for products in 1..=PRODUCTS {
            let last = !go_on() || products == PRODUCTS;
            if !last {
                block = space.grow(&block, &apply);
            }
            let early = space.used < k + BLOCK || products < look;
            if !last && early && !space.full() {
                continue;
            }
            let ritz = space.ritz(k)?;
            let good = |residuals: &[f64]| {
                residuals.iter().all(|r| *r <= tolerance * ritz.values[0].abs())
            };
            let worst = ritz.residuals.iter().fold(0.0, |a: f64, r| a.max(*r));
            let off = worst / ritz.values[0].abs();
            look = products + wait(before, (products, off), tolerance);
            before = (products, off);
            if last || good(&ritz.residuals) {
                let found = space.measured(&ritz, k, &apply, products);
                if last || good(&found.residuals) {
                    return Some(found);
                }
            }
            if space.full() {
                space.restart(&ritz, k + BLOCK);
            }
        }
        None
    }
}

/// How many products to wait before the next look: half of what is left where residuals fall as they did.
fn wait(before: (usize, f64), now: (usize, f64), tolerance: f64) -> usize {
    let fall = (before.1 / now.1).ln() / (now.0 - before.0) as f64;
    let left = (now.1 / tolerance).ln() / fall;
    // What does not fall, or is no number, is looked at soon.
    if left > 0.0 { (left / 2.0).clamp(SOON as f64, LATE as f64) as usize } else { SOON }
}

/// What products have told: `A · basis = basis · small + next · tail` with an orthonormal basis, where the
/// tail belongs to the last block alone.
struct Space {
    basis: Matrix,
    small: Matrix,
    tail: Matrix,
    used: usize,
}

/// The best pairs in a space (Rayleigh and Ritz), best first.
struct Ritz {
    values: Vec<f64>,
    /// Their vectors in the basis, one a column.
    within: Matrix,
    /// `‖Av − λv‖` of the first, by the tail.
    residuals: Vec<f64>,
}

impl Space {
    fn new(n: usize, most: usize) -> Space {
        Space {
            basis: Matrix::zeros((n, most)),
            small: Matrix::zeros((most, most)),
            tail: Matrix::zeros((BLOCK, BLOCK)),
            used: 0,
        }
    }

    fn full(&self) -> bool {
        self.used + BLOCK > self.basis.ncols()
    }

    fn basis(&self) -> ArrayView2<'_, f64> {
        self.basis.slice(s![.., ..self.used])
    }

    /// Takes a block in, and gives the next one: what is new in the matrix times it.
    fn grow(&mut self, block: &Matrix, apply: impl Fn(&Matrix) -> Matrix) -> Matrix {
        let (before, after) = (self.used, self.used + BLOCK);
        self.basis.slice_mut(s![.., before..after]).assign(block);
        self.used = after;
        let image = apply(block);
        let told = multiply(self.basis().t(), image.view());
        self.small.slice_mut(s![..after, before..after]).assign(&told);
        self.small.slice_mut(s![before..after, ..after]).assign(&told.t());
        let mut next = orthonormal(&(&image - &multiply(self.basis(), told.view())));
        // Twice is enough (Kahan, in Parlett 1998).
        let rest = multiply(self.basis().t(), next.view());
        next = orthonormal(&(next - multiply(self.basis(), rest.view())));
        self.tail = multiply(next.t(), image.view());
        next
    }

    /// `None` where there are not as many as `k`, or the numbers were not finite.
    fn ritz(&self, k: usize) -> Option<Ritz> {
        let m = self.used;
        if m < k {
            return None;
        }
        let eigen = SymmetricEigen::of(self.small.slice(s![..m, ..m]))?;
        let within = eigen.vectors.slice(s![.., ..;-1]).to_owned();
        let beyond = multiply(self.tail.view(), within.slice(s![m - BLOCK.., ..k]));
        let residuals = beyond.columns().into_iter().map(|c| c.dot(&c).sqrt()).collect();
        Some(Ritz { values: eigen.values.iter().rev().copied().collect(), within, residuals })
    }

    fn vectors(&self, ritz: &Ritz, count: usize) -> Matrix {
        multiply(self.basis(), ritz.within.slice(s![.., ..count]))
    }

    /// Keeps the best vectors alone. The next block tells how they hang together with it.
    fn restart(&mut self, ritz: &Ritz, keep: usize) {
        let best = self.vectors(ritz, keep);
        self.basis.slice_mut(s![.., ..keep]).assign(&best);
        self.small.fill(0.0);
        for (i, value) in ritz.values.iter().take(keep).enumerate() {
            self.small[[i, i]] = *value;
        }
        self.used = keep;
    }

    /// The first pairs, with residuals of a product of their own.
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
