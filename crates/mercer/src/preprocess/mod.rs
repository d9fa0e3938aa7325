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

pub use cached_counts::CachedCounts;
pub use encoded::{Encoded, Encoder, UNLABELED};
pub use feature_map::{FeatureMap, FeatureMapRecipe, FittedFeatureMap};
pub use features::{DropReason, Features, Reads, Step};
pub use numeric::NumericStep;
pub use recipe::{CategoryEncoding, Discretize, Impute, Recipe, Scale};
pub use text::{KnownTerms, TextRecipe, TextStep};
