//! Bayesian networks: a joint distribution as a product of conditional probability tables.
//!
//! `P(x₁, …, xₙ) = Πᵢ P(xᵢ | parents of xᵢ)` over a directed acyclic graph (Pearl, 1988).
//!
//! - [`Network`]: variables, parents, conditional probability tables
//! - [`RandomNetwork`]: random networks of any size from a seed
//! - [`bif`]: the BIF format
//! - [`d_separation`]: conditional independence by d-separation
//! - [`inference`]: exact posteriors, probability of the evidence, most probable explanation
//! - [`learn`]: structure and tables from rows
//! - [`to_svg`], [`to_dot`]: drawings
//! - [`TanNb`]: tree-augmented naive Bayes
//! - [`BayesNetwork`]: a Bayesian network classifier

pub mod bif;
mod builder;
mod classifier;
mod draw;
mod evidence;
pub mod inference;
pub mod learn;
mod random;
mod sample;
mod scoring;
mod separation;
mod structure;
mod tan;

pub use builder::Builder;
pub use classifier::{BayesNetwork, BayesNetworkModel, StructureScore};
pub use draw::{to_dot, to_svg};
pub use evidence::Evidence;
pub use random::RandomNetwork;
pub use separation::{Block, BlockedPath, Separation, d_separation, reachable};
pub use structure::{Network, Variable};
use structure::{check_index, topological_order};
pub use tan::{TanNb, TanNbModel};
