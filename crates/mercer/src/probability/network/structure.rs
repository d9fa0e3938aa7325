//! The network itself: variables with named states, parents, and a conditional table each.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Rows of a table may miss one by this much: rounding of what a person or a program writes down.
const ROUNDING: f64 = 1e-9;

/// Something that is in exactly one of a few states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The names of its states.
    pub states: Vec<String>,
}

/// A Bayesian network. Variables are known by their place; parents may stand before or after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    name: String,
    variables: Vec<Variable>,
    parents: Vec<Vec<usize>>,
    /// One row a configuration of the parents, the last parent turning fastest; one entry a state.
    tables: Vec<Vec<f64>>,
}

impl Network {
    /// A network to be built by hand.
    ///
    /// ```
    /// use mercer::probability::network::Network;
    /// let network = Network::builder("rain")
    ///     .variable("rain", ["yes", "no"])
    ///     .variable("wet", ["yes", "no"])
    ///     .table("rain", [], &[0.2, 0.8])
    ///     .table("wet", ["rain"], &[0.9, 0.1, 0.05, 0.95])
    ///     .build()?;
    /// assert_eq!(network.n_free_parameters(), 3);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder { name: name.into(), ..Builder::default() }
    }

    /// A network from its parts, in the order of the variables.
    ///
    /// # Errors
    /// [`Error::Network`] with the variable and what does not fit.
    pub fn new(
        name: impl Into<String>,
        variables: Vec<Variable>,
        parents: Vec<Vec<usize>>,
        tables: Vec<Vec<f64>>,
    ) -> Result<Network> {
        let network = Network { name: name.into(), variables, parents, tables };
        network.check()?;
        Ok(network)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// The variables in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The parents of a variable, in the order of its table.
    pub fn parents(&self, v: usize) -> &[usize] {
        &self.parents[v]
    }

    /// The conditional table of a variable: one row a configuration of the parents, the last parent
    /// turning fastest; one entry a state.
    pub fn table(&self, v: usize) -> &[f64] {
        &self.tables[v]
    }

    /// How many states a variable has.
    pub fn size(&self, v: usize) -> usize {
        self.variables[v].states.len()
    }

    /// The place of a variable.
    ///
    /// # Errors
    /// [`Error::UnknownVariable`] with the names there are.
    pub fn variable(&self, name: &str) -> Result<usize> {
        let unknown = || Error::UnknownVariable {
            name: name.to_owned(),
            known: names(self.variables.iter().map(|v| &v.name)),
        };
        self.variables.iter().position(|v| v.name == name).ok_or_else(unknown)
    }

    /// The place of a state of a variable.
    ///
    /// # Errors
    /// [`Error::UnknownValue`] with the states there are.
    pub fn state(&self, v: usize, name: &str) -> Result<usize> {
        let variable = &self.variables[v];
        let unknown = || Error::UnknownValue {
            variable: variable.name.clone(),
            value: name.to_owned(),
            known: names(&variable.states),
        };
        variable.states.iter().position(|s| s == name).ok_or_else(unknown)
    }

    /// What was seen, by name.
    ///
    /// # Errors
    /// If a variable or state is unknown, or one variable is seen in two states.
    pub fn evidence<'a>(
        &self,
        seen: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Evidence> {
        let mut evidence = Evidence::none();
        for (variable, state) in seen {
            let v = self.variable(variable)?;
            let s = self.state(v, state)?;
            if evidence.state(v).is_some_and(|before| before != s) {
                return Err(Error::Network {
                    variable: variable.to_owned(),
                    why: "it is seen in two states at once".into(),
                });
            }
            evidence.see(v, s);
        }
        Ok(evidence)
    }

    /// How many numbers the network could choose freely: a row of `k` entries has `k − 1`.
    pub fn n_free_parameters(&self) -> usize {
        (0..self.len()).map(|v| self.n_rows(v) * (self.size(v) - 1)).sum()
    }

    /// How many arrows there are.
    pub fn n_edges(&self) -> usize {
        self.parents.iter().map(Vec::len).sum()
    }

    /// How many rows the table of a variable has.
    pub fn n_rows(&self, v: usize) -> usize {
        self.parents[v].iter().map(|p| self.size(*p)).product()
    }

    /// The states of the parents in a row of a table.
    pub fn row_states(&self, v: usize, mut row: usize) -> Vec<usize> {
        let mut states = vec![0; self.parents[v].len()];
        for (state, p) in states.iter_mut().zip(&self.parents[v]).rev() {
            (*state, row) = (row % self.size(*p), row / self.size(*p));
        }
        states
    }

    /// Every variable after its parents; of those that could come next, the first.
    pub fn topological_order(&self) -> Vec<usize> {
        topological_order(&self.parents).expect("a network has no cycle: it was checked")
    }

    /// `log P(x₁, …, xₙ)` of a state for every variable.
    pub fn log_joint(&self, states: &[usize]) -> f64 {
        (0..self.len())
            .map(|v| {
                let row = self.parents[v].iter().fold(0, |row, p| row * self.size(*p) + states[*p]);
                self.tables[v][row * self.size(v) + states[v]].ln()
            })
            .sum()
    }

    /// Refuses parts that do not make a network; for those that come from a file.
    ///
    /// # Errors
    /// [`Error::Network`] with the variable and what does not fit.
    pub fn check(&self) -> Result<()> {
        let n = self.variables.len();
        let refuse = |v: usize, why: String| {
            let variable = self.variables.get(v).map_or_else(String::new, |x| x.name.clone());
            Err(Error::Network { variable, why })
        };
        if self.parents.len() != n || self.tables.len() != n {
            let (p, t) = (self.parents.len(), self.tables.len());
            return refuse(n, format!("{n} variables, {p} lists of parents, {t} tables"));
        }
        let mut places = HashMap::with_capacity(n);
        for (v, variable) in self.variables.iter().enumerate() {
            if places.insert(variable.name.as_str(), v).is_some() {
                return refuse(v, "there are two of this name".into());
            }
            if variable.states.is_empty() {
                return refuse(v, "it has no states".into());
            }
            let mut states: Vec<&String> = variable.states.iter().collect();
            states.sort();
            if let Some(pair) = states.windows(2).find(|pair| pair[0] == pair[1]) {
                return refuse(v, format!("state `{}` appears twice", pair[0]));
            }
            let mut parents = self.parents[v].clone();
            parents.sort_unstable();
            if parents.iter().any(|p| *p >= n) {
                return refuse(v, "a parent is not in the network".into());
            }
            if let Some(pair) = parents.windows(2).find(|pair| pair[0] == pair[1]) {
                let name = &self.variables[pair[0]].name;
                return refuse(v, format!("parent `{name}` appears twice"));
            }
        }
        (0..n).try_for_each(|v| self.check_table(v))?;
        match topological_order(&self.parents) {
            Ok(_) => Ok(()),
            Err(cycle) => {
                let path: Vec<&str> =
                    cycle.iter().map(|v| self.variables[*v].name.as_str()).collect();
                refuse(cycle[0], format!("it is its own ancestor: {}", path.join(" -> ")))
            }
        }
    }

    fn check_table(&self, v: usize) -> Result<()> {
        let variable = &self.variables[v].name;
        let refuse = |why: String| Err(Error::Network { variable: variable.clone(), why });
        let rows = self.parents[v].iter().try_fold(1usize, |n, p| n.checked_mul(self.size(*p)));
        let cells = rows.and_then(|rows| rows.checked_mul(self.size(v)));
        let found = self.tables[v].len();
        if cells != Some(found) {
            let expected = cells.map_or("more than fit in memory".into(), |n| n.to_string());
            return refuse(format!("its table has {found} numbers, expected {expected}"));
        }
        for (row, cells) in self.tables[v].chunks_exact(self.size(v)).enumerate() {
            if let Some(s) = cells.iter().position(|p| !(p.is_finite() && (0.0..=1.0).contains(p)))
            {
                return refuse(format!(
                    "P({} | {}) is {}, not a probability",
                    self.variables[v].states[s],
                    self.row_name(v, row),
                    cells[s]
                ));
            }
            let sum: f64 = cells.iter().sum();
            if (sum - 1.0).abs() > ROUNDING {
                return refuse(format!(
                    "the row {} sums to {sum}, expected 1",
                    self.row_name(v, row)
                ));
            }
        }
        Ok(())
    }

    /// A row of a table as people write it: `(yes, no)`.
    fn row_name(&self, v: usize, row: usize) -> String {
        let states = self.row_states(v, row);
        let words = self.parents[v].iter().zip(states).map(|(p, s)| &self.variables[*p].states[s]);
        format!("({})", names(words))
    }
}

fn names<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    words.into_iter().map(|w| w.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}

/// Every variable after its parents, or a cycle, from ancestor to descendant and back.
pub(super) fn topological_order(
    parents: &[Vec<usize>],
) -> std::result::Result<Vec<usize>, Vec<usize>> {
    let n = parents.len();
    let mut children = vec![Vec::new(); n];
    let mut waits: Vec<usize> = parents.iter().map(Vec::len).collect();
    for (v, list) in parents.iter().enumerate() {
        list.iter().for_each(|p| children[*p].push(v));
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..n).filter(|v| waits[*v] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(v) = ready.pop_first() {
        order.push(v);
        for child in &children[v] {
            waits[*child] -= 1;
            if waits[*child] == 0 {
                ready.insert(*child);
            }
        }
    }
    if order.len() == n {
        return Ok(order);
    }
    // Whoever still waits has a parent that waits: going up must come back to where it was.
    let mut path: Vec<usize> = waits.iter().position(|w| *w > 0).into_iter().collect();
    loop {
        let up = parents[path[path.len() - 1]].iter().find(|p| waits[**p] > 0);
        let up = *up.expect("one that waits has a parent that waits");
        if let Some(start) = path.iter().position(|v| *v == up) {
            let mut cycle = path.split_off(start);
            cycle.push(up);
            cycle.reverse();
            return Err(cycle);
        }
        path.push(up);
    }
}

/// Refuses the place of a variable there is not.
pub(super) fn check_place(network: &Network, v: usize) -> Result<()> {
    if v < network.len() {
        return Ok(());
    }
    let known = names(network.variables.iter().map(|v| &v.name));
    Err(Error::UnknownVariable { name: format!("number {v}"), known })
}

/// What was seen: the state of some variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence(Vec<(usize, usize)>);

impl Evidence {
    /// Nothing.
    pub fn none() -> Evidence {
        Evidence::default()
    }

    /// Adds that a variable is in a state, instead of what was said about it before.
    pub fn see(&mut self, variable: usize, state: usize) {
        match self.0.binary_search_by_key(&variable, |(v, _)| *v) {
            Ok(at) => self.0[at].1 = state,
            Err(at) => self.0.insert(at, (variable, state)),
        }
    }

    /// The state a variable was seen in.
    pub fn state(&self, variable: usize) -> Option<usize> {
        self.0.binary_search_by_key(&variable, |(v, _)| *v).ok().map(|at| self.0[at].1)
    }

    /// Variables and their states, in the order of the variables.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().copied()
    }

    /// Refuses variables and states a network does not have.
    ///
    /// # Errors
    /// [`Error::UnknownVariable`], [`Error::UnknownValue`].
    pub fn check(&self, network: &Network) -> Result<()> {
        for (v, s) in self.iter() {
            check_place(network, v)?;
            if s >= network.size(v) {
                let variable = &network.variables[v];
                return Err(Error::UnknownValue {
                    variable: variable.name.clone(),
                    value: format!("number {s}"),
                    known: names(&variable.states),
                });
            }
        }
        Ok(())
    }
}

/// Collects the parts of a network by name; [`Builder::build`] says what does not fit.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    variables: Vec<Variable>,
    tables: Vec<(String, Vec<String>, Vec<f64>)>,
}

impl Builder {
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

    /// Gives a variable its parents and table: one row a configuration of the parents, the last
    /// parent turning fastest; one number a state.
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
    /// If a name is unknown, a table is missing, comes twice or does not fit, a row does not add up
    /// to one, or the arrows run in a circle.
    pub fn build(self) -> Result<Network> {
        let mut network = Network {
            name: self.name,
            variables: self.variables,
            parents: Vec::new(),
            tables: Vec::new(),
        };
        let n = network.variables.len();
        let mut parts: Vec<Option<(Vec<usize>, Vec<f64>)>> = vec![None; n];
        for (name, parents, table) in self.tables {
            let v = network.variable(&name)?;
            let parents = parents.iter().map(|p| network.variable(p)).collect::<Result<_>>()?;
            if parts[v].replace((parents, table)).is_some() {
                return Err(Error::Network { variable: name, why: "it has two tables".into() });
            }
        }
        for (v, part) in parts.into_iter().enumerate() {
            let Some((parents, table)) = part else {
                let variable = network.variables[v].name.clone();
                return Err(Error::Network { variable, why: "it has no table".into() });
            };
            network.parents.push(parents);
            network.tables.push(table);
        }
        network.check()?;
        Ok(network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rain() -> Builder {
        Network::builder("rain")
            .variable("rain", ["yes", "no"])
            .variable("wet", ["yes", "no"])
            .table("rain", [], &[0.2, 0.8])
    }

    fn refusal(builder: Builder) -> String {
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn a_network_counts_what_it_may_choose() {
        let network = rain().table("wet", ["rain"], &[0.9, 0.1, 0.05, 0.95]).build().unwrap();

        assert_eq!(network.n_free_parameters(), 1 + 2);
        assert_eq!(network.topological_order(), [0, 1]);
        assert!((network.log_joint(&[0, 1]) - (0.2f64 * 0.1).ln()).abs() < 1e-15);
    }

    #[test]
    fn bad_tables_are_named_by_variable_and_row() {
        let short = refusal(rain().table("wet", ["rain"], &[0.9, 0.1]));
        let off = refusal(rain().table("wet", ["rain"], &[0.9, 0.1, 0.05, 0.9]));
        let negative = refusal(rain().table("wet", ["rain"], &[1.5, -0.5, 0.05, 0.95]));
        let missing = refusal(rain());
        let stranger = refusal(rain().table("wet", ["snow"], &[0.5, 0.5]));

        assert_eq!(short, "variable `wet`: its table has 2 numbers, expected 4");
        assert!(off.starts_with("variable `wet`: the row (no) sums to 0.95"), "{off}");
        assert_eq!(negative, "variable `wet`: P(yes | (yes)) is 1.5, not a probability");
        assert_eq!(missing, "variable `wet`: it has no table");
        assert_eq!(stranger, "unknown variable `snow`; the variables are rain, wet");
    }

    #[test]
    fn a_circle_is_told_with_its_path() {
        let circle = Network::builder("circle")
            .variable("a", ["0", "1"])
            .variable("b", ["0", "1"])
            .variable("c", ["0", "1"])
            .table("a", ["c"], &[0.5; 4])
            .table("b", ["a"], &[0.5; 4])
            .table("c", ["b"], &[0.5; 4]);

        assert_eq!(refusal(circle), "variable `a`: it is its own ancestor: a -> b -> c -> a");
    }

    #[test]
    fn evidence_must_be_known_and_of_one_mind() {
        let network = rain().table("wet", ["rain"], &[0.9, 0.1, 0.05, 0.95]).build().unwrap();

        assert!(network.evidence([("wet", "yes"), ("wet", "yes")]).is_ok());
        assert!(network.evidence([("wet", "yes"), ("wet", "no")]).is_err());
        let error = network.evidence([("wet", "maybe")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "variable `wet` has no value `maybe`; its values are yes, no"
        );
    }
}
