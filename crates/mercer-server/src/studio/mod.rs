//! `mercer studio`: a page in the browser, and the session that answers its calls.
//!
//! - `assets`: the files of the page, embedded in the binary
//! - `session`: what the studio holds between calls: the table, the run, the leaderboard, the fitted model
//! - `data`, `histogram`, `shown_rows`: the table and its columns
//! - `train`, `run`: estimators, plans, and fits on a thread of their own
//! - `board`, `errors`: candidates on held-out rows
//! - `why`, `changes`: contributions to a prediction, and what a change does to it
//! - `code`: the same in other interfaces
//! - `decisions`: costs, rejection and priors over held-out predictions
//! - `playground`: models of points in the plane, fitted while they move
//!
//! The page talks to its engine by messages. A message is a JSON object whose `call` names one of [`CALLS`]; the answer
//! is a JSON object too, or `{"error": ...}`. Everything is decided here and in the library; the page draws.

pub(crate) mod assets;
mod board;
mod changes;
mod code;
mod data;
mod decisions;
mod errors;
mod histogram;
mod playground;
mod run;
mod session;
mod shown_rows;
mod train;
mod why;

pub use session::StudioOptions;
pub(crate) use session::{Session, model};

use crate::batch;
use crate::connection::Reply;
use crate::error::{ApiError, ApiResult};
use crate::options::decoded;
use crate::router::Call;
use crate::server::Reactor;
use bytes::Bytes;
use hyper::Request;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// Bytes of a message. Tables come as bodies of their own.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// A message of the page: an object, without its `call`.
pub(crate) struct Message(Value);

impl Message {
    /// The message as a type.
    pub fn parse<T: DeserializeOwned>(self) -> ApiResult<T> {
        serde_json::from_value(self.0).map_err(|e| ApiError::bad(format!("the message: {e}")))
    }
}

/// What answers a message.
pub(crate) type Handler = fn(&Session, Message) -> ApiResult<Value>;

/// The calls by name.
pub(crate) static CALLS: &[(&str, Handler)] = &[
    ("session", session::describe),
    ("data.describe", data::describe),
    ("data.target", data::set_target),
    ("data.type", data::set_type),
    ("data.rows", data::rows),
    ("train.options", train::options),
    ("train.plan", train::plan),
    ("train.start", train::start),
    ("train.stop", train::stop),
    ("train.state", train::state),
    ("board", board::describe),
    ("board.row", board::row),
    ("errors", errors::describe),
    ("errors.cell", errors::cell),
    ("why", why::explain),
    ("why.curves", why::curves),
    ("why.flip", why::flip),
    ("decisions", decisions::describe),
    ("decisions.store", decisions::store),
    ("margin", |_, message| playground::fit_margin(message.0)),
    ("tube", |_, message| playground::fit_tube(message.0)),
    ("bayes", |_, message| playground::fit_bayes(message.0)),
    ("belief", |_, message| playground::update_belief(message.0)),
    ("network", |_, message| playground::network_beliefs(message.0)),
    ("joint_table", |_, message| playground::joint_table(message.0)),
];

/// Answers a request with a body.
pub(crate) async fn respond(
    reactor: &Arc<Reactor>,
    session: &Arc<Session>,
    call: Call,
    head: &Request<()>,
    body: Bytes,
) -> ApiResult<Reply> {
    let session = Arc::clone(session);
    let answer = match call {
        Call::StudioMessage => {
            batch::compute(reactor, 0, move || dispatch(&session, &body)).await?
        }
        Call::StudioData => {
            let name = file_name(head.uri().query())?;
            batch::compute(reactor, 0, move || session.open_bytes(&name, body.into())).await?
        }
        _ => return Err(ApiError::internal()),
    };
    Ok(Reply::json(&answer))
}

/// Finds the call of a message and makes it.
fn dispatch(session: &Session, body: &[u8]) -> ApiResult<Value> {
    if body.len() > MAX_MESSAGE_BYTES {
        return Err(ApiError::large(format!("a message has at most {MAX_MESSAGE_BYTES} bytes")));
    }
    let mut message: Value = serde_json::from_slice(body)
        .map_err(|e| ApiError::bad(format!("the message is not valid JSON: {e}")))?;
    let call = message.as_object_mut().and_then(|object| object.remove("call"));
    let Some(Value::String(call)) = call else {
        return Err(ApiError::bad("the message must be an object with a text `call`"));
    };
    let Some((_, handler)) = CALLS.iter().find(|(name, _)| *name == call) else {
        let call = call.escape_debug();
        return Err(ApiError::new(404, format!("there is no call `{call}`")));
    };
    handler(session, Message(message))
}

/// The name of a dropped file, from `?name=`.
fn file_name(query: Option<&str>) -> ApiResult<String> {
    let name = query.and_then(|query| query.strip_prefix("name=")).unwrap_or_default();
    let name = decoded(name)?;
    // A name for messages; nothing is opened by it.
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim().to_owned();
    Ok(if name.is_empty() { "dropped file".to_owned() } else { name })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_once() {
        let mut names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let n_calls = names.len();
        names.dedup();

        assert_eq!(names.len(), n_calls);
    }

    #[test]
    fn a_file_name_is_only_a_name() {
        assert_eq!(file_name(Some("name=a%20b.csv")).unwrap(), "a b.csv");
        assert_eq!(file_name(Some("name=..%2F..%2Fetc%2Fpasswd")).unwrap(), "passwd");
        assert_eq!(file_name(None).unwrap(), "dropped file");
    }
}
