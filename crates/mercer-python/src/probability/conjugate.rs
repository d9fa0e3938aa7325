//! Conjugate pairs: what is believed of a number, and moves by a formula.

use super::told;
use crate::error::raised;
use mercer::probability::conjugate;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

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
