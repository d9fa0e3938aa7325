//! newGLMNET: proximal Newton steps by coordinate descent, for losses with an elastic-net penalty (Yuan, Ho & Lin 2012;
//! Friedman, Hastie & Tibshirani 2010).
//!
//! Minimize `L(w) + Σⱼ (½ l2ⱼ wⱼ² + l1ⱼ |wⱼ|)`. Every iteration models the loss by its gradient and a diagonal Hessian in the
//! scores, minimizes the model plus the penalty one weight at a time (soft thresholding, which often gives exactly zero),
//! and takes a step towards that minimum by Armijo backtracking. Only weights that are not zero, or whose gradient exceeds
//! the L1 penalty, are visited.

use super::interleaved::dots;
use super::line_search::armijo_backtracking;
use super::objective::{SubproblemState, report, unit_steps};
use super::{SmoothObjective, StoppingRule, Termination};
use crate::data::design_matrix::Column;
use mercer_num::parallel::prelude::*;

/// Passes over the weights of one model, at most: as many as visit `MODEL_VISITS` entries, within these limits.
const MODEL_PASSES: (u64, u64) = (100, 10_000);
const MODEL_VISITS: u64 = 1 << 24;

/// The penalty `½ l2 w² + l1 |w|` of one weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ElasticNetPenalty {
    pub l2: f64,
    pub l1: f64,
}

/// A loss of linear scores, with an elastic-net penalty on the weights.
pub(crate) trait PenalizedLoss: SmoothObjective + Sync {
    fn n_rows(&self) -> usize;

    /// Columns without the intercept.
    fn n_columns(&self) -> usize;

    /// Some columns; the index after the last column is the intercept.
    fn columns(&self, indices: &[usize]) -> Vec<Column<'_>>;

    /// The weights feature by feature, the intercepts last.
    fn weights(&self) -> &[f64];

    /// Weights per feature, and scores per row.
    fn n_outputs(&self) -> usize;

    /// The penalty on the weights of a column; the index after the last column is the intercept.
    fn penalty(&self, column: usize) -> ElasticNetPenalty;

    /// Writes the gradient of the losses, without the penalty; returns the loss of every subproblem.
    fn losses_and_gradient(&mut self, gradient: &mut [f64]) -> Vec<f64>;

    /// The second derivative of the loss by every score.
    fn hessian_weights(&self) -> Vec<f64>;

    /// The probabilities and the row weights, if the scores of a row are coupled by a softmax.
    fn softmax(&self) -> Option<(&[f64], &[f64])> {
        None
    }

    /// Sets the search direction and its scores.
    fn set_direction(&mut self, direction: Vec<f64>, scores: Vec<f64>);

    /// The penalty of every subproblem.
    fn penalty_values(&self, weights: &[f64]) -> Vec<f64> {
        let n = self.n_subproblems();
        let mut values = vec![0.0; n];
        for (j, row) in weights.chunks_exact(self.n_outputs()).enumerate() {
            let ElasticNetPenalty { l2, l1 } = self.penalty(j);
            for (k, w) in row.iter().enumerate() {
                values[k % n] += 0.5 * l2 * w * w + l1 * w.abs();
            }
        }
        values
    }

    /// The largest entry of the minimum-norm subgradient, given the gradient of the losses.
    fn subgradient_violations(&self, gradient: &[f64]) -> Vec<f64> {
        let (m, n) = (self.n_outputs(), self.n_subproblems());
        let mut violations = vec![0.0f64; n];
        let rows = gradient.chunks_exact(m).zip(self.weights().chunks_exact(m));
        for (j, (g, w)) in rows.enumerate() {
            let ElasticNetPenalty { l2, l1 } = self.penalty(j);
            for (k, (g, w)) in g.iter().zip(w).enumerate() {
                let g = g + l2 * w;
                let violation = match *w {
                    0.0 => (g.abs() - l1).max(0.0),
                    w => (g + l1 * w.signum()).abs(),
                };
                if violation > violations[k % n] || violation.is_nan() {
                    violations[k % n] = violation;
                }
            }
        }
        violations
    }
}

/// Minimizes from the current weights.
pub(crate) fn minimize(problem: &mut impl PenalizedLoss, rule: &StoppingRule<'_>) -> Termination {
    let m = problem.n_subproblems();
    let mut end = Termination::start();
    let mut gradient = vec![0.0; problem.dimension()];
    let mut states = vec![SubproblemState::default(); m];
    let (values, violations) = evaluate(problem, &mut gradient);
    for (k, state) in states.iter_mut().enumerate() {
        (state.value, state.violation) = (values[k], violations[k]);
    }
    loop {
        let active: Vec<bool> = states.iter().map(|s| s.is_active(rule.tolerance)).collect();
        end.converged = states.iter().all(|state| state.violation <= rule.tolerance);
        end.stopped = rule.monitor.stop();
        let limit = end.iterations >= rule.max_iterations;
        if end.stopped.is_some() || limit || !active.contains(&true) {
            return end;
        }
        let features = active_features(problem, &gradient, &active);
        let columns = problem.columns(&features);
        let largest = states.iter().zip(&active).filter(|(_, active)| **active);
        let largest = largest.fold(0.0, |a: f64, (state, _)| a.max(state.violation));
        let mut model = QuadraticModel::new(problem, &gradient, &active, &features, &columns);
        end.products += model.minimize(largest, rule);
        let QuadraticModel { direction, scores, .. } = model;
        let moved: Vec<f64> =
            problem.weights().iter().zip(&direction).map(|(w, d)| w + d).collect();
        let linear = dots(&gradient, &direction, m);
        let penalties = problem.penalty_values(&moved).into_iter();
        let penalties = penalties.zip(problem.penalty_values(problem.weights()));
        for ((state, linear), (new, old)) in states.iter_mut().zip(linear).zip(penalties) {
            state.slope = linear + new - old;
        }
        problem.set_direction(direction, scores);
        let steps = armijo_backtracking(problem, &states, unit_steps(&states));
        problem.take_step(&steps);
        end.iterations += 1;
        let (values, violations) = evaluate(problem, &mut gradient);
        for k in (0..m).filter(|k| active[*k]) {
            states[k].update(steps[k], values[k], violations[k], rule.tolerance);
        }
        report(rule, end.iterations, &states);
    }
}

/// The values and violations at the current weights.
fn evaluate(problem: &mut impl PenalizedLoss, gradient: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    let losses = problem.losses_and_gradient(gradient);
    let penalties = problem.penalty_values(problem.weights());
    let values = losses.iter().zip(penalties).map(|(loss, penalty)| loss + penalty).collect();
    (values, problem.subgradient_violations(gradient))
}

/// The features with a nonzero weight, or with a gradient beyond the L1 penalty; the intercept is always among them.
fn active_features(problem: &impl PenalizedLoss, gradient: &[f64], active: &[bool]) -> Vec<usize> {
    let (m, width) = (problem.n_outputs(), problem.n_columns());
    let is_active = |j: &usize| {
        let (entries, l1) = (j * m..(j + 1) * m, problem.penalty(*j).l1);
        let entries = problem.weights()[entries.clone()].iter().zip(&gradient[entries]).enumerate();
        let mut entries = entries.filter(|(k, _)| active[k % active.len()]);
        entries.any(|(_, (w, g))| *w != 0.0 || g.abs() > l1)
    };
    (0..problem.weights().len() / m).filter(|j| *j >= width || is_active(j)).collect()
}

/// The quadratic model of the losses around the current weights, and the best direction found so far.
struct QuadraticModel<'a, P> {
    problem: &'a P,
    gradient: &'a [f64],
    /// The subproblems that have not converged.
    active: &'a [bool],
    features: &'a [usize],
    columns: &'a [Column<'a>],
    /// The diagonal of the Hessian by the weights of the active features.
    diagonal: Vec<f64>,
    /// Second derivatives by the scores. For a softmax `p`, to which [`Self::means`] add the rest of `diag(p) − ppᵀ`.
    hessian_weights: Vec<f64>,
    /// The change of the weights.
    direction: Vec<f64>,
    /// The change of the scores.
    scores: Vec<f64>,
    /// The mean of a row's `scores` under its probabilities; zero without a softmax.
    means: Vec<f64>,
}

impl<'a, P: PenalizedLoss> QuadraticModel<'a, P> {
    fn new(
        problem: &'a P,
        gradient: &'a [f64],
        active: &'a [bool],
        features: &'a [usize],
        columns: &'a [Column<'a>],
    ) -> QuadraticModel<'a, P> {
        let (m, n) = (problem.n_outputs(), problem.n_rows());
        let weights = problem.hessian_weights();
        let diagonal = columns.par_iter().flat_map_collect(|column| {
            let mut sums = vec![0.0; m];
            column.for_each(n, |i, x| {
                let row = &weights[i * m..(i + 1) * m];
                sums.iter_mut().zip(row).for_each(|(sum, c)| *sum += c * x * x);
            });
            sums
        });
        let hessian_weights = match problem.softmax() {
            Some((proba, row_weights)) => {
                let rows = proba.chunks_exact(m).zip(row_weights);
                rows.flat_map(|(row, weight)| row.iter().map(move |p| p * weight)).collect()
            }
            None => weights,
        };
        QuadraticModel {
            problem,
            gradient,
            active,
            features,
            columns,
            diagonal,
            hessian_weights,
            direction: vec![0.0; gradient.len()],
            scores: vec![0.0; n * m],
            means: vec![0.0; n],
        }
    }

    /// Passes over the weights until they hardly change; returns their number.
    fn minimize(&mut self, violation: f64, rule: &StoppingRule<'_>) -> u64 {
        let tolerance = 0.1 * violation.max(rule.tolerance);
        let entries = (self.features.len() * self.scores.len()).max(1) as u64;
        let max_passes = (MODEL_VISITS / entries).clamp(MODEL_PASSES.0, MODEL_PASSES.1);
        let mut passes = 0;
        loop {
            let largest = (0..self.features.len()).fold(0.0, |a: f64, f| a.max(self.update(f)));
            passes += 1;
            if largest <= tolerance || passes >= max_passes || rule.monitor.stop().is_some() {
                return passes;
            }
        }
    }

    /// Minimizes the model over the weights of one feature, one after the other; returns the change of the gradient.
    fn update(&mut self, f: usize) -> f64 {
        let (problem, m, j) = (self.problem, self.problem.n_outputs(), self.features[f]);
        let penalty = problem.penalty(j);
        let ElasticNetPenalty { l2, l1 } = penalty;
        let mut largest: f64 = 0.0;
        for k in (0..m).filter(|k| self.active[k % self.active.len()]) {
            let (index, curvature) = (j * m + k, self.diagonal[f * m + k] + l2);
            let w = problem.weights()[index] + self.direction[index];
            let slope = self.gradient[index] + self.slope_change(f, k) + l2 * w;
            let next = match curvature > 0.0 {
                true => soft_threshold(w - slope / curvature, l1 / curvature),
                // No row is active: the penalty alone decides.
                false if slope.abs() < l1 => 0.0,
                false => w,
            };
            if next != w {
                largest = largest.max((next - w).abs() * curvature);
                self.change(f, k, next - w);
            }
        }
        if problem.softmax().is_some() && j < problem.n_columns() {
            largest = largest.max(self.shift(f, penalty));
        }
        largest
    }

    /// Adds the same amount to the weights of all classes, which changes the penalty but not the softmax.
    fn shift(&mut self, f: usize, penalty: ElasticNetPenalty) -> f64 {
        let (m, j) = (self.problem.n_outputs(), self.features[f]);
        let weights = self.problem.weights()[j * m..(j + 1) * m].iter();
        let weights: Vec<f64> = weights.zip(&self.direction[j * m..]).map(|(w, d)| w + d).collect();
        let shift = minimizing_shift(&weights, penalty);
        if shift != 0.0 {
            self.direction[j * m..(j + 1) * m].iter_mut().for_each(|d| *d += shift);
            let (scores, means) = (&mut self.scores, &mut self.means);
            self.columns[f].for_each(means.len(), |i, x| {
                scores[i * m..(i + 1) * m].iter_mut().for_each(|u| *u += shift * x);
                means[i] += shift * x;
            });
        }
        shift.abs() * penalty.l2
    }

    /// How much the slope of the model by a weight has changed along the direction.
    fn slope_change(&self, f: usize, k: usize) -> f64 {
        let m = self.problem.n_outputs();
        let mut sum = 0.0;
        self.columns[f].for_each(self.means.len(), |i, x| {
            sum += x * self.hessian_weights[i * m + k] * (self.scores[i * m + k] - self.means[i]);
        });
        sum
    }

    fn change(&mut self, f: usize, k: usize, by: f64) {
        let m = self.problem.n_outputs();
        self.direction[self.features[f] * m + k] += by;
        let (scores, means) = (&mut self.scores, &mut self.means);
        let n = means.len();
        self.columns[f].for_each(n, |i, x| scores[i * m + k] += by * x);
        if let Some((proba, _)) = self.problem.softmax() {
            self.columns[f].for_each(n, |i, x| means[i] += proba[i * m + k] * by * x);
        }
    }
}

/// `sign(x) max(|x| − t, 0)`.
fn soft_threshold(x: f64, t: f64) -> f64 {
    x.signum() * (x.abs() - t).max(0.0)
}

/// The `t` that minimizes `Σₖ ½ l2 (wₖ + t)² + l1 |wₖ + t|`.
fn minimizing_shift(w: &[f64], ElasticNetPenalty { l2, l1 }: ElasticNetPenalty) -> f64 {
    let mut kinks: Vec<f64> = w.iter().map(|w| -w).collect();
    kinks.sort_by(f64::total_cmp);
    let (n, sum) = (w.len() as f64, w.iter().sum::<f64>());
    // The derivative is linear between two kinks; its first root is the minimum.
    for (below, kink) in kinks.iter().enumerate() {
        let signs = l1 * (2.0 * below as f64 - n);
        if l2 > 0.0 {
            let root = -(sum * l2 + signs) / (n * l2);
            if root <= *kink {
                return root;
            }
        }
        if l2 * (sum + n * kink) + signs + 2.0 * l1 >= 0.0 {
            return *kink;
        }
    }
    if l2 > 0.0 { -(sum * l2 + l1 * n) / (n * l2) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_shift_has_a_smaller_penalty() {
        let value = |w: &[f64], t: f64, l2: f64, l1: f64| -> f64 {
            w.iter().map(|w| 0.5 * l2 * (w + t).powi(2) + l1 * (w + t).abs()).sum()
        };
        for w in [vec![1.0, -2.0, 0.5], vec![0.0; 4], vec![3.0, 3.5, 4.0, 9.0], vec![-1.0, 7.0]] {
            for (l2, l1) in [(1.0, 0.0), (0.0, 1.0), (0.3, 0.7), (2.0, 0.1)] {
                let best = minimizing_shift(&w, ElasticNetPenalty { l2, l1 });
                let smallest = value(&w, best, l2, l1);
                for k in -200..=200 {
                    let other = value(&w, f64::from(k) * 0.05, l2, l1);
                    assert!(smallest <= other + 1e-12, "{w:?} {l2} {l1}: {best}");
                }
            }
        }
    }
}
