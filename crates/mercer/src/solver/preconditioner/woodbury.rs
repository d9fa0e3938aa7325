//! The inverse Hessian of dense rows through the Gram matrix of the active ones (Woodbury 1950).
//!
//! Where fewer rows `X` are active than there are columns, the inverse of `A = λI + XᵀDX` is
//! `A⁻¹ = (I − XᵀTX) / λ` with `T = (XXᵀ + λD⁻¹)⁻¹`. An intercept with penalty `λ₀` is eliminated with `u = T1`:
//! `A⁻¹XᵀD1 = Xᵀu`, and the Schur complement of its diagonal entry is `λ₀ + λ 1·u`. The rows are centered at the means of
//! all rows, which the intercept compensates: exactly if it is unpenalized, and otherwise up to two directions, which
//! conjugate gradients find.
//!
//! As in [`super::hessian`], every subproblem has its own matrix, in single precision, as a preconditioner; rows that stay
//! active keep their inner products.

use super::{have_equal_weights, n_distinct, regularized_cholesky, relative_cost};
use crate::data::design_matrix::DesignMatrix;
use mercer_num::linalg::{dot_products, solve_lower, solve_lower_transposed};
use mercer_num::parallel::prelude::*;
use ndarray::ArrayView2;

/// Rows whose inner products with all new rows are computed by one task.
const ROWS_PER_TILE: usize = 256;

/// The Gram matrices of the active rows of every subproblem.
pub(crate) struct Woodbury {
    /// Subtracted from the columns.
    center: Vec<f64>,
    each: Vec<ActiveGram>,
    /// The rows that are active in any subproblem, in ascending order.
    rows: Vec<u32>,
    /// `λ`.
    l2_penalty: f64,
}

/// The Gram matrix of one subproblem.
#[derive(Clone, Default)]
struct ActiveGram {
    rows: Vec<u32>,
    hessian_weights: Vec<f64>,
    /// The lower triangle of `XXᵀ`.
    gram: Vec<f32>,
    /// `L` with `LLᵀ = T⁻¹`.
    factor: Vec<f32>,
    /// `u = T1`.
    u: Vec<f64>,
}

impl Woodbury {
    /// Entries of the Gram matrices, for `m` Hessian weights per row; the factors take as many again.
    pub fn n_entries(hessian_weights: &[f64], m: usize) -> usize {
        let mut counts = vec![0usize; m];
        for row in hessian_weights.chunks_exact(m) {
            counts.iter_mut().zip(row).for_each(|(count, d)| *count += usize::from(*d != 0.0));
        }
        counts.iter().map(|count| count * count).sum()
    }

    /// The cost of the first Gram matrices, in Hessian products.
    pub fn initial_cost(hessian_weights: &[f64], m: usize) -> f64 {
        let n_equal = if have_equal_weights(hessian_weights, m) { m } else { 1 };
        let entries = Woodbury::n_entries(hessian_weights, m) / n_equal;
        relative_cost(0.5 * entries as f64, hessian_weights)
    }

    /// Updates the Gram matrices to other Hessian weights, `m` per row.
    pub fn update(
        last: Option<Woodbury>,
        design: &DesignMatrix<'_>,
        hessian_weights: &[f64],
        m: usize,
        l2_penalty: f64,
    ) -> Woodbury {
        let (center, mut each) = match last {
            Some(Woodbury { center, each, .. }) => (center, each),
            None => {
                let zeros = || vec![0.0; design.width()];
                let center = if design.intercept { design.means() } else { zeros() };
                (center, vec![ActiveGram::default(); n_distinct(hessian_weights, m)])
            }
        };
        each.par_iter_mut().enumerate().for_each(|(k, gram)| {
            gram.update(design, &center, hessian_weights, (m, k), l2_penalty);
        });
        each.resize(m, each[0].clone());
        let is_active = |row: &[f64]| row.iter().any(|d| *d != 0.0);
        let rows = (0..).zip(hessian_weights.chunks_exact(m)).filter(|(_, row)| is_active(row));
        let rows = rows.map(|(i, _)| i).collect();
        Woodbury { center, each, rows, l2_penalty }
    }

    /// `out = A⁻¹ r`; `intercept_penalty` is `λ₀`.
    pub fn solve(
        &self,
        design: &DesignMatrix<'_>,
        r: &[f64],
        m: usize,
        intercept_penalty: f64,
        out: &mut [f64],
    ) {
        let width = self.center.len();
        // In terms of centered columns, for which the intercept has another meaning.
        let mut centered = r.to_vec();
        let (weights, intercepts) = centered.split_at_mut(width * m);
        for (row, mean) in weights.chunks_exact_mut(m).zip(&self.center) {
            row.iter_mut().zip(&*intercepts).for_each(|(x, b)| *x -= mean * b);
        }
        let shifts = transposed_product(&self.center, weights, m);
        intercepts.iter_mut().zip(&shifts).for_each(|(to, shift)| *to = -shift);
        let mut scores = vec![0.0; self.rows.len() * m];
        design.scores_of_rows(&self.rows, &centered, m, &mut scores);
        let index = |i: &u32| self.rows.binary_search(i).expect("an active row") * m;
        let right_intercepts = r.get(width * m..).unwrap_or_default();
        let solve = |(k, gram): (usize, &ActiveGram)| -> (Vec<f64>, f64) {
            let own: Vec<f64> = gram.rows.iter().map(|i| scores[index(i) + k]).collect();
            let complement = intercept_penalty + self.l2_penalty * gram.u.iter().sum::<f64>();
            let explained: f64 = own.iter().zip(&gram.u).map(|(z, u)| z * u).sum();
            let right = right_intercepts.get(k).filter(|_| complement > 0.0);
            let intercept = right.map_or(0.0, |b| (b - explained) / complement);
            let mut coefficients = gram.solve(&own);
            let updated = coefficients.iter_mut().zip(&gram.u);
            updated.for_each(|(c, u)| *c = *c / self.l2_penalty + u * intercept);
            (coefficients, intercept)
        };
        let solved: Vec<(Vec<f64>, f64)> = self.each.par_iter().enumerate().map(solve).collect();
        scores.fill(0.0);
        for (k, (gram, (coefficients, _))) in self.each.iter().zip(&solved).enumerate() {
            gram.rows.iter().zip(coefficients).for_each(|(i, c)| scores[index(i) + k] = *c);
        }
        design.transpose_product_of_rows(&self.rows, &scores, m, out);
        let totals: Vec<f64> =
            solved.iter().map(|(coefficients, _)| coefficients.iter().sum()).collect();
        let (weights, intercepts) = out.split_at_mut(width * m);
        let rows = weights.chunks_exact_mut(m).zip(centered.chunks_exact(m)).zip(&self.center);
        for ((out, r), mean) in rows {
            for ((out, r), total) in out.iter_mut().zip(r).zip(&totals) {
                *out = r / self.l2_penalty - (*out - mean * total);
            }
        }
        let shifts = transposed_product(&self.center, weights, m);
        let each = intercepts.iter_mut().zip(&solved).zip(shifts);
        each.for_each(|((out, (_, intercept)), shift)| *out = intercept - shift);
    }
}

/// `cᵀW` for a matrix `W` of `m` columns.
fn transposed_product(c: &[f64], w: &[f64], m: usize) -> Vec<f64> {
    let mut sums = vec![0.0; m];
    for (row, c) in w.chunks_exact(m).zip(c) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += c * x);
    }
    sums
}

impl ActiveGram {
    /// Updates to other Hessian weights.
    fn update(
        &mut self,
        design: &DesignMatrix<'_>,
        center: &[f64],
        hessian_weights: &[f64],
        (m, k): (usize, usize),
        l2_penalty: f64,
    ) {
        let weight = |i: &u32| hessian_weights[*i as usize * m + k];
        let mut positions = vec![u32::MAX; design.n_rows()];
        (0..).zip(&self.rows).for_each(|(position, i)| positions[*i as usize] = position);
        let retained: Vec<u32> = self.rows.iter().copied().filter(|i| weight(i) != 0.0).collect();
        let is_new = |i: &u32| positions[*i as usize] == u32::MAX && weight(i) != 0.0;
        let new: Vec<u32> = (0..design.n_rows() as u32).filter(is_new).collect();
        let rows = [&retained[..], &new].concat();
        let weights: Vec<f64> = rows.iter().map(weight).collect();
        if rows == self.rows && weights == self.hessian_weights {
            return;
        }
        let n = rows.len();
        let strips = new_products(design, center, &rows, retained.len());
        let mut gram = vec![0.0f32; n * n];
        gram.par_chunks_mut(n.max(1)).enumerate().for_each(|(a, to)| {
            if a < retained.len() {
                let from = positions[retained[a] as usize] as usize * self.rows.len();
                let others = to[..=a].iter_mut().zip(&retained);
                others.for_each(|(to, b)| *to = self.gram[from + positions[*b as usize] as usize]);
                return;
            }
            for (to, (first, strip)) in to[..=a].chunks_mut(ROWS_PER_TILE).zip(&strips) {
                let width = strip.len() / (n - retained.len() - first);
                let own = &strip[(a - retained.len() - first) * width..];
                to.iter_mut().zip(own).for_each(|(to, product)| *to = *product);
            }
        });
        let diagonal: Vec<f64> = weights.iter().map(|d| l2_penalty / d).collect();
        let factor = factor(&gram, &diagonal);
        (self.rows, self.hessian_weights, self.gram, self.factor) = (rows, weights, gram, factor);
        self.u = self.solve(&vec![1.0; n]);
    }

    /// `T b`.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = b.len();
        let mut x: Vec<f32> = b.iter().map(|v| *v as f32).collect();
        let l = ArrayView2::from_shape((n, n), &self.factor).expect("a square matrix");
        solve_lower(l, &mut x, 1);
        solve_lower_transposed(l, &mut x, 1);
        x.into_iter().map(f64::from).collect()
    }
}

/// The inner products of the rows from position `n_retained` on with all rows, one strip per tile of the latter: the first
/// of the new rows at or after the tile, and from it on one row of products each.
fn new_products(
    design: &DesignMatrix<'_>,
    center: &[f64],
    rows: &[u32],
    n_retained: usize,
) -> Vec<(usize, Vec<f32>)> {
    let width = center.len();
    let gather = |rows: &[u32]| -> Vec<f32> {
        let mut entries = vec![0.0f32; rows.len() * width];
        entries.par_chunks_mut(width.max(1)).zip(rows).for_each(|(to, i)| {
            let row = design.dense_row(*i as usize);
            let entries = to.iter_mut().zip(row.iter().zip(center));
            entries.for_each(|(to, (x, c))| *to = (x - c) as f32);
        });
        entries
    };
    if n_retained == rows.len() {
        return Vec::new();
    }
    let new = gather(&rows[n_retained..]);
    let tiles = rows.par_chunks(ROWS_PER_TILE).enumerate().map(|(t, tile)| {
        let first = (t * ROWS_PER_TILE).saturating_sub(n_retained);
        let from = &new[first * width..];
        let mut strip = vec![0.0f32; (rows.len() - n_retained - first) * tile.len()];
        dot_products(from, &gather(tile), width, &mut strip, 1.0);
        (first, strip)
    });
    tiles.collect()
}

/// The factor of `XXᵀ + λD⁻¹`, with a ridge where rounding requires it.
fn factor(gram: &[f32], diagonal: &[f64]) -> Vec<f32> {
    let n = diagonal.len();
    let largest = (0..n).fold(0.0, |a: f32, i| a.max(gram[i * (n + 1)]));
    regularized_cholesky(n, largest, 0.0, |ridge| {
        let mut entries = gram.to_vec();
        let updated = entries.iter_mut().step_by(n + 1).zip(diagonal);
        updated.for_each(|(v, d)| *v += *d as f32 + ridge);
        entries
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Rows};

    #[test]
    fn an_updated_inverse_solves_with_the_hessian() {
        let mut random = Random::new(3);
        let (n, width, m) = (140, 40, 2);
        let x = Matrix::from_shape_fn((n, width), |(_, j)| 0.03 * j as f64 + random.normal());
        let l2_penalty = 2.0;
        for intercept in [true, false] {
            let design = DesignMatrix::by_rows(&Rows::from(&x), intercept);
            let mut first: Vec<f64> = vec![0.0; n * m];
            first.iter_mut().step_by(7).for_each(|d| *d = 0.5 + random.uniform());
            let mut second = first.clone();
            for d in second.iter_mut().step_by(11) {
                *d = if *d == 0.0 { 1.5 } else { 0.0 };
            }

            let before = Woodbury::update(None, &design, &first, m, l2_penalty);
            let after = Woodbury::update(Some(before), &design, &second, m, l2_penalty);

            let n_weights = design.n_weights();
            let r: Vec<f64> = (0..n_weights * m).map(|_| random.normal()).collect();
            let mut z = vec![0.0; n_weights * m];
            after.solve(&design, &r, m, 0.0, &mut z);
            // H z = r, with H by its definition.
            let column = |i: usize, j: usize| if j < width { x[[i, j]] } else { 1.0 };
            for k in 0..m {
                for p in 0..n_weights {
                    let l2 = if p < width { l2_penalty } else { 0.0 };
                    let mut product = l2 * z[p * m + k];
                    for i in 0..n {
                        let score: f64 = (0..n_weights).map(|q| column(i, q) * z[q * m + k]).sum();
                        product += second[i * m + k] * column(i, p) * score;
                    }
                    assert!((product - r[p * m + k]).abs() < 1e-3, "{product} {}", r[p * m + k]);
                }
            }
        }
    }
}
