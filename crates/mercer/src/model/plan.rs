//! What a fit is about to do, said before it begins.

use mercer_num::memory::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The way a kernel machine takes, and the memory it expects. The same rows and parameters give the same
/// plan on any number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The way, in words.
    pub way: String,
    /// About how many bytes it takes at most, beside the rows it was given.
    pub bytes: u64,
    /// How many bytes the kernel matrix of all rows would take.
    pub whole: u64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { way, bytes, whole } = self;
        write!(f, "{way}; about {}", Bytes(*bytes))?;
        match whole > bytes {
            true => write!(f, " (whole matrix would be {})", Bytes(*whole)),
            false => Ok(()),
        }
    }
}
