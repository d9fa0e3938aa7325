//! Counts of one thing among several: `xⱼ log ((n_cj + α) / (n_c + α D))`, as in a bag of words.

use super::{Curve, log_probability, short};
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The share of the thing among all things counted, class by class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// How often it was counted.
    pub counts: Vec<f64>,
    /// How often anything of its kind was counted.
    pub totals: Vec<f64>,
    /// What is added to each count.
    pub alpha: f64,
    /// How many kinds of things there are.
    pub n_things: usize,
    /// The logarithm of the shares.
    pub log_probabilities: Vec<f64>,
}

impl Counted {
    /// The shares of one thing.
    pub(crate) fn new(counts: Vec<f64>, totals: Vec<f64>, alpha: f64, n_things: usize) -> Counted {
        let added = alpha * n_things as f64;
        let log_probabilities = counts
            .iter()
            .zip(&totals)
            .map(|(n, t)| log_probability(n + alpha, t + added))
            .collect();
        Counted { counts, totals, alpha, n_things, log_probabilities }
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.counts.len() == n_classes
            && self.totals.len() == n_classes
            && self.log_probabilities.len() == n_classes
            && self.counts.iter().chain(&self.totals).all(|n| n.is_finite() && *n >= 0.0)
            && self.alpha.is_finite()
            && self.alpha >= 0.0
            && self.log_probabilities.iter().all(|p| !p.is_nan() && *p <= 1e-9)
    }
}

impl Curve for Counted {
    fn adder(&self) -> impl Fn(f64, &mut [f64]) {
        move |x, scores| {
            // Nothing counted adds nothing, even where the share is zero.
            if x != 0.0 {
                scores.iter_mut().zip(&self.log_probabilities).for_each(|(s, p)| *s += x * p);
            }
        }
    }

    /// How many there are in a bag is not part of the model; a share of a hundred is an example.
    fn sample(&self, class: usize, _random: &mut Random) -> f64 {
        (100.0 * self.log_probabilities[class].exp()).round()
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let added = self.alpha * self.n_things as f64;
        format!(
            "(({} + {}) / ({} + {}))^{} = {}",
            short(self.counts[class]),
            short(self.alpha),
            short(self.totals[class]),
            short(added),
            short(x),
            short((x * self.log_probabilities[class]).exp())
        )
    }
}
