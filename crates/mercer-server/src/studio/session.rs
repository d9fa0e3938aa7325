//! What the studio holds between calls: the table, the run, the leaderboard and the fitted model.

use super::Message;
use super::board::Board;
use super::data::{Choices, Data, reading};
use super::run::{Fit, Run};
use crate::connection::Reply;
use crate::error::{ApiError, ApiResult};
use mercer::model::Monitor;
use mercer_io::Source;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What `mercer studio` opens at the start, and the limits of fits.
#[derive(Clone, Debug, Default)]
pub struct StudioOptions {
    /// The file of the first table.
    pub data: Option<String>,
    /// Its target.
    pub target: Option<String>,
    /// Bytes that a fit may take.
    pub memory: Option<u64>,
    /// Time that a fit may take.
    pub time_limit: Option<Duration>,
}

/// The session of a studio; clones share what it holds.
#[derive(Clone, Default)]
pub(crate) struct Session {
    options: Arc<StudioOptions>,
    held: Arc<Mutex<Held>>,
}

/// What a session holds.
#[derive(Default)]
pub(super) struct Held {
    pub data: Option<Arc<Data>>,
    pub run: Option<Arc<Run>>,
    pub board: Option<Arc<Board>>,
    pub fit: Option<Arc<Fit>>,
    /// Why the table of the command line could not be opened.
    problem: Option<String>,
}

impl Session {
    /// A session; the table of the command line is opened at the first call that needs it.
    pub fn new(options: StudioOptions) -> Session {
        Session { options: Arc::new(options), held: Arc::default() }
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limits of fits.
    pub(super) fn monitor(&self) -> Monitor<'static> {
        let mut monitor = Monitor::quiet();
        if let Some(bytes) = self.options.memory {
            monitor = monitor.memory_limit(bytes);
        }
        match self.options.time_limit {
            Some(limit) => monitor.time_limit(limit),
            None => monitor,
        }
    }

    /// The table.
    pub(super) fn data(&self) -> ApiResult<Arc<Data>> {
        let held = self.held();
        let none = || ApiError::new(409, "no table is open; drop a file on the Data screen");
        held.data.clone().ok_or_else(none)
    }

    /// The fitted model.
    pub(super) fn fit(&self) -> ApiResult<Arc<Fit>> {
        let none = || ApiError::new(409, "no model is fitted yet; fit one on the Train screen");
        self.held().fit.clone().ok_or_else(none)
    }

    /// The leaderboard.
    pub(super) fn board(&self) -> ApiResult<Arc<Board>> {
        let none =
            || ApiError::new(409, "no estimators are compared yet; start on the Train screen");
        self.held().board.clone().ok_or_else(none)
    }

    /// Replaces the table. What belongs to the old one is forgotten, and a run is stopped.
    pub(super) fn replace(&self, data: Data) {
        let mut held = self.held();
        if let Some(run) = &held.run {
            run.abandon();
        }
        *held = Held { data: Some(Arc::new(data)), ..Held::default() };
    }

    /// Opens a table that was dropped on the page.
    pub fn open_bytes(&self, name: &str, bytes: Vec<u8>) -> ApiResult<Value> {
        let choices = Choices::default();
        let source = Source::in_memory(name, bytes, &reading(&choices))?;
        self.replace(Data::read(name, source, choices, &self.monitor())?);
        Ok(json!({}))
    }

    /// Opens the table of the command line, unless one is open.
    fn open_first(&self) {
        let Some(path) = &self.options.data else { return };
        let is_new = {
            let held = self.held();
            held.data.is_none() && held.problem.is_none()
        };
        if !is_new {
            return;
        }
        let choices = Choices { target: self.options.target.clone(), ..Choices::default() };
        let opened = Source::open(path, &reading(&choices))
            .map_err(|error| ApiError::bad(error.to_string()))
            .and_then(|source| Data::read(path, source, choices, &self.monitor()));
        match opened {
            Ok(data) => self.replace(data),
            Err(error) => self.held().problem = Some(error.message),
        }
    }

    /// Stops a run, for the end of the server.
    pub fn stop(&self) {
        if let Some(run) = &self.held().run {
            run.abandon();
        }
    }
}

/// `session`: what is open.
pub(super) fn describe(session: &Session, _message: Message) -> ApiResult<Value> {
    session.open_first();
    let held = session.held();
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "problem": held.problem,
        "data": held.data.as_ref().map(|data| json!({
            "name": data.name,
            "n_rows": data.profile.n_rows,
            "target": data.target.as_ref().map(|target| target.name.as_str()),
            "task": data.target.as_ref().map(|target| target.task.to_string()),
        })),
        "is_running": held.run.as_ref().is_some_and(|run| run.is_running()),
        "has_board": held.board.is_some(),
        "model": held.fit.as_ref().map(|fit| json!({
            "name": fit.name,
            "has_text": fit.has_text(),
        })),
    }))
}

/// `GET /studio/model`: the file of the fitted model.
pub(crate) fn model(session: Option<&Session>) -> ApiResult<Reply> {
    let fit = session.ok_or_else(ApiError::internal)?.fit()?;
    Ok(Reply::new("application/octet-stream", fit.trained.to_bytes()?))
}
