//! The baseline: the score of a model that ignores the columns.

use crate::evaluate::{Metric, Predictions};
use mercer_num::Matrix;
use mercer_num::special::argmax;

/// The score of always predicting the most frequent class, with the class frequencies as probabilities, or the mean.
pub(super) fn baseline(predictions: &Predictions, metric: Metric) -> Option<f64> {
    let all: Vec<usize> = (0..predictions.n_rows()).collect();
    let constant = match predictions {
        Predictions::Classes { truth, n_classes, weights, .. } => {
            let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
            let mut counts = vec![0.0; *n_classes];
            truth.iter().enumerate().for_each(|(i, c)| counts[*c as usize] += weight(i));
            let most = argmax(&counts) as u32;
            let total: f64 = counts.iter().sum();
            let logs: Vec<f64> = counts.iter().map(|n| (n / total).ln()).collect();
            let log_proba = Matrix::from_shape_fn((truth.len(), *n_classes), |(_, c)| logs[c]);
            Predictions::Classes {
                truth: truth.clone(),
                predicted: vec![most; truth.len()],
                log_proba: Some(log_proba),
                n_classes: *n_classes,
                weights: weights.clone(),
            }
        }
        Predictions::Regression { truth, weights, .. } => {
            let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
            let total: f64 = (0..truth.len()).map(weight).sum();
            let sum: f64 = truth.iter().enumerate().map(|(i, y)| weight(i) * y).sum();
            let predicted = vec![sum / total.max(f64::MIN_POSITIVE); truth.len()];
            let (truth, weights) = (truth.clone(), weights.clone());
            Predictions::Regression { truth, predicted, weights }
        }
    };
    metric.score(&constant, &all)
}
