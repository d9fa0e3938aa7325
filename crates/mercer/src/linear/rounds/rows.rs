//! The rows of a round: the loss of a row with its derivatives, and sums over the cells of rows.

use super::{LinearProblem, State};
use crate::data::Dataset;
use crate::error::Result;
use mercer_num::Rows;

/// The loss of a row as a function of its scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowLoss {
    Softmax,
    SquaredHinge,
    SquaredEpsilonInsensitive { epsilon: f64 },
}

/// The targets of a batch with what each row costs.
pub(super) struct Targets<'a, 'd> {
    weights: &'d [f64],
    codes: &'d [u32],
    numbers: &'d [f64],
    state: &'a State,
    c: f64,
}

impl<'a, 'd> Targets<'a, 'd> {
    pub(super) fn of(
        problem: &LinearProblem,
        state: &'a State,
        batch: &Dataset<'d>,
    ) -> Result<Targets<'a, 'd>> {
        let (codes, numbers) = match problem.classes {
            Some(_) => (batch.class_target()?.0, &[][..]),
            None => (&[][..], batch.regression_target()?),
        };
        Ok(Targets { weights: batch.weights(), codes, numbers, state, c: problem.c })
    }

    pub(super) fn row(&self, i: usize) -> RowTarget {
        let cost = self.c * self.weights.get(i).copied().unwrap_or(1.0);
        match self.codes.get(i) {
            Some(code) => RowTarget {
                cost,
                factor: self.state.factors[*code as usize],
                class: self.state.index[*code as usize] as usize,
                y: 0.0,
            },
            None => RowTarget { cost, factor: 1.0, class: 0, y: self.numbers[i] },
        }
    }
}

/// The target of a row: its class among the present ones, or its value.
#[derive(Clone, Copy)]
pub(super) struct RowTarget {
    cost: f64,
    /// The weight of its class in the loss.
    factor: f64,
    class: usize,
    y: f64,
}

impl RowTarget {
    /// The side and the cost of the row in subproblem `k` of one-vs-rest.
    pub(super) fn side(&self, k: usize, m: usize) -> (f64, f64) {
        let own = if m == 1 { self.class == 1 } else { self.class == k };
        // The factor of a class weighs its rows where it is told from the rest; for two classes always.
        let factor = if m == 1 || own { self.factor } else { 1.0 };
        (if own { 1.0 } else { -1.0 }, self.cost * factor)
    }

    /// The loss, its gradient and the diagonal of its Hessian in the scores.
    pub(super) fn loss(
        &self,
        loss: RowLoss,
        scores: &[f64],
        gradient: &mut [f64],
        curvature: &mut [f64],
    ) -> f64 {
        match loss {
            RowLoss::Softmax => {
                let cost = self.cost * self.factor;
                let log_normalizer = probabilities(scores, gradient);
                let own = if scores.len() == 1 {
                    f64::from(u8::from(self.class == 1)) * scores[0]
                } else {
                    scores[self.class]
                };
                for (k, (g, h)) in gradient.iter_mut().zip(curvature).enumerate() {
                    let hit = if scores.len() == 1 { self.class == 1 } else { self.class == k };
                    *h = cost * *g * (1.0 - *g);
                    *g = cost * (*g - f64::from(u8::from(hit)));
                }
                cost * (log_normalizer - own)
            }
            RowLoss::SquaredHinge => {
                let mut sum = 0.0;
                for (k, z) in scores.iter().enumerate() {
                    let (side, cost) = self.side(k, scores.len());
                    let slack = (1.0 - side * z).max(0.0);
                    sum += cost * slack * slack;
                    gradient[k] = -2.0 * cost * side * slack;
                    curvature[k] = if slack > 0.0 { 2.0 * cost } else { 0.0 };
                }
                sum
            }
            RowLoss::SquaredEpsilonInsensitive { epsilon } => {
                let off = scores[0] - self.y;
                let slack = (off.abs() - epsilon).max(0.0);
                gradient[0] = 2.0 * self.cost * slack * off.signum();
                curvature[0] = if slack > 0.0 { 2.0 * self.cost } else { 0.0 };
                self.cost * slack * slack
            }
        }
    }

    /// The product of the Hessian in the scores with a change of them.
    pub(super) fn hessian_product(
        &self,
        loss: RowLoss,
        scores: &[f64],
        moves: &[f64],
        out: &mut [f64],
    ) {
        if loss == RowLoss::Softmax {
            let cost = self.cost * self.factor;
            probabilities(scores, out);
            let mean: f64 = match scores.len() {
                1 => out[0] * moves[0],
                _ => out.iter().zip(moves).map(|(p, u)| p * u).sum(),
            };
            out.iter_mut().zip(moves).for_each(|(p, u)| *p *= cost * (u - mean));
            return;
        }
        let mut gradient = vec![0.0; scores.len()];
        self.loss(loss, scores, &mut gradient, out);
        out.iter_mut().zip(moves).for_each(|(h, u)| *h *= u);
    }
}

/// Adds the Hessian of the loss of a row: `x̃ⱼ x̃ⱼ' Sₖₖ'`, with the row `x̃` extended by the intercept and the Hessian `S` in
/// the scores.
pub(super) struct HessianRow {
    /// The Hessian in the scores.
    in_scores: Vec<f64>,
    /// The row, extended by the intercept.
    extended: Vec<f64>,
    /// `x̃ⱼ' Sₖₖ'` for one `k`.
    products: Vec<f64>,
    m: usize,
}

impl HessianRow {
    pub(super) fn new(m: usize, n: usize) -> HessianRow {
        let width = n / m.max(1);
        HessianRow {
            in_scores: vec![0.0; m * m],
            extended: vec![0.0; width],
            products: vec![0.0; n],
            m,
        }
    }

    pub(super) fn set_scores(
        &mut self,
        loss: RowLoss,
        row: &RowTarget,
        scores: &[f64],
        curvature: &[f64],
    ) {
        let m = self.m;
        if loss == RowLoss::Softmax && m > 1 {
            let mut p = vec![0.0; m];
            probabilities(scores, &mut p);
            let cost = row.cost * row.factor;
            for k in 0..m {
                for l in 0..m {
                    self.in_scores[k * m + l] = -cost * p[k] * p[l];
                }
            }
        }
        (0..m).for_each(|k| self.in_scores[k * m + k] = curvature[k]);
    }

    pub(super) fn add(
        &mut self,
        cells: &RowCells<'_>,
        problem: &LinearProblem,
        packed: &mut [f64],
    ) {
        if self.in_scores.iter().all(|s| *s == 0.0) {
            return;
        }
        let m = self.m;
        self.extended.fill(0.0);
        let extended = &mut self.extended;
        cells.each(|j, x| extended[j] += x);
        if problem.fit_intercept {
            extended[problem.width] = 1.0;
        }
        for k in 0..m {
            let scores = &self.in_scores[k * m..(k + 1) * m];
            for (x, to) in self.extended.iter().zip(self.products.chunks_exact_mut(m)) {
                to.iter_mut().zip(scores).for_each(|(to, s)| *to = x * s);
            }
            for (j, x) in self.extended.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let i = j * m + k;
                let first = i * (i + 1) / 2;
                let sums = &mut packed[first..=first + i];
                sums.iter_mut().zip(&self.products).for_each(|(sum, p)| *sum += x * p);
            }
        }
    }
}

/// Softmax probabilities, or the sigmoid of one score; returns the log of the normalizer.
pub(super) fn probabilities(scores: &[f64], out: &mut [f64]) -> f64 {
    if let [z] = scores {
        out[0] = 1.0 / (1.0 + (-z).exp());
        return z.max(0.0) + (-z.abs()).exp().ln_1p();
    }
    let top = scores.iter().fold(f64::NEG_INFINITY, |a, z| a.max(*z));
    let total: f64 = scores.iter().map(|z| (z - top).exp()).sum();
    out.iter_mut().zip(scores).for_each(|(p, z)| *p = (z - top).exp() / total);
    top + total.ln()
}

/// The cells of a row, dense or sparse.
pub(super) enum RowCells<'a> {
    Dense(&'a [f64]),
    Sparse(&'a [i32], &'a [f64]),
}

impl RowCells<'_> {
    pub(super) fn each(&self, mut see: impl FnMut(usize, f64)) {
        match self {
            RowCells::Dense(cells) => cells.iter().enumerate().for_each(|(j, x)| see(j, *x)),
            RowCells::Sparse(columns, values) => {
                columns.iter().zip(*values).for_each(|(j, x)| see(*j as usize, *x));
            }
        }
    }

    /// `Σⱼ xⱼ wⱼ + b` for every output.
    pub(super) fn score(&self, weights: &[f64], problem: &LinearProblem, scores: &mut [f64]) {
        let m = scores.len();
        match problem.fit_intercept {
            true => scores.copy_from_slice(&weights[problem.width * m..]),
            false => scores.fill(0.0),
        }
        self.each(|j, x| {
            let weights = &weights[j * m..(j + 1) * m];
            scores.iter_mut().zip(weights).for_each(|(z, w)| *z += x * w);
        });
    }

    /// Adds `xⱼ rₖ` to every sum.
    pub(super) fn add(&self, residual: &[f64], problem: &LinearProblem, sums: &mut [f64]) {
        let m = residual.len();
        self.each(|j, x| {
            let sums = &mut sums[j * m..(j + 1) * m];
            sums.iter_mut().zip(residual).for_each(|(s, r)| *s += x * r);
        });
        if problem.fit_intercept {
            let sums = &mut sums[problem.width * m..];
            sums.iter_mut().zip(residual).for_each(|(s, r)| *s += r);
        }
    }

    /// Adds `xⱼ² hₖ` to every sum.
    pub(super) fn add_squares(&self, curvature: &[f64], problem: &LinearProblem, sums: &mut [f64]) {
        let m = curvature.len();
        self.each(|j, x| {
            let sums = &mut sums[j * m..(j + 1) * m];
            sums.iter_mut().zip(curvature).for_each(|(s, h)| *s += x * x * h);
        });
        if problem.fit_intercept {
            let sums = &mut sums[problem.width * m..];
            sums.iter_mut().zip(curvature).for_each(|(s, h)| *s += h);
        }
    }
}

/// Visits rows in order.
pub(super) fn each_row(rows: &Rows<'_>, mut see: impl FnMut(usize, RowCells<'_>)) {
    if let Rows::Sparse(sparse) = rows {
        for i in 0..sparse.n_rows() {
            let (columns, values) = sparse.row(i);
            see(i, RowCells::Sparse(columns, values));
        }
        return;
    }
    let width = rows.n_columns().max(1);
    let block = rows.block(0..rows.n_rows()).unwrap_or_default();
    block.chunks_exact(width).enumerate().for_each(|(i, cells)| see(i, RowCells::Dense(cells)));
}
