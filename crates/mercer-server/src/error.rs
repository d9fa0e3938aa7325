//! What goes wrong: at the start, for the operator, and in a request, for the client.

use std::fmt;

/// Why a server could not start.
#[derive(Debug)]
pub enum StartError {
    /// The settings contradict each other or would be unsafe.
    Settings(String),
    /// A model file could not be loaded.
    Model(String),
    /// The operating system refused.
    System(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Settings(why) | StartError::Model(why) | StartError::System(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for StartError {}

/// The error of a request: its status and what the client can do about it. The message names no file of the server
/// and nothing of its insides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    pub status: u16,
    pub message: String,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// The name of a table in the body of a request, in messages.
pub(crate) const BODY: &str = "request body";

impl ApiError {
    pub fn new(status: u16, message: impl Into<String>) -> ApiError {
        ApiError { status, message: message.into() }
    }

    /// 400: the request is wrong.
    pub fn bad(message: impl Into<String>) -> ApiError {
        ApiError::new(400, message)
    }

    /// 413: the request is too large.
    pub fn large(message: impl Into<String>) -> ApiError {
        ApiError::new(413, message)
    }

    /// 429: too much is waiting.
    pub fn busy() -> ApiError {
        ApiError::new(429, "too many requests are waiting; try again later")
    }

    /// 500, without details.
    pub fn internal() -> ApiError {
        ApiError::new(500, "internal error")
    }
}

impl From<mercer::Error> for ApiError {
    fn from(error: mercer::Error) -> ApiError {
        use mercer::Error;
        match error {
            Error::System { .. } | Error::File(_) => ApiError::internal(),
            Error::Memory { .. } => ApiError::large(error.to_string()),
            Error::NotFinite { row, column, value } if value.is_nan() => ApiError::bad(format!(
                "row {}, feature {}: missing value, which the model does not accept",
                row + 1,
                column + 1
            )),
            error => ApiError::bad(error.to_string()),
        }
    }
}

impl From<mercer_io::Error> for ApiError {
    fn from(error: mercer_io::Error) -> ApiError {
        use mercer_io::Error;
        match error {
            Error::Core(error) => error.into(),
            Error::System { .. } => ApiError::internal(),
            Error::Limit { .. } => ApiError::large(error.to_string()),
            Error::Cell { at, column, found, expected, .. } => ApiError::bad(format!(
                "{BODY}, {at}, column `{column}`: `{found}` is not a {expected} value; a missing value is an \
                 empty cell, or null"
            )),
            Error::NoRows { .. } | Error::Empty { .. } => {
                ApiError::bad(format!("{BODY}: it has no rows"))
            }
            Error::NotBuilt { format, .. } => ApiError::new(
                415,
                format!("this server does not read {format}; send CSV or JSON lines"),
            ),
            error => ApiError::bad(error.to_string()),
        }
    }
}
