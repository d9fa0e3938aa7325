//! Sequential minimal optimization for quadratic programs over a box (Platt 1998).
//!
//! - [`BoxQp`]: a quadratic over a box with fixed sums; [`solve`] updates pairs of variables
//! - [`Columns`]: the kernel matrix, whose columns the solver requests
//! - [`PowerSlack`]: the penalty that replaces the box if the slack is raised to a power
//! - `crammer_singer`: the multiclass problem of Crammer & Singer, one row at a time

mod box_qp;
mod cached;
mod column_cache;
mod columns;
mod crammer_singer;
mod pair;
mod power_slack;
mod working_set;

pub use box_qp::{BoxQp, OnProgress, Solution, SolverOptions};
pub use cached::solve;
pub(crate) use cached::{MAX_DENSE_KERNEL_ROWS, MIN_CACHED_COLUMNS};
pub use columns::Columns;
pub(crate) use crammer_singer::{
    CrammerSinger, CrammerSingerOptions, CrammerSingerSolution, solve_crammer_singer,
};
pub use power_slack::PowerSlack;
