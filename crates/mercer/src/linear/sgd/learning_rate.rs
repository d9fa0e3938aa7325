//! How long the steps are.

use crate::choice;
use crate::error::{Error, Result};
use crate::model::{ParamValue, Rule};
use serde::{Deserialize, Serialize};

choice! {
    /// How long the steps are, from the first to the last.
    pub enum LearningRate {
        /// `eta0`.
        Constant = "constant",
        /// `1 / (alpha (t₀ + t))` for the `t`-th row (Bottou 2012).
        Optimal = "optimal",
        /// `eta0 / t^power_t`.
        InvScaling = "invscaling",
        /// `eta0`, a fifth of it after every `n_iter_no_change` passes that gain less than `tol`.
        Adaptive = "adaptive",
        /// As long as the row needs, and no longer than `eta0` (passive-aggressive I).
        Pa1 = "pa1",
        /// As long as the row needs, drawn back the more the smaller `eta0` (passive-aggressive II).
        Pa2 = "pa2",
    }
}

impl LearningRate {
    /// Whether the row itself says how long its step is.
    pub(crate) fn by_row(self) -> bool {
        matches!(self, LearningRate::Pa1 | LearningRate::Pa2)
    }
}

/// Steps of a length that depends on how many were taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSize {
    pub rate: LearningRate,
    pub eta0: f64,
    pub power_t: f64,
    /// The price that `optimal` follows.
    pub alpha: f64,
}

impl StepSize {
    /// The length of step `t`, counted from one; where it adapts, the one it begins with.
    pub fn at(&self, t: f64) -> f64 {
        match self.rate {
            LearningRate::Optimal => {
                // The first step brings a weight of zero to the size that weights have at this price.
                let typical = (1.0 / self.alpha.sqrt()).sqrt();
                let first = 1.0 / (typical * self.alpha);
                1.0 / (self.alpha * (first + t - 1.0))
            }
            LearningRate::InvScaling => self.eta0 / t.powf(self.power_t),
            _ => self.eta0,
        }
    }

    /// Refuses `optimal` without a price to follow.
    pub fn check(&self) -> Result<()> {
        if self.rate == LearningRate::Optimal && self.alpha <= 0.0 {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: self.alpha.to_string(),
                expected: "above 0 where learning_rate is `optimal`, which follows it".into(),
            });
        }
        Ok(())
    }
}

/// Whether what is kept is the mean of the weights over the steps, and from which step on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Average {
    /// From the first, or not at all.
    Switch(bool),
    /// From this step on.
    From(usize),
}

impl Average {
    /// The first step that counts.
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
    fn steps_grow_shorter_as_the_lecture_says() {
        let pace = |rate| StepSize { rate, eta0: 0.5, power_t: 0.5, alpha: 0.01 };

        assert_eq!(pace(LearningRate::Constant).at(100.0), 0.5);
        assert_eq!(pace(LearningRate::InvScaling).at(4.0), 0.25);
        // A typical weight is (1/√0.01)^½ = √10; the first step has that length.
        let first = pace(LearningRate::Optimal).at(1.0);
        assert!((first - 10f64.sqrt()).abs() < 1e-12);
        let later = pace(LearningRate::Optimal).at(1001.0);
        assert!((1.0 / later - (1.0 / first + 0.01 * 1000.0)).abs() < 1e-9);
    }
}
