//! Sequential minimal optimization with the whole kernel matrix in memory.
//!
//! Minimize `½ βᵀKβ − zᵀβ + ε ‖β‖₁` subject to `lower ≤ β ≤ upper`, with the sum of `β` in each group fixed. Let
//! `G = Kβ − z` be the gradient of the smooth part. A variable in `I_up` is below its upper bound and may increase, one
//! in `I_low` is above its lower bound and may decrease. With the directional derivatives `G ± ε` of the objective, the
//! KKT conditions say that `m = max over I_up of −(G ± ε)` is at most `M = min over I_low of −(G ± ε)`; the KKT violation
//! is `m − M` (Keerthi et al. 2001).
//!
//! The working pair is `i`, the maximizer of `m`, and the `j` in `I_low` with the largest decrease of the second-order
//! model (Fan, Chen & Lin 2005, working set selection 2). In signed variables a step across zero would change the sign
//! of `ε|β|`, so a step ends at zero. With [`PowerSlack`], the derivative of a variable's own penalty is part of its
//! directional derivative.

use super::power_slack::PowerSlack;
use mercer_num::Float;
use mercer_num::simd::smo::{MIN_CURVATURE, WorkingSetScan, scan_working_set};
use std::ops::Range;

/// Iterations between two checks whether to continue.
const ITERATIONS_PER_CHECK: u64 = 1024;

/// The variables of a problem, or of the working problem after shrinking.
pub(crate) struct Variables {
    pub beta: Vec<f64>,
    /// `G = Kβ − z`.
    pub gradient: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Minus the right derivative of the penalty terms for variables in `I_up`, `-inf` for the others.
    pub up: Vec<f64>,
    /// Minus the left derivative of the penalty terms for variables in `I_low`, `inf` for the others.
    pub down: Vec<f64>,
    pub epsilon: f64,
    /// The first `split` variables are one group, the others are the second.
    pub split: usize,
    pub slack: Option<PowerSlack>,
    /// The most negative curvature of a working pair beyond rounding, or zero: the problem is not convex below it.
    pub min_curvature: f64,
}

impl Variables {
    pub fn new(
        beta: Vec<f64>,
        gradient: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        epsilon: f64,
        split: usize,
        slack: Option<PowerSlack>,
    ) -> Self {
        let n = beta.len();
        let (up, down) = (vec![0.0; n], vec![0.0; n]);
        let min_curvature = 0.0;
        let mut out = Variables {
            beta,
            gradient,
            lower,
            upper,
            up,
            down,
            epsilon,
            split,
            slack,
            min_curvature,
        };
        (0..n).for_each(|i| out.update_status(i));
        out
    }

    /// Updates the membership of a variable in `I_up` and `I_low`, and the derivatives of its penalty terms.
    pub fn update_status(&mut self, i: usize) {
        let b = self.beta[i];
        let own = self.slack.as_ref().map_or(0.0, |slack| slack.derivative(i, b));
        let up = if b >= 0.0 { -self.epsilon } else { self.epsilon } - own;
        let down = if b > 0.0 { -self.epsilon } else { self.epsilon } - own;
        self.up[i] = if b < self.upper[i] { up } else { f64::NEG_INFINITY };
        self.down[i] = if b > self.lower[i] { down } else { f64::INFINITY };
    }

    /// The second derivative of a variable's slack penalty, which adds to the diagonal of `K`.
    pub fn slack_curvature(&self, i: usize) -> f64 {
        self.slack.as_ref().map_or(0.0, |slack| slack.curvature(i, self.beta[i].abs()))
    }

    /// `K_ii + K_jj − 2 K_ij`, the curvature along a pair. It is a squared distance for a kernel; one that is negative
    /// beyond the rounding of kernel values of the type `T` is remembered.
    pub fn pair_curvature<T: Float>(&mut self, own: [f64; 2], between: f64) -> f64 {
        /// Rounding errors of a kernel value in units of the machine epsilon.
        const ROUNDING_UNITS: f64 = 256.0;
        let curvature = own[0] + own[1] - 2.0 * between;
        let size = own[0].abs() + own[1].abs() + 2.0 * between.abs();
        if curvature < -ROUNDING_UNITS * T::EPSILON * size {
            self.min_curvature = self.min_curvature.min(curvature);
        }
        curvature
    }

    /// The second variable of a working pair: `j`, or the most violating one if `j` is the first variable itself.
    /// Rounding can leave a variable a violation against itself, whose curvature is zero, so that its gain seems large
    /// beside those of a kernel with huge values.
    pub fn other_than(&self, i: usize, j: usize) -> usize {
        if i != j {
            return j;
        }
        let group = if i < self.split { 0..self.split } else { self.split..self.beta.len() };
        let low = |k: usize| self.down[k] - self.gradient[k];
        group.fold(i, |best, k| if low(k) < low(best) { k } else { best })
    }

    pub fn groups(&self) -> [Range<usize>; 2] {
        [0..self.split, self.split..self.beta.len()]
    }

    /// A scan of each group for its most violating variables.
    pub fn scans(&self) -> [WorkingSetScan; 2] {
        self.groups().map(|g| {
            scan_working_set(&self.gradient[g.clone()], &self.up[g.clone()], &self.down[g])
        })
    }

    /// The variables with the given indices.
    pub fn select(&self, indices: &[u32]) -> Variables {
        let take = |from: &[f64]| indices.iter().map(|i| from[*i as usize]).collect::<Vec<_>>();
        Variables {
            beta: take(&self.beta),
            gradient: take(&self.gradient),
            lower: take(&self.lower),
            upper: take(&self.upper),
            up: take(&self.up),
            down: take(&self.down),
            epsilon: self.epsilon,
            split: indices.iter().filter(|i| (**i as usize) < self.split).count(),
            slack: self
                .slack
                .as_ref()
                .map(|slack| PowerSlack { power: slack.power, costs: take(&slack.costs) }),
            min_curvature: self.min_curvature,
        }
    }
}

/// The KKT violation `m − M` of one group.
pub(crate) fn group_violation(scan: &WorkingSetScan) -> f64 {
    scan.max_up - scan.min_low
}

/// The larger KKT violation of the two groups, at least zero.
pub(crate) fn violation(scans: &[WorkingSetScan; 2]) -> f64 {
    scans.iter().map(group_violation).fold(0.0, f64::max)
}

/// The group with the larger KKT violation.
pub(crate) fn most_violating_group(scans: &[WorkingSetScan; 2]) -> usize {
    usize::from(group_violation(&scans[1]) > group_violation(&scans[0]))
}

/// The result of [`optimize_pairs`].
pub(crate) struct PairRun {
    pub iterations: u64,
    pub violation: f64,
}

/// Updates pairs until the KKT violation is within `tol` or rounding allows no further step. `k` is the kernel matrix,
/// row-major and symmetric; `diagonal` is its diagonal plus the curvature of the slack penalty.
pub(crate) fn optimize_pairs<T: Float>(
    v: &mut Variables,
    k: &[T],
    diagonal: &mut [T],
    tol: f64,
    max_iterations: u64,
    mut proceed: impl FnMut(u64, f64) -> bool,
) -> PairRun {
    let n = v.beta.len();
    let groups = v.groups();
    let mut scans = v.scans();
    let mut iterations = 0;
    loop {
        let g = most_violating_group(&scans);
        let current = group_violation(&scans[g]);
        let run = || PairRun { iterations, violation: violation(&scans) };
        // A NaN ends the run as well.
        if current <= tol || current.is_nan() {
            return run();
        }
        if iterations >= max_iterations {
            return run();
        }
        if iterations % ITERATIONS_PER_CHECK == ITERATIONS_PER_CHECK - 1
            && !proceed(iterations, current)
        {
            return run();
        }
        let group = groups[g].clone();
        let i = group.start + scans[g].argmax_up;
        let column_i = &k[i * n..(i + 1) * n];
        let Some(j) = T::select_second(
            &v.gradient[group.clone()],
            &v.down[group.clone()],
            &column_i[group.clone()],
            &diagonal[group.clone()],
            diagonal[i],
            scans[g].max_up,
        ) else {
            return run();
        };
        let j = v.other_than(i, group.start + j);
        let slope = pair_violation(v, j, scans[g].max_up);
        let own: [f64; 2] = [i, j].map(|i| k[i * n + i].into());
        let curvature = v.pair_curvature::<T>(own, column_i[j].into());
        let t = update_pair(v, i, j, slope, curvature);
        if t == 0.0 {
            return run();
        }
        for (i, own) in [i, j].into_iter().zip(own).filter(|_| v.slack.is_some()) {
            diagonal[i] = T::narrow(own + v.slack_curvature(i));
        }
        let column_j = &k[j * n..(j + 1) * n];
        for (g, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            scans[g] = T::update_and_scan(
                &mut v.gradient[group.clone()],
                &column_i[group.clone()],
                &column_j[group.clone()],
                t,
                &v.up[group.clone()],
                &v.down[group.clone()],
            );
        }
        iterations += 1;
    }
}

/// The violation of the pair of the maximizer of `m` and `j`: the decrease of the objective per unit step.
pub(crate) fn pair_violation(v: &Variables, j: usize, max_up: f64) -> f64 {
    max_up - (v.down[j] - v.gradient[j])
}

/// Increases `βᵢ` and decreases `βⱼ` to the minimum along this direction, clipped to the box and to zero if `ε > 0`.
/// Returns the step size, zero if rounding allows none.
pub(crate) fn update_pair(
    v: &mut Variables,
    i: usize,
    j: usize,
    slope: f64,
    curvature: f64,
) -> f64 {
    let clip_at_zero = v.epsilon > 0.0;
    let (bound_i, bound_j) = (
        if clip_at_zero && v.beta[i] < 0.0 { v.upper[i].min(0.0) } else { v.upper[i] },
        if clip_at_zero && v.beta[j] > 0.0 { v.lower[j].max(0.0) } else { v.lower[j] },
    );
    let (max_i, max_j) = (bound_i - v.beta[i], v.beta[j] - bound_j);
    let max_step = max_i.min(max_j);
    let t = match &v.slack {
        None => (slope / curvature.max(MIN_CURVATURE)).min(max_step),
        Some(slack) => slack.step_size((i, v.beta[i]), (j, v.beta[j]), slope, curvature, max_step),
    };
    let (new_i, new_j) = (
        if t >= max_i { bound_i } else { v.beta[i] + t },
        if t >= max_j { bound_j } else { v.beta[j] - t },
    );
    if new_i == v.beta[i] && new_j == v.beta[j] {
        return 0.0;
    }
    (v.beta[i], v.beta[j]) = (new_i, new_j);
    v.update_status(i);
    v.update_status(j);
    t
}
