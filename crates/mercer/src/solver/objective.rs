//! What the iterative solvers minimize, when they stop, and how they ended.
//!
//! An objective may consist of several independent subproblems that share their products with the design matrix, as
//! the one-vs-rest problems of a multiclass classifier do. Their variables are interleaved: entry `j` of a vector
//! belongs to subproblem `j mod m`, so that one reading of a row serves all of them. Every subproblem has its own
//! value, gradient, step size and convergence test; the solver ends when the last of them has converged.

use crate::model::{Convergence, Monitor, Progress, Stop};

/// A smooth convex objective that remembers its current point and a search direction.
pub(crate) trait SmoothObjective {
    /// `m`: the number of independent subproblems.
    fn n_subproblems(&self) -> usize {
        1
    }

    /// The number of variables of all subproblems.
    fn dimension(&self) -> usize;

    /// Writes the gradient at the current point; returns the value of every subproblem.
    fn values_and_gradient(&mut self, gradient: &mut [f64]) -> Vec<f64>;

    /// How far every subproblem is from optimal, given its gradient: the number that the tolerance bounds.
    fn violations(&self, gradient: &[f64]) -> Vec<f64>;

    /// Prepares Hessian products and the preconditioner at the current point.
    fn prepare_hessian(&mut self);

    /// `out = H v`.
    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]);

    /// `out = P r` with a positive definite `P ≈ H⁻¹`. A better approximation saves Hessian products.
    fn precondition(&self, r: &[f64], out: &mut [f64]);

    /// Sets the search direction to zero.
    fn reset_direction(&mut self);

    /// Adds multiples of the vector of the last Hessian product to the direction, one step size per subproblem.
    fn extend_direction(&mut self, steps: &[f64]);

    /// The step sizes that the line search tries first: 1, unless the objective can minimize along the direction.
    fn initial_steps(&mut self, states: &[SubproblemState]) -> Vec<f64> {
        unit_steps(states)
    }

    /// The values at `point + steps · direction`.
    fn values_along(&mut self, steps: &[f64]) -> Vec<f64>;

    /// Moves the current point to `point + steps · direction`.
    fn take_step(&mut self, steps: &[f64]);
}

/// When an iterative solver stops.
pub(crate) struct StoppingRule<'a> {
    /// The violation that counts as converged.
    pub tolerance: f64,
    pub max_iterations: u64,
    pub monitor: &'a Monitor<'a>,
}

/// How an iterative solver ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Termination {
    pub iterations: u64,
    /// Hessian products, or passes over the coordinates of the quadratic models.
    pub products: u64,
    /// Whether every violation is at most the tolerance.
    pub converged: bool,
    pub stopped: Option<Stop>,
}

impl Termination {
    /// Before the first iteration.
    pub fn start() -> Termination {
        Termination { iterations: 0, products: 0, converged: false, stopped: None }
    }
}

/// The state of one subproblem during the iterations.
#[derive(Clone, Default)]
pub(crate) struct SubproblemState {
    pub value: f64,
    pub violation: f64,
    /// The directional derivative `gᵀd` along the search direction.
    pub slope: f64,
    /// Neither the value nor the gradient improves any more: what is left is rounding error.
    pub at_rounding: bool,
}

impl SubproblemState {
    /// Whether to continue with the subproblem. A violation that is not a number cannot be improved.
    pub fn is_active(&self, tolerance: f64) -> bool {
        !self.at_rounding && self.violation > tolerance && self.violation.is_finite()
    }

    /// Whether the quadratic model may be poor, so that an exact line search pays. Close to the optimum Newton's
    /// method converges quadratically with unit steps.
    pub fn is_far_from_optimum(&self) -> bool {
        /// Predicted decrease, relative to the value.
        const MIN_RELATIVE_DECREASE: f64 = 1e-6;
        self.slope < -MIN_RELATIVE_DECREASE * self.value.abs()
    }

    /// Takes over the value and the violation after a step.
    pub fn update(&mut self, step: f64, value: f64, violation: f64, tolerance: f64) {
        let decreased = self.slope.abs() * step > rounding_error(self.value);
        self.at_rounding = violation >= self.violation && !decreased && violation > tolerance;
        (self.value, self.violation) = (value, violation);
    }
}

/// Reports an iteration with the largest violation of the subproblems.
pub(crate) fn report(rule: &StoppingRule<'_>, iterations: u64, states: &[SubproblemState]) {
    let violation = states.iter().map(|state| state.violation).fold(0.0, f64::max);
    rule.monitor.report_progress(Progress {
        done: iterations,
        total: None,
        convergence: Some(Convergence::within(violation, rule.tolerance)),
    });
}

/// Changes of an objective value below this cannot be distinguished from rounding.
pub(crate) fn rounding_error(value: f64) -> f64 {
    8.0 * f64::EPSILON * value.abs()
}

/// Step size 1 for every subproblem with a descent direction, 0 for the others.
pub(crate) fn unit_steps(states: &[SubproblemState]) -> Vec<f64> {
    states.iter().map(|state| if state.slope < 0.0 { 1.0 } else { 0.0 }).collect()
}
