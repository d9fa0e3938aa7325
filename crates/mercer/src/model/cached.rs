//! Values that follow from the fields of a model: computed on first use and never saved.

use std::fmt;
use std::sync::OnceLock;

/// A lazily computed value that is a function of the fields beside it. Two caches always compare
/// equal, because those fields already decide the value.
pub struct Cached<T>(OnceLock<T>);

impl<T> Cached<T> {
    /// A value that is known already.
    pub fn filled(value: T) -> Cached<T> {
        Cached(OnceLock::from(value))
    }

    /// The value, if it was computed.
    pub fn known(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value, computed on the first call.
    ///
    /// No lock is held while `compute` runs: work that waits for other threads may be given, on this very
    /// thread, a task that requests the same value. Both then compute it, and one of the two equal
    /// results is stored.
    pub fn get(&self, compute: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => {
                let value = compute();
                self.0.get_or_init(|| value)
            }
        }
    }

    /// The same for a computation that may fail; an error is not stored.
    ///
    /// # Errors
    /// The error of `compute`.
    pub fn get_or_fail<E>(&self, compute: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.0.get() {
            Some(value) => Ok(value),
            None => {
                let value = compute()?;
                Ok(self.0.get_or_init(|| value))
            }
        }
    }
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Cached(OnceLock::new())
    }
}

/// A clone starts empty and computes the value again when needed.
impl<T> Clone for Cached<T> {
    fn clone(&self) -> Self {
        Cached::default()
    }
}

impl<T> PartialEq for Cached<T> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<T> fmt::Debug for Cached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computation_may_request_its_own_value() {
        let cached = Cached::default();
        assert_eq!(*cached.get(|| *cached.get(|| 1) + 1), 1);
    }
}
