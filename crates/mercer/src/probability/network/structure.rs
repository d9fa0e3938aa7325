//! A Bayesian network: variables with named states, parents, and conditional probability tables.

use super::builder::Builder;
use super::evidence::Evidence;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The tolerance for the sum of a row of a table, for rounded input.
const ROUNDING: f64 = 1e-9;

/// A discrete random variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The names of its states.
    pub states: Vec<String>,
}

/// A Bayesian network. Variables are referred to by index, in any order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    name: String,
    variables: Vec<Variable>,
    parents: Vec<Vec<usize>>,
    /// One row per configuration of the parents, in row-major order, and one column per state.
    tables: Vec<Vec<f64>>,
}

impl Network {
    /// A builder of a network.
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
        Builder::new(name.into())
    }

    /// A network from parents and tables in the order of the variables.
    ///
    /// # Errors
    /// [`Error::Network`] with the variable and the problem.
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

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Whether there are no variables.
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

    /// The conditional probability table of a variable: one row per configuration of the parents, in row-major order, and
    /// one column per state.
    pub fn table(&self, v: usize) -> &[f64] {
        &self.tables[v]
    }

    /// The number of states of a variable.
    pub fn size(&self, v: usize) -> usize {
        self.variables[v].states.len()
    }

    /// The index of a variable.
    ///
    /// # Errors
    /// [`Error::UnknownVariable`] with the known names.
    pub fn variable(&self, name: &str) -> Result<usize> {
        index_of(&self.variables, name)
    }

    /// The index of a state of a variable.
    ///
    /// # Errors
    /// [`Error::UnknownValue`] with the known states.
    pub fn state(&self, v: usize, name: &str) -> Result<usize> {
        let variable = &self.variables[v];
        let unknown = || Error::UnknownValue {
            variable: variable.name.clone(),
            value: name.to_owned(),
            known: names(&variable.states),
        };
        variable.states.iter().position(|s| s == name).ok_or_else(unknown)
    }

    /// Evidence by name.
    ///
    /// # Errors
    /// If a variable or state is unknown, or a variable is given in two states.
    pub fn evidence<'a>(
        &self,
        observed: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Evidence> {
        let mut evidence = Evidence::none();
        for (variable, state) in observed {
            let v = self.variable(variable)?;
            let s = self.state(v, state)?;
            if evidence.state(v).is_some_and(|before| before != s) {
                return Err(Error::Network {
                    variable: variable.to_owned(),
                    why: "the evidence has two states of it".into(),
                });
            }
            evidence.see(v, s);
        }
        Ok(evidence)
    }

    /// The number of free parameters: a row of `k` probabilities has `k − 1`.
    pub fn n_free_parameters(&self) -> usize {
        (0..self.len()).map(|v| self.n_rows(v) * (self.size(v) - 1)).sum()
    }

    /// The number of edges.
    pub fn n_edges(&self) -> usize {
        self.parents.iter().map(Vec::len).sum()
    }

    /// The number of rows of the table of a variable.
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

    /// A topological order, every variable after its parents; ties go to the lower index.
    pub fn topological_order(&self) -> Vec<usize> {
        topological_order(&self.parents).expect("a valid network has no cycle")
    }

    /// `log P(x₁, …, xₙ)` of one state per variable.
    pub fn log_joint(&self, states: &[usize]) -> f64 {
        (0..self.len())
            .map(|v| {
                let row = self.parents[v].iter().fold(0, |row, p| row * self.size(*p) + states[*p]);
                self.tables[v][row * self.size(v) + states[v]].ln()
            })
            .sum()
    }

    /// Refuses an invalid network, for one that comes from a file.
    ///
    /// # Errors
    /// [`Error::Network`] with the variable and the problem.
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
        let mut indices = HashMap::with_capacity(n);
        for (v, variable) in self.variables.iter().enumerate() {
            if indices.insert(variable.name.as_str(), v).is_some() {
                return refuse(v, "its name is not unique".into());
            }
            if variable.states.is_empty() {
                return refuse(v, "it has no states".into());
            }
            let mut states: Vec<&String> = variable.states.iter().collect();
            states.sort();
            if let Some(pair) = states.windows(2).find(|pair| pair[0] == pair[1]) {
                return refuse(v, format!("state `{}` is repeated", pair[0]));
            }
            let mut parents = self.parents[v].clone();
            parents.sort_unstable();
            if parents.iter().any(|p| *p >= n) {
                return refuse(v, "a parent is not in the network".into());
            }
            if let Some(pair) = parents.windows(2).find(|pair| pair[0] == pair[1]) {
                let name = &self.variables[pair[0]].name;
                return refuse(v, format!("parent `{name}` is repeated"));
            }
        }
        (0..n).try_for_each(|v| self.check_table(v))?;
        match topological_order(&self.parents) {
            Ok(_) => Ok(()),
            Err(cycle) => {
                let path: Vec<&str> =
                    cycle.iter().map(|v| self.variables[*v].name.as_str()).collect();
                refuse(cycle[0], format!("the graph has a cycle: {}", path.join(" -> ")))
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

    /// The states of the parents in a row of a table: `(yes, no)`.
    fn row_name(&self, v: usize, row: usize) -> String {
        let states = self.row_states(v, row);
        let states = self.parents[v].iter().zip(states).map(|(p, s)| &self.variables[*p].states[s]);
        format!("({})", names(states))
    }
}

/// The index of the variable with a name.
pub(super) fn index_of(variables: &[Variable], name: &str) -> Result<usize> {
    let unknown = || Error::UnknownVariable {
        name: name.to_owned(),
        known: names(variables.iter().map(|v| &v.name)),
    };
    variables.iter().position(|v| v.name == name).ok_or_else(unknown)
}

/// A list of names, separated by commas.
pub(super) fn names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    names.into_iter().map(|w| w.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}

/// A topological order, or a cycle from ancestor to descendant and back.
pub(super) fn topological_order(
    parents: &[Vec<usize>],
) -> std::result::Result<Vec<usize>, Vec<usize>> {
    let n = parents.len();
    let mut children = vec![Vec::new(); n];
    let mut n_waiting: Vec<usize> = parents.iter().map(Vec::len).collect();
    for (v, list) in parents.iter().enumerate() {
        list.iter().for_each(|p| children[*p].push(v));
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..n).filter(|v| n_waiting[*v] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(v) = ready.pop_first() {
        order.push(v);
        for child in &children[v] {
            n_waiting[*child] -= 1;
            if n_waiting[*child] == 0 {
                ready.insert(*child);
            }
        }
    }
    if order.len() == n {
        return Ok(order);
    }
    // Every remaining variable has a remaining parent: following parents must close a cycle.
    let mut path: Vec<usize> = n_waiting.iter().position(|w| *w > 0).into_iter().collect();
    loop {
        let up = parents[path[path.len() - 1]].iter().find(|p| n_waiting[**p] > 0);
        let up = *up.expect("a remaining variable has a remaining parent");
        if let Some(start) = path.iter().position(|v| *v == up) {
            let mut cycle = path.split_off(start);
            cycle.push(up);
            cycle.reverse();
            return Err(cycle);
        }
        path.push(up);
    }
}

/// Refuses the index of a variable that is out of range.
pub(super) fn check_index(network: &Network, v: usize) -> Result<()> {
    if v < network.len() {
        return Ok(());
    }
    let known = names(network.variables.iter().map(|v| &v.name));
    Err(Error::UnknownVariable { name: format!("index {v}"), known })
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
    fn free_parameters_are_counted() {
        let network = rain().table("wet", ["rain"], &[0.9, 0.1, 0.05, 0.95]).build().unwrap();

        assert_eq!(network.n_free_parameters(), 1 + 2);
        assert_eq!(network.topological_order(), [0, 1]);
        assert!((network.log_joint(&[0, 1]) - (0.2f64 * 0.1).ln()).abs() < 1e-15);
    }

    #[test]
    fn invalid_tables_are_reported_by_variable_and_row() {
        let short = refusal(rain().table("wet", ["rain"], &[0.9, 0.1]));
        let off = refusal(rain().table("wet", ["rain"], &[0.9, 0.1, 0.05, 0.9]));
        let negative = refusal(rain().table("wet", ["rain"], &[1.5, -0.5, 0.05, 0.95]));
        let missing = refusal(rain());
        let unknown = refusal(rain().table("wet", ["snow"], &[0.5, 0.5]));

        assert_eq!(short, "variable `wet`: its table has 2 numbers, expected 4");
        assert!(off.starts_with("variable `wet`: the row (no) sums to 0.95"), "{off}");
        assert_eq!(negative, "variable `wet`: P(yes | (yes)) is 1.5, not a probability");
        assert_eq!(missing, "variable `wet`: it has no table");
        assert_eq!(unknown, "unknown variable `snow`; the variables are rain, wet");
    }

    #[test]
    fn a_cycle_is_reported_with_its_path() {
        let cyclic = Network::builder("circle")
            .variable("a", ["0", "1"])
            .variable("b", ["0", "1"])
            .variable("c", ["0", "1"])
            .table("a", ["c"], &[0.5; 4])
            .table("b", ["a"], &[0.5; 4])
            .table("c", ["b"], &[0.5; 4]);

        assert_eq!(refusal(cyclic), "variable `a`: the graph has a cycle: a -> b -> c -> a");
    }

    #[test]
    fn evidence_must_be_known_and_consistent() {
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
