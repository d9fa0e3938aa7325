//! Numerical optimization: line searches, Newton's method, coordinate descent, sequential minimal optimization.

pub(crate) mod augmented_lagrangian;
pub(crate) mod conjugate_gradient;
pub(crate) mod coordinate_descent;
mod crammer_singer_subproblem;
pub(crate) mod dual_coordinate_descent;
pub(crate) mod lbfgs;
pub(crate) mod newton_cg;
pub(crate) mod normal_equations;
pub(crate) mod preconditioner;
mod smo;

pub use augmented_lagrangian::{Dual, DualRule};
pub(crate) use conjugate_gradient::{Gradients, conjugate_gradient};
pub(crate) use crammer_singer_subproblem::CrammerSingerSubproblem;
pub use normal_equations::{Line, Precision};
pub use smo::{BoxQp, PowerSlack, Solution, SolverOptions, Tell, solve};
pub(crate) use smo::{
    CrammerSinger, CrammerSingerOptions, CrammerSingerSolution, FEWEST_COLUMNS, WHOLE,
    solve_crammer_singer,
};
