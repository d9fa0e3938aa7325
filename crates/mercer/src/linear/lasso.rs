//! Minimizes the log-loss with a price on absolute weights, by coordinates of a quadratic model.
//!
//! Around the weights the losses are modelled by their gradient and the curvature of every class by
//! itself. One weight at a time is set to the best of the model, which is often exactly zero (soft
//! thresholding); then the weights go towards the model's optimum as far as the objective falls
//! enough (Friedman, Hastie & Tibshirani 2010; Yuan, Ho & Lin 2012). Only weights that are not zero, or
//! whose gradient is beyond the price, are looked at.

use super::design::Column;
use super::entropy::Entropy;
use crate::solver::newton::{Ended, Smooth, Until};
use rayon::prelude::*;

/// Passes over the weights of a model at most.
const PASSES: u64 = 100;

/// Minimizes, from the weights the problem is at.
pub(super) fn minimize(problem: &mut Entropy<'_>, until: &Until<'_>) -> Ended {
    let mut ended = Ended { steps: 0, products: 0, converged: false, stopped: None };
    let mut gradient = vec![0.0; problem.dimension()];
    let mut loss = problem.loss_gradient(&mut gradient);
    let mut violation = problem.violation_at(&gradient);
    loop {
        ended.converged = violation <= until.tolerance;
        ended.stopped = until.monitor.stop();
        let enough = ended.steps >= until.most_steps;
        if ended.converged || ended.stopped.is_some() || enough || !violation.is_finite() {
            return ended;
        }
        let active = active(problem, &gradient);
        let columns = problem.design.columns(&active);
        let mut model = Model::new(problem, &gradient, &active, &columns);
        ended.products += model.minimize(violation, until);
        let Model { direction, scores, .. } = model;
        let value = loss + problem.cost(problem.weights());
        let moved: Vec<f64> =
            problem.weights().iter().zip(&direction).map(|(w, d)| w + d).collect();
        let linear: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let slope = linear + problem.cost(&moved) - problem.cost(problem.weights());
        problem.set_direction(direction, scores);
        let noise = 8.0 * f64::EPSILON * value.abs();
        let mut share = 1.0;
        while problem.value_along(share) > value + 1e-4 * share * slope + noise && share > 1e-9 {
            share *= 0.5;
        }
        problem.go(share);
        ended.steps += 1;
        let (last, fell) = (violation, slope.abs() * share > noise);
        loss = problem.loss_gradient(&mut gradient);
        violation = problem.violation_at(&gradient);
        if violation >= last && !fell && violation > until.tolerance {
            return ended;
        }
        until.monitor.report(ended.steps, None);
    }
}

/// The features worth looking at: those with a weight, or with a gradient beyond the price.
fn active(problem: &Entropy<'_>, gradient: &[f64]) -> Vec<usize> {
    let (m, width) = (problem.m, problem.design.width());
    let worth = |j: &usize| {
        let cells = j * m..(j + 1) * m;
        let cells = problem.weights()[cells.clone()].iter().zip(&gradient[cells]);
        cells.into_iter().any(|(w, g)| *w != 0.0 || g.abs() > problem.absolute_price)
    };
    // The constant column is always there.
    (0..problem.design.n_weights()).filter(|j| *j >= width || worth(j)).collect()
}

/// The quadratic model of the losses around the weights, and where its minimum was found so far.
struct Model<'a, 'd> {
    problem: &'a Entropy<'d>,
    gradient: &'a [f64],
    active: &'a [usize],
    columns: &'a [Column<'a>],
    /// Second derivatives by every weight of the active features.
    curves: Vec<f64>,
    /// What to add to the weights.
    direction: Vec<f64>,
    /// What that adds to the scores.
    scores: Vec<f64>,
    /// The mean of a row's `scores`, by its probabilities.
    means: Vec<f64>,
}

impl<'a, 'd> Model<'a, 'd> {
    fn new(
        problem: &'a Entropy<'d>,
        gradient: &'a [f64],
        active: &'a [usize],
        columns: &'a [Column<'a>],
    ) -> Model<'a, 'd> {
        let (m, n) = (problem.m, problem.design.n_rows());
        let curvatures = problem.curvatures();
        let curves = columns.par_iter().flat_map_iter(|column| {
            let mut sums = vec![0.0; m];
            column.each(n, |i, x| {
                let row = &curvatures[i * m..(i + 1) * m];
                sums.iter_mut().zip(row).for_each(|(sum, c)| *sum += c * x * x);
            });
            sums
        });
        Model {
            problem,
            gradient,
            active,
            columns,
            curves: curves.collect(),
            direction: vec![0.0; gradient.len()],
            scores: vec![0.0; n * m],
            means: vec![0.0; n],
        }
    }

    /// Goes over the weights until they hardly move; says how often.
    fn minimize(&mut self, violation: f64, until: &Until<'_>) -> u64 {
        let enough = 0.1 * violation.max(until.tolerance);
        let mut passes = 0;
        loop {
            let worst = (0..self.active.len()).fold(0.0, |worst: f64, a| worst.max(self.visit(a)));
            passes += 1;
            if worst <= enough || passes >= PASSES || until.monitor.stop().is_some() {
                return passes;
            }
        }
    }

    /// Sets the weights of one feature, each to the best of the model; says how much the gradient
    /// moved.
    fn visit(&mut self, a: usize) -> f64 {
        let (problem, m, j) = (self.problem, self.problem.m, self.active[a]);
        let (price, pull) = match j < problem.design.width() {
            true => (problem.price, problem.absolute_price),
            false => (0.0, 0.0),
        };
        let mut worst: f64 = 0.0;
        for k in 0..m {
            let (place, curve) = (j * m + k, self.curves[a * m + k] + price);
            if curve <= 0.0 {
                continue;
            }
            let w = problem.weights()[place] + self.direction[place];
            let slope = self.gradient[place] + self.slope(a, k) + price * w;
            let target = w - slope / curve;
            let next = target.signum() * (target.abs() - pull / curve).max(0.0);
            if next != w {
                worst = worst.max((next - w).abs() * curve);
                self.change(a, k, next - w);
            }
        }
        if m > 1 && j < problem.design.width() {
            worst = worst.max(self.shift(a, price, pull));
        }
        worst
    }

    /// What all classes have in common does not change the losses, only the price: the best of it.
    fn shift(&mut self, a: usize, price: f64, pull: f64) -> f64 {
        let (m, j) = (self.problem.m, self.active[a]);
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
        let (m, problem) = (self.problem.m, self.problem);
        let mut sum = 0.0;
        self.columns[a].each(self.means.len(), |i, x| {
            let p = problem.shares[i] * problem.proba[i * m + k];
            sum += x * p * (self.scores[i * m + k] - self.means[i]);
        });
        sum
    }

    fn change(&mut self, a: usize, k: usize, by: f64) {
        let (m, problem) = (self.problem.m, self.problem);
        self.direction[self.active[a] * m + k] += by;
        let (scores, means) = (&mut self.scores, &mut self.means);
        self.columns[a].each(means.len(), |i, x| {
            scores[i * m + k] += by * x;
            means[i] += problem.proba[i * m + k] * by * x;
        });
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
