//! The junction tree: all marginals at once.
//!
//! The cliques of an elimination order form a tree with the running intersection property. Two passes of messages, to
//! the roots and back, make each clique the joint distribution of its variables with the evidence (Lauritzen &
//! Spiegelhalter, 1988; Jensen, Lauritzen & Olesen, 1990). The tree is built once for many queries.

use super::order::Elimination;
use super::semiring::{Log, Plain, Semiring};
use super::table::Table;
use super::{check_indices, impossible, reserve};
use crate::error::Result;
use crate::model::Monitor;
use crate::probability::network::{Evidence, Network};

/// A junction tree of a network.
#[derive(Clone, Debug)]
pub struct JunctionTree<'a> {
    network: &'a Network,
    cliques: Vec<Clique>,
    /// The smallest clique that contains each variable.
    home: Vec<usize>,
    /// The logarithm of the scale of the potentials; `None` if they could underflow.
    log_scale: Option<f64>,
}

#[derive(Clone, Debug)]
struct Clique {
    /// The product of its conditional probability tables, scaled.
    potential: Table,
    /// The parent clique and the separator.
    parent: Option<(usize, Vec<usize>)>,
    /// The variables whose tables are assigned to it.
    given: Vec<usize>,
}

impl<'a> JunctionTree<'a> {
    /// Builds the tree.
    ///
    /// # Errors
    /// If its cliques exceed the memory budget.
    pub fn new(network: &'a Network, monitor: &Monitor<'_>) -> Result<JunctionTree<'a>> {
        let n = network.len();
        let families: Vec<Vec<usize>> =
            (0..n).map(|v| network.parents(v).iter().chain([&v]).copied().collect()).collect();
        let sizes: Vec<usize> = (0..n).map(|v| network.size(v)).collect();
        let order = Elimination::min_fill(&families, &sizes, &vec![true; n]);
        let (mut scopes, home) = cliques(&order, n);
        let cells: f64 = scopes
            .iter()
            .map(|(vars, _)| vars.iter().map(|v| sizes[*v] as f64).product::<f64>())
            .sum();
        // The potentials and their calibrated copies.
        reserve("the cliques of the junction tree", 2.0 * cells, monitor)?;
        let mut first = vec![0; n];
        order.steps.iter().enumerate().for_each(|(at, (v, _))| first[*v] = at);
        let mut cliques: Vec<Clique> = scopes
            .iter_mut()
            .map(|(vars, parent)| {
                vars.sort_unstable();
                let sizes = vars.iter().map(|v| sizes[*v]).collect();
                let potential = Table::ones::<Plain>(std::mem::take(vars), sizes);
                Clique { potential, parent: parent.take(), given: Vec::new() }
            })
            .collect();
        let mut log_scale = Some(0.0);
        for (v, family) in families.iter().enumerate() {
            // The first variable of a family to be eliminated has all others as neighbors.
            let at = family.iter().min_by_key(|u| first[**u]).map_or(0, |u| home[*u]);
            cliques[at].given.push(v);
            let mut table = Table::conditional::<Plain>(network, v, |_| None);
            for settled in [
                Plain::settle(&mut table.cells),
                multiply::<Plain>(&mut cliques[at].potential, &table),
            ] {
                log_scale = log_scale.zip(settled).map(|(a, b)| a + b);
            }
        }
        let mut smallest = home;
        for (c, clique) in cliques.iter().enumerate() {
            for v in &clique.potential.vars {
                let now = &cliques[smallest[*v]].potential.cells;
                if clique.potential.cells.len() < now.len() {
                    smallest[*v] = c;
                }
            }
        }
        Ok(JunctionTree { network, cliques, home: smallest, log_scale })
    }

    /// The number of cliques, and the number of cells of the largest.
    pub fn size(&self) -> (usize, usize) {
        let cells = self.cliques.iter().map(|c| c.potential.cells.len());
        (self.cliques.len(), cells.max().unwrap_or(0))
    }

    /// Propagates the evidence to every clique.
    ///
    /// # Errors
    /// If an index is out of range, or the evidence has probability zero.
    pub fn calibrate(&self, evidence: &Evidence) -> Result<Calibrated<'_>> {
        check_indices(self.network, &[], evidence)?;
        let plain = self.log_scale.and_then(|scale| self.run::<Plain>(evidence, scale));
        let run = plain.or_else(|| self.run::<Log>(evidence, 0.0));
        let calibrated = run.expect("logarithms do not underflow");
        if calibrated.log_evidence == f64::NEG_INFINITY {
            return Err(impossible(self.network, evidence));
        }
        Ok(calibrated)
    }

    fn run<S: Semiring>(
        &self,
        evidence: &Evidence,
        mut log_evidence: f64,
    ) -> Option<Calibrated<'_>> {
        let mut tables: Vec<Table> = self.cliques.iter().map(|c| self.potential::<S>(c)).collect();
        for (v, state) in evidence.iter() {
            tables[self.home[v]].observe::<S>(v, state);
        }
        let mut messages: Vec<Option<Table>> = vec![None; tables.len()];
        // A clique comes after its parent, so the reverse order starts at the leaves.
        for c in (0..tables.len()).rev() {
            log_evidence += S::settle(&mut tables[c].cells)?;
            if log_evidence == f64::NEG_INFINITY {
                return Some(Calibrated { tree: self, joints: Vec::new(), log_evidence });
            }
            match &self.cliques[c].parent {
                Some((up, shared)) => {
                    let mut message = tables[c].marginal::<S>(shared);
                    log_evidence += S::settle(&mut message.cells)?;
                    log_evidence += multiply::<S>(&mut tables[*up], &message)?;
                    messages[c] = Some(message);
                }
                None => log_evidence += S::normalize(&tables[c].cells).1,
            }
        }
        let mut joints: Vec<Vec<f64>> = Vec::with_capacity(tables.len());
        for c in 0..tables.len() {
            if let (Some((up, shared)), Some(before)) = (&self.cliques[c].parent, &messages[c]) {
                let mut message = tables[*up].marginal::<S>(shared);
                message.divide::<S>(before);
                S::settle(&mut message.cells)?;
                multiply::<S>(&mut tables[c], &message)?;
            }
            joints.push(S::normalize(&tables[c].cells).0);
        }
        let joints =
            tables.into_iter().zip(joints).map(|(table, cells)| Table { cells, ..table }).collect();
        Some(Calibrated { tree: self, joints, log_evidence })
    }

    /// The product of the tables of a clique.
    fn potential<S: Semiring>(&self, clique: &Clique) -> Table {
        if S::ONE == Plain::ONE {
            return clique.potential.clone();
        }
        // From the tables again: the stored product may have underflowed.
        let Table { vars, sizes, .. } = &clique.potential;
        let mut table = Table::ones::<S>(vars.clone(), sizes.clone());
        for v in &clique.given {
            table.multiply::<S>(&Table::conditional::<S>(self.network, *v, |_| None));
        }
        table
    }
}

/// Multiplies and scales; returns the logarithm of the scale.
fn multiply<S: Semiring>(table: &mut Table, by: &Table) -> Option<f64> {
    table.multiply::<S>(by);
    S::settle(&mut table.cells)
}

/// The maximal cliques of an elimination order with their parents, roots first, and for each variable a clique that
/// contains it and its neighbors at elimination.
type Scopes = Vec<(Vec<usize>, Option<(usize, Vec<usize>)>)>;

fn cliques(order: &Elimination, n: usize) -> (Scopes, Vec<usize>) {
    let mut first = vec![0; n];
    order.steps.iter().enumerate().for_each(|(at, (v, _))| first[*v] = at);
    let mut scopes: Scopes = Vec::new();
    let mut home = vec![0; n];
    for (v, around) in order.steps.iter().rev() {
        let next = around.iter().min_by_key(|u| first[**u]).map(|u| home[*u]);
        home[*v] = match next {
            // The neighbors were a maximal clique: it grows by one variable.
            Some(up) if scopes[up].0.len() == around.len() => {
                scopes[up].0.push(*v);
                up
            }
            next => {
                let vars = around.iter().chain([v]).copied().collect();
                scopes.push((vars, next.map(|up| (up, around.clone()))));
                scopes.len() - 1
            }
        };
    }
    (scopes, home)
}

/// A junction tree calibrated with the evidence.
#[derive(Debug)]
pub struct Calibrated<'a> {
    tree: &'a JunctionTree<'a>,
    joints: Vec<Table>,
    log_evidence: f64,
}

impl Calibrated<'_> {
    /// `log P(evidence)`.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// `P(v | evidence)`.
    ///
    /// # Errors
    /// If the index is out of range.
    pub fn marginal(&self, v: usize) -> Result<Vec<f64>> {
        check_indices(self.tree.network, &[v], &Evidence::none())?;
        let table = self.joints[self.tree.home[v]].marginal::<Plain>(&[v]);
        Ok(Plain::normalize(&table.cells).0)
    }

    /// `P(v | evidence)` of every variable.
    pub fn marginals(&self) -> Vec<Vec<f64>> {
        (0..self.tree.network.len())
            .map(|v| self.joints[self.tree.home[v]].marginal::<Plain>(&[v]))
            .map(|table| Plain::normalize(&table.cells).0)
            .collect()
    }

    /// `P(v, its parents | evidence)` in the order of the table of `v`: the expected counts of the EM algorithm.
    ///
    /// # Errors
    /// If the index is out of range.
    pub fn family(&self, v: usize) -> Result<Vec<f64>> {
        let network = self.tree.network;
        check_indices(network, &[v], &Evidence::none())?;
        let family: Vec<usize> = network.parents(v).iter().chain([&v]).copied().collect();
        let mut retained = family.clone();
        retained.sort_unstable();
        let holds = |c: &usize| self.tree.cliques[*c].given.contains(&v);
        let clique = (0..self.joints.len()).find(holds).expect("every table went to a clique");
        Ok(self.joints[clique].marginal::<Plain>(&retained).ordered(&family))
    }
}
