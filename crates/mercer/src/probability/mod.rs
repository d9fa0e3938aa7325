//! Reasoning with probabilities, before any classifier appears.
//!
//! - [`network`]: Bayesian networks over discrete variables

pub mod network;
