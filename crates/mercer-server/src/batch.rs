//! Prediction of what waits together.
//!
//! A request puts its table into the queue of its reactor and waits. The task that empties the queue is scheduled
//! behind all connections that are ready at that moment, so every request that has already arrived is in the queue when
//! it runs; it never waits for more. Requests for the same model and the same options are predicted as one table, if
//! the predictions of a row do not depend on the other rows of its table: so a batch returns the same bits.

use crate::error::{ApiError, ApiResult};
use crate::metrics::{Metrics, ModelMetrics};
use crate::models::Served;
use crate::server::Reactor;
use mercer::data::Table;
use mercer::predict::{PredictOptions, Predictions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// The most rows of a batch of several requests.
const MAX_BATCH_ROWS: usize = 4_096;
/// A batch that is expected to take longer than this leaves the reactor, which serves other connections meanwhile.
const MAX_INLINE_NANOSECONDS: u64 = 500_000;

/// A table that waits for its predictions.
pub(crate) struct Job {
    served: Arc<Served>,
    metrics: Arc<ModelMetrics>,
    table: Table,
    options: PredictOptions,
    reply: oneshot::Sender<ApiResult<Predictions>>,
    _waiting: WaitingRows,
}

/// Rows counted among those that wait, until they are predicted.
struct WaitingRows(Arc<AtomicUsize>, usize);

impl WaitingRows {
    fn new(waiting: &Arc<AtomicUsize>, n_rows: usize, limit: usize) -> ApiResult<WaitingRows> {
        let before = waiting.fetch_add(n_rows, Ordering::Relaxed);
        let counted = WaitingRows(Arc::clone(waiting), n_rows);
        // A request that is alone may always go on: its size has a limit of its own.
        if before > 0 && before.saturating_add(n_rows) > limit {
            return Err(ApiError::busy());
        }
        Ok(counted)
    }
}

impl Drop for WaitingRows {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// The queue of a reactor.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Vec<Job>>);

impl Queue {
    /// Adds a job and returns whether it is the first.
    fn push(&self, job: Job) -> bool {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.push(job);
        jobs.len() == 1
    }

    fn take(&self) -> Vec<Job> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Predicts a table together with others that wait.
pub(crate) async fn predict(
    reactor: &Arc<Reactor>,
    served: Arc<Served>,
    metrics: &Arc<ModelMetrics>,
    table: Table,
    options: PredictOptions,
) -> ApiResult<Predictions> {
    let state = &reactor.state;
    options.check(&served.trained)?;
    let waiting = &state.metrics.waiting_rows;
    let waiting = WaitingRows::new(waiting, table.n_rows(), state.config.limits.waiting_rows)?;
    metrics.count_cells(&table);
    let (reply, predicted) = oneshot::channel();
    let metrics = Arc::clone(metrics);
    let job = Job { served, metrics, table, options, reply, _waiting: waiting };
    if reactor.queue.push(job) {
        let reactor = Arc::clone(reactor);
        tokio::spawn(async move { run_queue(&reactor) });
    }
    predicted.await.unwrap_or_else(|_| Err(ApiError::internal()))
}

/// Runs the jobs of the queue, in groups.
fn run_queue(reactor: &Arc<Reactor>) {
    for group in groups(reactor.queue.take()) {
        let n_rows = group.iter().map(|job| job.table.n_rows()).sum();
        let expected = group.first().and_then(|job| job.served.expected_nanoseconds(n_rows));
        if expected.is_some_and(|time| time <= MAX_INLINE_NANOSECONDS) {
            run_group(group, &reactor.state.metrics);
            continue;
        }
        let state = Arc::clone(&reactor.state);
        reactor.state.compute.spawn(move || run_group(group, &state.metrics));
    }
}

/// Jobs for the same model and the same options, in order, up to the size of a batch.
fn groups(jobs: Vec<Job>) -> Vec<Vec<Job>> {
    let mut groups: Vec<(usize, Vec<Job>)> = Vec::new();
    // A client that has gone needs no predictions.
    for job in jobs.into_iter().filter(|job| !job.reply.is_closed()) {
        let fits = |(n_rows, group): &&mut (usize, Vec<Job>)| {
            job.served.is_row_wise
                && n_rows.saturating_add(job.table.n_rows()) <= MAX_BATCH_ROWS
                && group.first().is_some_and(|first| {
                    Arc::ptr_eq(&first.served, &job.served) && first.options == job.options
                })
        };
        match groups.iter_mut().find(fits) {
            Some((n_rows, group)) => {
                *n_rows += job.table.n_rows();
                group.push(job);
            }
            None => groups.push((job.table.n_rows(), vec![job])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Predicts a group as one table and answers each of its jobs.
fn run_group(mut group: Vec<Job>, metrics: &Metrics) {
    metrics.count_batch(group.len());
    if group.len() > 1 {
        match run_together(&group, metrics) {
            Some(all) => {
                let mut start = 0;
                for job in group {
                    let end = start + job.table.n_rows();
                    let predictions = all.rows(start..end);
                    job.metrics.count_predictions(&predictions);
                    job.reply.send(Ok(predictions)).ok();
                    start = end;
                }
                return;
            }
            // One of the tables is refused: each gets its own answer.
            None => group.retain(|job| !job.reply.is_closed()),
        }
    }
    for job in group {
        let Job { served, metrics: counters, table, options, reply, .. } = job;
        let predicted = timed(&served, table, &options, metrics);
        if let Ok(predictions) = &predicted {
            counters.count_totals(predictions);
            counters.count_predictions(predictions);
        }
        reply.send(predicted).ok();
    }
}

/// The predictions of several tables as one; `None` if that fails.
fn run_together(group: &[Job], metrics: &Metrics) -> Option<Predictions> {
    let (first, rest) = group.split_first()?;
    let mut table = first.table.clone();
    for job in rest {
        table.append(job.table.clone()).ok()?;
    }
    let all = timed(&first.served, table, &first.options, metrics).ok()?;
    first.metrics.count_totals(&all);
    Some(all)
}

/// Predicts a table and records the time. A panic is caught, counted and answered as an internal error.
fn timed(
    served: &Served,
    table: Table,
    options: &PredictOptions,
    metrics: &Metrics,
) -> ApiResult<Predictions> {
    let (start, n_rows) = (Instant::now(), table.n_rows());
    let predicted =
        guarded(metrics, || Ok(Predictions::in_blocks(&served.trained, table, options)?))?;
    served.measured(n_rows, start.elapsed().as_nanos() as u64);
    Ok(predicted)
}

/// Runs work that must not take the server down.
pub(crate) fn guarded<T>(metrics: &Metrics, work: impl FnOnce() -> ApiResult<T>) -> ApiResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        metrics.count_panic();
        Err(ApiError::internal())
    })
}

/// Runs other work than predictions, such as explanations, away from the reactor.
pub(crate) async fn compute<T: Send + 'static>(
    reactor: &Reactor,
    n_rows: usize,
    work: impl FnOnce() -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let state = Arc::clone(&reactor.state);
    let waiting = &state.metrics.waiting_rows;
    let waiting = WaitingRows::new(waiting, n_rows, state.config.limits.waiting_rows)?;
    let (reply, done) = oneshot::channel();
    reactor.state.compute.spawn(move || {
        let _waiting = waiting;
        if !reply.is_closed() {
            reply.send(guarded(&state.metrics, work)).ok();
        }
    });
    done.await.unwrap_or_else(|_| Err(ApiError::internal()))
}
