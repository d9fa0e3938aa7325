//! A power for the factor of every column, learned: columns that repeat each other say it once.
//!
//! `log p(c | x) = log p(c) + Σⱼ wⱼ log pⱼ(xⱼ | c) + const`, with the `w ≥ 0` that minimize
//! `−Σᵢ log p(cᵢ | xᵢ) + ½ Σⱼ (wⱼ − 1)²`
//!
//! Weights of one are naive Bayes, and the price keeps them there until rows say otherwise. A row's own
//! shares do not count it, or a column of names would seem to know everything (Zaidi, Cerquides, Carman
//! & Webb 2013). The sum is convex; Newton steps that stay above zero find its least value (Bertsekas
//! 1982), and as the price alone bends it by one, half the squared slope bounds what is left.

use super::MixedNbModel;
use crate::error::Result;
use crate::model::{Monitor, Stop};
use crate::stats::Sample;
use mercer_num::linalg::{Cholesky, add_gram};
use mercer_num::special::log_normalize;
use mercer_num::{Matrix, parallel};
use std::convert::Infallible;

/// Factors that weights are learned from at most: 128 MB of them.
const MOST_FACTORS: usize = 1 << 24;
/// Rows that they are learned from even where that is more.
const LEAST_LESSONS: usize = 256;
/// Rows whose sums are taken together.
const CHUNK: usize = 256;
/// What may be left, as a share of the sum.
const ENOUGH: f64 = 1e-10;
const MOST_STEPS: usize = 100;
/// What of the slope's promise a step must keep.
const ARMIJO: f64 = 1e-4;

/// Rows to learn from.
pub(super) struct Lessons {
    n_weights: usize,
    log_priors: Vec<f64>,
    /// The class of each row and how often it counts.
    rows: Vec<(u32, f64)>,
    /// `log pⱼ(xⱼ | c)`: row by row, in each class by class, in each column by column.
    factors: Vec<f64>,
}

/// What is minimized, at some weights.
pub(super) struct Loss {
    pub value: f64,
    pub slope: Vec<f64>,
}

/// The sums over some rows.
struct Sums {
    loss: Loss,
    /// The second derivatives, lower triangle.
    bend: Vec<f64>,
}

impl Lessons {
    pub fn new(log_priors: &[f64], n_weights: usize) -> Lessons {
        let (log_priors, rows, factors) = (log_priors.to_vec(), Vec::new(), Vec::new());
        Lessons { n_weights, log_priors, rows, factors }
    }

    /// Adds a row of a class: one row of factors a class. What is impossible teaches nothing.
    pub fn push(&mut self, class: u32, weight: f64, factors: &Matrix) {
        let possible = self.log_priors[class as usize].is_finite();
        if possible && factors.iter().all(|f| f.is_finite()) {
            self.rows.push((class, weight));
            self.factors.extend(factors);
        }
    }

    /// The best weights, or those come to so far and why they are not the best.
    pub fn learn(&self, monitor: &Monitor<'_>) -> (Vec<f64>, Option<Stop>) {
        let mut weights = vec![1.0; self.n_weights];
        for _ in 0..MOST_STEPS {
            if let Some(why) = monitor.stop() {
                return (weights, Some(why));
            }
            let Sums { loss, bend } = self.sums(&weights, true);
            if loss.left(&weights) <= ENOUGH * loss.value.max(1.0) {
                break;
            }
            let Some(step) = self.step(&weights, &loss.slope, &bend) else { break };
            let Some(better) = self.shortened(&weights, &loss, &step) else { break };
            weights = better;
        }
        (weights, None)
    }

    /// The loss at some weights.
    pub fn loss(&self, weights: &[f64]) -> Loss {
        self.sums(weights, false).loss
    }

    /// Newton's step of the weights that are free to move.
    fn step(&self, weights: &[f64], slope: &[f64], bend: &[f64]) -> Option<Vec<f64>> {
        let free: Vec<usize> =
            (0..self.n_weights).filter(|j| weights[*j] > 0.0 || slope[*j] < 0.0).collect();
        let bend = Matrix::from_shape_fn((free.len(), free.len()), |(i, j)| {
            let (low, high) = (free[i.min(j)], free[i.max(j)]);
            bend[high * self.n_weights + low]
        });
        let slope: Vec<f64> = free.iter().map(|j| slope[*j]).collect();
        let mut step = vec![0.0; self.n_weights];
        let solved = Cholesky::of(bend.view())?.solve(&slope);
        free.iter().zip(solved).for_each(|(j, s)| step[*j] = s);
        Some(step)
    }

    /// Weights a step further, or half of it, or a quarter: where the loss has fallen enough.
    fn shortened(&self, weights: &[f64], loss: &Loss, step: &[f64]) -> Option<Vec<f64>> {
        let mut share = 1.0;
        while share > 1e-9 {
            let next: Vec<f64> =
                weights.iter().zip(step).map(|(w, s)| (w - share * s).max(0.0)).collect();
            let promised: f64 =
                weights.iter().zip(&next).zip(&loss.slope).map(|((w, v), g)| g * (w - v)).sum();
            if self.loss(&next).value <= loss.value - ARMIJO * promised && next != weights {
                return Some(next);
            }
            share *= 0.5;
        }
        None
    }

    /// Sums over all rows in a fixed order, and the price.
    fn sums(&self, weights: &[f64], bent: bool) -> Sums {
        let chunks: Vec<_> = parallel::chunks(self.rows.len(), CHUNK).collect();
        let leaf = |k: usize| Ok::<_, Infallible>(self.chunk(chunks[k].clone(), weights, bent));
        let add = |a: &mut Sums, b: &Sums| {
            a.add(b);
            Ok(())
        };
        let Ok((sums, _)) = parallel::reduce(chunks.len(), leaf, add, |_| true);
        let mut sums = sums.unwrap_or_else(|| Sums::zeros(self.n_weights, bent));
        for (j, w) in weights.iter().enumerate() {
            sums.loss.value += 0.5 * (w - 1.0) * (w - 1.0);
            sums.loss.slope[j] += w - 1.0;
            if bent {
                sums.bend[j * self.n_weights + j] += 1.0;
            }
        }
        sums
    }

    fn chunk(&self, rows: std::ops::Range<usize>, weights: &[f64], bent: bool) -> Sums {
        let (d, n_classes) = (self.n_weights, self.log_priors.len());
        let mut sums = Sums::zeros(d, bent);
        let mut panel = Vec::new();
        let (mut shares, mut mean) = (vec![0.0; n_classes], vec![0.0; d]);
        for i in rows {
            let (class, count) = self.rows[i];
            let factors = &self.factors[i * n_classes * d..(i + 1) * n_classes * d];
            let of_class = |c: usize| &factors[c * d..(c + 1) * d];
            for (c, share) in shares.iter_mut().enumerate() {
                let sum: f64 = of_class(c).iter().zip(weights).map(|(f, w)| f * w).sum();
                *share = self.log_priors[c] + sum;
            }
            log_normalize(&mut shares);
            sums.loss.value -= count * shares[class as usize];
            shares.iter_mut().for_each(|p| *p = p.exp());
            mean.fill(0.0);
            for (c, p) in shares.iter().enumerate() {
                mean.iter_mut().zip(of_class(c)).for_each(|(m, f)| *m += p * f);
            }
            let own = of_class(class as usize);
            let slope = sums.loss.slope.iter_mut();
            slope.zip(mean.iter().zip(own)).for_each(|(s, (m, f))| *s += count * (m - f));
            if bent {
                for (c, p) in shares.iter().enumerate() {
                    let root = (count * p).sqrt();
                    panel.extend(of_class(c).iter().zip(&mean).map(|(f, m)| root * (f - m)));
                }
            }
        }
        if bent {
            add_gram(&panel, d, &mut sums.bend);
        }
        sums
    }
}

impl MixedNbModel {
    /// What the weights are learned from: the factors of rows, each under the shares of the others.
    pub(super) fn lessons(&self, sample: &Sample, monitor: &Monitor<'_>) -> Result<Lessons> {
        let (head, n_classes) = (self.head(), self.classes.len());
        let n_weights = head + self.texts.len();
        let most = (MOST_FACTORS / (n_weights * n_classes)).max(LEAST_LESSONS);
        let entries = &sample.entries()[..sample.entries().len().min(most)];
        let cells = (entries.len() * n_classes + 2 * n_weights) * n_weights;
        monitor.reserve("learning the weights of columns", 8 * cells as u64)?;
        let mut lessons = Lessons::new(&self.log_priors, n_weights);
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
                factors[[class, j]] += self.likelihoods[j].without_one(class, x);
            }
            let mut first = 0;
            for (t, text) in self.texts.iter().enumerate() {
                let end = first + text.counts.ncols();
                let words = entry.words.iter().zip(&entry.counts).map(|(j, n)| (*j as usize, *n));
                let inside = words.filter(|(j, _)| (first..end).contains(j));
                let words: Vec<(usize, f64)> = inside.map(|(j, n)| (j - first, n)).collect();
                (0..n_classes).for_each(|c| {
                    factors[[c, head + t]] = text.log_factor(&words, c, c == class);
                });
                first = end;
            }
            lessons.push(entry.group, entry.weight, &factors);
        }
        Ok(lessons)
    }
}

impl Loss {
    /// How far above the least value it is at most.
    pub fn left(&self, weights: &[f64]) -> f64 {
        let free = self.slope.iter().zip(weights).filter(|(g, w)| **w > 0.0 || **g < 0.0);
        0.5 * free.map(|(g, _)| g * g).sum::<f64>()
    }
}

impl Sums {
    fn zeros(n_weights: usize, bent: bool) -> Sums {
        let loss = Loss { value: 0.0, slope: vec![0.0; n_weights] };
        Sums { loss, bend: vec![0.0; if bent { n_weights * n_weights } else { 0 }] }
    }

    fn add(&mut self, other: &Sums) {
        self.loss.value += other.loss.value;
        self.loss.slope.iter_mut().zip(&other.loss.slope).for_each(|(a, b)| *a += b);
        self.bend.iter_mut().zip(&other.bend).for_each(|(a, b)| *a += b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// One telling column, said `times` over, right in three rows of four.
    fn echoes(times: usize, rows: usize) -> Lessons {
        let mut lessons = Lessons::new(&[0.5f64.ln(); 2], times);
        for i in 0..rows {
            let (class, says) = ((i % 2) as u32, if i % 8 < 6 { i % 2 } else { 1 - i % 2 });
            let factor = |c: usize| if c == says { 0.75f64.ln() } else { 0.25f64.ln() };
            lessons.push(class, 1.0, &Matrix::from_shape_fn((2, times), |(c, _)| factor(c)));
        }
        lessons
    }

    #[test]
    fn what_is_said_three_times_counts_once() {
        let (weights, stopped) = echoes(3, 800).learn(&Monitor::quiet());

        assert_eq!(stopped, None);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 0.02, "{weights:?}");
        assert!(weights.iter().all(|w| (w - weights[0]).abs() < 1e-9));
    }

    #[test]
    fn without_rows_it_is_naive_bayes() {
        let lessons = Lessons::new(&[0.5f64.ln(); 2], 2);

        assert_eq!(lessons.learn(&Monitor::quiet()).0, [1.0, 1.0]);
    }

    #[test]
    fn no_other_weights_do_better_than_the_bound_allows() {
        let lessons = echoes(2, 40);

        let (weights, _) = lessons.learn(&Monitor::quiet());

        let loss = lessons.loss(&weights);
        let least = loss.value - loss.left(&weights);
        assert!(loss.left(&weights) < 1e-8);
        for a in 0..40 {
            for b in 0..40 {
                let other = [0.05 * f64::from(a), 0.05 * f64::from(b)];
                assert!(lessons.loss(&other).value >= least);
            }
        }
    }

    #[test]
    fn a_column_that_misleads_is_left_out_and_not_turned_around() {
        let mut lessons = Lessons::new(&[0.5f64.ln(); 2], 1);
        for class in [0, 1].repeat(50) {
            let wrong = if class == 0 { array![[-2.0], [-0.1]] } else { array![[-0.1], [-2.0]] };
            lessons.push(class, 1.0, &wrong);
        }

        assert_eq!(lessons.learn(&Monitor::quiet()).0, [0.0]);
    }

    #[test]
    fn an_impossible_row_teaches_nothing() {
        let mut lessons = echoes(1, 80);
        let before = lessons.learn(&Monitor::quiet()).0;

        lessons.push(0, 5.0, &array![[f64::NEG_INFINITY], [-1.0]]);

        assert_eq!(lessons.learn(&Monitor::quiet()).0, before);
    }
}
