//! What a fit may use and whom it tells: its plan, progress, a deadline, a memory budget, a cancel flag.

use crate::error::{Error, Result};
use crate::model::Plan;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to do where a budget does not allow something.
const RAISE: &str = "raise the memory budget";

/// Handed to everything that can take long. The default allows everything and tells nobody.
#[derive(Default)]
pub struct Monitor<'a> {
    progress: Option<Box<dyn Fn(Progress) + Sync + 'a>>,
    plan: Option<TellPlan<'a>>,
    deadline: Option<Instant>,
    memory: Option<u64>,
    cancel: Arc<AtomicBool>,
}

/// Who is told a plan.
type TellPlan<'a> = Box<dyn Fn(&Plan) + Sync + 'a>;

/// How far a fit has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Rows or steps behind us.
    pub done: u64,
    /// All of them, where that is known.
    pub total: Option<u64>,
    /// Where a fit that goes on to an optimum stands.
    pub standing: Option<Standing>,
}

/// How near a machine is to its optimum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// By how much its conditions are violated: the fit ends at the tolerance.
    pub violation: f64,
    /// Its support vectors so far.
    pub supports: usize,
}

impl Standing {
    /// Of a violation and coefficients.
    pub(crate) fn new(violation: f64, beta: &[f64]) -> Standing {
        Standing { violation, supports: beta.iter().filter(|b| **b != 0.0).count() }
    }

    /// Of two machines that are solved beside each other.
    pub(crate) fn and(self, other: Standing) -> Standing {
        Standing {
            violation: self.violation.max(other.violation),
            supports: self.supports + other.supports,
        }
    }
}

impl Progress {
    /// The share behind us, where it is known.
    pub fn share(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0)?;
        Some((self.done as f64 / total as f64).min(1.0))
    }

    /// In words, after some time: `12 s: 43 %, 16 s left, violation 1.20e-2, 812 support vectors`.
    pub fn told_after(&self, time: Duration) -> String {
        let seconds = time.as_secs_f64();
        let way = match self.share().filter(|share| *share > 0.0) {
            Some(share) => {
                let left = seconds * (1.0 - share) / share;
                format!("{seconds:.0} s: {:.0} %, {left:.0} s left", 100.0 * share)
            }
            None => format!("{seconds:.0} s: step {}", self.done),
        };
        match self.standing {
            Some(standing) => format!("{way}, {standing}"),
            None => way,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "violation {:.2e}, {} support vectors", self.violation, self.supports)
    }
}

/// Why a fit ended before it was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Its time was up.
    Deadline,
    /// Somebody asked it to.
    Cancelled,
}

impl<'a> Monitor<'a> {
    /// Allows everything, tells nobody.
    pub fn quiet() -> Monitor<'static> {
        Monitor::default()
    }

    /// The same limits, telling nobody: for the parts of a work that tells as a whole.
    pub fn silent(&self) -> Monitor<'static> {
        let cancel = Arc::clone(&self.cancel);
        let Monitor { deadline, memory, .. } = *self;
        Monitor { progress: None, plan: None, deadline, memory, cancel }
    }

    /// The same limits, telling progress but no plan: for fits like one whose plan was told.
    pub fn planned(&self) -> Monitor<'_> {
        self.silent().on_progress(|p| self.tell(p))
    }

    /// The same with a share of the time that is left: for the first of two parts, where the second is to have some
    /// too.
    pub fn first_part(&self, share: f64) -> Monitor<'_> {
        let now = Instant::now();
        let part = |end: Instant| now + end.saturating_duration_since(now).mul_f64(share);
        Monitor { deadline: self.deadline.map(part), ..self.planned() }
    }

    /// Tells `report` about progress, from any thread.
    pub fn on_progress(self, report: impl Fn(Progress) + Sync + 'a) -> Monitor<'a> {
        Monitor { progress: Some(Box::new(report)), ..self }
    }

    /// Tells `tell` what a fit is about to do.
    pub fn on_plan(self, tell: impl Fn(&Plan) + Sync + 'a) -> Monitor<'a> {
        Monitor { plan: Some(Box::new(tell)), ..self }
    }

    /// Ends the fit after this long.
    pub fn time_limit(self, limit: Duration) -> Monitor<'a> {
        Monitor { deadline: Instant::now().checked_add(limit), ..self }
    }

    /// Refuses work that would take more bytes than this.
    pub fn memory_limit(self, bytes: u64) -> Monitor<'a> {
        Monitor { memory: Some(bytes), ..self }
    }

    /// Ends the fit when the flag turns true.
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Monitor<'a> {
        Monitor { cancel: flag, ..self }
    }

    /// Whether to end now, and why. Cheap enough to ask every few milliseconds.
    pub fn stop(&self) -> Option<Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            return Some(Stop::Cancelled);
        }
        self.deadline.filter(|d| Instant::now() >= *d).map(|_| Stop::Deadline)
    }

    /// Tells how far things have come.
    pub fn report(&self, done: u64, total: Option<u64>) {
        self.tell(Progress { done, total, standing: None });
    }

    /// The same with all that is known.
    pub fn tell(&self, progress: Progress) {
        if let Some(report) = &self.progress {
            report(progress);
        }
    }

    /// Tells what is about to be done, and hands it on to be kept beside the proof.
    pub fn plan(&self, plan: Plan) -> Option<Plan> {
        if let Some(tell) = &self.plan {
            tell(&plan);
        }
        Some(plan)
    }

    /// The memory budget in bytes, if there is one.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Asks for memory before it is taken.
    ///
    /// # Errors
    /// [`Error::Memory`] if the budget does not allow it.
    pub fn reserve(&self, what: &str, needed: u64) -> Result<()> {
        self.reserve_within(what, needed, u64::MAX)
    }

    /// Asks for memory that could be more than any machine has: where nobody set a budget, the
    /// usual one holds.
    ///
    /// # Errors
    /// [`Error::Memory`] if the budget does not allow it.
    pub fn reserve_within(&self, what: &str, needed: u64, usual: u64) -> Result<()> {
        self.reserve_or(what, needed, usual, RAISE)
    }

    /// The same, telling whoever is refused what to do `instead`.
    ///
    /// # Errors
    /// [`Error::Memory`] if the budget does not allow it.
    pub fn reserve_or(
        &self,
        what: &str,
        needed: u64,
        usual: u64,
        instead: &'static str,
    ) -> Result<()> {
        let budget = self.memory.unwrap_or(usual);
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
    fn progress_is_told_in_words_with_the_time_that_is_left() {
        let standing = Some(Standing { violation: 0.012, supports: 812 });
        let progress = Progress { done: 300, total: Some(1000), standing };

        assert_eq!(
            progress.told_after(Duration::from_secs(6)),
            "6 s: 30 %, 14 s left, violation 1.20e-2, 812 support vectors"
        );
        let unknown = Progress { done: 7, total: None, standing: None };
        assert_eq!(unknown.told_after(Duration::from_secs(6)), "6 s: step 7");
    }

    #[test]
    fn memory_is_refused_before_it_is_taken() {
        let monitor = Monitor::quiet().memory_limit(1000);

        assert!(monitor.reserve("a table", 1000).is_ok());
        assert!(matches!(monitor.reserve("a table", 1001), Err(Error::Memory { .. })));
    }
}
