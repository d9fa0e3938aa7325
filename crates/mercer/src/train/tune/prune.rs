//! Settings that are far behind the best after the first fold.

use crate::evaluate::{Metric, Predictions};
use mercer_num::random::Random;

/// Bootstrap samples of the test rows of the first fold.
const N_SAMPLES: usize = 100;
/// A setting is hopeless if its mean difference to the best is larger than so many standard deviations.
const MIN_DEVIATIONS: f64 = 4.0;

/// Whether each setting is hopeless, from the predictions of the same test rows: the difference of its metric to that of
/// the best setting is far larger than its spread over bootstrap samples of the rows. `None` is a setting without
/// predictions, which is not judged.
pub(super) fn hopeless(
    predictions: &[Option<&Predictions>],
    metric: Metric,
    seed: u64,
) -> Vec<bool> {
    let n = predictions.iter().flatten().map(|p| p.n_rows()).next().unwrap_or(0);
    let all: Vec<usize> = (0..n).collect();
    let utility = |p: &Option<&Predictions>| p.and_then(|p| metric.utility(p, &all));
    let best = (0..predictions.len()).filter_map(|k| Some((k, utility(&predictions[k])?)));
    let best = best.fold(None, |best: Option<(usize, f64)>, (k, u)| match best {
        Some((_, most)) if most >= u => best,
        _ => Some((k, u)),
    });
    let Some((best, _)) = best else { return vec![false; predictions.len()] };
    let mut random = Random::new(seed);
    let samples: Vec<Vec<usize>> =
        (0..N_SAMPLES).map(|_| (0..n).map(|_| random.below(n)).collect()).collect();
    let of = |k: usize| -> Vec<Option<f64>> {
        let Some(predictions) = predictions[k] else { return vec![None; N_SAMPLES] };
        samples.iter().map(|rows| metric.utility(predictions, rows)).collect()
    };
    let of_best = of(best);
    (0..predictions.len())
        .map(|k| {
            let own = of(k);
            let pairs = of_best.iter().zip(&own).filter_map(|(best, own)| Some((*best)? - (*own)?));
            let differences: Vec<f64> = pairs.collect();
            if differences.len() < N_SAMPLES {
                return false;
            }
            let mean = differences.iter().sum::<f64>() / N_SAMPLES as f64;
            let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
            mean > MIN_DEVIATIONS * (squares / (N_SAMPLES - 1) as f64).sqrt() && mean > 0.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accuracy(rate: f64, seed: u64) -> Predictions {
        let mut random = Random::new(seed);
        let truth = vec![0; 300];
        let predicted = truth.iter().map(|_| u32::from(random.uniform() > rate)).collect();
        Predictions::Classes {
            truth,
            predicted,
            log_proba: None,
            n_classes: 2,
            weights: Vec::new(),
        }
    }

    #[test]
    fn only_settings_that_chance_cannot_explain_are_dropped() {
        let (best, close, far) = (accuracy(0.9, 1), accuracy(0.87, 2), accuracy(0.6, 3));

        let dropped = hopeless(&[Some(&close), Some(&best), None, Some(&far)], Metric::Accuracy, 0);

        assert_eq!(dropped, [false, false, false, true]);
    }
}
