//! The quadratic program that all support vector machines share, the options of its solver, and its solution.
//!
//! Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `lower ≤ β ≤ upper`, with the sum of `β` over each of two groups fixed
//! at its initial value. The variables are signed: for classification `βᵢ = yᵢαᵢ`, for regression `βᵢ = αᵢ⁺ − αᵢ⁻`.
//! Classification, regression, the one-class problem and the ν forms are all of this kind.

use super::power_slack::PowerSlack;
use crate::model::{Convergence, Stop};
use mercer_num::double_double::DoubleDouble;

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

    /// The sums of the two groups of variables.
    pub(crate) fn group_sums(&self, beta: &[f64]) -> [DoubleDouble; 2] {
        let (first, second) = beta.split_at(self.split);
        let sum = |part: &[f64]| {
            part.iter().fold(DoubleDouble::default(), |sum, b| sum + DoubleDouble::from(*b))
        };
        [sum(first), sum(second)]
    }

    /// Moves a free variable of each group so that its sum is the required one again. Pair updates keep it up to rounding,
    /// which grows with the bounds and the iterations; far from zero, `Σ β ≠ 0` times the squared offset would enter the
    /// decision values.
    pub(crate) fn restore_group_sums(&self, beta: &mut [f64], required: [DoubleDouble; 2]) {
        let found = self.group_sums(beta);
        for (group, range) in [0..self.split, self.split..beta.len()].into_iter().enumerate() {
            let missing = (required[group] - found[group]).value();
            let has_room = |i: &usize| {
                let (b, next) = (beta[*i], beta[*i] + missing);
                // A variable at a bound stays there, and none changes its sign.
                b > self.lower[*i]
                    && b < self.upper[*i]
                    && next > self.lower[*i]
                    && next < self.upper[*i]
                    && b * next > 0.0
            };
            // The smallest variable has the finest resolution.
            let smallest =
                range.filter(has_room).min_by(|i, k| beta[*i].abs().total_cmp(&beta[*k].abs()));
            if let Some(i) = smallest.filter(|_| missing != 0.0) {
                beta[i] += missing;
            }
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
