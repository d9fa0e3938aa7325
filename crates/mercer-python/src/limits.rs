//! What a fit may use, and whom it tells.

use mercer::model::Monitor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Progress is told once in this time at most.
const BETWEEN: Duration = Duration::from_secs(1);

/// Limits as Python hands them in: seconds, bytes, a function that is told plan and progress in words, and
/// threads.
#[derive(FromPyObject)]
pub struct Bounds(Option<f64>, Option<u64>, Option<Py<PyAny>>, Option<usize>);

/// Limits that were looked at.
#[derive(Default)]
pub struct Limits {
    time: Option<Duration>,
    memory: Option<u64>,
    tell: Option<Py<PyAny>>,
    /// How many threads the fit takes, where it was said.
    pub threads: Option<usize>,
}

impl Limits {
    /// Refuses a time that is none.
    pub fn new(bounds: Option<Bounds>) -> PyResult<Limits> {
        let Some(Bounds(seconds, memory, tell, threads)) = bounds else {
            return Ok(Limits::default());
        };
        Ok(Limits { time: duration(seconds)?, memory, tell, threads })
    }

    /// The monitor of a fit that begins now.
    pub fn monitor(&self, cancel: &Arc<AtomicBool>) -> Monitor<'_> {
        let mut monitor = Monitor::default().cancelled_by(Arc::clone(cancel));
        if let Some(limit) = self.time {
            monitor = monitor.time_limit(limit);
        }
        if let Some(bytes) = self.memory {
            monitor = monitor.memory_limit(bytes);
        }
        if let Some(tell) = &self.tell {
            let start = Instant::now();
            let last = Mutex::new(start);
            monitor = monitor.on_plan(|plan| say(tell, format!("plan: {plan}")));
            monitor = monitor.on_progress(move |progress| {
                let now = Instant::now();
                // Whoever finds the clock taken leaves the word to the one who has it.
                let Ok(mut last) = last.try_lock() else { return };
                if now - *last >= BETWEEN {
                    *last = now;
                    say(tell, progress.describe_after(now - start));
                }
            });
        }
        monitor
    }
}

fn say(tell: &Py<PyAny>, line: String) {
    Python::attach(|py| {
        if let Err(why) = tell.call1(py, (line,)) {
            why.write_unraisable(py, None);
        }
    });
}

/// A number of seconds.
pub fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    seconds
        .map(Duration::try_from_secs_f64)
        .transpose()
        .map_err(|_| PyValueError::new_err("a time limit is a number of seconds of at least zero"))
}
