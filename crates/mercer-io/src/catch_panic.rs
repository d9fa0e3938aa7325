//! Decoders of others, kept from taking us down with them.

use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Turns a panic of a decoder on damaged input into an error.
pub(crate) fn guarded<T>(file: &str, format: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "its decoder gave up".to_owned());
        Err(Error::Damaged { file: file.to_owned(), format: format.to_owned(), why })
    })
}
