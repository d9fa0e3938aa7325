//! A Poisson distribution per class: `P(x | c) = rate_cˣ exp(−rate_c) / x!`.

use super::exponential::min_mean;
use super::{Density, NumericColumn, short};
use mercer_num::random::Random;
use mercer_num::special::ln_gamma;
use serde::{Deserialize, Serialize};

/// The rate of each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// The rates, which are the means.
    pub rates: Vec<f64>,
}

impl Poisson {
    /// The rates of a column of counts; a class without values gets the rate of all classes.
    pub(crate) fn fit(column: &NumericColumn<'_>, smoothing: f64) -> Poisson {
        let min_mean = min_mean(column, smoothing);
        let rate = |c: usize| if column.weights[c] > 0.0 { column.means[c] } else { column.mean };
        Poisson { rates: (0..column.weights.len()).map(|c| rate(c).max(min_mean)).collect() }
    }

    /// The leave-one-out log-likelihood of the column.
    pub(crate) fn leave_one_out(column: &NumericColumn<'_>, smoothing: f64) -> f64 {
        let min_mean = min_mean(column, smoothing);
        let values = column.values.values();
        column.leave_one_out(|c, at| {
            log_mass(values[at], column.mean_without(c, values[at]).max(min_mean))
        })
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.rates.len() == n_classes && self.rates.iter().all(|r| r.is_finite() && *r > 0.0)
    }
}

fn log_mass(x: f64, rate: f64) -> f64 {
    if x < 0.0 { f64::NEG_INFINITY } else { x * rate.ln() - rate - ln_gamma(x + 1.0) }
}

impl Density for Poisson {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        let rates: Vec<(f64, f64)> = self.rates.iter().map(|r| (*r, r.ln())).collect();
        move |x, scores| {
            let log_factorial = if x < 0.0 { f64::INFINITY } else { ln_gamma(x + 1.0) };
            for (score, (rate, log_rate)) in scores.iter_mut().zip(&rates) {
                *score += x * log_rate - rate - log_factorial;
            }
        }
    }

    /// Knuth's method in parts with a rate of at most 500, so that the product does not underflow.
    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let mut events = 0.0;
        let mut rate = self.rates[class];
        // The normal approximation for large rates.
        if rate > 1e4 {
            return (rate + rate.sqrt() * random.normal()).round().max(0.0);
        }
        while rate > 0.0 {
            let part = rate.min(500.0);
            rate -= part;
            let mut product = random.uniform();
            while product > (-part).exp() {
                product *= random.uniform();
                events += 1.0;
            }
        }
        events
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let rate = self.rates[class];
        format!("Poisson({}; mean {}) = {}", short(x), short(rate), short(log_mass(x, rate).exp()))
    }
}
