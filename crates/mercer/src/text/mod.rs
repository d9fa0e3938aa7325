//! From texts to counts of words.

mod token;

pub use token::words;
