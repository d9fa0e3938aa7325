//! An exponential density per class: `p(x | c) = exp(−x / mean_c) / mean_c` for `x ≥ 0`.

use super::{Density, NumericColumn, short};
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The mean of each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// The means.
    pub means: Vec<f64>,
}

impl Exponential {
    /// The densities of a column of nonnegative values; a class without values gets the mean of all classes.
    pub(crate) fn fit(column: &NumericColumn<'_>, smoothing: f64) -> Exponential {
        let min_mean = min_mean(column, smoothing);
        let mean = |c: usize| if column.weights[c] > 0.0 { column.means[c] } else { column.mean };
        Exponential { means: (0..column.weights.len()).map(|c| mean(c).max(min_mean)).collect() }
    }

    /// The leave-one-out log-likelihood of the column.
    pub(crate) fn leave_one_out(column: &NumericColumn<'_>, smoothing: f64) -> f64 {
        let min_mean = min_mean(column, smoothing);
        let values = column.values.values();
        column.leave_one_out(|c, at| {
            log_density(values[at], column.mean_without(c, values[at]).max(min_mean))
        })
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.means.len() == n_classes && self.means.iter().all(|m| m.is_finite() && *m > 0.0)
    }
}

/// The smallest mean, which keeps densities finite for a class of zeros.
pub(super) fn min_mean(column: &NumericColumn<'_>, smoothing: f64) -> f64 {
    (smoothing * column.mean).max(f64::MIN_POSITIVE)
}

fn log_density(x: f64, mean: f64) -> f64 {
    if x < 0.0 { f64::NEG_INFINITY } else { -mean.ln() - x / mean }
}

impl Density for Exponential {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        let densities: Vec<(f64, f64)> = self.means.iter().map(|m| (-m.ln(), 1.0 / m)).collect();
        move |x, scores| {
            for (score, (peak, rate)) in scores.iter_mut().zip(&densities) {
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
