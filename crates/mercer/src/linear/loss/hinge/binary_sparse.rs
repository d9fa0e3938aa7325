//! One function of sparse rows: a number a row, which is added to sums as fast as it is read.
//!
//! What is known of a row stands together, losses and gradient are one reading, and only rows that curve are read for
//! products with second derivatives.

use super::{MarginLoss, ROWS, loss};
use crate::solver::interleaved::dot;
use crate::solver::line_search::{LineSearchAccuracy, Safeguard, exact_line_search};
use crate::solver::preconditioner::{PenaltyWeights, Preconditioner};
use rayon::prelude::*;
use std::ops::Range;

/// What stands for the multipliers where there are none.
const NO_ANCHORS: [f64; ROWS] = [0.0; ROWS];

/// The interval of a row's score, and what its distance costs.
#[derive(Clone, Copy)]
pub(crate) struct RowTarget {
    pub ends: (f64, f64),
    pub cost: f64,
}

/// One pass over the rows per evaluation: a rough minimum is enough.
const ACCURACY: LineSearchAccuracy =
    LineSearchAccuracy { slope_tolerance: 0.1, max_evaluations: 8, safeguard: Safeguard::Doubling };

impl MarginLoss<'_> {
    /// Fills the pulls of all rows and the gradient of their losses; gives the sum of those.
    pub(crate) fn single_loss_gradient(&mut self, out: &mut [f64]) -> f64 {
        let mut pulls = std::mem::take(&mut self.pulls);
        let facts = self.facts.as_deref().unwrap_or_default();
        let (stiffness, cap) = (self.stiffness[0], self.cap());
        let answer = |rows: Range<usize>, pulls: &mut [f64], forces: &mut [f64]| {
            let anchors = self.anchors.get(rows.clone()).unwrap_or(&NO_ANCHORS);
            let each = facts[rows.clone()].iter().zip(&self.scores[rows]).zip(anchors);
            let mut sum = 0.0;
            for (((fact, z), anchor), (pull, force)) in each.zip(pulls.iter_mut().zip(forces)) {
                let (loss, theta) = loss(fact.ends, stiffness, cap, *anchor, *z);
                (*pull, *force) = (theta, -fact.cost * theta);
                sum += fact.cost * loss;
            }
            sum
        };
        let loss = self.design.sum_rows(&mut pulls, answer, out);
        self.pulls = pulls;
        loss
    }

    /// The loss of the rows from `first` on whose scores have gone a share of their steps.
    pub(crate) fn single_loss_along(
        &self,
        facts: &[RowTarget],
        first: usize,
        scores: &[f64],
        steps: &[f64],
        share: f64,
    ) -> f64 {
        let (stiffness, cap) = (self.stiffness[0], self.cap());
        let rows = first..first + scores.len();
        let anchors = self.anchors.get(rows.clone()).unwrap_or(&NO_ANCHORS);
        let each = facts[rows].iter().zip(anchors).zip(scores.iter().zip(steps));
        let losses = each.map(|((fact, anchor), (z, d))| {
            fact.cost * loss(fact.ends, stiffness, cap, *anchor, z + share * d).0
        });
        losses.sum()
    }

    /// About the share of the direction at whose end the function is least.
    pub(crate) fn single_least_along(&self, slope: f64) -> f64 {
        let n = self.design.width();
        let priced = |a: &[f64], b: &[f64]| {
            self.costs.weights.0 * dot(&a[..n], &b[..n])
                + self.costs.constant.0 * dot(&a[n..], &b[n..])
        };
        let rise = priced(&self.weights, &self.direction);
        let square = priced(&self.direction, &self.direction);
        let steps = exact_line_search(&[slope], vec![1.0], ACCURACY, |steps| {
            let (slope, curve) = self.single_slope_along(steps[0]);
            vec![(slope + rise + steps[0] * square, curve + square)]
        });
        steps[0]
    }

    /// How the losses rise a share of the direction away, and how that rises.
    fn single_slope_along(&self, share: f64) -> (f64, f64) {
        let facts = self.facts.as_deref().unwrap_or_default();
        let (stiffness, cap) = (self.stiffness[0], self.cap());
        let scores = self.scores.par_chunks(ROWS).zip(self.direction_scores.par_chunks(ROWS));
        let parts: Vec<(f64, f64)> = scores
            .zip(facts.par_chunks(ROWS))
            .enumerate()
            .map(|(part, ((scores, steps), facts))| {
                let rows = part * ROWS..part * ROWS + facts.len();
                let anchors = self.anchors.get(rows).unwrap_or(&NO_ANCHORS);
                let each = facts.iter().zip(anchors).zip(scores.iter().zip(steps));
                each.fold((0.0, 0.0), |(slope, curve), ((fact, anchor), (z, d))| {
                    let (_, theta) = loss(fact.ends, stiffness, cap, *anchor, z + share * d);
                    let bends = theta != 0.0 && theta.abs() < cap;
                    let rise = if bends { stiffness * (d * d) } else { 0.0 };
                    (slope - fact.cost * theta * d, curve + fact.cost * rise)
                })
            })
            .collect();
        parts.iter().fold((0.0, 0.0), |(slope, curve), part| (slope + part.0, curve + part.1))
    }

    /// Makes ready for products with the rows that curve, where second derivatives are soon written out; says whether
    /// that was so.
    pub(crate) fn prepare_single(&mut self) -> bool {
        let Some(facts) = self.facts.as_ref().filter(|_| !self.free_constant()) else {
            return false;
        };
        let (stiffness, cap) = (self.stiffness[0], self.cap());
        let bends = |theta: &f64| *theta != 0.0 && theta.abs() < cap;
        let rows = (0..).zip(self.pulls.iter().zip(facts)).filter(|(_, (theta, _))| bends(theta));
        let curved: Vec<(u32, f64)> = rows
            .map(|(i, (_, fact))| (i, fact.cost * stiffness))
            .filter(|(_, d)| *d > 0.0)
            .collect();
        let prices =
            PenaltyWeights { weights: self.costs.weights.0, constants: self.costs.constant.0 };
        let Some(guess) = Preconditioner::of_curved(&self.design, &curved, prices) else {
            return false;
        };
        (self.guess, self.curved, self.spent) = (guess, Some(curved), 0);
        true
    }
}
