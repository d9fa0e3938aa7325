//! What follows from the fields of a model: worked out when first asked for, never saved.

use std::fmt;
use std::sync::OnceLock;

/// A place for something that can be worked out again at any time. Two of them are always equal,
/// because what they hold follows from what stands beside them.
pub struct Cached<T>(OnceLock<T>);

impl<T> Cached<T> {
    /// What is held, worked out if it is not there yet.
    ///
    /// No lock is held meanwhile: work that waits for other threads may be handed, on this very thread,
    /// a task that asks for the same. Both then work it out, and one of the two equal results stays.
    pub fn get(&self, work: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(held) => held,
            None => {
                let made = work();
                self.0.get_or_init(|| made)
            }
        }
    }
}

impl<T> Cached<T> {
    /// The same for work that may fail; a failure is not held.
    ///
    /// # Errors
    /// That of the work.
    pub fn get_or_fail<E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.0.get() {
            Some(held) => Ok(held),
            None => {
                let made = work()?;
                Ok(self.0.get_or_init(|| made))
            }
        }
    }
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Cached(OnceLock::new())
    }
}

/// A copy works it out again.
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
    fn work_may_ask_for_what_it_makes() {
        let cached = Cached::default();
        assert_eq!(*cached.get(|| *cached.get(|| 1) + 1), 1);
    }
}
