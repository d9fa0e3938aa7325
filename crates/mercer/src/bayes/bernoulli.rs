//! Bernoulli naive Bayes: within a class, each word is there or not.
//!
//! `log p(c, x) = log p(c) + Σⱼ [xⱼ log θ_cj + (1 − xⱼ) log (1 − θ_cj)]`, `θ_cj = (D_cj + αⱼ) / (D_c + 2αⱼ)`
//!
//! `D_cj` is in how many rows of class `c` feature `j` is there. Unlike the multinomial model, absence
//! counts too (McCallum & Nigam, 1998).

use super::counted::{
    Strip, alphas, by_column, check_counts, counted_row, linear_scores, read_by_column,
};
use super::log_priors;
use crate::explain::{Center, ClassMeans};
use crate::model::Cached;
use crate::model::{AlphaParam, ForceAlpha, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, Count, Counts};
use mercer_num::SharedMatrix;
use mercer_num::random::Random;
use mercer_num::simd::{ln, ln_each};
use std::f64::consts::LN_2;

/// Below this share of a weight, what taking away leaves over is rounding.
const CRUMB: f64 = 1e-12;

params! {
    /// Bernoulli naive Bayes, for features that are there or not.
    pub struct BernoulliNb {
        ..AlphaParam(per_feature);
        ..ForceAlpha;
        /// A feature is there if its number is above this; `null` takes the numbers as zeros and
        /// ones already.
        binarize: Option<f64> = Some(0.0), Any;
        ..PriorParams;
    }
}

/// A coin for every class (row) and feature (column).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BernoulliNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// In how many rows of each class each feature was there.
    pub counts: SharedMatrix,
    /// What was added to both sides of each feature.
    pub alphas: Vec<f64>,
    /// `log θ`.
    #[serde(deserialize_with = "read_by_column")]
    pub log_probabilities: Matrix,
    /// A feature is there if its number is above this.
    pub threshold: Option<f64>,
    /// What the scores are made of, put together when first asked for.
    #[serde(skip)]
    odds: Cached<Option<Odds>>,
}

/// Scores as a sum over the features that are there.
#[derive(Debug)]
struct Odds {
    /// `log p(c) + Σⱼ log (1 − θ_cj)`: the scores where no feature is there.
    bias: Vec<f64>,
    /// `log θ − log (1 − θ)`: the difference each one makes.
    weights: Matrix,
}

/// What a cell counts: one where a feature is there, zero where it is not.
fn presence(threshold: Option<f64>) -> Count {
    threshold.map_or(Count::Bit, Count::Above)
}

impl Accumulate for BernoulliNb {
    type Stats = ByClass<Counts>;
    type Model = BernoulliNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, slots, class_weights| {
            let n = class_weights.len();
            Counts::of_rows(batch.rows(), slots, batch.weights(), n, presence(self.binarize))
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let counts = stats.groups().sums;
        let alphas = alphas(&self.alpha, self.force_alpha, counts.ncols())?;
        let class_weights = stats.weights();
        let there = Shares { alphas: &alphas, class_weights: &class_weights, of: Side::Present };
        let (log_probabilities, _) = by_column(counts.view(), |strip| there.write_logs(strip));
        Ok(BernoulliNbModel {
            classes: stats.classes().clone(),
            log_priors: log_priors(&self.class_prior, self.fit_prior, &class_weights)?,
            class_weights,
            counts,
            alphas,
            log_probabilities,
            threshold: self.binarize,
            odds: Cached::default(),
        })
    }
}

/// The rows of a class that have a feature, or those that lack it.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Present,
    Absent,
}

/// `θ_cj` or `1 − θ_cj`.
struct Shares<'a> {
    alphas: &'a [f64],
    class_weights: &'a [f64],
    of: Side,
}

impl Shares<'_> {
    /// Writes their logs.
    fn write_logs(&self, strip: &mut Strip<'_>) {
        let alphas = &self.alphas[strip.columns.clone()];
        strip.write_blank(alphas, |alpha, cells| {
            for (cell, weight) in cells.iter_mut().zip(self.class_weights) {
                *cell =
                    log_probability(ln(self.rows(0.0, *weight) + alpha), log_all(*weight, alpha));
            }
        });
        strip.write_counted(|c, places, numbers| {
            let weight = self.class_weights[c];
            let smooth = |n: f64, k: usize| self.rows(n, weight) + alphas[k];
            numbers.iter_mut().zip(places).for_each(|(n, k)| *n = smooth(*n, *k));
            ln_each(numbers);
            // The log of all is taken again only where alpha changes, which it mostly never does.
            let mut last = (alphas[0], log_all(weight, alphas[0]));
            for (log, k) in numbers.iter_mut().zip(places) {
                if alphas[*k] != last.0 {
                    last = (alphas[*k], log_all(weight, alphas[*k]));
                }
                *log = log_probability(*log, last.1);
            }
        });
    }

    /// How many of the rows of a class, `n` of which have a feature, are on this side.
    fn rows(&self, n: f64, weight: f64) -> f64 {
        let without = weight - n;
        match self.of {
            Side::Present => n,
            // What is left of fractions that cancel is rounding, not a row.
            Side::Absent if without <= CRUMB * weight => 0.0,
            Side::Absent => without,
        }
    }
}

/// `log (D_c + 2αⱼ)`.
fn log_all(weight: f64, alpha: f64) -> f64 {
    ln(weight + 2.0 * alpha)
}

/// The log of a share of rows. A class without rows and alpha knows nothing: even odds.
fn log_probability(log_n: f64, log_all: f64) -> f64 {
    if log_all == f64::NEG_INFINITY { -LN_2 } else { (log_n - log_all).min(0.0) }
}

impl BernoulliNbModel {
    fn absent(&self) -> Shares<'_> {
        let (alphas, class_weights) = (&self.alphas, &self.class_weights);
        Shares { alphas, class_weights, of: Side::Absent }
    }

    /// `log (1 − θ)`.
    fn log_absent(&self) -> Matrix {
        by_column(self.counts.view(), |strip| self.absent().write_logs(strip)).0
    }

    fn log_factor(&self, log_absent: &Matrix, there: f64, c: usize, j: usize) -> f64 {
        if there > 0.0 { self.log_probabilities[[c, j]] } else { log_absent[[c, j]] }
    }

    /// `None` where a share is zero or one: infinities do not cancel.
    fn odds(&self) -> Option<Odds> {
        let absent = self.absent();
        let log_probabilities = self.log_probabilities.t();
        let (weights, strips) = by_column(self.counts.view(), |strip| {
            absent.write_logs(strip);
            let mut sums = vec![0.0; self.classes.len()];
            let columns = strip.columns.clone();
            for (cells, j) in strip.by_column().zip(columns) {
                for ((cell, sum), there) in
                    cells.iter_mut().zip(&mut sums).zip(log_probabilities.row(j))
                {
                    *sum += *cell;
                    *cell = there - *cell;
                }
            }
            strip.cells.iter().all(|w| w.is_finite()).then_some(sums)
        });
        let mut bias = self.log_priors.clone();
        for strip in strips {
            bias.iter_mut().zip(strip?).for_each(|(bias, sum)| *bias += sum);
        }
        Some(Odds { bias, weights })
    }
}

impl Classifier for BernoulliNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.counts.ncols()
    }

    fn class_means(&self) -> Option<ClassMeans> {
        let centers = self.log_probabilities.mapv(f64::exp);
        let deviations = Some(centers.mapv(|p| (p * (1.0 - p)).max(0.0).sqrt()));
        Some(ClassMeans { what: Center::Probability, centers, deviations })
    }

    /// The joint log-likelihoods `log p(c, x)`: all features absent, then the difference each present
    /// one makes.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        if let Some(Odds { bias, weights }) = self.odds.get(|| self.odds()) {
            return linear_scores(x, bias, weights, presence(self.threshold));
        }
        // Every factor is taken by itself.
        let absent = self.log_absent();
        let mut out = Matrix::zeros((x.n_rows(), self.classes.len()));
        for (i, mut scores) in out.outer_iter_mut().enumerate() {
            let there = counted_row(self, &x.row(i), presence(self.threshold))
                .map_err(|e| e.after_rows(i))?;
            for (c, (score, prior)) in scores.iter_mut().zip(&self.log_priors).enumerate() {
                let factors = (0..there.len()).map(|j| self.log_factor(&absent, there[j], c, j));
                *score = factors.sum::<f64>() + prior;
            }
        }
        Ok(out)
    }
}

impl Probabilistic for BernoulliNbModel {}

impl Generative for BernoulliNbModel {
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        let there = self.threshold.map_or(1.0, |t| t.max(0.0) + 1.0);
        let absent = self.threshold.map_or(0.0, |t| t.min(0.0));
        super::sample(&self.log_priors, n, self.counts.ncols(), random, |j, class, random| {
            let share = self.log_probabilities[[class, j]].exp();
            if random.uniform() < share { there } else { absent }
        })
    }
}

impl FactorizedLikelihood for BernoulliNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        let there = counted_row(self, row, presence(self.threshold))?;
        let absent = self.log_absent();
        Ok(Matrix::from_shape_fn((row.len(), self.classes.len()), |(j, c)| {
            self.log_factor(&absent, there[j], c, j)
        }))
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let at = [class as usize, column];
        let (n, alpha) = (self.counts[at], self.alphas[column]);
        let total = self.class_weights[class as usize] + 2.0 * alpha;
        let share = (n + alpha) / total;
        let there = presence(self.threshold).of(value) == Some(1.0);
        let (before, p) = if there { ("", share) } else { ("1 - ", 1.0 - share) };
        format!("{before}({} + {}) / {} = {}", short(n), short(alpha), short(total), short(p))
    }
}

impl Check for BernoulliNbModel {
    fn check(&self) -> Result<()> {
        check_counts(
            "Bernoulli",
            self.classes.len(),
            &[&self.log_priors, &self.class_weights],
            &self.alphas,
            &self.counts,
            &self.log_probabilities,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, aview1};

    #[test]
    fn the_textbook_document_comes_out_to_its_digits() {
        // Manning, Raghavan & Schütze, example 13.2: P(China) 0.005, P(not China) 0.022.
        let x = array![
            [1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
        ];
        let classes = Classes::from_names(["China", "not China"]);
        let data = Dataset::classes(&x, &[0, 0, 0, 1], &classes).unwrap();

        let model = BernoulliNb::new().fit(&data, &Monitor::quiet()).unwrap();
        let scores = model.scores(&Rows::from(aview1(&[0.0, 3.0, 1.0, 0.0, 0.0, 1.0]))).unwrap();

        // 3/4 · 4/5 · 1/5 · 1/5 · (1 − 2/5)³ and 1/4 · (2/3)³ · (1 − 1/3)³
        assert!((scores[[0, 0]].exp() - 0.75 * 0.8 * 0.04 * 0.216).abs() < 1e-12);
        assert!((scores[[0, 1]].exp() - 0.25 * (8.0 / 27.0) * (8.0 / 27.0)).abs() < 1e-12);
    }

    #[test]
    fn without_smoothing_what_never_happened_is_impossible_and_nothing_is_nan() {
        let x = array![[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap();

        let model = BernoulliNb::new().alpha(0.0.into()).fit(&data, &Monitor::quiet()).unwrap();
        let proba = model.log_proba(&Rows::from(&x)).unwrap().mapv(f64::exp);

        assert_eq!(proba, array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
    }
}
