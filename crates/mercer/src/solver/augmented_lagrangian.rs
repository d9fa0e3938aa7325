//! The augmented Lagrangian method, also called the method of multipliers (Hestenes 1969; Rockafellar 1976; Nocedal &
//! Wright 2006, framework 17.3).
//!
//! Minimize a convex function that is not smooth through a sequence of smooth ones: each outer iteration minimizes the
//! function with fixed multiplier estimates and penalty parameters `ρ` by Newton's method, takes the dual variables there
//! as the next estimates, and increases `ρ` where the estimates change too slowly. The tolerance of Newton's method
//! decreases from one outer iteration to the next.

use super::duality_gap::{Accuracy, DualityGap};
use super::newton_cg::newton_cg;
use super::{SmoothObjective, StoppingRule, Termination};

/// Outer iterations at most.
const MAX_OUTER_ITERATIONS: u64 = 60;
/// The coarsest tolerance of the first outer iteration.
const FIRST_TOLERANCE: f64 = 0.03;
/// `ρ` is increased where an outer iteration leaves more than this part of the violation.
const SLOW_CONVERGENCE: f64 = 0.1;

/// A smooth approximation with multiplier estimates.
pub(crate) trait AugmentedLagrangian: SmoothObjective {
    /// How far the multiplier estimates of every subproblem are from the dual variables.
    fn multiplier_violations(&self) -> Vec<f64>;

    /// The duality gaps of the original problem.
    fn duality_gaps(&mut self) -> Vec<DualityGap>;

    /// Takes the dual variables as multiplier estimates, and increases `ρ` of the marked subproblems.
    fn update_multipliers(&mut self, increase_rho: &[bool]);
}

/// How the outer iterations ended.
pub(crate) struct AugmentedLagrangianResult {
    pub end: Termination,
    /// The largest violation of the multiplier estimates.
    pub violation: f64,
    pub gaps: Vec<DualityGap>,
}

/// Minimizes until multiplier estimates, gradient and duality gap are accurate enough.
pub(crate) fn minimize(
    problem: &mut impl AugmentedLagrangian,
    accuracy: Accuracy,
    rule: &StoppingRule<'_>,
) -> AugmentedLagrangianResult {
    let mut end = Termination::start();
    let mut tolerance = accuracy.first_tolerance().max(FIRST_TOLERANCE);
    let mut last = vec![f64::INFINITY; problem.n_subproblems()];
    for _ in 0..MAX_OUTER_ITERATIONS {
        let max_iterations = rule.max_iterations.saturating_sub(end.iterations);
        let inner_rule = StoppingRule { tolerance, max_iterations, monitor: rule.monitor };
        let inner = newton_cg(problem, &inner_rule);
        end.iterations += inner.iterations;
        end.products += inner.products;
        end.stopped = inner.stopped;
        let violations = problem.multiplier_violations();
        let gaps = problem.duality_gaps();
        let violation = largest(&violations);
        let is_optimal =
            violation <= rule.tolerance && inner.converged && tolerance <= rule.tolerance;
        let satisfied = accuracy.is_met_by(&gaps) && (is_optimal || accuracy.gap.is_some());
        if end.iterations >= rule.max_iterations || end.stopped.is_some() || satisfied {
            return AugmentedLagrangianResult { end, violation, gaps };
        }
        let slow = violations.iter().zip(&last).map(|(new, old)| *new > SLOW_CONVERGENCE * old);
        problem.update_multipliers(&slow.collect::<Vec<bool>>());
        last = violations;
        tolerance = accuracy.finest_tolerance(rule.tolerance).max(0.1 * tolerance);
    }
    let gaps = problem.duality_gaps();
    AugmentedLagrangianResult { end, violation: largest(&last), gaps }
}

/// The largest violation; one that is not a number counts as the largest.
pub(crate) fn largest(violations: &[f64]) -> f64 {
    violations.iter().fold(0.0, |a, b| if *b > a || b.is_nan() { *b } else { a })
}
