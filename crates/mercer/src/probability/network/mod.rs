//! Bayesian networks: a joint distribution as one small table a variable.
//!
//! `P(x₁, …, xₙ) = Πᵢ P(xᵢ | parents of xᵢ)` over a graph without cycles (Pearl, 1988).
//!
//! - [`Network`]: variables, parents, conditional tables; built by hand and checked
//! - [`RandomNetwork`]: networks of any size from a seed, to try things on
//! - [`bif`]: networks as text
//! - [`d_separation`]: who can tell nothing about whom, read off the arrows
//! - [`inference`]: posteriors, probability of the evidence, most probable explanation, all exact
//! - [`learn`]: structure and tables from rows
//! - [`to_svg`], [`to_dot`]: pictures
//! - [`TanNb`]: naive Bayes with a tree over the columns
//! - [`BayesNetwork`]: a network with the class in it, as a classifier

pub mod bif;
mod classifier;
mod draw;
pub mod inference;
pub mod learn;
mod random;
mod sample;
mod separation;
mod structure;
mod tan;

pub use classifier::{ArrowScore, BayesNetwork, BayesNetworkModel};
pub use draw::{to_dot, to_svg};
pub use random::RandomNetwork;
pub use separation::{Block, BlockedPath, Separation, d_separation, reachable};
pub use structure::{Builder, Evidence, Network, Variable};
use structure::{check_place, topological_order};
pub use tan::{TanNb, TanNbModel};
