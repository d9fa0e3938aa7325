//! The corrected paired t-test of two cross-validated estimators, and Holm's correction for many of them.

use mercer_num::special::{student_critical_value, student_p_value};

/// The two-sided p-value of the hypothesis that two estimators have equal expected scores, from their differences on
/// the folds. The training sets of the folds overlap, so the variance is inflated by the ratio of test to training rows
/// (Nadeau and Bengio, 2003, section 3). `None` with fewer than two folds.
pub(super) fn corrected_p_value(differences: &[f64], test_to_train: f64) -> Option<f64> {
    let n = differences.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let t = mean / ((1.0 / n + test_to_train) * variance).sqrt();
    Some(student_p_value(t, n - 1.0))
}

/// The 95 % confidence interval of a cross-validated score, from the scores of the folds, with the same variance. `None`
/// with fewer than two folds.
pub(super) fn corrected_interval(
    score: f64,
    fold_scores: &[f64],
    test_to_train: f64,
) -> Option<(f64, f64)> {
    let n = fold_scores.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = fold_scores.iter().sum::<f64>() / n;
    let variance = fold_scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = ((1.0 / n + test_to_train) * variance).sqrt();
    let half = student_critical_value(0.95, n - 1.0) * error;
    Some((score - half, score + half))
}

/// Holm's (1979) step-down adjustment of p-values, in the order given; `None` stays.
pub(super) fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(i, p)| p.map(|p| (i, p))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; p_values.len()];
    let mut largest: f64 = 0.0;
    for (k, (i, p)) in order.iter().enumerate() {
        largest = largest.max(((order.len() - k) as f64 * p).min(1.0));
        adjusted[*i] = Some(largest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corrected_test_matches_a_hand_calculation() {
        // mean 0.02, variance 2.5e-4, five folds with test:train = 1:4: t = 0.02 / sqrt(0.45 × 2.5e-4) = 1.8856.
        let differences = [0.0, 0.01, 0.02, 0.03, 0.04];

        let p = corrected_p_value(&differences, 0.25).unwrap();

        // Student's t with 4 degrees of freedom, two-sided.
        assert!((p - 0.1324).abs() < 1e-3, "{p}");
        assert_eq!(corrected_p_value(&[0.1], 0.25), None);
        assert_eq!(corrected_p_value(&[0.0, 0.0], 0.25), Some(1.0));
    }

    #[test]
    fn the_corrected_interval_matches_a_hand_calculation() {
        // Variance 2.5e-4 and test:train = 1:4: the standard error is sqrt(0.45 × 2.5e-4) = 0.010607, and Student's t
        // with 4 degrees of freedom is 2.7764.
        let (low, high) = corrected_interval(0.92, &[0.9, 0.91, 0.92, 0.93, 0.94], 0.25).unwrap();

        assert!((low - 0.89055).abs() < 1e-4 && (high - 0.94945).abs() < 1e-4, "{low} {high}");
        assert_eq!(corrected_interval(0.9, &[0.9], 0.25), None);
    }

    #[test]
    fn holm_multiplies_the_smallest_p_value_by_the_number_of_tests() {
        let adjusted = holm(&[Some(0.01), None, Some(0.04), Some(0.03)]);

        assert_eq!(adjusted, [Some(0.03), None, Some(0.06), Some(0.06)]);
    }
}
