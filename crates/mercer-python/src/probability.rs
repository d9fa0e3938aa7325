//! Tables, Bayes' rule, belief, conjugate pairs and the bell curve. Each class holds the core's own
//! value; answers go out as floats, arrays and dictionaries.

use crate::array::tree_object;
use crate::error::raised;
use mercer::catalog::Tree;
use mercer::data::{Column, Levels, MISSING, Table, Values};
use mercer::probability::{self as core, Event, Variable, conjugate};
use mercer_num::Matrix;
use mercer_num::Rows;
use mercer_num::random::Random;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::Serialize;
use std::sync::Arc;

/// A result as a dictionary.
fn told<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let tree = Tree::of(value).map_err(|e| PyValueError::new_err(e.to_string()))?;
    tree_object(py, tree)
}

/// What a dictionary says happened: a value, or a list of values, for each variable.
fn event(said: Option<&Bound<'_, PyDict>>) -> PyResult<Event> {
    let mut event = Event::certain();
    for (name, value) in said.into_iter().flatten() {
        let values: Vec<String> =
            if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
                value.try_iter()?.map(|v| word(&v?)).collect::<PyResult<_>>()?
            } else {
                vec![word(&value)?]
            };
        event = event.and(&Event::one_of(word(&name)?, values));
    }
    Ok(event)
}

fn word(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.str()?.extract()
}

fn names(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// A table over discrete variables: one cell for every combination of values.
///
/// Parameters
/// ----------
/// variables : dict of str to list
///     The variables and the values each takes.
/// cells : array-like
///     Counts, or probabilities that add up to one; the last variable's values side by side.
/// kind : {"counts", "probabilities"}
///     What the cells are.
///
/// Examples
/// --------
/// >>> from mercer.probability import JointTable
/// >>> table = JointTable(
/// ...     {"temp": ["hot", "cold"], "weather": ["sunny", "cloudy", "rainy"]},
/// ...     [150, 40, 5, 50, 60, 60],
/// ... )
/// >>> table.fraction({"temp": "hot"})
/// (195, 365)
#[pyclass(frozen, module = "mercer._mercer")]
pub struct JointTable(core::JointTable);

#[pymethods]
impl JointTable {
    #[new]
    #[pyo3(signature = (variables, cells, kind="counts"))]
    fn new(variables: &Bound<'_, PyDict>, cells: Vec<f64>, kind: &str) -> PyResult<JointTable> {
        let mut read = Vec::new();
        for (name, values) in variables {
            let values =
                values.try_iter()?.map(|v| word(&v?)).collect::<PyResult<Vec<String>>>()?;
            read.push(Variable::new(word(&name)?, values));
        }
        match kind {
            "counts" => core::JointTable::from_counts(read, cells),
            "probabilities" => core::JointTable::from_probabilities(read, cells),
            _ => {
                let why = format!("kind is {kind:?}; it must be \"counts\" or \"probabilities\"");
                return Err(PyValueError::new_err(why));
            }
        }
        .map(JointTable)
        .map_err(raised)
    }

    /// Count rows given as columns; None is missing, and rows with a gap are left out.
    #[staticmethod]
    #[pyo3(signature = (columns, counts=None))]
    fn from_columns(columns: &Bound<'_, PyDict>, counts: Option<Vec<f64>>) -> PyResult<JointTable> {
        let mut read = Vec::new();
        for (name, values) in columns {
            let words = values
                .try_iter()?
                .map(|v| v.and_then(|v| if v.is_none() { Ok(None) } else { word(&v).map(Some) }))
                .collect::<PyResult<Vec<Option<String>>>>()?;
            let levels = Arc::new(Levels::new(words.iter().flatten().cloned().collect()));
            let codes =
                words.iter().map(|w| w.as_ref().map_or(MISSING, |w| levels.code(w))).collect();
            let values = Values::Categories { codes, levels };
            read.push(Column { name: word(&name)?, values });
        }
        let asked: Vec<String> = read.iter().map(|c| c.name.clone()).collect();
        // A name that no column of Python's can have taken.
        let weight = "\0counts";
        let weighted = counts.is_some();
        if let Some(counts) = counts {
            read.push(Column { name: weight.into(), values: Values::Numbers(counts) });
        }
        let table = Table::new(read).map_err(raised)?;
        core::JointTable::from_table(&table, &names(&asked), weighted.then_some(weight))
            .map(|(table, _)| JointTable(table))
            .map_err(raised)
    }

    /// The variables and their values.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for v in self.0.variables() {
            all.set_item(&v.name, &v.values)?;
        }
        Ok(all)
    }

    /// The cells, the last variable's values side by side.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.cells().to_vec().into_pyarray(py)
    }

    /// What the cells add up to.
    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }

    /// P(what), or P(what | given), as a number.
    #[pyo3(signature = (what, given=None))]
    fn probability(
        &self,
        what: &Bound<'_, PyDict>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<f64> {
        let share = self.0.conditional(&event(Some(what))?, &event(given)?).map_err(raised)?;
        Ok(share.value())
    }

    /// The same as numerator and denominator, where the cells are whole counts; else None.
    #[pyo3(signature = (what, given=None))]
    fn fraction(
        &self,
        what: &Bound<'_, PyDict>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<(u64, u64)>> {
        let share = self.0.conditional(&event(Some(what))?, &event(given)?).map_err(raised)?;
        Ok(share.fraction())
    }

    /// The table of some variables, the others summed out.
    #[pyo3(signature = (*variables))]
    fn marginal(&self, variables: Vec<String>) -> PyResult<JointTable> {
        self.0.marginal(&names(&variables)).map(JointTable).map_err(raised)
    }

    /// The table among the cases where something happened.
    fn given(&self, what: &Bound<'_, PyDict>) -> PyResult<JointTable> {
        self.0.given(&event(Some(what))?).map(JointTable).map_err(raised)
    }

    /// The factors of P(A) P(B | A) ... for the parts of an event, in order.
    fn chain_rule<'py>(&self, what: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        told(what.py(), &self.0.chain_rule(&event(Some(what))?).map_err(raised)?)
    }

    /// The terms of sum P(what | by = b) P(by = b).
    fn total_probability<'py>(
        &self,
        what: &Bound<'py, PyDict>,
        by: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(what.py(), &self.0.total_probability(&event(Some(what))?, by).map_err(raised)?)
    }

    /// The mean of a variable whose values are numbers.
    fn expectation(&self, variable: &str) -> PyResult<f64> {
        self.0.expectation(variable).map_err(raised)
    }

    /// The variance of a variable whose values are numbers.
    fn variance(&self, variable: &str) -> PyResult<f64> {
        self.0.variance(variable).map_err(raised)
    }

    /// The covariance of two variables whose values are numbers.
    fn covariance(&self, a: &str, b: &str) -> PyResult<f64> {
        self.0.covariance(a, b).map_err(raised)
    }

    /// The entropy of some variables together, in bits.
    #[pyo3(signature = (*variables))]
    fn entropy(&self, variables: Vec<String>) -> PyResult<f64> {
        self.0.entropy(&names(&variables)).map_err(raised)
    }

    /// What one variable tells about another, given any others, in bits.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn mutual_information(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<f64> {
        self.0.mutual_information(a, b, &names(&given)).map_err(raised)
    }

    /// Whether two variables are independent, given any others, up to rounding.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn independent(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<bool> {
        self.0.independent(a, b, &names(&given)).map_err(raised)
    }

    /// The G and chi-squared tests of independence, given any others.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn test_independence<'py>(
        &self,
        py: Python<'py>,
        a: &str,
        b: &str,
        given: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.test_independence(a, b, &names(&given)).map_err(raised)?)
    }

    /// How many numbers the table needs, and would need if all variables were independent.
    fn free_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.free_parameters())
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.0.variables().iter().map(|v| v.name.as_str()).collect();
        format!("JointTable({}; total {})", names.join(", "), self.0.total())
    }
}

/// Bayes' theorem with its steps.
///
/// With numbers: one hypothesis, and either the probability of the evidence or its likelihood
/// against the hypothesis. With dictionaries of the same keys: several hypotheses.
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
                PyValueError::new_err(format!("likelihood says nothing about {name}"))
            })?;
            names.push(word(&name)?);
            p.push(value.extract::<f64>()?);
            l.push(of.extract::<f64>()?);
        }
        if given.len() != names.len() {
            return Err(PyValueError::new_err("likelihood has hypotheses that prior has not"));
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
            _ => return Err(PyValueError::new_err("give either evidence or against")),
        }
    };
    told(py, &rule.map_err(raised)?)
}

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

type Ends = (f64, f64);

fn ends(interval: mercer::Result<conjugate::Interval>) -> PyResult<Ends> {
    interval.map(|i| (i.low, i.high)).map_err(raised)
}

/// A beta distribution over the chance of a success.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Beta(conjugate::Beta);

#[pymethods]
impl Beta {
    #[new]
    #[pyo3(signature = (alpha=1.0, beta=1.0))]
    fn new(alpha: f64, beta: f64) -> PyResult<Beta> {
        conjugate::Beta::new(alpha, beta).map(Beta).map_err(raised)
    }

    /// alpha and beta.
    #[getter]
    fn parameters(&self) -> Ends {
        (self.0.alpha(), self.0.beta())
    }

    /// The mean: also the chance that the next one succeeds.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The chance believed most, if one is.
    #[getter]
    fn mode(&self) -> Option<f64> {
        self.0.mode()
    }

    /// The belief after successes and failures.
    fn updated(&self, successes: f64, failures: f64) -> PyResult<Beta> {
        self.0.updated(successes, failures).map(Beta).map_err(raised)
    }

    /// The equal-tailed credible interval.
    #[pyo3(signature = (level=0.95))]
    fn interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.interval(level))
    }

    /// The log-probability that k of the next n succeed.
    fn log_predictive(&self, k: f64, n: f64) -> PyResult<f64> {
        self.0.ln_predictive(k, n).map_err(raised)
    }

    /// Maximum likelihood, MAP, mean and interval after successes and failures.
    #[pyo3(signature = (successes, failures, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        successes: f64,
        failures: f64,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.estimate(successes, failures, level).map_err(raised)?)
    }

    fn __repr__(&self) -> String {
        format!("Beta({}, {})", self.0.alpha(), self.0.beta())
    }
}

/// A Dirichlet distribution over the chances of several outcomes.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Dirichlet(conjugate::Dirichlet);

#[pymethods]
impl Dirichlet {
    #[new]
    fn new(alpha: Vec<f64>) -> PyResult<Dirichlet> {
        conjugate::Dirichlet::new(alpha).map(Dirichlet).map_err(raised)
    }

    /// One number an outcome.
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.alpha().to_vec().into_pyarray(py)
    }

    /// The mean: also the chance that the next is each outcome.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.mean().into_pyarray(py)
    }

    /// The chances believed most, if there are such.
    #[getter]
    fn mode<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.mode().map(|mode| mode.into_pyarray(py))
    }

    /// The belief after counts.
    fn updated(&self, counts: Vec<f64>) -> PyResult<Dirichlet> {
        self.0.updated(&counts).map(Dirichlet).map_err(raised)
    }

    /// The equal-tailed credible interval of one outcome's chance.
    #[pyo3(signature = (outcome, level=0.95))]
    fn interval(&self, outcome: usize, level: f64) -> PyResult<Ends> {
        ends(self.0.marginal(outcome).and_then(|beta| beta.interval(level)))
    }

    /// The log-probability of the counts of the next draws.
    fn log_predictive(&self, counts: Vec<f64>) -> PyResult<f64> {
        self.0.ln_predictive(&counts).map_err(raised)
    }

    /// Maximum likelihood, MAP, mean and interval of each outcome after counts.
    #[pyo3(signature = (counts, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        counts: Vec<f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.estimate(&counts, level).map_err(raised)?)
    }

    fn __repr__(&self) -> String {
        format!("Dirichlet({:?})", self.0.alpha())
    }
}

/// A normal distribution over the mean of numbers whose variance is known.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct NormalMean(conjugate::NormalMean);

#[pymethods]
impl NormalMean {
    #[new]
    fn new(mean: f64, variance: f64, noise: f64) -> PyResult<NormalMean> {
        conjugate::NormalMean::new(mean, variance, noise).map(NormalMean).map_err(raised)
    }

    /// The mean, which is also the mode.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The variance of the mean.
    #[getter]
    fn variance(&self) -> f64 {
        self.0.variance()
    }

    /// The belief after numbers.
    fn updated(&self, values: Vec<f64>) -> PyResult<NormalMean> {
        self.0.updated(&values).map(NormalMean).map_err(raised)
    }

    /// The equal-tailed credible interval of the mean.
    #[pyo3(signature = (level=0.95))]
    fn interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.interval(level))
    }

    /// The interval in which the next number lies with a probability.
    #[pyo3(signature = (level=0.95))]
    fn predictive_interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.predictive_interval(level))
    }

    /// The log-density of the next number.
    fn log_predictive(&self, x: f64) -> f64 {
        self.0.ln_predictive(x)
    }

    /// Maximum likelihood, MAP, mean and interval after numbers.
    #[pyo3(signature = (values, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        values: Vec<f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.estimate(&values, level).map_err(raised)?)
    }
}

/// A distribution over the mean and the variance of numbers: normal and inverse gamma.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct NormalInverseGamma(conjugate::NormalInverseGamma);

#[pymethods]
impl NormalInverseGamma {
    #[new]
    fn new(mean: f64, kappa: f64, alpha: f64, beta: f64) -> PyResult<NormalInverseGamma> {
        conjugate::NormalInverseGamma::new(mean, kappa, alpha, beta)
            .map(NormalInverseGamma)
            .map_err(raised)
    }

    /// mean, kappa, alpha and beta.
    #[getter]
    fn parameters(&self) -> (f64, f64, f64, f64) {
        self.0.parameters().into()
    }

    /// The mean and the variance that are most probable together.
    #[getter]
    fn mode(&self) -> Ends {
        self.0.mode()
    }

    /// The belief after numbers.
    fn updated(&self, values: Vec<f64>) -> PyResult<NormalInverseGamma> {
        self.0.updated(&values).map(NormalInverseGamma).map_err(raised)
    }

    /// The equal-tailed credible interval of the mean.
    #[pyo3(signature = (level=0.95))]
    fn mean_interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.mean_interval(level))
    }

    /// The equal-tailed credible interval of the variance.
    #[pyo3(signature = (level=0.95))]
    fn variance_interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.variance_interval(level))
    }

    /// The interval in which the next number lies with a probability.
    #[pyo3(signature = (level=0.95))]
    fn predictive_interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.predictive_interval(level))
    }

    /// The log-density of the next number.
    fn log_predictive(&self, x: f64) -> f64 {
        self.0.ln_predictive(x)
    }

    /// Maximum likelihood, MAP, mean and interval of mean and variance after numbers.
    #[pyo3(signature = (values, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        values: Vec<f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.estimate(&values, level).map_err(raised)?)
    }
}

/// A gamma distribution over how many events come in a unit of time.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Gamma(conjugate::Gamma);

#[pymethods]
impl Gamma {
    #[new]
    fn new(shape: f64, rate: f64) -> PyResult<Gamma> {
        conjugate::Gamma::new(shape, rate).map(Gamma).map_err(raised)
    }

    /// shape and rate.
    #[getter]
    fn parameters(&self) -> Ends {
        (self.0.shape(), self.0.rate())
    }

    /// The mean.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The rate believed most.
    #[getter]
    fn mode(&self) -> f64 {
        self.0.mode()
    }

    /// The belief after so many events in so much time.
    fn updated(&self, events: f64, time: f64) -> PyResult<Gamma> {
        self.0.updated(events, time).map(Gamma).map_err(raised)
    }

    /// The equal-tailed credible interval.
    #[pyo3(signature = (level=0.95))]
    fn interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.interval(level))
    }

    /// The log-probability of k events in the next time.
    #[pyo3(signature = (k, time=1.0))]
    fn log_predictive(&self, k: f64, time: f64) -> PyResult<f64> {
        self.0.ln_predictive(k, time).map_err(raised)
    }

    /// Maximum likelihood, MAP, mean and interval after so many events in so much time.
    #[pyo3(signature = (events, time, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        events: f64,
        time: f64,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.estimate(events, time, level).map_err(raised)?)
    }
}

/// A normal distribution over several numbers at once.
///
/// Parameters
/// ----------
/// mean : array-like
/// covariance : array-like of shape (k, k)
/// names : list of str, optional
///     The coordinates' names; x1, x2, ... if not given.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct MultivariateNormal(core::MultivariateNormal);

fn coordinate_names(names: Option<Vec<String>>, k: usize) -> Vec<String> {
    names.unwrap_or_else(|| (1..=k).map(|i| format!("x{i}")).collect())
}

#[pymethods]
impl MultivariateNormal {
    #[new]
    #[pyo3(signature = (mean, covariance, names=None))]
    fn new(
        mean: Vec<f64>,
        covariance: Vec<Vec<f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<MultivariateNormal> {
        let width = covariance.first().map_or(0, Vec::len);
        let matrix = Matrix::from_shape_vec((covariance.len(), width), covariance.concat())
            .map_err(|_| PyValueError::new_err("the rows of covariance differ in length"))?;
        let names = coordinate_names(names, mean.len());
        core::MultivariateNormal::new(names, mean, matrix).map(MultivariateNormal).map_err(raised)
    }

    /// Fit to the rows of a matrix; unbiased divides squares by the number of rows less one.
    #[staticmethod]
    #[pyo3(signature = (x, names=None, unbiased=false))]
    fn fit(
        x: PyReadonlyArray2<'_, f64>,
        names: Option<Vec<String>>,
        unbiased: bool,
    ) -> PyResult<MultivariateNormal> {
        let rows = Rows::Dense(x.as_array());
        let names = coordinate_names(names, rows.n_columns());
        let fit = match unbiased {
            true => core::MultivariateNormal::fit_unbiased,
            false => core::MultivariateNormal::fit,
        };
        fit(names, &rows).map(MultivariateNormal).map_err(raised)
    }

    /// The coordinates' names.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// The mean.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.mean().to_vec().into_pyarray(py)
    }

    /// The covariance.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.covariance().clone().into_pyarray(py)
    }

    /// The log-density of a point.
    fn log_density(&self, x: Vec<f64>) -> PyResult<f64> {
        self.0.ln_density(&x).map_err(raised)
    }

    /// The distance of a point from the mean, in deviations.
    fn mahalanobis(&self, x: Vec<f64>) -> PyResult<f64> {
        self.0.mahalanobis(&x).map_err(raised)
    }

    /// The chance that a draw is at least as far from the mean.
    fn tail(&self, x: Vec<f64>) -> PyResult<f64> {
        self.0.tail(&x).map_err(raised)
    }

    /// The distribution of some coordinates.
    #[pyo3(signature = (*names))]
    fn marginal(&self, names: Vec<String>) -> PyResult<MultivariateNormal> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.0.marginal(&names).map(MultivariateNormal).map_err(raised)
    }

    /// The distribution of the other coordinates when some are known.
    fn given(&self, known: &Bound<'_, PyDict>) -> PyResult<MultivariateNormal> {
        let known = known
            .iter()
            .map(|(name, x)| Ok((word(&name)?, x.extract::<f64>()?)))
            .collect::<PyResult<Vec<_>>>()?;
        let known: Vec<(&str, f64)> = known.iter().map(|(n, x)| (n.as_str(), *x)).collect();
        self.0.given(&known).map(MultivariateNormal).map_err(raised)
    }

    /// New rows, drawn by a seed.
    #[pyo3(signature = (n, seed=0))]
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> Bound<'py, PyArray2<f64>> {
        self.0.sample(n, &mut Random::new(seed)).into_pyarray(py)
    }

    fn __repr__(&self) -> String {
        format!("MultivariateNormal({})", self.0.names().join(", "))
    }
}
