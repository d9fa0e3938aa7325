//! Hyperparameter search: cross-validated scores of the settings of an estimator.
//!
//! - [`Grid`]: the values of each hyperparameter, given or by default
//! - [`tune`]: grid search, random search or successive halving on the rows of a stream
//! - [`evaluate_settings`]: the scores of given settings on given splits of a matrix
//!
//! The fits of a search share what they have in common. Kernel support vector machines with the same kernel look their
//! kernel values up in one matrix for all folds and all `C`, and start from the dual variables of the next smaller `C`
//! (`shared.rs`). Ridge and kernel ridge regression are scored by leave-one-out in closed form (`leave_one_out.rs`).
//! Settings that are far behind the best after the first fold are not fitted to the others (`prune.rs`).

mod fold_sets;
mod grid;
mod leave_one_out;
mod prune;
mod result;
mod search;
mod shared;

pub use grid::{Axis, Grid, GridValue};
pub use result::{Edge, TunedSetting, Tuning, TuningStanding};
pub use search::{Search, TuneOptions, tune};
pub use shared::{SettingScores, evaluate_settings};
