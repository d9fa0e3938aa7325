//! Sequential minimal optimization for quadratic programs over a box (Platt 1998).
//!
//! - [`BoxQp`]: a quadratic over a box with fixed sums, by pairs of variables
//! - [`PowerSlack`]: the penalty in place of the box when the slack is raised to a power
//! - `crammer_singer`: all classes jointly, one row at a time

mod cached;
mod column_cache;
mod crammer_singer;
mod pair;
mod power_slack;
mod working_set;

pub use cached::{BoxQp, Solution, SolverOptions, Tell, solve};
pub(crate) use cached::{FEWEST_COLUMNS, WHOLE};
pub(crate) use crammer_singer::{
    CrammerSinger, CrammerSingerOptions, CrammerSingerSolution, solve_crammer_singer,
};
pub use power_slack::PowerSlack;
