//! What can be added: summaries of rows that merge in any grouping.

mod by_class;
mod moments;

pub use by_class::{ByClass, Grouped};
pub use moments::Moments;
