//! Bayes' theorem for one hypothesis or several.

use super::{dictionary, string};
use crate::error::raised;
use mercer::probability as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Bayes' theorem, with its intermediate results.
///
/// With numbers, there is one hypothesis, and either the probability of the evidence or its likelihood
/// under the complement of the hypothesis is given (`against`). With dictionaries of the same keys, there
/// are several hypotheses.
#[pyfunction]
#[pyo3(signature = (prior, likelihood, *, evidence=None, against=None))]
pub fn bayes_rule<'py>(
    prior: &Bound<'py, PyAny>,
    likelihood: &Bound<'py, PyAny>,
    evidence: Option<f64>,
    against: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = prior.py();
    let rule = if let Ok(priors) = prior.cast::<PyDict>() {
        let given = likelihood.cast::<PyDict>()?;
        let (mut names, mut p, mut l) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in priors {
            let of = given.get_item(&name)?.ok_or_else(|| {
                PyValueError::new_err(format!("likelihood has no entry for the hypothesis {name}"))
            })?;
            names.push(string(&name)?);
            p.push(value.extract::<f64>()?);
            l.push(of.extract::<f64>()?);
        }
        if given.len() != names.len() {
            return Err(PyValueError::new_err("likelihood has hypotheses that are not in prior"));
        }
        core::BayesRule::of(&names, &p, &l)
    } else {
        let (p, l) = (prior.extract::<f64>()?, likelihood.extract::<f64>()?);
        match (evidence, against) {
            (Some(evidence), None) => core::BayesRule::from_evidence(p, l, evidence),
            (None, Some(against)) => {
                let names = ["hypothesis".to_owned(), "opposite".to_owned()];
                core::BayesRule::of(&names, &[p, 1.0 - p], &[l, against])
            }
            _ => return Err(PyValueError::new_err("pass either evidence or against")),
        }
    };
    dictionary(py, &rule.map_err(raised)?)
}
