//! Numbers that follow from a model, made when first asked for. They are no part of it: not saved,
//! not compared, and made again by a copy.

use std::sync::OnceLock;

/// A value that is made once.
#[derive(Debug)]
pub(crate) struct Cache<T>(OnceLock<T>);

impl<T> Cache<T> {
    /// The value, made now if it is not there yet.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache(OnceLock::new())
    }
}

impl<T> Clone for Cache<T> {
    fn clone(&self) -> Self {
        Cache::default()
    }
}

impl<T> PartialEq for Cache<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
