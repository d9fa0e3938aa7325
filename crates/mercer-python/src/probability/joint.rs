//! Tables over discrete variables.

use super::{told, word};
use crate::error::raised;
use mercer::data::{Column, Levels, MISSING, Table, Values};
use mercer::probability::{self as core, Event, Variable};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// A table over discrete variables: one cell for every combination of values.
///
/// Parameters
/// ----------
/// variables : dict of str to list
///     The variables and the values each takes.
/// cells : array-like
///     Counts, or probabilities that add up to one; the last variable's values side by side.
/// kind : {"counts", "probabilities"}
///     What the cells are.
///
/// Examples
/// --------
/// >>> from mercer.probability import JointTable
/// >>> table = JointTable(
/// ...     {"temp": ["hot", "cold"], "weather": ["sunny", "cloudy", "rainy"]},
/// ...     [150, 40, 5, 50, 60, 60],
/// ... )
/// >>> table.fraction({"temp": "hot"})
/// (195, 365)
#[pyclass(frozen, module = "mercer._mercer")]
pub struct JointTable(core::JointTable);

#[pymethods]
impl JointTable {
    #[new]
    #[pyo3(signature = (variables, cells, kind="counts"))]
    fn new(variables: &Bound<'_, PyDict>, cells: Vec<f64>, kind: &str) -> PyResult<JointTable> {
        let mut read = Vec::new();
        for (name, values) in variables {
            let values =
                values.try_iter()?.map(|v| word(&v?)).collect::<PyResult<Vec<String>>>()?;
            read.push(Variable::new(word(&name)?, values));
        }
        match kind {
            "counts" => core::JointTable::from_counts(read, cells),
            "probabilities" => core::JointTable::from_probabilities(read, cells),
            _ => {
                let why = format!("kind is {kind:?}; it must be \"counts\" or \"probabilities\"");
                return Err(PyValueError::new_err(why));
            }
        }
        .map(JointTable)
        .map_err(raised)
    }

    /// Count rows given as columns; None is missing, and rows with a gap are left out.
    #[staticmethod]
    #[pyo3(signature = (columns, counts=None))]
    fn from_columns(columns: &Bound<'_, PyDict>, counts: Option<Vec<f64>>) -> PyResult<JointTable> {
        let mut read = Vec::new();
        for (name, values) in columns {
            let words = values
                .try_iter()?
                .map(|v| v.and_then(|v| if v.is_none() { Ok(None) } else { word(&v).map(Some) }))
                .collect::<PyResult<Vec<Option<String>>>>()?;
            let levels = Arc::new(Levels::new(words.iter().flatten().cloned().collect()));
            let codes =
                words.iter().map(|w| w.as_ref().map_or(MISSING, |w| levels.code(w))).collect();
            let values = Values::Categorical { codes, levels };
            read.push(Column { name: word(&name)?, values });
        }
        let asked: Vec<String> = read.iter().map(|c| c.name.clone()).collect();
        // A name that no column of Python's can have taken.
        let weight = "\0counts";
        let weighted = counts.is_some();
        if let Some(counts) = counts {
            read.push(Column { name: weight.into(), values: Values::Numeric(counts) });
        }
        let table = Table::new(read).map_err(raised)?;
        core::JointTable::from_table(&table, &names(&asked), weighted.then_some(weight))
            .map(|(table, _)| JointTable(table))
            .map_err(raised)
    }

    /// The variables and their values.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for v in self.0.variables() {
            all.set_item(&v.name, &v.values)?;
        }
        Ok(all)
    }

    /// The cells, the last variable's values side by side.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.cells().to_vec().into_pyarray(py)
    }

    /// What the cells add up to.
    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }

    /// P(what), or P(what | given), as a number.
    #[pyo3(signature = (what, given=None))]
    fn probability(
        &self,
        what: &Bound<'_, PyDict>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<f64> {
        let share = self.0.conditional(&event(Some(what))?, &event(given)?).map_err(raised)?;
        Ok(share.value())
    }

    /// The same as numerator and denominator, where the cells are whole counts; else None.
    #[pyo3(signature = (what, given=None))]
    fn fraction(
        &self,
        what: &Bound<'_, PyDict>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<(u64, u64)>> {
        let share = self.0.conditional(&event(Some(what))?, &event(given)?).map_err(raised)?;
        Ok(share.counts())
    }

    /// The table of some variables, the others summed out.
    #[pyo3(signature = (*variables))]
    fn marginal(&self, variables: Vec<String>) -> PyResult<JointTable> {
        self.0.marginal(&names(&variables)).map(JointTable).map_err(raised)
    }

    /// The table among the cases where something happened.
    fn given(&self, what: &Bound<'_, PyDict>) -> PyResult<JointTable> {
        self.0.given(&event(Some(what))?).map(JointTable).map_err(raised)
    }

    /// The factors of P(A) P(B | A) ... for the parts of an event, in order.
    fn chain_rule<'py>(&self, what: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        told(what.py(), &self.0.chain_rule(&event(Some(what))?).map_err(raised)?)
    }

    /// The terms of sum P(what | by = b) P(by = b).
    fn total_probability<'py>(
        &self,
        what: &Bound<'py, PyDict>,
        by: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(what.py(), &self.0.total_probability(&event(Some(what))?, by).map_err(raised)?)
    }

    /// The mean of a variable whose values are numbers.
    fn expectation(&self, variable: &str) -> PyResult<f64> {
        self.0.expectation(variable).map_err(raised)
    }

    /// The variance of a variable whose values are numbers.
    fn variance(&self, variable: &str) -> PyResult<f64> {
        self.0.variance(variable).map_err(raised)
    }

    /// The covariance of two variables whose values are numbers.
    fn covariance(&self, a: &str, b: &str) -> PyResult<f64> {
        self.0.covariance(a, b).map_err(raised)
    }

    /// The entropy of some variables together, in bits.
    #[pyo3(signature = (*variables))]
    fn entropy(&self, variables: Vec<String>) -> PyResult<f64> {
        self.0.entropy(&names(&variables)).map_err(raised)
    }

    /// What one variable tells about another, given any others, in bits.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn mutual_information(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<f64> {
        self.0.mutual_information(a, b, &names(&given)).map_err(raised)
    }

    /// Whether two variables are independent, given any others, up to rounding.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn independent(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<bool> {
        self.0.independent(a, b, &names(&given)).map_err(raised)
    }

    /// The G and chi-squared tests of independence, given any others.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn test_independence<'py>(
        &self,
        py: Python<'py>,
        a: &str,
        b: &str,
        given: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.test_independence(a, b, &names(&given)).map_err(raised)?)
    }

    /// How many numbers the table needs, and would need if all variables were independent.
    fn free_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        told(py, &self.0.free_parameters())
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.0.variables().iter().map(|v| v.name.as_str()).collect();
        format!("JointTable({}; total {})", names.join(", "), self.0.total())
    }
}

/// What a dictionary says happened: a value, or a list of values, for each variable.
fn event(said: Option<&Bound<'_, PyDict>>) -> PyResult<Event> {
    let mut event = Event::certain();
    for (name, value) in said.into_iter().flatten() {
        let values: Vec<String> =
            if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
                value.try_iter()?.map(|v| word(&v?)).collect::<PyResult<_>>()?
            } else {
                vec![word(&value)?]
            };
        event = event.and(&Event::one_of(word(&name)?, values));
    }
    Ok(event)
}

fn names(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}
