//! Solves for scores in intervals: Newton's method where distances are squared, coordinates where absolute
//! weights cost, and rounds of multipliers around Newton's method where distances count as they are. Passes
//! over the rows' pulls may go before.

use super::coordinate_descent;
use super::dual_coordinate_descent::Descent;
use super::newton_cg::newton_cg;
use super::preconditioner::{NARROW, TRACKED};
use super::{SmoothObjective, StoppingRule, Termination};
use crate::choice;
use crate::error::{Error, Result};
use crate::linear::loss::hinge::{LossPower, MarginLoss, Measured};
use crate::model::{Certificate, Monitor, ParamValue, Rule, Stop};
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Rounds of multipliers at most: each is stiffer than the last.
const ROUNDS: u64 = 60;
/// Visits of the rows' pulls at most, in passes over all rows, before others take over; fewer where the equations
/// of others are soon solved.
const PASSES: u64 = 1000;
const PASSES_OF_FEW: u64 = 20;
/// SmoothObjective losses of fewer sparse columns are left to Newton's method: its equations are soon solved.
pub(crate) const WIDE: usize = 1024;
/// The tolerance that a search for a gap begins with, and where rounding begins.
const FIRST: f64 = 0.1;
const FINEST: f64 = 1e-15;

/// From so many dense rows on a problem begins with some of them, and how near they go: what all rows say differs by
/// more than that.
pub(crate) const MANY: usize = 8192;
const NEAR: f64 = 1.0;

choice! {
    /// A rule for whether to begin with the pulls of the rows.
    pub enum DualRule {
        /// Where the columns are many.
        Auto = "auto",
    }
}

/// Whether to begin with passes over the pulls of the rows.
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

/// Refuses pulls of rows where they do not make the weights.
pub(crate) fn refuse_dual(dual: Dual, absolute: bool, free: bool) -> Result<()> {
    if dual != Dual::Given(true) || !(absolute || free) {
        return Ok(());
    }
    let why = if absolute { "with the penalty `l1`" } else { "with a free constant term" };
    Err(Error::Parameter {
        name: "dual".into(),
        found: format!("true {why}"),
        expected: "`auto` or false there".into(),
    })
}

/// How it ended.
pub(crate) struct Solved {
    pub steps: u64,
    passes: u64,
    pub products: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
    violation: (&'static str, f64),
    measured: Vec<Measured>,
}

/// What was asked for.
pub(crate) struct Asked<'a> {
    pub tol: f64,
    /// A relative gap to end at, in place of the tolerance.
    pub gap: Option<f64>,
    pub dual: Dual,
    pub max_iter: usize,
    pub monitor: &'a Monitor<'a>,
}

/// Minimizes, and measures what came out.
pub(crate) fn solve(problem: &mut MarginLoss<'_>, asked: &Asked<'_>) -> Solved {
    let rule = StoppingRule {
        tolerance: asked.tol,
        max_iterations: asked.max_iter as u64,
        monitor: asked.monitor,
    };
    let mut passes = 0;
    if asked.begins_with_pulls(problem) {
        let mut descent = Descent::new(problem);
        let few = problem.design.width() <= WIDE;
        let most = (if few { PASSES_OF_FEW } else { PASSES }).min(rule.max_iterations);
        let mut tolerance = 0.5 * asked.first() * problem.unit;
        loop {
            let settled = descent.run(tolerance, most, asked.monitor);
            passes = descent.passes();
            problem.start_at(&descent.weights(), descent.pulls());
            let (measured, off) = (problem.measure_pulls(true), problem.scores_off());
            let ended = Termination {
                iterations: 0,
                products: 0,
                converged: true,
                stopped: descent.stopped,
            };
            let solved = finish(ended, ("score off its pull", off), measured, asked);
            if solved.converged || solved.stopped.is_some() {
                return Solved { passes, ..solved };
            }
            if !settled {
                break;
            }
            tolerance *= 0.3;
        }
    }
    let solved = match problem.power {
        LossPower::Plain => by_rounds(problem, asked, &rule),
        LossPower::Squared => by_newton(problem, asked, &rule),
    };
    Solved { passes, ..solved }
}

/// Newton's method or coordinates, once to the tolerance, or to finer and finer ones until the gap is closed.
fn by_newton(problem: &mut MarginLoss<'_>, asked: &Asked<'_>, rule: &StoppingRule<'_>) -> Solved {
    let absolute = problem.costs.weights.1 > 0.0;
    if !absolute {
        begin_with_some(problem, rule.monitor);
    }
    let mut all = Termination::start();
    let mut tolerance = asked.first();
    loop {
        let max_iterations = rule.max_iterations.saturating_sub(all.iterations);
        let rule = StoppingRule { tolerance, max_iterations, monitor: rule.monitor };
        let ended = match absolute {
            true => coordinate_descent::minimize(problem, &rule),
            false => newton_cg(problem, &rule),
        };
        let spent = ended.iterations >= max_iterations || !ended.converged;
        all.iterations += ended.iterations;
        all.products += ended.products;
        all.stopped = ended.stopped;
        let mut gradient = vec![0.0; problem.dimension()];
        let measured = problem.measure();
        let violations = match absolute {
            true => {
                coordinate_descent::PenalizedLoss::losses_gradient(problem, &mut gradient);
                coordinate_descent::PenalizedLoss::violations_at(problem, &gradient)
            }
            false => {
                problem.values_and_gradient(&mut gradient);
                problem.violations(&gradient)
            }
        };
        let name = if absolute { "largest entry of the gradient" } else { "relative gradient" };
        let solved = finish(all, (name, largest(&violations)), measured, asked);
        let over = solved.converged || spent || solved.stopped.is_some();
        if asked.gap.is_none() || over || tolerance < FINEST {
            return solved;
        }
        tolerance *= 0.1;
    }
}

/// Goes near to the optimum with a quarter of the rows, and with a quarter of those before: where rows are many,
/// most steps only find out which of them matter.
fn begin_with_some(problem: &mut MarginLoss<'_>, monitor: &Monitor<'_>) {
    let n = problem.design.n_rows();
    if problem.design.is_sparse() || n < MANY {
        return;
    }
    let mut random = Random::new(n as u64);
    let picks: Vec<usize> = (0..n).filter(|_| random.uniform() < 0.25).collect();
    let rows = problem.design.copied(&picks);
    let mut some = problem.of_some(&picks, &rows.view());
    begin_with_some(&mut some, monitor);
    newton_cg(&mut some, &StoppingRule { tolerance: NEAR, max_iterations: 50, monitor });
    problem.begin_at(coordinate_descent::PenalizedLoss::weights(&some));
}

impl Asked<'_> {
    /// The tolerance to begin with.
    fn first(&self) -> f64 {
        if self.gap.is_some() { FIRST } else { self.tol }
    }

    /// Whether what was measured is what was asked for.
    fn close(&self, measured: &[Measured]) -> bool {
        let share = self.gap.unwrap_or(self.tol);
        measured.iter().all(|m| m.gap <= share * m.value)
    }

    /// Whether passes over the rows go before.
    fn begins_with_pulls(&self, problem: &MarginLoss<'_>) -> bool {
        let possible = !problem.free_constant() && problem.costs.weights.1 == 0.0;
        let many = match problem.power {
            LossPower::Plain => problem.design.width() > NARROW,
            LossPower::Squared if problem.design.is_sparse() => problem.design.width() > WIDE,
            LossPower::Squared => problem.design.width() > TRACKED,
        };
        match self.dual {
            Dual::Given(dual) => dual && possible,
            Dual::Rule(DualRule::Auto) => possible && many,
        }
    }
}

/// Rounds until the pulls of the rows, the gradient and the gap are all as good as asked for.
fn by_rounds(problem: &mut MarginLoss<'_>, asked: &Asked<'_>, rule: &StoppingRule<'_>) -> Solved {
    let mut all = Termination::start();
    let mut tolerance = asked.first().max(0.03);
    let mut last = vec![f64::INFINITY; problem.m];
    for _ in 0..ROUNDS {
        let max_iterations = rule.max_iterations.saturating_sub(all.iterations);
        let ended =
            newton_cg(problem, &StoppingRule { tolerance, max_iterations, monitor: rule.monitor });
        all.iterations += ended.iterations;
        all.products += ended.products;
        all.stopped = ended.stopped;
        // In units of what is far for a score.
        let off: Vec<f64> = problem.row_violations().iter().map(|v| v / problem.unit).collect();
        let measured = problem.measure();
        let close = asked.close(&measured);
        let right = largest(&off) <= rule.tolerance && ended.converged;
        let enough = all.iterations >= rule.max_iterations || all.stopped.is_some();
        let right = right && tolerance <= rule.tolerance;
        if enough || (close && (right || asked.gap.is_some())) {
            let violation = ("score off its pull", largest(&off));
            return finish(all, violation, measured, asked);
        }
        let slow: Vec<bool> = off.iter().zip(&last).map(|(now, last)| *now > 0.1 * last).collect();
        problem.next_round(&slow);
        last = off;
        let finest = if asked.gap.is_some() { FINEST } else { rule.tolerance };
        tolerance = finest.max(0.1 * tolerance);
    }
    let violation = ("score off its pull", largest(&last));
    let measured = problem.measure();
    finish(all, violation, measured, asked)
}

fn finish(
    ended: Termination,
    violation: (&'static str, f64),
    measured: Vec<Measured>,
    asked: &Asked<'_>,
) -> Solved {
    let close = asked.close(&measured);
    Solved {
        steps: ended.iterations,
        passes: 0,
        products: ended.products,
        converged: close && (asked.gap.is_some() || violation.1 <= asked.tol),
        stopped: ended.stopped,
        violation,
        measured,
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, b| if *b > a || b.is_nan() { *b } else { a })
}

impl Solved {
    /// Passes and steps.
    pub fn n_iter(&self) -> u64 {
        self.passes + self.steps
    }

    /// The certificate of a fit of so many rows.
    pub fn certificate(&self, what: &str, rows: usize, began: Instant) -> Certificate {
        let value: f64 = self.measured.iter().map(|m| m.value).sum();
        let gap: f64 = self.measured.iter().map(|m| m.gap).sum();
        let mut work = format!("{} Hessian products", self.products);
        if self.passes > 0 {
            work = format!("{} epochs of dual coordinate descent, {work}", self.passes);
        }
        let (name, violation) = self.violation;
        Certificate::iterative(self.converged, self.stopped)
            .objective(what, value)
            .dual(value - gap)
            .violation(name, violation)
            .note(work)
            .rows(rows as u64)
            .iterations(self.n_iter())
            .since(began)
    }
}
