//! The pre-flight plan of a fit: which algorithm will run and how much memory it needs, reported before
//! the first kernel value is computed.

use mercer_num::memory::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a kernel method will be fitted, and the memory it needs. The same rows and parameters give the
/// same plan on any number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The algorithm and how it stores the kernel matrix, as a phrase.
    pub strategy: String,
    /// Upper estimate of the bytes allocated besides the training rows.
    pub bytes: u64,
    /// Bytes of the full kernel matrix of all training rows.
    pub kernel_matrix_bytes: u64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { strategy, bytes, kernel_matrix_bytes } = self;
        write!(f, "{strategy}; about {}", Bytes(*bytes))?;
        if kernel_matrix_bytes > bytes {
            write!(f, " (full kernel matrix: {})", Bytes(*kernel_matrix_bytes))?;
        }
        Ok(())
    }
}
