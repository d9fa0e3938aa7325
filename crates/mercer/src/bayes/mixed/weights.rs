//! Weighted naive Bayes: the likelihood of every column is raised to a learned power, so that redundant columns do not
//! count twice.
//!
//! `log p(c | x) = log p(c) + Σⱼ wⱼ log pⱼ(xⱼ | c) + const`, with the `w ≥ 0` that minimize
//! `−Σᵢ log p(cᵢ | xᵢ) + ½ Σⱼ (wⱼ − 1)²`
//!
//! Weights of one are naive Bayes, towards which the penalty shrinks them. The likelihoods of a row are estimated
//! without the row itself (leave-one-out), because a column of unique values would seem perfectly informative otherwise
//! (Zaidi, Cerquides, Carman & Webb 2013). The objective is convex and minimized by projected Newton steps (Bertsekas
//! 1982). The penalty makes it 1-strongly convex, so half the squared norm of the projected gradient bounds the
//! suboptimality.

use super::MixedNbModel;
use crate::error::Result;
use crate::model::{Monitor, Stop};
use crate::stats::Sample;
use mercer_num::linalg::{Cholesky, add_gram};
use mercer_num::special::log_normalize;
use mercer_num::{Matrix, parallel};
use std::convert::Infallible;

/// The maximum number of log-likelihoods that are stored: 128 MB.
const MAX_FACTORS: usize = 1 << 24;
/// The minimum number of rows, even if they exceed [`MAX_FACTORS`].
const MIN_ROWS: usize = 256;
/// Rows that one task sums.
const ROWS_PER_TASK: usize = 256;
/// The relative suboptimality at which iterations stop.
const TOLERANCE: f64 = 1e-10;
const MAX_ITERATIONS: usize = 100;
/// The sufficient-decrease constant of the line search.
const ARMIJO: f64 = 1e-4;

/// The problem of learning the weights.
pub(super) struct WeightProblem {
    n_weights: usize,
    log_priors: Vec<f64>,
    /// Class and sample weight of each row.
    rows: Vec<(u32, f64)>,
    /// `log pⱼ(xⱼ | c)`, indexed by row, class and column.
    factors: Vec<f64>,
}

/// The objective and its gradient.
pub(super) struct Loss {
    pub value: f64,
    pub gradient: Vec<f64>,
}

/// Sums over some rows.
struct Sums {
    loss: Loss,
    /// The Hessian, lower triangle; empty if it is not needed.
    hessian: Vec<f64>,
}

impl WeightProblem {
    pub fn new(log_priors: &[f64], n_weights: usize) -> WeightProblem {
        let (log_priors, rows, factors) = (log_priors.to_vec(), Vec::new(), Vec::new());
        WeightProblem { n_weights, log_priors, rows, factors }
    }

    /// Adds a row with its log-likelihoods, one row per class. Rows with infinite ones are skipped.
    pub fn push(&mut self, class: u32, weight: f64, factors: &Matrix) {
        let possible = self.log_priors[class as usize].is_finite();
        if possible && factors.iter().all(|f| f.is_finite()) {
            self.rows.push((class, weight));
            self.factors.extend(factors);
        }
    }

    /// The optimal weights, or the current ones if the monitor stops the iterations.
    pub fn minimize(&self, monitor: &Monitor<'_>) -> (Vec<f64>, Option<Stop>) {
        let mut weights = vec![1.0; self.n_weights];
        for _ in 0..MAX_ITERATIONS {
            if let Some(why) = monitor.stop() {
                return (weights, Some(why));
            }
            let Sums { loss, hessian } = self.sums(&weights, true);
            if loss.suboptimality(&weights) <= TOLERANCE * loss.value.max(1.0) {
                break;
            }
            let Some(step) = self.newton_step(&weights, &loss.gradient, &hessian) else { break };
            let Some(better) = self.line_search(&weights, &loss, &step) else { break };
            weights = better;
        }
        (weights, None)
    }

    /// The objective at some weights.
    pub fn loss(&self, weights: &[f64]) -> Loss {
        self.sums(weights, false).loss
    }

    /// The Newton step of the free weights: those that are positive, or at zero with a negative gradient.
    fn newton_step(&self, weights: &[f64], gradient: &[f64], hessian: &[f64]) -> Option<Vec<f64>> {
        let free: Vec<usize> =
            (0..self.n_weights).filter(|j| weights[*j] > 0.0 || gradient[*j] < 0.0).collect();
        let hessian = Matrix::from_shape_fn((free.len(), free.len()), |(i, j)| {
            let (low, high) = (free[i.min(j)], free[i.max(j)]);
            hessian[high * self.n_weights + low]
        });
        let gradient: Vec<f64> = free.iter().map(|j| gradient[*j]).collect();
        let mut step = vec![0.0; self.n_weights];
        let solved = Cholesky::of(hessian.view())?.solve(&gradient);
        free.iter().zip(solved).for_each(|(j, s)| step[*j] = s);
        Some(step)
    }

    /// Backtracking line search along the projected step; `None` if no step decreases the objective.
    fn line_search(&self, weights: &[f64], loss: &Loss, step: &[f64]) -> Option<Vec<f64>> {
        let mut step_size = 1.0;
        while step_size > 1e-9 {
            let next: Vec<f64> =
                weights.iter().zip(step).map(|(w, s)| (w - step_size * s).max(0.0)).collect();
            let decrease: f64 =
                weights.iter().zip(&next).zip(&loss.gradient).map(|((w, v), g)| g * (w - v)).sum();
            if self.loss(&next).value <= loss.value - ARMIJO * decrease && next != weights {
                return Some(next);
            }
            step_size *= 0.5;
        }
        None
    }

    /// Sums over all rows in a fixed order, plus the penalty.
    fn sums(&self, weights: &[f64], with_hessian: bool) -> Sums {
        let chunks: Vec<_> = parallel::chunks(self.rows.len(), ROWS_PER_TASK).collect();
        let leaf =
            |k: usize| Ok::<_, Infallible>(self.chunk(chunks[k].clone(), weights, with_hessian));
        let add = |a: &mut Sums, b: &Sums| {
            a.add(b);
            Ok(())
        };
        let Ok((sums, _)) = parallel::reduce(chunks.len(), leaf, add, |_| true);
        let mut sums = sums.unwrap_or_else(|| Sums::zeros(self.n_weights, with_hessian));
        for (j, w) in weights.iter().enumerate() {
            sums.loss.value += 0.5 * (w - 1.0) * (w - 1.0);
            sums.loss.gradient[j] += w - 1.0;
            if with_hessian {
                sums.hessian[j * self.n_weights + j] += 1.0;
            }
        }
        sums
    }

    fn chunk(&self, rows: std::ops::Range<usize>, weights: &[f64], with_hessian: bool) -> Sums {
        let (d, n_classes) = (self.n_weights, self.log_priors.len());
        let mut sums = Sums::zeros(d, with_hessian);
        let mut panel = Vec::new();
        let (mut posterior, mut mean) = (vec![0.0; n_classes], vec![0.0; d]);
        for i in rows {
            let (class, count) = self.rows[i];
            let factors = &self.factors[i * n_classes * d..(i + 1) * n_classes * d];
            let of_class = |c: usize| &factors[c * d..(c + 1) * d];
            for (c, p) in posterior.iter_mut().enumerate() {
                let sum: f64 = of_class(c).iter().zip(weights).map(|(f, w)| f * w).sum();
                *p = self.log_priors[c] + sum;
            }
            log_normalize(&mut posterior);
            sums.loss.value -= count * posterior[class as usize];
            posterior.iter_mut().for_each(|p| *p = p.exp());
            mean.fill(0.0);
            for (c, p) in posterior.iter().enumerate() {
                mean.iter_mut().zip(of_class(c)).for_each(|(m, f)| *m += p * f);
            }
            let own = of_class(class as usize);
            let gradient = sums.loss.gradient.iter_mut();
            gradient.zip(mean.iter().zip(own)).for_each(|(s, (m, f))| *s += count * (m - f));
            if with_hessian {
                for (c, p) in posterior.iter().enumerate() {
                    let root = (count * p).sqrt();
                    panel.extend(of_class(c).iter().zip(&mean).map(|(f, m)| root * (f - m)));
                }
            }
        }
        if with_hessian {
            add_gram(&panel, d, &mut sums.hessian);
        }
        sums
    }
}

impl MixedNbModel {
    /// The weight problem of stored rows, with leave-one-out log-likelihoods.
    pub(super) fn weight_problem(
        &self,
        sample: &Sample,
        monitor: &Monitor<'_>,
    ) -> Result<WeightProblem> {
        let (head, n_classes) = (self.n_likelihoods(), self.classes.len());
        let n_weights = head + self.texts.len();
        let max_rows = (MAX_FACTORS / (n_weights * n_classes)).max(MIN_ROWS);
        let entries = &sample.entries()[..sample.entries().len().min(max_rows)];
        let cells = (entries.len() * n_classes + 2 * n_weights) * n_weights;
        monitor.reserve("learning the weights of columns", 8 * cells as u64)?;
        let mut problem = WeightProblem::new(&self.log_priors, n_weights);
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(head);
        for (j, likelihood) in self.likelihoods.iter().enumerate() {
            let cells = entries.iter().map(|entry| entry.cell(j));
            let mut factors = vec![0.0; entries.len() * n_classes];
            likelihood.add_factors(self.unseen, (0, j), cells, &mut factors, n_classes)?;
            columns.push(factors);
        }
        for (i, entry) in entries.iter().enumerate() {
            let class = entry.group as usize;
            let mut factors = Matrix::zeros((n_classes, n_weights));
            for (j, (column, x)) in columns.iter().zip(entry.cells()).enumerate() {
                for c in 0..n_classes {
                    factors[[c, j]] = column[i * n_classes + c];
                }
                factors[[class, j]] += self.likelihoods[j].leave_one_out(class, x);
            }
            let mut first = 0;
            for (t, text) in self.texts.iter().enumerate() {
                let end = first + text.counts.ncols();
                let terms = entry.terms.iter().zip(&entry.counts).map(|(j, n)| (*j as usize, *n));
                let inside = terms.filter(|(j, _)| (first..end).contains(j));
                let terms: Vec<(usize, f64)> = inside.map(|(j, n)| (j - first, n)).collect();
                (0..n_classes).for_each(|c| {
                    factors[[c, head + t]] = text.log_factor(&terms, c, c == class);
                });
                first = end;
            }
            problem.push(entry.group, entry.weight, &factors);
        }
        Ok(problem)
    }
}

impl Loss {
    /// An upper bound of the difference to the minimum.
    pub fn suboptimality(&self, weights: &[f64]) -> f64 {
        let free = self.gradient.iter().zip(weights).filter(|(g, w)| **w > 0.0 || **g < 0.0);
        0.5 * free.map(|(g, _)| g * g).sum::<f64>()
    }
}

impl Sums {
    fn zeros(n_weights: usize, with_hessian: bool) -> Sums {
        let loss = Loss { value: 0.0, gradient: vec![0.0; n_weights] };
        Sums { loss, hessian: vec![0.0; if with_hessian { n_weights * n_weights } else { 0 }] }
    }

    fn add(&mut self, other: &Sums) {
        self.loss.value += other.loss.value;
        self.loss.gradient.iter_mut().zip(&other.loss.gradient).for_each(|(a, b)| *a += b);
        self.hessian.iter_mut().zip(&other.hessian).for_each(|(a, b)| *a += b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// One informative column, repeated `times` times, correct in three of four rows.
    fn repeated(times: usize, rows: usize) -> WeightProblem {
        let mut problem = WeightProblem::new(&[0.5f64.ln(); 2], times);
        for i in 0..rows {
            let (class, indicated) = ((i % 2) as u32, if i % 8 < 6 { i % 2 } else { 1 - i % 2 });
            let factor = |c: usize| if c == indicated { 0.75f64.ln() } else { 0.25f64.ln() };
            problem.push(class, 1.0, &Matrix::from_shape_fn((2, times), |(c, _)| factor(c)));
        }
        problem
    }

    #[test]
    fn three_identical_columns_count_once() {
        let (weights, stopped) = repeated(3, 800).minimize(&Monitor::quiet());

        assert_eq!(stopped, None);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 0.02, "{weights:?}");
        assert!(weights.iter().all(|w| (w - weights[0]).abs() < 1e-9));
    }

    #[test]
    fn without_rows_all_weights_are_one() {
        let problem = WeightProblem::new(&[0.5f64.ln(); 2], 2);

        assert_eq!(problem.minimize(&Monitor::quiet()).0, [1.0, 1.0]);
    }

    #[test]
    fn the_suboptimality_bound_holds() {
        let problem = repeated(2, 40);

        let (weights, _) = problem.minimize(&Monitor::quiet());

        let loss = problem.loss(&weights);
        let minimum = loss.value - loss.suboptimality(&weights);
        assert!(loss.suboptimality(&weights) < 1e-8);
        for a in 0..40 {
            for b in 0..40 {
                let other = [0.05 * f64::from(a), 0.05 * f64::from(b)];
                assert!(problem.loss(&other).value >= minimum);
            }
        }
    }

    #[test]
    fn a_misleading_column_gets_weight_zero() {
        let mut problem = WeightProblem::new(&[0.5f64.ln(); 2], 1);
        for class in [0, 1].repeat(50) {
            let wrong = if class == 0 { array![[-2.0], [-0.1]] } else { array![[-0.1], [-2.0]] };
            problem.push(class, 1.0, &wrong);
        }

        assert_eq!(problem.minimize(&Monitor::quiet()).0, [0.0]);
    }

    #[test]
    fn a_row_of_probability_zero_is_skipped() {
        let mut problem = repeated(1, 80);
        let before = problem.minimize(&Monitor::quiet()).0;

        problem.push(0, 5.0, &array![[f64::NEG_INFINITY], [-1.0]]);

        assert_eq!(problem.minimize(&Monitor::quiet()).0, before);
    }
}
