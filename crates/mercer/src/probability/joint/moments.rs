//! Expectation, variance, covariance and correlation of numeric variables.
//!
//! With integer counts and integer values the moments are fractions in lowest terms: `E[X] = Σ n x / N`, `Cov[X, Y] =
//! (N Σ n x y − Σ n x Σ n y) / N²`. Otherwise they are computed from centered values.

use super::{Event, JointTable};
use crate::error::{Error, Result};
use crate::probability::Fraction;
use serde::Serialize;

/// The law of total expectation, `E[X] = Σ E[X | Y = y] P(Y = y)`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TotalExpectation {
    /// One term per value of the other variable with positive probability.
    pub terms: Vec<ExpectationTerm>,
    /// Their sum, computed from the table directly.
    pub expectation: Fraction,
}

/// A term of the law of total expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpectationTerm {
    /// The value `y`.
    pub value: String,
    /// `E[X | Y = y]`.
    pub conditional: Fraction,
    /// `P(Y = y)`.
    pub weight: Fraction,
}

impl JointTable {
    /// `E[X] = Σ x P(x)`.
    ///
    /// # Errors
    /// If a value of the variable is not numeric.
    pub fn expectation(&self, name: &str) -> Result<Fraction> {
        let table = self.marginal(&[name])?;
        let values = table.numeric_values(name)?;
        let exact = table.exact_sums(&[&values]).and_then(|sums| Fraction::reduced(sums.x, sums.n));
        Ok(exact.unwrap_or_else(|| Fraction::new(table.mean(|codes| values[codes[0]]), 1.0)))
    }

    /// `Var[X] = E[(X − E[X])²]`.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn variance(&self, name: &str) -> Result<Fraction> {
        let table = self.marginal(&[name])?;
        let values = table.numeric_values(name)?;
        Ok(table.exact_sums(&[&values, &values]).and_then(Sums::covariance).unwrap_or_else(|| {
            let mean = table.mean(|codes| values[codes[0]]);
            Fraction::new(table.mean(|codes| (values[codes[0]] - mean).powi(2)), 1.0)
        }))
    }

    /// `Cov[X, Y] = E[(X − E[X]) (Y − E[Y])]`.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn covariance(&self, a: &str, b: &str) -> Result<Fraction> {
        if a == b {
            return self.variance(a);
        }
        let table = self.marginal(&[a, b])?;
        let (x, y) = (table.numeric_values(a)?, table.numeric_values(b)?);
        Ok(table.exact_sums(&[&x, &y]).and_then(Sums::covariance).unwrap_or_else(|| {
            let mean_x = table.mean(|codes| x[codes[0]]);
            let mean_y = table.mean(|codes| y[codes[1]]);
            let product = |codes: &[usize]| (x[codes[0]] - mean_x) * (y[codes[1]] - mean_y);
            Fraction::new(table.mean(product), 1.0)
        }))
    }

    /// The correlation coefficient; `None` if a variance is zero.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn correlation(&self, a: &str, b: &str) -> Result<Option<f64>> {
        let spread = self.variance(a)?.value().sqrt() * self.variance(b)?.value().sqrt();
        let covariance = self.covariance(a, b)?.value();
        Ok((spread > 0.0).then(|| (covariance / spread).clamp(-1.0, 1.0)))
    }

    /// `E[X | event]`: the conditional expectation.
    ///
    /// # Errors
    /// As [`JointTable::expectation`] and [`JointTable::conditional`].
    pub fn conditional_expectation(&self, name: &str, given: &Event) -> Result<Fraction> {
        self.restricted(given)?.expectation(name)
    }

    /// The conditional expectation for every value of another variable, and the law of total expectation.
    ///
    /// # Errors
    /// As [`JointTable::expectation`].
    pub fn total_expectation(&self, name: &str, by: &str) -> Result<TotalExpectation> {
        let mut terms = Vec::new();
        for value in &self.variable(by)?.values {
            let case = Event::is(by, value);
            let weight = self.probability(&case)?;
            if weight.value() > 0.0 {
                let conditional = self.conditional_expectation(name, &case)?;
                terms.push(ExpectationTerm { value: value.clone(), conditional, weight });
            }
        }
        Ok(TotalExpectation { terms, expectation: self.expectation(name)? })
    }

    /// The numeric values of a variable.
    pub(super) fn numeric_values(&self, name: &str) -> Result<Vec<f64>> {
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

    /// The sums of one or two variables of this table; `None` if a count or a value is not an integer.
    fn exact_sums(&self, values: &[&[f64]]) -> Option<Sums> {
        if self.kind == super::Cells::Probabilities {
            return None;
        }
        let mut sums = Sums::default();
        for (k, weight) in self.cells.iter().enumerate() {
            let codes = self.codes(k);
            // The variance has one variable, which is both.
            let at = |v: usize| integer(values[v][codes[v.min(codes.len() - 1)]]);
            let (n, x) = (integer(*weight)?, at(0)?);
            let y = if values.len() > 1 { at(1)? } else { 0 };
            sums.n += n;
            sums.x = sums.x.checked_add(n.checked_mul(x)?)?;
            sums.y = sums.y.checked_add(n.checked_mul(y)?)?;
            sums.xy = sums.xy.checked_add(n.checked_mul(x)?.checked_mul(y)?)?;
        }
        Some(sums)
    }
}

/// `Σ n`, `Σ n x`, `Σ n y` and `Σ n x y`.
#[derive(Default)]
struct Sums {
    n: i128,
    x: i128,
    y: i128,
    xy: i128,
}

impl Sums {
    fn covariance(self) -> Option<Fraction> {
        let products = self.n.checked_mul(self.xy)?;
        let numerator = products.checked_sub(self.x.checked_mul(self.y)?)?;
        Fraction::reduced(numerator, self.n.checked_mul(self.n)?)
    }
}

/// A number as an integer, if it is one that a 64-bit float holds exactly.
fn integer(x: f64) -> Option<i128> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    (x.abs() <= MAX_EXACT && x.fract() == 0.0).then_some(x as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probability::Variable;

    fn dice() -> JointTable {
        let die = |name: &str| Variable::new(name, ["1", "2", "3", "4", "5", "6"]);
        JointTable::from_counts(vec![die("die1"), die("die2")], vec![1.0; 36]).unwrap()
    }

    #[test]
    fn moments_of_counts_are_fractions_in_lowest_terms() {
        let dice = dice();

        assert_eq!(dice.expectation("die1").unwrap().to_string(), "7/2 = 3.5");
        assert_eq!(dice.variance("die1").unwrap().to_string(), "35/12 = 2.917");
        assert_eq!(dice.covariance("die1", "die2").unwrap().value(), 0.0);
        assert_eq!(dice.correlation("die1", "die1").unwrap(), Some(1.0));
        let high = Event::parse("die1+die2>=11").unwrap();
        // (5, 6), (6, 5), (6, 6)
        assert_eq!(dice.conditional_expectation("die1", &high).unwrap().integers(), Some((17, 3)));
    }

    #[test]
    fn negative_and_rounded_values_have_moments() {
        let x = Variable::new("x", ["-2", "1"]);
        let y = Variable::new("y", ["0.5", "1e20"]);
        let table = JointTable::from_counts(vec![x, y], vec![2.0, 0.0, 1.0, 1.0]).unwrap();

        assert_eq!(table.expectation("x").unwrap().to_string(), "-1/2 = -0.5");
        assert_eq!(table.expectation("y").unwrap().integers(), None);
        assert!((table.expectation("y").unwrap().value() / 2.5e19 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_law_of_total_expectation_sums_to_the_expectation() {
        let (dice, sum) = (dice(), Event::parse("die1+die2<=4").unwrap());
        let low = dice.restricted(&sum).unwrap();

        let total = low.total_expectation("die1", "die2").unwrap();

        let parts = total.terms.iter().map(|t| t.conditional.value() * t.weight.value());
        assert_eq!(total.terms.len(), 3);
        assert!((parts.sum::<f64>() - total.expectation.value()).abs() < 1e-15);
        // (1,1) (1,2) (1,3) (2,1) (2,2) (3,1): 10/6.
        assert_eq!(total.expectation.integers(), Some((5, 3)));
    }
}
