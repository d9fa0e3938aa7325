//! The monitor of a fit: progress reports, the plan, a time limit, a memory budget and a cancellation flag.

use crate::error::{Error, Result};
use crate::model::Plan;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// The default remedy if the memory budget is exceeded.
const RAISE_BUDGET: &str = "raise the memory budget";

/// Passed to every long computation. The default has no limits and no reports.
#[derive(Default)]
pub struct Monitor<'a> {
    progress: Option<Box<dyn Fn(Progress) + Sync + 'a>>,
    plan: Option<ReportPlan<'a>>,
    deadline: Option<Instant>,
    memory: Option<u64>,
    cancel: Arc<AtomicBool>,
    /// The number of polls left until the fit is cancelled; below zero, the polls since then.
    polls: Option<Arc<AtomicI64>>,
}

/// The callback that receives the plan.
type ReportPlan<'a> = Box<dyn Fn(&Plan) + Sync + 'a>;

/// The progress of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Rows or steps done.
    pub done: u64,
    /// The total number of rows or steps, if it is known.
    pub total: Option<u64>,
    /// The state of an iterative solver.
    pub convergence: Option<Convergence>,
}

/// How far an iterative solver is from the optimum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Convergence {
    /// The largest violation of the optimality conditions; the fit ends at the tolerance.
    pub violation: f64,
    /// The tolerance that ends the fit; zero if it is not known.
    pub tolerance: f64,
    /// The number of support vectors so far; zero for other solvers than those of support vector machines.
    pub n_support_vectors: usize,
}

impl Convergence {
    /// From the violation and the dual variables.
    pub(crate) fn new(violation: f64, beta: &[f64]) -> Convergence {
        let n_support_vectors = beta.iter().filter(|b| **b != 0.0).count();
        Convergence { violation, tolerance: 0.0, n_support_vectors }
    }

    /// Of a solver without support vectors.
    pub(crate) fn within(violation: f64, tolerance: f64) -> Convergence {
        Convergence { violation, tolerance, n_support_vectors: 0 }
    }

    /// The combined state of two subproblems.
    pub(crate) fn and(self, other: Convergence) -> Convergence {
        Convergence {
            violation: self.violation.max(other.violation),
            tolerance: self.tolerance.max(other.tolerance),
            n_support_vectors: self.n_support_vectors + other.n_support_vectors,
        }
    }
}

impl Progress {
    /// The fraction that is done, if the total is known.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0)?;
        Some((self.done as f64 / total as f64).min(1.0))
    }

    /// A line of text after some elapsed time: `12 s: 43 %, 16 s left, violation 1.20e-2, 812 support vectors`.
    pub fn describe_after(&self, time: Duration) -> String {
        let seconds = time.as_secs_f64();
        let done = match self.fraction().filter(|fraction| *fraction > 0.0) {
            Some(fraction) => {
                let left = seconds * (1.0 - fraction) / fraction;
                format!("{seconds:.0} s: {:.0} %, {left:.0} s left", 100.0 * fraction)
            }
            None => format!("{seconds:.0} s: step {}", self.done),
        };
        match self.convergence {
            Some(convergence) => format!("{done}, {convergence}"),
            None => done,
        }
    }
}

impl fmt::Display for Convergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "violation {:.2e}", self.violation)?;
        match self.n_support_vectors {
            0 => Ok(()),
            n => write!(f, ", {n} support vectors"),
        }
    }
}

/// Why a fit stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// The time limit was reached.
    Deadline,
    /// The fit was cancelled.
    Cancelled,
}

impl<'a> Monitor<'a> {
    /// No limits and no reports.
    pub fn quiet() -> Monitor<'static> {
        Monitor::default()
    }

    /// The same limits without reports, for the parts of a fit that reports as a whole.
    pub fn silent(&self) -> Monitor<'static> {
        let cancel = Arc::clone(&self.cancel);
        let polls = self.polls.clone();
        let Monitor { deadline, memory, .. } = *self;
        Monitor { progress: None, plan: None, deadline, memory, cancel, polls }
    }

    /// The same limits and progress reports without a plan, for a fit whose plan was already reported.
    pub fn planned(&self) -> Monitor<'_> {
        self.silent().on_progress(|p| self.report_progress(p))
    }

    /// The same with a fraction of the remaining time, for the first of two stages.
    pub fn first_part(&self, fraction: f64) -> Monitor<'_> {
        let now = Instant::now();
        let part = |end: Instant| now + end.saturating_duration_since(now).mul_f64(fraction);
        Monitor { deadline: self.deadline.map(part), ..self.planned() }
    }

    /// Calls `report` with the progress, from any thread.
    pub fn on_progress(self, report: impl Fn(Progress) + Sync + 'a) -> Monitor<'a> {
        Monitor { progress: Some(Box::new(report)), ..self }
    }

    /// Calls `report` with the plan of a fit before it starts.
    pub fn on_plan(self, report: impl Fn(&Plan) + Sync + 'a) -> Monitor<'a> {
        Monitor { plan: Some(Box::new(report)), ..self }
    }

    /// Stops the fit after this duration.
    pub fn time_limit(self, limit: Duration) -> Monitor<'a> {
        Monitor { deadline: Instant::now().checked_add(limit), ..self }
    }

    /// Stops after this time, or at the time limit that is set already if it is earlier.
    pub fn time_limit_within(self, limit: Duration) -> Monitor<'a> {
        let deadline = Instant::now().checked_add(limit);
        let earlier = [self.deadline, deadline].into_iter().flatten().min();
        Monitor { deadline: earlier, ..self }
    }

    /// Refuses work that needs more bytes than this.
    pub fn memory_limit(self, bytes: u64) -> Monitor<'a> {
        Monitor { memory: Some(bytes), ..self }
    }

    /// Stops the fit when the flag becomes true.
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Monitor<'a> {
        Monitor { cancel: flag, ..self }
    }

    /// Cancels the fit at the poll after this number of them: a stop that does not depend on the speed of the machine,
    /// for tests.
    pub fn cancelled_after(self, polls: u64) -> Monitor<'a> {
        let polls = i64::try_from(polls).unwrap_or(i64::MAX);
        Monitor { polls: Some(Arc::new(AtomicI64::new(polls))), ..self }
    }

    /// The number of polls left of [`Monitor::cancelled_after`], which all parts of a fit share; below zero, the number
    /// of polls since the fit was cancelled.
    pub fn polls_left(&self) -> i64 {
        self.polls.as_ref().map_or(i64::MAX, |polls| polls.load(Ordering::Relaxed))
    }

    /// Whether to stop now, and why. The call is fast enough for every few milliseconds.
    pub fn stop(&self) -> Option<Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            return Some(Stop::Cancelled);
        }
        if let Some(polls) = &self.polls
            && polls.fetch_sub(1, Ordering::Relaxed) <= 0
        {
            return Some(Stop::Cancelled);
        }
        self.deadline.filter(|d| Instant::now() >= *d).map(|_| Stop::Deadline)
    }

    /// Reports the progress.
    pub fn report(&self, done: u64, total: Option<u64>) {
        self.report_progress(Progress { done, total, convergence: None });
    }

    /// Reports the progress with all its details.
    pub fn report_progress(&self, progress: Progress) {
        if let Some(report) = &self.progress {
            report(progress);
        }
    }

    /// Reports the plan, and returns it for the certificate.
    pub fn plan(&self, plan: Plan) -> Option<Plan> {
        if let Some(report) = &self.plan {
            report(&plan);
        }
        Some(plan)
    }

    /// The memory budget in bytes, if there is one.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Checks the memory budget before an allocation.
    ///
    /// # Errors
    /// [`Error::Memory`] if the budget does not allow it.
    pub fn reserve(&self, what: &str, needed: u64) -> Result<()> {
        self.reserve_within(what, needed, u64::MAX)
    }

    /// Checks the memory budget before an allocation that may be very large; without a budget, `default` bytes are
    /// allowed.
    ///
    /// # Errors
    /// [`Error::Memory`] if the budget does not allow it.
    pub fn reserve_within(&self, what: &str, needed: u64, default: u64) -> Result<()> {
        self.reserve_or(what, needed, default, RAISE_BUDGET)
    }

    /// The same with a remedy, `instead`, for the error message.
    ///
    /// # Errors
    /// [`Error::Memory`] if the budget does not allow it.
    pub fn reserve_or(
        &self,
        what: &str,
        needed: u64,
        default: u64,
        instead: &'static str,
    ) -> Result<()> {
        let budget = self.memory.unwrap_or(default);
        if needed > budget {
            return Err(Error::Memory { what: what.to_owned(), needed, budget, instead });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_in_the_past_stops_at_once() {
        let monitor = Monitor::quiet().time_limit(Duration::ZERO);

        assert_eq!(monitor.stop(), Some(Stop::Deadline));
        assert_eq!(Monitor::quiet().stop(), None);
    }

    #[test]
    fn the_flag_cancels() {
        let flag = Arc::new(AtomicBool::new(false));
        let monitor = Monitor::quiet().cancelled_by(Arc::clone(&flag));
        assert_eq!(monitor.stop(), None);

        flag.store(true, Ordering::Relaxed);

        assert_eq!(monitor.stop(), Some(Stop::Cancelled));
    }

    #[test]
    fn progress_is_described_with_the_remaining_time() {
        let convergence =
            Some(Convergence { violation: 0.012, tolerance: 1e-3, n_support_vectors: 812 });
        let progress = Progress { done: 300, total: Some(1000), convergence };

        assert_eq!(
            progress.describe_after(Duration::from_secs(6)),
            "6 s: 30 %, 14 s left, violation 1.20e-2, 812 support vectors"
        );
        let unknown = Progress { done: 7, total: None, convergence: None };
        assert_eq!(unknown.describe_after(Duration::from_secs(6)), "6 s: step 7");
    }

    #[test]
    fn memory_is_refused_before_it_is_allocated() {
        let monitor = Monitor::quiet().memory_limit(1000);

        assert!(monitor.reserve("a table", 1000).is_ok());
        assert!(matches!(monitor.reserve("a table", 1001), Err(Error::Memory { .. })));
    }
}
