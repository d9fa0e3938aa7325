//! The mean log-loss of softmax classes with a squared price on the weights, as a function to minimize.
//!
//! `f(w) = Σᵢ sᵢ (−log P(cᵢ | xᵢ)) + ½ λ ‖w‖²` with shares `s` that add up to one; constant terms are
//! free of the price. Its second derivatives are `Σᵢ sᵢ (diag p − ppᵀ) ⊗ xxᵀ + λI`.

use crate::data::ClassWeight;
use crate::data::Classes;
use crate::data::design_matrix::{Column, DesignMatrix};
use crate::error::{Error, Result};
use crate::linear::logistic::{LogisticRegression, Penalty};
use crate::model::Monitor;
use crate::prelude::Dataset;
use crate::solver::SmoothObjective;
use crate::solver::coordinate_descent::PenalizedLoss;
use crate::solver::interleaved::{add_scaled, dot};
use crate::solver::line_search::{LineSearchAccuracy, Safeguard, exact_line_search};
use crate::solver::objective::{SubproblemState, unit_steps};
use crate::solver::preconditioner::{Asked, MOST_CELLS, PenaltyWeights, Preconditioner};
use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;
use mercer_num::rows::Missing;
use mercer_num::simd::logistic::{sigmoid_each, softplus_and_sigmoid_each, softplus_each};
use rayon::prelude::*;
use std::ops::Range;

/// Rows whose losses one thread adds.
const ROWS: usize = 1024;

/// The problem and where its solution has come to.
pub(crate) struct SoftmaxLoss<'a> {
    pub design: DesignMatrix<'a>,
    pub classes: Classes,
    /// The codes of the classes that have rows.
    pub present: Vec<u32>,
    /// Numbers a feature has: one a present class, a single one for two.
    pub m: usize,
    /// The price on half the squared length.
    pub price: f64,
    /// The price on the sum of absolute values.
    pub absolute_price: f64,
    /// The weight of all rows.
    pub total: f64,
    /// Where a row's class stands among the present ones.
    pub places: Vec<u32>,
    /// What part of all weight a row has.
    pub shares: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// Probabilities at the weights.
    pub proba: Vec<f64>,
    direction: Vec<f64>,
    direction_scores: Vec<f64>,
    last: Vec<f64>,
    last_scores: Vec<f64>,
    guess: Preconditioner,
}

/// What is true of the weights.
pub(crate) struct Measured {
    pub value: f64,
    /// What no weights can go below, where the price is a square.
    pub bound: Option<f64>,
    pub violation: f64,
}

impl<'a> SoftmaxLoss<'a> {
    /// The problem at weights of zero.
    ///
    /// # Errors
    /// If the data cannot be learned from.
    pub fn new(
        data: &Dataset<'a>,
        params: &LogisticRegression,
        monitor: &Monitor<'_>,
    ) -> Result<SoftmaxLoss<'a>> {
        let (codes, classes) = data.class_target()?;
        let (n, width) = (data.n_rows(), data.n_columns());
        if n == 0 {
            return Err(Error::NoRows);
        }
        if width == 0 {
            return Err(Error::NoFeatures);
        }
        classes.check_several()?;
        data.check_cells(Missing::Refused)?;
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let mut by_class = vec![0.0; classes.len()];
        codes.iter().enumerate().for_each(|(i, c)| by_class[*c as usize] += weight(i));
        let factors = ClassWeight::factors(params.class_weight.as_ref(), classes, &by_class)?;
        let present: Vec<u32> = (0..classes.len() as u32)
            .filter(|c| by_class[*c as usize] * factors[*c as usize] > 0.0)
            .collect();
        match present[..] {
            [] => return Err(Error::NoRows),
            [only] => return Err(Error::OneClass { class: classes.label(only).to_string() }),
            _ => {}
        }
        let m = if present.len() == 2 { 1 } else { present.len() };
        monitor.reserve("keeping scores of all rows", 8 * 5 * (n * m) as u64)?;
        monitor.reserve("keeping weights", 8 * 10 * ((width + 1) * m) as u64)?;
        let total: f64 = by_class.iter().zip(&factors).map(|(w, f)| w * f).sum();
        let design = DesignMatrix::new(data.rows(), params.fit_intercept, monitor)?;
        let cost = match params.penalty {
            Penalty::None => 0.0,
            _ => 1.0 / (params.C * total),
        };
        let place = |c: &u32| present.iter().position(|p| p == c).unwrap_or(0) as u32;
        let dimension = design.n_weights() * m;
        Ok(SoftmaxLoss {
            classes: classes.clone(),
            m,
            price: cost * (1.0 - params.ratio()),
            absolute_price: cost * params.ratio(),
            total,
            shares: codes
                .iter()
                .enumerate()
                .map(|(i, c)| weight(i) * factors[*c as usize] / total)
                .collect(),
            places: codes.iter().map(place).collect(),
            present,
            weights: vec![0.0; dimension],
            scores: vec![0.0; n * m],
            proba: vec![0.0; n * m],
            direction: vec![0.0; dimension],
            direction_scores: vec![0.0; n * m],
            last: vec![0.0; dimension],
            last_scores: vec![0.0; n * m],
            guess: Preconditioner::None,
            design,
        })
    }

    /// The weights feature by feature, the constant terms last.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Goes to other weights.
    pub fn start_at(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
        self.design.scores(&self.weights, self.m, &mut self.scores);
    }

    /// Goes to where two classes are as likely as they are frequent, whatever the columns say.
    pub fn start_at_odds(&mut self) {
        if self.m > 1 || !self.design.intercept {
            return;
        }
        let second: f64 =
            self.places.iter().zip(&self.shares).filter(|(p, _)| **p == 1).map(|(_, s)| s).sum();
        let constant = (second / (1.0 - second)).ln();
        let first = self.n_priced();
        self.weights[first] = constant;
        self.scores.fill(constant);
    }

    /// How many weights have a price.
    pub fn n_priced(&self) -> usize {
        self.design.width() * self.m
    }

    /// Probabilities from scores; gives the mean loss.
    fn losses(&mut self) -> f64 {
        let (m, places, shares) = (self.m, &self.places, &self.shares);
        let parts: Vec<f64> = self
            .proba
            .par_chunks_mut(ROWS * m)
            .zip(self.scores.par_chunks(ROWS * m))
            .enumerate()
            .map(|(k, (proba, scores))| {
                let rows = places[k * ROWS..].iter().zip(&shares[k * ROWS..]);
                if m == 1 {
                    let mut losses = [0.0; ROWS];
                    let losses = &mut losses[..scores.len()];
                    softplus_and_sigmoid_each(scores, losses, proba);
                    let each = rows.zip(losses.iter().zip(scores));
                    return each
                        .map(|((place, share), (l, z))| share * of_class(*l, *z, *place))
                        .sum();
                }
                proba.copy_from_slice(scores);
                rows.zip(proba.chunks_exact_mut(m))
                    .map(|((place, share), row)| share * to_proba(row, *place))
                    .sum()
            })
            .collect();
        parts.iter().sum()
    }

    /// The price of weights.
    pub fn cost(&self, weights: &[f64]) -> f64 {
        let priced = &weights[..self.n_priced()];
        let absolute: f64 = match self.absolute_price > 0.0 {
            true => priced.iter().map(|w| w.abs()).sum(),
            false => 0.0,
        };
        0.5 * self.price * dot(priced, priced) + self.absolute_price * absolute
    }

    /// `sᵢ (p − y)` of every row: what the scores should change by, in the end.
    fn residuals(&self) -> Vec<f64> {
        let m = self.m;
        let mut residuals = self.proba.clone();
        let rows = self.places.par_iter().zip(&self.shares).with_min_len(ROWS);
        residuals.par_chunks_exact_mut(m).zip(rows).for_each(|(row, (place, share))| {
            to_residual(row, *place);
            row.iter_mut().for_each(|r| *r *= share);
        });
        residuals
    }

    /// The loss and its gradient, without any price.
    pub fn loss_gradient(&mut self, out: &mut [f64]) -> f64 {
        if self.m == 1 && self.design.adds_rows() {
            let mut proba = std::mem::take(&mut self.proba);
            let this = &*self;
            let answer = |rows: Range<usize>, proba: &mut [f64], residuals: &mut [f64]| {
                softplus_and_sigmoid_each(&this.scores[rows.clone()], residuals, proba);
                let mut sum = 0.0;
                for (i, (r, p)) in rows.zip(residuals.iter_mut().zip(proba)) {
                    let (place, share) = (this.places[i], this.shares[i]);
                    sum += share * of_class(*r, this.scores[i], place);
                    *r = share * (*p - f64::from(place));
                }
                sum
            };
            let loss = this.design.sum_rows(&mut proba, answer, out);
            self.proba = proba;
            return loss;
        }
        let loss = self.losses();
        self.design.transpose_product(&self.residuals(), self.m, out);
        loss
    }

    /// `sᵢ p (1 − p)`: how much the losses curve.
    fn curvatures(&self) -> Vec<f64> {
        let mut curvatures = self.proba.clone();
        let shares = self.shares.par_iter().with_min_len(ROWS);
        curvatures.par_chunks_exact_mut(self.m).zip(shares).for_each(|(row, share)| {
            row.iter_mut().for_each(|p| *p = share * *p * (1.0 - *p));
        });
        curvatures
    }

    /// Works everything out afresh from the weights.
    pub fn measure(&mut self) -> Measured {
        let mut gradient = vec![0.0; self.weights.len()];
        self.design.scores(&self.weights, self.m, &mut self.scores);
        self.free_constants();
        let loss = self.loss_gradient(&mut gradient);
        let value = loss + self.cost(&self.weights);
        let violation = self.violations_at(&gradient)[0];
        let bound = match (self.price > 0.0, self.absolute_price > 0.0) {
            (true, _) => Some(value - self.squared_gap(&gradient)),
            (false, true) => Some(self.absolute_bound(&gradient)),
            (false, false) => None,
        };
        Measured { value, bound, violation }
    }

    /// How far the objective is above that of the dual point `y − p`, where the price has a square.
    fn squared_gap(&self, gradient: &[f64]) -> f64 {
        let (pull, price) = (self.absolute_price, self.price);
        let cells = gradient[..self.n_priced()].iter().zip(&self.weights);
        let parts = cells.map(|(g, w)| {
            let beyond = (g.abs() - pull).max(0.0);
            0.5 * price * w * w + pull * w.abs() + 0.5 * beyond * beyond / price + w * g
        });
        parts.sum()
    }

    /// The dual's value at `y − p` made so short that no column exceeds the price on absolute values:
    /// the entropy of probabilities drawn towards the true classes.
    fn absolute_bound(&self, gradient: &[f64]) -> f64 {
        let m = self.m;
        let steepest = gradient[..self.n_priced()].iter().fold(0.0, |a: f64, g| a.max(g.abs()));
        let short =
            if steepest > self.absolute_price { self.absolute_price / steepest } else { 1.0 };
        let information = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let rows = self.places.iter().zip(&self.shares);
        rows.zip(self.proba.chunks_exact(m))
            .map(|((place, share), p)| {
                let towards = |k: usize, p: f64| {
                    short * p + (1.0 - short) * f64::from(u8::from(*place as usize == k))
                };
                share
                    * match p {
                        [p] => {
                            let p = towards(1, *p);
                            information(p) + information(1.0 - p)
                        }
                        p => p.iter().enumerate().map(|(k, p)| information(towards(k, *p))).sum(),
                    }
            })
            .sum()
    }

    /// Makes the constant terms optimal for the weights as they are, by Newton's method on them alone.
    fn free_constants(&mut self) {
        if !self.design.intercept {
            return;
        }
        let (m, first) = (self.m, self.n_priced());
        for _ in 0..20 {
            if m == 1 {
                let (slope, curve) = self.along_the_constant();
                if slope.abs() <= 1e-15 {
                    return;
                }
                let step = slope / (curve + 1e-14);
                self.weights[first] -= step;
                self.scores.par_iter_mut().with_min_len(ROWS).for_each(|z| *z -= step);
                continue;
            }
            self.losses();
            let mut gradient = vec![0.0; m];
            let mut curve = Matrix::zeros((m, m));
            for (row, (place, share)) in
                self.proba.chunks_exact(m).zip(self.places.iter().zip(&self.shares))
            {
                let mut residual = row.to_vec();
                to_residual(&mut residual, *place);
                for k in 0..m {
                    gradient[k] += share * residual[k];
                    curve[[k, k]] += share * row[k];
                    for l in 0..=k {
                        curve[[k, l]] -= share * row[k] * row[l];
                    }
                }
            }
            let worst = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
            // What all constants have in common is free.
            curve.diag_mut().iter_mut().for_each(|c| *c += 1e-14);
            let Some(factor) = Cholesky::of(curve.view()).filter(|_| worst > 1e-15) else { return };
            let step = factor.solve(&gradient);
            self.weights[first..].iter_mut().zip(&step).for_each(|(b, s)| *b -= s);
            for row in self.scores.chunks_exact_mut(m) {
                row.iter_mut().zip(&step).for_each(|(z, s)| *z -= s);
            }
        }
    }
}

impl SoftmaxLoss<'_> {
    /// How the mean loss of two classes rises with their constant term, and how that rises.
    fn along_the_constant(&self) -> (f64, f64) {
        let rows = self.places.par_chunks(ROWS).zip(self.shares.par_chunks(ROWS));
        let parts: Vec<(f64, f64)> = rows
            .zip(self.scores.par_chunks(ROWS))
            .map(|((places, shares), scores)| {
                let mut proba = [0.0; ROWS];
                let proba = &mut proba[..scores.len()];
                proba.copy_from_slice(scores);
                sigmoid_each(proba);
                let cells = proba.iter().zip(places).zip(shares);
                cells.fold((0.0, 0.0), |(slope, curve), ((p, place), share)| {
                    (slope + share * (p - f64::from(*place)), curve + share * (p * (1.0 - p)))
                })
            })
            .collect();
        parts.iter().fold((0.0, 0.0), |(slope, curve), part| (slope + part.0, curve + part.1))
    }
}

impl SoftmaxLoss<'_> {
    /// How the mean loss of two classes rises a share of the direction away, and how that rises.
    fn loss_along(&self, share: f64) -> (f64, f64) {
        let rows = self.places.par_chunks(ROWS).zip(self.shares.par_chunks(ROWS));
        let parts: Vec<(f64, f64)> = rows
            .zip(self.scores.par_chunks(ROWS).zip(self.direction_scores.par_chunks(ROWS)))
            .map(|((places, shares), (scores, steps))| {
                let mut proba = [0.0; ROWS];
                let proba = &mut proba[..scores.len()];
                let moved = proba.iter_mut().zip(scores.iter().zip(steps));
                moved.for_each(|(to, (z, d))| *to = z + share * d);
                sigmoid_each(proba);
                let cells = proba.iter().zip(steps).zip(places.iter().zip(shares));
                cells.fold((0.0, 0.0), |(slope, curve), ((p, d), (place, weight))| {
                    let residual = p - f64::from(*place);
                    (slope + weight * residual * d, curve + weight * (p * (1.0 - p)) * (d * d))
                })
            })
            .collect();
        parts.iter().fold((0.0, 0.0), |(slope, curve), part| (slope + part.0, curve + part.1))
    }
}

impl SmoothObjective for SoftmaxLoss<'_> {
    fn dimension(&self) -> usize {
        self.weights.len()
    }

    fn values_and_gradient(&mut self, out: &mut [f64]) -> Vec<f64> {
        let loss = self.loss_gradient(out);
        let n = self.n_priced();
        out[..n].iter_mut().zip(&self.weights).for_each(|(g, w)| *g += self.price * w);
        vec![loss + self.cost(&self.weights)]
    }

    fn violations(&self, gradient: &[f64]) -> Vec<f64> {
        let worst = |a: f64, g: &f64| if g.abs() > a || g.is_nan() { g.abs() } else { a };
        vec![gradient.iter().fold(0.0, worst)]
    }

    fn prepare_hessian(&mut self) {
        let last = std::mem::replace(&mut self.guess, Preconditioner::None);
        let prices = PenaltyWeights { weights: self.price, constants: 0.0 };
        let shares = |i: usize| self.shares[i];
        let asked = Asked { exact: self.m == 1, spent: 0, room: MOST_CELLS };
        self.guess =
            Preconditioner::at(last, &self.design, &self.curvatures(), shares, prices, asked);
    }

    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]) {
        let (m, proba, shares) = (self.m, &self.proba, &self.shares);
        let curve = |rows: Range<usize>, scores: &[f64], out: &mut [f64]| {
            let proba = &proba[rows.start * m..rows.end * m];
            if m == 1 {
                let cells = out.iter_mut().zip(scores).zip(proba).zip(&shares[rows]);
                cells.for_each(|(((out, u), p), s)| *out = s * (p * (1.0 - p)) * u);
                return;
            }
            let rows = proba.chunks_exact(m).zip(&shares[rows]).zip(scores.chunks_exact(m));
            for (((p, s), u), out) in rows.zip(out.chunks_exact_mut(m)) {
                let mean: f64 = p.iter().zip(u).map(|(p, u)| p * u).sum();
                out.iter_mut().zip(p).zip(u).for_each(|((out, p), u)| *out = s * p * (u - mean));
            }
        };
        self.design.round_trip(v, m, &mut self.last_scores, curve, out);
        self.last.copy_from_slice(v);
        let n = self.n_priced();
        out[..n].iter_mut().zip(v).for_each(|(out, v)| *out += self.price * v);
    }

    fn precondition(&self, r: &[f64], out: &mut [f64]) {
        self.guess.solve(&self.design, r, self.m, 0.0, out);
    }

    fn reset_direction(&mut self) {
        self.direction.fill(0.0);
        self.direction_scores.fill(0.0);
    }

    fn extend_direction(&mut self, shares: &[f64]) {
        add_scaled(shares, &self.last, &mut self.direction);
        add_scaled(shares, &self.last_scores, &mut self.direction_scores);
    }

    fn initial_steps(&mut self, lanes: &[SubproblemState]) -> Vec<f64> {
        let slope = match lanes {
            [lane] if self.m == 1 && lane.is_far_from_optimum() => lane.slope,
            _ => return unit_steps(lanes),
        };
        let (weights, steps) =
            (&self.weights[..self.n_priced()], &self.direction[..self.n_priced()]);
        let (rise, square) = (self.price * dot(weights, steps), self.price * dot(steps, steps));
        let accuracy = LineSearchAccuracy {
            slope_tolerance: 0.1,
            max_evaluations: 8,
            safeguard: Safeguard::Doubling,
        };
        exact_line_search(&[slope], vec![1.0], accuracy, |steps| {
            let (slope, curve) = self.loss_along(steps[0]);
            vec![(slope + rise + steps[0] * square, curve + square)]
        })
    }

    fn values_along(&mut self, along: &[f64]) -> Vec<f64> {
        let share = along[0];
        let (m, places, shares) = (self.m, &self.places, &self.shares);
        let scores = self.scores.par_chunks(ROWS * m);
        let parts: Vec<f64> = scores
            .zip(self.direction_scores.par_chunks(ROWS * m))
            .enumerate()
            .map(|(k, (scores, steps))| {
                let mut row = vec![0.0; m];
                let rows = places[k * ROWS..].iter().zip(&shares[k * ROWS..]);
                if m == 1 {
                    let [mut moved, mut losses] = [[0.0; ROWS]; 2];
                    let cells = moved.iter_mut().zip(scores.iter().zip(steps));
                    cells.for_each(|(to, (z, d))| *to = z + share * d);
                    losses.copy_from_slice(&moved);
                    softplus_each(&mut losses[..scores.len()]);
                    let each = rows.zip(losses.iter().zip(&moved)).take(scores.len());
                    return each.map(|((place, w), (l, z))| w * of_class(*l, *z, *place)).sum();
                }
                scores
                    .chunks_exact(m)
                    .zip(steps.chunks_exact(m))
                    .zip(rows)
                    .map(|((z, d), (place, weight))| {
                        let cells = row.iter_mut().zip(z).zip(d);
                        cells.for_each(|((row, z), d)| *row = z + share * d);
                        weight * to_proba(&mut row, *place)
                    })
                    .sum()
            })
            .collect();
        let moved: Vec<f64> =
            self.weights.iter().zip(&self.direction).map(|(w, d)| w + share * d).collect();
        vec![parts.iter().sum::<f64>() + self.cost(&moved)]
    }

    fn take_step(&mut self, shares: &[f64]) {
        add_scaled(shares, &self.direction, &mut self.weights);
        add_scaled(shares, &self.direction_scores, &mut self.scores);
    }
}

impl PenalizedLoss for SoftmaxLoss<'_> {
    fn n_rows(&self) -> usize {
        self.design.n_rows()
    }

    fn n_columns(&self) -> usize {
        self.design.width()
    }

    fn columns(&self, which: &[usize]) -> Vec<Column<'_>> {
        self.design.columns(which)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn width(&self) -> usize {
        self.m
    }

    fn price(&self, column: usize) -> (f64, f64) {
        match column < self.design.width() {
            true => (self.price, self.absolute_price),
            false => (0.0, 0.0),
        }
    }

    fn losses_gradient(&mut self, out: &mut [f64]) -> Vec<f64> {
        vec![self.loss_gradient(out)]
    }

    fn curvatures(&self) -> Vec<f64> {
        SoftmaxLoss::curvatures(self)
    }

    fn coupled(&self) -> Option<(&[f64], &[f64])> {
        (self.m > 1).then_some((&self.proba, &self.shares))
    }

    fn set_direction(&mut self, direction: Vec<f64>, scores: Vec<f64>) {
        (self.direction, self.direction_scores) = (direction, scores);
    }
}

/// `−log P` of one of two classes, from `log(1 + eᶻ)`.
#[inline]
fn of_class(loss: f64, z: f64, place: u32) -> f64 {
    if place == 1 { loss - z } else { loss }
}

/// HadamardRotation the scores of a row into probabilities; gives `−log P` of the class at a place.
fn to_proba(row: &mut [f64], place: u32) -> f64 {
    let largest = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let own = row[place as usize] - largest;
    row.iter_mut().for_each(|z| *z -= largest);
    mercer_num::simd::exp::exp_each_double(row);
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
    sum.ln() - own
}

/// Probabilities less one for the true class.
fn to_residual(row: &mut [f64], place: u32) {
    match row {
        [p] => *p -= f64::from(place),
        row => row[place as usize] -= 1.0,
    }
}
