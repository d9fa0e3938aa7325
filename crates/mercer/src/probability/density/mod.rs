//! The distributions that counts and waiting times follow.
//!
//! Factorials are gamma functions here, so that counts which are weights, such as tf-idf, have a value
//! too.

mod binomial;
mod exponential;
mod multinomial;
mod poisson;

pub use binomial::Binomial;
pub use exponential::Exponential;
pub use multinomial::Multinomial;
pub use poisson::Poisson;
