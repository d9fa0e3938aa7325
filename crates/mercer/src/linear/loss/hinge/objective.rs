//! The hinge losses as an objective for Newton's method, coordinate descent and the augmented Lagrangian method.

use super::{MAX_RHO, MarginLoss, RHO_GROWTH, ROWS_PER_BLOCK, sum_blocks};
use crate::data::design_matrix::Column;
use crate::solver::SmoothObjective;
use crate::solver::augmented_lagrangian::AugmentedLagrangian;
use crate::solver::coordinate_descent::{ElasticNetPenalty, PenalizedLoss};
use crate::solver::duality_gap::DualityGap;
use crate::solver::interleaved::{add_scaled, dots};
use crate::solver::objective::{SubproblemState, unit_steps};
use crate::solver::preconditioner::{
    L2Penalties, MAX_DENSE_HESSIAN_COLUMNS, Preconditioner, PreconditionerOptions,
};
use mercer_num::parallel::prelude::*;

impl SmoothObjective for MarginLoss<'_> {
    fn n_subproblems(&self) -> usize {
        self.n_outputs
    }

    fn dimension(&self) -> usize {
        self.weights.len()
    }

    fn values_and_gradient(&mut self, gradient: &mut [f64]) -> Vec<f64> {
        let losses = self.losses_and_gradient(gradient);
        let m = self.n_outputs;
        let rows = gradient.chunks_exact_mut(m).zip(self.weights.chunks_exact(m));
        for (j, (gradient, w)) in rows.enumerate() {
            let ElasticNetPenalty { l2, .. } = self.penalty(j);
            gradient.iter_mut().zip(w).for_each(|(g, w)| *g += l2 * w);
        }
        let penalties = self.penalty_values(&self.weights);
        self.values = losses.iter().zip(penalties).map(|(loss, penalty)| loss + penalty).collect();
        self.values.clone()
    }

    /// The square root of a bound on the relative distance from the optimal value, by strong convexity:
    /// `f − f* ≤ ½‖g‖²` with penalties of 1.
    fn violations(&self, gradient: &[f64]) -> Vec<f64> {
        let m = self.n_outputs;
        let (weights, intercepts) = gradient.split_at(self.design.width() * m);
        let mut decrease = dots(weights, weights, m);
        decrease.iter_mut().for_each(|g| *g *= 0.5);
        for (decrease, g) in decrease.iter_mut().zip(intercepts) {
            *decrease += match self.penalties.intercept.l2 {
                // An unpenalized intercept changes by about the scale of the scores.
                0.0 => g.abs() * self.score_scale,
                l2 => 0.5 * g * g / l2,
            };
        }
        decrease.iter().zip(&self.values).map(|(d, value)| (d / value).sqrt()).collect()
    }

    fn prepare_hessian(&mut self) {
        let last = std::mem::replace(&mut self.preconditioner, Preconditioner::None);
        if self.prepare_binary_sparse() {
            return;
        }
        let weights = self.hessian_weights();
        if self.has_unpenalized_intercept() {
            self.update_intercept_damping(&weights);
        }
        let penalties = L2Penalties {
            weights: self.penalties.weights.l2,
            intercept: self.damped_intercept_penalty(),
        };
        let row_weights = |i: usize| self.costs[i];
        let options = PreconditionerOptions {
            independent: true,
            products_spent: std::mem::take(&mut self.products_since_update),
            max_entries: self.max_hessian_entries,
        };
        self.preconditioner =
            Preconditioner::update(last, &self.design, &weights, row_weights, penalties, options);
        self.dense_active_rows = self.few_nonzero_rows(&weights);
        self.sparse_active_rows = (self.n_outputs == 1 && self.design.is_sparse())
            .then(|| (0..).zip(weights).filter(|(_, d)| *d != 0.0).collect());
    }

    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]) {
        self.products_since_update += 1;
        let m = self.n_outputs;
        self.last_vector.copy_from_slice(v);
        if let Some(rows) = &self.sparse_active_rows {
            self.design.weighted_gram_product(rows, v, out);
            return self.add_penalty_product(v, out);
        }
        if let Some(rows) = &self.dense_active_rows {
            let mut scores = vec![0.0; rows.len() * m];
            self.design.scores_of_rows(rows, v, m, &mut scores);
            scores.par_chunks_mut(m).zip(rows).for_each(|(scores, i)| {
                let entries = scores.iter_mut().enumerate();
                entries.for_each(|(k, u)| *u *= self.hessian_weight(*i as usize, k));
            });
            self.design.transpose_product_of_rows(rows, &scores, m, out);
            return self.add_penalty_product(v, out);
        }
        let mut last_scores = std::mem::take(&mut self.last_scores);
        let this = &*self;
        let weigh = |rows: std::ops::Range<usize>, scores: &[f64], out: &mut [f64]| {
            let entries = out.chunks_exact_mut(m).zip(scores.chunks_exact(m));
            for (i, (out, scores)) in rows.zip(entries) {
                for (k, (out, u)) in out.iter_mut().zip(scores).enumerate() {
                    *out = this.hessian_weight(i, k) * u;
                }
            }
        };
        this.design.product_and_transpose(v, m, &mut last_scores, weigh, out);
        self.last_scores = last_scores;
        self.add_penalty_product(v, out);
    }

    fn precondition(&self, r: &[f64], out: &mut [f64]) {
        let intercept_penalty = self.damped_intercept_penalty();
        self.preconditioner.solve(&self.design, r, self.n_outputs, intercept_penalty, out);
    }

    fn reset_direction(&mut self) {
        self.direction.fill(0.0);
        self.direction_scores_stale =
            self.sparse_active_rows.is_some() || self.dense_active_rows.is_some();
        if !self.direction_scores_stale {
            self.direction_scores.fill(0.0);
        }
    }

    fn extend_direction(&mut self, steps: &[f64]) {
        add_scaled(steps, &self.last_vector, &mut self.direction);
        if !self.direction_scores_stale {
            add_scaled(steps, &self.last_scores, &mut self.direction_scores);
        }
    }

    /// The minimum along the direction for dense rows, and for a single subproblem on sparse rows: fewer rows become
    /// active on the way to the optimum, and fewer iterations are needed.
    fn initial_steps(&mut self, states: &[SubproblemState]) -> Vec<f64> {
        self.update_direction_scores();
        let has_l1 = self.penalties.weights.l1 != 0.0 || self.penalties.intercept.l1 != 0.0;
        match states {
            _ if has_l1 => unit_steps(states),
            [state] if self.row_targets.is_some() && state.is_far_from_optimum() => {
                self.binary_sparse_steps(state.slope)
            }
            _ if self.design.is_sparse() => unit_steps(states),
            _ => self.minimizing_steps(states),
        }
    }

    fn values_along(&mut self, steps: &[f64]) -> Vec<f64> {
        let m = self.n_outputs;
        self.update_direction_scores();
        let blocks: Vec<Vec<f64>> = self
            .scores
            .par_chunks(ROWS_PER_BLOCK * m)
            .zip(self.direction_scores.par_chunks(ROWS_PER_BLOCK * m))
            .enumerate()
            .map(|(block, (scores, changes))| {
                let first = block * ROWS_PER_BLOCK;
                if let Some(targets) = &self.row_targets {
                    let step = steps[0];
                    return vec![self.binary_sparse_loss(targets, first, scores, changes, step)];
                }
                let mut sums = vec![0.0; m];
                let rows = scores.chunks_exact(m).zip(changes.chunks_exact(m));
                for (i, (scores, changes)) in (first..).zip(rows) {
                    for (k, (z, d)) in scores.iter().zip(changes).enumerate() {
                        sums[k] += self.cost(i, k) * self.loss(i, k, z + steps[k] * d).0;
                    }
                }
                sums
            })
            .collect();
        let mut moved = self.weights.clone();
        add_scaled(steps, &self.direction, &mut moved);
        let penalties = self.penalty_values(&moved);
        let losses = sum_blocks(blocks, m).into_iter();
        losses.zip(penalties).map(|(loss, penalty)| loss + penalty).collect()
    }

    fn take_step(&mut self, steps: &[f64]) {
        add_scaled(steps, &self.direction, &mut self.weights);
        add_scaled(steps, &self.direction_scores, &mut self.scores);
    }
}

impl MarginLoss<'_> {
    /// Computes the scores of the direction where they were deferred.
    pub(super) fn update_direction_scores(&mut self) {
        if std::mem::take(&mut self.direction_scores_stale) {
            self.design.scores(&self.direction, self.n_outputs, &mut self.direction_scores);
        }
    }

    /// Damps the unpenalized intercept of a subproblem with few active rows.
    fn update_intercept_damping(&mut self, hessian_weights: &[f64]) {
        let m = self.n_outputs;
        let mut sums = vec![0.0; m];
        for row in hessian_weights.chunks_exact(m) {
            sums.iter_mut().zip(row).for_each(|(sum, d)| *sum += d);
        }
        let smallest = 1e-3 * self.costs.iter().sum::<f64>() / self.score_scale;
        self.intercept_damping = sums.iter().map(|sum| (smallest - sum).max(0.0)).collect();
    }

    /// The penalty on the intercepts with the largest damping.
    fn damped_intercept_penalty(&self) -> f64 {
        let damping = self.intercept_damping.iter().fold(0.0, |a: f64, b| a.max(*b));
        self.penalties.intercept.l2 + damping
    }

    /// Adds the product with the Hessian of the penalty.
    fn add_penalty_product(&self, v: &[f64], out: &mut [f64]) {
        let n = self.design.width() * self.n_outputs;
        out[..n].iter_mut().zip(v).for_each(|(out, v)| *out += self.penalties.weights.l2 * v);
        for ((out, v), damping) in out[n..].iter_mut().zip(&v[n..]).zip(&self.intercept_damping) {
            *out += (self.penalties.intercept.l2 + damping) * v;
        }
    }

    /// The rows with a nonzero entry, for wide dense rows of which less than half have one: then reading these rows, and
    /// all rows once for the scores of a direction, is less than reading all rows for every product.
    fn few_nonzero_rows(&self, entries: &[f64]) -> Option<Vec<u32>> {
        if self.design.is_sparse() || self.design.width() <= MAX_DENSE_HESSIAN_COLUMNS {
            return None;
        }
        let is_nonzero = |row: &[f64]| row.iter().any(|v| *v != 0.0);
        let rows = (0..).zip(entries.chunks_exact(self.n_outputs));
        let rows: Vec<u32> = rows.filter(|(_, row)| is_nonzero(row)).map(|(i, _)| i).collect();
        (2 * rows.len() < self.design.n_rows()).then_some(rows)
    }

    /// The second derivative of the loss by a score.
    fn hessian_weight(&self, i: usize, k: usize) -> f64 {
        if self.is_active(i, k) { self.cost(i, k) * self.rho[k] } else { 0.0 }
    }
}

impl PenalizedLoss for MarginLoss<'_> {
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
            true => self.penalties.weights,
            false => self.penalties.intercept,
        }
    }

    fn losses_and_gradient(&mut self, gradient: &mut [f64]) -> Vec<f64> {
        if self.row_targets.is_some() {
            return vec![self.binary_sparse_loss_and_gradient(gradient)];
        }
        let (losses, m) = (self.update_thetas(), self.n_outputs);
        match self.few_nonzero_rows(&self.thetas) {
            Some(rows) => {
                let mut derivatives = vec![0.0; rows.len() * m];
                for (i, derivatives) in rows.iter().zip(derivatives.chunks_exact_mut(m)) {
                    let entries = derivatives.iter_mut().enumerate();
                    entries.for_each(|(k, d)| *d = -self.beta(*i as usize, k));
                }
                self.design.transpose_product_of_rows(&rows, &derivatives, m, gradient);
            }
            None => self.design.transpose_product(&self.signed_betas(-1.0), m, gradient),
        }
        losses
    }

    fn hessian_weights(&self) -> Vec<f64> {
        let m = self.n_outputs;
        let mut weights = vec![0.0; self.thetas.len()];
        weights.par_chunks_mut(ROWS_PER_BLOCK * m).enumerate().for_each(|(block, out)| {
            for (i, row) in (block * ROWS_PER_BLOCK..).zip(out.chunks_exact_mut(m)) {
                row.iter_mut().enumerate().for_each(|(k, d)| *d = self.hessian_weight(i, k));
            }
        });
        weights
    }

    fn set_direction(&mut self, direction: Vec<f64>, scores: Vec<f64>) {
        (self.direction, self.direction_scores) = (direction, scores);
        self.direction_scores_stale = false;
    }
}

impl AugmentedLagrangian for MarginLoss<'_> {
    /// `|θᵢ − μᵢ| / ρ`: by how much a score would have to change for its multiplier estimate to be right, relative to the
    /// scale of the scores.
    fn multiplier_violations(&self) -> Vec<f64> {
        let m = self.n_outputs;
        let mut violations = vec![0.0f64; m];
        let rows = self.thetas.chunks_exact(m).zip(self.multipliers.chunks_exact(m));
        let rows = self.costs.iter().zip(rows).filter(|(cost, _)| **cost > 0.0);
        for (_, (thetas, multipliers)) in rows {
            for (k, (new, old)) in thetas.iter().zip(multipliers).enumerate() {
                violations[k] = violations[k].max((new - old).abs() / self.rho[k]);
            }
        }
        violations.iter().map(|v| v / self.score_scale).collect()
    }

    fn duality_gaps(&mut self) -> Vec<DualityGap> {
        MarginLoss::duality_gaps(self)
    }

    fn update_multipliers(&mut self, increase_rho: &[bool]) {
        self.multipliers.copy_from_slice(&self.thetas);
        for (rho, increase) in self.rho.iter_mut().zip(increase_rho) {
            if *increase && *rho * self.score_scale < MAX_RHO {
                *rho *= RHO_GROWTH;
            }
        }
    }
}
