//! Thresholds on a score, chosen by the error rates on rows of known class: points of the ROC curve.

use crate::error::{Error, Result};
use crate::probability::check_probability;
use serde::Serialize;

/// A point of the ROC curve: rows with a score of at least `threshold` are classified as positive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OperatingPoint {
    /// The smallest score that is classified as positive; infinite if none is.
    pub threshold: f64,
    /// The fraction of negative rows that are classified as positive.
    pub false_positive_rate: f64,
    /// The fraction of positive rows that are classified as positive.
    pub true_positive_rate: f64,
}

/// The threshold with the largest true-positive rate among those with a false-positive rate of at most
/// `max_rate` (Neyman and Pearson, 1933). If the scores are likelihood ratios, it is the most powerful test.
///
/// # Errors
/// If a score is NaN, lengths differ, a class is absent, or the rate is not between 0 and 1.
pub fn neyman_pearson(scores: &[f64], positive: &[bool], max_rate: f64) -> Result<OperatingPoint> {
    check_probability(|| "the maximum false-positive rate".into(), max_rate)?;
    let points = roc_points(scores, positive)?;
    // Both rates grow as the threshold decreases: the last point allowed is the best.
    let allowed = points.into_iter().take_while(|point| point.false_positive_rate <= max_rate);
    allowed.last().ok_or(Error::NoRows)
}

/// The minimax threshold: it minimizes the larger of the false-positive rate and the false-negative rate, each
/// weighted by its cost. It does not depend on the class priors.
///
/// # Errors
/// As [`neyman_pearson`], and if a cost is negative or not finite.
pub fn minimax_threshold(
    scores: &[f64],
    positive: &[bool],
    alarm_cost: f64,
    miss_cost: f64,
) -> Result<OperatingPoint> {
    crate::probability::check_count(|| "the cost of a false alarm".into(), alarm_cost)?;
    crate::probability::check_count(|| "the cost of a miss".into(), miss_cost)?;
    let worst = |point: &OperatingPoint| {
        (alarm_cost * point.false_positive_rate).max(miss_cost * (1.0 - point.true_positive_rate))
    };
    let points = roc_points(scores, positive)?;
    points.into_iter().min_by(|a, b| worst(a).total_cmp(&worst(b))).ok_or(Error::NoRows)
}

/// The points of the ROC curve by decreasing threshold, beginning with no positive prediction.
fn roc_points(scores: &[f64], positive: &[bool]) -> Result<Vec<OperatingPoint>> {
    if scores.len() != positive.len() {
        return Err(Error::Length {
            what: "the true classes".into(),
            found: positive.len(),
            expected: scores.len(),
        });
    }
    if let Some((row, value)) = scores.iter().enumerate().find(|(_, s)| s.is_nan()) {
        return Err(Error::NotFinite { row, column: 0, value: *value });
    }
    let n_positive = positive.iter().filter(|p| **p).count();
    if n_positive == 0 || n_positive == positive.len() {
        return Err(match positive.first() {
            None => Error::NoRows,
            Some(class) => Error::OneClass { class: class.to_string() },
        });
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let n_negative = (positive.len() - n_positive) as f64;
    let (mut hits, mut alarms) = (0.0, 0.0);
    let mut points = vec![OperatingPoint {
        threshold: f64::INFINITY,
        false_positive_rate: 0.0,
        true_positive_rate: 0.0,
    }];
    for (k, i) in order.iter().enumerate() {
        if positive[*i] {
            hits += 1.0;
        } else {
            alarms += 1.0;
        }
        // Rows of equal score are on the same side of every threshold.
        if order.get(k + 1).is_some_and(|next| scores[*next] == scores[*i]) {
            continue;
        }
        points.push(OperatingPoint {
            threshold: scores[*i],
            false_positive_rate: alarms / n_negative,
            true_positive_rate: hits / n_positive as f64,
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 8] = [0.9, 0.8, 0.7, 0.7, 0.5, 0.4, 0.2, 0.1];
    const TRUTH: [bool; 8] = [true, true, false, true, false, true, false, false];

    #[test]
    fn the_false_positive_rate_is_bounded_and_used_up() {
        let strict = neyman_pearson(&SCORES, &TRUTH, 0.0).unwrap();
        let loose = neyman_pearson(&SCORES, &TRUTH, 0.3).unwrap();

        assert_eq!((strict.threshold, strict.true_positive_rate), (0.8, 0.5));
        // The two rows at 0.7 are tied: one false alarm of four, three hits of four.
        assert_eq!((loose.threshold, loose.false_positive_rate), (0.7, 0.25));
        assert_eq!(loose.true_positive_rate, 0.75);
    }

    #[test]
    fn minimax_balances_both_error_rates() {
        let point = minimax_threshold(&SCORES, &TRUTH, 1.0, 1.0).unwrap();
        let costly_misses = minimax_threshold(&SCORES, &TRUTH, 1.0, 100.0).unwrap();

        assert_eq!((point.false_positive_rate, 1.0 - point.true_positive_rate), (0.25, 0.25));
        assert_eq!(costly_misses.true_positive_rate, 1.0);
    }

    #[test]
    fn invalid_arguments_are_refused() {
        assert!(neyman_pearson(&SCORES, &TRUTH[..3], 0.1).is_err());
        assert!(neyman_pearson(&[0.1, 0.2], &[true, true], 0.1).is_err());
        assert!(neyman_pearson(&[f64::NAN, 0.2], &[true, false], 0.1).is_err());
        assert!(neyman_pearson(&SCORES, &TRUTH, 1.1).is_err());
    }
}
