//! Minimizes losses with a price on absolute weights, by coordinates of a quadratic model.
//!
//! Around the weights the losses are modelled by their gradient and the curvature of every class by
//! itself. One weight at a time is set to the best of the model, which is often exactly zero (soft
//! thresholding); then the weights go towards the model's optimum as far as the objective falls
//! enough (Friedman, Hastie & Tibshirani 2010; Yuan, Ho & Lin 2012). Only weights that are not zero, or
//! whose gradient is beyond the price, are looked at.

use super::interleaved::dots;
use super::line_search::armijo_backtracking;
use super::objective::{SubproblemState, unit_steps};
use super::{SmoothObjective, StoppingRule, Termination};
use crate::data::design_matrix::Column;
use rayon::prelude::*;

/// Passes over the weights of a model at most, and cells to visit in them: passes are many where they are
/// short.
const PASSES: (u64, u64) = (100, 10_000);
const VISITED: u64 = 1 << 24;

/// Losses of scores with prices on the weights.
pub(crate) trait PenalizedLoss: SmoothObjective + Sync {
    /// How many rows there are.
    fn n_rows(&self) -> usize;

    /// Columns without the constant one.
    fn n_columns(&self) -> usize;

    /// Some columns; the one behind the last is the constant.
    fn columns(&self, which: &[usize]) -> Vec<Column<'_>>;

    /// The weights feature by feature, the constant terms last.
    fn weights(&self) -> &[f64];

    /// Numbers a feature has.
    fn width(&self) -> usize;

    /// What half the square and the absolute value of a weight of a column cost; the one behind the
    /// last is the constant.
    fn price(&self, column: usize) -> (f64, f64);

    /// The losses and their gradient, without any price.
    fn losses_gradient(&mut self, out: &mut [f64]) -> Vec<f64>;

    /// How much the losses curve in every score.
    fn curvatures(&self) -> Vec<f64>;

    /// Where the scores of a row are one distribution's: probabilities, and what rows weigh.
    fn coupled(&self) -> Option<(&[f64], &[f64])> {
        None
    }

    /// Takes a direction with what it adds to the scores.
    fn set_direction(&mut self, direction: Vec<f64>, scores: Vec<f64>);

    /// What weights cost, for every function.
    fn costs(&self, weights: &[f64]) -> Vec<f64> {
        let lanes = self.n_subproblems();
        let mut costs = vec![0.0; lanes];
        for (j, row) in weights.chunks_exact(self.width()).enumerate() {
            let (price, pull) = self.price(j);
            for (k, w) in row.iter().enumerate() {
                costs[k % lanes] += 0.5 * price * w * w + pull * w.abs();
            }
        }
        costs
    }

    /// How far the weights are from optimal, given the gradient of the losses.
    fn violations_at(&self, gradient: &[f64]) -> Vec<f64> {
        let (m, lanes) = (self.width(), self.n_subproblems());
        let mut worst = vec![0.0f64; lanes];
        let rows = gradient.chunks_exact(m).zip(self.weights().chunks_exact(m));
        for (j, (g, w)) in rows.enumerate() {
            let (price, pull) = self.price(j);
            for (k, (g, w)) in g.iter().zip(w).enumerate() {
                let g = g + price * w;
                let off = match *w {
                    0.0 => (g.abs() - pull).max(0.0),
                    w => (g + pull * w.signum()).abs(),
                };
                if off > worst[k % lanes] || off.is_nan() {
                    worst[k % lanes] = off;
                }
            }
        }
        worst
    }
}

/// Minimizes, from the weights the problem is at.
pub(crate) fn minimize(problem: &mut impl PenalizedLoss, rule: &StoppingRule<'_>) -> Termination {
    let m = problem.n_subproblems();
    let mut ended = Termination::start();
    let mut gradient = vec![0.0; problem.dimension()];
    let mut lanes = vec![SubproblemState::default(); m];
    let (values, violations) = arrived(problem, &mut gradient);
    for (k, lane) in lanes.iter_mut().enumerate() {
        (lane.value, lane.violation) = (values[k], violations[k]);
    }
    loop {
        let open: Vec<bool> = lanes.iter().map(|lane| lane.is_active(rule.tolerance)).collect();
        ended.converged = lanes.iter().all(|lane| lane.violation <= rule.tolerance);
        ended.stopped = rule.monitor.stop();
        let enough = ended.iterations >= rule.max_iterations;
        if ended.stopped.is_some() || enough || !open.contains(&true) {
            return ended;
        }
        let active = active(problem, &gradient, &open);
        let columns = problem.columns(&active);
        let worst = lanes.iter().zip(&open).filter(|(_, open)| **open);
        let worst = worst.fold(0.0, |a: f64, (lane, _)| a.max(lane.violation));
        let mut model = Model::new(problem, &gradient, &open, &active, &columns);
        ended.products += model.minimize(worst, rule);
        let Model { direction, scores, .. } = model;
        let moved: Vec<f64> =
            problem.weights().iter().zip(&direction).map(|(w, d)| w + d).collect();
        let linear = dots(&gradient, &direction, m);
        let costs = problem.costs(&moved).into_iter().zip(problem.costs(problem.weights()));
        for ((lane, linear), (then, now)) in lanes.iter_mut().zip(linear).zip(costs) {
            lane.slope = linear + then - now;
        }
        problem.set_direction(direction, scores);
        let shares = armijo_backtracking(problem, &lanes, unit_steps(&lanes));
        problem.take_step(&shares);
        ended.iterations += 1;
        let (values, violations) = arrived(problem, &mut gradient);
        for k in (0..m).filter(|k| open[*k]) {
            lanes[k].update(shares[k], values[k], violations[k], rule.tolerance);
        }
        rule.monitor.report(ended.iterations, None);
    }
}

/// The values and violations at the weights.
fn arrived(problem: &mut impl PenalizedLoss, gradient: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    let losses = problem.losses_gradient(gradient);
    let costs = problem.costs(problem.weights());
    let values = losses.iter().zip(costs).map(|(loss, cost)| loss + cost).collect();
    (values, problem.violations_at(gradient))
}

/// The features worth looking at: those with a weight, or with a gradient beyond the price.
fn active(problem: &impl PenalizedLoss, gradient: &[f64], open: &[bool]) -> Vec<usize> {
    let (m, width) = (problem.width(), problem.n_columns());
    let worth = |j: &usize| {
        let (cells, pull) = (j * m..(j + 1) * m, problem.price(*j).1);
        let cells = problem.weights()[cells.clone()].iter().zip(&gradient[cells]).enumerate();
        let mut cells = cells.filter(|(k, _)| open[k % open.len()]);
        cells.any(|(_, (w, g))| *w != 0.0 || g.abs() > pull)
    };
    // The constant column is always there.
    (0..problem.weights().len() / m).filter(|j| *j >= width || worth(j)).collect()
}

/// The quadratic model of the losses around the weights, and where its minimum was found so far.
struct Model<'a, P> {
    problem: &'a P,
    gradient: &'a [f64],
    /// Which of the functions are looked at.
    open: &'a [bool],
    active: &'a [usize],
    columns: &'a [Column<'a>],
    /// Second derivatives by every weight of the active features.
    curves: Vec<f64>,
    /// Second derivatives by every score, as far as they do not come from the mean.
    bends: Vec<f64>,
    /// What to add to the weights.
    direction: Vec<f64>,
    /// What that adds to the scores.
    scores: Vec<f64>,
    /// The mean of a row's `scores`, by its probabilities; zero where scores are not coupled.
    means: Vec<f64>,
}

impl<'a, P: PenalizedLoss> Model<'a, P> {
    fn new(
        problem: &'a P,
        gradient: &'a [f64],
        open: &'a [bool],
        active: &'a [usize],
        columns: &'a [Column<'a>],
    ) -> Model<'a, P> {
        let (m, n) = (problem.width(), problem.n_rows());
        let curvatures = problem.curvatures();
        let curves = columns.par_iter().flat_map_iter(|column| {
            let mut sums = vec![0.0; m];
            column.each(n, |i, x| {
                let row = &curvatures[i * m..(i + 1) * m];
                sums.iter_mut().zip(row).for_each(|(sum, c)| *sum += c * x * x);
            });
            sums
        });
        let curves = curves.collect();
        let bends = match problem.coupled() {
            Some((proba, shares)) => {
                let rows = proba.chunks_exact(m).zip(shares);
                rows.flat_map(|(row, share)| row.iter().map(move |p| p * share)).collect()
            }
            None => curvatures,
        };
        Model {
            problem,
            gradient,
            open,
            active,
            columns,
            curves,
            bends,
            direction: vec![0.0; gradient.len()],
            scores: vec![0.0; n * m],
            means: vec![0.0; n],
        }
    }

    /// Goes over the weights rule they hardly move; says how often.
    fn minimize(&mut self, violation: f64, rule: &StoppingRule<'_>) -> u64 {
        let enough = 0.1 * violation.max(rule.tolerance);
        let cells = (self.active.len() * self.scores.len()).max(1) as u64;
        let most = (VISITED / cells).clamp(PASSES.0, PASSES.1);
        let mut passes = 0;
        loop {
            let worst = (0..self.active.len()).fold(0.0, |worst: f64, a| worst.max(self.visit(a)));
            passes += 1;
            if worst <= enough || passes >= most || rule.monitor.stop().is_some() {
                return passes;
            }
        }
    }

    /// Sets the weights of one feature, each to the best of the model; says how much the gradient
    /// moved.
    fn visit(&mut self, a: usize) -> f64 {
        let (problem, m, j) = (self.problem, self.problem.width(), self.active[a]);
        let (price, pull) = problem.price(j);
        let mut worst: f64 = 0.0;
        for k in (0..m).filter(|k| self.open[k % self.open.len()]) {
            let (place, curve) = (j * m + k, self.curves[a * m + k] + price);
            let w = problem.weights()[place] + self.direction[place];
            let slope = self.gradient[place] + self.slope(a, k) + price * w;
            // Where no loss curves, the price alone decides.
            let next = match curve > 0.0 {
                true => {
                    let target = w - slope / curve;
                    target.signum() * (target.abs() - pull / curve).max(0.0)
                }
                false => {
                    if slope.abs() < pull {
                        0.0
                    } else {
                        w
                    }
                }
            };
            if next != w {
                worst = worst.max((next - w).abs() * curve);
                self.change(a, k, next - w);
            }
        }
        if problem.coupled().is_some() && j < problem.n_columns() {
            worst = worst.max(self.shift(a, price, pull));
        }
        worst
    }

    /// What all classes have in common does not change the losses, only the price: the best of it.
    fn shift(&mut self, a: usize, price: f64, pull: f64) -> f64 {
        let (m, j) = (self.problem.width(), self.active[a]);
        let weights = self.problem.weights()[j * m..(j + 1) * m].iter();
        let now: Vec<f64> = weights.zip(&self.direction[j * m..]).map(|(w, d)| w + d).collect();
        let shift = cheapest_shift(&now, price, pull);
        if shift != 0.0 {
            self.direction[j * m..(j + 1) * m].iter_mut().for_each(|d| *d += shift);
            let (scores, means) = (&mut self.scores, &mut self.means);
            self.columns[a].each(means.len(), |i, x| {
                scores[i * m..(i + 1) * m].iter_mut().for_each(|u| *u += shift * x);
                means[i] += shift * x;
            });
        }
        shift.abs() * price
    }

    /// How far the model's slope by a weight is from that at the start.
    fn slope(&self, a: usize, k: usize) -> f64 {
        let m = self.problem.width();
        let mut sum = 0.0;
        self.columns[a].each(self.means.len(), |i, x| {
            sum += x * self.bends[i * m + k] * (self.scores[i * m + k] - self.means[i]);
        });
        sum
    }

    fn change(&mut self, a: usize, k: usize, by: f64) {
        let m = self.problem.width();
        self.direction[self.active[a] * m + k] += by;
        let (scores, means) = (&mut self.scores, &mut self.means);
        let n = means.len();
        self.columns[a].each(n, |i, x| scores[i * m + k] += by * x);
        if let Some((proba, _)) = self.problem.coupled() {
            self.columns[a].each(n, |i, x| means[i] += proba[i * m + k] * by * x);
        }
    }
}

/// The `t` that makes `Σₖ ½ price (wₖ + t)² + pull |wₖ + t|` smallest.
fn cheapest_shift(w: &[f64], price: f64, pull: f64) -> f64 {
    let mut kinks: Vec<f64> = w.iter().map(|w| -w).collect();
    kinks.sort_by(f64::total_cmp);
    let (n, sum) = (w.len() as f64, w.iter().sum::<f64>());
    // Between two kinks the slope is a line; the first place where it is not negative is the best.
    for (below, kink) in kinks.iter().enumerate() {
        let signs = pull * (2.0 * below as f64 - n);
        if price > 0.0 {
            let zero = -(sum * price + signs) / (n * price);
            if zero <= *kink {
                return zero;
            }
        }
        if price * (sum + n * kink) + signs + 2.0 * pull >= 0.0 {
            return *kink;
        }
    }
    if price > 0.0 { -(sum * price + pull * n) / (n * price) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_shift_is_cheaper() {
        let cost = |w: &[f64], t: f64, price: f64, pull: f64| -> f64 {
            w.iter().map(|w| 0.5 * price * (w + t).powi(2) + pull * (w + t).abs()).sum()
        };
        for w in [vec![1.0, -2.0, 0.5], vec![0.0; 4], vec![3.0, 3.5, 4.0, 9.0], vec![-1.0, 7.0]] {
            for (price, pull) in [(1.0, 0.0), (0.0, 1.0), (0.3, 0.7), (2.0, 0.1)] {
                let best = cheapest_shift(&w, price, pull);
                let least = cost(&w, best, price, pull);
                for k in -200..=200 {
                    let other = cost(&w, f64::from(k) * 0.05, price, pull);
                    assert!(least <= other + 1e-12, "{w:?} {price} {pull}: {best}");
                }
            }
        }
    }
}
