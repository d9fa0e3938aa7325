//! Maps from decision values to probabilities.
//!
//! A map is fitted to the leave-one-out decision values of the training rows and their labels: a sigmoid, an isotonic
//! regression, or a Venn-Abers predictor. The leave-one-out values follow from the one fit, so there is no random split
//! and no second fit.

use super::isotonic::Isotonic;
use super::platt::{fit_sigmoid, targets};
use super::venn_abers::VennAbers;
use crate::choice;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// The weight of the logistic function of the decision value that is mixed into step functions. It is too small to
/// matter as a probability, but makes the map strictly increasing, so that probabilities rank rows as decisions do.
const LOGISTIC_WEIGHT: f64 = 1e-9;

choice! {
    /// The kind of map from decision values to probabilities.
    pub enum Calibration {
        /// Platt scaling.
        Sigmoid = "sigmoid",
        /// Isotonic regression.
        Isotonic = "isotonic",
        /// A Venn-Abers predictor.
        VennAbers = "venn-abers",
    }
}

/// A map from a decision value to the probability of the class for which it is positive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CalibrationMap {
    /// `1 / (1 + exp(a d + b))`.
    Sigmoid {
        /// The slope, usually negative.
        a: f64,
        /// The intercept.
        b: f64,
    },
    /// Isotonic regression.
    Isotonic(Isotonic),
    /// A Venn-Abers predictor.
    VennAbers(VennAbers),
}

impl CalibrationMap {
    /// A placeholder for a class that was not observed in training; it is never evaluated.
    pub(crate) fn placeholder() -> CalibrationMap {
        CalibrationMap::Sigmoid { a: 0.0, b: 0.0 }
    }

    /// The logistic function of the decision value: the map of a fit that was stopped before its calibration.
    pub(crate) fn uncalibrated() -> CalibrationMap {
        CalibrationMap::Sigmoid { a: -1.0, b: 0.0 }
    }

    /// Fits the map to leave-one-out decision values, with the label and the weight of each row.
    pub(crate) fn fit(
        kind: Calibration,
        scores: &[f64],
        positive: &[bool],
        weights: &[f64],
    ) -> CalibrationMap {
        match kind {
            Calibration::Sigmoid => {
                let (a, b) = fit_sigmoid(scores, positive, weights);
                CalibrationMap::Sigmoid { a, b }
            }
            Calibration::Isotonic => {
                // The targets of Platt scaling, so that no probability is exactly zero or one.
                let (high, low) = targets(positive, weights);
                let targets: Vec<f64> =
                    positive.iter().map(|p| if *p { high } else { low }).collect();
                CalibrationMap::Isotonic(Isotonic::fit(scores, &targets, weights))
            }
            Calibration::VennAbers => {
                CalibrationMap::VennAbers(VennAbers::fit(scores, positive, weights))
            }
        }
    }

    /// Fits the map to the negated decision values and labels.
    pub(crate) fn fit_negated(
        kind: Calibration,
        scores: &[f64],
        positive: &[bool],
        weights: &[f64],
    ) -> CalibrationMap {
        let scores: Vec<f64> = scores.iter().map(|s| -s).collect();
        let positive: Vec<bool> = positive.iter().map(|p| !p).collect();
        CalibrationMap::fit(kind, &scores, &positive, weights)
    }

    /// `log P` and `log (1 − P)` at a decision value.
    pub(crate) fn log_probabilities(&self, decision: f64) -> (f64, f64) {
        let probability = match self {
            CalibrationMap::Sigmoid { a, b } => {
                let z = a * decision + b;
                return (-softplus(z), -softplus(-z));
            }
            CalibrationMap::Isotonic(steps) => steps.at(decision),
            CalibrationMap::VennAbers(steps) => steps.at(decision),
        };
        let logistic = (-softplus(-decision)).exp();
        let mixed = probability + LOGISTIC_WEIGHT * (logistic - probability);
        (mixed.ln(), (-mixed).ln_1p())
    }

    /// Whether the parameters are those of a map to probabilities.
    pub(crate) fn is_valid(&self) -> bool {
        match self {
            CalibrationMap::Sigmoid { a, b } => a.is_finite() && b.is_finite(),
            CalibrationMap::Isotonic(steps) => steps.is_valid() && !steps.scores.is_empty(),
            CalibrationMap::VennAbers(steps) => steps.is_valid(),
        }
    }
}

/// Whether there is one valid map per decision function, or none at all.
pub(crate) fn maps_are_valid(maps: Option<&[CalibrationMap]>, n_decisions: usize) -> bool {
    maps.is_none_or(|maps| maps.len() == n_decisions && maps.iter().all(CalibrationMap::is_valid))
}

/// The error for probabilities of a model that was trained without them.
pub(crate) fn not_calibrated(estimator: &str) -> Error {
    Error::Unable {
        estimator: estimator.into(),
        what: "predict probabilities: train it with `probability` set to true".into(),
    }
}

/// `log (1 + eᶻ)` without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn maps_increase_and_negated_maps_agree() {
        let mut random = Random::new(3);
        let scores: Vec<f64> = (0..200).map(|_| 2.0 * random.normal()).collect();
        let positive: Vec<bool> = scores.iter().map(|s| random.normal() < *s).collect();
        let weights = vec![1.0; 200];
        for kind in [Calibration::Sigmoid, Calibration::Isotonic, Calibration::VennAbers] {
            let map = CalibrationMap::fit(kind, &scores, &positive, &weights);
            let negated = CalibrationMap::fit_negated(kind, &scores, &positive, &weights);

            assert!(map.is_valid() && negated.is_valid());
            let mut last = f64::NEG_INFINITY;
            for k in -80..=80 {
                let d = 0.1 * f64::from(k) + 0.003;
                let (log_p, log_q) = map.log_probabilities(d);
                assert!(log_p > last, "{kind:?} at {d}");
                assert!((log_p.exp() + log_q.exp() - 1.0).abs() < 1e-12);
                assert!((negated.log_probabilities(-d).1 - log_p).abs() < 1e-6, "{kind:?} at {d}");
                last = log_p;
            }
        }
    }
}
