//! From a table to features: columns matched by name, gaps filled, numbers scaled or cut into bins,
//! words turned into indicators, texts into counts or weights of their words, and all of them, where asked
//! for, sent through a kernel map.

mod cached_counts;
mod encoded;
mod feature_map;
mod features;
mod numeric;
mod recipe;
mod text;

pub use cached_counts::Looked;
pub use encoded::{Encoded, Encoder, UNLABELED};
pub use feature_map::{FittedMap, MapRecipe, RowMap};
pub use features::{Features, LeftOut, Reads, Step};
pub use numeric::NumberStep;
pub use recipe::{Discretize, Impute, Recipe, Scale, Words};
pub use text::{KnownTerms, TextRecipe, TextStep};
