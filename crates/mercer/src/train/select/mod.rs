//! Model selection: candidates are compared by cross-validation on the same folds, the unpromising ones are dropped on
//! few rows (successive halving), and the best one is reported with a score that is corrected for the selection.
//!
//! Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization" (AISTATS 2016);
//! Tsamardinos et al., "Bootstrapping the out-of-sample predictions for efficient and accurate cross-validation"
//! (Machine Learning, 2018); Nadeau and Bengio, "Inference for the generalization error" (Machine Learning, 2003).

pub(super) mod bias_correction;
mod candidate;
pub(super) mod halving;
mod importance;
mod leaderboard;
pub(super) mod out_of_fold;
mod paired_test;
mod portfolio;
pub(super) mod sample;
mod train_best;

pub use bias_correction::CorrectedScore;
pub use candidate::{Candidate, shell_word};
pub use halving::{
    DEFAULT_BUDGET, Round, SelectionOptions, portfolio_folds, select_model, select_on_sample,
};
pub use importance::{Importance, ImportanceOptions, permutation_importance};
pub use leaderboard::{Leaderboard, LeaderboardRow, Standing};
pub use portfolio::portfolio;
pub use sample::{Sample, reading_schema};
pub use train_best::select_and_train;
