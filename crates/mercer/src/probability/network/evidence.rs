//! Observed states of variables.

use super::Network;
use super::structure::{check_index, names};
use crate::error::{Error, Result};

/// Evidence: the observed states of some variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence(Vec<(usize, usize)>);

impl Evidence {
    /// No evidence.
    pub fn none() -> Evidence {
        Evidence::default()
    }

    /// Sets the observed state of a variable.
    pub fn see(&mut self, variable: usize, state: usize) {
        match self.0.binary_search_by_key(&variable, |(v, _)| *v) {
            Ok(at) => self.0[at].1 = state,
            Err(at) => self.0.insert(at, (variable, state)),
        }
    }

    /// The observed state of a variable.
    pub fn state(&self, variable: usize) -> Option<usize> {
        self.0.binary_search_by_key(&variable, |(v, _)| *v).ok().map(|at| self.0[at].1)
    }

    /// Variables and their states, in the order of the variables.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().copied()
    }

    /// Refuses variables and states that are not in the network.
    ///
    /// # Errors
    /// [`Error::UnknownVariable`], [`Error::UnknownValue`].
    pub fn check(&self, network: &Network) -> Result<()> {
        for (v, s) in self.iter() {
            check_index(network, v)?;
            if s >= network.size(v) {
                let variable = &network.variables()[v];
                return Err(Error::UnknownValue {
                    variable: variable.name.clone(),
                    value: format!("index {s}"),
                    known: names(&variable.states),
                });
            }
        }
        Ok(())
    }
}
