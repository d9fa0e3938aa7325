//! What can be added: summaries of rows that merge in any grouping.

mod by_class;
mod counts;
mod moments;

pub use by_class::{ByClass, Grouped};
pub use counts::{Count, Counts};
pub(crate) use counts::{not_a_count, on_cells};
pub use moments::Moments;
