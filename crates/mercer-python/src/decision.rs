//! Decision theory: costs, rejection, new priors, thresholds.

use crate::error::raised;
use mercer::decision::risk::{
    TwoGaussians, bayes_risk as bayes_risk_of, optimal_rule as optimal_rule_of,
};
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

/// The decision rule of a cost matrix, a reject cost and priors, all optional.
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

/// Class indices (-1 for rejected rows), expected costs, and the posterior under the new priors.
type Decisions<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// The decisions for the rows of a matrix of log-probabilities.
#[pyfunction]
#[pyo3(signature = (log_proba, cost=None, reject=None, old_priors=None, new_priors=None))]
pub fn decide<'py>(
    py: Python<'py>,
    log_proba: PyReadonlyArray2<'py, f64>,
    cost: Option<PyReadonlyArray2<'py, f64>>,
    reject: Option<f64>,
    old_priors: Option<Vec<f64>>,
    new_priors: Option<Vec<f64>>,
) -> PyResult<Decisions<'py>> {
    let log_proba = log_proba.as_array();
    if log_proba.iter().any(|p| p.is_nan() || *p > 1e-9) {
        return Err(PyValueError::new_err("proba has values that are not between 0 and 1"));
    }
    let cost = cost.map(|cost| cost.as_array().to_owned());
    let rule = rule(log_proba.ncols(), cost, reject, old_priors, new_priors)?;
    let (mut actions, mut risks) = (Vec::new(), Vec::new());
    let mut adjusted = Matrix::zeros(log_proba.dim());
    for (row, mut out) in log_proba.outer_iter().zip(adjusted.outer_iter_mut()) {
        let row = row.to_vec();
        let decision = rule.decide(&row).map_err(raised)?;
        actions.push(match decision.action {
            Action::Class(c) => c as i64,
            Action::Reject => -1,
        });
        risks.push(decision.risk);
        let posterior = rule.adjusted(&row).map_err(raised)?;
        out.iter_mut().zip(posterior).for_each(|(out, p)| *out = p.exp());
    }
    Ok((actions.into_pyarray(py), risks.into_pyarray(py), adjusted.into_pyarray(py)))
}

/// New priors of all classes from those of some, given as pairs of class index and prior: the other classes have
/// the remaining probability, in proportion to their old priors.
#[pyfunction]
pub fn new_priors(old: Vec<f64>, given: Vec<(usize, f64)>) -> PyResult<Vec<f64>> {
    core::new_priors(&old, &given).map_err(raised)
}

/// A threshold, its false-positive rate and its true-positive rate.
type OperatingPoint = (f64, f64, f64);

fn point(point: mercer::Result<core::OperatingPoint>) -> PyResult<OperatingPoint> {
    let point = point.map_err(raised)?;
    Ok((point.threshold, point.false_positive_rate, point.true_positive_rate))
}

/// The threshold of the highest true-positive rate with a false-positive rate of at most `max_rate`.
#[pyfunction]
pub fn neyman_pearson(
    scores: Vec<f64>,
    positive: Vec<bool>,
    max_rate: f64,
) -> PyResult<OperatingPoint> {
    point(core::neyman_pearson(&scores, &positive, max_rate))
}

/// The threshold that minimizes the larger of the two error rates, each multiplied by its cost.
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

/// The threshold below which at most a fraction of the log-densities lies.
#[pyfunction]
pub fn outlier_threshold(log_densities: Vec<f64>, fraction: f64) -> PyResult<f64> {
    core::outlier_threshold(&log_densities, fraction).map_err(raised)
}

/// The action (column) with the smallest maximum cost.
#[pyfunction]
pub fn minimax(cost: PyReadonlyArray2<'_, f64>) -> PyResult<usize> {
    core::minimax(&cost.as_array().to_owned()).map_err(raised)
}

/// The point estimate of minimum expected loss for a weighted sample.
#[pyfunction]
#[pyo3(signature = (values, weights, loss="squared", quantile=0.5))]
pub fn point_estimate(
    values: Vec<f64>,
    weights: Vec<f64>,
    loss: &str,
    quantile: f64,
) -> PyResult<f64> {
    let loss = match loss {
        "squared" => RegressionLoss::Squared,
        "absolute" => RegressionLoss::Absolute,
        "zero-one" => RegressionLoss::ZeroOne,
        "quantile" => RegressionLoss::Quantile(quantile),
        _ => {
            let why =
                format!("loss is {loss:?}; it must be squared, absolute, zero-one or quantile");
            return Err(PyValueError::new_err(why));
        }
    };
    loss.best(&values, &weights).map_err(raised)
}

/// The Bayes risk of a joint distribution p(x, y).
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

/// Class indices (-1 for a rejection), conditional risks, and the Bayes risk.
type OptimalRule<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, f64);

/// The optimal action for every x of a joint distribution (-1 for a rejection), its conditional risk, and the Bayes
/// risk.
#[pyfunction]
#[pyo3(signature = (joint, cost=None, reject=None))]
pub fn optimal_rule<'py>(
    py: Python<'py>,
    joint: PyReadonlyArray2<'py, f64>,
    cost: Option<PyReadonlyArray2<'py, f64>>,
    reject: Option<f64>,
) -> PyResult<OptimalRule<'py>> {
    let joint = joint.as_array().to_owned();
    let cost = cost.map(|cost| cost.as_array().to_owned());
    let rule = optimal_rule_of(&joint, &costs(cost, joint.ncols(), reject)?).map_err(raised)?;
    let actions: Vec<i64> = (rule.decisions.iter())
        .map(|d| match d.action {
            Action::Class(c) => c as i64,
            Action::Reject => -1,
        })
        .collect();
    let risks: Vec<f64> = rule.decisions.iter().map(|d| d.risk).collect();
    Ok((actions.into_pyarray(py), risks.into_pyarray(py), rule.risk))
}

/// The optimal rule for two univariate Gaussian classes: intervals with the class predicted inside (0 or 1).
#[pyfunction]
pub fn two_normals_regions(
    prior: f64,
    means: [f64; 2],
    variances: [f64; 2],
) -> PyResult<Vec<(f64, f64, usize)>> {
    let regions = TwoGaussians::new(prior, means, variances).map_err(raised)?.regions();
    Ok(regions.into_iter().map(|([low, high], class)| (low, high, class)).collect())
}

/// The Bayes error of two univariate Gaussian classes.
#[pyfunction]
pub fn two_normals_error(prior: f64, means: [f64; 2], variances: [f64; 2]) -> PyResult<f64> {
    Ok(TwoGaussians::new(prior, means, variances).map_err(raised)?.bayes_error())
}
