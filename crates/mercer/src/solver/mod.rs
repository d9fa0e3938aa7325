//! What can be minimized.
//!
//! - [`BoxQp`]: a quadratic over a box with fixed sums, by pairs of variables within working sets

mod cache;
pub(crate) mod newton;
mod smo;
mod working_set;

pub use working_set::{BoxQp, Solution, SolverOptions, solve};
