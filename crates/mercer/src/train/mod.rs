//! Training: from a stream of tables to a fitted model with its certificate and cross-validated scores.

mod cross_validate;
mod expectation_maximization;
mod out_of_core;
mod stream;
mod trained;

pub use expectation_maximization::EmOptions;
pub use stream::{Outcome, Task, Training, train, train_semi_supervised};
pub use trained::Trained;
