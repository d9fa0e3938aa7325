//! What can be added: summaries of rows that merge in any grouping.

mod by_class;
mod centered;
mod codes;
mod combinations;
mod counts;
mod fourths;
mod from_zero;
mod mixed;
mod moments;
mod pairs;
mod sample;
mod scatter;
mod scatters;
mod segments;
mod tally;
pub(crate) mod triangle;
mod within;

pub use by_class::{ByClass, Grouped};
pub use codes::{Codes, LARGEST_CODE};
pub(crate) use codes::{as_code, not_a_category};
pub use combinations::Combinations;
pub use counts::{Count, Counts};
pub(crate) use counts::{not_a_count, on_cells};
pub use fourths::Fourths;
pub use mixed::{Keep, Mixed};
pub use moments::Moments;
pub use pairs::PairCounts;
pub(crate) use pairs::category;
pub use sample::{Entry, Sample};
pub use scatter::{CrossProducts, Scatter};
pub use scatters::Scatters;
pub use tally::{Tallies, Tally};
pub use within::Within;
