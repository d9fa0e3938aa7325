//! From a table to features: columns matched by name, gaps filled, numbers scaled or cut into bins,
//! words turned into indicators, texts into counts or weights of their words, and all of them, where asked
//! for, sent through a kernel map.

mod encoded;
mod features;
mod looked;
mod number;
mod recipe;
mod row_map;
mod schema;
mod text;

pub use encoded::{Encoded, Encoder, UNLABELED};
pub use features::{Features, LeftOut, Reads, Step};
pub use looked::Looked;
pub use number::NumberStep;
pub use recipe::{Discretize, Impute, Recipe, Scale, Words};
pub use row_map::{FittedMap, MapRecipe, RowMap};
pub use schema::{Field, Schema};
pub use text::{KnownTerms, TextRecipe, TextStep};
