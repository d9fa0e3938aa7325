//! What a fit may use and whom it tells: its plan, progress, a deadline, a memory budget, a cancel flag.

use crate::error::{Error, Result};
use crate::model::Plan;
use serde::{Deserialize, Serialize};
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
        self.silent().on_progress(|p| self.report(p.done, p.total))
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
        if let Some(report) = &self.progress {
            report(Progress { done, total });
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
    fn memory_is_refused_before_it_is_taken() {
        let monitor = Monitor::quiet().memory_limit(1000);

        assert!(monitor.reserve("a table", 1000).is_ok());
        assert!(matches!(monitor.reserve("a table", 1001), Err(Error::Memory { .. })));
    }
}
