//! The most probable explanation (MPE): the most probable configuration of all variables given the evidence.
//!
//! Variable elimination with the maximum instead of the sum, on logarithms; the maximizing states are stored and read
//! back in reverse order (Dechter, 1999).

use super::order::Elimination;
use super::semiring::{Log, Semiring};
use super::table::Table;
use super::{check_indices, impossible, reserve};
use crate::error::Result;
use crate::model::Monitor;
use crate::probability::network::{Evidence, Network};

/// A state for every variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The state of each variable, in order.
    pub states: Vec<usize>,
    /// `log P(states)`, evidence included.
    pub log_probability: f64,
}

/// The most probable configuration of all variables given the evidence; ties go to lower states.
///
/// # Errors
/// If an index is out of range, the evidence has probability zero, or tables exceed the memory budget.
pub fn most_probable_explanation(
    network: &Network,
    evidence: &Evidence,
    monitor: &Monitor<'_>,
) -> Result<Explanation> {
    check_indices(network, &[], evidence)?;
    let families: Vec<Vec<usize>> = (0..network.len())
        .map(|v| {
            let family = network.parents(v).iter().chain([&v]).copied();
            family.filter(|u| evidence.state(*u).is_none()).collect()
        })
        .collect();
    let sizes: Vec<usize> = (0..network.len()).map(|v| network.size(v)).collect();
    let removed: Vec<bool> = (0..network.len()).map(|v| evidence.state(v).is_none()).collect();
    let order = Elimination::min_fill(&families, &sizes, &removed);
    let (most, all) = order.cells(&sizes);
    // Two tables, and a list of maximizing states for each step, half as large.
    reserve("finding the most probable explanation", 2.0 * most + 0.5 * all, monitor)?;

    let mut tables: Vec<Table> = (0..network.len())
        .map(|v| Table::conditional::<Log>(network, v, |u| evidence.state(u)))
        .collect();
    let mut choices = Vec::with_capacity(order.steps.len());
    for (v, _) in &order.steps {
        let (mut with, without): (Vec<_>, _) = tables.into_iter().partition(|t| t.vars.contains(v));
        tables = without;
        with.sort_by_key(|t| t.cells.len());
        let product = with.iter().fold(Table::one::<Log>(), |product, t| product.product::<Log>(t));
        let (best, states) = product.best(*v);
        choices.push((*v, best.vars.clone(), best.sizes.clone(), states));
        tables.push(best);
    }
    let log_probability = tables.iter().fold(Log::ONE, |sum, t| sum + t.cells[0]);
    if log_probability == f64::NEG_INFINITY {
        return Err(impossible(network, evidence));
    }
    let mut states: Vec<usize> =
        (0..network.len()).map(|v| evidence.state(v).unwrap_or(0)).collect();
    for (v, vars, sizes, best) in choices.iter().rev() {
        let at = vars.iter().zip(sizes).fold(0, |at, (u, size)| at * size + states[*u]);
        states[*v] = best[at] as usize;
    }
    Ok(Explanation { states, log_probability })
}
