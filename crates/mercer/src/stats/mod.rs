//! What can be added: summaries of rows that merge in any grouping.

mod by_class;
mod codes;
mod counts;
mod mixed;
mod moments;
mod tally;

pub use by_class::{ByClass, Grouped};
pub use codes::{Codes, LARGEST_CODE};
pub(crate) use codes::{as_code, not_a_category};
pub use counts::Counts;
pub(crate) use counts::{for_each_count, not_a_count};
pub use mixed::Mixed;
pub use moments::Moments;
pub use tally::{Tallies, Tally};
