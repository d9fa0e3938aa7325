//! Checks of the cross-validated scores: the baseline, calibration, and the spread over the folds.

use super::{Check, Finding, FitFacts, Remedy};
use crate::explain::short;
use crate::train::select::LeaderboardRow;

/// Expected calibration errors above this are visible in decisions,
const MAX_CALIBRATION_ERROR: f64 = 0.1;
/// if there are enough rows to measure them.
const MIN_CALIBRATION_ROWS: u64 = 200;
/// Standard deviations of the scores of the folds above this, and
const MAX_FOLD_DEVIATION: f64 = 0.05;
/// above so many times what binomial counts of the rows would show.
const MAX_EXPECTED_RATIO: f64 = 2.5;
/// Folds of fewer rows vary by chance.
const MIN_ROWS_PER_FOLD: f64 = 20.0;

pub(super) fn check(facts: &FitFacts<'_>) -> Option<Finding> {
    let figure = match (facts.classification, facts.regression) {
        (Some(scores), _) if scores.accuracy.value <= scores.baseline_accuracy => format!(
            "cross-validated accuracy {:.4}, always predicting the most frequent class {:.4}",
            scores.accuracy.value, scores.baseline_accuracy
        ),
        (_, Some(scores)) if scores.r_squared <= 0.0 => format!(
            "cross-validated RMSE {}, always predicting the mean {} (R² {:.4})",
            short(scores.rmse),
            short(scores.baseline_rmse),
            scores.r_squared
        ),
        _ => {
            let board = facts.leaderboard.filter(|board| !board.beats_baseline())?;
            let score = board.best().and_then(|row| row.score)?;
            let baseline = board.baseline?;
            format!("cross-validated {} {score:.4}, baseline {baseline:.4}", board.metric)
        }
    };
    let columns = facts.trained.features.schema.fields.len();
    let advice = format!(
        "do not use this model: its {columns} columns tell nothing that it could learn about the target; look at the \
         columns with `mercer profile DATA`"
    );
    Some(Finding::new(Check::BelowBaseline, figure, Remedy::new(advice)))
}

pub(super) fn check_calibration(facts: &FitFacts<'_>) -> Option<Finding> {
    let scores = facts.classification.filter(|s| s.n_rows >= MIN_CALIBRATION_ROWS)?;
    let error = scores.calibration_error.filter(|error| *error > MAX_CALIBRATION_ERROR)?;
    let sign: f64 =
        scores.calibration.iter().map(|bin| bin.n as f64 * (bin.confidence - bin.accuracy)).sum();
    let direction = if sign > 0.0 { "too sure" } else { "not sure enough" };
    let figure = format!(
        "expected calibration error {error:.3} on held-out rows: the probabilities are {direction}"
    );
    let remedy =
        Remedy::new("select the model by its probabilities").option("--metric", "log-loss");
    Some(Finding::new(Check::Miscalibrated, figure, remedy))
}

pub(super) fn check_folds(facts: &FitFacts<'_>) -> Option<Finding> {
    let board = facts.leaderboard?;
    let LeaderboardRow { fold_scores, n_rows, .. } = board.best()?;
    let n = fold_scores.len() as f64;
    let rows_per_fold = *n_rows as f64 / n.max(1.0);
    if n < 3.0 || rows_per_fold < MIN_ROWS_PER_FOLD || !board.metric.is_for_classes() {
        return None;
    }
    let mean = fold_scores.iter().sum::<f64>() / n;
    let variance = fold_scores.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let expected = (mean * (1.0 - mean)).max(0.0) / rows_per_fold;
    let deviation = variance.sqrt();
    if deviation < MAX_FOLD_DEVIATION || deviation < MAX_EXPECTED_RATIO * expected.sqrt() {
        return None;
    }
    let (low, high) = fold_scores
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let figure = format!(
        "{} of the folds from {low:.4} to {high:.4}, standard deviation {deviation:.4} (by chance about {:.4})",
        board.metric,
        expected.sqrt()
    );
    let remedy = Remedy::new("rows may come from different groups; more folds show which")
        .option("--folds", "20");
    Some(Finding::new(Check::UnstableFolds, figure, remedy))
}
