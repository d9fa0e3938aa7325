//! Observations: a state or a missing value for every row and variable, stored by column.

use crate::data::{Kind, Table, Values};
use crate::error::{Error, Result};
use crate::probability::network::{Network, Variable};
use std::collections::BTreeMap;

/// A numeric column with more distinct values is not treated as categorical.
const MOST_NUMBERS: usize = 50;

/// Rows of discrete variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    variables: Vec<Variable>,
    /// One list per variable, one entry per row.
    codes: Vec<Vec<u32>>,
    weights: Vec<f64>,
}

impl Observations {
    /// The code of a missing value.
    pub const MISSING: u32 = u32::MAX;

    /// Columns of codes, [`Observations::MISSING`] for missing values; every row has weight one.
    ///
    /// # Errors
    /// If lengths differ or a code is out of range.
    pub fn new(variables: Vec<Variable>, codes: Vec<Vec<u32>>) -> Result<Observations> {
        if codes.len() != variables.len() {
            return Err(Error::Columns { found: codes.len(), expected: variables.len() });
        }
        let n = codes.first().map_or(0, Vec::len);
        for (variable, column) in variables.iter().zip(&codes) {
            if column.len() != n {
                let what = format!("variable `{}`", variable.name);
                return Err(Error::Length { what, found: column.len(), expected: n });
            }
            let unknown = |c: &&u32| **c != Self::MISSING && **c as usize >= variable.states.len();
            if let Some(code) = column.iter().find(unknown) {
                return Err(Error::UnknownValue {
                    variable: variable.name.clone(),
                    value: format!("code {code}"),
                    known: variable.states.join(", "),
                });
            }
        }
        Ok(Observations { variables, codes, weights: vec![1.0; n] })
    }

    /// The same rows with sample weights.
    ///
    /// # Errors
    /// If the length differs or a weight is negative or not finite.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Observations> {
        if weights.len() != self.n_rows() {
            let what = "the sample weights".to_owned();
            return Err(Error::Length { what, found: weights.len(), expected: self.n_rows() });
        }
        if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        Ok(Observations { weights, ..self })
    }

    /// The columns of a table: categorical, boolean, and numeric with few distinct values.
    ///
    /// # Errors
    /// If a column cannot be a discrete variable.
    pub fn of_table(table: &Table) -> Result<Observations> {
        let columns = table.columns().iter().map(|column| {
            let (states, codes) = states_of(&column.name, &column.values, table.n_rows())?;
            Ok((Variable { name: column.name.clone(), states }, codes))
        });
        let (variables, codes) = columns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Observations::new(variables, codes)
    }

    /// The rows of a table for a network: columns by name, in the order of the network. A column that is not in the table
    /// and a state that is not in the network are missing values.
    ///
    /// # Errors
    /// If a column cannot be a discrete variable.
    pub fn for_network(network: &Network, table: &Table) -> Result<Observations> {
        let mut codes = Vec::with_capacity(network.len());
        for (v, variable) in network.variables().iter().enumerate() {
            let Some(column) = table.column(&variable.name) else {
                codes.push(vec![Self::MISSING; table.n_rows()]);
                continue;
            };
            let (states, found) = states_of(&column.name, &column.values, table.n_rows())?;
            let index = |s: &String| network.state(v, s).map_or(Self::MISSING, |s| s as u32);
            let indices: Vec<u32> = states.iter().map(index).collect();
            let known = |c: u32| indices.get(c as usize).copied().unwrap_or(Self::MISSING);
            codes.push(found.into_iter().map(known).collect());
        }
        Observations::new(network.variables().to_vec(), codes)
    }

    /// The variables in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.weights.len()
    }

    /// The number of states of a variable.
    pub fn size(&self, v: usize) -> usize {
        self.variables[v].states.len()
    }

    /// The codes of a variable, one per row.
    pub fn column(&self, v: usize) -> &[u32] {
        &self.codes[v]
    }

    /// The sample weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The sum of the weights.
    ///
    /// # Errors
    /// [`Error::NoRows`] if it is zero.
    pub fn total(&self) -> Result<f64> {
        let total: f64 = self.weights.iter().sum();
        if total > 0.0 { Ok(total) } else { Err(Error::NoRows) }
    }

    /// Counts one variable with its parents, in the rows in which all are observed.
    pub(crate) fn count(&self, v: usize, parents: &[usize], counts: &mut [f64]) {
        super::counts::count_family(self, v, parents, counts);
    }

    /// Whether any value is missing.
    pub fn has_gaps(&self) -> bool {
        self.codes.iter().any(|column| column.contains(&Self::MISSING))
    }

    /// The complete rows.
    pub fn complete(&self) -> Observations {
        let whole = |i: &usize| self.codes.iter().all(|column| column[*i] != Self::MISSING);
        let rows: Vec<usize> = (0..self.n_rows()).filter(whole).collect();
        Observations {
            variables: self.variables.clone(),
            codes: self.codes.iter().map(|c| rows.iter().map(|i| c[*i]).collect()).collect(),
            weights: rows.iter().map(|i| self.weights[*i]).collect(),
        }
    }

    /// Duplicate rows merged into one with the sum of their weights, in the order of their codes.
    pub fn distinct(&self) -> Observations {
        let mut sums: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for (i, weight) in self.weights.iter().enumerate() {
            let row = self.codes.iter().map(|column| column[i]).collect();
            *sums.entry(row).or_default() += weight;
        }
        let mut codes = vec![Vec::with_capacity(sums.len()); self.codes.len()];
        for row in sums.keys() {
            codes.iter_mut().zip(row).for_each(|(column, code)| column.push(*code));
        }
        Observations {
            variables: self.variables.clone(),
            codes,
            weights: sums.into_values().collect(),
        }
    }
}

/// The states of a column in order, and the code of every row.
fn states_of(name: &str, values: &Values, n_rows: usize) -> Result<(Vec<String>, Vec<u32>)> {
    let refuse = |found: String| {
        Err(Error::Kind {
            column: name.to_owned(),
            found,
            expected: "a categorical, boolean or numeric column with few distinct values".into(),
        })
    };
    match values {
        Values::Categorical { codes, levels } => {
            let known =
                |c: &u32| if (*c as usize) < levels.len() { *c } else { Observations::MISSING };
            Ok((levels.names().to_vec(), codes.iter().map(known).collect()))
        }
        Values::Boolean(values) => {
            let code = |b: &Option<bool>| b.map_or(Observations::MISSING, u32::from);
            Ok((vec!["false".into(), "true".into()], values.iter().map(code).collect()))
        }
        Values::Numeric(values) => {
            let mut distinct: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            if distinct.len() > MOST_NUMBERS {
                return refuse(format!("numeric with {} distinct values", distinct.len()));
            }
            let code = |x: &f64| distinct.iter().position(|y| x == y);
            let codes = values.iter().map(|x| code(x).map_or(Observations::MISSING, |c| c as u32));
            Ok((distinct.iter().map(f64::to_string).collect(), codes.collect()))
        }
        Values::Text(_) | Values::TokenCounts(_) => {
            refuse(format!("{} of {n_rows} rows", Kind::Text))
        }
        Values::Sparse(_) => refuse(Kind::Sparse.to_string()),
    }
}
