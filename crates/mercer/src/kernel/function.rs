//! Kernel functions by name, as scikit-learn has them.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{ParamValue, Rule};
use crate::{choice, data};
use mercer_num::Rows;
use mercer_num::rows::Missing;
use serde::{Deserialize, Serialize};

choice! {
    /// A family of kernel functions.
    pub enum Kernel {
        /// `x·z`.
        Linear = "linear",
        /// `(gamma x·z + coef0)ᵈᵉᵍʳᵉᵉ`.
        Poly = "poly" | "polynomial",
        /// `exp(−gamma ‖x − z‖²)`.
        Rbf = "rbf",
        /// `tanh(gamma x·z + coef0)`; no inner product for some of its parameters.
        Sigmoid = "sigmoid",
        /// `exp(−gamma Σⱼ |xⱼ − zⱼ|)`.
        Laplacian = "laplacian",
        /// `exp(−gamma Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ))`, for cells of at least zero.
        Chi2 = "chi2",
        /// The rows are kernel values already: one column for every row learned from.
        Precomputed = "precomputed",
    }
}

choice! {
    /// Where the width of a kernel comes from.
    pub enum GammaRule {
        /// `1 / (columns · variance of all cells)`.
        Scale = "scale",
        /// `1 / columns`.
        Auto = "auto",
    }
}

/// The width of a kernel: a number, or a rule that finds one in the rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Gamma {
    /// As given.
    Number(f64),
    /// From the rows.
    Rule(GammaRule),
}

impl ParamValue for Gamma {
    const KIND: &'static str = "number, \"scale\" or \"auto\"";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            Gamma::Number(gamma) => gamma.obeys(rule),
            Gamma::Rule(_) => true,
        }
    }
}

/// Nothing is the usual width.
impl ParamValue for Option<Gamma> {
    const KIND: &'static str = "number, \"scale\", \"auto\", or nothing";

    fn obeys(&self, rule: Rule) -> bool {
        self.is_none_or(|gamma| gamma.obeys(rule))
    }
}

impl From<f64> for Gamma {
    fn from(gamma: f64) -> Self {
        Gamma::Number(gamma)
    }
}

impl Gamma {
    /// The number for some rows.
    pub fn of(&self, data: &Dataset<'_>) -> f64 {
        match self {
            Gamma::Number(gamma) => *gamma,
            Gamma::Rule(GammaRule::Auto) => 1.0 / data.n_columns().max(1) as f64,
            Gamma::Rule(GammaRule::Scale) => {
                let variance = variance_of_cells(data);
                // As scikit-learn: rows that are all the same have no scale.
                if variance > 0.0 { 1.0 / (data.n_columns() as f64 * variance) } else { 1.0 }
            }
        }
    }
}

/// The variance of all cells, each counted as often as its row.
fn variance_of_cells(data: &Dataset<'_>) -> f64 {
    let rows = data.rows();
    let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
    let mut total = 0.0;
    let mut sum_over = |f: &dyn Fn(f64) -> f64| -> f64 {
        total = 0.0;
        let mut sum = 0.0;
        for i in 0..rows.n_rows() {
            let w = weight(i);
            if w == 0.0 {
                continue;
            }
            total += w;
            let of_row: f64 = match rows {
                Rows::Sparse(_) => rows.row(i).iter().map(|x| f(*x)).sum(),
                _ => rows.block(i..i + 1).map_or(0.0, |b| b.iter().map(|x| f(*x)).sum()),
            };
            sum += w * of_row;
        }
        sum / (total * rows.n_columns() as f64)
    };
    let mean = sum_over(&|x| x);
    sum_over(&|x| (x - mean) * (x - mean))
}

/// The width that is meant where none is named: `1 / columns`, and for chi-squared kernels one.
pub(crate) fn width_of(gamma: Option<Gamma>, kernel: Kernel, data: &Dataset<'_>) -> f64 {
    match (gamma, kernel) {
        (_, Kernel::Linear | Kernel::Precomputed) => 1.0,
        (Some(gamma), _) => gamma.of(data),
        (None, Kernel::Chi2) => 1.0,
        (None, _) => Gamma::Rule(GammaRule::Auto).of(data),
    }
}

/// A kernel with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The family.
    pub kernel: Kernel,
    /// The width.
    pub gamma: f64,
    /// The constant of `poly` and `sigmoid`.
    pub coef0: f64,
    /// The power of `poly`.
    pub degree: usize,
}

impl Function {
    /// `exp(−gamma ‖x − z‖²)`.
    pub fn rbf(gamma: f64) -> Function {
        Function { kernel: Kernel::Rbf, gamma, coef0: 0.0, degree: 3 }
    }

    /// `x·z`.
    pub fn linear() -> Function {
        Function { kernel: Kernel::Linear, gamma: 1.0, coef0: 0.0, degree: 1 }
    }

    /// `(gamma x·z + coef0)ᵈᵉᵍʳᵉᵉ`.
    pub fn poly(degree: usize, gamma: f64, coef0: f64) -> Function {
        Function { kernel: Kernel::Poly, gamma, coef0, degree }
    }

    /// The kernel of two rows, in double precision: what every faster way is measured against.
    ///
    /// A precomputed kernel has no formula and gives NaN.
    ///
    /// ```
    /// use mercer::kernel::Function;
    /// let quadratic = Function::poly(2, 1.0, 0.0);
    /// assert_eq!(quadratic.value(&[1.0, 2.0], &[3.0, 4.0]), 121.0);
    /// ```
    pub fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
            x.iter().zip(z).map(|(x, z)| term(*x, *z)).sum()
        };
        let dot = || sum(&|x, z| x * z);
        match self.kernel {
            Kernel::Linear => dot(),
            Kernel::Poly => (self.gamma * dot() + self.coef0).powi(self.degree as i32),
            Kernel::Rbf => (-self.gamma * sum(&|x, z| (x - z) * (x - z))).exp(),
            Kernel::Sigmoid => (self.gamma * dot() + self.coef0).tanh(),
            Kernel::Laplacian => (-self.gamma * sum(&|x, z| (x - z).abs())).exp(),
            Kernel::Chi2 => {
                let term = |x: f64, z: f64| {
                    if x + z > 0.0 { (x - z) * (x - z) / (x + z) } else { 0.0 }
                };
                (-self.gamma * sum(&term)).exp()
            }
            Kernel::Precomputed => f64::NAN,
        }
    }

    /// Refuses rows that the kernel is not made for.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for cells that are not numbers, [`Error::Number`] for cells below zero in a
    /// chi-squared kernel.
    pub fn check_rows(&self, rows: &Rows<'_>) -> Result<()> {
        data::check_cells(rows, Missing::Refused)?;
        if self.kernel == Kernel::Chi2 {
            for i in 0..rows.n_rows() {
                if let Some(j) = rows.row(i).iter().position(|x| *x < 0.0) {
                    return Err(Error::Number {
                        what: format!("row {}, column {}", i + 1, j + 1),
                        value: rows.get(i, j),
                        expected: "at least 0 for a chi-squared kernel".into(),
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_quadratic_kernel_is_its_explicit_map() {
        // φ(x) = (x₁², √2 x₁x₂, x₂²).
        let map = |x: &[f64]| [x[0] * x[0], 2f64.sqrt() * x[0] * x[1], x[1] * x[1]];
        let (x, z) = ([1.5, -2.0], [0.25, 3.0]);

        let value = Function::poly(2, 1.0, 0.0).value(&x, &z);

        let explicit: f64 = map(&x).iter().zip(map(&z)).map(|(a, b)| a * b).sum();
        assert!((value - explicit).abs() < 1e-14);
    }

    #[test]
    fn gamma_is_found_as_scikit_learn_finds_it() {
        // Cells 0, 1, 2, 3: variance 1.25, two columns.
        let x = array![[0.0, 1.0], [2.0, 3.0]];
        let data = Dataset::unlabeled(&x);

        assert_eq!(Gamma::Rule(GammaRule::Scale).of(&data), 1.0 / 2.5);
        assert_eq!(Gamma::Rule(GammaRule::Auto).of(&data), 0.5);
        assert_eq!(Gamma::Number(7.0).of(&data), 7.0);
        let weighted = data.weighted(&[1.0, 0.0]).unwrap();
        assert_eq!(Gamma::Rule(GammaRule::Scale).of(&weighted), 1.0 / 0.5);
    }
}
