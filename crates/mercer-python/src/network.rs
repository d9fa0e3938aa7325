//! Bayesian networks for Python, with variables and states given by name.

use crate::error::raised;
use crate::fitted::attributes::certificate;
use crate::work;
use mercer::Result;
use mercer::model::Monitor;
use mercer::probability::network::bif::{from_bif, to_bif};
use mercer::probability::network::inference::{
    JunctionTree, Posterior, Query, most_probable_explanation,
};
use mercer::probability::network::learn::{
    HillClimb, Learner, Observations, ParameterLearning, Score, StructureLearning,
};
use mercer::probability::network::{
    Evidence, Network, Separation, Variable, d_separation, to_dot, to_svg,
};
use mercer_num::random::Random;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The number of table cells up to which a query runs on the calling thread: under a millisecond.
const MAX_INLINE_CELLS: f64 = 65_536.0;

/// Evidence: the observed states by the names of their variables.
type NamedEvidence = BTreeMap<String, String>;
/// A column: its name, its states, and the code of the state of each row; `2³² − 1` is a missing value.
type Column<'py> = (String, Vec<String>, PyReadonlyArray1<'py, u32>);

/// A discrete Bayesian network; immutable.
#[pyclass(frozen, name = "Network", module = "mercer._mercer")]
pub struct PyNetwork {
    network: Network,
}

fn monitor(seconds: Option<f64>, cancel: &Arc<AtomicBool>) -> Result<Monitor<'static>> {
    let monitor = Monitor::quiet().cancelled_by(Arc::clone(cancel));
    Ok(match seconds.map(Duration::try_from_secs_f64) {
        Some(Ok(limit)) => monitor.time_limit(limit),
        _ => monitor,
    })
}

fn by_index(network: &Network, evidence: &NamedEvidence) -> Result<Evidence> {
    network.evidence(evidence.iter().map(|(name, state)| (name.as_str(), state.as_str())))
}

fn observations(columns: &[Column<'_>]) -> Result<Observations> {
    let variables = columns
        .iter()
        .map(|(name, states, _)| Variable { name: name.clone(), states: states.clone() })
        .collect();
    let codes = columns.iter().map(|(_, _, codes)| codes.as_array().to_vec()).collect();
    Observations::new(variables, codes)
}

#[pymethods]
impl PyNetwork {
    /// A network from its variables `(name, states)`, the names of their parents, and their tables in row order.
    #[new]
    fn new(
        name: String,
        variables: Vec<(String, Vec<String>)>,
        parents: Vec<Vec<String>>,
        tables: Vec<Vec<f64>>,
    ) -> PyResult<PyNetwork> {
        let mut builder = Network::builder(name);
        if parents.len() != variables.len() || tables.len() != variables.len() {
            return Err(PyValueError::new_err(
                "every variable needs a list of parents and a table",
            ));
        }
        for ((name, states), (parents, table)) in
            variables.into_iter().zip(parents.iter().zip(&tables))
        {
            builder = builder.variable(name.clone(), states).table(
                name,
                parents.iter().map(String::as_str),
                table,
            );
        }
        Ok(PyNetwork { network: builder.build().map_err(raised)? })
    }

    /// Parses BIF text.
    #[staticmethod]
    fn from_bif(text: &str) -> PyResult<PyNetwork> {
        Ok(PyNetwork { network: from_bif(text).map_err(raised)? })
    }

    /// The network as BIF text.
    fn to_bif(&self) -> String {
        to_bif(&self.network)
    }

    #[getter]
    fn name(&self) -> &str {
        self.network.name()
    }

    /// The names and states of the variables.
    #[getter]
    fn variables(&self) -> Vec<(String, Vec<String>)> {
        self.network.variables().iter().map(|v| (v.name.clone(), v.states.clone())).collect()
    }

    #[getter]
    fn n_free_parameters(&self) -> usize {
        self.network.n_free_parameters()
    }

    /// The names of a variable's parents.
    fn parents(&self, name: &str) -> PyResult<Vec<String>> {
        let v = self.network.variable(name).map_err(raised)?;
        let parents = self.network.parents(v).iter();
        Ok(parents.map(|p| self.network.variables()[*p].name.clone()).collect())
    }

    /// The conditional probability table of a variable: one row per configuration of the parents.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let v = self.network.variable(name).map_err(raised)?;
        let shape = (self.network.n_rows(v), self.network.size(v));
        let table = ndarray::Array2::from_shape_vec(shape, self.network.table(v).to_vec());
        let table = table.map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(table.into_pyarray(py))
    }

    /// The joint posterior of some variables: its shape, the probabilities, and log P(evidence).
    fn query<'py>(
        &self,
        py: Python<'py>,
        of: Vec<String>,
        evidence: NamedEvidence,
    ) -> PyResult<(Vec<usize>, Bound<'py, PyArray1<f64>>, f64)> {
        let of = of.iter().map(|name| self.network.variable(name)).collect::<Result<Vec<_>>>();
        let plan = of
            .and_then(|of| Query::plan(&self.network, &of, &by_index(&self.network, &evidence)?))
            .map_err(raised)?;
        // For a small query, the hand-over to another thread would take longer than the query.
        let posterior = if plan.n_cells() < MAX_INLINE_CELLS {
            plan.run(&Monitor::quiet()).map_err(raised)?
        } else {
            work::run(py, |cancel| plan.run(&monitor(None, cancel)?))?
        };
        let Posterior { sizes, probabilities, log_evidence, .. } = posterior;
        Ok((sizes, probabilities.into_pyarray(py), log_evidence))
    }

    /// The posterior marginal of every variable, and log P(evidence).
    fn marginals(&self, py: Python<'_>, evidence: NamedEvidence) -> PyResult<(Vec<Vec<f64>>, f64)> {
        work::run(py, |cancel| {
            let tree = JunctionTree::new(&self.network, &monitor(None, cancel)?)?;
            let calibrated = tree.calibrate(&by_index(&self.network, &evidence)?)?;
            Ok((calibrated.marginals(), calibrated.log_evidence()))
        })
    }

    /// The most probable explanation: the states of all variables, and their log-probability.
    fn mpe(&self, py: Python<'_>, evidence: NamedEvidence) -> PyResult<(Vec<usize>, f64)> {
        work::run(py, |cancel| {
            let evidence = by_index(&self.network, &evidence)?;
            let monitor = monitor(None, cancel)?;
            let best = most_probable_explanation(&self.network, &evidence, &monitor)?;
            Ok((best.states, best.log_probability))
        })
    }

    /// Whether two variables are d-separated, and an active path if not.
    fn d_separated(&self, a: &str, b: &str, given: Vec<String>) -> PyResult<(bool, Vec<String>)> {
        let index = |name: &str| self.network.variable(name);
        let separation = (|| {
            let given = given.iter().map(|name| index(name)).collect::<Result<Vec<_>>>()?;
            d_separation(&self.network, index(a)?, index(b)?, &given)
        })();
        Ok(match separation.map_err(raised)? {
            Separation::Separated { .. } => (true, Vec::new()),
            Separation::Connected { path } => {
                let name = |v: &usize| self.network.variables()[*v].name.clone();
                (false, path.iter().map(name).collect())
            }
        })
    }

    /// Draws rows of state codes, one column per variable.
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> Bound<'py, PyArray2<u32>> {
        let draws = self.network.sample(n, &mut Random::new(seed));
        let shape = (n, self.network.len());
        ndarray::Array2::from_shape_fn(shape, |(i, v)| draws[i][v] as u32).into_pyarray(py)
    }

    /// A drawing in the format `svg`, with the posterior marginals, or `dot`.
    fn draw(&self, py: Python<'_>, format: &str, evidence: NamedEvidence) -> PyResult<String> {
        match format {
            "dot" => Ok(to_dot(&self.network)),
            "svg" => work::run(py, |cancel| {
                let evidence = by_index(&self.network, &evidence)?;
                let tree = JunctionTree::new(&self.network, &monitor(None, cancel)?)?;
                Ok(to_svg(&self.network, &tree.calibrate(&evidence)?.marginals(), &evidence))
            }),
            _ => Err(PyValueError::new_err("the file name must end in `.svg` or `.dot`")),
        }
    }
}

/// Learns a network from columns. `structure` is `chow-liu`, `tan`, `naive`, `search` or `given`; the last uses
/// `parents`, one list of column indices per column. Returns the network, the certificates of its tables and of
/// the search, and the objective of each iteration.
#[pyfunction]
#[pyo3(signature = (columns, structure, target=None, parents=None, score="bic", sample_size=10.0, max_parents=4, tabu=0, alpha=1.0, tolerance=1e-9, max_iterations=1000, seed=0, seconds=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes the arguments of a fit one by one")]
#[expect(clippy::type_complexity, reason = "the parts of the result, as a tuple for Python")]
pub fn learn_network<'py>(
    py: Python<'py>,
    columns: Vec<Column<'py>>,
    structure: &str,
    target: Option<usize>,
    parents: Option<Vec<Vec<usize>>>,
    score: &str,
    sample_size: f64,
    max_parents: usize,
    tabu: usize,
    alpha: f64,
    tolerance: f64,
    max_iterations: usize,
    seed: u64,
    seconds: Option<f64>,
) -> PyResult<(PyNetwork, Bound<'py, PyDict>, Option<Bound<'py, PyDict>>, Vec<f64>)> {
    let score = match score {
        "bic" => Score::Bic,
        "bdeu" => Score::Bdeu { sample_size },
        _ => return Err(PyValueError::new_err("score must be `bic` or `bdeu`")),
    };
    let class = || {
        target.ok_or_else(|| {
            PyValueError::new_err("target is None; pass the name of the class column")
        })
    };
    let structure = match structure {
        "given" => StructureLearning::Given(parents.unwrap_or_default()),
        "chow-liu" => StructureLearning::ChowLiu { root: target.unwrap_or(0) },
        "tan" => StructureLearning::TreeAugmented { class: class()? },
        "naive" => StructureLearning::Naive { class: class()? },
        "search" => StructureLearning::Search(HillClimb {
            score,
            max_parents,
            tabu,
            class: target,
            ..HillClimb::default()
        }),
        _ => {
            let why = "structure must be `chow-liu`, `tan`, `naive` or `search`";
            return Err(PyValueError::new_err(why));
        }
    };
    let data = observations(&columns).map_err(raised)?;
    let learner = Learner {
        structure,
        parameters: ParameterLearning { alpha, tolerance, max_rounds: max_iterations, seed },
    };
    let learned = work::run(py, |cancel| learner.learn(&data, &monitor(seconds, cancel)?))?;
    let tables = certificate(py, &learned.fitted.certificate)?;
    let search = learned.search.as_ref().map(|search| certificate(py, search)).transpose()?;
    Ok((PyNetwork { network: learned.fitted.model }, tables, search, learned.trace))
}
