//! Preprocessing: from a table to features. Columns are matched by name; numeric columns are imputed, discretized and
//! scaled, categorical columns encoded, text columns vectorized, and the encoded columns mapped, if the user asks for it.

mod cached_counts;
mod date;
mod encode;
mod encoded;
mod feature_map;
mod features;
mod fit;
mod names;
mod numeric;
mod one_hot;
mod original;
mod partitioned;
mod plan;
mod recipe;
mod summary;
mod text;

pub use cached_counts::CachedCounts;
pub use date::DateStep;
pub use encoded::{Encoded, Encoder, UNLABELED};
pub use feature_map::{FeatureMap, FeatureMapRecipe, FittedFeatureMap};
pub use features::{Features, Reads, Step};
pub use numeric::NumericStep;
pub use one_hot::OneHotStep;
pub use partitioned::{FeatureObserver, FeatureSums, RowSample};
pub use plan::{DropReason, DroppedColumn};
pub use recipe::{
    CategoryEncoding, Discretize, Impute, MissingIndicator, NumericValues, Power, Recipe, Scale,
    TargetScale,
};
pub use text::{KnownTerms, TextRecipe, TextStep};
