//! Newton's method with conjugate gradients (truncated Newton; Nocedal & Wright 2006, section 7.1).
//!
//! Minimize a smooth convex `f`, given its gradient and Hessian products: every iteration solves `H d = −g` by
//! preconditioned conjugate gradients, only as accurately as the distance from the optimum warrants (Dembo, Eisenstat &
//! Steihaug 1982), and takes a step along `d` that meets the Armijo condition. Close to the optimum convergence is
//! superlinear. The iterations end by the measured gradient alone.

use super::conjugate_gradient::{NewtonSystem, truncated_conjugate_gradient};
use super::line_search::armijo_backtracking;
use super::objective::{SmoothObjective, StoppingRule, SubproblemState, Termination, report};

/// The part of the gradient that the first solution of Newton's equations may leave.
const MAX_FORCING: f64 = 0.25;

/// Minimizes from the objective's current point.
pub(crate) fn newton_cg(f: &mut impl SmoothObjective, rule: &StoppingRule<'_>) -> Termination {
    let mut end = Termination::start();
    end.stopped = rule.monitor.stop();
    if end.stopped.is_some() {
        return end;
    }
    let mut g = vec![0.0; f.dimension()];
    let mut states = vec![SubproblemState::default(); f.n_subproblems()];
    let values = f.values_and_gradient(&mut g);
    let initial_violations = f.violations(&g);
    for ((state, value), violation) in states.iter_mut().zip(values).zip(&initial_violations) {
        (state.value, state.violation) = (value, *violation);
    }
    loop {
        let active: Vec<bool> = states.iter().map(|s| s.is_active(rule.tolerance)).collect();
        end.converged = states.iter().all(|state| state.violation <= rule.tolerance);
        end.stopped = rule.monitor.stop();
        let limit = end.iterations >= rule.max_iterations;
        if end.stopped.is_some() || limit || !active.contains(&true) {
            return end;
        }
        f.prepare_hessian();
        let systems: Vec<NewtonSystem> = states
            .iter()
            .zip(&active)
            .zip(&initial_violations)
            .map(|((state, active), initial)| NewtonSystem {
                active: *active,
                forcing: forcing(state.violation, *initial, rule.tolerance),
            })
            .collect();
        let (slopes, products) = truncated_conjugate_gradient(f, &g, &systems, rule.monitor);
        end.products += products;
        states.iter_mut().zip(slopes).for_each(|(state, slope)| state.slope = slope);
        let initial_steps = f.initial_steps(&states);
        let steps = armijo_backtracking(f, &states, initial_steps);
        f.take_step(&steps);
        end.iterations += 1;
        let values = f.values_and_gradient(&mut g);
        let violations = f.violations(&g);
        for k in (0..states.len()).filter(|k| active[*k]) {
            states[k].update(steps[k], values[k], violations[k], rule.tolerance);
        }
        report(rule, end.iterations, &states);
    }
}

/// The forcing term `η` of the inexact solution: smaller close to the optimum, for superlinear convergence, but no
/// smaller than the tolerance makes worth its Hessian products.
fn forcing(violation: f64, initial: f64, tolerance: f64) -> f64 {
    let superlinear = MAX_FORCING.min((violation / initial).sqrt());
    superlinear.max(0.6 * tolerance / violation)
}
