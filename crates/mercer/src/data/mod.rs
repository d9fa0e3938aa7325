//! What is learned from: tables as people have them, and rows with a target as learners want them.

mod dataset;
mod labels;
mod stream;
mod table;

pub use dataset::{Dataset, Described, Measure, Target, check_cells, check_storage};
pub use labels::{Classes, Label};
pub use stream::Stream;
pub use table::{Column, Kind, Levels, MISSING, Table, UNSEEN, Values};
