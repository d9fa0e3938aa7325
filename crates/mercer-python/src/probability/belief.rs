//! Belief in hypotheses, moved by what is seen.

use super::word;
use crate::error::raised;
use mercer::probability as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Hypotheses, how much each is believed, and what each expects to be seen.
///
/// Parameters
/// ----------
/// priors : dict of str to float
///     The hypotheses and their probabilities.
/// outcomes : dict of str to dict, optional
///     What can be seen, with its probability under every hypothesis.
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

    fn line<'py>(&self, py: Python<'py>, line: &core::Update) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("observation", &line.observation)?;
        all.set_item("evidence", line.evidence)?;
        all.set_item("posterior", self.by_hypothesis(py, &line.posterior)?)?;
        all.set_item("predictive", named(py, self.0.outcomes(), &line.predictive)?)?;
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

/// A dictionary's numbers in the order of the names, each named once.
fn in_order(names: &[String], by: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
    if let Some(stranger) = by.keys().iter().find(|k| !word(k).is_ok_and(|k| names.contains(&k))) {
        let why = format!("no hypothesis is called {stranger}; there are {}", names.join(", "));
        return Err(PyValueError::new_err(why));
    }
    names
        .iter()
        .map(|name| match by.get_item(name)? {
            Some(p) => p.extract::<f64>(),
            None => Err(PyValueError::new_err(format!("nothing is said about {name}"))),
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
            names.push(word(&name)?);
            p.push(value.extract::<f64>()?);
        }
        let mut belief = core::Belief::new(&names, &p).map_err(raised)?;
        for (name, by) in outcomes.into_iter().flatten() {
            let likelihoods = in_order(&names, by.cast::<PyDict>()?)?;
            belief = belief.outcome(&word(&name)?, &likelihoods).map_err(raised)?;
        }
        Ok(Belief(belief))
    }

    /// How much each hypothesis is believed.
    #[getter]
    fn posterior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.by_hypothesis(py, &self.0.posterior())
    }

    /// How probable each outcome is next.
    #[getter]
    fn predictive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        named(py, self.0.outcomes(), &self.0.predictive())
    }

    /// The log-probability of everything seen.
    #[getter]
    fn log_evidence(&self) -> f64 {
        self.0.log_evidence()
    }

    /// See one of the outcomes; the line says what changed.
    fn observe<'py>(&mut self, py: Python<'py>, outcome: &str) -> PyResult<Bound<'py, PyDict>> {
        let line = self.0.observe(outcome).map_err(raised)?;
        self.line(py, &line)
    }

    /// See something with these probabilities under the hypotheses.
    fn weigh<'py>(
        &mut self,
        observation: &str,
        likelihoods: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let numbers = self.likelihoods(likelihoods)?;
        let line = self.0.weigh(observation, &numbers).map_err(raised)?;
        self.line(likelihoods.py(), &line)
    }

    fn __repr__(&self) -> String {
        let parts: Vec<String> = (self.0.hypotheses().iter().zip(self.0.posterior()))
            .map(|(h, p)| format!("{h}: {}", mercer::explain::short(p)))
            .collect();
        format!("Belief({})", parts.join(", "))
    }
}
