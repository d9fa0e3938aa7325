//! Variable elimination: one query by summing out all other variables (Zhang & Poole, 1994).
//!
//! Only ancestors of queried and observed variables matter. The evidence is fixed in every table before tables are
//! multiplied, then variables are summed out one by one.

use super::order::Elimination;
use super::semiring::{Log, Plain, Semiring};
use super::table::Table;
use super::{Posterior, check_indices, impossible, reserve};
use crate::error::{Error, Result};
use crate::model::Monitor;
use crate::probability::network::{Evidence, Network};

/// `P(of | evidence)` as one joint table over the queried variables in order, and `P(evidence)`.
///
/// # Errors
/// If an index is out of range or repeated, the evidence has probability zero, or intermediate tables exceed the memory
/// budget.
pub fn query(
    network: &Network,
    of: &[usize],
    evidence: &Evidence,
    monitor: &Monitor<'_>,
) -> Result<Posterior> {
    Query::plan(network, of, evidence)?.run(monitor)
}

/// A query with its elimination order, whose cost is known in advance.
#[derive(Debug)]
pub struct Query<'a> {
    network: &'a Network,
    of: Vec<usize>,
    evidence: Evidence,
    plan: EliminationOrder<'a>,
}

impl<'a> Query<'a> {
    /// Finds the elimination order.
    ///
    /// # Errors
    /// If an index is out of range or repeated.
    pub fn plan(network: &'a Network, of: &[usize], evidence: &Evidence) -> Result<Query<'a>> {
        check_indices(network, of, evidence)?;
        let requested: Vec<usize> =
            of.iter().copied().filter(|v| evidence.state(*v).is_none()).collect();
        let plan = EliminationOrder::new(network, &requested, evidence);
        Ok(Query { network, of: of.to_vec(), evidence: evidence.clone(), plan })
    }

    /// The total number of cells of all intermediate tables.
    pub fn n_cells(&self) -> f64 {
        self.plan.order.cells(&self.plan.sizes).1 + self.plan.answer()
    }

    /// The posterior.
    ///
    /// # Errors
    /// If the evidence has probability zero, or intermediate tables exceed the memory budget.
    pub fn run(&self, monitor: &Monitor<'_>) -> Result<Posterior> {
        let Query { network, of, evidence, plan } = self;
        plan.reserve("summing out variables", monitor)?;
        let run = plan.run::<Plain>(evidence).or_else(|| plan.run::<Log>(evidence));
        let (table, log_evidence) = run.expect("logarithms do not underflow");
        if log_evidence == f64::NEG_INFINITY {
            return Err(impossible(network, evidence));
        }
        let requested: Vec<usize> =
            of.iter().copied().filter(|v| evidence.state(*v).is_none()).collect();
        Ok(Posterior {
            variables: of.clone(),
            sizes: of.iter().map(|v| network.size(*v)).collect(),
            probabilities: spread(network, of, evidence, &table.ordered(&requested)),
            log_evidence,
        })
    }
}

/// `log P(evidence)`; `−∞` if its probability is zero.
///
/// # Errors
/// If an index is out of range, or intermediate tables exceed the memory budget.
pub fn log_evidence(network: &Network, evidence: &Evidence, monitor: &Monitor<'_>) -> Result<f64> {
    match query(network, &[], evidence, monitor) {
        Ok(posterior) => Ok(posterior.log_evidence),
        Err(Error::Impossible { .. }) => Ok(f64::NEG_INFINITY),
        Err(error) => Err(error),
    }
}

/// The tables to multiply and the elimination order.
#[derive(Debug)]
struct EliminationOrder<'a> {
    network: &'a Network,
    retained: Vec<usize>,
    relevant: Vec<usize>,
    sizes: Vec<usize>,
    order: Elimination,
}

impl<'a> EliminationOrder<'a> {
    fn new(network: &'a Network, requested: &[usize], evidence: &Evidence) -> EliminationOrder<'a> {
        let mut retained = requested.to_vec();
        retained.sort_unstable();
        let relevant =
            ancestors(network, requested.iter().copied().chain(evidence.iter().map(|e| e.0)));
        let families: Vec<Vec<usize>> = relevant
            .iter()
            .map(|v| {
                let family = network.parents(*v).iter().chain([v]).copied();
                family.filter(|u| evidence.state(*u).is_none()).collect()
            })
            .collect();
        let mut removed = vec![false; network.len()];
        for v in &relevant {
            removed[*v] = evidence.state(*v).is_none() && !retained.contains(v);
        }
        let sizes: Vec<usize> = (0..network.len()).map(|v| network.size(v)).collect();
        let order = Elimination::min_fill(&families, &sizes, &removed);
        EliminationOrder { network, retained, relevant, sizes, order }
    }

    fn reserve(&self, what: &str, monitor: &Monitor<'_>) -> Result<()> {
        // A table and its factors are in memory at the same time.
        reserve(what, 2.0 * self.order.cells(&self.sizes).0 + 2.0 * self.answer(), monitor)
    }

    /// The number of cells of the posterior.
    fn answer(&self) -> f64 {
        self.retained.iter().map(|v| self.sizes[*v] as f64).product()
    }

    /// The joint distribution of the queried variables and the logarithm of its normalization; `None` if `S` could
    /// underflow.
    fn run<S: Semiring>(&self, evidence: &Evidence) -> Option<(Table, f64)> {
        let mut log_scale = 0.0;
        let mut tables = Vec::with_capacity(self.relevant.len());
        for v in &self.relevant {
            let mut table = Table::conditional::<S>(self.network, *v, |u| evidence.state(u));
            log_scale += S::settle(&mut table.cells)?;
            tables.push(table);
        }
        for (v, _) in &self.order.steps {
            let (with, without) = tables.into_iter().partition(|t| t.vars.contains(v));
            tables = without;
            let product = multiply_all::<S>(with, &mut log_scale)?;
            let mut message = product.without::<S>(*v);
            log_scale += S::settle(&mut message.cells)?;
            tables.push(message);
        }
        let mut joint = multiply_all::<S>(tables, &mut log_scale)?;
        if self.retained.len() > joint.vars.len() {
            let sizes = self.retained.iter().map(|v| self.sizes[*v]).collect();
            joint = joint.product::<S>(&Table::ones::<S>(self.retained.clone(), sizes));
        }
        if log_scale == f64::NEG_INFINITY {
            return Some((joint, log_scale));
        }
        let (cells, log_sum) = S::normalize(&joint.cells);
        Some((Table { cells, ..joint }, log_scale + log_sum))
    }
}

/// The product of scaled tables, the small ones first, scaled after every step.
pub(super) fn multiply_all<S: Semiring>(
    mut tables: Vec<Table>,
    log_scale: &mut f64,
) -> Option<Table> {
    tables.sort_by_key(|t| t.cells.len());
    let mut tables = tables.into_iter();
    let mut product = tables.next().unwrap_or_else(Table::one::<S>);
    for table in tables {
        product = product.product::<S>(&table);
        *log_scale += S::settle(&mut product.cells)?;
    }
    Some(product)
}

/// The variables and all their ancestors, in order.
pub(super) fn ancestors(network: &Network, of: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut found = vec![false; network.len()];
    let mut open: Vec<usize> = of.collect();
    while let Some(v) = open.pop() {
        if !std::mem::replace(&mut found[v], true) {
            open.extend(network.parents(v));
        }
    }
    (0..network.len()).filter(|v| found[*v]).collect()
}

/// Adds queried variables that are observed, with probability one for the observed state.
fn spread(network: &Network, of: &[usize], evidence: &Evidence, joint: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; of.iter().map(|v| network.size(*v)).product()];
    for (at, p) in joint.iter().enumerate() {
        let (mut rest, mut index, mut stride) = (at, 0, 1);
        for v in of.iter().rev() {
            let size = network.size(*v);
            let state = evidence.state(*v).unwrap_or_else(|| {
                let state = rest % size;
                rest /= size;
                state
            });
            index += state * stride;
            stride *= size;
        }
        out[index] = *p;
    }
    out
}
