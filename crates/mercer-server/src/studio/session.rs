//! What the studio holds between calls.

use super::Message;
use crate::config::Config;
use crate::connection::Reply;
use crate::error::{ApiError, ApiResult};
use serde_json::{Value, json};
use std::time::Duration;

/// What `mercer studio` opens at the start.
#[derive(Clone, Debug, Default)]
pub struct StudioOptions {
    /// The file of the first table.
    pub data: Option<String>,
    /// Bytes that a fit may take.
    pub memory: Option<u64>,
    /// Time that a fit may take.
    pub time_limit: Option<Duration>,
}

/// The session of a studio.
pub(crate) struct Session {
    options: StudioOptions,
}

impl Session {
    pub fn new(options: StudioOptions, _config: &Config) -> Session {
        Session { options }
    }

    /// Opens a table that was dropped on the page.
    pub fn open_bytes(&self, _name: &str, _bytes: Vec<u8>) -> ApiResult<Value> {
        Err(ApiError::new(501, "tables cannot be dropped yet"))
    }
}

/// `session`: what is open.
pub(super) fn describe(session: &Session, _message: Message) -> ApiResult<Value> {
    Ok(json!({"version": env!("CARGO_PKG_VERSION"), "data": session.options.data}))
}

/// `GET /studio/model`: the file of the trained model.
pub(crate) fn model(session: Option<&Session>) -> ApiResult<Reply> {
    let _session = session.ok_or_else(ApiError::internal)?;
    Err(ApiError::new(404, "no model is trained yet"))
}
