//! Waiting times: `p(x | c) = exp(−x / mean_c) / mean_c` for `x ≥ 0`.

use super::{Curve, Numbers, short};
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// How long each class waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// The means.
    pub means: Vec<f64>,
}

impl Exponential {
    /// The curves of a column without negative numbers; a class that saw nothing takes that of all.
    pub(crate) fn fit(column: &Numbers<'_>, smoothing: f64) -> Exponential {
        let floor = floor(column, smoothing);
        let mean = |c: usize| if column.weights[c] > 0.0 { column.means[c] } else { column.mean };
        Exponential { means: (0..column.weights.len()).map(|c| mean(c).max(floor)).collect() }
    }

    pub(crate) fn held_out(column: &Numbers<'_>, smoothing: f64) -> f64 {
        let floor = floor(column, smoothing);
        let values = column.tally.values();
        column.held_out(|c, at| {
            log_density(values[at], column.mean_without(c, values[at]).max(floor))
        })
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.means.len() == n_classes && self.means.iter().all(|m| m.is_finite() && *m > 0.0)
    }
}

/// No mean is zero: a class that waited for nothing may have to wait for once.
pub(super) fn floor(column: &Numbers<'_>, smoothing: f64) -> f64 {
    (smoothing * column.mean).max(f64::MIN_POSITIVE)
}

fn log_density(x: f64, mean: f64) -> f64 {
    if x < 0.0 { f64::NEG_INFINITY } else { -mean.ln() - x / mean }
}

impl Curve for Exponential {
    fn adder(&self) -> impl Fn(f64, &mut [f64]) {
        let curves: Vec<(f64, f64)> = self.means.iter().map(|m| (-m.ln(), 1.0 / m)).collect();
        move |x, scores| {
            for (score, (peak, rate)) in scores.iter_mut().zip(&curves) {
                *score += if x < 0.0 { f64::NEG_INFINITY } else { peak - x * rate };
            }
        }
    }

    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        -self.means[class] * (1.0 - random.uniform()).ln()
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let mean = self.means[class];
        let p = log_density(x, mean).exp();
        format!("Exponential({}; mean {}) = {}", short(x), short(mean), short(p))
    }
}
