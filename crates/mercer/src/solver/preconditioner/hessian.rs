//! Second derivatives `XᵀDX` of dense rows, kept from step to step.
//!
//! A priced distance curves only in the rows whose score is off its interval, which are few near the optimum,
//! and of them only a few are others than at the last step. So every function has the cross-products of its
//! own rows written out, and a step adds what came and takes away what left. They stand in front of conjugate
//! gradients whose products are worked out afresh, in double precision: what rounding leaves of rows that came
//! and went, or of panels in single precision, costs a product, not a digit.

use super::woodbury::alike;
use super::{Centered, PenaltyWeights};
use crate::data::design_matrix::DesignMatrix;
use mercer_num::linalg::add_gram_rows;
use rayon::prelude::*;

/// Rows written out and multiplied together.
const PANEL: usize = 1024;
/// Rows of cross-products, and of what one thread writes out, at a time.
const TILE: usize = 128;
/// How much more cells of a row's cross-products are made in a time than those of its products with vectors, which
/// wait for memory.
const FASTER: f64 = 14.0;

/// Cross-products of the rows that curve, for every function.
pub(crate) struct TrackedHessian {
    /// What is taken off the columns.
    center: Vec<f64>,
    each: Vec<Products>,
    /// Ready to solve with.
    pub solved: Vec<Centered>,
}

/// Those of one function, for the curvatures `d` they are of.
#[derive(Clone)]
struct Products {
    curvatures: Vec<f64>,
    /// `Σ d (x − center)(x − center)ᵀ`, the lower triangle, with `Σ d (x − center)` below it.
    cells: Vec<f32>,
}

impl TrackedHessian {
    /// Numbers that are kept of so many functions of so many columns, and as many again of factors.
    pub fn cells(m: usize, width: usize) -> usize {
        m * (width + 1) * (width + 1)
    }

    /// What beginning with such curvatures costs, in products with all rows.
    pub fn cost(curvatures: &[f64], m: usize, width: usize) -> f64 {
        let all = curvatures.iter().filter(|d| **d != 0.0).count();
        let visits = if alike(curvatures, m) { all / m } else { all };
        visits as f64 * width as f64 / (FASTER * curvatures.len().max(1) as f64)
    }

    /// Brings cross-products to other curvatures, `m` of them a row.
    pub fn at(
        last: Option<TrackedHessian>,
        design: &DesignMatrix<'_>,
        curvatures: &[f64],
        m: usize,
        prices: PenaltyWeights,
    ) -> TrackedHessian {
        let (n, width) = (design.n_rows(), design.width());
        let Some(TrackedHessian { center, mut each, solved }) = last else {
            let center = design.means();
            let side = width + 1;
            let none = Products { curvatures: vec![0.0; n], cells: vec![0.0; side * side] };
            // Functions that curve alike, as all do where every score is zero, share the work.
            let different = if alike(curvatures, m) { 1 } else { m };
            let mut each = vec![none; different];
            each.par_iter_mut().enumerate().for_each(|(k, products)| {
                products.go_to(design, &center, curvatures, (m, k));
            });
            each.resize(m, each[0].clone());
            let solve = |products: &Products| products.solved(&center, design.intercept, prices);
            let solved = each.par_iter().map(solve).collect();
            return TrackedHessian { center, each, solved };
        };
        let solved = (each.par_iter_mut().zip(solved).enumerate())
            .map(|(k, (products, solved))| {
                match products.go_to(design, &center, curvatures, (m, k)) {
                    true => products.solved(&center, design.intercept, prices),
                    false => solved,
                }
            })
            .collect();
        TrackedHessian { center, each, solved }
    }
}

/// Rows whose curvature is another than before.
enum Changes {
    /// By how much.
    Some(Vec<(usize, f64)>),
    /// So many that it is less to begin anew: all that curve.
    All(Vec<(usize, f64)>),
}

fn changes(old: &[f64], curvatures: &[f64], (m, k): (usize, usize)) -> Changes {
    let new = || curvatures.iter().skip(k).step_by(m).enumerate();
    let moved = |((i, new), old): ((usize, &f64), &f64)| (i, new - old);
    let some: Vec<(usize, f64)> = new().zip(old).map(moved).filter(|(_, d)| *d != 0.0).collect();
    let all = || new().filter(|(_, d)| **d != 0.0);
    if some.len() <= all().count() {
        Changes::Some(some)
    } else {
        Changes::All(all().map(|(i, d)| (i, *d)).collect())
    }
}

impl Products {
    /// Takes other curvatures; says whether they are others.
    fn go_to(
        &mut self,
        design: &DesignMatrix<'_>,
        center: &[f64],
        curvatures: &[f64],
        (m, k): (usize, usize),
    ) -> bool {
        let rows = match changes(&self.curvatures, curvatures, (m, k)) {
            Changes::Some(rows) if rows.is_empty() => return false,
            Changes::Some(rows) => rows,
            Changes::All(rows) => {
                self.cells.fill(0.0);
                rows
            }
        };
        let (came, left): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, d)| *d > 0.0);
        self.add(design, center, &came, 1.0);
        self.add(design, center, &left, -1.0);
        let own = curvatures.iter().skip(k).step_by(m);
        self.curvatures.iter_mut().zip(own).for_each(|(to, d)| *to = *d);
        true
    }

    /// Adds `sign · Σ |d| (x − center)(x − center)ᵀ`, with sums below, every cell on one thread.
    fn add(&mut self, design: &DesignMatrix<'_>, center: &[f64], rows: &[(usize, f64)], sign: f32) {
        let side = center.len() + 1;
        let mut panel = vec![0.0f32; PANEL.min(rows.len()) * side];
        for rows in rows.chunks(PANEL) {
            let panel = &mut panel[..rows.len() * side];
            let parts = panel.par_chunks_mut(TILE * side).zip(rows.par_chunks(TILE));
            parts.for_each(|(panel, rows)| {
                for (to, (i, d)) in panel.chunks_exact_mut(side).zip(rows) {
                    let root = d.abs().sqrt();
                    let row = design.dense_row(*i);
                    let cells = to.iter_mut().zip(row.iter().zip(center));
                    cells.for_each(|(to, (x, c))| *to = ((x - c) * root) as f32);
                    to[side - 1] = root as f32;
                }
            });
            let panel = &*panel;
            self.cells.par_chunks_mut(TILE * side).enumerate().for_each(|(k, cells)| {
                add_gram_rows(panel, side, k * TILE, cells, sign);
            });
        }
    }

    fn solved(&self, center: &[f64], intercept: bool, prices: PenaltyWeights) -> Centered {
        let width = center.len();
        let side = width + 1;
        let total: f64 = self.curvatures.iter().sum();
        let sums = &self.cells[width * side..width * side + width];
        let sums: Vec<f64> = sums.iter().map(|s| f64::from(*s)).collect();
        let share = if intercept && total > 0.0 { 1.0 / total } else { 0.0 };
        let means: Vec<f64> = match intercept {
            true => center.iter().zip(&sums).map(|(c, s)| c + s * share).collect(),
            false => vec![0.0; width],
        };
        // Around zero where no constant term goes along with the columns. Only the lower triangle is read.
        let mut scatter = vec![0.0f32; width * width];
        scatter.par_chunks_mut(TILE * width).enumerate().for_each(|(t, lines)| {
            for (i, line) in (t * TILE..).zip(lines.chunks_exact_mut(width)) {
                let cells = &self.cells[i * side..=i * side + i];
                let columns = cells.iter().zip(&sums).zip(center);
                for (to, ((cell, sum), c)) in line.iter_mut().zip(columns) {
                    let apart = match intercept {
                        true => -sums[i] * share * sum,
                        false => sums[i] * c + center[i] * sum + total * center[i] * c,
                    };
                    *to = cell + apart as f32;
                }
            }
        });
        Centered::of_many(means, scatter, total, prices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Rows};

    #[test]
    fn what_came_and_left_gives_what_beginning_anew_does() {
        let mut random = Random::new(3);
        let (n, width, m) = (500, 5, 2);
        let x = Matrix::from_shape_fn((n, width), |(_, j)| 3.0 * j as f64 + random.normal());
        let prices = PenaltyWeights { weights: 1.0, constants: 0.5 };
        for intercept in [true, false] {
            let design = DesignMatrix::by_rows(&Rows::from(&x), intercept);
            let drawn = |random: &mut Random, share: f64| -> Vec<f64> {
                let weight = |u: f64| if u < share { 0.5 + u } else { 0.0 };
                (0..n * m).map(|_| weight(random.uniform())).collect()
            };
            let first = drawn(&mut random, 0.6);
            let mut second = first.clone();
            for d in second.iter_mut().step_by(17) {
                *d = if *d == 0.0 { 1.5 } else { 0.0 };
            }

            let before = TrackedHessian::at(None, &design, &first, m, prices);
            let after = TrackedHessian::at(Some(before), &design, &second, m, prices);
            let anew = TrackedHessian::at(None, &design, &second, m, prices);

            let weights = design.n_weights();
            let r: Vec<f64> = (0..weights * m).map(|_| random.normal()).collect();
            for (k, (a, b)) in after.solved.iter().zip(&anew.solved).enumerate() {
                let solve = |c: &Centered| {
                    let mut out = vec![0.0; weights * m];
                    c.solve_one(&r, m, k, prices.constants, &mut out);
                    out
                };
                let (a, b) = (solve(a), solve(b));
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
                // H z = r, with H written out.
                let column = |i: usize, j: usize| if j < width { x[[i, j]] } else { 1.0 };
                for p in 0..weights {
                    let price = if p < width { prices.weights } else { prices.constants };
                    let mut made = price * a[p * m + k];
                    for i in 0..n {
                        let z: f64 = (0..weights).map(|q| column(i, q) * a[q * m + k]).sum();
                        made += second[i * m + k] * column(i, p) * z;
                    }
                    assert!((made - r[p * m + k]).abs() < 1e-2, "{made}");
                }
            }
        }
    }
}
