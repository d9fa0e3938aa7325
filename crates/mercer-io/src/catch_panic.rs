//! Turns panics of third-party decoders into errors.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a decoder whose panic becomes an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder and turns its panic on damaged input into an error. The message and backtrace of such a panic are not
/// printed: the error says what is known.
pub(crate) fn guarded<T>(file: &str, format: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    silence_guarded_panics();
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|panic| {
        let why = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "the decoder panicked".to_owned());
        Err(Error::Damaged { file: file.to_owned(), format: format.to_owned(), why })
    })
}

/// Installs, once per process, a panic hook that prints nothing for a guarded decoder and calls the previous hook for
/// every other panic.
fn silence_guarded_panics() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                previous(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_guarded_panic_is_an_error_and_prints_nothing() {
        static PRINTED: AtomicUsize = AtomicUsize::new(0);
        guarded("any", "Parquet", || Ok(())).unwrap();
        // The hook of the crate is installed by now; this one runs in front of it and sees what it would print.
        let installed = take_hook();
        set_hook(Box::new(move |info| {
            if GUARDED.get() {
                installed(info);
            } else {
                PRINTED.fetch_add(1, Ordering::Relaxed);
            }
        }));

        let nested = guarded("a.parquet", "Parquet", || {
            let inner: Result<()> = guarded("b.parquet", "Parquet", || panic!("inner"));
            assert!(inner.is_err());
            panic!("offset {}", 7)
        });

        let nested: Result<()> = nested;
        assert!(matches!(nested, Err(Error::Damaged { file, why, .. })
            if file == "a.parquet" && why == "offset 7"));
        assert!(!GUARDED.get());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 0);
    }
}
