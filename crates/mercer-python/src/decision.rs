//! From posteriors to answers: costs, rejection, new priors, thresholds.

use crate::error::raised;
use mercer::decision::risk::{TwoGaussians, bayes_risk as bayes_risk_of};
use mercer::decision::{self as core, Action, Costs, DecisionRule, RegressionLoss};
use mercer_num::Matrix;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn costs(cost: Option<Matrix>, n_classes: usize, reject: Option<f64>) -> PyResult<Costs> {
    let costs = match cost {
        Some(matrix) => Costs::new(matrix).map_err(raised)?,
        None => Costs::zero_one(n_classes),
    };
    match reject {
        Some(reject) => costs.with_reject(reject).map_err(raised),
        None => Ok(costs),
    }
}

/// The rule of costs, a reject cost and priors, where there are any.
pub fn rule(
    n_classes: usize,
    cost: Option<Matrix>,
    reject: Option<f64>,
    old_priors: Option<Vec<f64>>,
    new_priors: Option<Vec<f64>>,
) -> PyResult<DecisionRule> {
    let rule = DecisionRule::new(costs(cost, n_classes, reject)?);
    match (old_priors, new_priors) {
        (Some(old), Some(new)) => rule.with_priors(&old, &new).map_err(raised),
        _ => Ok(rule),
    }
}

/// Answers by place (-1 where none is given), what each is expected to cost, and the posterior under
/// the new priors, all from log-probabilities.
type Decided<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// Decide every row of a matrix of log-probabilities.
#[pyfunction]
#[pyo3(signature = (log_proba, cost=None, reject=None, old_priors=None, new_priors=None))]
pub fn decide<'py>(
    py: Python<'py>,
    log_proba: PyReadonlyArray2<'py, f64>,
    cost: Option<PyReadonlyArray2<'py, f64>>,
    reject: Option<f64>,
    old_priors: Option<Vec<f64>>,
    new_priors: Option<Vec<f64>>,
) -> PyResult<Decided<'py>> {
    let log_proba = log_proba.as_array();
    if log_proba.iter().any(|p| p.is_nan() || *p > 1e-9) {
        return Err(PyValueError::new_err("a probability is not between 0 and 1"));
    }
    let cost = cost.map(|cost| cost.as_array().to_owned());
    let rule = rule(log_proba.ncols(), cost, reject, old_priors, new_priors)?;
    let (mut answers, mut risks) = (Vec::new(), Vec::new());
    let mut adjusted = Matrix::zeros(log_proba.dim());
    for (row, mut out) in log_proba.outer_iter().zip(adjusted.outer_iter_mut()) {
        let row = row.to_vec();
        let decision = rule.decide(&row).map_err(raised)?;
        answers.push(match decision.action {
            Action::Class(c) => c as i64,
            Action::Reject => -1,
        });
        risks.push(decision.risk);
        let posterior = rule.adjusted(&row).map_err(raised)?;
        out.iter_mut().zip(posterior).for_each(|(out, p)| *out = p.exp());
    }
    Ok((answers.into_pyarray(py), risks.into_pyarray(py), adjusted.into_pyarray(py)))
}

/// All priors from some, by place: the other classes share the rest as they shared it before.
#[pyfunction]
pub fn new_priors(old: Vec<f64>, given: Vec<(usize, f64)>) -> PyResult<Vec<f64>> {
    core::new_priors(&old, &given).map_err(raised)
}

/// Threshold, false-positive rate and true-positive rate.
type OperatingPoint = (f64, f64, f64);

fn point(point: mercer::Result<core::OperatingPoint>) -> PyResult<OperatingPoint> {
    let point = point.map_err(raised)?;
    Ok((point.threshold, point.false_positive_rate, point.true_positive_rate))
}

/// The cut-off that finds most while at most a share of the negative rows is called positive.
#[pyfunction]
pub fn neyman_pearson(
    scores: Vec<f64>,
    positive: Vec<bool>,
    max_rate: f64,
) -> PyResult<OperatingPoint> {
    point(core::neyman_pearson(&scores, &positive, max_rate))
}

/// The cut-off whose worse mistake, weighted by its cost, is as rare as it can be.
#[pyfunction]
#[pyo3(signature = (scores, positive, alarm_cost=1.0, miss_cost=1.0))]
pub fn minimax_threshold(
    scores: Vec<f64>,
    positive: Vec<bool>,
    alarm_cost: f64,
    miss_cost: f64,
) -> PyResult<OperatingPoint> {
    point(core::minimax_threshold(&scores, &positive, alarm_cost, miss_cost))
}

/// The log-density below which a row is called a stranger.
#[pyfunction]
pub fn outlier_threshold(log_densities: Vec<f64>, share: f64) -> PyResult<f64> {
    core::outlier_threshold(&log_densities, share).map_err(raised)
}

/// The answer (column) whose worst cost is least.
#[pyfunction]
pub fn minimax(cost: PyReadonlyArray2<'_, f64>) -> PyResult<usize> {
    core::minimax(&cost.as_array().to_owned()).map_err(raised)
}

/// The number of least expected loss where values have these weights.
#[pyfunction]
#[pyo3(signature = (values, weights, loss="squared", quantile=0.5))]
pub fn best_number(
    values: Vec<f64>,
    weights: Vec<f64>,
    loss: &str,
    quantile: f64,
) -> PyResult<f64> {
    let loss = match loss {
        "squared" => RegressionLoss::Squared,
        "absolute" => RegressionLoss::Absolute,
        "quantile" => RegressionLoss::Quantile(quantile),
        _ => {
            let why = format!("loss is {loss:?}; it must be squared, absolute or quantile");
            return Err(PyValueError::new_err(why));
        }
    };
    loss.best(&values, &weights).map_err(raised)
}

/// The least risk any rule can reach where p(x, y) is known.
#[pyfunction]
#[pyo3(signature = (joint, cost=None, reject=None))]
pub fn bayes_risk(
    joint: PyReadonlyArray2<'_, f64>,
    cost: Option<PyReadonlyArray2<'_, f64>>,
    reject: Option<f64>,
) -> PyResult<f64> {
    let joint = joint.as_array().to_owned();
    let cost = cost.map(|cost| cost.as_array().to_owned());
    bayes_risk_of(&joint, &costs(cost, joint.ncols(), reject)?).map_err(raised)
}

/// The Bayes error of two classes that are bell curves over one number.
#[pyfunction]
pub fn two_normals_error(prior: f64, means: [f64; 2], variances: [f64; 2]) -> PyResult<f64> {
    Ok(TwoGaussians::new(prior, means, variances).map_err(raised)?.bayes_error())
}
