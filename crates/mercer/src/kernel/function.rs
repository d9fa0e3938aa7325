//! Kernel functions by name, as scikit-learn has them.

use super::{Expression, Leaf};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{ParamValue, Rule};
use crate::{choice, data};
use mercer_num::Rows;
use mercer_num::rows::Missing;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A kernel function by name, a formula of such, or one's own.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// `x·z`.
    Linear,
    /// `(gamma x·z + coef0)ᵈᵉᵍʳᵉᵉ`.
    Poly,
    /// `exp(−gamma ‖x − z‖²)`.
    Rbf,
    /// `tanh(gamma x·z + coef0)`; no inner product for some of its parameters.
    Sigmoid,
    /// `exp(−gamma Σⱼ |xⱼ − zⱼ|)`.
    Laplacian,
    /// `exp(−gamma Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ))`, for cells of at least zero.
    Chi2,
    /// The rows are kernel values already: one column for every row learned from.
    Precomputed,
    /// A sum of products of kernels.
    Composed(Arc<Expression>),
    /// A function of one's own. It cannot be saved.
    Custom(Arc<dyn CustomKernel>),
}

/// A kernel of one's own: any symmetric function whose matrices have no negative eigenvalue.
///
/// Every method that takes a kernel takes it. It is asked pair by pair, in double precision, from many
/// threads, and a model that has one cannot be saved.
///
/// ```
/// use mercer::kernel::{Kernel, CustomKernel};
/// use mercer::prelude::*;
/// use mercer::svm::Svc;
///
/// /// How many columns agree.
/// #[derive(Debug)]
/// struct Agreement;
///
/// impl CustomKernel for Agreement {
///     fn value(&self, x: &[f64], z: &[f64]) -> f64 {
///         x.iter().zip(z).filter(|(x, z)| x == z).count() as f64
///     }
/// }
///
/// let x = ndarray::array![[1.0, 2.0], [1.0, 3.0], [4.0, 5.0], [4.0, 6.0]];
/// let classes = Classes::from_names(["ones", "fours"]);
/// let data = Dataset::classes(&x, &[1, 1, 0, 0], &classes)?;
///
/// let model = Svc::new().kernel(Kernel::custom(Agreement)).fit(&data, &Monitor::quiet())?;
///
/// assert_eq!(model.predict(&Rows::from(&ndarray::array![[1.0, 9.0], [4.0, 2.5]]))?, [1, 0]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub trait CustomKernel: fmt::Debug + Send + Sync {
    /// The kernel of two rows.
    fn value(&self, x: &[f64], z: &[f64]) -> f64;
}

impl Kernel {
    /// The words for those that have one, in order.
    pub const VALUES: &'static [&'static str] =
        &["linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed"];

    /// A function of one's own.
    pub fn custom(kernel: impl CustomKernel + 'static) -> Kernel {
        Kernel::Custom(Arc::new(kernel))
    }

    /// The kernel of a word.
    pub(super) fn named(word: &str) -> Option<Kernel> {
        Some(match word {
            "linear" => Kernel::Linear,
            "poly" | "polynomial" => Kernel::Poly,
            "rbf" => Kernel::Rbf,
            "sigmoid" => Kernel::Sigmoid,
            "laplacian" => Kernel::Laplacian,
            "chi2" => Kernel::Chi2,
            "precomputed" => Kernel::Precomputed,
            _ => return None,
        })
    }

    fn word(&self) -> Option<&'static str> {
        Some(match self {
            Kernel::Linear => "linear",
            Kernel::Poly => "poly",
            Kernel::Rbf => "rbf",
            Kernel::Sigmoid => "sigmoid",
            Kernel::Laplacian => "laplacian",
            Kernel::Chi2 => "chi2",
            Kernel::Precomputed => "precomputed",
            Kernel::Composed(_) | Kernel::Custom(_) => return None,
        })
    }

    /// The kernel with its numbers, those that it leaves open taken from the estimator's: the width of
    /// nothing is `1 / columns`, and for chi-squared kernels one.
    pub fn with(
        &self,
        gamma: Option<Gamma>,
        coef0: f64,
        degree: usize,
        data: &Dataset<'_>,
    ) -> Function {
        let kernel = match self {
            Kernel::Composed(formula) => Kernel::Composed(Arc::new(formula.resolved(|leaf| {
                let width = || width_of(leaf.gamma.or(gamma), &leaf.kernel, data).into();
                let has = |families: &[Kernel]| families.contains(&leaf.kernel);
                Leaf {
                    kernel: leaf.kernel.clone(),
                    gamma: (!has(&[Kernel::Linear])).then(width),
                    coef0: has(&[Kernel::Poly, Kernel::Sigmoid])
                        .then(|| leaf.coef0.unwrap_or(coef0)),
                    degree: has(&[Kernel::Poly]).then(|| leaf.degree.unwrap_or(degree)),
                }
            }))),
            kernel => kernel.clone(),
        };
        Function { gamma: width_of(gamma, &kernel, data), kernel, coef0, degree }
    }
}

/// Kernels of one's own are equal where they are the same one.
impl PartialEq for Kernel {
    fn eq(&self, other: &Kernel) -> bool {
        match (self, other) {
            (Kernel::Composed(a), Kernel::Composed(b)) => a == b,
            (Kernel::Custom(a), Kernel::Custom(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.word().is_some() && a.word() == b.word(),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Composed(formula) => write!(f, "{formula}"),
            Kernel::Custom(own) => write!(f, "{own:?}"),
            named => f.write_str(named.word().unwrap_or_default()),
        }
    }
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Kernel::Custom(_) => Err(serde::ser::Error::custom(
                "a kernel of one's own is code, which a file does not hold",
            )),
            kernel => to.collect_str(kernel),
        }
    }
}

impl<'de> Deserialize<'de> for Kernel {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Kernel, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl ParamValue for Kernel {
    const TYPE: &'static str = "str";

    fn obeys(&self, _rule: Rule) -> bool {
        true
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

impl GammaRule {
    pub(super) fn word(self) -> &'static str {
        match self {
            GammaRule::Scale => "scale",
            GammaRule::Auto => "auto",
        }
    }
}

impl ParamValue for Gamma {
    const TYPE: &'static str = "float, \"scale\" or \"auto\"";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            Gamma::Number(gamma) => gamma.obeys(rule),
            Gamma::Rule(_) => true,
        }
    }
}

/// Nothing is the usual width.
impl ParamValue for Option<Gamma> {
    const TYPE: &'static str = "float, \"scale\", \"auto\" or None";

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
                let variance = variance_of_cells(data.rows());
                // As scikit-learn: rows that are all the same have no scale.
                if variance > 0.0 { 1.0 / (data.n_columns() as f64 * variance) } else { 1.0 }
            }
        }
    }
}

/// The variance of all cells. As in scikit-learn, sample weights do not enter: `gamma` is a property of the columns.
fn variance_of_cells(rows: &Rows<'_>) -> f64 {
    let mean_of = |f: &dyn Fn(f64) -> f64| -> f64 {
        let of_row = |i: usize| -> f64 {
            match rows {
                Rows::Sparse(_) => rows.row(i).iter().map(|x| f(*x)).sum(),
                _ => rows.block(i..i + 1).map_or(0.0, |b| b.iter().map(|x| f(*x)).sum()),
            }
        };
        let sum: f64 = (0..rows.n_rows()).map(of_row).sum();
        sum / (rows.n_rows() as f64 * rows.n_columns() as f64)
    };
    let mean = mean_of(&|x| x);
    mean_of(&|x| (x - mean) * (x - mean))
}

/// The width that is meant where none is named: `1 / columns`, and for chi-squared kernels one.
fn width_of(gamma: Option<Gamma>, kernel: &Kernel, data: &Dataset<'_>) -> f64 {
    match (gamma, kernel) {
        (_, Kernel::Linear | Kernel::Precomputed | Kernel::Composed(_) | Kernel::Custom(_)) => 1.0,
        (Some(gamma), _) => gamma.of(data),
        (None, Kernel::Chi2) => 1.0,
        (None, _) => Gamma::Rule(GammaRule::Auto).of(data),
    }
}

/// A kernel with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        match &self.kernel {
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
            Kernel::Composed(formula) => formula.combined(|leaf| leaf.function().value(x, z)),
            Kernel::Custom(own) => own.value(x, z),
        }
    }

    /// Whether the kernel depends on the difference of the rows only.
    pub(crate) fn is_translation_invariant(&self) -> bool {
        match &self.kernel {
            Kernel::Rbf | Kernel::Laplacian => true,
            Kernel::Composed(formula) => {
                formula.leaves().all(|leaf| leaf.function().is_translation_invariant())
            }
            _ => false,
        }
    }

    /// Whether every kernel matrix is positive semi-definite, whatever the rows (Mercer's condition). A polynomial with
    /// a negative `coef0`, the sigmoid, given kernel values and user-defined kernels must be checked on the rows.
    pub(crate) fn is_mercer(&self) -> bool {
        match &self.kernel {
            Kernel::Linear | Kernel::Rbf | Kernel::Laplacian | Kernel::Chi2 => true,
            Kernel::Poly => self.coef0 >= 0.0,
            Kernel::Composed(formula) => formula.leaves().all(|leaf| leaf.function().is_mercer()),
            Kernel::Sigmoid | Kernel::Precomputed | Kernel::Custom(_) => false,
        }
    }

    /// Whether the kernel is a chi-squared one, or has one in it.
    fn has_chi2(&self) -> bool {
        match &self.kernel {
            Kernel::Chi2 => true,
            Kernel::Composed(formula) => formula.leaves().any(|leaf| leaf.kernel == Kernel::Chi2),
            _ => false,
        }
    }

    /// Refuses rows that the kernel is not made for.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for cells that are not numbers, [`Error::Number`] for cells below zero in a
    /// chi-squared kernel.
    pub fn check_rows(&self, rows: &Rows<'_>) -> Result<()> {
        data::check_cells(rows, Missing::Refused)?;
        if self.has_chi2() {
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
        // Sample weights change nothing.
        let weighted = data.weighted(&[1.0, 0.0]).unwrap();
        assert_eq!(Gamma::Rule(GammaRule::Scale).of(&weighted), 1.0 / 2.5);
    }
}
