//! Second derivatives of dense rows by the inner products among those that curve.
//!
//! Where fewer rows `X` curve than there are columns, `A = λI + XᵀDX` is solved with on their side (Woodbury 1950):
//! `A⁻¹ = (I − XᵀTX) / λ` with `T = (XXᵀ + λD⁻¹)⁻¹`. A constant term of price `λ₀` goes along by `u = T1`:
//! `A⁻¹XᵀD1 = Xᵀu`, and what the weights leave of its own second derivative is `λ₀ + λ 1·u`. Rows are taken around
//! the means of all of them, which the constant makes up for: exactly where it is free, and with a price but for two
//! directions, which conjugate gradients find.
//!
//! As in [`super::hessian`], every function has its own, in single precision, in front of conjugate gradients; rows
//! that stay from step to step keep their inner products.

use crate::data::design_matrix::DesignMatrix;
use mercer_num::linalg::{
    CholeskyProgress, cholesky_in_place, dot_products, solve_lower, solve_lower_transposed,
};
use ndarray::ArrayView2;
use rayon::prelude::*;

/// Rows whose inner products with all new ones are one thread's work.
const TILE: usize = 256;
/// How much more cells are made in a time than those of products with vectors.
const FASTER: f64 = 14.0;

/// Inner products among the rows that curve, for every function.
pub(crate) struct Woodbury {
    /// What is taken off the columns.
    center: Vec<f64>,
    each: Vec<Inner>,
    /// The rows that curve for any of them, rising.
    rows: Vec<u32>,
    /// `λ`.
    price: f64,
}

/// Those of one function.
#[derive(Clone, Default)]
struct Inner {
    rows: Vec<u32>,
    curvatures: Vec<f64>,
    /// `XXᵀ`, the lower triangle.
    cells: Vec<f32>,
    /// `L` with `LLᵀ = T⁻¹`.
    factor: Vec<f32>,
    /// `u`.
    ones: Vec<f64>,
}

impl Woodbury {
    /// Numbers that are kept for such curvatures, `m` of them a row, and as many again of factors.
    pub fn cells(curvatures: &[f64], m: usize) -> usize {
        let mut counts = vec![0usize; m];
        for row in curvatures.chunks_exact(m) {
            counts.iter_mut().zip(row).for_each(|(count, d)| *count += usize::from(*d != 0.0));
        }
        counts.iter().map(|count| count * count).sum()
    }

    /// What beginning with such curvatures costs, in products with all rows.
    pub fn cost(curvatures: &[f64], m: usize) -> f64 {
        let shared = if alike(curvatures, m) { m } else { 1 };
        let cells = Woodbury::cells(curvatures, m) / shared;
        0.5 * cells as f64 / (FASTER * curvatures.len().max(1) as f64)
    }

    /// Brings inner products to other curvatures, `m` of them a row.
    pub fn at(
        last: Option<Woodbury>,
        design: &DesignMatrix<'_>,
        curvatures: &[f64],
        m: usize,
        price: f64,
    ) -> Woodbury {
        let (center, mut each) = match last {
            Some(Woodbury { center, each, .. }) => (center, each),
            None => {
                let none = || vec![0.0; design.width()];
                let center = if design.intercept { design.means() } else { none() };
                // Functions that curve alike, as all do where every score is zero, share the work.
                let different = if alike(curvatures, m) { 1 } else { m };
                (center, vec![Inner::default(); different])
            }
        };
        each.par_iter_mut().enumerate().for_each(|(k, inner)| {
            inner.go_to(design, &center, curvatures, (m, k), price);
        });
        each.resize(m, each[0].clone());
        let some = |row: &[f64]| row.iter().any(|d| *d != 0.0);
        let rows = (0..).zip(curvatures.chunks_exact(m)).filter(|(_, row)| some(row));
        let rows = rows.map(|(i, _)| i).collect();
        Woodbury { center, each, rows, price }
    }

    /// Solves for `m` numbers a weight; `constant_price` is that on the constant terms.
    pub fn solve(
        &self,
        design: &DesignMatrix<'_>,
        r: &[f64],
        m: usize,
        constant_price: f64,
        out: &mut [f64],
    ) {
        let width = self.center.len();
        // As if the columns were around their means: then a constant has another meaning.
        let mut centered = r.to_vec();
        let (weights, constants) = centered.split_at_mut(width * m);
        for (row, mean) in weights.chunks_exact_mut(m).zip(&self.center) {
            row.iter_mut().zip(&*constants).for_each(|(x, b)| *x -= mean * b);
        }
        constants.fill(0.0);
        let shifts = times(&self.center, weights, m);
        constants.iter_mut().zip(&shifts).for_each(|(to, shift)| *to = -shift);
        let mut scores = vec![0.0; self.rows.len() * m];
        design.scores_of_rows(&self.rows, &centered, m, &mut scores);
        let place = |i: &u32| self.rows.binary_search(i).expect("a row that curves") * m;
        let free = r.get(width * m..).unwrap_or_default();
        let solve = |(k, inner): (usize, &Inner)| -> (Vec<f64>, f64) {
            let own: Vec<f64> = inner.rows.iter().map(|i| scores[place(i) + k]).collect();
            let left = constant_price + self.price * inner.ones.iter().sum::<f64>();
            let told: f64 = own.iter().zip(&inner.ones).map(|(z, u)| z * u).sum();
            let constant = free.get(k).filter(|_| left > 0.0).map_or(0.0, |b| (b - told) / left);
            let mut pulls = inner.solved(&own);
            let pulled = pulls.iter_mut().zip(&inner.ones);
            pulled.for_each(|(pull, u)| *pull = *pull / self.price + u * constant);
            (pulls, constant)
        };
        let solved: Vec<(Vec<f64>, f64)> = self.each.par_iter().enumerate().map(solve).collect();
        scores.fill(0.0);
        for (k, (inner, (pulls, _))) in self.each.iter().zip(&solved).enumerate() {
            inner.rows.iter().zip(pulls).for_each(|(i, pull)| scores[place(i) + k] = *pull);
        }
        design.transpose_product_of_rows(&self.rows, &scores, m, out);
        let total: Vec<f64> = solved.iter().map(|(pulls, _)| pulls.iter().sum()).collect();
        let (weights, constants) = out.split_at_mut(width * m);
        let lines = weights.chunks_exact_mut(m).zip(centered.chunks_exact(m)).zip(&self.center);
        for ((out, r), mean) in lines {
            for ((out, r), total) in out.iter_mut().zip(r).zip(&total) {
                *out = r / self.price - (*out - mean * total);
            }
        }
        let shifts = times(&self.center, weights, m);
        let each = constants.iter_mut().zip(&solved).zip(shifts);
        each.for_each(|((out, (_, constant)), shift)| *out = constant - shift);
    }
}

/// `cᵀW` for `m` numbers a row of `W`.
fn times(c: &[f64], w: &[f64], m: usize) -> Vec<f64> {
    let mut sums = vec![0.0; m];
    for (row, c) in w.chunks_exact(m).zip(c) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += c * x);
    }
    sums
}

/// Whether all functions curve by the same number in every row.
pub(crate) fn alike(curvatures: &[f64], m: usize) -> bool {
    curvatures.chunks_exact(m).all(|row| row.iter().all(|d| *d == row[0]))
}

impl Inner {
    /// Takes other curvatures.
    fn go_to(
        &mut self,
        design: &DesignMatrix<'_>,
        center: &[f64],
        curvatures: &[f64],
        (m, k): (usize, usize),
        price: f64,
    ) {
        let curvature = |i: &u32| curvatures[*i as usize * m + k];
        let mut places = vec![u32::MAX; design.n_rows()];
        (0..).zip(&self.rows).for_each(|(place, i)| places[*i as usize] = place);
        let kept: Vec<u32> = self.rows.iter().copied().filter(|i| curvature(i) != 0.0).collect();
        let is_new = |i: &u32| places[*i as usize] == u32::MAX && curvature(i) != 0.0;
        let new: Vec<u32> = (0..design.n_rows() as u32).filter(is_new).collect();
        let all = [&kept[..], &new].concat();
        let values: Vec<f64> = all.iter().map(curvature).collect();
        if all == self.rows && values == self.curvatures {
            return;
        }
        let n = all.len();
        let strips = strips(design, center, &all, kept.len());
        let mut cells = vec![0.0f32; n * n];
        cells.par_chunks_mut(n.max(1)).enumerate().for_each(|(a, line)| {
            if a < kept.len() {
                let from = places[kept[a] as usize] as usize * self.rows.len();
                let others = line[..=a].iter_mut().zip(&kept);
                others.for_each(|(to, b)| *to = self.cells[from + places[*b as usize] as usize]);
                return;
            }
            for (line, (first, strip)) in line[..=a].chunks_mut(TILE).zip(&strips) {
                let width = strip.len() / (n - kept.len() - first);
                let own = &strip[(a - kept.len() - first) * width..];
                line.iter_mut().zip(own).for_each(|(to, cell)| *to = *cell);
            }
        });
        let ridges: Vec<f64> = values.iter().map(|d| price / d).collect();
        let factor = factor(&cells, &ridges);
        (self.rows, self.curvatures, self.cells, self.factor) = (all, values, cells, factor);
        self.ones = self.solved(&vec![1.0; n]);
    }

    /// `Tb`.
    fn solved(&self, b: &[f64]) -> Vec<f64> {
        let n = b.len();
        let mut x: Vec<f32> = b.iter().map(|v| *v as f32).collect();
        let l = ArrayView2::from_shape((n, n), &self.factor).expect("a square of the rows");
        solve_lower(l, &mut x, 1);
        solve_lower_transposed(l, &mut x, 1);
        x.into_iter().map(f64::from).collect()
    }
}

/// Inner products of the rows from place `n_kept` on with all of them, a strip for every tile of the latter: the
/// first of the new rows that has a place there or behind it, and from that on a row each.
fn strips(
    design: &DesignMatrix<'_>,
    center: &[f64],
    all: &[u32],
    n_kept: usize,
) -> Vec<(usize, Vec<f32>)> {
    let width = center.len();
    let written = |rows: &[u32]| -> Vec<f32> {
        let mut cells = vec![0.0f32; rows.len() * width];
        cells.par_chunks_mut(width.max(1)).zip(rows).for_each(|(to, i)| {
            let row = design.dense_row(*i as usize);
            let cells = to.iter_mut().zip(row.iter().zip(center));
            cells.for_each(|(to, (x, c))| *to = (x - c) as f32);
        });
        cells
    };
    if n_kept == all.len() {
        return Vec::new();
    }
    let new = written(&all[n_kept..]);
    let tiles = all.par_chunks(TILE).enumerate().map(|(t, tile)| {
        let first = (t * TILE).saturating_sub(n_kept);
        let from = &new[first * width..];
        let mut strip = vec![0.0f32; (all.len() - n_kept - first) * tile.len()];
        dot_products(from, &written(tile), width, &mut strip, 1.0);
        (first, strip)
    });
    tiles.collect()
}

/// The factor of a matrix with such a diagonal added, and more of it where rounding asks for it.
fn factor(cells: &[f32], ridges: &[f64]) -> Vec<f32> {
    let n = ridges.len();
    let largest = (0..n).fold(0.0, |a: f32, i| a.max(cells[i * (n + 1)]));
    let mut more = 0.0f32;
    loop {
        let mut cells = cells.to_vec();
        let diagonal = cells.iter_mut().step_by(n + 1).zip(ridges);
        diagonal.for_each(|(v, ridge)| *v += *ridge as f32 + more);
        if !more.is_finite() || !largest.is_finite() {
            // Beyond the range of these numbers: no guess at all.
            cells.fill(0.0);
            cells.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
        }
        if cholesky_in_place(&mut cells, n, |_| true) == CholeskyProgress::Complete {
            return cells;
        }
        more = (10.0 * more).max(1e-7 * largest).max(f32::MIN_POSITIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Rows};

    #[test]
    fn what_came_and_left_solves_with_the_second_derivatives() {
        let mut random = Random::new(3);
        let (n, width, m) = (140, 40, 2);
        let x = Matrix::from_shape_fn((n, width), |(_, j)| 0.03 * j as f64 + random.normal());
        let price = 2.0;
        for intercept in [true, false] {
            let design = DesignMatrix::by_rows(&Rows::from(&x), intercept);
            let mut curvatures: Vec<f64> = vec![0.0; n * m];
            curvatures.iter_mut().step_by(7).for_each(|d| *d = 0.5 + random.uniform());
            let mut later = curvatures.clone();
            for d in later.iter_mut().step_by(11) {
                *d = if *d == 0.0 { 1.5 } else { 0.0 };
            }

            let before = Woodbury::at(None, &design, &curvatures, m, price);
            let after = Woodbury::at(Some(before), &design, &later, m, price);

            let weights = design.n_weights();
            let r: Vec<f64> = (0..weights * m).map(|_| random.normal()).collect();
            let mut z = vec![0.0; weights * m];
            after.solve(&design, &r, m, 0.0, &mut z);
            // H z = r, with H written out.
            let column = |i: usize, j: usize| if j < width { x[[i, j]] } else { 1.0 };
            for k in 0..m {
                for p in 0..weights {
                    let own = if p < width { price } else { 0.0 };
                    let mut made = own * z[p * m + k];
                    for i in 0..n {
                        let score: f64 = (0..weights).map(|q| column(i, q) * z[q * m + k]).sum();
                        made += later[i * m + k] * column(i, p) * score;
                    }
                    assert!((made - r[p * m + k]).abs() < 1e-3, "{made} {}", r[p * m + k]);
                }
            }
        }
    }
}
