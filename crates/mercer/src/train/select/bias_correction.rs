//! The score of the best of several candidates, corrected for the selection.
//!
//! The largest of several cross-validated scores is optimistic. Bootstrap bias-corrected cross-validation (Tsamardinos
//! et al., 2018) repeats the selection on bootstrap samples of the out-of-fold predictions and scores the winner on the
//! rows that the sample left out; no model is fitted again.

use crate::evaluate::{Metric, Predictions};
use mercer_num::random::Random;
use serde::Serialize;

/// Bootstrap samples.
const N_SAMPLES: usize = 200;
/// Rows of a bootstrap sample; more would not change the estimate.
const MAX_ROWS: usize = 20_000;

/// A score that is corrected for the selection of the best candidate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorrectedScore {
    /// The mean over bootstrap samples of the score of their winner on the rows they left out.
    pub score: f64,
    /// The lower end of the 95 % bootstrap interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The corrected score of the best of some candidates by their out-of-fold predictions. `None` if there is none, or the
/// metric is not defined on the samples.
pub(in crate::train) fn corrected_score(
    candidates: &[&Predictions],
    metric: Metric,
    seed: u64,
) -> Option<CorrectedScore> {
    let n = candidates.first()?.n_rows();
    let mut random = Random::new(seed);
    let size = n.min(MAX_ROWS);
    let mut scores = Vec::with_capacity(N_SAMPLES);
    for _ in 0..N_SAMPLES {
        let mut drawn = vec![false; n];
        let sample: Vec<usize> = (0..size).map(|_| random.below(n)).collect();
        sample.iter().for_each(|i| drawn[*i] = true);
        let rest: Vec<usize> = (0..n).filter(|i| !drawn[*i]).take(MAX_ROWS).collect();
        let utilities = candidates.iter().map(|p| metric.utility(p, &sample));
        let best = utilities.enumerate().filter_map(|(k, u)| Some((k, u?)));
        // Of equal candidates the first wins, as on the leaderboard.
        let best = best.fold(None, |best: Option<(usize, f64)>, (k, u)| match best {
            Some((_, value)) if value >= u => best,
            _ => Some((k, u)),
        });
        scores.extend(best.and_then(|(k, _)| metric.score(candidates[k], &rest)));
    }
    if scores.is_empty() {
        return None;
    }
    scores.sort_by(f64::total_cmp);
    let at = |q: f64| scores[((scores.len() - 1) as f64 * q).round() as usize];
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    Some(CorrectedScore { score: mean, low: at(0.025), high: at(0.975) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best of many random guesses looks better than chance; the corrected score does not.
    #[test]
    fn the_best_of_many_coin_flips_is_corrected_to_chance() {
        let n = 200;
        let mut random = Random::new(1);
        let truth: Vec<u32> = (0..n).map(|_| u32::from(random.uniform() < 0.5)).collect();
        let guesses: Vec<Predictions> = (0..100)
            .map(|_| Predictions::Classes {
                truth: truth.clone(),
                predicted: (0..n).map(|_| u32::from(random.uniform() < 0.5)).collect(),
                log_proba: None,
                n_classes: 2,
                weights: Vec::new(),
            })
            .collect();
        let all: Vec<usize> = (0..n).collect();
        let raw =
            guesses.iter().filter_map(|g| Metric::Accuracy.score(g, &all)).fold(0.0, f64::max);

        let corrected =
            corrected_score(&guesses.iter().collect::<Vec<_>>(), Metric::Accuracy, 0).unwrap();

        assert!(raw > 0.57, "{raw}");
        assert!((corrected.score - 0.5).abs() < 0.03, "{}", corrected.score);
        assert!(corrected.low < corrected.score && corrected.score < corrected.high);
    }

    #[test]
    fn a_single_candidate_keeps_its_score() {
        let only = Predictions::Regression {
            truth: (0..100).map(f64::from).collect(),
            predicted: (0..100).map(|i| f64::from(i) + 1.0).collect(),
            weights: Vec::new(),
        };

        let corrected = corrected_score(&[&only], Metric::Mae, 0).unwrap();

        assert_eq!((corrected.score, corrected.low, corrected.high), (1.0, 1.0, 1.0));
    }
}
