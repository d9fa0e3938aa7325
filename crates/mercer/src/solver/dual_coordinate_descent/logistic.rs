//! Dual coordinate descent for logistic regression of two classes (Yu, Huang & Lin 2011), as a warm start.
//!
//! Minimize `Σᵢ sᵢ log(1 + exp(−yᵢzᵢ)) + ½ λ ‖w‖²`. At the optimum of the dual `w = Σᵢ βᵢ xᵢ` with
//! `βᵢ = cᵢ (1[yᵢ = 1] − σ(zᵢ))`, where `cᵢ = sᵢ/λ` and `σ` is the logistic function. With the other variables fixed, the score
//! of a row is `z = others + ‖xᵢ‖² βᵢ`, and the best score is the root of
//!
//! `z − others − ‖xᵢ‖² cᵢ (1[yᵢ = 1] − σ(z))`,
//!
//! which increases in `z`, so that Newton's method inside a bracket finds it. (Yu, Huang & Lin solve for `βᵢ` itself, whose
//! derivative is infinite at both bounds.)
//!
//! The intercept is penalized here, as the weight of a constant column of the rows' typical norm, around its initial value.
//! The result is therefore an initial point for Newton's method. On sparse rows with many columns an epoch reduces the
//! error about threefold.

use super::active_set::{ActiveSet, Visit};
use crate::data::design_matrix::{DesignMatrix, RowAccess};
use crate::model::Monitor;
use crate::solver::StoppingRule;
use mercer_num::memory::prefetch;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::exp::exp_double;

/// Rows per task of parallel loops over rows.
const ROWS_PER_TASK: usize = 1024;
/// Epochs at most.
const MAX_EPOCHS: u64 = 20;
/// The part of the change of an epoch that the next one may repeat: above it Newton's method is faster.
const MAX_RATE: f64 = 0.7;
/// Rows of larger squared norm are left to Newton's method, which scales them: their sums may overflow.
const MAX_SQUARED_NORM: f64 = 1e12;

/// The primal problem and the point to start from.
pub(crate) struct LogisticProblem<'a, 'd> {
    pub design: &'a DesignMatrix<'d>,
    /// 1 for rows of the second class, 0 for the first.
    pub class_indices: &'a [u32],
    /// `sᵢ`: sample weights that add up to one.
    pub row_weights: &'a [f64],
    /// `λ`, above zero.
    pub l2_penalty: f64,
    /// The weights to start from, the intercept last.
    pub initial: &'a [f64],
}

/// Epochs over the rows until the gradient should be within the tolerance; returns their number and the weights, or
/// `None` where the rows are too large.
pub(crate) fn warm_start(
    problem: &LogisticProblem<'_, '_>,
    rule: &StoppingRule<'_>,
) -> Option<(u64, Vec<f64>)> {
    let mut state = DualState::new(problem);
    let too_large = |v: &DualVariable| !(v.bound * v.xsq).is_finite() || v.xsq > MAX_SQUARED_NORM;
    if state.variables.iter().any(too_large) {
        return None;
    }
    let nonzero = |i: &u32| {
        let DualVariable { bound, xsq, .. } = state.variables[*i as usize];
        bound * xsq != 0.0
    };
    let n = state.variables.len() as u32;
    let mut active = ActiveSet::new((0..n).filter(nonzero).collect());
    let mut last = None;
    while active.epochs < MAX_EPOCHS.min(rule.max_iterations) {
        let Some(change) = state.run_epoch(&mut active, rule.monitor) else { break };
        let rate = last.map_or(1.0, |last| change / last);
        last = Some(change);
        // The gradient is about what the dual variables have still to change, times the norm of the rows.
        let gradient = problem.l2_penalty * change * rate * state.typical_norm;
        if gradient <= rule.tolerance || (active.epochs > 1 && rate > MAX_RATE) {
            break;
        }
    }
    state.w.truncate(problem.design.n_weights());
    Some((active.epochs, state.w))
}

/// The dual variables and the weights during the iterations.
struct DualState<'a> {
    rows: RowAccess<'a>,
    variables: Vec<DualVariable>,
    /// The intercept is the last weight; it stays zero where there is none.
    w: Vec<f64>,
    /// How much the intercept changes with a dual variable.
    intercept_scale: f64,
    /// The root mean square norm of the rows.
    typical_norm: f64,
}

/// The dual variable of one row.
#[derive(Clone, Copy)]
struct DualVariable {
    /// `β` is between zero and this bound: `c` for the second class, `−c` for the first.
    bound: f64,
    /// How much the score changes with `beta`.
    xsq: f64,
    beta: f64,
}

impl<'a> DualState<'a> {
    /// All dual variables are zero, at the weights of the problem.
    fn new(problem: &LogisticProblem<'_, 'a>) -> DualState<'a> {
        let design = problem.design;
        let (rows, n) = (design.row_access(), design.n_rows());
        let squared_norms: Vec<f64> = (0..n)
            .into_par_iter()
            .with_min_len(ROWS_PER_TASK)
            .map(|i| rows.squared_norm(i))
            .collect();
        let mean_square = squared_norms.iter().sum::<f64>() / n as f64;
        let intercept_scale = if design.intercept { mean_square } else { 0.0 };
        let variable = |(i, squared_norm): (usize, &f64)| {
            let c = problem.row_weights[i] / problem.l2_penalty;
            let bound = if problem.class_indices[i] == 1 { c } else { -c };
            DualVariable { bound, xsq: squared_norm + intercept_scale, beta: 0.0 }
        };
        let variables = squared_norms.iter().enumerate().map(variable).collect();
        let mut w = vec![0.0; design.width() + 1];
        w[..design.n_weights()].copy_from_slice(problem.initial);
        DualState { rows, variables, w, intercept_scale, typical_norm: mean_square.sqrt() }
    }

    /// Updates every row; returns the sum of the changes, or `None` where the epoch was interrupted.
    fn run_epoch(&mut self, active: &mut ActiveSet, monitor: &Monitor<'_>) -> Option<f64> {
        let mut change = 0.0;
        let stopped = active.run_epoch(monitor, |i, upcoming| {
            if let Some(later) = upcoming.after_next {
                prefetch(&self.variables[later..=later]);
            }
            if let Some(next) = upcoming.next {
                self.rows.prefetch(next);
            }
            change += self.update(i);
            Visit::Keep
        });
        stopped.is_none().then_some(change)
    }

    /// Minimizes over one dual variable, approximately; returns how much it changed.
    #[inline]
    fn update(&mut self, i: usize) -> f64 {
        let DualVariable { bound, xsq, beta } = self.variables[i];
        let intercept = self.w.len() - 1;
        let z = self.rows.dot(i, &self.w) + self.w[intercept];
        let others = z - xsq * beta;
        let new_beta = (best_score(others, xsq * bound, z) - others) / xsq;
        let step = new_beta - beta;
        self.variables[i].beta = new_beta;
        self.rows.add_to(i, step, &mut self.w);
        self.w[intercept] += step * self.intercept_scale;
        step.abs()
    }
}

/// The root of `z − others − reach · q(z)`, from an initial `z`, where `q` is the probability of the other class:
/// `1 / (1 + eᶻ)` for the second class, whose `reach` is positive, and `1 / (1 + e⁻ᶻ)` for the first.
#[inline]
fn best_score(others: f64, reach: f64, mut z: f64) -> f64 {
    /// A Newton step after which the next one is about a tenth of its square.
    const LAST_STEP: f64 = 0.1;
    const MAX_STEPS: usize = 20;
    let ends = (others.min(others + reach), others.max(others + reach));
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..MAX_STEPS {
        let q = 1.0 / (1.0 + exp_double(z.copysign(z * reach)));
        let value = z - others - reach * q;
        *(if value > 0.0 { &mut high } else { &mut low }) = z;
        let derivative = 1.0 + reach.abs() * q * (1.0 - q);
        let next = (z - value / derivative).max(ends.0).min(ends.1);
        if (next - z).abs() <= LAST_STEP {
            return next;
        }
        z = match next > low && next < high {
            true => next,
            false => 0.5 * (low.max(ends.0) + high.min(ends.1)),
        };
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_found_for_any_bound_of_the_dual_variable() {
        for reach in [0.01, 0.5, 4.0, 1e3, 1e6] {
            for others in [-20.0, -1.0, 0.0, 0.3, 15.0] {
                for sign in [1.0, -1.0] {
                    let (reach, mut z) = (sign * reach, others);

                    for _ in 0..10 {
                        z = best_score(others, reach, z);
                    }

                    let expected = others + reach / (1.0 + (sign * z).exp());
                    let derivative = 1.0 + reach.abs() / 4.0;
                    let error = (z - expected).abs();
                    assert!(error <= 1e-9 * derivative, "{others} {reach}: {z}, {expected}");
                }
            }
        }
    }
}
