//! How linear support vector problems are solved.
//!
//! Dual coordinate descent goes first where it is fast, for many columns. Then, or otherwise, the squared loss is minimized
//! by Newton's method (with an L1 penalty by coordinate descent), and the linear loss by the augmented Lagrangian method
//! around Newton's method. All of them end by the duality gap and the KKT violation at the weights.

use super::duality_gap::DualWeights;
use super::{LossPower, MIN_SUBSAMPLED_ROWS, MarginLoss};
use crate::choice;
use crate::error::{Error, Result};
use crate::model::{Certificate, Monitor, ParamValue, Rule, Stop};
use crate::solver::augmented_lagrangian::{self, largest};
use crate::solver::coordinate_descent::{self, PenalizedLoss};
use crate::solver::dual_coordinate_descent::DualCoordinateDescent;
use crate::solver::duality_gap::{Accuracy, DualityGap, FINEST_TOLERANCE};
use crate::solver::newton_cg::newton_cg;
use crate::solver::preconditioner::{MAX_DENSE_HESSIAN_COLUMNS, MAX_TRACKED_HESSIAN_COLUMNS};
use crate::solver::{SmoothObjective, StoppingRule, Termination};
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Epochs of dual coordinate descent at most; fewer where Newton's equations have few columns.
const MAX_DUAL_EPOCHS: u64 = 1000;
const MAX_DUAL_EPOCHS_FEW_COLUMNS: u64 = 20;
/// Smooth losses of sparse rows with up to so many columns are left to Newton's method: its equations are soon solved.
pub(crate) const MAX_PRIMAL_SPARSE_COLUMNS: usize = 1024;
/// The tolerance on a subsample: the gradient of all rows differs by more than that.
const SUBSAMPLE_TOLERANCE: f64 = 1.0;
const MAX_SUBSAMPLE_ITERATIONS: u64 = 50;
/// The part of the rows in a subsample.
const SUBSAMPLE_FRACTION: f64 = 0.25;

choice! {
    /// A rule for whether to solve the dual problem first.
    pub enum DualRule {
        /// Where there are many columns.
        Auto = "auto",
    }
}

/// Whether to solve the dual problem by coordinate descent first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Dual {
    /// As given.
    Given(bool),
    /// By a rule.
    Rule(DualRule),
}

impl ParamValue for Dual {
    const TYPE: &'static str = "bool or \"auto\"";

    fn obeys(&self, _rule: Rule) -> bool {
        true
    }
}

/// Rejects `dual = true` where the weights are no sum over dual variables.
pub(crate) fn check_dual(dual: Dual, l1: bool, unpenalized_intercept: bool) -> Result<()> {
    if dual != Dual::Given(true) || !(l1 || unpenalized_intercept) {
        return Ok(());
    }
    let why = if l1 { "with `penalty=l1`" } else { "with `intercept=unpenalized`" };
    Err(Error::Parameter {
        name: "dual".into(),
        found: format!("true {why}"),
        expected: "`auto` or false".into(),
    })
}

/// The solver's parameters.
pub(crate) struct SolveOptions<'a> {
    pub accuracy: Accuracy,
    pub dual: Dual,
    pub max_iter: usize,
    pub monitor: &'a Monitor<'a>,
}

/// How the solver ended.
pub(crate) struct SolveResult {
    /// Newton iterations.
    pub iterations: u64,
    /// Epochs of dual coordinate descent.
    dual_epochs: u64,
    pub hessian_products: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
    violation: (&'static str, f64),
    gaps: Vec<DualityGap>,
}

/// Minimizes from the current weights, and computes the duality gap.
pub(crate) fn solve(problem: &mut MarginLoss<'_>, options: &SolveOptions<'_>) -> SolveResult {
    let SolveOptions { accuracy, monitor, .. } = *options;
    let rule =
        StoppingRule { tolerance: accuracy.tol, max_iterations: options.max_iter as u64, monitor };
    let mut dual_epochs = 0;
    if options.solves_dual(problem) {
        let (result, epochs) = solve_dual(problem, accuracy, &rule);
        if let Some(result) = result {
            return result;
        }
        dual_epochs = epochs;
    }
    let result = match problem.power {
        LossPower::Linear => {
            let result = augmented_lagrangian::minimize(problem, accuracy, &rule);
            let violation = ("largest KKT violation", result.violation);
            SolveResult::new(result.end, violation, result.gaps, accuracy)
        }
        LossPower::Squared => solve_squared(problem, accuracy, &rule),
    };
    SolveResult { dual_epochs, ..result }
}

/// Dual coordinate descent to finer and finer tolerances; the result if it is accurate enough, and the number of epochs.
fn solve_dual(
    problem: &mut MarginLoss<'_>,
    accuracy: Accuracy,
    rule: &StoppingRule<'_>,
) -> (Option<SolveResult>, u64) {
    let mut descent = DualCoordinateDescent::new(&*problem);
    let few_columns = problem.design.width() <= MAX_PRIMAL_SPARSE_COLUMNS;
    let max_epochs = if few_columns { MAX_DUAL_EPOCHS_FEW_COLUMNS } else { MAX_DUAL_EPOCHS };
    let max_epochs = max_epochs.min(rule.max_iterations);
    let mut tolerance = 0.5 * accuracy.first_tolerance() * problem.score_scale;
    loop {
        let converged = descent.run(tolerance, max_epochs, rule.monitor);
        let dual_epochs = descent.epochs();
        problem.start_from_dual(&descent.weights(), descent.thetas());
        let gaps = problem.gaps_of_dual(DualWeights::Weights);
        let violation = ("largest KKT violation", problem.kkt_violation());
        let end = Termination { converged: true, stopped: descent.stopped, ..Termination::start() };
        let result = SolveResult::new(end, violation, gaps, accuracy);
        if result.converged || result.stopped.is_some() {
            return (Some(SolveResult { dual_epochs, ..result }), dual_epochs);
        }
        if !converged {
            return (None, dual_epochs);
        }
        tolerance *= 0.3;
    }
}

/// Newton's method, or coordinate descent for an L1 penalty: once to the tolerance, or to finer and finer ones until the
/// duality gap is small enough.
fn solve_squared(
    problem: &mut MarginLoss<'_>,
    accuracy: Accuracy,
    rule: &StoppingRule<'_>,
) -> SolveResult {
    let l1 = problem.penalties.weights.l1 > 0.0;
    if !l1 {
        warm_start_on_subsample(problem, rule.monitor);
    }
    let mut end = Termination::start();
    let mut tolerance = accuracy.first_tolerance();
    loop {
        let max_iterations = rule.max_iterations.saturating_sub(end.iterations);
        let rule = StoppingRule { tolerance, max_iterations, monitor: rule.monitor };
        let inner = match l1 {
            true => coordinate_descent::minimize(problem, &rule),
            false => newton_cg(problem, &rule),
        };
        let exhausted = inner.iterations >= max_iterations || !inner.converged;
        end.iterations += inner.iterations;
        end.products += inner.products;
        end.stopped = inner.stopped;
        let gaps = problem.duality_gaps();
        let mut gradient = vec![0.0; problem.dimension()];
        let (name, violations) = match l1 {
            true => {
                problem.losses_and_gradient(&mut gradient);
                ("largest entry of the gradient", problem.subgradient_violations(&gradient))
            }
            false => {
                problem.values_and_gradient(&mut gradient);
                ("relative gradient", problem.violations(&gradient))
            }
        };
        let result = SolveResult::new(end, (name, largest(&violations)), gaps, accuracy);
        let is_last = result.converged || exhausted || result.stopped.is_some();
        if accuracy.gap.is_none() || is_last || tolerance < FINEST_TOLERANCE {
            return result;
        }
        tolerance *= 0.1;
    }
}

/// Fits a quarter of the rows first, and recursively a quarter of those: with many rows most iterations only find out
/// which of them are active.
fn warm_start_on_subsample(problem: &mut MarginLoss<'_>, monitor: &Monitor<'_>) {
    let n = problem.design.n_rows();
    if problem.design.is_sparse() || n < MIN_SUBSAMPLED_ROWS {
        return;
    }
    let mut random = Random::new(n as u64);
    let indices: Vec<usize> = (0..n).filter(|_| random.uniform() < SUBSAMPLE_FRACTION).collect();
    let rows = problem.design.copy_rows(&indices);
    let mut sample = problem.subsample(&indices, &rows.view());
    warm_start_on_subsample(&mut sample, monitor);
    let rule = StoppingRule {
        tolerance: SUBSAMPLE_TOLERANCE,
        max_iterations: MAX_SUBSAMPLE_ITERATIONS,
        monitor,
    };
    if monitor.stop().is_none() {
        newton_cg(&mut sample, &rule);
    }
    problem.start_from_weights(sample.weights());
}

impl SolveOptions<'_> {
    /// Whether to start with dual coordinate descent.
    fn solves_dual(&self, problem: &MarginLoss<'_>) -> bool {
        let l1 = problem.penalties.weights.l1 != 0.0;
        let possible = !problem.has_unpenalized_intercept() && !l1;
        let width = problem.design.width();
        let many_columns = match problem.power {
            LossPower::Linear => width > MAX_DENSE_HESSIAN_COLUMNS,
            LossPower::Squared if problem.design.is_sparse() => width > MAX_PRIMAL_SPARSE_COLUMNS,
            LossPower::Squared => width > MAX_TRACKED_HESSIAN_COLUMNS,
        };
        match self.dual {
            Dual::Given(dual) => dual && possible,
            Dual::Rule(DualRule::Auto) => possible && many_columns,
        }
    }
}

impl SolveResult {
    fn new(
        end: Termination,
        violation: (&'static str, f64),
        gaps: Vec<DualityGap>,
        accuracy: Accuracy,
    ) -> SolveResult {
        let satisfied = accuracy.gap.is_some() || violation.1 <= accuracy.tol;
        SolveResult {
            iterations: end.iterations,
            dual_epochs: 0,
            hessian_products: end.products,
            converged: accuracy.is_met_by(&gaps) && satisfied,
            stopped: end.stopped,
            violation,
            gaps,
        }
    }

    /// Both results together, of independent subproblems.
    pub fn and(mut self, other: SolveResult) -> SolveResult {
        self.gaps.extend(other.gaps);
        SolveResult {
            iterations: self.iterations.max(other.iterations),
            dual_epochs: self.dual_epochs.max(other.dual_epochs),
            hessian_products: self.hessian_products + other.hessian_products,
            converged: self.converged && other.converged,
            stopped: self.stopped.or(other.stopped),
            violation: (self.violation.0, self.violation.1.max(other.violation.1)),
            gaps: self.gaps,
        }
    }

    /// Adds the gaps of subproblems that were not started before a stop.
    pub fn leave_unsolved(&mut self, gaps: Vec<DualityGap>, stop: Stop) {
        self.gaps.extend(gaps);
        (self.converged, self.stopped) = (false, Some(stop));
        self.violation.1 = self.violation.1.max(1.0);
    }

    /// Epochs and iterations.
    pub fn n_iter(&self) -> u64 {
        self.dual_epochs + self.iterations
    }

    /// The certificate of a fit of so many rows.
    pub fn certificate(&self, what: &str, rows: usize, began: Instant) -> Certificate {
        let total = DualityGap::total(&self.gaps);
        let mut work = format!("{} Hessian products", self.hessian_products);
        if self.dual_epochs > 0 {
            work = format!("{} epochs of dual coordinate descent, {work}", self.dual_epochs);
        }
        let (name, violation) = self.violation;
        Certificate::iterative(self.converged, self.stopped)
            .objective(what, total.primal)
            .dual(total.dual)
            .violation(name, violation)
            .note(work)
            .rows(rows as u64)
            .iterations(self.n_iter())
            .since(began)
    }
}
