//! Exact answers from a network.
//!
//! - [`query`]: one posterior, by variable elimination
//! - [`JunctionTree`]: all marginals at once, and many evidences after another
//! - [`most_probable_explanation`]: the likeliest configuration of everything
//!
//! Memory is estimated before it is taken: the tables on the way can be exponentially larger than
//! the network.

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

/// Memory allowed where nobody set a budget.
const USUAL_MEMORY: u64 = 2 << 30;

/// A joint distribution over the variables asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The variables in the order asked.
    pub variables: Vec<usize>,
    /// How many states each has.
    pub sizes: Vec<usize>,
    /// `P(variables | evidence)`, the last variable turning fastest.
    pub probabilities: Vec<f64>,
    /// `log P(evidence)`.
    pub log_evidence: f64,
}

/// Refuses variables that are not there or asked twice, and evidence about others.
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
    // More cells than a number can count saturate, and are refused.
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
