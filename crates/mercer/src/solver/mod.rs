//! Numerical optimization: line searches, Newton's method, coordinate descent, sequential minimal optimization.
//!
//! - smooth objectives (`objective`): `newton_cg` and `lbfgs`, with `line_search`, `conjugate_gradient` and
//!   `preconditioner`
//! - L1 penalties: `coordinate_descent`, and `gap_safe` for the squared loss
//! - duals of linear models: `dual_coordinate_descent`
//! - duals of kernel machines: `smo`
//! - least squares: `normal_equations`
//!
//! Solvers see a design matrix or an objective, never an estimator.

pub(crate) mod augmented_lagrangian;
pub(crate) mod conjugate_gradient;
pub(crate) mod coordinate_descent;
mod crammer_singer_subproblem;
pub(crate) mod dual_coordinate_descent;
pub(crate) mod duality_gap;
pub(crate) mod gap_safe;
pub(crate) mod interleaved;
pub(crate) mod lbfgs;
pub(crate) mod line_search;
pub(crate) mod newton_cg;
pub(crate) mod newton_rounds;
pub(crate) mod normal_equations;
pub(crate) mod objective;
pub(crate) mod preconditioner;
mod smo;

pub(crate) use conjugate_gradient::{CgSolution, conjugate_gradient};
pub(crate) use crammer_singer_subproblem::CrammerSingerSubproblem;
pub use normal_equations::{Precision, TargetFit};
pub(crate) use objective::{SmoothObjective, StoppingRule, Termination};
pub use smo::{BoxQp, Columns, OnProgress, PowerSlack, Solution, SolverOptions, solve};
pub(crate) use smo::{
    CrammerSinger, CrammerSingerOptions, CrammerSingerSolution, MAX_DENSE_KERNEL_ROWS,
    MIN_CACHED_COLUMNS, solve_crammer_singer,
};
