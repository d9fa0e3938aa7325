//! L-BFGS: minimization by values and gradients alone (Nocedal 1980; Liu & Nocedal 1989).
//!
//! Minimize `f(x)` over all `x`, given `f` and `∇f`: steps along `−H∇f`, where `H ≈ (∇²f)⁻¹` is built from the last few
//! steps `s` and gradient differences `y` by the two-loop recursion (Nocedal & Wright 2006, algorithm 7.4), with step
//! sizes that meet the strong Wolfe conditions. If `f` is not convex, the result is a stationary point, and other
//! stationary points may be lower.

use super::interleaved::{add_scaled, dots};
use super::line_search::{LinePoint, WolfeOutcome, strong_wolfe};
use super::objective::{StoppingRule, rounding_error};
use crate::model::{Convergence, Progress, Stop};
use std::collections::VecDeque;

/// Correction pairs `(s, y)` that are stored.
const MEMORY: usize = 10;
/// Iterations without any decrease after which only rounding error is left.
const MAX_STALLED_ITERATIONS: usize = 5;

/// Writes the gradient at a point and returns the value, or `None` where it was interrupted.
pub(crate) type ValueAndGradient<'a> = dyn FnMut(&[f64], &mut [f64]) -> Option<f64> + 'a;

/// How the iterations ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LbfgsResult {
    pub iterations: u64,
    /// Evaluations of the function.
    pub evaluations: u64,
    /// The value at the end.
    pub value: f64,
    /// The largest absolute entry of the gradient at the end.
    pub violation: f64,
    /// The norm of the gradient at the end, and at the start.
    pub norm: f64,
    pub first_norm: f64,
    pub stopped: Option<Stop>,
}

/// Minimizes from `x`; `None` where the first evaluation was interrupted.
pub(crate) fn lbfgs(
    x: &mut [f64],
    f: &mut ValueAndGradient<'_>,
    rule: &StoppingRule<'_>,
) -> Option<LbfgsResult> {
    let mut g = vec![0.0; x.len()];
    let value = f(x, &mut g)?;
    let (norm, violation) = (dot(&g, &g).sqrt(), max_norm(&g));
    let mut result = LbfgsResult {
        iterations: 0,
        evaluations: 1,
        value,
        violation,
        norm,
        first_norm: norm,
        stopped: None,
    };
    let mut memory: VecDeque<CorrectionPair> = VecDeque::new();
    let (mut best, mut stalled) = (violation, 0);
    while result.violation > rule.tolerance
        && result.iterations < rule.max_iterations
        && stalled < MAX_STALLED_ITERATIONS
    {
        result.stopped = rule.monitor.stop();
        if result.stopped.is_some() {
            break;
        }
        let mut direction = two_loop_recursion(&memory, &g);
        let mut slope = dot(&g, &direction);
        if slope >= 0.0 || !slope.is_finite() {
            memory.clear();
            direction = two_loop_recursion(&memory, &g);
            slope = -dot(&g, &g);
        }
        // The first step, along the gradient itself, has about unit length.
        let first_step = if memory.is_empty() { (1.0 / slope.abs().sqrt()).min(1.0) } else { 1.0 };
        let start = LinePoint { step: 0.0, value: result.value, slope };
        let outcome = strong_wolfe(start, first_step, |step| {
            let at = evaluate_along(x, &direction, step, f);
            result.evaluations += u64::from(at.is_some());
            at
        });
        let (at, gradient) = match outcome {
            WolfeOutcome::Decrease(at, gradient) => (at, gradient),
            WolfeOutcome::Stopped => {
                result.stopped = rule.monitor.stop();
                break;
            }
            // The approximate inverse Hessian may mislead; the gradient itself is a descent direction.
            WolfeOutcome::NoDecrease if !memory.is_empty() => {
                memory.clear();
                continue;
            }
            WolfeOutcome::NoDecrease => break,
        };
        let decrease = result.value - at.value;
        scale(&mut direction, at.step);
        add_scaled(&[1.0], &direction, x);
        let mut difference = gradient.clone();
        add_scaled(&[-1.0], &g, &mut difference);
        store(&mut memory, direction, difference);
        g = gradient;
        result.iterations += 1;
        result.value = at.value;
        (result.norm, result.violation) = (dot(&g, &g).sqrt(), max_norm(&g));
        let improved = result.violation < best || decrease > rounding_error(result.value);
        stalled = if improved { 0 } else { stalled + 1 };
        best = best.min(result.violation);
        rule.monitor.report_progress(Progress {
            done: result.iterations,
            total: Some(rule.max_iterations),
            convergence: Some(Convergence::within(result.violation, rule.tolerance)),
        });
    }
    Some(result)
}

/// The function at `x + step · direction`, with its gradient.
fn evaluate_along(
    x: &[f64],
    direction: &[f64],
    step: f64,
    f: &mut ValueAndGradient<'_>,
) -> Option<(LinePoint, Vec<f64>)> {
    let mut point = x.to_vec();
    add_scaled(&[step], direction, &mut point);
    let mut gradient = vec![0.0; x.len()];
    let value = f(&point, &mut gradient)?;
    Some((LinePoint { step, value, slope: dot(&gradient, direction) }, gradient))
}

/// A step `s`, the gradient difference `y` along it, and `1 / sᵀy`.
struct CorrectionPair {
    step: Vec<f64>,
    difference: Vec<f64>,
    inverse: f64,
}

/// Stores a pair with positive curvature `sᵀy`; others would make `H` indefinite.
fn store(memory: &mut VecDeque<CorrectionPair>, step: Vec<f64>, difference: Vec<f64>) {
    let curvature = dot(&step, &difference);
    if curvature <= f64::EPSILON * dot(&difference, &difference) {
        return;
    }
    if memory.len() == MEMORY {
        memory.pop_front();
    }
    memory.push_back(CorrectionPair { step, difference, inverse: 1.0 / curvature });
}

/// `−H∇f`.
fn two_loop_recursion(memory: &VecDeque<CorrectionPair>, g: &[f64]) -> Vec<f64> {
    let mut d: Vec<f64> = g.iter().map(|v| -v).collect();
    let mut alphas = Vec::with_capacity(memory.len());
    for pair in memory.iter().rev() {
        let alpha = pair.inverse * dot(&pair.step, &d);
        add_scaled(&[-alpha], &pair.difference, &mut d);
        alphas.push(alpha);
    }
    if let Some(last) = memory.back() {
        scale(&mut d, 1.0 / (last.inverse * dot(&last.difference, &last.difference)));
    }
    for (pair, alpha) in memory.iter().zip(alphas.iter().rev()) {
        let beta = pair.inverse * dot(&pair.difference, &d);
        add_scaled(&[alpha - beta], &pair.step, &mut d);
    }
    d
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    dots(a, b, 1)[0]
}

fn scale(x: &mut [f64], factor: f64) {
    x.iter_mut().for_each(|x| *x *= factor);
}

/// `‖x‖∞`; an entry that is not a number counts as the largest.
fn max_norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |max: f64, v| if v.abs() <= max { max } else { v.abs() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Monitor;

    fn minimize(
        x: &mut [f64],
        mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
        tolerance: f64,
        max_iterations: u64,
    ) -> LbfgsResult {
        let monitor = Monitor::quiet();
        let rule = StoppingRule { tolerance, max_iterations, monitor: &monitor };
        lbfgs(x, &mut |x, g| Some(f(x, g)), &rule).unwrap()
    }

    #[test]
    fn the_minimum_of_the_rosenbrock_function_is_found() {
        // (1 − x)² + 100 (y − x²)², whose only minimum is zero at (1, 1).
        let rosenbrock = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g[0] = -2.0 * a - 400.0 * x[0] * b;
            g[1] = 200.0 * b;
            a * a + 100.0 * b * b
        };
        let mut x = [-1.2, 1.0];

        let result = minimize(&mut x, rosenbrock, 1e-9, 200);

        assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8, "{x:?}");
        assert!(result.violation <= 1e-9 && result.iterations < 60, "{}", result.iterations);
    }

    #[test]
    fn an_ill_conditioned_quadratic_takes_few_iterations() {
        // ½ Σ j (xⱼ − 1)² in thirty variables.
        let quadratic = |x: &[f64], g: &mut [f64]| {
            let mut value = 0.0;
            for (j, (x, g)) in x.iter().zip(g).enumerate() {
                let weight = (j + 1) as f64;
                *g = weight * (x - 1.0);
                value += 0.5 * weight * (x - 1.0).powi(2);
            }
            value
        };
        let mut x = [0.0; 30];

        let result = minimize(&mut x, quadratic, 1e-10, 200);

        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-9));
        assert!(result.iterations < 80 && result.evaluations < 2 * result.iterations, "{result:?}");
    }

    #[test]
    fn at_a_kink_it_ends_at_the_lowest_point_evaluated() {
        // |x| has no stationary point that is smooth.
        let kink = |x: &[f64], g: &mut [f64]| {
            g[0] = x[0].signum();
            x[0].abs()
        };
        let mut x = [3.7];

        let result = minimize(&mut x, kink, 1e-6, 1000);

        assert!(result.value < 1e-3, "{result:?}");
        assert!(result.violation == 1.0 && result.iterations < 1000);
    }

    #[test]
    fn steps_to_undefined_values_are_shortened() {
        // x − log x, undefined left of zero.
        let log = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / x[0];
            if x[0] > 0.0 { x[0] - x[0].ln() } else { f64::NAN }
        };
        let mut x = [0.01];

        minimize(&mut x, log, 1e-9, 100);

        assert!((x[0] - 1.0).abs() < 1e-8, "{x:?}");
    }
}
