//! Independence of two variables, unconditional or given other variables.
//!
//! `A` and `B` are independent given `C` if `p(a, b | c) = p(a | c) p(b | c)` for every cell. For a table of
//! probabilities this can be verified; for counts it is a hypothesis, tested by `G = 2 Σ n log(n / e)` and `χ² = Σ (n −
//! e)² / e` with the expected counts `e` under independence.

use super::{Cells, JointTable};
use crate::error::{Error, Result};
use mercer_num::special::chi_squared_sf;
use serde::Serialize;

/// The dependence of two variables in a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Independence {
    /// The likelihood-ratio statistic.
    pub g: f64,
    /// Pearson's statistic.
    pub chi_squared: f64,
    /// The sum of `(rows − 1)(columns − 1)` over the strata, where only rows and columns with a positive count are
    /// included.
    pub degrees: u64,
    /// The p-value of `G`: the probability of a `G` at least this large under independence.
    pub p_value_g: f64,
    /// The same for `χ²`.
    pub p_value_chi_squared: f64,
    /// The smallest expected count; below five the p-values are inaccurate.
    pub least_expected: f64,
}

/// The numbers of parameters of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FreeParameters {
    /// The number of cells: `k²` for two variables with `k` values.
    pub cells: u64,
    /// One less, because the cells sum to one.
    pub joint: u64,
    /// With independent variables, `Σ (k − 1)`: `2k − 2` for two variables with `k` values.
    pub independent: u64,
}

/// The numbers of free parameters of two variables, summed over the configurations of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PairParameters {
    /// Of their joint distribution: `k² − 1` for `k` values each.
    pub joint: u64,
    /// Of independent variables: `2k − 2`.
    pub independent: u64,
}

impl JointTable {
    /// The numbers of free parameters of two variables given others.
    ///
    /// # Errors
    /// If a variable is unknown or repeated.
    pub fn pair_parameters(&self, a: &str, b: &str, given: &[&str]) -> Result<PairParameters> {
        let size = |name: &str| self.variable(name).map(|v| v.values.len() as u64);
        let (k, m) = (size(a)?, size(b)?);
        let strata = given.iter().map(|name| size(name)).product::<Result<u64>>()?;
        Ok(PairParameters { joint: strata * (k * m - 1), independent: strata * (k + m - 2) })
    }

    /// The numbers of parameters of the table, and of one with independent variables.
    pub fn free_parameters(&self) -> FreeParameters {
        let sizes = self.variables.iter().map(|v| v.values.len() as u64);
        let cells = self.cells.len() as u64;
        FreeParameters { cells, joint: cells - 1, independent: sizes.map(|k| k - 1).sum() }
    }

    /// The largest `|p(a, b | c) − p(a | c) p(b | c)|` of any cell; zero under independence.
    ///
    /// # Errors
    /// If a variable is unknown or repeated.
    pub fn dependence(&self, a: &str, b: &str, given: &[&str]) -> Result<f64> {
        Ok(self.strata(a, b, given)?.largest_gap())
    }

    /// Whether two variables are independent, up to rounding.
    ///
    /// # Errors
    /// As [`JointTable::dependence`].
    pub fn independent(&self, a: &str, b: &str, given: &[&str]) -> Result<bool> {
        Ok(self.dependence(a, b, given)? < 1e-12)
    }

    /// Tests independence on counts.
    ///
    /// # Errors
    /// As [`JointTable::dependence`], and if the cells are probabilities, because a test needs the sample size.
    pub fn test_independence(&self, a: &str, b: &str, given: &[&str]) -> Result<Independence> {
        if self.kind == Cells::Probabilities {
            return Err(Error::Parameter {
                name: "table".into(),
                found: "a table of probabilities".into(),
                expected: "a table of counts, because a test needs the sample size; give the size, or compare the \
                           probabilities"
                    .into(),
            });
        }
        Ok(self.strata(a, b, given)?.test())
    }

    /// One table of `a` by `b` per configuration of the others.
    pub(super) fn strata(&self, a: &str, b: &str, given: &[&str]) -> Result<Strata> {
        let table = self.marginal(&[given, &[a, b]].concat())?;
        let width = table.variable(b)?.values.len();
        let size = width * table.variable(a)?.values.len();
        Ok(Strata { cells: table.cells, size, width, total: table.total })
    }
}

/// The tables of two variables of all strata.
pub(super) struct Strata {
    cells: Vec<f64>,
    size: usize,
    width: usize,
    total: f64,
}

/// A table of two variables with its margins.
struct Stratum<'a> {
    cells: &'a [f64],
    width: usize,
    rows: Vec<f64>,
    columns: Vec<f64>,
    total: f64,
}

impl Stratum<'_> {
    /// Observed and expected counts of the cells with a positive expected count.
    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let expected =
            |k: usize| self.rows[k / self.width] * self.columns[k % self.width] / self.total;
        self.cells.iter().enumerate().map(move |(k, n)| (*n, expected(k))).filter(|(_, e)| *e > 0.0)
    }
}

impl Strata {
    fn each(&self) -> impl Iterator<Item = Stratum<'_>> {
        self.cells.chunks_exact(self.size).filter_map(|cells| {
            let rows: Vec<f64> =
                cells.chunks_exact(self.width).map(|row| row.iter().sum()).collect();
            let columns: Vec<f64> =
                (0..self.width).map(|j| cells.iter().skip(j).step_by(self.width).sum()).collect();
            let total: f64 = rows.iter().sum();
            (total > 0.0).then_some(Stratum { cells, width: self.width, rows, columns, total })
        })
    }

    pub(super) fn nats(&self) -> f64 {
        let sum: f64 = (self.each())
            .map(|s| {
                s.pairs().filter(|(n, _)| *n > 0.0).map(|(n, e)| n * (n / e).ln()).sum::<f64>()
            })
            .sum();
        (sum / self.total).max(0.0)
    }

    fn largest_gap(&self) -> f64 {
        self.each()
            .map(|s| s.pairs().map(|(n, e)| (n - e).abs() / s.total).fold(0.0, f64::max))
            .fold(0.0, f64::max)
    }

    fn test(&self) -> Independence {
        let g = 2.0 * self.total * self.nats();
        let (mut chi_squared, mut degrees, mut least_expected) = (0.0, 0, f64::INFINITY);
        for stratum in self.each() {
            for (n, e) in stratum.pairs() {
                chi_squared += (n - e).powi(2) / e;
                least_expected = f64::min(least_expected, e);
            }
            let seen = |margin: &[f64]| margin.iter().filter(|m| **m > 0.0).count() as u64;
            degrees += (seen(&stratum.rows) - 1) * (seen(&stratum.columns) - 1);
        }
        // Without degrees of freedom a difference is rounding error.
        let p_value = |x: f64| if degrees == 0 { 1.0 } else { chi_squared_sf(x, degrees as f64) };
        Independence {
            g,
            chi_squared,
            degrees,
            p_value_g: p_value(g),
            p_value_chi_squared: p_value(chi_squared),
            least_expected,
        }
    }
}
