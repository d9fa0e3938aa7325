//! Turns panics of third-party decoders into errors.

use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a decoder and turns its panic on damaged input into an error.
pub(crate) fn guarded<T>(file: &str, format: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "the decoder panicked".to_owned());
        Err(Error::Damaged { file: file.to_owned(), format: format.to_owned(), why })
    })
}
