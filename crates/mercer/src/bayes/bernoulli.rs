//! Bernoulli naive Bayes: within a class, every feature is an independent Bernoulli variable.
//!
//! `log p(c, x) = log p(c) + Σⱼ [xⱼ log θ_cj + (1 − xⱼ) log (1 − θ_cj)]`, `θ_cj = (D_cj + αⱼ) / (D_c + 2αⱼ)`
//!
//! `D_cj` is the number of rows of class `c` in which feature `j` is one. Unlike in the multinomial model, absent
//! features contribute factors, too (McCallum & Nigam, 1998).

use super::counts::{
    ClassCounts, Strip, by_column, check_counts, counts_of_row, linear_scores, observe_counts,
    read_by_column,
};
use super::likelihood::is_log_probability;
use crate::explain::{Center, ClassMeans, Domain};
use crate::model::Cached;
use crate::model::{AlphaParam, ForceAlpha, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, Count, Counts};
use mercer_num::SharedMatrix;
use mercer_num::random::Random;
use mercer_num::simd::{ln, ln_each};
use std::f64::consts::LN_2;

/// The relative size below which a difference of weights is rounding error.
const ROUNDING: f64 = 1e-12;

params! {
    /// Bernoulli naive Bayes, for binary features.
    pub struct BernoulliNb {
        ..AlphaParam(per_feature);
        ..ForceAlpha;
        /// Threshold of binarization: a feature is one if its value is above it, else zero. `None` expects
        /// values of 0 and 1.
        binarize: Option<f64> = Some(0.0), Any;
        ..PriorParams;
    }
    formula = "argmax_c log P(c) + Σⱼ [xⱼ log θ_cj + (1 − xⱼ) log(1 − θ_cj)],  θ_cj = (N_cj + αⱼ) / (N_c + 2αⱼ)";
    lecture = 5;
    attributes = [
        CLASS_COUNT,
        CLASS_LOG_PRIOR,
        field(
            "feature_count_",
            "counts",
            PER_CLASS_AND_FEATURE,
            "Number of rows of each class in which each feature is one, by sample weight.",
        ),
        FEATURE_LOG_PROB,
    ];
}

/// A Bernoulli distribution for every class (row) and feature (column).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BernoulliNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The total sample weight of each class.
    pub class_weights: Vec<f64>,
    /// The weight of the rows of each class in which each feature is one.
    pub counts: SharedMatrix,
    /// The smoothing of each feature.
    pub alphas: Vec<f64>,
    /// `log θ`.
    #[serde(deserialize_with = "read_by_column")]
    pub log_probabilities: Matrix,
    /// The threshold of binarization; `None` if the features are binary.
    pub threshold: Option<f64>,
    /// The scores as a linear function, computed on first use.
    #[serde(skip)]
    linear: Cached<Option<LinearScores>>,
}

/// The scores as a linear function of the features.
#[derive(Debug)]
struct LinearScores {
    /// `log p(c) + Σⱼ log (1 − θ_cj)`: the scores of a row of zeros.
    bias: Vec<f64>,
    /// `log θ − log (1 − θ)`, the log-odds of the features.
    weights: Matrix,
}

/// How a cell is binarized.
fn presence(threshold: Option<f64>) -> Count {
    threshold.map_or(Count::Bit, Count::Above)
}

impl Accumulate for BernoulliNb {
    type Stats = ByClass<Counts>;
    type Model = BernoulliNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        observe_counts(stats, batch, presence(self.binarize))
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        let ClassCounts { classes, log_priors, class_weights, counts, alphas } = ClassCounts::of(
            stats,
            &self.alpha,
            self.force_alpha,
            &self.class_prior,
            self.fit_prior,
        )?;
        let present =
            Smoothed { alphas: &alphas, class_weights: &class_weights, outcome: Outcome::One };
        let (log_probabilities, _) = by_column(counts.view(), |strip| present.write_logs(strip));
        Ok(BernoulliNbModel {
            classes,
            log_priors,
            class_weights,
            counts,
            alphas,
            log_probabilities,
            threshold: self.binarize,
            linear: Cached::default(),
        })
    }
}

/// The outcome of a binary feature.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    One,
    Zero,
}

/// The smoothed probabilities of an outcome: `θ_cj` or `1 − θ_cj`.
struct Smoothed<'a> {
    alphas: &'a [f64],
    class_weights: &'a [f64],
    outcome: Outcome,
}

impl Smoothed<'_> {
    /// Writes their logarithms.
    fn write_logs(&self, strip: &mut Strip<'_>) {
        let alphas = &self.alphas[strip.columns.clone()];
        strip.write_zero_counts(alphas, |alpha, cells| {
            for (cell, weight) in cells.iter_mut().zip(self.class_weights) {
                *cell =
                    log_probability(ln(self.rows(0.0, *weight) + alpha), log_total(*weight, alpha));
            }
        });
        strip.write_positive_counts(|c, columns, counts| {
            let weight = self.class_weights[c];
            let smooth = |n: f64, k: usize| self.rows(n, weight) + alphas[k];
            counts.iter_mut().zip(columns).for_each(|(n, k)| *n = smooth(*n, *k));
            ln_each(counts);
            // The logarithm is recomputed only if alpha changes; usually all alphas are equal.
            let mut last = (alphas[0], log_total(weight, alphas[0]));
            for (log, k) in counts.iter_mut().zip(columns) {
                if alphas[*k] != last.0 {
                    last = (alphas[*k], log_total(weight, alphas[*k]));
                }
                *log = log_probability(*log, last.1);
            }
        });
    }

    /// The weight of the rows of a class with this outcome, if `n` is the weight of those with outcome one.
    fn rows(&self, n: f64, weight: f64) -> f64 {
        let without = weight - n;
        match self.outcome {
            Outcome::One => n,
            // The remainder of a cancellation is rounding error, not a row.
            Outcome::Zero if without <= ROUNDING * weight => 0.0,
            Outcome::Zero => without,
        }
    }
}

/// `log (D_c + 2αⱼ)`.
fn log_total(weight: f64, alpha: f64) -> f64 {
    ln(weight + 2.0 * alpha)
}

/// `log (n / total)`; one half for a class without rows and smoothing.
fn log_probability(log_n: f64, log_total: f64) -> f64 {
    if log_total == f64::NEG_INFINITY { -LN_2 } else { (log_n - log_total).min(0.0) }
}

impl BernoulliNbModel {
    fn absent(&self) -> Smoothed<'_> {
        let (alphas, class_weights) = (&self.alphas, &self.class_weights);
        Smoothed { alphas, class_weights, outcome: Outcome::Zero }
    }

    /// `log (1 − θ)`.
    fn log_absent(&self) -> Matrix {
        by_column(self.counts.view(), |strip| self.absent().write_logs(strip)).0
    }

    fn log_factor(&self, log_absent: &Matrix, present: f64, c: usize, j: usize) -> f64 {
        if present > 0.0 { self.log_probabilities[[c, j]] } else { log_absent[[c, j]] }
    }

    /// `None` if a probability is zero or one, because infinities do not cancel.
    fn linear(&self) -> Option<LinearScores> {
        let absent = self.absent();
        let log_probabilities = self.log_probabilities.t();
        let (weights, strips) = by_column(self.counts.view(), |strip| {
            absent.write_logs(strip);
            let mut sums = vec![0.0; self.classes.len()];
            let columns = strip.columns.clone();
            for (cells, j) in strip.by_column().zip(columns) {
                for ((cell, sum), present) in
                    cells.iter_mut().zip(&mut sums).zip(log_probabilities.row(j))
                {
                    *sum += *cell;
                    *cell = present - *cell;
                }
            }
            strip.cells.iter().all(|w| w.is_finite()).then_some(sums)
        });
        let mut bias = self.log_priors.clone();
        for strip in strips {
            bias.iter_mut().zip(strip?).for_each(|(bias, sum)| *bias += sum);
        }
        Some(LinearScores { bias, weights })
    }
}

impl Classifier for BernoulliNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        Some(self.log_priors.clone())
    }

    fn n_columns(&self) -> usize {
        self.counts.ncols()
    }

    fn class_means(&self) -> Option<ClassMeans> {
        let centers = self.log_probabilities.mapv(f64::exp);
        let deviations = Some(centers.mapv(|p| (p * (1.0 - p)).max(0.0).sqrt()));
        Some(ClassMeans { what: Center::Probability, centers, deviations })
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        if let Some(LinearScores { bias, weights }) = self.linear.get(|| self.linear()) {
            return linear_scores(x, bias, weights, presence(self.threshold));
        }
        // With infinite log-odds every factor is added separately.
        let absent = self.log_absent();
        let mut out = Matrix::zeros((x.n_rows(), self.classes.len()));
        for (i, mut scores) in out.outer_iter_mut().enumerate() {
            let present = counts_of_row(self, &x.row(i), presence(self.threshold))
                .map_err(|e| e.after_rows(i))?;
            for (c, (score, prior)) in scores.iter_mut().zip(&self.log_priors).enumerate() {
                let factors =
                    (0..present.len()).map(|j| self.log_factor(&absent, present[j], c, j));
                *score = factors.sum::<f64>() + prior;
            }
        }
        Ok(out)
    }
}

impl Probabilistic for BernoulliNbModel {}

impl Generative for BernoulliNbModel {
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        let present = self.threshold.map_or(1.0, |t| t.max(0.0) + 1.0);
        let absent = self.threshold.map_or(0.0, |t| t.min(0.0));
        super::sample(
            &self.log_priors,
            (n, given),
            self.counts.ncols(),
            random,
            |j, class, random| {
                let probability = self.log_probabilities[[class, j]].exp();
                if random.uniform() < probability { present } else { absent }
            },
        )
    }
}

impl FactorizedLikelihood for BernoulliNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        let present = counts_of_row(self, row, presence(self.threshold))?;
        let absent = self.log_absent();
        Ok(Matrix::from_shape_fn((row.len(), self.classes.len()), |(j, c)| {
            self.log_factor(&absent, present[j], c, j)
        }))
    }

    fn domain(&self, _column: usize) -> Domain {
        Domain::Outcome
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let at = [class as usize, column];
        let (n, alpha) = (self.counts[at], self.alphas[column]);
        let total = self.class_weights[class as usize] + 2.0 * alpha;
        let probability = (n + alpha) / total;
        let present = presence(self.threshold).of(value) == Some(1.0);
        let (before, p) = if present { ("", probability) } else { ("1 - ", 1.0 - probability) };
        format!("{before}({} + {}) / {} = {}", short(n), short(alpha), short(total), short(p))
    }
}

impl Check for BernoulliNbModel {
    fn check(&self) -> Result<()> {
        check_counts(
            "Bernoulli",
            self.classes.len(),
            (&self.log_priors, &self.class_weights),
            &self.alphas,
            &self.counts,
            &self.log_probabilities,
            is_log_probability,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, aview1};

    #[test]
    fn the_textbook_example_is_reproduced() {
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
    fn without_smoothing_probabilities_are_zero_or_one_and_never_nan() {
        let x = array![[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap();

        let model = BernoulliNb::new().alpha(0.0.into()).fit(&data, &Monitor::quiet()).unwrap();
        let proba = model.log_proba(&Rows::from(&x)).unwrap().mapv(f64::exp);

        assert_eq!(proba, array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
    }
}
