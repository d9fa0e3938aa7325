//! The time of a comparison: what the next fits of a candidate will cost, extrapolated from its earlier ones.

use crate::catalog::{Capability, Card};

/// Shorter fits say nothing about how the time grows with the rows.
const MIN_MEASURED_SECONDS: f64 = 0.01;
/// The exponents of the number of rows that are believed.
const MIN_GROWTH: f64 = 1.0;
const MAX_GROWTH: f64 = 3.0;

/// The training rows and the seconds of one fit with its predictions, in each round so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    fits: Vec<(f64, f64)>,
}

impl Cost {
    /// Adds what a fit to so many rows took on average.
    pub fn record(&mut self, n_rows: usize, seconds: f64) {
        self.fits.push((n_rows.max(1) as f64, seconds));
    }

    /// The expected seconds of one fit to so many rows; `None` before the first round. The time grows with a power of the
    /// rows: that of the last two rounds, or the square for kernel methods and the first power for others.
    pub fn of_fit(&self, n_rows: usize, card: &Card) -> Option<f64> {
        let (last_rows, last_seconds) = *self.fits.last()?;
        let growth = match self.fits.as_slice() {
            [.., (rows, seconds), _] if *seconds >= MIN_MEASURED_SECONDS && *rows < last_rows => {
                let growth = (last_seconds / seconds).ln() / (last_rows / rows).ln();
                growth.clamp(MIN_GROWTH, MAX_GROWTH)
            }
            _ if card.can(Capability::MemoryPlan) => 2.0,
            _ => 1.0,
        };
        Some(last_seconds * (n_rows as f64 / last_rows).powf(growth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Estimator;

    #[test]
    fn the_time_grows_with_the_measured_power_of_the_rows() {
        let estimator = Estimator::from_id("kernel-ridge").unwrap();
        let mut cost = Cost::default();
        assert_eq!(cost.of_fit(1000, estimator.card()), None);

        cost.record(1000, 1.0);
        assert_eq!(cost.of_fit(2000, estimator.card()), Some(4.0));

        // Eight times the seconds for twice the rows: the third power.
        cost.record(2000, 8.0);
        let seconds = cost.of_fit(4000, estimator.card()).unwrap();
        assert!((seconds - 64.0).abs() < 1e-9, "{seconds}");
    }
}
