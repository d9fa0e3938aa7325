//! Counts of the states of each variable for every configuration of its parents: the sufficient statistics of the
//! tables. They merge by addition.

use super::Observations;
use crate::error::{Error, Result};
use crate::model::Monitor;
use crate::probability::network::{Network, Variable};
use mercer_num::parallel::prelude::*;

/// The memory budget if the user sets none.
const USUAL_MEMORY: u64 = 2 << 30;

/// Counts in the order of the tables of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyCounts {
    variables: Vec<Variable>,
    parents: Vec<Vec<usize>>,
    /// One list per variable: one row per configuration of the parents, one column per state.
    pub(super) counts: Vec<Vec<f64>>,
}

impl FamilyCounts {
    /// Counts of zero.
    ///
    /// # Errors
    /// If the tables exceed the memory budget.
    pub fn new(
        variables: &[Variable],
        parents: &[Vec<usize>],
        monitor: &Monitor<'_>,
    ) -> Result<FamilyCounts> {
        if parents.len() != variables.len() {
            return Err(Error::Columns { found: parents.len(), expected: variables.len() });
        }
        if let Some(v) = parents.iter().position(|p| p.iter().any(|p| *p >= variables.len())) {
            let variable = variables[v].name.clone();
            return Err(Error::Network { variable, why: "a parent is not in the network".into() });
        }
        let cells = |v: usize| -> f64 {
            let family = parents[v].iter().chain([&v]);
            family.map(|u| variables[*u].states.len() as f64).product()
        };
        let needed: f64 = (0..variables.len()).map(cells).sum::<f64>() * 8.0;
        monitor.reserve_within("the tables of the network", needed as u64, USUAL_MEMORY)?;
        Ok(FamilyCounts {
            variables: variables.to_vec(),
            parents: parents.to_vec(),
            counts: (0..variables.len()).map(|v| vec![0.0; cells(v) as usize]).collect(),
        })
    }

    /// Adds rows; a row counts for a variable if the variable and all its parents are observed.
    ///
    /// # Errors
    /// If the variables differ.
    pub fn observe(&mut self, data: &Observations) -> Result<()> {
        if data.variables() != self.variables {
            return Err(Error::Merge { why: "the variables or their states differ".into() });
        }
        let parents = &self.parents;
        self.counts
            .par_iter_mut()
            .enumerate()
            .for_each(|(v, counts)| count_family(data, v, &parents[v], counts));
        Ok(())
    }

    /// Adds other counts.
    ///
    /// # Errors
    /// If they have another structure.
    pub fn merge(&mut self, other: &FamilyCounts) -> Result<()> {
        if self.variables != other.variables || self.parents != other.parents {
            return Err(Error::Merge { why: "the variables, states or edges differ".into() });
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
        Ok(())
    }

    /// The network with the tables `(N + α) / (ΣN + α k)`; rows without counts and smoothing are uniform.
    ///
    /// # Errors
    /// If the graph has a cycle.
    pub fn finish(&self, alpha: f64) -> Result<Network> {
        let tables = self
            .counts
            .iter()
            .zip(&self.variables)
            .map(|(counts, variable)| {
                let k = variable.states.len();
                let row = |row: &[f64]| {
                    let total = row.iter().sum::<f64>() + alpha * k as f64;
                    let fraction = |n: &f64| {
                        if total > 0.0 { (n + alpha) / total } else { 1.0 / k as f64 }
                    };
                    row.iter().map(fraction).collect::<Vec<f64>>()
                };
                counts.chunks_exact(k.max(1)).flat_map(row).collect()
            })
            .collect();
        Network::new("learned", self.variables.clone(), self.parents.clone(), tables)
    }

    /// `Σ N log p` of a network with this structure, and the penalty `α Σ log p` of smoothing.
    pub(super) fn log_likelihood(&self, network: &Network, alpha: f64) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (v, counts) in self.counts.iter().enumerate() {
            for (n, p) in counts.iter().zip(network.table(v)) {
                sums.0 += if *n > 0.0 { n * p.ln() } else { 0.0 };
                sums.1 += if alpha > 0.0 { alpha * p.ln() } else { 0.0 };
            }
        }
        sums
    }
}

/// Counts one variable with its parents.
pub(super) fn count_family(data: &Observations, v: usize, parents: &[usize], counts: &mut [f64]) {
    let columns: Vec<(&[u32], usize)> =
        parents.iter().chain([&v]).map(|u| (data.column(*u), data.size(*u))).collect();
    'rows: for (i, weight) in data.weights().iter().enumerate() {
        let mut at = 0;
        for (column, size) in &columns {
            if column[i] == Observations::MISSING {
                continue 'rows;
            }
            at = at * size + column[i] as usize;
        }
        counts[at] += weight;
    }
}
