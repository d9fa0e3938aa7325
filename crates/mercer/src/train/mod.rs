//! Training: from a stream of tables to a fitted model with its certificate and cross-validated scores.
//!
//! Checks of tables and fits are in [`checks`]. The decisions before a fit are made here, once for every interface: the kind of a column ([`infer_kind`]), the
//! task ([`SupervisedTask::infer`]), the estimator ([`choose_estimator`]), the preprocessing ([`recipe_for`]) and the
//! columns ([`ColumnSelection`]).

mod by_rounds;
pub mod checks;
mod choose;
mod columns;
mod cross_validate;
mod effects;
mod expectation_maximization;
mod folds;
mod in_memory;
mod infer;
mod out_of_core;
mod partitioned;
pub mod select;
mod semi_supervised;
mod statistics;
mod target_scale;
mod task;
mod trained;
mod training;
pub mod tune;
mod understand;
mod unusable;

pub use checks::Reference;
pub use choose::{Choice, choose_estimator, recipe_for};
pub use columns::{ColumnSelection, SelectedColumns};
pub use effects::{Effect, partial_dependence};
pub use expectation_maximization::EmOptions;
pub use infer::{
    CellCounts, StringTotals, infer_kind, is_code_name, is_free_text, is_identifier_name,
};
pub use partitioned::{PartObserver, PartRows, PartSums, PartitionedFit, RoundsFit, Stage, Target};
pub use task::{
    SupervisedTask, TargetError, Task, check_regression_target, classes_of_target, find_target,
    labels_of_target, similar_classes,
};
pub use trained::Trained;
pub use training::{Outcome, Training, train, train_semi_supervised};
pub use understand::{parse_table, understand};
pub use unusable::unusable_columns;
