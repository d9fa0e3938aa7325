//! The duality gap of weights found by stochastic gradient descent, and Novikoff's bound for the perceptron.
//!
//! For a penalized problem the derivatives `aᵢ = L'(yᵢ, pᵢ)`, scaled towards zero until those of both signs have the
//! same sum (the condition of the unpenalized intercept), are a dual point. By weak duality its value
//! `−1/n Σ sᵢ L*(aᵢ) − R*(−1/n Σ sᵢ aᵢ xᵢ)` is a lower bound on the objective. The perceptron minimizes no penalized
//! objective; its certificate counts the mistakes of the last epoch.

use super::descent::{SgdData, SgdOptions, SgdResult};
use super::lazy_weights::LinearWeights;
use crate::model::{Certificate, Monitor};
use mercer_num::parallel::prelude::*;
use std::ops::Range;

/// Rows whose losses are added by one parallel task.
const ROWS_PER_TASK: usize = 1024;

/// Scores of all rows and subproblems that are computed at once.
const MAX_SCORES: usize = 4_000_000;

/// The certificate of the fitted weights.
pub(crate) fn certificate(
    options: &SgdOptions,
    data: &SgdData<'_>,
    result: &SgdResult,
    monitor: &Monitor<'_>,
) -> Certificate {
    let weights = result.fitted();
    let m = weights.intercepts.len();
    if data.design.n_rows() * m > MAX_SCORES {
        return certificate_by_class(options, data, result, monitor);
    }
    let mut cells = weights.coefficients.clone();
    if data.design.intercept {
        cells.extend(&weights.intercepts);
    }
    let mut scores = vec![0.0; data.design.n_rows() * m];
    data.design.scores(&cells, m, &mut scores);
    let mut how = format!("{} updates", result.updates.iter().sum::<u64>());
    let certificate = Certificate::stochastic(result.met_rule(options), result.stopped);
    if options.loss.is_perceptron() {
        let mistakes: u64 = result.mistakes.iter().sum();
        if let Some(text) = separated(options, data, result, weights, &scores) {
            how += &text;
        }
        return certificate.objective("mistakes in the last epoch", mistakes as f64).note(how);
    }
    let objective = objective(options, data, weights, &scores, 0..m, m);
    let name = match options.step_size.rate.is_passive_aggressive() {
        true => "mean loss",
        false => "penalized mean loss",
    };
    let certificate = certificate.objective(name, objective.value).note(how);
    match objective.bound {
        Some(bound) => certificate.dual(bound),
        None => certificate.violation("norm of a subgradient", objective.gradient),
    }
}

/// The same for many classes, one after the other: the scores of all rows for all classes would take too much memory, and
/// a monitor could not stop their computation.
fn certificate_by_class(
    options: &SgdOptions,
    data: &SgdData<'_>,
    result: &SgdResult,
    monitor: &Monitor<'_>,
) -> Certificate {
    let weights = result.fitted();
    let m = weights.intercepts.len();
    let how = format!("{} updates", result.updates.iter().sum::<u64>());
    let mistakes: u64 = result.mistakes.iter().sum();
    if options.loss.is_perceptron() {
        return Certificate::stochastic(result.met_rule(options), result.stopped)
            .objective("mistakes in the last epoch", mistakes as f64)
            .note(how);
    }
    let (mut value, mut bound, mut squared_gradient) = (0.0, Some(0.0), 0.0);
    let mut scores = vec![0.0; data.design.n_rows()];
    for k in 0..m {
        if let Some(stop) = monitor.stop() {
            return Certificate::stochastic(false, Some(result.stopped.unwrap_or(stop)))
                .note(how)
                .note("the objective was not computed before the stop");
        }
        let own = weights.of_output(k);
        let mut cells = own.coefficients.clone();
        if data.design.intercept {
            cells.extend(&own.intercepts);
        }
        data.design.scores(&cells, 1, &mut scores);
        let objective = objective(options, data, &own, &scores, k..k + 1, m);
        value += objective.value;
        bound = bound.zip(objective.bound).map(|(sum, own)| sum + own);
        squared_gradient += objective.gradient * objective.gradient;
    }
    let name = match options.step_size.rate.is_passive_aggressive() {
        true => "mean loss",
        false => "penalized mean loss",
    };
    let certificate = Certificate::stochastic(result.met_rule(options), result.stopped)
        .objective(name, value)
        .note(how);
    match bound {
        Some(bound) => certificate.dual(bound),
        None => certificate.violation("norm of a subgradient", squared_gradient.sqrt()),
    }
}

struct Objective {
    value: f64,
    bound: Option<f64>,
    gradient: f64,
}

/// The objective of some of all `n_outputs` subproblems, from their weights and scores.
fn objective(
    options: &SgdOptions,
    data: &SgdData<'_>,
    weights: &LinearWeights,
    scores: &[f64],
    outputs: Range<usize>,
    n_outputs: usize,
) -> Objective {
    let (n, m, width) = (data.design.n_rows(), outputs.len(), data.design.width());
    let row_weight = |i: usize, k: usize| {
        data.sample_weight(i) * data.targets.class_weight(i, k, n_outputs) / n as f64
    };
    let at = |index: usize| (index / m, outputs.start + index % m);
    // The weighted derivatives of the loss, and its sums in a fixed order.
    let mut derivatives = vec![0.0; n * m];
    let parts: Vec<f64> = derivatives
        .par_chunks_mut(ROWS_PER_TASK * m)
        .zip(scores.par_chunks(ROWS_PER_TASK * m))
        .enumerate()
        .map(|(part, (derivatives, scores))| {
            let mut sum = 0.0;
            for (index, (derivative, p)) in derivatives.iter_mut().zip(scores).enumerate() {
                let (i, k) = at(part * ROWS_PER_TASK * m + index);
                let (y, row_weight) = (data.targets.target(i, k, n_outputs), row_weight(i, k));
                sum += row_weight * options.loss.value(y, *p);
                *derivative = row_weight * options.loss.derivative(y, *p);
            }
            sum
        })
        .collect();
    let mut value: f64 = parts.iter().sum();
    let penalizes = !options.step_size.rate.is_passive_aggressive();
    if penalizes {
        let squares: f64 = weights.coefficients.iter().map(|w| w * w).sum();
        let absolutes: f64 = weights.coefficients.iter().map(|w| w.abs()).sum();
        value += 0.5 * options.l2_penalty * squares + options.l1_penalty * absolutes;
    }
    let mut sums = vec![0.0; data.design.n_weights() * m];
    data.design.transpose_product(&derivatives, m, &mut sums);
    let squared_component = |(index, sum): (usize, &f64)| {
        let w = weights.coefficients.get(index).copied().unwrap_or(0.0);
        let l1 = if index < width * m && penalizes { options.l1_penalty } else { 0.0 };
        let smooth = sum + if penalizes { options.l2_penalty * w } else { 0.0 };
        // At zero, |w| has every subgradient in [−1, 1].
        let rest = if w == 0.0 { (smooth.abs() - l1).max(0.0) } else { smooth + l1 * w.signum() };
        rest * rest
    };
    let gradient = sums.iter().enumerate().map(squared_component).sum::<f64>().sqrt();
    let bound = (penalizes && options.l2_penalty + options.l1_penalty > 0.0)
        .then(|| {
            let own =
                |k: usize| -> Vec<f64> { derivatives.iter().skip(k).step_by(m).copied().collect() };
            let output = |k: usize| (outputs.start + k, n_outputs);
            (0..m).map(|k| dual(options, data, own(k), output(k))).sum::<Option<f64>>()
        })
        .flatten();
    Objective { value, bound, gradient }
}

/// The dual objective of the derivatives of one subproblem, scaled to be feasible.
fn dual(
    options: &SgdOptions,
    data: &SgdData<'_>,
    mut own: Vec<f64>,
    (k, m): (usize, usize),
) -> Option<f64> {
    let (n, width) = (data.design.n_rows(), data.design.width());
    if data.design.intercept {
        let positive: f64 = own.iter().filter(|a| **a > 0.0).sum();
        let negative: f64 = -own.iter().filter(|a| **a < 0.0).sum::<f64>();
        let (scale_positive, scale_negative) =
            ((negative / positive).min(1.0), (positive / negative).min(1.0));
        for a in &mut own {
            *a *= if *a > 0.0 { scale_positive } else { scale_negative };
        }
    }
    let mut products = vec![0.0; data.design.n_weights()];
    data.design.transpose_product(&own, 1, &mut products);
    products.truncate(width);
    if options.l2_penalty <= 0.0 {
        // Without an L2 penalty, dual feasibility is `‖Σ aᵢ xᵢ‖∞ ≤ μ`.
        let largest = products.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        if largest > options.l1_penalty {
            own.iter_mut().for_each(|a| *a *= options.l1_penalty / largest);
        }
    }
    let conjugates: f64 = (0..n)
        .map(|i| {
            let row_weight = data.sample_weight(i) * data.targets.class_weight(i, k, m) / n as f64;
            match row_weight > 0.0 {
                true => {
                    row_weight
                        * options.loss.conjugate(data.targets.target(i, k, m), own[i] / row_weight)
                }
                false => 0.0,
            }
        })
        .sum();
    let regularizer: f64 = match options.l2_penalty > 0.0 {
        true => {
            let beyond = |v: &f64| (v.abs() - options.l1_penalty).max(0.0).powi(2);
            products.iter().map(beyond).sum::<f64>() / (2.0 * options.l2_penalty)
        }
        false => 0.0,
    };
    let value = -conjugates - regularizer;
    value.is_finite().then_some(value)
}

/// The margin of weights that separate all rows, and Novikoff's bound `R²/γ²` on the number of updates where the
/// theorem (1962) applies: equal steps from zero, equal sample weights, no penalty.
fn separated(
    options: &SgdOptions,
    data: &SgdData<'_>,
    result: &SgdResult,
    weights: &LinearWeights,
    scores: &[f64],
) -> Option<String> {
    let (n, m) = (data.design.n_rows(), weights.intercepts.len());
    if result.mistakes.iter().any(|n| *n > 0) {
        return None;
    }
    let intercept = f64::from(u8::from(options.fit_intercept));
    let (mut margin, mut bound) = (f64::INFINITY, 0.0);
    for k in 0..m {
        let own_weights = weights.coefficients.iter().skip(k).step_by(m);
        let square: f64 = own_weights.map(|w| w * w).sum::<f64>() + weights.intercepts[k].powi(2);
        let own = (0..n)
            .map(|i| data.targets.target(i, k, m) * scores[i * m + k] / square.sqrt())
            .fold(f64::INFINITY, f64::min);
        margin = margin.min(own);
        let longest = data.squared_norms.iter().fold(0.0, |a: f64, s| a.max(*s)) + intercept;
        bound += longest / (own * own);
    }
    if margin <= 0.0 || !margin.is_finite() {
        return None;
    }
    let mut text = format!("; separated with a margin of {margin:.4}");
    let equal = data.sample_weights.is_empty()
        && (0..n).all(|i| (0..m).all(|k| data.targets.class_weight(i, k, m) == 1.0));
    let plain = options.l2_penalty + options.l1_penalty == 0.0
        && options.intercept_decay == 1.0
        && options.step_size.at(1.0) == options.step_size.at(2.0);
    if equal && plain && result.from_zero && data.held_out.is_empty() {
        text += &format!(", which bounds the updates by {bound:.0} (Novikoff)");
    }
    Some(text)
}
