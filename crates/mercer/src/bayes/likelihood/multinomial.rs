//! One count of a multinomial distribution over several columns: `xⱼ log ((n_cj + α) / (n_c + α D))`.

use super::{Density, is_log_probability, log_probability, short};
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The probability of one of the columns, for every class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multinomial {
    /// The total count of the column in each class.
    pub counts: Vec<f64>,
    /// The total count of all columns in each class.
    pub totals: Vec<f64>,
    /// The smoothing.
    pub alpha: f64,
    /// The number of columns, `D`.
    pub n_columns: usize,
    /// The logarithms of the probabilities.
    pub log_probabilities: Vec<f64>,
}

impl Multinomial {
    /// The smoothed probabilities of one column.
    pub(crate) fn new(
        counts: Vec<f64>,
        totals: Vec<f64>,
        alpha: f64,
        n_columns: usize,
    ) -> Multinomial {
        let total_alpha = alpha * n_columns as f64;
        let log_probabilities = counts
            .iter()
            .zip(&totals)
            .map(|(n, t)| log_probability(n + alpha, t + total_alpha))
            .collect();
        Multinomial { counts, totals, alpha, n_columns, log_probabilities }
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.counts.len() == n_classes
            && self.totals.len() == n_classes
            && self.log_probabilities.len() == n_classes
            && self.counts.iter().chain(&self.totals).all(|n| n.is_finite() && *n >= 0.0)
            && self.alpha.is_finite()
            && self.alpha >= 0.0
            && self.log_probabilities.iter().all(|p| is_log_probability(*p))
    }
}

impl Density for Multinomial {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        move |x, scores| {
            // A count of zero has a factor of one, even if the probability is zero.
            if x != 0.0 {
                scores.iter_mut().zip(&self.log_probabilities).for_each(|(s, p)| *s += x * p);
            }
        }
    }

    /// The total count of a row is not part of the model: the expected count out of 100 is returned.
    fn sample(&self, class: usize, _random: &mut Random) -> f64 {
        (100.0 * self.log_probabilities[class].exp()).round()
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let total_alpha = self.alpha * self.n_columns as f64;
        format!(
            "(({} + {}) / ({} + {}))^{} = {}",
            short(self.counts[class]),
            short(self.alpha),
            short(self.totals[class]),
            short(total_alpha),
            short(x),
            short((x * self.log_probabilities[class]).exp())
        )
    }
}
