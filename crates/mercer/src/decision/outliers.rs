//! Outlier detection: a threshold on the log-density `log p(x)`, chosen on known rows.
//!
//! A row is an outlier if its log-density is below the threshold, which is the largest value such that at most
//! a given fraction of the known rows lies below it.

use crate::error::{Error, Result};
use crate::probability::check_probability;
use crate::stats::{GroupValueCounts, Grouped};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};

/// The threshold for which at most a fraction of the given log-densities lies below it.
///
/// ```
/// let known = [-1.0, -2.0, -9.0, -1.5, -3.0];
/// // A fifth of five rows is one: only the row at −9 lies below.
/// assert_eq!(mercer::decision::outlier_threshold(&known, 0.2)?, -3.0);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Errors
/// If there are no rows, a log-density is NaN, or the fraction is not between 0 and 1.
pub fn outlier_threshold(log_densities: &[f64], fraction: f64) -> Result<f64> {
    if let Some((row, value)) = log_densities.iter().enumerate().find(|(_, d)| d.is_nan()) {
        return Err(Error::NotFinite { row, column: 0, value: *value });
    }
    let mut sorted = log_densities.to_vec();
    sorted.sort_by(f64::total_cmp);
    threshold_of(sorted.iter().map(|d| (*d, 1.0)), sorted.len() as f64, fraction)
}

/// The threshold of ascending log-densities with their counts, which sum to `n_rows`.
fn threshold_of(
    sorted: impl Iterator<Item = (f64, f64)>,
    n_rows: f64,
    fraction: f64,
) -> Result<f64> {
    check_probability(|| "the fraction of outliers".into(), fraction)?;
    if n_rows == 0.0 {
        return Err(Error::NoRows);
    }
    // A tenth of ten rows is one row, even if 0.1 is rounded down.
    let max_below = (fraction * n_rows * (1.0 + 1e-12)).floor();
    let mut seen = 0.0;
    for (log_density, n) in sorted {
        seen += n;
        if seen > max_below {
            return Ok(log_density);
        }
    }
    Ok(f64::INFINITY)
}

/// The distribution of log-densities of known rows, in bounded memory; a thousand rows are stored exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Densities {
    histogram: GroupValueCounts,
}

impl Densities {
    /// The distribution of some log-densities.
    pub fn of(log_densities: &[f64]) -> Densities {
        // The histogram holds finite values only; density zero becomes the lowest of them.
        let finite = |d: &f64| if *d == f64::NEG_INFINITY { f64::MIN } else { *d };
        let column: Vec<f64> = log_densities.iter().map(finite).collect();
        let n = column.len();
        let column = Matrix::from_shape_fn((n, 1), |(i, _)| column[i]);
        Densities { histogram: GroupValueCounts::of_columns(&column, &vec![0; n], &[], 1) }
    }

    /// Adds the rows of another distribution.
    pub fn merge(&mut self, other: &Densities) {
        if self.n_rows() == 0 {
            *self = other.clone();
        } else if other.n_rows() > 0 {
            self.histogram.merge_group(0, &other.histogram, 0);
        }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.histogram.columns.first().map_or(0, |counts| counts.counts().sum() as u64)
    }

    /// The threshold for which at most a fraction of the known rows lies below it; see [`outlier_threshold`].
    ///
    /// ```
    /// let known = mercer::decision::Densities::of(&[-1.0, -2.0, -9.0, -1.5, -3.0]);
    /// assert_eq!(known.threshold(0.2)?, -3.0);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are no rows, or the fraction is not between 0 and 1.
    pub fn threshold(&self, fraction: f64) -> Result<f64> {
        let Some(column) = self.histogram.columns.first() else {
            return threshold_of(std::iter::empty(), 0.0, fraction);
        };
        let counts = column.counts();
        let cells = column.bins().iter().copied().zip(counts.iter().copied());
        threshold_of(cells, counts.sum(), fraction)
    }

    /// Refuses an invalid distribution, for one that comes from a file.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn check(&self) -> Result<()> {
        if self.histogram.shape() != (1, 1) {
            return Err(Error::File("the log-densities have more than one column".into()));
        }
        self.histogram.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn few_rows_give_the_exact_threshold_and_many_nearly() {
        let mut random = Random::new(2);
        let many: Vec<f64> = (0..20_000).map(|_| -30.0 + 5.0 * random.normal()).collect();
        for (known, slack) in [(&many[..900], 0.0), (&many[..], 0.002)] {
            for fraction in [0.0, 0.001, 0.01, 0.5, 1.0] {
                let exact = outlier_threshold(known, fraction).unwrap();
                let mut parts = Densities::of(&known[..333]);
                parts.merge(&Densities::of(&known[333..]));

                let found = parts.threshold(fraction).unwrap();

                // Never above the exact threshold: at most the fraction of rows lies below.
                let low = if slack > 0.0 { exact - slack * exact.abs() } else { exact };
                let near = found <= exact && (found >= low || found == exact);
                assert!(near, "{found} {exact}");
                assert_eq!(parts.n_rows(), known.len() as u64);
            }
        }
    }

    #[test]
    fn no_rows_have_no_threshold_and_rows_of_density_zero_are_lowest() {
        assert!(Densities::default().threshold(0.1).is_err());
        assert!(Densities::of(&[-1.0]).threshold(1.5).is_err());
        let known = Densities::of(&[f64::NEG_INFINITY, -1.0, -2.0]);
        assert_eq!(known.threshold(0.34).unwrap(), -2.0);
        assert_eq!(known.threshold(0.0).unwrap(), f64::MIN);
    }

    #[test]
    fn invalid_arguments_are_refused() {
        assert!(outlier_threshold(&[], 0.1).is_err());
        assert!(outlier_threshold(&[f64::NAN], 0.1).is_err());
        assert!(outlier_threshold(&[1.0], 1.1).is_err());
        assert_eq!(outlier_threshold(&[1.0, 2.0], 1.0), Ok(f64::INFINITY));
        assert_eq!(outlier_threshold(&[1.0, 2.0], 0.0), Ok(1.0));
    }
}
