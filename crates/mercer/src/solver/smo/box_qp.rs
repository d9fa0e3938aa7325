//! The quadratic program that all support vector machines share, the options of its solver, and its solution.
//!
//! Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `lower ≤ β ≤ upper`, with the sum of `β` over each of two groups fixed
//! at its initial value. The variables are signed: for classification `βᵢ = yᵢαᵢ`, for regression `βᵢ = αᵢ⁺ − αᵢ⁻`.
//! Classification, regression, the one-class problem and the ν forms are all of this kind.

use super::power_slack::PowerSlack;
use crate::model::{Convergence, Stop};

/// Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `lower ≤ β ≤ upper` and fixed group sums.
#[derive(Clone, Debug)]
pub struct BoxQp<'a> {
    /// The linear term `z`.
    pub linear: &'a [f64],
    /// Lower bounds of the variables.
    pub lower: &'a [f64],
    /// Upper bounds of the variables.
    pub upper: &'a [f64],
    /// `ε`, the weight of the L1 term and the half-width of the insensitive tube.
    pub epsilon: f64,
    /// The first `split` variables are one group, the others are the second.
    pub split: usize,
    /// The initial point, within the bounds.
    pub start: Vec<f64>,
    /// `Kβ` at the initial point, if it is known.
    pub outputs: Option<Vec<f64>>,
    /// The penalty on the dual variables that replaces the box if the loss is a power of the slack.
    pub slack: Option<&'a PowerSlack>,
}

impl<'a> BoxQp<'a> {
    /// A problem with one group, without the L1 term, that starts at zero.
    pub fn new(linear: &'a [f64], lower: &'a [f64], upper: &'a [f64]) -> BoxQp<'a> {
        BoxQp {
            linear,
            lower,
            upper,
            epsilon: 0.0,
            split: linear.len(),
            start: vec![0.0; linear.len()],
            outputs: None,
            slack: None,
        }
    }
}

/// Stopping tolerance and limits of a solve.
#[derive(Clone, Copy, Debug)]
pub struct SolverOptions {
    /// The largest KKT violation at which the solver stops.
    pub tol: f64,
    /// The largest number of iterations, each of which updates one pair of variables.
    pub max_iterations: u64,
    /// The size of the kernel cache in bytes.
    pub cache_bytes: u64,
    /// Whether variables stuck at a bound are removed from the working problem.
    pub shrinking: bool,
}

/// The solution of a [`BoxQp`].
#[derive(Clone, Debug)]
pub struct Solution {
    /// The signed dual variables.
    pub beta: Vec<f64>,
    /// `Kβ` as the solver knows it: in its own precision, and not up to date where variables were shrunk.
    pub outputs: Vec<f64>,
    /// The multiplier of each group's sum. With one group it is the intercept `b`, which is `−rho` in LIBSVM.
    pub intercepts: [f64; 2],
    /// The largest KKT violation over the variables that were not shrunk.
    pub violation: f64,
    /// Whether the violation is within the tolerance.
    pub converged: bool,
    /// The number of variables that were still removed by shrinking at the end.
    pub n_shrunk: usize,
    /// Pairs of variables updated.
    pub iterations: u64,
    /// Kernel values computed.
    pub kernel_values: u64,
    /// Why the solver stopped early, if it did.
    pub stopped: Option<Stop>,
    /// The most negative curvature of a working pair beyond rounding, or zero for a convex problem.
    pub min_curvature: f64,
}

/// Receives the completed fraction of a solve and its current state.
pub type OnProgress<'a> = dyn Fn(f64, Convergence) + Sync + 'a;
