//! The Hessian `XᵀDX` of dense rows, updated from iteration to iteration.
//!
//! Only the active rows contribute to the Hessian of a hinge loss, and close to the optimum few rows become active or
//! inactive between two iterations. Every subproblem therefore stores the cross-products of its active rows, and an
//! iteration adds the rows that became active and subtracts those that did not stay. Conjugate gradients with exact
//! Hessian products in double precision use it as a preconditioner: the rounding errors of the updates and of single
//! precision cost a product, not a digit.

use super::{CenteredFactor, L2Penalties, have_equal_weights, n_distinct, relative_cost};
use crate::data::design_matrix::DesignMatrix;
use mercer_num::linalg::add_gram_rows;
use mercer_num::parallel::prelude::*;

/// Rows that are copied and multiplied at once.
const ROWS_PER_PANEL: usize = 1024;
/// Rows of the cross-products, and of the panel that one task copies.
const ROWS_PER_TILE: usize = 128;

/// The cross-products of the active rows of every subproblem.
pub(crate) struct TrackedHessian {
    /// Subtracted from the columns, to limit cancellation.
    center: Vec<f64>,
    each: Vec<CrossProducts>,
    pub factors: Vec<CenteredFactor>,
}

/// The cross-products of one subproblem, and the Hessian weights `d` they belong to.
#[derive(Clone)]
struct CrossProducts {
    hessian_weights: Vec<f64>,
    /// The lower triangle of `Σ d (x − center)(x − center)ᵀ`, with `Σ d (x − center)` as its last row.
    entries: Vec<f32>,
}

impl TrackedHessian {
    /// Entries of the Hessians of `m` subproblems; the factors take as many again.
    pub fn n_entries(m: usize, width: usize) -> usize {
        m * (width + 1) * (width + 1)
    }

    /// The cost of the first Hessian, in Hessian products.
    pub fn initial_cost(hessian_weights: &[f64], m: usize, width: usize) -> f64 {
        let active = hessian_weights.iter().filter(|d| **d != 0.0).count();
        let rows = if have_equal_weights(hessian_weights, m) { active / m } else { active };
        relative_cost(rows as f64 * width as f64, hessian_weights)
    }

    /// Updates the Hessians to other weights, `m` per row.
    pub fn update(
        last: Option<TrackedHessian>,
        design: &DesignMatrix<'_>,
        hessian_weights: &[f64],
        m: usize,
        penalties: L2Penalties,
    ) -> TrackedHessian {
        let (n, width) = (design.n_rows(), design.width());
        let Some(TrackedHessian { center, mut each, factors }) = last else {
            let center = design.means();
            let side = width + 1;
            let zero =
                CrossProducts { hessian_weights: vec![0.0; n], entries: vec![0.0; side * side] };
            let mut each = vec![zero; n_distinct(hessian_weights, m)];
            each.par_iter_mut().enumerate().for_each(|(k, products)| {
                products.update(design, &center, hessian_weights, (m, k));
            });
            each.resize(m, each[0].clone());
            let factor = |p: &CrossProducts| p.factor(&center, design.intercept, penalties);
            let factors = each.par_iter().map(factor).collect();
            return TrackedHessian { center, each, factors };
        };
        let factors = (each.par_iter_mut().zip(factors).enumerate())
            .map(|(k, (products, factor))| {
                match products.update(design, &center, hessian_weights, (m, k)) {
                    true => products.factor(&center, design.intercept, penalties),
                    false => factor,
                }
            })
            .collect();
        TrackedHessian { center, each, factors }
    }
}

/// The rows whose Hessian weight has changed.
enum Changes {
    /// By how much.
    Changed(Vec<(usize, f64)>),
    /// So many that starting anew is cheaper: all active rows.
    All(Vec<(usize, f64)>),
}

fn changes(old: &[f64], hessian_weights: &[f64], (m, k): (usize, usize)) -> Changes {
    let new = || hessian_weights.iter().skip(k).step_by(m).enumerate();
    let difference = |((i, new), old): ((usize, &f64), &f64)| (i, new - old);
    let changed: Vec<(usize, f64)> =
        new().zip(old).map(difference).filter(|(_, d)| *d != 0.0).collect();
    let active = || new().filter(|(_, d)| **d != 0.0);
    if changed.len() <= active().count() {
        Changes::Changed(changed)
    } else {
        Changes::All(active().map(|(i, d)| (i, *d)).collect())
    }
}

impl CrossProducts {
    /// Updates to other Hessian weights; returns whether they are different.
    fn update(
        &mut self,
        design: &DesignMatrix<'_>,
        center: &[f64],
        hessian_weights: &[f64],
        (m, k): (usize, usize),
    ) -> bool {
        let rows = match changes(&self.hessian_weights, hessian_weights, (m, k)) {
            Changes::Changed(rows) if rows.is_empty() => return false,
            Changes::Changed(rows) => rows,
            Changes::All(rows) => {
                self.entries.fill(0.0);
                rows
            }
        };
        let (added, removed): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, d)| *d > 0.0);
        self.add(design, center, &added, 1.0);
        self.add(design, center, &removed, -1.0);
        let own = hessian_weights.iter().skip(k).step_by(m);
        self.hessian_weights.iter_mut().zip(own).for_each(|(to, d)| *to = *d);
        true
    }

    /// Adds `sign · Σ |d| (x − center)(x − center)ᵀ` and the sums below it; every entry belongs to one task.
    fn add(&mut self, design: &DesignMatrix<'_>, center: &[f64], rows: &[(usize, f64)], sign: f32) {
        let side = center.len() + 1;
        let mut panel = vec![0.0f32; ROWS_PER_PANEL.min(rows.len()) * side];
        for rows in rows.chunks(ROWS_PER_PANEL) {
            let panel = &mut panel[..rows.len() * side];
            let tiles = panel.par_chunks_mut(ROWS_PER_TILE * side);
            tiles.zip(rows.par_chunks(ROWS_PER_TILE)).for_each(|(panel, rows)| {
                for (to, (i, d)) in panel.chunks_exact_mut(side).zip(rows) {
                    let root = d.abs().sqrt();
                    let row = design.dense_row(*i);
                    let entries = to.iter_mut().zip(row.iter().zip(center));
                    entries.for_each(|(to, (x, c))| *to = ((x - c) * root) as f32);
                    to[side - 1] = root as f32;
                }
            });
            let panel = &*panel;
            let tiles = self.entries.par_chunks_mut(ROWS_PER_TILE * side).enumerate();
            tiles.for_each(|(t, entries)| {
                add_gram_rows(panel, side, t * ROWS_PER_TILE, entries, sign);
            });
        }
    }

    /// Factors the scatter matrix around the weighted means, or around zero without an intercept.
    fn factor(&self, center: &[f64], intercept: bool, penalties: L2Penalties) -> CenteredFactor {
        let width = center.len();
        let side = width + 1;
        let total: f64 = self.hessian_weights.iter().sum();
        let sums = &self.entries[width * side..width * side + width];
        let sums: Vec<f64> = sums.iter().map(|s| f64::from(*s)).collect();
        let inverse_total = if intercept && total > 0.0 { 1.0 / total } else { 0.0 };
        let means: Vec<f64> = match intercept {
            true => center.iter().zip(&sums).map(|(c, s)| c + s * inverse_total).collect(),
            false => vec![0.0; width],
        };
        let mut scatter = vec![0.0f32; width * width];
        scatter.par_chunks_mut(ROWS_PER_TILE * width).enumerate().for_each(|(t, rows)| {
            for (i, row) in (t * ROWS_PER_TILE..).zip(rows.chunks_exact_mut(width)) {
                let entries = &self.entries[i * side..=i * side + i];
                let columns = entries.iter().zip(&sums).zip(center);
                for (to, ((entry, sum), c)) in row.iter_mut().zip(columns) {
                    let correction = match intercept {
                        true => -sums[i] * inverse_total * sum,
                        false => sums[i] * c + center[i] * sum + total * center[i] * c,
                    };
                    *to = entry + correction as f32;
                }
            }
        });
        CenteredFactor::single_precision(means, &scatter, total, penalties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Rows};

    #[test]
    fn an_updated_hessian_equals_one_that_is_computed_anew() {
        let mut random = Random::new(3);
        let (n, width, m) = (500, 5, 2);
        let x = Matrix::from_shape_fn((n, width), |(_, j)| 3.0 * j as f64 + random.normal());
        let penalties = L2Penalties { weights: 1.0, intercept: 0.5 };
        for intercept in [true, false] {
            let design = DesignMatrix::by_rows(&Rows::from(&x), intercept);
            let drawn = |random: &mut Random, fraction: f64| -> Vec<f64> {
                let weight = |u: f64| if u < fraction { 0.5 + u } else { 0.0 };
                (0..n * m).map(|_| weight(random.uniform())).collect()
            };
            let first = drawn(&mut random, 0.6);
            let mut second = first.clone();
            for d in second.iter_mut().step_by(17) {
                *d = if *d == 0.0 { 1.5 } else { 0.0 };
            }

            let before = TrackedHessian::update(None, &design, &first, m, penalties);
            let after = TrackedHessian::update(Some(before), &design, &second, m, penalties);
            let anew = TrackedHessian::update(None, &design, &second, m, penalties);

            let n_weights = design.n_weights();
            let r: Vec<f64> = (0..n_weights * m).map(|_| random.normal()).collect();
            for (k, (a, b)) in after.factors.iter().zip(&anew.factors).enumerate() {
                let solve = |factor: &CenteredFactor| {
                    let mut out = vec![0.0; n_weights * m];
                    factor.solve_one(&r, m, k, penalties.intercept, &mut out);
                    out
                };
                let (a, b) = (solve(a), solve(b));
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
                // H z = r, with H by its definition.
                let column = |i: usize, j: usize| if j < width { x[[i, j]] } else { 1.0 };
                for p in 0..n_weights {
                    let l2 = if p < width { penalties.weights } else { penalties.intercept };
                    let mut product = l2 * a[p * m + k];
                    for i in 0..n {
                        let z: f64 = (0..n_weights).map(|q| column(i, q) * a[q * m + k]).sum();
                        product += second[i * m + k] * column(i, p) * z;
                    }
                    assert!((product - r[p * m + k]).abs() < 1e-2, "{product}");
                }
            }
        }
    }
}
