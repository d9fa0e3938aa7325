//! Long work off the calling thread, so that Ctrl-C is heard and other Python threads go on.

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

/// How often the calling thread looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
const THREADS: &str = "MERCER_NUM_THREADS";

/// Runs work on the pool without holding the interpreter. The work is handed a flag that turns true
/// when the user gives up; it should end soon after.
pub fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> PyResult<T> {
    run_by(py, None, work)
}

/// The same by so many threads, where a number is given.
pub fn run_by<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> PyResult<T> {
    match run_kept(py, threads, work)? {
        (done, None) => Ok(done),
        (_, Some(interrupt)) => Err(interrupt),
    }
}

/// The same for work whose result is of use where the user gave up: it comes with what is to be raised then.
pub fn run_kept<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let pool = match threads {
        Some(n) => build(n)?,
        None => pool()?,
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let outcome = py.detach(|| {
        let (send, receive) = mpsc::sync_channel(1);
        let flag = Arc::clone(&cancel);
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // No panic may cross into Python, where it would pass every `except Exception`.
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&flag)));
                send.send(outcome).ok();
            });
            let mut interrupted = None;
            loop {
                match receive.recv_timeout(LOOK) {
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
        (Some(Ok(Ok(done))), interrupted) => Ok((done, interrupted)),
        (_, Some(interrupted)) => Err(interrupted),
        (Some(Ok(Err(error))), None) => Err(raised(error)),
        (Some(Err(panic)), None) => Err(PyRuntimeError::new_err(format!(
            "a fault inside mercer, please report it: {}",
            words_of(&*panic)
        ))),
        (None, None) => Err(PyRuntimeError::new_err("the work was lost")),
    }
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

/// The threads of this process.
struct Threads {
    process: u32,
    pool: Arc<ThreadPool>,
}

/// Locked only while the interpreter is held, so a fork never finds it locked.
static POOL: Mutex<Option<Threads>> = Mutex::new(None);

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some(threads) if threads.process == std::process::id() => {
            return Ok(Arc::clone(&threads.pool));
        }
        _ => {}
    }
    let pool = build(wanted()?)?;
    replace(&mut kept, &pool);
    Ok(pool)
}

fn replace(kept: &mut Option<Threads>, pool: &Arc<ThreadPool>) {
    let process = std::process::id();
    let old = kept.replace(Threads { process, pool: Arc::clone(pool) });
    if let Some(old) = old.filter(|old| old.process != process) {
        // Its threads stayed behind in the parent of a fork; ending them would wait for ever.
        std::mem::forget(old);
    }
}

/// The number in the environment; zero, every core, without one.
fn wanted() -> PyResult<usize> {
    match std::env::var(THREADS) {
        Ok(word) => word.parse().map_err(|_| {
            PyValueError::new_err(format!("{THREADS} is `{word}`; it must be a whole number"))
        }),
        Err(_) => Ok(0),
    }
}

fn build(n: usize) -> PyResult<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().num_threads(n).thread_name(|k| format!("mercer-{k}"));
    pool.build().map(Arc::new).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Sets how many threads the work takes; 0 takes every core. Results do not depend on it.
#[pyfunction]
pub fn set_threads(n: usize) -> PyResult<()> {
    let pool = build(n)?;
    replace(&mut POOL.lock().unwrap_or_else(PoisonError::into_inner), &pool);
    Ok(())
}

/// How many threads the work takes.
#[pyfunction]
pub fn get_threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}
