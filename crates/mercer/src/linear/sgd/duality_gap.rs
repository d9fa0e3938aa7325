//! What is true of planes that were found by steps, worked out from them and the rows alone.
//!
//! With a price on the weights there is a bound: the slopes `aᵢ = L'(yᵢ, pᵢ)`, drawn towards zero until those
//! of both signs weigh the same (the constant term is free), are a point of the dual problem, whose value
//! `−1/n Σ sᵢ L*(aᵢ) − R*(−1/n Σ sᵢ aᵢ xᵢ)` no weights can go below. For the perceptron the mistakes are what
//! is counted; it has no best plane to be near to.

use super::descent::{Ended, SgdData, SgdOptions};
use super::weights::Plain;
use crate::model::Certificate;
use rayon::prelude::*;

/// Rows whose losses one thread adds.
const ROWS: usize = 1024;

/// The proof of planes, which are the mean of those that stepped or the last of them.
pub(crate) fn certificate(
    plan: &SgdOptions,
    ground: &SgdData<'_>,
    ended: &Ended,
    planes: &Plain,
) -> Certificate {
    let m = planes.constants.len();
    let mut weights = planes.cells.clone();
    if ground.design.intercept {
        weights.extend(&planes.constants);
    }
    let mut scores = vec![0.0; ground.design.n_rows() * m];
    ground.design.scores(&weights, m, &mut scores);
    let mut how = format!("{} updates", ended.updates.iter().sum::<u64>());
    let converged = plan.tol.is_none() || ended.settled || plan.passes <= 1;
    let certificate = Certificate::iterative(converged, ended.stopped);
    if plan.loss.counts_mistakes() {
        let mistakes: u64 = ended.mistakes.iter().sum();
        if let Some(words) = separated(plan, ground, ended, planes, &scores) {
            how += &words;
        }
        return certificate.objective("mistakes in the last epoch", mistakes as f64).note(how);
    }
    let measured = measure(plan, ground, planes, &scores);
    let name = if plan.pace.rate.by_row() { "mean loss" } else { "penalized mean loss" };
    let certificate = certificate.objective(name, measured.value).note(how);
    match measured.bound {
        Some(bound) => certificate.dual(bound),
        None => certificate.violation("norm of a subgradient", measured.gradient),
    }
}

struct Measured {
    value: f64,
    bound: Option<f64>,
    gradient: f64,
}

fn measure(plan: &SgdOptions, ground: &SgdData<'_>, planes: &Plain, scores: &[f64]) -> Measured {
    let (n, m, width) = (ground.design.n_rows(), planes.constants.len(), ground.design.width());
    let share = |i: usize, k: usize| ground.weight(i) * ground.aims.factor(i, k, m) / n as f64;
    let at = |place: usize| (place / m, place % m);
    // The slopes with the shares of their rows, and the sums of losses in a fixed order.
    let mut slopes = vec![0.0; n * m];
    let parts: Vec<f64> = slopes
        .par_chunks_mut(ROWS * m)
        .zip(scores.par_chunks(ROWS * m))
        .enumerate()
        .map(|(part, (slopes, scores))| {
            let mut sum = 0.0;
            for (place, (slope, p)) in slopes.iter_mut().zip(scores).enumerate() {
                let (i, k) = at(part * ROWS * m + place);
                let (y, share) = (ground.aims.target(i, k, m), share(i, k));
                sum += share * plan.loss.value(y, *p);
                *slope = share * plan.loss.slope(y, *p);
            }
            sum
        })
        .collect();
    let mut value: f64 = parts.iter().sum();
    let priced = !plan.pace.rate.by_row();
    if priced {
        let squares: f64 = planes.cells.iter().map(|w| w * w).sum();
        let absolutes: f64 = planes.cells.iter().map(|w| w.abs()).sum();
        value += 0.5 * plan.squared * squares + plan.absolute * absolutes;
    }
    let mut sums = vec![0.0; ground.design.n_weights() * m];
    ground.design.back(&slopes, m, &mut sums);
    let steepness = |(place, sum): (usize, &f64)| {
        let w = planes.cells.get(place).copied().unwrap_or(0.0);
        let pull = if place < width * m && priced { plan.absolute } else { 0.0 };
        let smooth = sum + if priced { plan.squared * w } else { 0.0 };
        // At zero an absolute weight has every slope up to its price.
        let rest =
            if w == 0.0 { (smooth.abs() - pull).max(0.0) } else { smooth + pull * w.signum() };
        rest * rest
    };
    let gradient = sums.iter().enumerate().map(steepness).sum::<f64>().sqrt();
    let bound = (priced && plan.squared + plan.absolute > 0.0)
        .then(|| (0..m).map(|k| dual(plan, ground, &mut slopes, k, m)).sum::<Option<f64>>())
        .flatten();
    Measured { value, bound, gradient }
}

/// The value of the dual point that the slopes of a plane make.
fn dual(
    plan: &SgdOptions,
    ground: &SgdData<'_>,
    slopes: &mut [f64],
    k: usize,
    m: usize,
) -> Option<f64> {
    let (n, width) = (ground.design.n_rows(), ground.design.width());
    let mut own: Vec<f64> = slopes.iter().skip(k).step_by(m).copied().collect();
    if ground.design.intercept {
        let up: f64 = own.iter().filter(|a| **a > 0.0).sum();
        let down: f64 = -own.iter().filter(|a| **a < 0.0).sum::<f64>();
        let (shorten_up, shorten_down) = ((down / up).min(1.0), (up / down).min(1.0));
        for a in &mut own {
            *a *= if *a > 0.0 { shorten_up } else { shorten_down };
        }
    }
    let mut pulls = vec![0.0; ground.design.n_weights()];
    ground.design.back(&own, 1, &mut pulls);
    pulls.truncate(width);
    if plan.squared <= 0.0 {
        // Nothing may pull harder than the absolute price.
        let hardest = pulls.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        if hardest > plan.absolute {
            own.iter_mut().for_each(|a| *a *= plan.absolute / hardest);
        }
    }
    let conjugates: f64 = (0..n)
        .map(|i| {
            let share = ground.weight(i) * ground.aims.factor(i, k, m) / n as f64;
            match share > 0.0 {
                true => share * plan.loss.conjugate(ground.aims.target(i, k, m), own[i] / share),
                false => 0.0,
            }
        })
        .sum();
    let price: f64 = match plan.squared > 0.0 {
        true => {
            let beyond = |v: &f64| (v.abs() - plan.absolute).max(0.0).powi(2);
            pulls.iter().map(beyond).sum::<f64>() / (2.0 * plan.squared)
        }
        false => 0.0,
    };
    let value = -conjugates - price;
    value.is_finite().then_some(value)
}

/// The margin of planes that separate all rows, and Novikoff's bound on the updates, where his theorem is
/// about such steps: equal ones from zero, of rows that count the same, without a price.
fn separated(
    plan: &SgdOptions,
    ground: &SgdData<'_>,
    ended: &Ended,
    planes: &Plain,
    scores: &[f64],
) -> Option<String> {
    let (n, m) = (ground.design.n_rows(), planes.constants.len());
    if ended.mistakes.iter().any(|n| *n > 0) {
        return None;
    }
    let constant = f64::from(u8::from(plan.fit_intercept));
    let (mut margin, mut most) = (f64::INFINITY, 0.0);
    for k in 0..m {
        let weights = planes.cells.iter().skip(k).step_by(m);
        let square: f64 = weights.map(|w| w * w).sum::<f64>() + planes.constants[k].powi(2);
        let own = (0..n)
            .map(|i| ground.aims.target(i, k, m) * scores[i * m + k] / square.sqrt())
            .fold(f64::INFINITY, f64::min);
        margin = margin.min(own);
        let longest = ground.squares.iter().fold(0.0, |a: f64, s| a.max(*s)) + constant;
        most += longest / (own * own);
    }
    if margin <= 0.0 || !margin.is_finite() {
        return None;
    }
    let mut words = format!("; separated with a margin of {margin:.4}");
    let equal = ground.weights.is_empty()
        && (0..n).all(|i| (0..m).all(|k| ground.aims.factor(i, k, m) == 1.0));
    let plain = plan.squared + plan.absolute == 0.0
        && plan.intercept_decay == 1.0
        && plan.pace.at(1.0) == plan.pace.at(2.0);
    if equal && plain && ended.from_zero && ground.held_out.is_empty() {
        words += &format!(", which bounds the updates by {most:.0} (Novikoff)");
    }
    Some(words)
}
