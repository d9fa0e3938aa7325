//! Learning rate schedules and averaged SGD (Bottou 2012; Polyak & Juditsky 1992).

use crate::choice;
use crate::error::{Error, Result};
use crate::model::{ParamValue, Rule};
use serde::{Deserialize, Serialize};

choice! {
    /// The learning rate schedule: the step size of update `t`.
    pub enum LearningRate {
        /// `eta0`.
        Constant = "constant",
        /// `1 / (alpha (t₀ + t))` for update `t` (Bottou 2012).
        Optimal = "optimal",
        /// `eta0 / t^power_t`.
        InvScaling = "invscaling",
        /// `eta0`, divided by five after every `n_iter_no_change` epochs that improve by less than `tol`.
        Adaptive = "adaptive",
        /// The passive-aggressive step of the row, at most `eta0` (PA-I).
        Pa1 = "pa1",
        /// The passive-aggressive step of the row with squared slack, of which a smaller `eta0` takes less (PA-II).
        Pa2 = "pa2",
    }
}

impl LearningRate {
    /// Whether the step size follows from the loss of the row.
    pub(crate) fn is_passive_aggressive(self) -> bool {
        matches!(self, LearningRate::Pa1 | LearningRate::Pa2)
    }
}

/// A learning rate schedule with its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSize {
    pub rate: LearningRate,
    pub eta0: f64,
    pub power_t: f64,
    /// The regularization strength, which `optimal` depends on.
    pub alpha: f64,
}

impl StepSize {
    /// The step size of update `t`, counted from one; for `adaptive`, the initial one.
    pub fn at(&self, t: f64) -> f64 {
        match self.rate {
            LearningRate::Optimal => {
                // Bottou's heuristic: the first step moves a zero weight to a typical magnitude for this penalty.
                let typical = (1.0 / self.alpha.sqrt()).sqrt();
                let first = 1.0 / (typical * self.alpha);
                1.0 / (self.alpha * (first + t - 1.0))
            }
            LearningRate::InvScaling => self.eta0 / t.powf(self.power_t),
            _ => self.eta0,
        }
    }

    /// Refuses `optimal` without a regularization strength.
    pub fn check(&self) -> Result<()> {
        if self.rate == LearningRate::Optimal && self.alpha <= 0.0 {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: self.alpha.to_string(),
                expected: "above 0 if learning_rate is `optimal`, which is 1 / (alpha (t0 + t))"
                    .into(),
            });
        }
        Ok(())
    }
}

/// Whether the model holds the average of the weights over the updates, and from which update on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Average {
    /// From the first update, or not at all.
    Switch(bool),
    /// From this update on.
    From(usize),
}

impl Average {
    /// The first update that enters the average.
    pub(crate) fn first(self) -> Option<u64> {
        match self {
            Average::Switch(on) => on.then_some(1),
            Average::From(first) => Some(first as u64),
        }
    }
}

impl ParamValue for Average {
    const TYPE: &'static str = "bool or int";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            Average::Switch(_) => true,
            Average::From(first) => first.obeys(rule),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_follow_their_formulas() {
        let step_size = |rate| StepSize { rate, eta0: 0.5, power_t: 0.5, alpha: 0.01 };

        assert_eq!(step_size(LearningRate::Constant).at(100.0), 0.5);
        assert_eq!(step_size(LearningRate::InvScaling).at(4.0), 0.25);
        // The typical weight is (1/√0.01)^½ = √10, and so is the first step size.
        let first = step_size(LearningRate::Optimal).at(1.0);
        assert!((first - 10f64.sqrt()).abs() < 1e-12);
        let later = step_size(LearningRate::Optimal).at(1001.0);
        assert!((1.0 / later - (1.0 / first + 0.01 * 1000.0)).abs() < 1e-9);
    }
}
