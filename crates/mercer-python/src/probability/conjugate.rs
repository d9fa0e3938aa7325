//! Conjugate priors: posteriors in closed form.

use super::dictionary;
use crate::error::raised;
use mercer::probability::conjugate;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

type Ends = (f64, f64);

fn ends(interval: mercer::Result<conjugate::Interval>) -> PyResult<Ends> {
    interval.map(|i| (i.low, i.high)).map_err(raised)
}

/// A beta distribution over the success probability of a Bernoulli variable.
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

    /// The mean, which is also the predictive probability of a success.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The median.
    #[getter]
    fn median(&self) -> f64 {
        self.0.median()
    }

    /// The mode, if there is a unique one.
    #[getter]
    fn mode(&self) -> Option<f64> {
        self.0.mode()
    }

    /// The posterior after successes and failures.
    fn updated(&self, successes: f64, failures: f64) -> PyResult<Beta> {
        self.0.updated(successes, failures).map(Beta).map_err(raised)
    }

    /// The equal-tailed credible interval.
    #[pyo3(signature = (level=0.95))]
    fn interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.interval(level))
    }

    /// The log predictive probability of k successes in n trials.
    fn log_predictive(&self, k: f64, n: f64) -> PyResult<f64> {
        self.0.ln_predictive(k, n).map_err(raised)
    }

    /// Maximum likelihood, MAP, mean, median and interval after successes and failures.
    #[pyo3(signature = (successes, failures, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        successes: f64,
        failures: f64,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.estimate(successes, failures, level).map_err(raised)?)
    }

    fn __repr__(&self) -> String {
        format!("Beta({}, {})", self.0.alpha(), self.0.beta())
    }
}

/// A Dirichlet distribution over the probabilities of several outcomes.
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Dirichlet(conjugate::Dirichlet);

#[pymethods]
impl Dirichlet {
    #[new]
    fn new(alpha: Vec<f64>) -> PyResult<Dirichlet> {
        conjugate::Dirichlet::new(alpha).map(Dirichlet).map_err(raised)
    }

    /// The concentration parameters, one per outcome.
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.alpha().to_vec().into_pyarray(py)
    }

    /// The mean, which is also the predictive probability of each outcome.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.mean().into_pyarray(py)
    }

    /// The mode, if there is a unique one.
    #[getter]
    fn mode<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.mode().map(|mode| mode.into_pyarray(py))
    }

    /// The posterior after counts.
    fn updated(&self, counts: Vec<f64>) -> PyResult<Dirichlet> {
        self.0.updated(&counts).map(Dirichlet).map_err(raised)
    }

    /// The equal-tailed credible interval of the probability of one outcome.
    #[pyo3(signature = (outcome, level=0.95))]
    fn interval(&self, outcome: usize, level: f64) -> PyResult<Ends> {
        ends(self.0.marginal(outcome).and_then(|beta| beta.interval(level)))
    }

    /// The log predictive probability of counts.
    fn log_predictive(&self, counts: Vec<f64>) -> PyResult<f64> {
        self.0.ln_predictive(&counts).map_err(raised)
    }

    /// Maximum likelihood, MAP, mean, median and interval of each outcome after counts.
    #[pyo3(signature = (counts, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        counts: Vec<f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.estimate(&counts, level).map_err(raised)?)
    }

    fn __repr__(&self) -> String {
        format!("Dirichlet({:?})", self.0.alpha())
    }
}

/// A normal distribution over the mean of a normal variable with known variance.
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

    /// The posterior after observed values.
    fn updated(&self, values: Vec<f64>) -> PyResult<NormalMean> {
        self.0.updated(&values).map(NormalMean).map_err(raised)
    }

    /// The equal-tailed credible interval of the mean.
    #[pyo3(signature = (level=0.95))]
    fn interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.interval(level))
    }

    /// The equal-tailed predictive interval of the next value.
    #[pyo3(signature = (level=0.95))]
    fn predictive_interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.predictive_interval(level))
    }

    /// The log predictive density of the next value.
    fn log_predictive(&self, x: f64) -> f64 {
        self.0.ln_predictive(x)
    }

    /// Maximum likelihood, MAP, mean, median and interval after observed values.
    #[pyo3(signature = (values, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        values: Vec<f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.estimate(&values, level).map_err(raised)?)
    }
}

/// A normal-inverse-gamma distribution over the mean and the variance of a normal variable.
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

    /// The joint mode of mean and variance.
    #[getter]
    fn mode(&self) -> Ends {
        self.0.mode()
    }

    /// The posterior after observed values.
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

    /// The equal-tailed predictive interval of the next value.
    #[pyo3(signature = (level=0.95))]
    fn predictive_interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.predictive_interval(level))
    }

    /// The log predictive density of the next value.
    fn log_predictive(&self, x: f64) -> f64 {
        self.0.ln_predictive(x)
    }

    /// Maximum likelihood, MAP, mean, median and interval of mean and variance after observed values.
    #[pyo3(signature = (values, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        values: Vec<f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.estimate(&values, level).map_err(raised)?)
    }
}

/// A gamma distribution over the rate of a Poisson process.
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

    /// The median.
    #[getter]
    fn median(&self) -> f64 {
        self.0.median()
    }

    /// The mode.
    #[getter]
    fn mode(&self) -> f64 {
        self.0.mode()
    }

    /// The posterior after `events` events in time `time`.
    fn updated(&self, events: f64, time: f64) -> PyResult<Gamma> {
        self.0.updated(events, time).map(Gamma).map_err(raised)
    }

    /// The equal-tailed credible interval.
    #[pyo3(signature = (level=0.95))]
    fn interval(&self, level: f64) -> PyResult<Ends> {
        ends(self.0.interval(level))
    }

    /// The log predictive probability of k events in time `time`.
    #[pyo3(signature = (k, time=1.0))]
    fn log_predictive(&self, k: f64, time: f64) -> PyResult<f64> {
        self.0.ln_predictive(k, time).map_err(raised)
    }

    /// Maximum likelihood, MAP, mean, median and interval after `events` events in time `time`.
    #[pyo3(signature = (events, time, level=0.95))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        events: f64,
        time: f64,
        level: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.estimate(events, time, level).map_err(raised)?)
    }
}
