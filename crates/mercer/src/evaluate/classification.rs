//! Evaluation of a classifier on rows of known class: confusion matrix, accuracy, F1, log loss, Brier score and
//! calibration.
//!
//! All metrics are sums over rows, so an evaluation is updated batch by batch in constant memory.

use super::Predictions;
use super::curves::{Curves, ScoreHistograms};
use crate::data::{Classes, Label};
use mercer_num::Matrix;
use mercer_num::special::argmax;
use serde::Serialize;

/// The number of bins of the calibration (reliability) table.
const BINS: usize = 10;
/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Sums over evaluated rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    classes: Classes,
    n_rows: u64,
    /// Weights of the rows by true and predicted class.
    confusion: Matrix,
    log_loss: f64,
    brier: f64,
    bins: [Bin; BINS],
    scores: ScoreHistograms,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    n: f64,
    confidence: f64,
    correct: f64,
}

impl Evaluation {
    /// An evaluation without rows.
    pub fn new(classes: &Classes) -> Evaluation {
        Evaluation {
            confusion: Matrix::zeros((classes.len(), classes.len())),
            classes: classes.clone(),
            n_rows: 0,
            log_loss: 0.0,
            brier: 0.0,
            bins: Default::default(),
            scores: ScoreHistograms::default(),
        }
    }

    /// The evaluation of predictions that are in memory; `None` for those of a regressor.
    pub fn of_predictions(predictions: &Predictions, classes: &Classes) -> Option<Evaluation> {
        let Predictions::Classes { truth, predicted, log_proba, weights, .. } = predictions else {
            return None;
        };
        let mut evaluation = Evaluation::new(classes);
        match log_proba {
            Some(log_proba) => evaluation.push_weighted(truth, log_proba, weights),
            None => evaluation.push_predictions(truth, predicted, weights),
        }
        Some(evaluation)
    }

    /// Adds rows with their predicted log-probabilities.
    pub fn push(&mut self, truth: &[u32], log_proba: &Matrix) {
        self.push_weighted(truth, log_proba, &[]);
    }

    /// As [`Evaluation::push`], with sample weights: a row of weight two counts as two rows.
    pub fn push_weighted(&mut self, truth: &[u32], log_proba: &Matrix, weights: &[f64]) {
        for (i, (truth, row)) in truth.iter().zip(log_proba.outer_iter()).enumerate() {
            let weight = weights.get(i).copied().unwrap_or(1.0);
            let row = row.to_vec();
            let (truth, predicted) = (*truth as usize, argmax(&row));
            self.n_rows += 1;
            self.confusion[[truth, predicted]] += weight;
            // Probabilities are clipped at 1e-15, so that a probability of zero has a finite loss.
            self.log_loss -= weight * row[truth].max(1e-15f64.ln());
            self.brier += weight
                * (row.iter().enumerate())
                    .map(|(c, p)| (p.exp() - f64::from(u8::from(c == truth))).powi(2))
                    .sum::<f64>();
            let confidence = row[predicted].exp();
            let bin = &mut self.bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
            bin.n += weight;
            bin.confidence += weight * confidence;
            bin.correct += weight * f64::from(u8::from(truth == predicted));
            self.scores.push(truth, &row, weight);
        }
    }

    /// Adds rows with their predicted classes, for a model without probabilities.
    pub fn push_predictions(&mut self, truth: &[u32], predicted: &[u32], weights: &[f64]) {
        for (i, (truth, predicted)) in truth.iter().zip(predicted).enumerate() {
            self.n_rows += 1;
            let weight = weights.get(i).copied().unwrap_or(1.0);
            self.confusion[[*truth as usize, *predicted as usize]] += weight;
        }
    }

    /// Adds the rows of another evaluation of the same classes.
    pub fn merge(&mut self, other: &Evaluation) {
        self.n_rows += other.n_rows;
        self.confusion += &other.confusion;
        self.log_loss += other.log_loss;
        self.brier += other.brier;
        self.scores.merge(&other.scores);
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.n += more.n;
            bin.confidence += more.confidence;
            bin.correct += more.correct;
        }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The metrics.
    pub fn report(&self) -> ClassificationReport {
        let n = self.confusion.sum();
        let correct = self.confusion.diag().sum();
        let classes: Vec<ClassReport> = (self.classes.labels().iter().enumerate())
            .map(|(c, label)| {
                let hit = self.confusion[[c, c]];
                let precision = ratio(hit, self.confusion.column(c).sum());
                let recall = ratio(hit, self.confusion.row(c).sum());
                ClassReport {
                    class: label.clone(),
                    precision,
                    recall,
                    f1: ratio(2.0 * precision * recall, precision + recall),
                    support: self.confusion.row(c).sum() as u64,
                }
            })
            .collect();
        let largest = self.confusion.outer_iter().map(|row| row.sum()).fold(0.0, f64::max);
        let macro_f1 = ratio(classes.iter().map(|c| c.f1).sum(), classes.len() as f64);
        let calibration: Vec<CalibrationBin> = (self.bins.iter().enumerate())
            .filter(|(_, bin)| bin.n > 0.0)
            .map(|(k, bin)| CalibrationBin {
                from: k as f64 / BINS as f64,
                to: (k + 1) as f64 / BINS as f64,
                n: bin.n as u64,
                confidence: bin.confidence / bin.n,
                accuracy: bin.correct / bin.n,
            })
            .collect();
        let n_probabilistic: f64 = self.bins.iter().map(|bin| bin.n).sum();
        let mean = |sum: f64| (n_probabilistic > 0.0).then(|| sum / n_probabilistic);
        let error = calibration
            .iter()
            .zip(self.bins.iter().filter(|bin| bin.n > 0.0))
            .map(|(shown, bin)| (shown.confidence - shown.accuracy).abs() * bin.n)
            .sum::<f64>();
        ClassificationReport {
            n_rows: self.n_rows,
            accuracy: wilson(correct, n),
            baseline_accuracy: ratio(largest, n),
            macro_f1,
            log_loss: mean(self.log_loss),
            brier: mean(self.brier),
            calibration_error: mean(error),
            calibration,
            confusion: self
                .confusion
                .outer_iter()
                .map(|row| row.iter().map(|v| *v as u64).collect())
                .collect(),
            curves: self.scores.curves(),
            classes,
        }
    }
}

/// The metrics of a classifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassificationReport {
    /// The number of rows.
    pub n_rows: u64,
    /// The fraction of rows that are classified correctly.
    pub accuracy: Interval,
    /// The accuracy of always predicting the most frequent class.
    pub baseline_accuracy: f64,
    /// The unweighted mean of the F1 scores of the classes.
    pub macro_f1: f64,
    /// The mean of `−log P(true class)`, in nats; `None` without probabilities.
    pub log_loss: Option<f64>,
    /// The Brier score: the mean squared error of the probabilities, summed over classes.
    pub brier: Option<f64>,
    /// The expected calibration error: the mean absolute difference of confidence and accuracy.
    pub calibration_error: Option<f64>,
    /// The calibration (reliability) table, without empty bins.
    pub calibration: Vec<CalibrationBin>,
    /// The confusion matrix: one row per true class, one column per predicted class.
    pub confusion: Vec<Vec<u64>>,
    /// The ROC and precision-recall curves of every class against the rest; empty without probabilities.
    #[serde(skip)]
    pub curves: Vec<Curves>,
    /// One entry per class.
    pub classes: Vec<ClassReport>,
}

/// A proportion with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The metrics of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassReport {
    /// The class.
    pub class: Label,
    /// The fraction of predictions of the class that are correct.
    pub precision: f64,
    /// The fraction of rows of the class that are predicted as such.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// The number of rows of the class.
    pub support: u64,
}

/// A bin of the calibration table: rows of similar confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The lower bound of the confidence.
    pub from: f64,
    /// The upper bound of the confidence.
    pub to: f64,
    /// The number of rows.
    pub n: u64,
    /// Their mean confidence.
    pub confidence: f64,
    /// The fraction of rows that are classified correctly.
    pub accuracy: f64,
}

/// `a / b`, zero if `b` is.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// The 95 % score interval of a proportion (Wilson, 1927), valid for few rows and proportions near one.
fn wilson(hits: f64, n: f64) -> Interval {
    if n == 0.0 {
        return Interval { value: 0.0, low: 0.0, high: 1.0 };
    }
    let p = hits / n;
    let z2 = Z * Z;
    let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    Interval { value: p, low: (center - half).max(0.0), high: (center + half).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn metrics_match_a_hand_calculation() {
        let classes = Classes::from_names(["a", "b"]);
        let mut evaluation = Evaluation::new(&classes);
        let proba: Matrix = array![[0.8, 0.2], [0.4, 0.6], [0.3, 0.7], [0.1, 0.9]];

        evaluation.push(&[0, 0, 1, 1], &proba.mapv(f64::ln));
        let report = evaluation.report();

        assert_eq!(report.confusion, [[1, 1], [0, 2]]);
        assert_eq!(report.accuracy.value, 0.75);
        assert_eq!(report.baseline_accuracy, 0.5);
        // a: precision 1, recall 1/2, F1 2/3; b: precision 2/3, recall 1, F1 4/5.
        assert!((report.macro_f1 - (2.0 / 3.0 + 0.8) / 2.0).abs() < 1e-15);
        let log_loss = -(0.8f64.ln() + 0.4f64.ln() + 0.7f64.ln() + 0.9f64.ln()) / 4.0;
        assert!((report.log_loss.unwrap() - log_loss).abs() < 1e-15);
        // 2 (0.2² + 0.6² + 0.3² + 0.1²) / 4
        assert!((report.brier.unwrap() - 0.25).abs() < 1e-15);
    }

    #[test]
    fn the_interval_matches_newcombe() {
        // Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662.
        let interval = wilson(81.0, 263.0);

        assert!((interval.low - 0.2553).abs() < 5e-5);
        assert!((interval.high - 0.3662).abs() < 5e-5);
    }
}
