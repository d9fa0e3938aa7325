//! Construction of a network from variables and tables given by name.

use super::structure::index_of;
use super::{Network, Variable};
use crate::error::{Error, Result};

/// Builds a network from variables and tables given by name; [`Builder::build`] validates it.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    variables: Vec<Variable>,
    tables: Vec<(String, Vec<String>, Vec<f64>)>,
}

impl Builder {
    pub(super) fn new(name: String) -> Builder {
        Builder { name, ..Builder::default() }
    }

    /// Adds a variable and its states.
    #[must_use]
    pub fn variable<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        states: impl IntoIterator<Item = S>,
    ) -> Builder {
        let states = states.into_iter().map(Into::into).collect();
        self.variables.push(Variable { name: name.into(), states });
        self
    }

    /// Sets the parents and the conditional probability table of a variable: one row per configuration of the parents, in
    /// row-major order, and one column per state.
    #[must_use]
    pub fn table<'a>(
        mut self,
        name: impl Into<String>,
        parents: impl IntoIterator<Item = &'a str>,
        table: &[f64],
    ) -> Builder {
        let parents = parents.into_iter().map(str::to_owned).collect();
        self.tables.push((name.into(), parents, table.to_vec()));
        self
    }

    /// The network.
    ///
    /// # Errors
    /// If a name is unknown, a table is missing, repeated or of the wrong size, a row does not sum to one, or the graph has
    /// a cycle.
    pub fn build(self) -> Result<Network> {
        let index = |name: &str| index_of(&self.variables, name);
        let n = self.variables.len();
        let mut parts: Vec<Option<(Vec<usize>, Vec<f64>)>> = vec![None; n];
        for (name, parents, table) in self.tables {
            let v = index(&name)?;
            let parents = parents.iter().map(|p| index(p)).collect::<Result<_>>()?;
            if parts[v].replace((parents, table)).is_some() {
                return Err(Error::Network { variable: name, why: "it has two tables".into() });
            }
        }
        let (mut parents, mut tables) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (v, part) in parts.into_iter().enumerate() {
            let Some((list, table)) = part else {
                let variable = self.variables[v].name.clone();
                return Err(Error::Network { variable, why: "it has no table".into() });
            };
            parents.push(list);
            tables.push(table);
        }
        Network::new(self.name, self.variables, parents, tables)
    }
}
