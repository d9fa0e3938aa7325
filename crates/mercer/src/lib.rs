//! Classical probabilistic and maximum-margin learners: certified, deterministic, explained.

#![forbid(unsafe_code)]

pub mod bayes;
pub mod catalog;
pub mod data;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod model;
pub mod prelude;
pub mod prepare;
pub mod stats;

pub use error::{Error, Result};
