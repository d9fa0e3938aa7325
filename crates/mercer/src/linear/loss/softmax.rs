//! The log loss of softmax classes (multinomial logistic regression) with an elastic-net penalty.
//!
//! `f(w) = Σᵢ sᵢ (−log P(cᵢ | xᵢ)) + ½ λ₂ ‖w‖² + λ₁ ‖w‖₁` with row weights `s` that sum to one and unpenalized intercepts. The
//! Hessian is `Σᵢ sᵢ (diag p − ppᵀ) ⊗ xxᵀ + λ₂I`. Two classes have a single score, the log odds of the second.

use crate::data::ClassWeight;
use crate::data::Classes;
use crate::data::design_matrix::{Column, DesignMatrix};
use crate::error::{Error, Result};
use crate::linear::logistic::{LogisticRegression, Penalty};
use crate::linear::svc::class_positions;
use crate::model::Monitor;
use crate::prelude::Dataset;
use crate::solver::SmoothObjective;
use crate::solver::conjugate_gradient::conjugate_gradient;
use crate::solver::coordinate_descent::{ElasticNetPenalty, PenalizedLoss};
use crate::solver::duality_gap::DualityGap;
use crate::solver::interleaved::{add_scaled, dot};
use crate::solver::line_search::{LineSearchAccuracy, exact_line_search};
use crate::solver::objective::{SubproblemState, unit_steps};
use crate::solver::preconditioner::{
    L2Penalties, MAX_HESSIAN_ENTRIES, Preconditioner, PreconditionerOptions,
};
use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;
use mercer_num::parallel::prelude::*;
use mercer_num::rows::Missing;
use mercer_num::simd::logistic::{sigmoid_each, softplus_and_sigmoid_each, softplus_each};
use std::ops::Range;

/// Rows whose losses one task sums.
const ROWS_PER_BLOCK: usize = 1024;
/// Up to so many classes the Hessian of the intercepts is a dense matrix.
const MAX_DENSE_INTERCEPTS: usize = 128;
/// The mean residual of a class, and the residual of a Newton step relative to the gradient, that count as zero for more
/// classes than that; the number of Hessian products per step.
const INTERCEPT_TOLERANCE: f64 = 1e-14;
const INTERCEPT_FORCING: f64 = 1e-3;
const MAX_INTERCEPT_PRODUCTS: u64 = 20;
/// The memory of the scores of all rows and classes if the user sets no budget: 20,000 rows of 5,000 classes.
const DEFAULT_SCORE_BYTES: u64 = 4 << 30;
/// The remedy if they need more.
const SCORES_REMEDY: &str = "raise the memory budget, or use linear-svc, sgd, gaussian-nb or lda, which are fitted class by class";
/// Scores that are computed for the certificate even after a stop.
const MAX_SCORES_AFTER_STOP: usize = 2_000_000;

/// The problem at its current weights.
pub(crate) struct SoftmaxLoss<'a> {
    pub design: DesignMatrix<'a>,
    pub classes: Classes,
    /// The codes of the observed classes.
    pub observed: Vec<u32>,
    /// `m`: weights per feature and scores per row, one per observed class, or a single one for two classes.
    pub n_outputs: usize,
    /// `λ₂`.
    pub l2_penalty: f64,
    /// `λ₁`.
    pub l1_penalty: f64,
    /// The sum of the sample weights, times the class weights.
    pub total: f64,
    /// The index of a row's class among the observed ones.
    pub class_indices: Vec<u32>,
    /// `s`: the weight of a row, relative to the sum.
    pub row_weights: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// The probabilities at the current weights.
    pub proba: Vec<f64>,
    direction: Vec<f64>,
    direction_scores: Vec<f64>,
    last_vector: Vec<f64>,
    last_scores: Vec<f64>,
    preconditioner: Preconditioner,
}

impl<'a> SoftmaxLoss<'a> {
    /// The problem at zero weights.
    ///
    /// # Errors
    /// If the data has no rows, no columns, bad entries or a single class.
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
        let mut class_totals = vec![0.0; classes.len()];
        codes.iter().enumerate().for_each(|(i, c)| class_totals[*c as usize] += weight(i));
        let class_weights =
            ClassWeight::factors(params.class_weight.as_ref(), classes, &class_totals)?;
        let observed: Vec<u32> = (0..classes.len() as u32)
            .filter(|c| class_totals[*c as usize] * class_weights[*c as usize] > 0.0)
            .collect();
        match observed[..] {
            [] => return Err(Error::NoRows),
            [only] => return Err(Error::OneClass { class: classes.label(only).to_string() }),
            _ => {}
        }
        let m = if observed.len() == 2 { 1 } else { observed.len() };
        let what = format!("storing the scores of {n} rows and {m} classes");
        monitor.reserve_or(&what, 8 * 5 * (n * m) as u64, DEFAULT_SCORE_BYTES, SCORES_REMEDY)?;
        monitor.reserve("storing the weights", 8 * 10 * ((width + 1) * m) as u64)?;
        let total: f64 = class_totals.iter().zip(&class_weights).map(|(w, f)| w * f).sum();
        let design = DesignMatrix::new(data.rows(), params.fit_intercept, monitor)?;
        let cost = match params.penalty {
            Penalty::None => 0.0,
            _ => 1.0 / (params.C * total),
        };
        let index_of = class_positions(&observed, classes.len());
        let index = |c: &u32| index_of[*c as usize];
        let dimension = design.n_weights() * m;
        Ok(SoftmaxLoss {
            classes: classes.clone(),
            n_outputs: m,
            l2_penalty: cost * (1.0 - params.ratio()),
            l1_penalty: cost * params.ratio(),
            total,
            row_weights: codes
                .iter()
                .enumerate()
                .map(|(i, c)| weight(i) * class_weights[*c as usize] / total)
                .collect(),
            class_indices: codes.iter().map(index).collect(),
            observed,
            weights: vec![0.0; dimension],
            scores: vec![0.0; n * m],
            proba: vec![0.0; n * m],
            direction: vec![0.0; dimension],
            direction_scores: vec![0.0; n * m],
            last_vector: vec![0.0; dimension],
            last_scores: vec![0.0; n * m],
            preconditioner: Preconditioner::None,
            design,
        })
    }

    /// The weights feature by feature, the intercepts last.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Moves to other weights.
    pub fn start_at(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
        self.design.scores(&self.weights, self.n_outputs, &mut self.scores);
    }

    /// Sets the intercept of two classes to the log odds of their frequencies.
    pub fn start_at_class_frequencies(&mut self) {
        if self.n_outputs > 1 || !self.design.intercept {
            return;
        }
        let second: f64 = self
            .class_indices
            .iter()
            .zip(&self.row_weights)
            .filter(|(p, _)| **p == 1)
            .map(|(_, s)| s)
            .sum();
        let intercept = (second / (1.0 - second)).ln();
        let first = self.n_penalized();
        self.weights[first] = intercept;
        self.scores.fill(intercept);
    }

    /// The number of penalized weights.
    pub fn n_penalized(&self) -> usize {
        self.design.width() * self.n_outputs
    }

    /// Updates the probabilities from the scores; returns the mean loss.
    fn update_probabilities(&mut self) -> f64 {
        let (m, class_indices, row_weights) =
            (self.n_outputs, &self.class_indices, &self.row_weights);
        let blocks: Vec<f64> = self
            .proba
            .par_chunks_mut(ROWS_PER_BLOCK * m)
            .zip(self.scores.par_chunks(ROWS_PER_BLOCK * m))
            .enumerate()
            .map(|(k, (proba, scores))| {
                let rows = class_indices[k * ROWS_PER_BLOCK..]
                    .iter()
                    .zip(&row_weights[k * ROWS_PER_BLOCK..]);
                if m == 1 {
                    let mut losses = [0.0; ROWS_PER_BLOCK];
                    let losses = &mut losses[..scores.len()];
                    softplus_and_sigmoid_each(scores, losses, proba);
                    let each = rows.zip(losses.iter().zip(scores));
                    return each
                        .map(|((class, weight), (l, z))| weight * class_loss(*l, *z, *class))
                        .sum();
                }
                proba.copy_from_slice(scores);
                rows.zip(proba.chunks_exact_mut(m))
                    .map(|((class, weight), row)| weight * to_proba(row, *class))
                    .sum()
            })
            .collect();
        blocks.iter().sum()
    }

    /// The penalty of weights.
    fn penalty_value(&self, weights: &[f64]) -> f64 {
        let penalized = &weights[..self.n_penalized()];
        let absolute: f64 = match self.l1_penalty > 0.0 {
            true => penalized.iter().map(|w| w.abs()).sum(),
            false => 0.0,
        };
        0.5 * self.l2_penalty * dot(penalized, penalized) + self.l1_penalty * absolute
    }

    /// `sᵢ (p − y)` of every row: the derivative of the loss by the scores.
    fn residuals(&self) -> Vec<f64> {
        let m = self.n_outputs;
        let mut residuals = self.proba.clone();
        let rows =
            self.class_indices.par_iter().zip(&self.row_weights).with_min_len(ROWS_PER_BLOCK);
        residuals.par_chunks_exact_mut(m).zip(rows).for_each(|(row, (class, weight))| {
            to_residual(row, *class);
            row.iter_mut().for_each(|r| *r *= weight);
        });
        residuals
    }

    /// Writes the gradient of the mean loss, without the penalty; returns the loss.
    pub fn loss_and_gradient(&mut self, out: &mut [f64]) -> f64 {
        if self.n_outputs == 1 && self.design.sums_by_row() {
            let mut proba = std::mem::take(&mut self.proba);
            let this = &*self;
            let residuals_of = |rows: Range<usize>, proba: &mut [f64], residuals: &mut [f64]| {
                softplus_and_sigmoid_each(&this.scores[rows.clone()], residuals, proba);
                let mut sum = 0.0;
                for (i, (r, p)) in rows.zip(residuals.iter_mut().zip(proba)) {
                    let (class, weight) = (this.class_indices[i], this.row_weights[i]);
                    sum += weight * class_loss(*r, this.scores[i], class);
                    *r = weight * (*p - f64::from(class));
                }
                sum
            };
            let loss = this.design.map_transpose_product(&mut proba, residuals_of, out);
            self.proba = proba;
            return loss;
        }
        let loss = self.update_probabilities();
        self.design.transpose_product(&self.residuals(), self.n_outputs, out);
        loss
    }

    /// The duality gap and the largest entry of the minimum-norm subgradient, computed anew from the weights after the
    /// intercepts are optimized. There is no dual value if the monitor stops that, and `None` if the scores are too many
    /// to be computed after a stop.
    pub fn duality_gap(&mut self, monitor: &Monitor<'_>) -> Option<DualityGap> {
        if self.scores.len() > MAX_SCORES_AFTER_STOP && monitor.stop().is_some() {
            return None;
        }
        let mut gradient = vec![0.0; self.weights.len()];
        self.design.scores(&self.weights, self.n_outputs, &mut self.scores);
        let balanced = self.optimize_intercepts(monitor);
        let loss = self.loss_and_gradient(&mut gradient);
        let value = loss + self.penalty_value(&self.weights);
        let gap = match (self.l2_penalty > 0.0, self.l1_penalty > 0.0) {
            _ if !balanced => DualityGap::without_dual(value),
            (true, _) => DualityGap::from_gap(value, self.l2_gap(&gradient)),
            (false, true) => DualityGap::from_dual(value, self.l1_dual(&gradient)),
            (false, false) => DualityGap::without_dual(value),
        };
        Some(DualityGap { kkt_violation: self.subgradient_violations(&gradient)[0], ..gap })
    }

    /// The gap to the dual point `y − p`, with an L2 penalty.
    fn l2_gap(&self, gradient: &[f64]) -> f64 {
        let (l1, l2) = (self.l1_penalty, self.l2_penalty);
        let entries = gradient[..self.n_penalized()].iter().zip(&self.weights);
        let gaps = entries.map(|(g, w)| {
            let excess = (g.abs() - l1).max(0.0);
            0.5 * l2 * w * w + l1 * w.abs() + 0.5 * excess * excess / l2 + w * g
        });
        gaps.sum()
    }

    /// The dual value at `y − p`, scaled until no column exceeds the L1 penalty: the entropy of probabilities that are
    /// moved towards the true classes.
    fn l1_dual(&self, gradient: &[f64]) -> f64 {
        let m = self.n_outputs;
        let largest = gradient[..self.n_penalized()].iter().fold(0.0, |a: f64, g| a.max(g.abs()));
        let scale = if largest > self.l1_penalty { self.l1_penalty / largest } else { 1.0 };
        let entropy = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let rows = self.class_indices.iter().zip(&self.row_weights);
        rows.zip(self.proba.chunks_exact(m))
            .map(|((class, weight), p)| {
                let moved = |k: usize, p: f64| {
                    scale * p + (1.0 - scale) * f64::from(u8::from(*class as usize == k))
                };
                weight
                    * match p {
                        [p] => {
                            let p = moved(1, *p);
                            entropy(p) + entropy(1.0 - p)
                        }
                        p => p.iter().enumerate().map(|(k, p)| entropy(moved(k, *p))).sum(),
                    }
            })
            .sum()
    }

    /// Optimizes the intercepts for the current weights, by Newton's method. Returns whether the residuals of every class
    /// sum to zero then, which makes them a point of the dual problem.
    fn optimize_intercepts(&mut self, monitor: &Monitor<'_>) -> bool {
        if !self.design.intercept {
            return true;
        }
        let (m, first) = (self.n_outputs, self.n_penalized());
        for _ in 0..20 {
            if m == 1 {
                let (slope, curvature) = self.intercept_slope();
                if slope.abs() <= 1e-15 {
                    return true;
                }
                let step = slope / (curvature + 1e-14);
                self.weights[first] -= step;
                self.scores.par_iter_mut().with_min_len(ROWS_PER_BLOCK).for_each(|z| *z -= step);
                continue;
            }
            // A few classes take less than the interval between two polls.
            if m > MAX_DENSE_INTERCEPTS && monitor.stop().is_some() {
                return false;
            }
            self.update_probabilities();
            if m > MAX_DENSE_INTERCEPTS {
                match self.intercept_step() {
                    Some(step) => self.move_intercepts(&step),
                    None => return true,
                }
                continue;
            }
            let mut gradient = vec![0.0; m];
            let mut hessian = Matrix::zeros((m, m));
            for (row, (class, weight)) in
                self.proba.chunks_exact(m).zip(self.class_indices.iter().zip(&self.row_weights))
            {
                let mut residual = row.to_vec();
                to_residual(&mut residual, *class);
                for k in 0..m {
                    gradient[k] += weight * residual[k];
                    hessian[[k, k]] += weight * row[k];
                    for l in 0..=k {
                        hessian[[k, l]] -= weight * row[k] * row[l];
                    }
                }
            }
            let largest = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
            // The sum of the intercepts is undetermined.
            hessian.diag_mut().iter_mut().for_each(|c| *c += 1e-14);
            let Some(factor) = Cholesky::of(hessian.view()).filter(|_| largest > 1e-15) else {
                return true;
            };
            self.move_intercepts(&factor.solve(&gradient));
        }
        true
    }

    /// Subtracts a step from the intercepts and from the scores.
    fn move_intercepts(&mut self, step: &[f64]) {
        let (m, first) = (self.n_outputs, self.n_penalized());
        self.weights[first..].iter_mut().zip(step).for_each(|(b, s)| *b -= s);
        for row in self.scores.chunks_exact_mut(m) {
            row.iter_mut().zip(step).for_each(|(z, s)| *z -= s);
        }
    }

    /// The Newton step of the intercepts of many classes by conjugate gradients, whose products `Σᵢ sᵢ (p∘v − p (p·v))` need
    /// no matrix; `None` at the optimum.
    fn intercept_step(&self) -> Option<Vec<f64>> {
        let m = self.n_outputs;
        let rows = || self.proba.chunks_exact(m).zip(&self.row_weights);
        let mut gradient = vec![0.0; m];
        let mut diagonal = vec![1e-14; m];
        for ((row, weight), class) in rows().zip(&self.class_indices) {
            for (k, p) in row.iter().enumerate() {
                gradient[k] += weight * p;
                diagonal[k] += weight * p * (1.0 - p);
            }
            gradient[*class as usize] -= weight;
        }
        let largest = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
        if largest <= INTERCEPT_TOLERANCE {
            return None;
        }
        let product = |v: &[f64]| {
            let mut out = vec![0.0; m];
            for (row, weight) in rows() {
                let mean = dot(row, v);
                for ((out, p), v) in out.iter_mut().zip(row).zip(v) {
                    *out += weight * p * (v - mean);
                }
            }
            out
        };
        let products = |v: &[Vec<f64>]| Some(v.iter().map(|v| product(v)).collect());
        let precondition =
            |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect::<Vec<f64>>();
        let quiet = Monitor::quiet();
        let mut solution = conjugate_gradient(
            &[gradient],
            products,
            precondition,
            INTERCEPT_FORCING,
            MAX_INTERCEPT_PRODUCTS,
            &quiet,
        );
        solution.x.pop()
    }
}

impl SoftmaxLoss<'_> {
    /// The first and second derivative of the mean loss of two classes by their intercept.
    fn intercept_slope(&self) -> (f64, f64) {
        let rows = self
            .class_indices
            .par_chunks(ROWS_PER_BLOCK)
            .zip(self.row_weights.par_chunks(ROWS_PER_BLOCK));
        let blocks: Vec<(f64, f64)> = rows
            .zip(self.scores.par_chunks(ROWS_PER_BLOCK))
            .map(|((class_indices, row_weights), scores)| {
                let mut proba = [0.0; ROWS_PER_BLOCK];
                let proba = &mut proba[..scores.len()];
                proba.copy_from_slice(scores);
                sigmoid_each(proba);
                let entries = proba.iter().zip(class_indices).zip(row_weights);
                entries.fold((0.0, 0.0), |(slope, curvature), ((p, class), weight)| {
                    (slope + weight * (p - f64::from(*class)), curvature + weight * (p * (1.0 - p)))
                })
            })
            .collect();
        blocks
            .iter()
            .fold((0.0, 0.0), |(slope, curvature), block| (slope + block.0, curvature + block.1))
    }
}

impl SoftmaxLoss<'_> {
    /// The first and second derivative of the mean loss of two classes along the direction.
    fn slope_along(&self, step: f64) -> (f64, f64) {
        let rows = self
            .class_indices
            .par_chunks(ROWS_PER_BLOCK)
            .zip(self.row_weights.par_chunks(ROWS_PER_BLOCK));
        let blocks: Vec<(f64, f64)> = rows
            .zip(
                self.scores
                    .par_chunks(ROWS_PER_BLOCK)
                    .zip(self.direction_scores.par_chunks(ROWS_PER_BLOCK)),
            )
            .map(|((class_indices, row_weights), (scores, changes))| {
                let mut proba = [0.0; ROWS_PER_BLOCK];
                let proba = &mut proba[..scores.len()];
                let moved = proba.iter_mut().zip(scores.iter().zip(changes));
                moved.for_each(|(to, (z, d))| *to = z + step * d);
                sigmoid_each(proba);
                let entries = proba.iter().zip(changes).zip(class_indices.iter().zip(row_weights));
                entries.fold((0.0, 0.0), |(slope, curvature), ((p, d), (class, weight))| {
                    let residual = p - f64::from(*class);
                    (slope + weight * residual * d, curvature + weight * (p * (1.0 - p)) * (d * d))
                })
            })
            .collect();
        blocks
            .iter()
            .fold((0.0, 0.0), |(slope, curvature), block| (slope + block.0, curvature + block.1))
    }
}

impl SmoothObjective for SoftmaxLoss<'_> {
    fn dimension(&self) -> usize {
        self.weights.len()
    }

    fn values_and_gradient(&mut self, out: &mut [f64]) -> Vec<f64> {
        let loss = self.loss_and_gradient(out);
        let n = self.n_penalized();
        out[..n].iter_mut().zip(&self.weights).for_each(|(g, w)| *g += self.l2_penalty * w);
        vec![loss + self.penalty_value(&self.weights)]
    }

    fn violations(&self, gradient: &[f64]) -> Vec<f64> {
        let largest = |a: f64, g: &f64| if g.abs() > a || g.is_nan() { g.abs() } else { a };
        vec![gradient.iter().fold(0.0, largest)]
    }

    fn prepare_hessian(&mut self) {
        let last = std::mem::replace(&mut self.preconditioner, Preconditioner::None);
        let penalties = L2Penalties { weights: self.l2_penalty, intercept: 0.0 };
        let row_weights = |i: usize| self.row_weights[i];
        let options = PreconditionerOptions {
            independent: self.n_outputs == 1,
            products_spent: 0,
            max_entries: MAX_HESSIAN_ENTRIES,
        };
        let hessian_weights = self.hessian_weights();
        self.preconditioner = Preconditioner::update(
            last,
            &self.design,
            &hessian_weights,
            row_weights,
            penalties,
            options,
        );
    }

    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]) {
        let (m, proba, row_weights) = (self.n_outputs, &self.proba, &self.row_weights);
        let weigh = |rows: Range<usize>, scores: &[f64], out: &mut [f64]| {
            let proba = &proba[rows.start * m..rows.end * m];
            if m == 1 {
                let entries = out.iter_mut().zip(scores).zip(proba).zip(&row_weights[rows]);
                entries.for_each(|(((out, u), p), s)| *out = s * (p * (1.0 - p)) * u);
                return;
            }
            let rows = proba.chunks_exact(m).zip(&row_weights[rows]).zip(scores.chunks_exact(m));
            for (((p, s), u), out) in rows.zip(out.chunks_exact_mut(m)) {
                let mean: f64 = p.iter().zip(u).map(|(p, u)| p * u).sum();
                out.iter_mut().zip(p).zip(u).for_each(|((out, p), u)| *out = s * p * (u - mean));
            }
        };
        self.design.product_and_transpose(v, m, &mut self.last_scores, weigh, out);
        self.last_vector.copy_from_slice(v);
        let n = self.n_penalized();
        out[..n].iter_mut().zip(v).for_each(|(out, v)| *out += self.l2_penalty * v);
    }

    fn precondition(&self, r: &[f64], out: &mut [f64]) {
        self.preconditioner.solve(&self.design, r, self.n_outputs, 0.0, out);
    }

    fn reset_direction(&mut self) {
        self.direction.fill(0.0);
        self.direction_scores.fill(0.0);
    }

    fn extend_direction(&mut self, steps: &[f64]) {
        add_scaled(steps, &self.last_vector, &mut self.direction);
        add_scaled(steps, &self.last_scores, &mut self.direction_scores);
    }

    fn initial_steps(&mut self, states: &[SubproblemState]) -> Vec<f64> {
        let slope = match states {
            [state] if self.n_outputs == 1 && state.is_far_from_optimum() => state.slope,
            _ => return unit_steps(states),
        };
        let (weights, direction) =
            (&self.weights[..self.n_penalized()], &self.direction[..self.n_penalized()]);
        let (linear, quadratic) = (
            self.l2_penalty * dot(weights, direction),
            self.l2_penalty * dot(direction, direction),
        );
        exact_line_search(&[slope], vec![1.0], LineSearchAccuracy::ROUGH, |steps| {
            let (slope, curvature) = self.slope_along(steps[0]);
            vec![(slope + linear + steps[0] * quadratic, curvature + quadratic)]
        })
    }

    fn values_along(&mut self, steps: &[f64]) -> Vec<f64> {
        let step = steps[0];
        let (m, class_indices, row_weights) =
            (self.n_outputs, &self.class_indices, &self.row_weights);
        let scores = self.scores.par_chunks(ROWS_PER_BLOCK * m);
        let blocks: Vec<f64> = scores
            .zip(self.direction_scores.par_chunks(ROWS_PER_BLOCK * m))
            .enumerate()
            .map(|(k, (scores, changes))| {
                let mut row = vec![0.0; m];
                let rows = class_indices[k * ROWS_PER_BLOCK..]
                    .iter()
                    .zip(&row_weights[k * ROWS_PER_BLOCK..]);
                if m == 1 {
                    let [mut moved, mut losses] = [[0.0; ROWS_PER_BLOCK]; 2];
                    let entries = moved.iter_mut().zip(scores.iter().zip(changes));
                    entries.for_each(|(to, (z, d))| *to = z + step * d);
                    losses.copy_from_slice(&moved);
                    softplus_each(&mut losses[..scores.len()]);
                    let each = rows.zip(losses.iter().zip(&moved)).take(scores.len());
                    return each.map(|((class, w), (l, z))| w * class_loss(*l, *z, *class)).sum();
                }
                scores
                    .chunks_exact(m)
                    .zip(changes.chunks_exact(m))
                    .zip(rows)
                    .map(|((z, d), (class, weight))| {
                        let entries = row.iter_mut().zip(z).zip(d);
                        entries.for_each(|((row, z), d)| *row = z + step * d);
                        weight * to_proba(&mut row, *class)
                    })
                    .sum()
            })
            .collect();
        let moved: Vec<f64> =
            self.weights.iter().zip(&self.direction).map(|(w, d)| w + step * d).collect();
        vec![blocks.iter().sum::<f64>() + self.penalty_value(&moved)]
    }

    fn take_step(&mut self, steps: &[f64]) {
        add_scaled(steps, &self.direction, &mut self.weights);
        add_scaled(steps, &self.direction_scores, &mut self.scores);
    }
}

impl PenalizedLoss for SoftmaxLoss<'_> {
    fn n_rows(&self) -> usize {
        self.design.n_rows()
    }

    fn n_columns(&self) -> usize {
        self.design.width()
    }

    fn columns(&self, indices: &[usize]) -> Vec<Column<'_>> {
        self.design.columns(indices)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn penalty(&self, column: usize) -> ElasticNetPenalty {
        match column < self.design.width() {
            true => ElasticNetPenalty { l2: self.l2_penalty, l1: self.l1_penalty },
            false => ElasticNetPenalty::default(),
        }
    }

    fn losses_and_gradient(&mut self, gradient: &mut [f64]) -> Vec<f64> {
        vec![self.loss_and_gradient(gradient)]
    }

    /// `sᵢ p (1 − p)`.
    fn hessian_weights(&self) -> Vec<f64> {
        let mut weights = self.proba.clone();
        let rows = weights.par_chunks_exact_mut(self.n_outputs);
        rows.zip(self.row_weights.par_iter().with_min_len(ROWS_PER_BLOCK)).for_each(
            |(row, weight)| {
                row.iter_mut().for_each(|p| *p = weight * *p * (1.0 - *p));
            },
        );
        weights
    }

    fn softmax(&self) -> Option<(&[f64], &[f64])> {
        (self.n_outputs > 1).then_some((&self.proba, &self.row_weights))
    }

    fn set_direction(&mut self, direction: Vec<f64>, scores: Vec<f64>) {
        (self.direction, self.direction_scores) = (direction, scores);
    }
}

/// `−log P` of one of two classes, from `log(1 + eᶻ)`.
#[inline]
fn class_loss(loss: f64, z: f64, class: u32) -> f64 {
    if class == 1 { loss - z } else { loss }
}

/// Turns the scores of a row into probabilities; returns `−log P` of its class.
fn to_proba(row: &mut [f64], class: u32) -> f64 {
    let largest = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let own = row[class as usize] - largest;
    row.iter_mut().for_each(|z| *z -= largest);
    mercer_num::simd::exp::exp_each_double(row);
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
    sum.ln() - own
}

/// Probabilities minus the indicator of the true class.
fn to_residual(row: &mut [f64], class: u32) {
    match row {
        [p] => *p -= f64::from(class),
        row => row[class as usize] -= 1.0,
    }
}
