//! Whole numbers of rare events: `P(x | c) = rate_cˣ exp(−rate_c) / x!`.

use super::exponential::floor;
use super::{Curve, Numbers, short};
use mercer_num::random::Random;
use mercer_num::special::ln_gamma;
use serde::{Deserialize, Serialize};

/// How many events each class has on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// The means.
    pub rates: Vec<f64>,
}

impl Poisson {
    /// The rates of a column of whole numbers from zero; a class that saw nothing takes that of all.
    pub(crate) fn fit(column: &Numbers<'_>, smoothing: f64) -> Poisson {
        let floor = floor(column, smoothing);
        let rate = |c: usize| if column.weights[c] > 0.0 { column.means[c] } else { column.mean };
        Poisson { rates: (0..column.weights.len()).map(|c| rate(c).max(floor)).collect() }
    }

    pub(crate) fn held_out(column: &Numbers<'_>, smoothing: f64) -> f64 {
        let floor = floor(column, smoothing);
        let values = column.tally.values();
        column.held_out(|c, at| log_mass(values[at], column.mean_without(c, values[at]).max(floor)))
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.rates.len() == n_classes && self.rates.iter().all(|r| r.is_finite() && *r > 0.0)
    }
}

fn log_mass(x: f64, rate: f64) -> f64 {
    if x < 0.0 { f64::NEG_INFINITY } else { x * rate.ln() - rate - ln_gamma(x + 1.0) }
}

impl Curve for Poisson {
    fn adder(&self) -> impl Fn(f64, &mut [f64]) {
        let rates: Vec<(f64, f64)> = self.rates.iter().map(|r| (*r, r.ln())).collect();
        move |x, scores| {
            let ways = if x < 0.0 { f64::INFINITY } else { ln_gamma(x + 1.0) };
            for (score, (rate, log_rate)) in scores.iter_mut().zip(&rates) {
                *score += x * log_rate - rate - ways;
            }
        }
    }

    /// Counts arrivals of waiting times, in pieces small enough for the product not to vanish.
    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let mut events = 0.0;
        let mut rate = self.rates[class];
        // Many events are all but a bell curve.
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
