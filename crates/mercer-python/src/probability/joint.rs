//! Joint distributions of discrete variables.

use super::{dictionary, string};
use crate::error::raised;
use mercer::data::{Column, Levels, MISSING, Table, Values};
use mercer::probability::joint::Cells;
use mercer::probability::{self as core, Event, Variable};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// A joint distribution of discrete variables: one cell for every combination of values.
///
/// Parameters
/// ----------
/// variables : dict of str to list
///     The variables and the values each takes.
/// cells : array-like
///     Counts, or probabilities that add up to one; the last variable varies fastest.
/// kind : {"counts", "probabilities"}
///     Whether the cells are counts or probabilities.
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
                values.try_iter()?.map(|v| string(&v?)).collect::<PyResult<Vec<String>>>()?;
            read.push(Variable::new(string(&name)?, values));
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

    /// Counts the rows of a dictionary of columns; rows with a missing value (`None`) are left out.
    #[staticmethod]
    #[pyo3(signature = (columns, counts=None))]
    fn from_columns(columns: &Bound<'_, PyDict>, counts: Option<Vec<f64>>) -> PyResult<JointTable> {
        let mut read = Vec::new();
        for (name, values) in columns {
            let strings = values
                .try_iter()?
                .map(|v| v.and_then(|v| if v.is_none() { Ok(None) } else { string(&v).map(Some) }))
                .collect::<PyResult<Vec<Option<String>>>>()?;
            let levels = Arc::new(Levels::new(strings.iter().flatten().cloned().collect()));
            let codes =
                strings.iter().map(|s| s.as_ref().map_or(MISSING, |s| levels.code(s))).collect();
            let values = Values::Categorical { codes, levels };
            read.push(Column { name: string(&name)?, values });
        }
        let variables: Vec<String> = read.iter().map(|c| c.name.clone()).collect();
        // A name that no column has.
        let weight = "\0counts";
        let weighted = counts.is_some();
        if let Some(counts) = counts {
            read.push(Column { name: weight.into(), values: Values::Numeric(counts) });
        }
        let table = Table::new(read).map_err(raised)?;
        core::JointTable::from_table(&table, &names(&variables), weighted.then_some(weight))
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

    /// The cells; the last variable varies fastest.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.cells().to_vec().into_pyarray(py)
    }

    /// The sum of the cells.
    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }

    /// P(what), or P(what | given).
    ///
    /// An event is a dictionary of values (a list means one of several; several variables mean all of them) or an
    /// expression: `"temp=hot or not weather=sunny"`, `"roll=1|3|5"`, `"die1+die2<=4"`.
    #[pyo3(signature = (what, given=None))]
    fn probability(
        &self,
        what: &Bound<'_, PyAny>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<f64> {
        let probability =
            self.0.conditional(&event(Some(what))?, &event(given)?).map_err(raised)?;
        Ok(probability.value())
    }

    /// The same as numerator and denominator if the cells are integer counts, else `None`.
    #[pyo3(signature = (what, given=None))]
    fn fraction(
        &self,
        what: &Bound<'_, PyAny>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<(u64, u64)>> {
        let probability =
            self.0.conditional(&event(Some(what))?, &event(given)?).map_err(raised)?;
        Ok(probability.counts())
    }

    /// The marginal distribution of some variables.
    #[pyo3(signature = (*variables))]
    fn marginal(&self, variables: Vec<String>) -> PyResult<JointTable> {
        self.0.marginal(&names(&variables)).map(JointTable).map_err(raised)
    }

    /// The conditional distribution given an event.
    fn given(&self, what: &Bound<'_, PyAny>) -> PyResult<JointTable> {
        self.0.given(&event(Some(what))?).map(JointTable).map_err(raised)
    }

    /// The factors of P(A) P(B | A) ... for the parts of an event, in order.
    fn chain_rule<'py>(&self, what: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        dictionary(what.py(), &self.0.chain_rule(&event(Some(what))?).map_err(raised)?)
    }

    /// The terms of sum P(what | by = b) P(by = b).
    fn total_probability<'py>(
        &self,
        what: &Bound<'py, PyAny>,
        by: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(what.py(), &self.0.total_probability(&event(Some(what))?, by).map_err(raised)?)
    }

    /// E[variable], or E[variable | given]. With `exact=True` a `fractions.Fraction`, which integer counts and values
    /// have.
    #[pyo3(signature = (variable, given=None, *, exact=false))]
    fn expectation<'py>(
        &self,
        py: Python<'py>,
        variable: &str,
        given: Option<&Bound<'py, PyAny>>,
        exact: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.restricted(given)?.expectation(variable).map_err(raised)?, exact)
    }

    /// The variance of a numeric variable, given an event if there is one.
    #[pyo3(signature = (variable, given=None, *, exact=false))]
    fn variance<'py>(
        &self,
        py: Python<'py>,
        variable: &str,
        given: Option<&Bound<'py, PyAny>>,
        exact: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.restricted(given)?.variance(variable).map_err(raised)?, exact)
    }

    /// The covariance of two numeric variables, given an event if there is one.
    #[pyo3(signature = (a, b, given=None, *, exact=false))]
    fn covariance<'py>(
        &self,
        py: Python<'py>,
        a: &str,
        b: &str,
        given: Option<&Bound<'py, PyAny>>,
        exact: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.restricted(given)?.covariance(a, b).map_err(raised)?, exact)
    }

    /// The correlation coefficient of two numeric variables; `None` if a variance is zero.
    #[pyo3(signature = (a, b, given=None))]
    fn correlation(
        &self,
        a: &str,
        b: &str,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<f64>> {
        self.restricted(given)?.correlation(a, b).map_err(raised)
    }

    /// The terms of sum E[variable | by = b] P(by = b).
    fn total_expectation<'py>(
        &self,
        py: Python<'py>,
        variable: &str,
        by: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.total_expectation(variable, by).map_err(raised)?)
    }

    /// The joint entropy of some variables, in bits.
    #[pyo3(signature = (*variables))]
    fn entropy(&self, variables: Vec<String>) -> PyResult<f64> {
        self.0.entropy(&names(&variables)).map_err(raised)
    }

    /// The mutual information of two variables, given any others, in bits.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn mutual_information(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<f64> {
        self.0.mutual_information(a, b, &names(&given)).map_err(raised)
    }

    /// Whether two variables are independent, given any others, up to rounding.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn independent(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<bool> {
        self.0.independent(a, b, &names(&given)).map_err(raised)
    }

    /// The G and chi-squared tests of independence, given any others. A table of probabilities needs the number of
    /// observations behind it, `sample_size`.
    #[pyo3(signature = (a, b, given=Vec::new(), sample_size=None))]
    fn test_independence<'py>(
        &self,
        py: Python<'py>,
        a: &str,
        b: &str,
        given: Vec<String>,
        sample_size: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sized = match (sample_size, self.0.kind()) {
            (Some(_), Cells::Counts) => {
                let why = "sample_size is for a table of probabilities; this one has counts";
                return Err(PyValueError::new_err(why));
            }
            (Some(n), Cells::Probabilities) => Some(self.0.with_sample_size(n).map_err(raised)?),
            (None, _) => None,
        };
        let table = sized.as_ref().unwrap_or(&self.0);
        dictionary(py, &table.test_independence(a, b, &names(&given)).map_err(raised)?)
    }

    /// The free parameters of two variables, given any others: k² - 1 of their joint distribution, 2k - 2 under
    /// independence.
    #[pyo3(signature = (a, b, given=Vec::new()))]
    fn pair_parameters<'py>(
        &self,
        py: Python<'py>,
        a: &str,
        b: &str,
        given: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.pair_parameters(a, b, &names(&given)).map_err(raised)?)
    }

    /// The number of free parameters of the joint distribution, and of one with independent variables.
    fn free_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.0.free_parameters())
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.0.variables().iter().map(|v| v.name.as_str()).collect();
        format!("JointTable({}; total {})", names.join(", "), self.0.total())
    }
}

impl JointTable {
    fn restricted(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<core::JointTable> {
        self.0.restricted(&event(given)?).map_err(raised)
    }
}

/// A moment as a float, or as an exact `fractions.Fraction`.
fn number(py: Python<'_>, value: core::Fraction, exact: bool) -> PyResult<Bound<'_, PyAny>> {
    if !exact {
        return Ok(value.value().into_pyobject(py)?.into_any());
    }
    let integers = value.integers().ok_or_else(|| {
        PyValueError::new_err("exact=True needs a table of integer counts and integer values")
    })?;
    py.import("fractions")?.getattr("Fraction")?.call1(integers)
}

/// The event of a dictionary, with a value or a list of values for each variable, or of an expression.
fn event(given: Option<&Bound<'_, PyAny>>) -> PyResult<Event> {
    let Some(given) = given else { return Ok(Event::certain()) };
    if let Ok(text) = given.extract::<String>() {
        return Event::parse(&text).map_err(raised);
    }
    let values_of = given.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err(
            "an event is a dictionary such as {\"temp\": \"hot\"}, or a string such as \"temp=hot\"",
        )
    })?;
    let mut event = Event::certain();
    for (name, value) in values_of {
        let values: Vec<String> =
            if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
                value.try_iter()?.map(|v| string(&v?)).collect::<PyResult<_>>()?
            } else {
                vec![string(&value)?]
            };
        event = event.and(&Event::one_of(string(&name)?, values));
    }
    Ok(event)
}

fn names(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}
