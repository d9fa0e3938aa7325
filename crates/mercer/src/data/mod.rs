//! Training data: tables with named columns, and datasets of numeric rows with a target.

mod class_weight;
mod dataset;
pub(crate) mod design_matrix;
mod labels;
mod notation;
mod profile;
mod schema;
mod shared_gram;
mod stream;
mod table;
pub(crate) mod token_counts;

pub(crate) use class_weight::ClassWeightParam;
pub use class_weight::{ClassWeight, ClassWeightRule};
pub use dataset::{ColumnDescription, Dataset, Measure, Target, check_cells, check_storage};
pub use labels::{Classes, Label};
pub use notation::{
    DateOrder, DatePart, Notation, NotationCounts, NumberNotation, calendar, is_boolean,
    parse_boolean,
};
pub use profile::{ColumnProfile, Profile};
pub use schema::{Field, Schema};
pub use shared_gram::{GramMatrix, GramValues, SharedGram};
pub use stream::{SelectedRows, Stream};
pub use table::{Column, Kind, Levels, MISSING, Table, UNSEEN, Values};
pub use token_counts::{DocumentTermMatrix, TokenCounts};
