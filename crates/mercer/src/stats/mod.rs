//! What can be added: summaries of rows that merge in any grouping.

mod by_class;
mod counts;
mod moments;
mod pairs;

pub use by_class::{ByClass, Grouped};
pub use counts::Counts;
pub(crate) use counts::{for_each_count, not_a_count};
pub use moments::Moments;
pub use pairs::PairCounts;
pub(crate) use pairs::{category, not_a_category};
