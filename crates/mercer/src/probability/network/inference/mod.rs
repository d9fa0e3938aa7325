//! Exact inference in a network.
//!
//! - [`query`]: one posterior, by variable elimination
//! - [`JunctionTree`]: all marginals, for many sets of evidence
//! - [`most_probable_explanation`]: the most probable configuration of all variables
//!
//! Memory is estimated in advance: intermediate tables can be exponentially larger than the network.

mod eliminate;
mod explanation;
mod junction;
mod order;
mod semiring;
mod table;

pub use eliminate::{Query, log_evidence, query};
pub use explanation::{Explanation, most_probable_explanation};
pub use junction::{Calibrated, JunctionTree};

use super::{Evidence, Network, check_index};
use crate::error::{Error, Result};
use crate::model::Monitor;

/// The memory budget if the user sets none.
const USUAL_MEMORY: u64 = 2 << 30;

/// A joint distribution over the queried variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The queried variables in order.
    pub variables: Vec<usize>,
    /// The number of states of each.
    pub sizes: Vec<usize>,
    /// `P(variables | evidence)` in row-major order.
    pub probabilities: Vec<f64>,
    /// `log P(evidence)`.
    pub log_evidence: f64,
}

/// Refuses indices that are out of range or repeated, and invalid evidence.
fn check_indices(network: &Network, of: &[usize], evidence: &Evidence) -> Result<()> {
    evidence.check(network)?;
    for (at, v) in of.iter().enumerate() {
        check_index(network, *v)?;
        if of[..at].contains(v) {
            let variable = network.variables()[*v].name.clone();
            return Err(Error::Network { variable, why: "it is asked twice".into() });
        }
    }
    Ok(())
}

fn reserve(what: &str, cells: f64, monitor: &Monitor<'_>) -> Result<()> {
    // Numbers of cells that overflow saturate, and are refused.
    monitor.reserve_within(what, (8.0 * cells) as u64, USUAL_MEMORY)
}

fn impossible(network: &Network, evidence: &Evidence) -> Error {
    let seen: Vec<String> = evidence
        .iter()
        .map(|(v, s)| {
            let variable = &network.variables()[v];
            format!("{}={}", variable.name, variable.states[s])
        })
        .collect();
    Error::Impossible { what: format!("the evidence {}", seen.join(", ")) }
}
