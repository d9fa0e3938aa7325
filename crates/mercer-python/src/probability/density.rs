//! The binomial and the multinomial distribution.

use crate::error::raised;
use mercer::probability::density as core;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

/// The binomial distribution: the number of successes in n trials of probability p.
///
/// Factorials are gamma functions, so that n and k need not be integers.
///
/// Examples
/// --------
/// >>> from mercer.probability import Binomial
/// >>> Binomial(4, 0.5).pmf(2)
/// 0.375
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Binomial {
    n: f64,
    p: f64,
    core: core::Binomial,
}

#[pymethods]
impl Binomial {
    #[new]
    fn new(n: f64, p: f64) -> PyResult<Binomial> {
        Ok(Binomial { n, p, core: core::Binomial::new(n, p).map_err(raised)? })
    }

    /// P(k), also for k that is not an integer.
    fn pmf(&self, k: f64) -> f64 {
        self.core.pmf(k)
    }

    /// log P(k).
    fn log_pmf(&self, k: f64) -> f64 {
        self.core.ln_pmf(k)
    }

    /// P(K <= k).
    fn cdf(&self, k: f64) -> f64 {
        self.core.cdf(k)
    }

    /// n p.
    #[getter]
    fn mean(&self) -> f64 {
        self.core.mean()
    }

    /// n p (1 - p).
    #[getter]
    fn variance(&self) -> f64 {
        self.core.variance()
    }

    fn __repr__(&self) -> String {
        format!("Binomial(n={}, p={})", self.n, self.p)
    }
}

/// The multinomial distribution: the counts of several outcomes with probabilities p in n trials.
///
/// Factorials are gamma functions, so that counts need not be integers.
///
/// Examples
/// --------
/// >>> from mercer.probability import Multinomial
/// >>> round(Multinomial([0.5, 0.3, 0.2]).pmf([2, 2, 1]), 10)
/// 0.135
#[pyclass(frozen, module = "mercer._mercer")]
pub struct Multinomial(core::Multinomial);

#[pymethods]
impl Multinomial {
    #[new]
    fn new(p: Vec<f64>) -> PyResult<Multinomial> {
        core::Multinomial::new(p).map(Multinomial).map_err(raised)
    }

    /// P(counts); the number of trials is their sum.
    fn pmf(&self, counts: Vec<f64>) -> PyResult<f64> {
        self.0.pmf(&counts).map_err(raised)
    }

    /// log P(counts).
    fn log_pmf(&self, counts: Vec<f64>) -> PyResult<f64> {
        self.0.ln_pmf(&counts).map_err(raised)
    }

    /// The probabilities of the outcomes.
    #[getter]
    fn p<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.probabilities().to_vec().into_pyarray(py)
    }

    /// The expected counts of n trials.
    fn mean<'py>(&self, py: Python<'py>, n: f64) -> Bound<'py, PyArray1<f64>> {
        self.0.mean(n).into_pyarray(py)
    }

    /// The covariance matrix of the counts of n trials.
    fn covariance<'py>(&self, py: Python<'py>, n: f64) -> Bound<'py, PyArray2<f64>> {
        self.0.covariance(n).into_pyarray(py)
    }

    fn __repr__(&self) -> String {
        format!("Multinomial({:?})", self.0.probabilities())
    }
}
