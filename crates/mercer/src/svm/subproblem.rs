//! The quadratic programs that a support vector machine consists of: one for regression and one-class problems, one per
//! pair of classes or per class for classification.

use super::dual_problem::{DualProblem, DualSolution, MAX_CONCURRENT_SUBPROBLEMS, SolveContext};
use super::duality_gap::DualityGap;
use crate::kernel::{Indefinite, Precision};
use crate::model::{Certificate, Convergence, Monitor, Plan, Progress};
use crate::solver::{BoxQp, OnProgress, PowerSlack};
use mercer_num::parallel::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A quadratic program over some of the rows of a [`DualProblem`].
pub(super) struct Subproblem {
    /// The row of each variable.
    pub rows: Vec<u32>,
    pub linear: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub start: Vec<f64>,
    pub epsilon: f64,
    pub split: usize,
    pub slack: Option<PowerSlack>,
}

impl Subproblem {
    /// Binary classification of the given rows: `0 ≤ yᵢβᵢ ≤ bound(row)` and `Σ βᵢ = 0`.
    pub fn binary(
        rows: impl Iterator<Item = usize>,
        is_positive: impl Fn(usize) -> bool,
        bound: impl Fn(usize) -> f64,
    ) -> Subproblem {
        let rows: Vec<u32> = rows.map(|k| k as u32).collect();
        let linear: Vec<f64> =
            rows.iter().map(|k| if is_positive(*k as usize) { 1.0 } else { -1.0 }).collect();
        let bounds = rows.iter().map(|k| bound(*k as usize));
        let lower =
            bounds.clone().zip(&linear).map(|(c, y)| if *y > 0.0 { 0.0 } else { -c }).collect();
        let upper = bounds.zip(&linear).map(|(c, y)| if *y > 0.0 { c } else { 0.0 }).collect();
        let n = rows.len();
        let start = vec![0.0; n];
        Subproblem { rows, linear, lower, upper, start, epsilon: 0.0, split: n, slack: None }
    }

    pub fn qp(&self) -> BoxQp<'_> {
        BoxQp {
            linear: &self.linear,
            lower: &self.lower,
            upper: &self.upper,
            epsilon: self.epsilon,
            split: self.split,
            start: self.start.clone(),
            outputs: None,
            slack: self.slack.as_ref(),
        }
    }

    fn starts_at_zero(&self) -> bool {
        self.start.iter().all(|b| *b == 0.0)
    }

    /// Whether each row belongs to the positive class.
    pub fn is_positive(&self) -> Vec<bool> {
        self.upper.iter().map(|upper| *upper > 0.0).collect()
    }

    /// The sample weights of the rows.
    pub fn weights(&self, problem: &DualProblem<'_>) -> Vec<f64> {
        self.rows.iter().map(|k| problem.weights[*k as usize]).collect()
    }
}

/// A feasible initial point of `Σ αᵢ = total` with `0 ≤ αᵢ ≤ bounds[i]`: the first variables are at their bounds.
pub(super) fn fill_to_sum(bounds: &[f64], total: f64, out: &mut [f64]) {
    let mut left = total;
    for (out, bound) in out.iter_mut().zip(bounds) {
        *out = bound.min(left);
        left -= *out;
    }
}

/// Solves all subproblems on all threads.
pub(super) fn solve_all(
    problem: &DualProblem<'_>,
    subproblems: &[Subproblem],
    monitor: &Monitor<'_>,
) -> Vec<DualSolution> {
    let work = |subproblem: &Subproblem, progress: &OnProgress<'_>| {
        if subproblems.len() > 1
            && subproblem.starts_at_zero()
            && let Some(stop) = monitor.stop()
        {
            return DualSolution::unsolved(&subproblem.qp(), stop);
        }
        let context = SolveContext { n_subproblems: subproblems.len(), monitor, progress };
        problem.solve(&subproblem.rows, &subproblem.qp(), context)
    };
    for_each_subproblem(subproblems, monitor, work, DualSolution::convergence)
}

/// Applies `work` to every subproblem on all threads. A single subproblem reports its own progress; of several, the
/// monitor receives the number of those that are done.
pub(super) fn for_each_subproblem<R: Send>(
    subproblems: &[Subproblem],
    monitor: &Monitor<'_>,
    work: impl Fn(&Subproblem, &OnProgress<'_>) -> R + Sync,
    convergence: impl Fn(&R) -> Convergence + Sync,
) -> Vec<R> {
    /// Units of progress per subproblem.
    const UNITS: u64 = 1000;
    let total = UNITS * subproblems.len() as u64;
    let done = Mutex::new((0, Convergence::default()));
    let per_task = if rayon::current_num_threads() > MAX_CONCURRENT_SUBPROBLEMS {
        subproblems.len().div_ceil(MAX_CONCURRENT_SUBPROBLEMS)
    } else {
        1
    };
    subproblems
        .par_iter()
        .with_min_len(per_task)
        .with_max_len(per_task)
        .map(|subproblem| {
            let report = |done: u64, convergence: Convergence| {
                monitor.report_progress(Progress {
                    done,
                    total: Some(total),
                    convergence: Some(convergence),
                });
            };
            let progress = |fraction: f64, convergence: Convergence| {
                if subproblems.len() == 1 {
                    report((fraction * (UNITS - 1) as f64) as u64, convergence);
                }
            };
            let result = work(subproblem, &progress);
            // The lock is held while reporting, so that reports never go backwards.
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done = (done.0 + UNITS, done.1.and(convergence(&result)));
            report(done.0, done.1);
            result
        })
        .collect()
}

/// The certificate of all subproblems: the sums of their objectives and their largest KKT violation.
///
/// A kernel that is not positive semi-definite makes the dual problem non-convex: the solution is then a stationary
/// point, and the primal objective is no bound for anything.
pub(super) fn certificate(
    problem: &DualProblem<'_>,
    plan: Option<Plan>,
    subproblems: &[Subproblem],
    solutions: &[DualSolution],
    n_vectors: usize,
    start: Instant,
) -> Certificate {
    let primal: f64 = solutions.iter().map(|s| s.gap.primal).sum();
    let dual: f64 = solutions.iter().map(|s| s.gap.dual).sum();
    let violation = solutions.iter().map(|s| s.gap.violation).fold(0.0, f64::max);
    let iterations: u64 = solutions.iter().map(|s| s.iterations).sum();
    let values: u64 = solutions.iter().map(|s| s.kernel_values).sum();
    let stopped = solutions.iter().find_map(|s| s.stopped);
    let precision = match problem.precision {
        Precision::Single => "single",
        Precision::Double => "double",
    };
    let unconverged = solutions.iter().filter(|s| !s.converged).count();
    let unmeasured = solutions.iter().any(|s| s.gap.unmeasured);
    let mut certificate = match evidence(problem, solutions) {
        _ if unmeasured => Certificate::iterative(false, stopped)
            .note("the duality gap of so many support vectors was not computed after the stop"),
        None => Certificate::iterative(unconverged == 0, stopped)
            .objective("primal objective", primal)
            .dual(dual),
        Some(evidence) => Certificate::stationary(unconverged == 0, stopped)
            .objective("dual objective", dual)
            .note(format!(
                "kernel is not positive semi-definite ({evidence}): the dual problem is not convex, \
                 no duality gap"
            )),
    };
    certificate = certificate
        .violation("largest KKT violation", violation)
        .note(format!("{n_vectors} support vectors"))
        .note(format!("{values} kernel values in {precision} precision"))
        .plan(plan)
        .rows(problem.indices.len() as u64)
        .iterations(iterations)
        .since(start);
    if solutions.len() > 1 {
        certificate = certificate.note(format!("{} binary subproblems", solutions.len()));
    }
    if unconverged > 0 && stopped.is_none() {
        certificate = certificate.note(format!("{unconverged} subproblems did not converge"));
    }
    remedies(problem, subproblems, solutions).into_iter().fold(certificate, Certificate::note)
}

/// Evidence that the kernel is not positive semi-definite: an eigenvalue, or a curvature met by the solver. A curvature
/// below zero of a kernel that satisfies Mercer's condition can only be rounding.
fn evidence(problem: &DualProblem<'_>, solutions: &[DualSolution]) -> Option<Indefinite> {
    let lowest = solutions.iter().map(|s| s.min_curvature).fold(0.0, f64::min);
    let negative = lowest < 0.0 && !problem.function.is_mercer();
    problem.indefinite.or(negative.then_some(Indefinite::Curvature(lowest)))
}

/// What limits the solutions, and what to do about it.
fn remedies(
    problem: &DualProblem<'_>,
    subproblems: &[Subproblem],
    solutions: &[DualSolution],
) -> Vec<String> {
    let mut notes = Vec::new();
    let stagnated = subproblems.iter().zip(solutions).filter(|(_, s)| s.stagnated);
    let sizes = stagnated.map(|(sub, _)| problem.box_size(&sub.rows, &sub.qp()));
    if let Some((bound, size)) = sizes.max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1))) {
        notes.push(format!(
            "stopped because the duality gap hardly decreased: C = {bound:.1e} times the mean K(x,x) = \
             {size:.1e} is too large; standardize the columns, or decrease `C`"
        ));
    }
    let limited = solutions.iter().map(|s| s.gap).filter(DualityGap::is_limited_by_rounding);
    if let Some(error) = limited.map(|gap| gap.total_rounding()).reduce(f64::max) {
        notes.push(format!(
            "the duality gap includes the rounding error {error:.1e} of the kernel values; center and standardize the \
             columns"
        ));
    }
    notes
}
