//! Where the log-densities of known rows lie: what a stranger is measured by.

use crate::error::{Error, Result};
use crate::probability::check_probability;
use crate::stats::{GroupValueCounts, Grouped};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};

/// How often each log-density occurs, in bounded memory; a thousand rows are kept exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Densities {
    tally: GroupValueCounts,
}

impl Densities {
    /// Those of some rows.
    pub fn of(log_densities: &[f64]) -> Densities {
        // A row that no class allows is as strange as can be, which is no number.
        let lowest = |d: &f64| if *d == f64::NEG_INFINITY { f64::MIN } else { *d };
        let column: Vec<f64> = log_densities.iter().map(lowest).collect();
        let n = column.len();
        let column = Matrix::from_shape_fn((n, 1), |(i, _)| column[i]);
        Densities { tally: GroupValueCounts::of_columns(&column, &vec![0; n], &[], 1) }
    }

    /// Adds those of other rows.
    pub fn merge(&mut self, other: &Densities) {
        if self.n_rows() == 0 {
            *self = other.clone();
        } else if other.n_rows() > 0 {
            self.tally.merge_group(0, &other.tally, 0);
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.tally.columns.first().map_or(0, |tally| tally.counts().sum() as u64)
    }

    /// The log-density below which a row is called a stranger: at most a share of the known rows lie
    /// below it.
    ///
    /// ```
    /// let known = mercer::decision::Densities::of(&[-1.0, -2.0, -9.0, -1.5, -3.0]);
    /// assert_eq!(known.threshold(0.2)?, -3.0);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are no rows, or the share is none.
    pub fn threshold(&self, share: f64) -> Result<f64> {
        check_probability(|| "the share of outliers".into(), share)?;
        let Some(tally) = self.tally.columns.first().filter(|_| self.n_rows() > 0) else {
            return Err(Error::NoRows);
        };
        let counts = tally.counts();
        // A tenth of ten rows is one, whatever a tenth rounds to.
        let below = (share * counts.sum() * (1.0 + 1e-12)).floor();
        let mut seen = 0.0;
        for (low, n) in tally.cells().iter().zip(&counts) {
            seen += n;
            if seen > below {
                return Ok(*low);
            }
        }
        Ok(f64::INFINITY)
    }

    /// Refuses what no rows could have given.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<()> {
        if self.tally.shape() != (1, 1) {
            return Err(Error::File("log-densities that are not of one column".into()));
        }
        self.tally.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::outlier_threshold;
    use mercer_num::random::Random;

    #[test]
    fn few_rows_are_exact_and_many_nearly_so() {
        let mut random = Random::new(2);
        let many: Vec<f64> = (0..20_000).map(|_| -30.0 + 5.0 * random.normal()).collect();
        for (known, slack) in [(&many[..900], 0.0), (&many[..], 0.002)] {
            for share in [0.0, 0.001, 0.01, 0.5, 1.0] {
                let exact = outlier_threshold(known, share).unwrap();
                let mut parts = Densities::of(&known[..333]);
                parts.merge(&Densities::of(&known[333..]));

                let found = parts.threshold(share).unwrap();

                // Never above the exact one: no more rows than the share lie below.
                let low = if slack > 0.0 { exact - slack * exact.abs() } else { exact };
                let near = found <= exact && (found >= low || found == exact);
                assert!(near, "{found} {exact}");
                assert_eq!(parts.n_rows(), known.len() as u64);
            }
        }
    }

    #[test]
    fn no_rows_have_no_threshold_and_impossible_rows_are_lowest() {
        assert!(Densities::default().threshold(0.1).is_err());
        assert!(Densities::of(&[-1.0]).threshold(1.5).is_err());
        let known = Densities::of(&[f64::NEG_INFINITY, -1.0, -2.0]);
        assert_eq!(known.threshold(0.34).unwrap(), -2.0);
        assert_eq!(known.threshold(0.0).unwrap(), f64::MIN);
    }
}
