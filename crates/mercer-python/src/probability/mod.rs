//! Discrete joint distributions, Bayes' rule, conjugate priors and the multivariate normal distribution. Each class
//! wraps a type of the core; results are floats, arrays and dictionaries.

pub mod bayes_rule;
mod belief;
mod conjugate;
mod density;
mod joint;
mod normal;

pub use belief::Belief;
pub use conjugate::{Beta, Dirichlet, Gamma, NormalInverseGamma, NormalMean};
pub use density::{Binomial, Multinomial};
pub use joint::JointTable;
pub use normal::MultivariateNormal;

use crate::array::tree_object;
use mercer::model::Tree;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// A serializable result as a dictionary.
fn dictionary<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let tree = Tree::of(value).map_err(|e| PyValueError::new_err(e.to_string()))?;
    tree_object(py, tree)
}

fn string(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.str()?.extract()
}
