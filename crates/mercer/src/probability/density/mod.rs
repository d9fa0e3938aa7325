//! Distributions of counts and waiting times.
//!
//! Factorials are gamma functions, so that non-integer counts, such as tf-idf weights, are allowed.

mod binomial;
mod exponential;
mod multinomial;
mod poisson;

pub use binomial::Binomial;
pub use exponential::Exponential;
pub use multinomial::Multinomial;
pub use poisson::Poisson;
