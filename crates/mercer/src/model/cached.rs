//! What follows from the fields of a model: worked out when first asked for, never saved.

use std::fmt;
use std::sync::OnceLock;

/// A place for something that can be worked out again at any time. Two of them are always equal,
/// because what they hold follows from what stands beside them.
pub struct Cached<T>(OnceLock<T>);

impl<T> Cached<T> {
    /// What is held, worked out if it is not there yet.
    pub fn get(&self, work: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(work)
    }
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Cached(OnceLock::new())
    }
}

impl<T: Clone> Clone for Cached<T> {
    fn clone(&self) -> Self {
        Cached(self.0.clone())
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
