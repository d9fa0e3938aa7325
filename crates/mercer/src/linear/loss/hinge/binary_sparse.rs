//! A single subproblem on sparse rows, where memory traffic dominates.
//!
//! The interval and the cost of a row are stored together, loss and gradient are computed in one reading of the rows, and
//! Hessian products read the active rows only.

use super::{MarginLoss, ROWS_PER_BLOCK, smoothed_loss};
use crate::solver::interleaved::dot;
use crate::solver::line_search::{LineSearchAccuracy, exact_line_search};
use crate::solver::preconditioner::{L2Penalties, Preconditioner};
use mercer_num::parallel::prelude::*;
use std::ops::Range;

/// The multipliers of a block of rows where there are none.
const NO_MULTIPLIERS: [f64; ROWS_PER_BLOCK] = [0.0; ROWS_PER_BLOCK];

/// The interval of a row's score, and its cost `Cᵢ`.
#[derive(Clone, Copy)]
pub(crate) struct RowTarget {
    pub interval: (f64, f64),
    pub cost: f64,
}

impl MarginLoss<'_> {
    /// Updates `θ` of all rows and writes the gradient of the losses; returns their sum.
    pub(super) fn binary_sparse_loss_and_gradient(&mut self, gradient: &mut [f64]) -> f64 {
        let mut thetas = std::mem::take(&mut self.thetas);
        let targets = self.row_targets.as_deref().unwrap_or_default();
        let (rho, max_theta) = (self.rho[0], self.max_theta());
        let derivatives = |rows: Range<usize>, thetas: &mut [f64], derivatives: &mut [f64]| {
            let multipliers = self.multipliers.get(rows.clone()).unwrap_or(&NO_MULTIPLIERS);
            let each = targets[rows.clone()].iter().zip(&self.scores[rows]).zip(multipliers);
            let mut sum = 0.0;
            for (((target, z), multiplier), (theta, derivative)) in
                each.zip(thetas.iter_mut().zip(derivatives))
            {
                let (loss, new_theta) =
                    smoothed_loss(target.interval, rho, max_theta, *multiplier, *z);
                (*theta, *derivative) = (new_theta, -target.cost * new_theta);
                sum += target.cost * loss;
            }
            sum
        };
        let loss = self.design.map_transpose_product(&mut thetas, derivatives, gradient);
        self.thetas = thetas;
        loss
    }

    /// The loss of the rows from `first` on, at `step` times the change of their scores.
    pub(super) fn binary_sparse_loss(
        &self,
        targets: &[RowTarget],
        first: usize,
        scores: &[f64],
        changes: &[f64],
        step: f64,
    ) -> f64 {
        let (rho, max_theta) = (self.rho[0], self.max_theta());
        let rows = first..first + scores.len();
        let multipliers = self.multipliers.get(rows.clone()).unwrap_or(&NO_MULTIPLIERS);
        let each = targets[rows].iter().zip(multipliers).zip(scores.iter().zip(changes));
        let losses = each.map(|((target, multiplier), (z, d))| {
            let z = z + step * d;
            target.cost * smoothed_loss(target.interval, rho, max_theta, *multiplier, z).0
        });
        losses.sum()
    }

    /// The step size that minimizes the objective along the direction.
    pub(super) fn binary_sparse_steps(&self, slope: f64) -> Vec<f64> {
        let n = self.design.width();
        let penalized = |a: &[f64], b: &[f64]| {
            self.penalties.weights.l2 * dot(&a[..n], &b[..n])
                + self.penalties.intercept.l2 * dot(&a[n..], &b[n..])
        };
        let linear = penalized(&self.weights, &self.direction);
        let quadratic = penalized(&self.direction, &self.direction);
        exact_line_search(&[slope], vec![1.0], LineSearchAccuracy::ROUGH, |steps| {
            let (slope, curvature) = self.binary_sparse_slope(steps[0]);
            vec![(slope + linear + steps[0] * quadratic, curvature + quadratic)]
        })
    }

    /// The first and second derivative of the losses along the direction.
    fn binary_sparse_slope(&self, step: f64) -> (f64, f64) {
        let targets = self.row_targets.as_deref().unwrap_or_default();
        let (rho, max_theta) = (self.rho[0], self.max_theta());
        let scores = self.scores.par_chunks(ROWS_PER_BLOCK);
        let blocks: Vec<(f64, f64)> = scores
            .zip(self.direction_scores.par_chunks(ROWS_PER_BLOCK))
            .zip(targets.par_chunks(ROWS_PER_BLOCK))
            .enumerate()
            .map(|(block, ((scores, changes), targets))| {
                let first = block * ROWS_PER_BLOCK;
                let rows = first..first + targets.len();
                let multipliers = self.multipliers.get(rows).unwrap_or(&NO_MULTIPLIERS);
                let each = targets.iter().zip(multipliers).zip(scores.iter().zip(changes));
                each.fold((0.0, 0.0), |(slope, curvature), ((target, multiplier), (z, d))| {
                    let z = z + step * d;
                    let (_, theta) = smoothed_loss(target.interval, rho, max_theta, *multiplier, z);
                    let is_active = theta != 0.0 && theta.abs() < max_theta;
                    let second = if is_active { rho * (d * d) } else { 0.0 };
                    (slope - target.cost * theta * d, curvature + target.cost * second)
                })
            })
            .collect();
        blocks
            .iter()
            .fold((0.0, 0.0), |(slope, curvature), block| (slope + block.0, curvature + block.1))
    }

    /// Prepares Hessian products with the active rows and an exact preconditioner; returns whether the Hessian is cheap
    /// enough for that.
    pub(super) fn prepare_binary_sparse(&mut self) -> bool {
        let targets = self.row_targets.as_ref().filter(|_| !self.has_unpenalized_intercept());
        let Some(targets) = targets else { return false };
        let (rho, max_theta) = (self.rho[0], self.max_theta());
        let is_active = |theta: &f64| *theta != 0.0 && theta.abs() < max_theta;
        let rows = (0..).zip(self.thetas.iter().zip(targets));
        let active: Vec<(u32, f64)> = rows
            .filter(|(_, (theta, _))| is_active(theta))
            .map(|(i, (_, target))| (i, target.cost * rho))
            .filter(|(_, d)| *d > 0.0)
            .collect();
        let penalties = L2Penalties {
            weights: self.penalties.weights.l2,
            intercept: self.penalties.intercept.l2,
        };
        let preconditioner = Preconditioner::of_active_rows(&self.design, &active, penalties);
        let Some(preconditioner) = preconditioner else { return false };
        (self.preconditioner, self.products_since_update) = (preconditioner, 0);
        self.sparse_active_rows = Some(active);
        true
    }
}
