//! Expectation, variance, covariance and correlation of numeric variables.

use super::JointTable;
use crate::error::{Error, Result};

impl JointTable {
    /// `E[X] = Σ x P(x)`.
    ///
    /// # Errors
    /// If a value of the variable is not numeric.
    pub fn expectation(&self, name: &str) -> Result<f64> {
        let table = self.marginal(&[name])?;
        let values = table.numeric_values(name)?;
        Ok(table.mean(|codes| values[codes[0]]))
    }

    /// `Var[X] = E[(X − E[X])²]`.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn variance(&self, name: &str) -> Result<f64> {
        let table = self.marginal(&[name])?;
        let values = table.numeric_values(name)?;
        let mean = table.mean(|codes| values[codes[0]]);
        Ok(table.mean(|codes| (values[codes[0]] - mean).powi(2)))
    }

    /// `Cov[X, Y] = E[(X − E[X]) (Y − E[Y])]`.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn covariance(&self, a: &str, b: &str) -> Result<f64> {
        if a == b {
            return self.variance(a);
        }
        let table = self.marginal(&[a, b])?;
        let (x, y) = (table.numeric_values(a)?, table.numeric_values(b)?);
        let mean_x = table.mean(|codes| x[codes[0]]);
        let mean_y = table.mean(|codes| y[codes[1]]);
        Ok(table.mean(|codes| (x[codes[0]] - mean_x) * (y[codes[1]] - mean_y)))
    }

    /// The correlation coefficient; `None` if a variance is zero.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn correlation(&self, a: &str, b: &str) -> Result<Option<f64>> {
        let spread = self.variance(a)?.sqrt() * self.variance(b)?.sqrt();
        let covariance = self.covariance(a, b)?;
        Ok((spread > 0.0).then(|| (covariance / spread).clamp(-1.0, 1.0)))
    }

    /// The numeric values of a variable.
    fn numeric_values(&self, name: &str) -> Result<Vec<f64>> {
        let variable = self.variable(name)?;
        variable
            .values
            .iter()
            .map(|value| {
                value.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| Error::Kind {
                    column: name.to_owned(),
                    found: format!("a variable with the value `{value}`"),
                    expected: "a variable with numeric values".into(),
                })
            })
            .collect()
    }

    /// `E[f]` over the cells.
    fn mean(&self, f: impl Fn(&[usize]) -> f64) -> f64 {
        let sum: f64 = (self.cells.iter().enumerate())
            .filter(|(_, weight)| **weight > 0.0)
            .map(|(k, weight)| weight * f(&self.codes(k)))
            .sum();
        sum / self.total
    }
}
