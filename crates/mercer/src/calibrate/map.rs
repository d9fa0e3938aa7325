//! Probabilities from decisions.
//!
//! What a machine would have said of each row without it ([`crate::svm::leave_one_out`]) and which side the row is on give
//! a map from decisions to probabilities: a sigmoid, the best rising function, or two of them. Nothing is drawn at
//! random and nothing is fitted twice.

use super::isotonic::Isotonic;
use super::platt::{sigmoid, targets};
use super::venn_abers::VennAbers;
use crate::choice;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// The share of the decision's own logistic function in a map made of steps: nobody sees it, but on a level
/// stretch the farther decision is the more probable one.
const TILT: f64 = 1e-9;

choice! {
    /// How decisions become probabilities.
    pub enum Calibration {
        /// By a sigmoid.
        Sigmoid = "sigmoid",
        /// By the best function that rises.
        Isotonic = "isotonic",
        /// By two such functions, with the new row once on either side.
        VennAbers = "venn-abers",
    }
}

/// From a decision to the probability that it is right to be above zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CalibrationMap {
    /// `1 / (1 + exp(a d + b))`.
    Sigmoid {
        /// The slope, mostly below zero.
        a: f64,
        /// The constant.
        b: f64,
    },
    /// A rising function.
    Isotonic(Isotonic),
    /// Two of them.
    VennAbers(VennAbers),
}

impl CalibrationMap {
    /// The map of a class that nobody showed, which is never asked.
    pub(crate) fn unasked() -> CalibrationMap {
        CalibrationMap::Sigmoid { a: 0.0, b: 0.0 }
    }

    /// The map of decisions made without the row itself, with the side and the weight of each row.
    pub(crate) fn fit(
        kind: Calibration,
        scores: &[f64],
        positive: &[bool],
        weights: &[f64],
    ) -> CalibrationMap {
        match kind {
            Calibration::Sigmoid => {
                let (a, b) = sigmoid(scores, positive, weights);
                CalibrationMap::Sigmoid { a, b }
            }
            Calibration::Isotonic => {
                // The sigmoid's targets: no share is one or zero by the rows there happen to be.
                let (high, low) = targets(positive, weights);
                let of: Vec<f64> = positive.iter().map(|p| if *p { high } else { low }).collect();
                CalibrationMap::Isotonic(Isotonic::fit(scores, &of, weights))
            }
            Calibration::VennAbers => {
                CalibrationMap::VennAbers(VennAbers::fit(scores, positive, weights))
            }
        }
    }

    /// The same with the decision and its sense turned round: `log P` and `log (1 − P)` trade places.
    pub(crate) fn fit_mirrored(
        kind: Calibration,
        scores: &[f64],
        positive: &[bool],
        weights: &[f64],
    ) -> CalibrationMap {
        let scores: Vec<f64> = scores.iter().map(|s| -s).collect();
        let positive: Vec<bool> = positive.iter().map(|p| !p).collect();
        CalibrationMap::fit(kind, &scores, &positive, weights)
    }

    /// `log P` and `log (1 − P)` at a decision.
    pub(crate) fn log_chances(&self, decision: f64) -> (f64, f64) {
        let share = match self {
            CalibrationMap::Sigmoid { a, b } => {
                let z = a * decision + b;
                return (-softplus(z), -softplus(-z));
            }
            CalibrationMap::Isotonic(steps) => steps.at(decision),
            CalibrationMap::VennAbers(steps) => steps.at(decision),
        };
        let logistic = (-softplus(-decision)).exp();
        let tilted = share + TILT * (logistic - share);
        (tilted.ln(), (-tilted).ln_1p())
    }

    /// Whether it is a map to probabilities.
    pub(crate) fn fits(&self) -> bool {
        match self {
            CalibrationMap::Sigmoid { a, b } => a.is_finite() && b.is_finite(),
            CalibrationMap::Isotonic(steps) => steps.fits() && !steps.scores.is_empty(),
            CalibrationMap::VennAbers(steps) => steps.fits(),
        }
    }
}

/// Whether there are as many maps as decisions, and maps to probabilities; or none.
pub(crate) fn maps_fit(maps: Option<&[CalibrationMap]>, n_decisions: usize) -> bool {
    maps.is_none_or(|maps| maps.len() == n_decisions && maps.iter().all(CalibrationMap::fits))
}

/// The refusal of probabilities that were not learned.
pub(crate) fn not_calibrated(estimator: &str) -> Error {
    Error::Unable {
        estimator: estimator.into(),
        what: "give probabilities: train with `probability` set to true".into(),
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
    fn maps_rise_and_their_mirrors_fall() {
        let mut random = Random::new(3);
        let scores: Vec<f64> = (0..200).map(|_| 2.0 * random.normal()).collect();
        let positive: Vec<bool> = scores.iter().map(|s| random.normal() < *s).collect();
        let weights = vec![1.0; 200];
        for kind in [Calibration::Sigmoid, Calibration::Isotonic, Calibration::VennAbers] {
            let map = CalibrationMap::fit(kind, &scores, &positive, &weights);
            let mirrored = CalibrationMap::fit_mirrored(kind, &scores, &positive, &weights);

            assert!(map.fits() && mirrored.fits());
            let mut last = f64::NEG_INFINITY;
            for k in -80..=80 {
                let d = 0.1 * f64::from(k) + 0.003;
                let (log_p, log_q) = map.log_chances(d);
                assert!(log_p > last, "{kind:?} at {d}");
                assert!((log_p.exp() + log_q.exp() - 1.0).abs() < 1e-12);
                assert!((mirrored.log_chances(-d).1 - log_p).abs() < 1e-6, "{kind:?} at {d}");
                last = log_p;
            }
        }
    }
}
