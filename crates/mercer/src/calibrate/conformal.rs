//! Conformal prediction from out-of-fold predictions.
//!
//! The nonconformity of a held-out row, under a model that did not see it, measures how badly the prediction fits. Its
//! quantiles over the training rows bound the nonconformity of a new row of the same distribution: an interval or a set
//! of classes that contains every target below the quantile misses the true one with probability at most `1 − level`.
//!
//! - regression: the residual `y − f(x)`; the interval is `[f(x) + q_low, f(x) + q_high]`
//! - classification: `1 − P(true class)`; the set contains every class with `1 − P(class) ≤ q`, and always the most
//!   probable one
//!
//! With `n` held-out rows, the quantile of `⌈(n + 1) level⌉ / n` corrects for the finite sample (Vovk, Gammerman & Shafer
//! 2005; Vovk 2015, cross-conformal predictors; Barber et al. 2021). The folds' models are fitted to fewer rows than the
//! final model, so that intervals are slightly too wide rather than too narrow.

use crate::error::{Error, Result};
use crate::evaluate::Predictions;
use serde::{Deserialize, Serialize};

/// Nonconformity scores that a model keeps at most; more would not change the quantiles visibly.
const MAX_SCORES: usize = 2000;
/// Nonconformity scores that are collected at most.
const MAX_COLLECTED: usize = 1 << 17;

/// What the scores measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nonconformity {
    /// `y − f(x)`.
    Residual,
    /// `1 − P(true class)`.
    OneMinusProbability,
}

/// The nonconformity scores of held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conformal {
    /// What the scores measure.
    pub measure: Nonconformity,
    /// The number of held-out rows.
    pub n_rows: u64,
    /// Their scores in ascending order; evenly spaced order statistics if there are many rows.
    pub scores: Vec<f64>,
}

impl Conformal {
    /// From the scores of held-out rows in any order; `None` without rows, or if a score is not finite.
    pub fn new(measure: Nonconformity, mut scores: Vec<f64>, n_rows: u64) -> Option<Conformal> {
        if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
            return None;
        }
        scores.sort_by(f64::total_cmp);
        let n = scores.len();
        if n > MAX_SCORES {
            let at = |k: usize| k * (n - 1) / (MAX_SCORES - 1);
            scores = (0..MAX_SCORES).map(|k| scores[at(k)]).collect();
        }
        Some(Conformal { measure, n_rows, scores })
    }

    /// The scores of out-of-fold predictions; `None` for a classifier without probabilities.
    pub fn of(predictions: &Predictions) -> Option<Conformal> {
        let mut scores = CollectedScores::default();
        match predictions {
            Predictions::Regression { truth, predicted, .. } => {
                scores.push_residuals(truth, predicted);
                scores.finish(Nonconformity::Residual)
            }
            Predictions::Classes { truth, log_proba, .. } => {
                let log_proba = log_proba.as_ref()?;
                scores.push_classes(truth, |i, c| log_proba[[i, c]]);
                scores.finish(Nonconformity::OneMinusProbability)
            }
        }
    }

    /// The score that at least the fraction `level` of new rows stay below; `None` if there are too few rows for it.
    fn upper_quantile(&self, level: f64) -> Option<f64> {
        let n = self.n_rows as f64;
        let rank = ((n + 1.0) * level).ceil();
        (rank <= n).then(|| self.scores[self.index(rank)])
    }

    /// The score that at least the fraction `level` of new rows stay above.
    fn lower_quantile(&self, level: f64) -> Option<f64> {
        let n = self.n_rows as f64;
        let rank = (n + 1.0 - ((n + 1.0) * level).ceil()).floor();
        (rank >= 1.0).then(|| self.scores[self.index(rank)])
    }

    /// The index of the order statistic of a rank from 1 to the number of rows.
    fn index(&self, rank: f64) -> usize {
        let last = self.scores.len() - 1;
        let fraction = (rank - 1.0) / (self.n_rows.max(2) - 1) as f64;
        ((fraction * last as f64).round() as usize).min(last)
    }

    /// The distances from the prediction to the ends of the interval that contains the target with this probability.
    /// Both tails have the same probability.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the level is not between 0 and 1 or needs more rows; [`Error::Unable`] for a classifier.
    pub fn interval(&self, level: f64) -> Result<(f64, f64)> {
        check_level(level)?;
        if self.measure != Nonconformity::Residual {
            return Err(unable("predict an interval: the model is a classifier; ask for sets"));
        }
        let one_sided = 0.5 * (1.0 + level);
        let ends = self.lower_quantile(one_sided).zip(self.upper_quantile(one_sided));
        ends.ok_or_else(|| self.too_few(level, 2.0))
    }

    /// The largest `1 − P(class)` of a class in the prediction set that contains the true class with this probability.
    ///
    /// # Errors
    /// As [`Conformal::interval`].
    pub fn largest_score(&self, level: f64) -> Result<f64> {
        check_level(level)?;
        if self.measure != Nonconformity::OneMinusProbability {
            return Err(unable(
                "predict sets of classes: the model is a regressor; ask for an interval",
            ));
        }
        self.upper_quantile(level).ok_or_else(|| self.too_few(level, 1.0))
    }

    /// The prediction set of a row: the classes by descending probability, at least one of them.
    ///
    /// # Errors
    /// As [`Conformal::interval`].
    pub fn set(&self, log_proba: &[f64], level: f64) -> Result<Vec<usize>> {
        let largest = self.largest_score(level)?;
        let mut order: Vec<usize> = (0..log_proba.len()).collect();
        order.sort_by(|a, b| log_proba[*b].total_cmp(&log_proba[*a]));
        // A score of exactly the quantile belongs to the set, whatever the rounding of the probability.
        let rounding = 1e-12;
        let is_in = |c: &usize| 1.0 - log_proba[*c].exp() <= largest + rounding;
        let n = order.iter().take_while(|c| is_in(c)).count().max(1);
        order.truncate(n);
        Ok(order)
    }

    fn too_few(&self, level: f64, n_tails: f64) -> Error {
        // Less a trifle, because 1 - 0.9 is not exactly 0.1.
        let needed = (n_tails / (1.0 - level) - 1e-6).ceil() - 1.0;
        Error::Parameter {
            name: "level".into(),
            found: format!("{level} with {} held-out rows", self.n_rows),
            expected: format!("a smaller level, or at least {needed} rows"),
        }
    }

    /// Refuses scores that no rows could have, for models that come from a file.
    pub(crate) fn check(&self) -> Result<()> {
        let fits = !self.scores.is_empty()
            && self.scores.len() as u64 <= self.n_rows
            && self.scores.is_sorted()
            && self.scores.iter().all(|score| score.is_finite());
        if fits {
            Ok(())
        } else {
            Err(Error::File("nonconformity scores that no rows could have".into()))
        }
    }
}

fn unable(what: &str) -> Error {
    Error::Unable { estimator: "the model".into(), what: what.into() }
}

fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "level".into(),
        found: level.to_string(),
        expected: "a probability between 0 and 1, such as 0.9".into(),
    })
}

/// Scores collected from batches in order. If they are very many, every second one is dropped, again and again.
#[derive(Clone, Debug)]
pub(crate) struct CollectedScores {
    scores: Vec<f64>,
    stride: u64,
    n_rows: u64,
}

impl Default for CollectedScores {
    fn default() -> Self {
        CollectedScores { scores: Vec::new(), stride: 1, n_rows: 0 }
    }
}

impl CollectedScores {
    fn push(&mut self, score: f64) {
        if self.n_rows.is_multiple_of(self.stride) {
            self.scores.push(score);
            if self.scores.len() > MAX_COLLECTED {
                let mut k = 0;
                self.scores.retain(|_| {
                    k += 1;
                    k % 2 == 1
                });
                self.stride *= 2;
            }
        }
        self.n_rows += 1;
    }

    /// Adds `y − f(x)` of held-out rows.
    pub fn push_residuals(&mut self, truth: &[f64], predicted: &[f64]) {
        truth.iter().zip(predicted).for_each(|(y, f)| self.push(y - f));
    }

    /// Adds `1 − P(true class)` of held-out rows.
    pub fn push_classes(&mut self, truth: &[u32], log_proba: impl Fn(usize, usize) -> f64) {
        let scores = truth.iter().enumerate().map(|(i, c)| 1.0 - log_proba(i, *c as usize).exp());
        scores.for_each(|score| self.push(score));
    }

    /// Adds the scores of later rows.
    pub fn append(&mut self, more: &CollectedScores) {
        // Batches are far smaller than the limit, so that none of their scores was dropped.
        more.scores.iter().for_each(|score| self.push(*score));
    }

    pub fn finish(self, measure: Nonconformity) -> Option<Conformal> {
        Conformal::new(measure, self.scores, self.n_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn quantiles_have_the_correction_for_the_finite_sample() {
        // Nine residuals -4 to 4: (9 + 1) · 0.9 = 9 of them below, so the 80 % interval is from the first to the last.
        let residuals = (-4..=4).map(f64::from).collect();
        let conformal = Conformal::new(Nonconformity::Residual, residuals, 9).unwrap();

        assert_eq!(conformal.interval(0.8).unwrap(), (-4.0, 4.0));
        assert_eq!(conformal.interval(0.6).unwrap(), (-3.0, 3.0));
        let error = conformal.interval(0.9).unwrap_err().to_string();
        assert!(error.contains("at least 19 rows"), "{error}");
        assert!(conformal.interval(1.0).is_err());
        assert!(conformal.set(&[0.0], 0.5).is_err());
    }

    #[test]
    fn sets_contain_the_most_probable_class_and_all_within_the_quantile() {
        let scores = vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        let conformal = Conformal::new(Nonconformity::OneMinusProbability, scores, 9).unwrap();
        let log = |p: &[f64]| p.iter().map(|p: &f64| p.ln()).collect::<Vec<f64>>();

        // The 90 % quantile is the ninth score, 0.8: classes of probability 0.2 and more.
        assert_eq!(conformal.set(&log(&[0.3, 0.5, 0.2]), 0.9).unwrap(), [1, 0, 2]);
        assert_eq!(conformal.set(&log(&[0.15, 0.7, 0.15]), 0.9).unwrap(), [1]);
        assert_eq!(conformal.set(&log(&[0.34, 0.33, 0.33]), 0.1).unwrap(), [0]);
    }

    #[test]
    fn thinned_scores_have_the_same_quantiles() {
        let mut random = Random::new(1);
        let all: Vec<f64> = (0..300_000).map(|_| random.normal()).collect();
        let mut collected = CollectedScores::default();
        collected.push_residuals(&all, &vec![0.0; all.len()]);

        let conformal = collected.finish(Nonconformity::Residual).unwrap();

        assert_eq!((conformal.scores.len(), conformal.n_rows), (MAX_SCORES, 300_000));
        let (low, high) = conformal.interval(0.9).unwrap();
        assert!((low + 1.645).abs() < 0.02 && (high - 1.645).abs() < 0.02, "{low} {high}");
    }
}
