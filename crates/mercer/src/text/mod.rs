//! From documents to term counts and TF-IDF weights.
//!
//! In the order of the data: `fold` normalizes case and accents, `token` finds tokens, [`Analyzer`] forms
//! terms (n-grams) from them; [`count_terms`] and [`count_vocabulary`] count terms by a [`Vocabulary`],
//! [`Hashing`] counts them without one; [`Weighting`] turns counts into TF-IDF weights.

mod analyzer;
mod counter;
mod counts;
mod document_frequencies;
mod fold;
mod hashing;
mod highlight;
mod selection;
mod stop_words;
mod streaming;
mod terms;
mod tfidf;
mod token;
mod vocabulary;

pub use analyzer::{Analyzer, Language, Reader, Scratch, Unit};
pub use counts::{TermCounts, count_terms, count_vocabulary};
pub use document_frequencies::DocumentFrequencies;
pub use fold::{Accents, Case};
pub use hashing::{Hashing, Sign};
pub use highlight::{TextSpan, highlight};
pub use selection::{Bound, Selection};
pub use stop_words::{StopWords, english_stop_words};
pub(crate) use streaming::StreamingCounter;
pub use tfidf::{Idf, Norm, Tf, Weighting, weigh};
pub use token::words;
pub use vocabulary::Vocabulary;
