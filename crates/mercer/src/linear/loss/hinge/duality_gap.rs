//! The duality gap of weights and dual variables.
//!
//! Any `βᵢ` within their bounds (`|βᵢ| ≤ Cᵢ` for the linear loss) give the dual value
//! `Σᵢ end(βᵢ) βᵢ − ½‖Xᵀβ‖² − (Σᵢβᵢ)² / 2λ₀` (less `Σᵢ βᵢ² / 4Cᵢ` for the squared loss), where `end` is the end of the interval
//! on the side of the sign of `βᵢ`. The difference to the primal value is summed row by row from terms that are never
//! negative, which avoids cancellation.

use super::{LossPower, MarginLoss, ROWS_PER_BLOCK, signed_distance, sum_blocks};
use crate::solver::coordinate_descent::PenalizedLoss;
use crate::solver::duality_gap::DualityGap;
use mercer_num::parallel::prelude::*;

/// Where the sum `Xᵀβ` comes from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum DualWeights {
    /// The weights are `Xᵀβ`, as dual coordinate descent leaves them.
    Weights,
    /// It is computed from the rows.
    Rows,
}

impl MarginLoss<'_> {
    /// The largest difference between a score and one that its dual variable is optimal for, relative to the scale of the
    /// scores: the largest violation of the KKT conditions.
    pub fn kkt_violation(&self) -> f64 {
        let m = self.n_outputs;
        let rows = self.thetas.chunks_exact(m).zip(self.scores.chunks_exact(m)).enumerate();
        rows.fold(0.0f64, |largest, (i, (thetas, scores))| {
            let entries = thetas.iter().zip(scores).enumerate();
            entries.fold(largest, |largest, (k, (theta, z))| {
                let (low, high) = self.interval(i, k);
                // At the end of the interval for a dual variable inside its bounds, beyond it at a bound; with the squared
                // loss `θ/2` away from it.
                let violation = match *theta {
                    0.0 => signed_distance((low, high), *z).abs(),
                    t if self.power == LossPower::Squared => {
                        let end = if t > 0.0 { low } else { high };
                        (end - z - 0.5 * t).abs()
                    }
                    t if t >= 1.0 => (z - low).max(0.0),
                    t if t <= -1.0 => (high - z).max(0.0),
                    t if t > 0.0 => (z - low).abs(),
                    _ => (high - z).abs(),
                };
                if self.cost(i, k) > 0.0 { largest.max(violation) } else { largest }
            })
        }) / self.score_scale
    }

    /// The duality gaps with scores computed anew from the weights, and with their dual variables for the squared loss.
    pub fn duality_gaps(&mut self) -> Vec<DualityGap> {
        self.design.scores(&self.weights, self.n_outputs, &mut self.scores);
        if self.power == LossPower::Squared {
            self.update_thetas();
        }
        self.gaps_of_dual(DualWeights::Rows)
    }

    /// The duality gaps of the current scores and dual variables.
    pub fn gaps_of_dual(&self, dual_weights: DualWeights) -> Vec<DualityGap> {
        let m = self.n_outputs;
        let mut betas = self.signed_betas(1.0);
        if self.has_unpenalized_intercept() {
            balance_signs(&mut betas, m);
        }
        let mut combined = self.weights.clone();
        match dual_weights {
            DualWeights::Weights => combined[self.design.width() * m..]
                .iter_mut()
                .for_each(|b| *b *= self.penalties.intercept.l2),
            DualWeights::Rows => self.design.transpose_product(&betas, m, &mut combined),
        }
        let (l1_gaps, l2_gaps) = match self.penalties.weights.l1 > 0.0 {
            true => (self.scale_to_l1_bound(&mut betas, &mut combined), vec![0.0; m]),
            false => (vec![0.0; m], self.l2_gaps(&combined)),
        };
        let penalties = self.penalty_values(&self.weights);
        let blocks: Vec<Vec<f64>> = betas
            .par_chunks(ROWS_PER_BLOCK * m)
            .zip(self.scores.par_chunks(ROWS_PER_BLOCK * m))
            .enumerate()
            .map(|(block, (betas, scores))| {
                let mut sums = vec![0.0; 2 * m];
                let rows = betas.chunks_exact(m).zip(scores.chunks_exact(m));
                for (i, (betas, scores)) in (block * ROWS_PER_BLOCK..).zip(rows) {
                    for (k, (beta, z)) in betas.iter().zip(scores).enumerate() {
                        let (loss, gap) = self.loss_and_gap(i, k, *z, *beta);
                        sums[k] += loss;
                        sums[m + k] += gap;
                    }
                }
                sums
            })
            .collect();
        let sums = sum_blocks(blocks, 2 * m);
        let gap = |k: usize| {
            let primal = sums[k] + penalties[k];
            DualityGap::from_gap(primal, sums[m + k] + l2_gaps[k] + l1_gaps[k])
        };
        (0..m).map(gap).collect()
    }

    /// The gap of the L2 penalty, `½ λ (w − (Xᵀβ)/λ)²` summed over the weights.
    fn l2_gaps(&self, combined: &[f64]) -> Vec<f64> {
        let m = self.n_outputs;
        let mut gaps = vec![0.0; m];
        let rows = self.weights.chunks_exact(m).zip(combined.chunks_exact(m));
        for (j, (w, v)) in rows.enumerate() {
            let l2 = self.penalty(j).l2;
            if l2 == 0.0 {
                continue;
            }
            for ((gap, w), v) in gaps.iter_mut().zip(w).zip(v) {
                *gap += 0.5 * l2 * (w - v / l2) * (w - v / l2);
            }
        }
        gaps
    }

    /// The loss of a score, and the gap between the loss and its conjugate at `beta`, which is never negative.
    #[inline]
    fn loss_and_gap(&self, i: usize, k: usize, z: f64, beta: f64) -> (f64, f64) {
        let (cost, (low, high)) = (self.cost(i, k), self.interval(i, k));
        let r = signed_distance((low, high), z);
        if cost == 0.0 {
            return (0.0, 0.0);
        }
        match self.power {
            LossPower::Squared => {
                // A dual variable against the distance, or without one, belongs to the end on its own side.
                let end = if beta > 0.0 { low } else { high };
                let gap = match beta * r > 0.0 || beta == 0.0 {
                    true => (beta - 2.0 * cost * r).powi(2) / (4.0 * cost),
                    false => cost * r * r + beta * beta / (4.0 * cost) + beta * (z - end),
                };
                (cost * r * r, gap)
            }
            LossPower::Linear => {
                let beta = beta.clamp(-cost, cost);
                let end = if beta > 0.0 { low } else { high };
                let gap = match beta {
                    0.0 => cost * r.abs(),
                    _ if beta * r > 0.0 => (cost - beta.abs()) * r.abs(),
                    _ => cost * r.abs() + beta * (z - end),
                };
                (cost * r.abs(), gap)
            }
        }
    }

    /// Scales the dual variables until `‖Xᵀβ‖∞` is within the L1 penalty; returns the gap of that penalty,
    /// `Σⱼ l1ⱼ|wⱼ| − wⱼ(Xᵀβ)ⱼ`.
    fn scale_to_l1_bound(&self, betas: &mut [f64], combined: &mut [f64]) -> Vec<f64> {
        let m = self.n_outputs;
        let mut factors = vec![1.0f64; m];
        for (j, row) in combined.chunks_exact(m).enumerate() {
            let l1 = self.penalty(j).l1;
            for (factor, v) in factors.iter_mut().zip(row) {
                if l1 > 0.0 && v.abs() > l1 {
                    *factor = factor.min(l1 / v.abs());
                }
            }
        }
        for row in betas.chunks_exact_mut(m).chain(combined.chunks_exact_mut(m)) {
            row.iter_mut().zip(&factors).for_each(|(x, factor)| *x *= factor);
        }
        let mut gaps = vec![0.0; m];
        let rows = self.weights.chunks_exact(m).zip(combined.chunks_exact(m));
        for (j, (w, v)) in rows.enumerate() {
            let l1 = self.penalty(j).l1;
            for ((gap, w), v) in gaps.iter_mut().zip(w).zip(v) {
                *gap += (l1 * w.abs() - w * v).max(0.0);
            }
        }
        gaps
    }
}

/// Makes the dual variables of every subproblem sum to zero, as an unpenalized intercept demands, by scaling down the sign
/// that has the larger sum.
fn balance_signs(betas: &mut [f64], m: usize) {
    let (mut positive, mut negative) = (vec![0.0; m], vec![0.0; m]);
    for row in betas.chunks_exact(m) {
        for (k, beta) in row.iter().enumerate() {
            if *beta > 0.0 { positive[k] += beta } else { negative[k] -= beta }
        }
    }
    for row in betas.chunks_exact_mut(m) {
        for (k, beta) in row.iter_mut().enumerate() {
            if *beta > 0.0 && positive[k] > negative[k] {
                *beta *= negative[k] / positive[k];
            } else if *beta < 0.0 && negative[k] > positive[k] {
                *beta *= positive[k] / negative[k];
            }
        }
    }
}
