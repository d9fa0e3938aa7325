//! What can be added: summaries of rows that merge in any grouping.

mod blocked_scatter;
mod by_class;
mod category_counts;
mod centered;
mod class_scatter;
mod combinations;
mod counts;
mod cross_products;
mod fourth_moments;
mod mixed;
mod moments;
pub(crate) mod packed_symmetric;
mod pairs;
mod sample;
mod uncentered_scatter;
mod value_counts;
mod within_class_scatter;

pub use by_class::{ByClass, Grouped};
pub use category_counts::{CategoryCounts, LARGEST_CODE};
pub(crate) use category_counts::{as_code, not_a_category};
pub use class_scatter::ClassScatter;
pub use combinations::Combinations;
pub use counts::{Count, Counts};
pub(crate) use counts::{not_a_count, on_cells};
pub use cross_products::{CrossProducts, Scatter};
pub use fourth_moments::FourthMoments;
pub use mixed::{Keep, Mixed};
pub use moments::Moments;
pub use pairs::PairCounts;
pub(crate) use pairs::category;
pub use sample::{Entry, Sample};
pub use value_counts::{GroupValueCounts, ValueCounts};
pub use within_class_scatter::WithinClassScatter;
