//! A normal density per class: `p(x | c) = N(x; mean_c, variance_c)`.

use super::{Density, NumericColumn, short};
use mercer_num::random::Random;
use mercer_num::special::normal_log_density;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Mean and variance of each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gaussian {
    /// The means.
    pub means: Vec<f64>,
    /// The variances, smoothing included.
    pub variances: Vec<f64>,
}

impl Gaussian {
    /// The densities of a column. Variances are divided by the weight minus `ddof`, and `smoothing` times the variance
    /// of all classes is added. A class without values gets the density of all classes.
    pub(crate) fn fit(column: &NumericColumn<'_>, ddof: f64, smoothing: f64) -> Gaussian {
        let floor = smoothing * column.variance;
        let spread = if column.variance > 0.0 { column.variance } else { 1.0 };
        let density = |c: usize| match column.weights[c] {
            w if w > ddof && column.squares[c] > 0.0 => {
                (column.means[c], column.squares[c] / (w - ddof) + floor)
            }
            // A single value has variance zero: only smoothing remains.
            w if w > 0.0 && floor > 0.0 => (column.means[c], floor),
            _ => (column.mean, spread),
        };
        let (means, variances) = (0..column.weights.len()).map(density).unzip();
        Gaussian { means, variances }
    }

    /// The leave-one-out log-likelihood of the column.
    pub(crate) fn leave_one_out(
        &self,
        column: &NumericColumn<'_>,
        ddof: f64,
        smoothing: f64,
    ) -> f64 {
        let floor = (smoothing * column.variance).max(f64::MIN_POSITIVE);
        let values = column.values.values();
        column.leave_one_out(|c, at| {
            let (w, x) = (column.weights[c], values[at]);
            let d = x - column.means[c];
            let squares = (column.squares[c] - d * d * w / (w - 1.0)).max(0.0);
            let weight = (w - 1.0 - ddof).max(1.0);
            normal_log_density(x, column.mean_without(c, x), squares / weight + floor)
        })
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.means.len() == n_classes
            && self.variances.len() == n_classes
            && self.means.iter().all(|m| m.is_finite())
            && self.variances.iter().all(|v| v.is_finite() && (1.0 / v).is_finite() && *v > 0.0)
    }
}

impl Density for Gaussian {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        let densities: Vec<(f64, f64, f64)> = (self.means.iter().zip(&self.variances))
            .map(|(m, v)| (*m, -0.5 * (TAU * v).ln(), -0.5 / v))
            .collect();
        move |x, scores| {
            for (score, (mean, peak, scale)) in scores.iter_mut().zip(&densities) {
                let d = x - mean;
                *score += peak + scale * (d * d);
            }
        }
    }

    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        self.means[class] + self.variances[class].sqrt() * random.normal()
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let (mean, variance) = (self.means[class], self.variances[class]);
        format!(
            "N({}; mean {}, variance {}) = {}",
            short(x),
            short(mean),
            short(variance),
            short(normal_log_density(x, mean, variance).exp())
        )
    }
}
