//! ROC and precision-recall curves of every class against the rest, from histograms of the log-odds.
//!
//! Rows are counted in bins of the log-odds of their class probability, so that curves are updated batch by batch in
//! constant memory, and the area under the ROC curve is exact up to ties within a bin.

use serde::Serialize;

/// Log-odds beyond this are counted in the outer bins.
const MAX_LOG_ODDS: f64 = 12.0;
/// Bins of the log-odds.
const N_BINS: usize = 480;
/// Classes of which curves are kept.
const MAX_CLASSES: usize = 60;

/// The weights of the rows of a class and of the other classes, by the log-odds of the class.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ScoreHistograms {
    /// For each class, the weights of its own rows and of the others.
    classes: Vec<[Vec<f64>; 2]>,
}

impl ScoreHistograms {
    /// Adds a row by its log-probabilities.
    pub fn push(&mut self, truth: usize, log_proba: &[f64], weight: f64) {
        if log_proba.len() > MAX_CLASSES {
            return;
        }
        if self.classes.is_empty() {
            self.classes = vec![[vec![0.0; N_BINS], vec![0.0; N_BINS]]; log_proba.len()];
        }
        for (c, log_p) in log_proba.iter().enumerate() {
            // log(1 - p), accurate for p near zero and one.
            let log_odds = log_p - (-log_p.exp()).ln_1p();
            let position = (log_odds / MAX_LOG_ODDS + 1.0) / 2.0 * N_BINS as f64;
            // The conversion of an infinite position saturates.
            let bin = (position.max(0.0) as usize).min(N_BINS - 1);
            self.classes[c][usize::from(c != truth)][bin] += weight;
        }
    }

    pub fn merge(&mut self, other: &ScoreHistograms) {
        if self.classes.is_empty() {
            self.classes.clone_from(&other.classes);
            return;
        }
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
            }
        }
    }

    /// The curves of every class.
    pub fn curves(&self) -> Vec<Curves> {
        self.classes.iter().map(|[own, others]| Curves::of(own, others)).collect()
    }
}

/// The curves of one class against the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curves {
    /// The area under the ROC curve; NaN if there are no rows on a side.
    pub roc_auc: f64,
    /// The average precision, the area under the precision-recall curve.
    pub average_precision: f64,
    /// False positive rate and true positive rate, from (0, 0) to (1, 1).
    #[serde(skip)]
    pub roc: Vec<(f64, f64)>,
    /// Recall and precision, by falling threshold.
    #[serde(skip)]
    pub precision_recall: Vec<(f64, f64)>,
}

impl Curves {
    fn of(own: &[f64], others: &[f64]) -> Curves {
        let (n_own, n_others) = (own.iter().sum::<f64>(), others.iter().sum::<f64>());
        let (mut hits, mut alarms) = (0.0, 0.0);
        let (mut roc, mut precision_recall) = (vec![(0.0, 0.0)], Vec::new());
        let (mut area, mut precision_area) = (0.0, 0.0);
        for (a, b) in own.iter().zip(others).rev().filter(|(a, b)| **a + **b > 0.0) {
            // Rows of one bin are tied: a straight line between its ends.
            area += b * (hits + a / 2.0);
            (hits, alarms) = (hits + a, alarms + b);
            let precision = hits / (hits + alarms);
            precision_area += a * precision;
            roc.push((alarms / n_others, hits / n_own));
            precision_recall.push((hits / n_own, precision));
        }
        Curves {
            roc_auc: area / (n_own * n_others),
            average_precision: precision_area / n_own,
            roc,
            precision_recall,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_the_fraction_of_ordered_pairs() {
        let mut histograms = ScoreHistograms::default();
        // Two rows of class 1 and two of class 0; one of the four pairs is in the wrong order.
        for (truth, p) in [(1, 0.9), (0, 0.6), (1, 0.4), (0, 0.1)] {
            histograms.push(truth, &[(1.0f64 - p).ln(), p.ln()], 1.0);
        }

        let curves = histograms.curves();

        assert_eq!(curves[1].roc_auc, 0.75);
        // Precision 1 at the first row of the class, 2/3 at the second.
        assert!((curves[1].average_precision - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-12);
        assert_eq!(curves[1].roc.last(), Some(&(1.0, 1.0)));
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let rows = [(0usize, 0.2), (1, 0.7), (1, 1.0), (0, 0.0)];
        let mut whole = ScoreHistograms::default();
        let mut merged = ScoreHistograms::default();
        for (truth, p) in rows {
            let row = [(1.0f64 - p).ln(), f64::ln(p)];
            whole.push(truth, &row, 1.0);
            let mut part = ScoreHistograms::default();
            part.push(truth, &row, 1.0);
            merged.merge(&part);
        }

        assert_eq!(merged, whole);
    }
}
