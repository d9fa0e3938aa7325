//! What can be minimized.
//!
//! - [`BoxQp`]: a quadratic over a box with fixed sums, by pairs of variables

mod by_blocks;
mod by_columns;
mod cache;
mod conjugate_gradients;
pub(crate) mod newton;
mod slack;
mod smo;

pub use by_columns::{BoxQp, Solution, SolverOptions, solve};
pub(crate) use conjugate_gradients::{Gradients, conjugate_gradients};
pub use slack::Slack;
