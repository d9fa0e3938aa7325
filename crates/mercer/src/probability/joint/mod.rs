//! Joint distributions of discrete variables as tables with one cell per configuration.
//!
//! Marginals, conditionals, the chain rule and the law of total probability are sums over cells. A cell holds a count
//! or a probability; counts are preserved, so that a result is a fraction of counts.

mod event;
mod independence;
mod information;
mod moments;
mod rules;

pub use event::{Condition, Event, Relation};
pub use independence::{FreeParameters, Independence, PairParameters};
pub use moments::{ExpectationTerm, TotalExpectation};
pub use rules::{Chain, ChainStep, Total, TotalTerm};

use super::{Fraction, check_count, check_names};
use crate::data::{Kind, Table, Values};
use crate::error::{Error, Result};
use event::Test;
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of cells.
const MOST_CELLS: usize = 1 << 24;

/// A random variable and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its values in order.
    pub values: Vec<String>,
}

impl Variable {
    /// A variable with a name and values.
    pub fn new<V: Into<String>>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Variable {
        Variable { name: name.into(), values: values.into_iter().map(Into::into).collect() }
    }
}

/// The kind of the cells of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cells {
    /// Counts: the sample size is known, as tests need it.
    Counts,
    /// Probabilities.
    Probabilities,
}

/// A table over discrete variables, in row-major order: the last variable varies fastest.
///
/// ```
/// use mercer::probability::{Event, JointTable, Variable};
///
/// let weather = JointTable::from_counts(
///     vec![
///         Variable::new("temp", ["hot", "cold"]),
///         Variable::new("weather", ["sunny", "cloudy", "rainy"]),
///     ],
///     vec![150.0, 40.0, 5.0, 50.0, 60.0, 60.0],
/// )?;
///
/// assert_eq!(weather.probability(&Event::is("temp", "hot"))?.counts(), Some((195, 365)));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointTable {
    variables: Vec<Variable>,
    cells: Vec<f64>,
    kind: Cells,
    total: f64,
}

impl JointTable {
    /// A table of counts, which need not be integers.
    ///
    /// # Errors
    /// If a name or value is repeated, the number of cells is wrong, or a cell is negative.
    pub fn from_counts(variables: Vec<Variable>, counts: Vec<f64>) -> Result<JointTable> {
        JointTable::new(variables, counts, Cells::Counts)
    }

    /// A table of probabilities that sum to one.
    ///
    /// # Errors
    /// As [`JointTable::from_counts`], and if they do not.
    pub fn from_probabilities(variables: Vec<Variable>, cells: Vec<f64>) -> Result<JointTable> {
        JointTable::new(variables, cells, Cells::Probabilities)
    }

    fn new(variables: Vec<Variable>, cells: Vec<f64>, kind: Cells) -> Result<JointTable> {
        let names: Vec<String> = variables.iter().map(|v| v.name.clone()).collect();
        check_names("variables", &names)?;
        for v in &variables {
            check_names(&format!("values of {}", v.name), &v.values)?;
        }
        let n_cells = n_cells(&variables)?;
        if cells.len() != n_cells {
            return Err(Error::Length {
                what: format!("the table of {}", names.join(", ")),
                found: cells.len(),
                expected: n_cells,
            });
        }
        let table = JointTable { total: cells.iter().sum(), variables, cells, kind };
        for (k, value) in table.cells.iter().enumerate() {
            check_count(|| format!("the cell {}", table.cell_name(k)), *value)?;
        }
        if table.total <= 0.0 || !table.total.is_finite() {
            return Err(Error::Number {
                what: format!("the sum of the table of {}", names.join(", ")),
                value: table.total,
                expected: "finite and above 0".into(),
            });
        }
        if kind == Cells::Probabilities && (table.total - 1.0).abs() > super::SUM_TOLERANCE {
            let what = format!("the cells of the table of {}", names.join(", "));
            return Err(Error::NotOne { what, sum: table.total });
        }
        Ok(table)
    }

    /// Counts the rows of a table by categorical and boolean columns, or by numeric columns with few distinct integers.
    /// With `counts`, that column has the count of each row; if its values are not all integers and sum to one, they
    /// are probabilities. Rows with a missing value in one of the columns are left out; the second result is their
    /// number.
    ///
    /// # Errors
    /// If a column is missing, is text, or a count is negative.
    pub fn from_table(
        table: &Table,
        columns: &[&str],
        counts: Option<&str>,
    ) -> Result<(JointTable, usize)> {
        let column = |name: &str| {
            table.column(name).ok_or_else(|| Error::MissingColumn { name: name.to_owned() })
        };
        let read = columns
            .iter()
            .map(|name| coded(name, &column(name)?.values))
            .collect::<Result<Vec<_>>>()?;
        let variables: Vec<Variable> = read
            .iter()
            .zip(columns)
            .map(|((values, _), name)| Variable::new(*name, values.iter().cloned()))
            .collect();
        if variables.iter().any(|v| v.values.is_empty()) {
            return Err(Error::NoRows);
        }
        let counts = counts.map(|name| numbers(name, &column(name)?.values)).transpose()?;
        let mut cells = vec![0.0; n_cells(&variables)?];
        let mut n_skipped = 0;
        for i in 0..table.n_rows() {
            let count = counts.map_or(1.0, |counts| counts[i]);
            let index = read.iter().try_fold(0, |index, (values, codes)| {
                codes[i].map(|code| index * values.len() + code)
            });
            match index {
                Some(index) if !count.is_nan() => {
                    check_count(|| format!("the count in row {}", i + 1), count)?;
                    cells[index] += count;
                }
                _ => n_skipped += 1,
            }
        }
        let sum: f64 = cells.iter().sum();
        let kind = match counts.is_some_and(|counts| counts.iter().any(|n| n.fract() != 0.0)) {
            true if (sum - 1.0).abs() <= super::SUM_TOLERANCE => Cells::Probabilities,
            _ => Cells::Counts,
        };
        Ok((JointTable::new(variables, cells, kind)?, n_skipped))
    }

    /// The variables in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The cells in row-major order.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Whether the cells are counts or probabilities.
    pub fn kind(&self) -> Cells {
        self.kind
    }

    /// The sum of the cells: the total count, or one.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// A cell's probability.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn probability_of_cell(&self, cell: usize) -> Fraction {
        self.part(self.cells[cell], self.total)
    }

    /// `P(event)`.
    ///
    /// # Errors
    /// If the event has a variable or value that the table does not have.
    pub fn probability(&self, event: &Event) -> Result<Fraction> {
        Ok(self.part(self.weight(event)?, self.total))
    }

    /// `P(event | given) = P(event, given) / P(given)`.
    ///
    /// # Errors
    /// As [`JointTable::probability`], and if the condition has probability zero.
    pub fn conditional(&self, event: &Event, given: &Event) -> Result<Fraction> {
        let whole = self.weight(given)?;
        if whole <= 0.0 {
            return Err(Error::Impossible { what: given.to_string() });
        }
        Ok(self.part(self.weight(&event.clone().and(given))?, whole))
    }

    /// The marginal table of some variables, in the given order.
    ///
    /// # Errors
    /// If a variable is unknown or repeated.
    pub fn marginal(&self, names: &[&str]) -> Result<JointTable> {
        let indices = self.indices(names)?;
        let variables: Vec<Variable> = indices.iter().map(|p| self.variables[*p].clone()).collect();
        let mut cells = vec![0.0; n_cells(&variables)?];
        for (k, value) in self.cells.iter().enumerate() {
            let codes = self.codes(k);
            let index = indices
                .iter()
                .fold(0, |index, p| index * self.variables[*p].values.len() + codes[*p]);
            cells[index] += value;
        }
        Ok(JointTable { variables, cells, kind: self.kind, total: self.total })
    }

    /// The conditional table given an event: cells outside it are zero, and variables that the event fixes to one value
    /// are left out.
    ///
    /// # Errors
    /// As [`JointTable::conditional`], and if the event fixes every variable.
    pub fn given(&self, event: &Event) -> Result<JointTable> {
        let fixed = |variable: &Variable| {
            event.conditions().iter().any(|condition| {
                matches!(condition, Condition::OneOf { variable: name, values }
                    if *name == variable.name && values.len() == 1 && variable.values.contains(&values[0]))
            })
        };
        let free: Vec<&str> =
            (self.variables.iter()).filter(|v| !fixed(v)).map(|v| v.name.as_str()).collect();
        let whole = self.restricted(event)?;
        if free.is_empty() {
            return Err(Error::Parameter {
                name: "given".into(),
                found: format!("`{event}`, which fixes every variable"),
                expected: "a condition that leaves at least one variable free".into(),
            });
        }
        whole.marginal(&free)
    }

    /// The conditional table given an event, with all variables: cells outside the event are zero.
    ///
    /// # Errors
    /// As [`JointTable::conditional`].
    pub fn restricted(&self, event: &Event) -> Result<JointTable> {
        let inside = self.inside(event)?;
        let cells: Vec<f64> =
            self.cells.iter().zip(&inside).map(|(v, keep)| if *keep { *v } else { 0.0 }).collect();
        let total: f64 = cells.iter().sum();
        if total <= 0.0 {
            return Err(Error::Impossible { what: event.to_string() });
        }
        Ok(JointTable { variables: self.variables.clone(), cells, kind: self.kind, total })
    }

    /// The table of counts that is expected in a sample of this size: `n` times the probabilities.
    ///
    /// # Errors
    /// If the size is not positive.
    pub fn with_sample_size(&self, n: f64) -> Result<JointTable> {
        super::check_positive("the sample size", n)?;
        let cells = self.cells.iter().map(|v| v / self.total * n).collect();
        JointTable::from_counts(self.variables.clone(), cells)
    }

    /// `temp=hot, weather=rainy`.
    pub fn cell_name(&self, cell: usize) -> String {
        let parts: Vec<String> = (self.variables.iter().zip(self.codes(cell)))
            .map(|(v, code)| format!("{}={}", v.name, v.values[code]))
            .collect();
        parts.join(", ")
    }

    /// The index of each variable's value in a cell.
    pub fn codes(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell;
        let mut codes: Vec<usize> = (self.variables.iter().rev())
            .map(|v| {
                let code = rest % v.values.len();
                rest /= v.values.len();
                code
            })
            .collect();
        codes.reverse();
        codes
    }

    /// A variable by name.
    ///
    /// # Errors
    /// If there is none.
    pub fn variable(&self, name: &str) -> Result<&Variable> {
        Ok(&self.variables[self.index(name)?])
    }

    fn part(&self, part: f64, whole: f64) -> Fraction {
        match self.kind {
            Cells::Counts => Fraction::new(part, whole),
            // The probability of a condition is not a count, so it is not written as a denominator.
            Cells::Probabilities => Fraction::new(part / whole, 1.0),
        }
    }

    fn weight(&self, event: &Event) -> Result<f64> {
        let inside = self.inside(event)?;
        Ok(self.cells.iter().zip(&inside).filter(|(_, keep)| **keep).map(|(v, _)| v).sum())
    }

    /// Whether each cell belongs to an event.
    fn inside(&self, event: &Event) -> Result<Vec<bool>> {
        let tests = Test::of(event, self)?;
        Ok((0..self.cells.len())
            .map(|cell| {
                let codes = self.codes(cell);
                tests.iter().all(|test| test.passes(&codes))
            })
            .collect())
    }

    fn code(&self, index: usize, value: &str) -> Result<usize> {
        let variable = &self.variables[index];
        let same_number = || {
            let x: f64 = value.parse().ok()?;
            variable.values.iter().position(|v| v.parse() == Ok(x))
        };
        let named = variable.values.iter().position(|v| v == value);
        // `1` also names the value `1.0`.
        named.or_else(same_number).ok_or_else(|| Error::UnknownValue {
            variable: variable.name.clone(),
            value: value.to_owned(),
            known: listed(variable.values.iter()),
        })
    }

    fn index(&self, name: &str) -> Result<usize> {
        self.variables
            .iter()
            .position(|v| v.name == name)
            .ok_or_else(|| Error::UnknownVariable { name: name.to_owned(), known: self.names() })
    }

    fn indices(&self, names: &[&str]) -> Result<Vec<usize>> {
        let owned: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        check_names("variables", &owned)?;
        names.iter().map(|name| self.index(name)).collect()
    }

    fn names(&self) -> String {
        listed(self.variables.iter().map(|v| &v.name))
    }
}

/// `` `a`, `b` ``, the first few.
fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const MAX_NAMES_SHOWN: usize = 12;
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        n if n > MAX_NAMES_SHOWN => {
            format!("{}, … ({n} in all)", names[..MAX_NAMES_SHOWN].join(", "))
        }
        _ => names.join(", "),
    }
}

fn n_cells(variables: &[Variable]) -> Result<usize> {
    variables
        .iter()
        .try_fold(1usize, |n, v| n.checked_mul(v.values.len()).filter(|n| *n <= MOST_CELLS))
        .ok_or_else(|| Error::Memory {
            what: format!("a joint table of {} variables", variables.len()),
            needed: (variables.iter().map(|v| v.values.len() as f64).product::<f64>() * 8.0) as u64,
            budget: 8 * MOST_CELLS as u64,
            instead: "",
        })
}

/// The distinct values of a column in order, and the index of each row's value.
fn coded(name: &str, values: &Values) -> Result<(Vec<String>, Vec<Option<usize>>)> {
    match values {
        Values::Categorical { codes, levels } => Ok((
            levels.names().to_vec(),
            codes.iter().map(|c| Some(*c as usize).filter(|c| *c < levels.len())).collect(),
        )),
        Values::Boolean(rows) => Ok((
            vec!["false".into(), "true".into()],
            rows.iter().map(|b| b.map(usize::from)).collect(),
        )),
        // Numeric values are sorted; values with equal bits are equal.
        Values::Numeric(rows) => {
            let mut seen: BTreeMap<u64, f64> = BTreeMap::new();
            rows.iter().filter(|x| !x.is_nan()).for_each(|x| {
                seen.insert((x + 0.0).to_bits(), x + 0.0);
            });
            let mut order: Vec<f64> = seen.into_values().collect();
            order.sort_by(f64::total_cmp);
            if order.len() > 1000 {
                return Err(Error::Kind {
                    column: name.to_owned(),
                    found: format!("numeric with {} distinct values", order.len()),
                    expected: "a column with few distinct values".into(),
                });
            }
            let index = |x: &f64| order.binary_search_by(|o| o.total_cmp(&(x + 0.0))).ok();
            let codes = rows.iter().map(index).collect();
            Ok((order.iter().map(f64::to_string).collect(), codes))
        }
        Values::Text(_) | Values::TokenCounts(_) | Values::Sparse(_) => Err(Error::Kind {
            column: name.to_owned(),
            found: values.kind().to_string(),
            expected: "a categorical or boolean column".into(),
        }),
    }
}

fn numbers<'a>(name: &str, values: &'a Values) -> Result<&'a [f64]> {
    match values {
        Values::Numeric(numbers) => Ok(numbers),
        other => Err(Error::Kind {
            column: name.to_owned(),
            found: other.kind().to_string(),
            expected: Kind::Numeric.to_string(),
        }),
    }
}
