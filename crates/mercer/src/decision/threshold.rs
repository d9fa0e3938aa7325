//! Cut-offs on a score, chosen for a wanted rate on rows whose truth is known.

use crate::error::{Error, Result};
use crate::probability::check_probability;
use serde::Serialize;

/// A cut-off: rows that score at least this are answered yes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// The least score that is answered yes; infinite where none is.
    pub threshold: f64,
    /// The share of the negative rows answered yes.
    pub false_positive_rate: f64,
    /// The share of the positive rows answered yes.
    pub true_positive_rate: f64,
}

/// The cut-off that finds the most positive rows while at most a share of the negative ones is called
/// positive (Neyman and Pearson, 1933). With scores that are likelihood ratios no other test finds
/// more.
///
/// # Errors
/// If a score is NaN, lengths differ, one kind of row is absent, or the rate is no share.
pub fn neyman_pearson(scores: &[f64], positive: &[bool], max_rate: f64) -> Result<Cut> {
    check_probability(|| "the wanted false-positive rate".into(), max_rate)?;
    let cuts = cuts(scores, positive)?;
    // Rates grow together as the cut-off falls: the last that is allowed is the best.
    let allowed = cuts.into_iter().take_while(|cut| cut.false_positive_rate <= max_rate);
    allowed.last().ok_or(Error::NoRows)
}

/// The cut-off whose worse mistake, weighted by its cost, is as rare as it can be: what to do when
/// nobody knows how many rows are positive.
///
/// # Errors
/// As [`neyman_pearson`], and if a cost is negative or not finite.
pub fn minimax_threshold(
    scores: &[f64],
    positive: &[bool],
    alarm_cost: f64,
    miss_cost: f64,
) -> Result<Cut> {
    crate::probability::check_count(|| "the cost of a false alarm".into(), alarm_cost)?;
    crate::probability::check_count(|| "the cost of a miss".into(), miss_cost)?;
    let worst = |cut: &Cut| {
        (alarm_cost * cut.false_positive_rate).max(miss_cost * (1.0 - cut.true_positive_rate))
    };
    let cuts = cuts(scores, positive)?;
    cuts.into_iter().min_by(|a, b| worst(a).total_cmp(&worst(b))).ok_or(Error::NoRows)
}

/// Every cut-off that makes a difference, from the one that answers yes to nobody downwards.
fn cuts(scores: &[f64], positive: &[bool]) -> Result<Vec<Cut>> {
    if scores.len() != positive.len() {
        return Err(Error::Length {
            what: "the truth".into(),
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
    let mut cuts =
        vec![Cut { threshold: f64::INFINITY, false_positive_rate: 0.0, true_positive_rate: 0.0 }];
    for (k, i) in order.iter().enumerate() {
        if positive[*i] {
            hits += 1.0;
        } else {
            alarms += 1.0;
        }
        // Rows of one score stand and fall together.
        if order.get(k + 1).is_some_and(|next| scores[*next] == scores[*i]) {
            continue;
        }
        cuts.push(Cut {
            threshold: scores[*i],
            false_positive_rate: alarms / n_negative,
            true_positive_rate: hits / n_positive as f64,
        });
    }
    Ok(cuts)
}

/// The log-density below which a row is called a stranger: at most a share of the given rows lie
/// below it.
///
/// ```
/// let known = [-1.0, -2.0, -9.0, -1.5, -3.0];
/// // A fifth of five rows is one: only the row at −9 lies below.
/// assert_eq!(mercer::decision::outlier_threshold(&known, 0.2)?, -3.0);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Errors
/// If there are no rows, a density is NaN, or the share is none.
pub fn outlier_threshold(log_densities: &[f64], share: f64) -> Result<f64> {
    check_probability(|| "the share of outliers".into(), share)?;
    if let Some((row, value)) = log_densities.iter().enumerate().find(|(_, d)| d.is_nan()) {
        return Err(Error::NotFinite { row, column: 0, value: *value });
    }
    let mut order = log_densities.to_vec();
    order.sort_by(f64::total_cmp);
    // A tenth of ten rows is one, whatever a tenth rounds to.
    let k = (share * order.len() as f64 * (1.0 + 1e-12)).floor() as usize;
    match order.get(k) {
        Some(threshold) => Ok(*threshold),
        None if order.is_empty() => Err(Error::NoRows),
        None => Ok(f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 8] = [0.9, 0.8, 0.7, 0.7, 0.5, 0.4, 0.2, 0.1];
    const TRUTH: [bool; 8] = [true, true, false, true, false, true, false, false];

    #[test]
    fn the_wanted_rate_is_kept_and_used() {
        let strict = neyman_pearson(&SCORES, &TRUTH, 0.0).unwrap();
        let loose = neyman_pearson(&SCORES, &TRUTH, 0.3).unwrap();

        assert_eq!((strict.threshold, strict.true_positive_rate), (0.8, 0.5));
        // The two rows at 0.7 come together: one alarm of four, three hits of four.
        assert_eq!((loose.threshold, loose.false_positive_rate), (0.7, 0.25));
        assert_eq!(loose.true_positive_rate, 0.75);
    }

    #[test]
    fn minimax_evens_out_both_mistakes() {
        let cut = minimax_threshold(&SCORES, &TRUTH, 1.0, 1.0).unwrap();
        let fearful = minimax_threshold(&SCORES, &TRUTH, 1.0, 100.0).unwrap();

        assert_eq!((cut.false_positive_rate, 1.0 - cut.true_positive_rate), (0.25, 0.25));
        assert_eq!(fearful.true_positive_rate, 1.0);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(neyman_pearson(&SCORES, &TRUTH[..3], 0.1).is_err());
        assert!(neyman_pearson(&[0.1, 0.2], &[true, true], 0.1).is_err());
        assert!(neyman_pearson(&[f64::NAN, 0.2], &[true, false], 0.1).is_err());
        assert!(neyman_pearson(&SCORES, &TRUTH, 1.1).is_err());
        assert!(outlier_threshold(&[], 0.1).is_err());
        assert_eq!(outlier_threshold(&[1.0, 2.0], 1.0), Ok(f64::INFINITY));
        assert_eq!(outlier_threshold(&[1.0, 2.0], 0.0), Ok(1.0));
    }
}
