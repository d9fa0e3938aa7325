//! Sequential Bayesian updating of the probabilities of hypotheses.

use super::string;
use crate::error::raised;
use mercer::probability as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The posterior probabilities of hypotheses, updated by one observation at a time.
///
/// Parameters
/// ----------
/// priors : dict of str to float
///     The prior probability of each hypothesis.
/// outcomes : dict of str to dict, optional
///     The likelihood of each outcome under every hypothesis.
///
/// Examples
/// --------
/// >>> from mercer.probability import Belief
/// >>> belief = Belief({"fair": 0.5, "biased": 0.5}, {"heads": {"fair": 0.5, "biased": 1.0}})
/// >>> round(belief.observe("heads")["posterior"]["biased"], 4)
/// 0.6667
#[pyclass(module = "mercer._mercer")]
pub struct Belief(core::Belief);

impl Belief {
    fn by_hypothesis<'py>(&self, py: Python<'py>, p: &[f64]) -> PyResult<Bound<'py, PyDict>> {
        named(py, self.0.hypotheses(), p)
    }

    fn update<'py>(&self, py: Python<'py>, update: &core::Update) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("observation", &update.observation)?;
        all.set_item("evidence", update.evidence)?;
        all.set_item("posterior", self.by_hypothesis(py, &update.posterior)?)?;
        all.set_item("predictive", named(py, self.0.outcomes(), &update.predictive)?)?;
        Ok(all)
    }

    fn likelihoods(&self, by: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        in_order(self.0.hypotheses(), by)
    }
}

fn named<'py>(py: Python<'py>, names: &[String], p: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, p) in names.iter().zip(p) {
        all.set_item(name, p)?;
    }
    Ok(all)
}

/// The values of a dictionary in the order of the names, which must be its keys.
fn in_order(names: &[String], by: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
    if let Some(unknown) = by.keys().iter().find(|k| !string(k).is_ok_and(|k| names.contains(&k))) {
        let why = format!("unknown hypothesis {unknown}; expected {}", names.join(", "));
        return Err(PyValueError::new_err(why));
    }
    names
        .iter()
        .map(|name| match by.get_item(name)? {
            Some(p) => p.extract::<f64>(),
            None => Err(PyValueError::new_err(format!(
                "there is no likelihood for the hypothesis {name}"
            ))),
        })
        .collect()
}

#[pymethods]
impl Belief {
    #[new]
    #[pyo3(signature = (priors, outcomes=None))]
    fn new(priors: &Bound<'_, PyDict>, outcomes: Option<&Bound<'_, PyDict>>) -> PyResult<Belief> {
        let (mut names, mut p) = (Vec::new(), Vec::new());
        for (name, value) in priors {
            names.push(string(&name)?);
            p.push(value.extract::<f64>()?);
        }
        let mut belief = core::Belief::new(&names, &p).map_err(raised)?;
        for (name, by) in outcomes.into_iter().flatten() {
            let likelihoods = in_order(&names, by.cast::<PyDict>()?)?;
            belief = belief.outcome(&string(&name)?, &likelihoods).map_err(raised)?;
        }
        Ok(Belief(belief))
    }

    /// The posterior probability of each hypothesis.
    #[getter]
    fn posterior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.by_hypothesis(py, &self.0.posterior())
    }

    /// The predictive probability of each outcome.
    #[getter]
    fn predictive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        named(py, self.0.outcomes(), &self.0.predictive())
    }

    /// The log-evidence: the log-probability of all observations.
    #[getter]
    fn log_evidence(&self) -> f64 {
        self.0.log_evidence()
    }

    /// Updates by one of the outcomes; returns evidence, posterior and predictive probabilities.
    fn observe<'py>(&mut self, py: Python<'py>, outcome: &str) -> PyResult<Bound<'py, PyDict>> {
        let update = self.0.observe(outcome).map_err(raised)?;
        self.update(py, &update)
    }

    /// Updates by an observation with the given likelihood under each hypothesis.
    fn weigh<'py>(
        &mut self,
        observation: &str,
        likelihoods: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let values = self.likelihoods(likelihoods)?;
        let update = self.0.weigh(observation, &values).map_err(raised)?;
        self.update(likelihoods.py(), &update)
    }

    fn __repr__(&self) -> String {
        let parts: Vec<String> = (self.0.hypotheses().iter().zip(self.0.posterior()))
            .map(|(h, p)| format!("{h}: {}", mercer::explain::short(p)))
            .collect();
        format!("Belief({})", parts.join(", "))
    }
}
