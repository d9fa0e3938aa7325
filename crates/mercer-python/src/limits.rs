//! The limits of a fit, and the report of its plan and progress.

use mercer::model::Monitor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The minimum time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// The limits as Python passes them: seconds, bytes, a function that gets lines of plan and progress, and the
/// number of threads.
#[derive(FromPyObject)]
pub struct LimitArguments(Option<f64>, Option<u64>, Option<Py<PyAny>>, Option<usize>);

/// Validated limits.
#[derive(Default)]
pub struct Limits {
    time: Option<Duration>,
    memory: Option<u64>,
    report: Option<Py<PyAny>>,
    /// The number of threads of the fit; `None` for that of the process.
    pub n_threads: Option<usize>,
}

impl Limits {
    /// Refuses an invalid time limit.
    pub fn new(arguments: Option<LimitArguments>) -> PyResult<Limits> {
        let Some(LimitArguments(seconds, memory, report, n_threads)) = arguments else {
            return Ok(Limits::default());
        };
        Ok(Limits { time: duration(seconds)?, memory, report, n_threads })
    }

    /// The monitor of a fit that starts now.
    pub fn monitor(&self, cancel: &Arc<AtomicBool>) -> Monitor<'_> {
        let mut monitor = Monitor::default().cancelled_by(Arc::clone(cancel));
        if let Some(limit) = self.time {
            monitor = monitor.time_limit(limit);
        }
        if let Some(bytes) = self.memory {
            monitor = monitor.memory_limit(bytes);
        }
        if let Some(report) = &self.report {
            let start = Instant::now();
            let last = Mutex::new(start);
            monitor = monitor.on_plan(|plan| call(report, format!("plan: {plan}")));
            monitor = monitor.on_progress(move |progress| {
                let now = Instant::now();
                // Another thread that holds the lock is reporting already.
                let Ok(mut last) = last.try_lock() else { return };
                if now - *last >= REPORT_INTERVAL {
                    *last = now;
                    call(report, progress.describe_after(now - start));
                }
            });
        }
        monitor
    }
}

fn call(report: &Py<PyAny>, line: String) {
    Python::attach(|py| {
        if let Err(why) = report.call1(py, (line,)) {
            why.write_unraisable(py, None);
        }
    });
}

/// A time limit in seconds as a duration.
fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    seconds.map(Duration::try_from_secs_f64).transpose().map_err(|_| {
        PyValueError::new_err("a time limit must be a number of seconds of at least 0")
    })
}
