//! Metrics of predictions: one number for a set of rows, to compare estimators by.
//!
//! The predictions of all rows are kept, so that a metric can be computed on any subset of them: a fold, or a bootstrap
//! sample.

use crate::error::{Error, Result};
use mercer_num::Matrix;
use mercer_num::special::argmax;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Probabilities are clipped here, so that a probability of zero has a finite log loss.
const MIN_LOG_PROBABILITY: f64 = -34.538_776_394_910_684;
/// The number of bins of the expected calibration error.
const CALIBRATION_BINS: usize = 10;

/// The predictions of rows with a known target.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictions {
    /// Of a classifier.
    Classes {
        /// The true class codes.
        truth: Vec<u32>,
        /// The predicted class codes.
        predicted: Vec<u32>,
        /// One row of log-probabilities per row; `None` for a classifier without probabilities.
        log_proba: Option<Matrix>,
        /// The number of classes.
        n_classes: usize,
        /// Sample weights; empty if all are one.
        weights: Vec<f64>,
    },
    /// Of a regressor.
    Regression {
        /// The true targets.
        truth: Vec<f64>,
        /// The predicted targets.
        predicted: Vec<f64>,
        /// Sample weights; empty if all are one.
        weights: Vec<f64>,
    },
}

impl Predictions {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Predictions::Classes { truth, .. } => truth.len(),
            Predictions::Regression { truth, .. } => truth.len(),
        }
    }

    /// Appends the predictions of other rows.
    ///
    /// # Panics
    /// If they are of another task.
    pub fn append(&mut self, more: Predictions) {
        match (self, more) {
            (
                Predictions::Classes { truth, predicted, log_proba, weights, .. },
                Predictions::Classes {
                    truth: more_truth,
                    predicted: more_predicted,
                    log_proba: more_proba,
                    weights: more_weights,
                    ..
                },
            ) => {
                truth.extend(more_truth);
                predicted.extend(more_predicted);
                weights.extend(more_weights);
                *log_proba = log_proba
                    .take()
                    .zip(more_proba)
                    .map(|(first, second)| ndarray::concatenate![ndarray::Axis(0), first, second]);
            }
            (
                Predictions::Regression { truth, predicted, weights },
                Predictions::Regression {
                    truth: more_truth,
                    predicted: more_predicted,
                    weights: more_weights,
                },
            ) => {
                truth.extend(more_truth);
                predicted.extend(more_predicted);
                weights.extend(more_weights);
            }
            _ => panic!("predictions of one task"),
        }
    }

    /// The predictions of the first rows.
    #[must_use]
    pub fn first(&self, n: usize) -> Predictions {
        let some = |weights: &[f64]| weights.iter().take(n).copied().collect();
        match self {
            Predictions::Classes { truth, predicted, log_proba, n_classes, weights } => {
                Predictions::Classes {
                    truth: truth[..n].to_vec(),
                    predicted: predicted[..n].to_vec(),
                    log_proba: log_proba
                        .as_ref()
                        .map(|p| p.slice_axis(ndarray::Axis(0), (..n).into()).to_owned()),
                    n_classes: *n_classes,
                    weights: some(weights),
                }
            }
            Predictions::Regression { truth, predicted, weights } => Predictions::Regression {
                truth: truth[..n].to_vec(),
                predicted: predicted[..n].to_vec(),
                weights: some(weights),
            },
        }
    }
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $Metric:ident $name:literal $task:ident $direction:ident;)+) => {
        /// A measure of the quality of predictions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Metric { $($(#[doc = $doc])+ $Metric,)+ }

        impl Metric {
            /// All metrics.
            pub const ALL: &'static [Metric] = &[$(Metric::$Metric),+];

            /// The name, as in `--metric`.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$Metric => $name),+ }
            }

            /// Whether a larger value is better.
            pub fn greater_is_better(self) -> bool {
                match self { $(Metric::$Metric => metrics!(@$direction)),+ }
            }

            /// Whether it measures classifiers; otherwise it measures regressors.
            pub fn is_for_classes(self) -> bool {
                match self { $(Metric::$Metric => metrics!(@$task)),+ }
            }
        }
    };
    (@greater) => { true };
    (@smaller) => { false };
    (@classes) => { true };
    (@regression) => { false };
}

metrics! {
    /// The fraction of rows that are classified correctly.
    Accuracy "accuracy" classes greater;
    /// The mean recall of the classes.
    BalancedAccuracy "balanced-accuracy" classes greater;
    /// The unweighted mean of the F1 scores of the classes.
    MacroF1 "f1" classes greater;
    /// The mean of `−log P(true class)`, in nats.
    LogLoss "log-loss" classes smaller;
    /// The mean squared error of the probabilities, summed over classes.
    Brier "brier" classes smaller;
    /// The expected calibration error: the mean absolute difference of confidence and accuracy, in ten bins.
    CalibrationError "ece" classes smaller;
    /// The area under the ROC curve; the mean over classes, one against the rest, if there are more than two.
    RocAuc "roc-auc" classes greater;
    /// The average precision (area under the precision-recall curve) of the second class; the mean over classes, one
    /// against the rest, if there are more than two.
    PrAuc "pr-auc" classes greater;
    /// Matthews' correlation coefficient, in Gorodkin's form for several classes.
    Mcc "mcc" classes greater;
    /// Cohen's kappa.
    Kappa "kappa" classes greater;
    /// The fraction of rows whose class is among the three most probable ones.
    TopThree "top-3" classes greater;
    /// The coefficient of determination.
    RSquared "r2" regression greater;
    /// The root mean squared error.
    Rmse "rmse" regression smaller;
    /// The mean absolute error.
    Mae "mae" regression smaller;
    /// The mean absolute percentage error.
    Mape "mape" regression smaller;
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Metric {
    /// The metric with a name.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the names.
    pub fn parse(name: &str) -> Result<Metric> {
        Metric::ALL.iter().copied().find(|metric| metric.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
            Error::Parameter {
                name: "metric".into(),
                found: format!("`{name}`"),
                expected: format!("one of {}", names.join(", ")),
            }
        })
    }

    /// The value of the metric on some rows; `None` if it is not defined: it needs probabilities that the classifier
    /// does not have, the rows are of the other task, or there are none.
    pub fn score(self, predictions: &Predictions, rows: &[usize]) -> Option<f64> {
        if rows.is_empty() {
            return None;
        }
        match predictions {
            Predictions::Classes { truth, predicted, log_proba, n_classes, weights } => {
                let rows = ClassRows { truth, predicted, n_classes: *n_classes, weights, rows };
                match self {
                    Metric::Accuracy => {
                        Some(rows.mean(|i| f64::from(u8::from(truth[i] == predicted[i]))))
                    }
                    Metric::BalancedAccuracy => Some(rows.balanced_accuracy()),
                    Metric::MacroF1 => Some(rows.macro_f1()),
                    Metric::Mcc => Some(rows.matthews()),
                    Metric::Kappa => Some(rows.kappa()),
                    _ => rows.probabilistic(self, log_proba.as_ref()?),
                }
            }
            Predictions::Regression { truth, predicted, weights } => {
                regression(self, truth, predicted, weights, rows)
            }
        }
    }

    /// As [`Metric::score`], with the sign chosen so that a larger value is better.
    pub fn utility(self, predictions: &Predictions, rows: &[usize]) -> Option<f64> {
        let score = self.score(predictions, rows)?;
        Some(if self.greater_is_better() { score } else { -score })
    }
}

/// Some rows of a classifier.
struct ClassRows<'a> {
    truth: &'a [u32],
    predicted: &'a [u32],
    n_classes: usize,
    weights: &'a [f64],
    rows: &'a [usize],
}

impl ClassRows<'_> {
    fn mean(&self, value: impl Fn(usize) -> f64) -> f64 {
        weighted_mean(self.rows, self.weights, value)
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    fn confusion(&self) -> Matrix {
        let mut counts = Matrix::zeros((self.n_classes, self.n_classes));
        for i in self.rows {
            counts[[self.truth[*i] as usize, self.predicted[*i] as usize]] += self.weight(*i);
        }
        counts
    }

    /// The mean over the classes that occur among the rows.
    fn balanced_accuracy(&self) -> f64 {
        let counts = self.confusion();
        let recalls = (0..self.n_classes).filter_map(|c| {
            let n = counts.row(c).sum();
            (n > 0.0).then(|| counts[[c, c]] / n)
        });
        mean_of(recalls)
    }

    fn macro_f1(&self) -> f64 {
        let counts = self.confusion();
        let f1 = (0..self.n_classes).filter_map(|c| {
            let total = counts.row(c).sum() + counts.column(c).sum();
            (total > 0.0).then(|| 2.0 * counts[[c, c]] / total)
        });
        mean_of(f1)
    }

    /// Gorodkin (2004), equation 8: the correlation of true and predicted indicators.
    fn matthews(&self) -> f64 {
        let counts = self.confusion();
        let n = counts.sum();
        let (mut products, mut truths, mut predictions) = (0.0, 0.0, 0.0);
        for c in 0..self.n_classes {
            let (t, p) = (counts.row(c).sum(), counts.column(c).sum());
            products += t * p;
            truths += t * t;
            predictions += p * p;
        }
        let spread = ((n * n - truths) * (n * n - predictions)).sqrt();
        if spread > 0.0 { (counts.diag().sum() * n - products) / spread } else { 0.0 }
    }

    /// Cohen (1960): agreement beyond that of independent labels.
    fn kappa(&self) -> f64 {
        let counts = self.confusion();
        let n = counts.sum();
        let chance = |c: usize| counts.row(c).sum() * counts.column(c).sum() / (n * n);
        let expected: f64 = (0..self.n_classes).map(chance).sum();
        if expected < 1.0 { (counts.diag().sum() / n - expected) / (1.0 - expected) } else { 0.0 }
    }

    fn probabilistic(&self, metric: Metric, log_proba: &Matrix) -> Option<f64> {
        let proba = |i: usize, c: usize| log_proba[[i, c]].exp();
        match metric {
            Metric::LogLoss => Some(
                self.mean(|i| -log_proba[[i, self.truth[i] as usize]].max(MIN_LOG_PROBABILITY)),
            ),
            Metric::Brier => Some(self.mean(|i| {
                let error =
                    |c: usize| proba(i, c) - f64::from(u8::from(self.truth[i] as usize == c));
                (0..self.n_classes).map(|c| error(c).powi(2)).sum()
            })),
            Metric::CalibrationError => Some(self.calibration_error(log_proba)),
            Metric::TopThree => Some(self.mean(|i| {
                let own = log_proba[[i, self.truth[i] as usize]];
                let better = log_proba.row(i).iter().filter(|p| **p > own).count();
                f64::from(u8::from(better < 3))
            })),
            Metric::RocAuc => self.one_against_rest(|c| self.roc_auc(c, log_proba)),
            Metric::PrAuc => self.one_against_rest(|c| self.average_precision(c, log_proba)),
            _ => None,
        }
    }

    fn calibration_error(&self, log_proba: &Matrix) -> f64 {
        let (mut bins, mut total) = ([(0.0, 0.0); CALIBRATION_BINS], 0.0);
        for i in self.rows {
            let row = log_proba.row(*i).to_vec();
            let best = argmax(&row);
            let confidence = row[best].exp();
            let k = ((confidence * CALIBRATION_BINS as f64) as usize).min(CALIBRATION_BINS - 1);
            let weight = self.weight(*i);
            total += weight;
            bins[k].0 += weight * confidence;
            bins[k].1 += weight * f64::from(u8::from(self.truth[*i] as usize == best));
        }
        let off = |(confidence, hits): &(f64, f64)| (confidence - hits).abs();
        bins.iter().map(off).sum::<f64>() / total.max(f64::MIN_POSITIVE)
    }

    /// The value for the second of two classes, or the mean over the classes for which it is defined.
    fn one_against_rest(&self, value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        if self.n_classes == 2 {
            return value(1);
        }
        let values: Vec<f64> = (0..self.n_classes).filter_map(value).collect();
        (!values.is_empty()).then(|| mean_of(values.into_iter()))
    }

    /// The log-probability of the class, the weight and the weight among rows of the class, from the most to the least
    /// probable row.
    fn ranked(&self, class: usize, log_proba: &Matrix) -> Vec<(f64, f64, f64)> {
        let score = |i: &usize| {
            let (weight, own) = (self.weight(*i), self.truth[*i] as usize == class);
            (log_proba[[*i, class]], weight, if own { weight } else { 0.0 })
        };
        let mut ranked: Vec<(f64, f64, f64)> = self.rows.iter().map(score).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    }

    /// The probability that a row of the class ranks above another one, ties counted half (Mann-Whitney).
    fn roc_auc(&self, class: usize, log_proba: &Matrix) -> Option<f64> {
        let ranked = self.ranked(class, log_proba);
        let (mut above, mut below, mut pairs_won) = (0.0, 0.0, 0.0);
        for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
            let positives: f64 = ties.iter().map(|(_, _, own)| own).sum();
            let negatives = ties.iter().map(|(_, weight, _)| weight).sum::<f64>() - positives;
            pairs_won += negatives * (above + positives / 2.0);
            above += positives;
            below += negatives;
        }
        (above > 0.0 && below > 0.0).then(|| pairs_won / (above * below))
    }

    /// `Σ (recall step) × precision` over the distinct thresholds.
    fn average_precision(&self, class: usize, log_proba: &Matrix) -> Option<f64> {
        let ranked = self.ranked(class, log_proba);
        let total: f64 = ranked.iter().map(|(_, _, own)| own).sum();
        let (mut n, mut hits, mut area) = (0.0, 0.0, 0.0);
        for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
            let positives: f64 = ties.iter().map(|(_, _, own)| own).sum();
            n += ties.iter().map(|(_, weight, _)| weight).sum::<f64>();
            hits += positives;
            area += if n > 0.0 { positives / total * hits / n } else { 0.0 };
        }
        (total > 0.0).then_some(area)
    }
}

fn regression(
    metric: Metric,
    truth: &[f64],
    predicted: &[f64],
    weights: &[f64],
    rows: &[usize],
) -> Option<f64> {
    let mean = |value: &dyn Fn(usize) -> f64| weighted_mean(rows, weights, value);
    let squared = || mean(&|i| (predicted[i] - truth[i]).powi(2));
    match metric {
        Metric::Rmse => Some(squared().sqrt()),
        Metric::Mae => Some(mean(&|i| (predicted[i] - truth[i]).abs())),
        Metric::Mape => {
            Some(mean(&|i| (predicted[i] - truth[i]).abs() / truth[i].abs().max(f64::EPSILON)))
        }
        Metric::RSquared => {
            let center = mean(&|i| truth[i]);
            let spread = mean(&|i| (truth[i] - center).powi(2));
            Some(if spread > 0.0 { 1.0 - squared() / spread } else { 0.0 })
        }
        _ => None,
    }
}

/// The mean of a value over some rows, by their sample weights; without weights all are one.
fn weighted_mean(rows: &[usize], weights: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0f64);
    for i in rows {
        let weight = weights.get(*i).copied().unwrap_or(1.0);
        sum += weight * value(*i);
        total += weight;
    }
    sum / total.max(f64::MIN_POSITIVE)
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0f64);
    for value in values {
        sum += value;
        n += 1.0;
    }
    sum / n.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn two_classes() -> Predictions {
        let proba: Matrix = array![[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]];
        Predictions::Classes {
            truth: vec![0, 0, 1, 1],
            predicted: vec![0, 0, 0, 1],
            log_proba: Some(proba.mapv(f64::ln)),
            n_classes: 2,
            weights: Vec::new(),
        }
    }

    #[test]
    fn metrics_of_two_classes_equal_those_of_scikit_learn() {
        let score = |metric: Metric| metric.score(&two_classes(), &[0, 1, 2, 3]).unwrap();

        // scikit-learn 1.9: roc_auc_score, average_precision_score, matthews_corrcoef, cohen_kappa_score, f1_score.
        assert_eq!(score(Metric::Accuracy), 0.75);
        assert_eq!(score(Metric::RocAuc), 0.75);
        assert!((score(Metric::PrAuc) - 5.0 / 6.0).abs() < 1e-15);
        assert!((score(Metric::Mcc) - 1.0 / 3f64.sqrt()).abs() < 1e-15);
        assert_eq!(score(Metric::Kappa), 0.5);
        assert!((score(Metric::MacroF1) - (0.8 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
        assert_eq!(score(Metric::BalancedAccuracy), 0.75);
    }

    #[test]
    fn ties_count_half_in_the_area_under_the_roc_curve() {
        let proba: Matrix = array![[0.5, 0.5], [0.5, 0.5]];
        let tied = Predictions::Classes {
            truth: vec![0, 1],
            predicted: vec![0, 0],
            log_proba: Some(proba.mapv(f64::ln)),
            n_classes: 2,
            weights: Vec::new(),
        };

        assert_eq!(Metric::RocAuc.score(&tied, &[0, 1]), Some(0.5));
        assert_eq!(Metric::RocAuc.score(&tied, &[0]), None);
    }

    #[test]
    fn regression_metrics_match_a_hand_calculation() {
        let predictions = Predictions::Regression {
            truth: vec![1.0, 2.0, 3.0],
            predicted: vec![1.0, 2.0, 5.0],
            weights: Vec::new(),
        };
        let score = |metric: Metric| metric.score(&predictions, &[0, 1, 2]).unwrap();

        assert_eq!(score(Metric::RSquared), -1.0);
        assert!((score(Metric::Rmse) - (4.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((score(Metric::Mae) - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(Metric::Accuracy.score(&predictions, &[0]), None);
    }

    #[test]
    fn a_row_of_weight_two_counts_as_two_rows() {
        let proba: Matrix = array![[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8], [0.3, 0.7]];
        let of = |rows: &[usize], weights: Vec<f64>| Predictions::Classes {
            truth: rows.iter().map(|i| [0, 0, 1, 1, 0][*i]).collect(),
            predicted: rows.iter().map(|i| [0, 0, 0, 1, 1][*i]).collect(),
            log_proba: Some(proba.select(ndarray::Axis(0), rows).mapv(f64::ln)),
            n_classes: 2,
            weights,
        };
        let weighted = of(&[0, 1, 2, 3, 4], vec![1.0, 2.0, 2.0, 1.0, 0.0]);
        let repeated = of(&[0, 1, 1, 2, 2, 3], Vec::new());

        let (few, many): (Vec<usize>, Vec<usize>) = ((0..5).collect(), (0..6).collect());
        let classes = Metric::ALL.iter().filter(|metric| metric.is_for_classes());
        assert_eq!(classes.clone().count(), 11);
        for metric in classes {
            let (a, b) = (metric.score(&weighted, &few), metric.score(&repeated, &many));
            assert!((a.unwrap() - b.unwrap()).abs() < 1e-12, "{metric}: {a:?} and {b:?}");
        }
        let line = |rows: &[usize], weights: Vec<f64>| Predictions::Regression {
            truth: rows.iter().map(|i| [1.0, 2.0, 4.0][*i]).collect(),
            predicted: rows.iter().map(|i| [1.5, 2.0, 3.0][*i]).collect(),
            weights,
        };
        let (weighted, repeated) =
            (line(&[0, 1, 2], vec![1.0, 3.0, 1.0]), line(&[0, 1, 1, 1, 2], Vec::new()));
        for metric in Metric::ALL.iter().filter(|metric| !metric.is_for_classes()) {
            let a = metric.score(&weighted, &[0, 1, 2]).unwrap();
            let b = metric.score(&repeated, &[0, 1, 2, 3, 4]).unwrap();
            assert!((a - b).abs() < 1e-12, "{metric}: {a} and {b}");
        }
    }

    #[test]
    fn every_metric_has_a_name_that_parses() {
        assert!(Metric::ALL.iter().all(|metric| Metric::parse(metric.name()) == Ok(*metric)));
        assert!(Metric::parse("acuracy").is_err());
    }
}
