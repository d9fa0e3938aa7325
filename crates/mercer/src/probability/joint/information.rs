//! Entropy and mutual information, in bits.

use super::JointTable;
use crate::error::Result;

impl JointTable {
    /// `H(X, …) = −Σ p log₂ p` of some variables.
    ///
    /// # Errors
    /// If a variable is unknown or repeated.
    pub fn entropy(&self, names: &[&str]) -> Result<f64> {
        let table = self.marginal(names)?;
        let bits = |weight: &f64| {
            let p = weight / table.total;
            if p > 0.0 { -p * p.log2() } else { 0.0 }
        };
        Ok(table.cells.iter().map(bits).sum())
    }

    /// `H(X | Y) = H(X, Y) − H(Y)`: the conditional entropy.
    ///
    /// # Errors
    /// As [`JointTable::entropy`].
    pub fn conditional_entropy(&self, names: &[&str], given: &[&str]) -> Result<f64> {
        if given.is_empty() {
            return self.entropy(names);
        }
        let both = [names, given].concat();
        Ok((self.entropy(&both)? - self.entropy(given)?).max(0.0))
    }

    /// `I(A; B | C) = Σ p(a, b, c) log₂ [p(a, b | c) / (p(a | c) p(b | c))]`: the
    /// conditional mutual information; without a condition, the mutual information.
    ///
    /// # Errors
    /// As [`JointTable::entropy`].
    pub fn mutual_information(&self, a: &str, b: &str, given: &[&str]) -> Result<f64> {
        Ok(self.strata(a, b, given)?.nats() / std::f64::consts::LN_2)
    }
}
