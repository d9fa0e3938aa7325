//! From texts to counts of words.
//!
//! In the order of the data: `fold` makes letters alike, `token` finds words, [`Analyzer`] makes
//! terms of them; [`tally`] and [`count`] count terms by a [`Vocabulary`], [`Hashing`] without one;
//! [`Weighting`] turns counts into tf-idf weights.

mod analyzer;
mod batches;
mod counts;
mod fold;
mod hashing;
mod highlight;
mod stop_words;
mod terms;
mod tfidf;
mod token;
mod vocabulary;

pub use analyzer::{Analyzer, Language, Reader, Scratch, Unit};
pub use batches::CountedTexts;
pub(crate) use batches::Gathering;
pub use counts::{Bound, DocumentCounts, Selection, Tallied, TextRows, count, tally};
pub use fold::{Accents, Case};
pub use hashing::{Hashing, Sign};
pub use highlight::{TextSpan, highlight};
pub use stop_words::{StopWords, english_stop_words};
pub use tfidf::{Idf, Norm, Tf, Weighting, weigh};
pub use token::words;
pub use vocabulary::Vocabulary;
