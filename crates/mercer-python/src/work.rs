//! Runs long computations on a thread pool without the interpreter lock: Ctrl-C is handled, and other Python
//! threads continue.

use crate::error::raised;
use mercer::Result;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The interval in which the calling thread checks for Ctrl-C.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);
const THREADS_VARIABLE: &str = "MERCER_NUM_THREADS";

/// Runs `work` on the thread pool without the interpreter lock. The flag that it gets becomes true after Ctrl-C;
/// the work should end soon after.
pub fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> PyResult<T> {
    run_by(py, None, work)
}

/// The same with a given number of threads; `None` for that of the process.
pub fn run_by<T: Send>(
    py: Python<'_>,
    n_threads: Option<usize>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> PyResult<T> {
    match run_interruptible(py, n_threads, work)? {
        (result, None) => Ok(result),
        (_, Some(interrupt)) => Err(interrupt),
    }
}

/// The same for work whose result is valid after an interrupt: returns the result and the exception to raise.
pub fn run_interruptible<T: Send>(
    py: Python<'_>,
    n_threads: Option<usize>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let pool = match n_threads {
        Some(n) => build(n)?,
        None => pool()?,
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let outcome = py.detach(|| {
        let (send, receive) = mpsc::sync_channel(1);
        let flag = Arc::clone(&cancel);
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // A panic in Python is a BaseException, which `except Exception` does not catch.
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&flag)));
                send.send(outcome).ok();
            });
            let mut interrupted = None;
            loop {
                match receive.recv_timeout(SIGNAL_CHECK_INTERVAL) {
                    Ok(outcome) => return (Some(outcome), interrupted),
                    Err(RecvTimeoutError::Disconnected) => return (None, interrupted),
                    Err(RecvTimeoutError::Timeout) if interrupted.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        interrupted = Python::attach(|py| py.check_signals()).err();
                        cancel.store(interrupted.is_some(), Ordering::Relaxed);
                    }
                }
            }
        })
    });
    match outcome {
        (Some(Ok(Ok(result))), interrupted) => Ok((result, interrupted)),
        (_, Some(interrupted)) => Err(interrupted),
        (Some(Ok(Err(error))), None) => Err(raised(error)),
        (Some(Err(panic)), None) => Err(PyRuntimeError::new_err(format!(
            "internal error in mercer, please report it: {}",
            panic_message(&*panic)
        ))),
        (None, None) => {
            Err(PyRuntimeError::new_err("internal error in mercer: a worker thread ended"))
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The thread pool of a process.
struct ProcessPool {
    process: u32,
    pool: Arc<ThreadPool>,
}

/// Locked only with the interpreter lock held, so that a fork never copies it in a locked state.
static POOL: Mutex<Option<ProcessPool>> = Mutex::new(None);

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut current = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*current {
        Some(of) if of.process == std::process::id() => return Ok(Arc::clone(&of.pool)),
        _ => {}
    }
    let pool = build(n_threads_from_environment()?)?;
    replace(&mut current, &pool);
    Ok(pool)
}

fn replace(current: &mut Option<ProcessPool>, pool: &Arc<ThreadPool>) {
    let process = std::process::id();
    let old = current.replace(ProcessPool { process, pool: Arc::clone(pool) });
    if let Some(old) = old.filter(|old| old.process != process) {
        // After a fork the threads exist only in the parent; joining them would block forever.
        std::mem::forget(old);
    }
}

/// The number of threads in the environment variable; without it 0, which means all cores.
fn n_threads_from_environment() -> PyResult<usize> {
    match std::env::var(THREADS_VARIABLE) {
        Ok(value) => value.parse().map_err(|_| {
            let why = format!("{THREADS_VARIABLE} is `{value}`; it must be an integer");
            PyValueError::new_err(why)
        }),
        Err(_) => Ok(0),
    }
}

fn build(n: usize) -> PyResult<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().num_threads(n).thread_name(|k| format!("mercer-{k}"));
    pool.build().map(Arc::new).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Sets the number of threads; 0 means all cores. Results do not depend on it.
#[pyfunction]
pub fn set_threads(n: usize) -> PyResult<()> {
    let pool = build(n)?;
    replace(&mut POOL.lock().unwrap_or_else(PoisonError::into_inner), &pool);
    Ok(())
}

/// The number of threads.
#[pyfunction]
pub fn get_threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}
