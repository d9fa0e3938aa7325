//! What can be minimized.
//!
//! - [`BoxQp`]: a quadratic over a box with fixed sums, by pairs of variables
//! - [`Slack`]: what takes the place of the box where slack costs a power of its length
//! - `together`: functions of many classes at once, by rows

mod by_blocks;
mod by_columns;
mod cache;
mod conjugate_gradients;
pub(crate) mod lbfgs;
pub(crate) mod newton;
mod row_pulls;
mod slack;
mod smo;
mod together;

pub use by_columns::{BoxQp, Solution, SolverOptions, Tell, solve};
pub(crate) use by_columns::{FEWEST_COLUMNS, WHOLE};
pub(crate) use conjugate_gradients::{Gradients, conjugate_gradients};
pub(crate) use row_pulls::RowPulls;
pub use slack::Slack;
pub(crate) use together::{Together, TogetherOptions, TogetherSolution, solve_together};
