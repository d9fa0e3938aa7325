//! The tables of a given structure, by maximum likelihood or expectation-maximization.
//!
//! Maximize `Σᵢ wᵢ log P(row i) + α Σ log p` over the tables `p`. Without missing values the
//! counts give it in closed form. With missing values every EM iteration computes the expected counts under the current
//! network, exactly, by its junction tree, and then maximizes: no iteration can lower the objective
//! (Dempster, Laird & Rubin, 1977; Lauritzen, 1995).

use super::{FamilyCounts, Learned, Observations};
use crate::error::{Error, Result};
use crate::model::{Certificate, Fitted, Monitor, Stop};
use crate::probability::network::inference::JunctionTree;
use crate::probability::network::{Evidence, Network};
use mercer_num::parallel;
use mercer_num::random::Random;
use std::time::Instant;

/// Distinct rows whose expected counts one task computes.
const ROWS_PER_CHUNK: usize = 64;

/// How the tables are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterLearning {
    /// Pseudocount of every cell: 1 is Laplace smoothing, 0 none.
    pub alpha: f64,
    /// EM stops when the relative increase of the objective is below this.
    pub tolerance: f64,
    /// The maximum number of EM iterations.
    pub max_rounds: usize,
    /// The seed of the initial tables of variables that are never observed.
    pub seed: u64,
}

impl Default for ParameterLearning {
    fn default() -> Self {
        ParameterLearning { alpha: 1.0, tolerance: 1e-9, max_rounds: 1000, seed: 0 }
    }
}

/// Learns the tables of a network with these parents.
///
/// # Errors
/// If there are no rows, the graph has a cycle, the tables exceed the memory budget, or it was stopped before the first
/// iteration ended.
pub fn fit_tables(
    parents: &[Vec<usize>],
    data: &Observations,
    how: &ParameterLearning,
    monitor: &Monitor<'_>,
) -> Result<Learned> {
    let start = Instant::now();
    if !(how.alpha.is_finite() && how.alpha >= 0.0) {
        return Err(Error::Parameter {
            name: "alpha".into(),
            found: how.alpha.to_string(),
            expected: "a number of at least 0".into(),
        });
    }
    data.total()?;
    if monitor.stop().is_some() {
        return Err(Error::Stopped);
    }
    let mut counts = FamilyCounts::new(data.variables(), parents, monitor)?;
    counts.observe(data)?;
    let mut learned = if data.has_gaps() {
        // Initial probabilities of zero could give rows with missing values probability zero.
        let network = begin(counts.finish(how.alpha.max(1.0))?, data, how)?;
        rounds(network, counts, data, how, monitor)?
    } else {
        let network = counts.finish(how.alpha)?;
        let log_likelihood = counts.log_likelihood(&network, 0.0).0;
        let certificate = Certificate::closed_form().objective("log likelihood", log_likelihood);
        let fitted = Fitted { model: network, certificate };
        Learned { fitted, trace: vec![log_likelihood], search: None }
    };
    let certificate = &mut learned.fitted.certificate;
    certificate.rows = data.n_rows() as u64;
    certificate.seconds = start.elapsed().as_secs_f64();
    Ok(learned)
}

/// The initial tables: those of the rows in which a variable and its parents are observed. A variable that is never
/// observed would stay uniform, so its table is initialized at random.
fn begin(network: Network, data: &Observations, how: &ParameterLearning) -> Result<Network> {
    let mut random = Random::new(how.seed);
    let unseen = |v: usize| data.column(v).iter().all(|c| *c == Observations::MISSING);
    let tables = (0..network.len())
        .map(|v| {
            if !unseen(v) && !network.parents(v).iter().any(|p| unseen(*p)) {
                return network.table(v).to_vec();
            }
            let row = |row: &[f64]| {
                let drawn: Vec<f64> = row.iter().map(|p| p * (0.5 + random.uniform())).collect();
                let sum: f64 = drawn.iter().sum();
                drawn.into_iter().map(|p| p / sum).collect::<Vec<_>>()
            };
            network.table(v).chunks_exact(network.size(v)).flat_map(row).collect()
        })
        .collect();
    with_tables(&network, tables)
}

fn with_tables(network: &Network, tables: Vec<Vec<f64>>) -> Result<Network> {
    let parents = (0..network.len()).map(|v| network.parents(v).to_vec()).collect();
    Network::new(network.name(), network.variables().to_vec(), parents, tables)
}

fn rounds(
    mut network: Network,
    mut counts: FamilyCounts,
    data: &Observations,
    how: &ParameterLearning,
    monitor: &Monitor<'_>,
) -> Result<Learned> {
    let rows = data.distinct();
    let mut trace: Vec<f64> = Vec::new();
    let mut stopped: Option<Stop> = None;
    let mut moved = f64::INFINITY;
    let mut converged = false;
    let mut log_likelihood = f64::NEG_INFINITY;
    loop {
        let Some((expected, now)) = expect(&network, &counts, &rows, monitor)? else {
            stopped = monitor.stop();
            if trace.is_empty() {
                return Err(Error::Stopped);
            }
            break;
        };
        log_likelihood = now;
        let objective = now + counts.log_likelihood(&network, how.alpha).1;
        let before = trace.last().copied();
        trace.push(objective);
        monitor.report(trace.len() as u64, None);
        let risen = before.map_or(f64::INFINITY, |b| (objective - b) / objective.abs().max(1.0));
        converged = risen <= how.tolerance;
        if converged || trace.len() > how.max_rounds {
            break;
        }
        counts.counts = expected;
        let next = counts.finish(how.alpha)?;
        moved = largest_move(&network, &next, &counts.counts);
        network = next;
    }
    let certificate = Certificate::iterative(converged, stopped)
        .objective("log likelihood", log_likelihood)
        .violation("largest change of a probability", moved)
        .iterations(trace.len() as u64);
    Ok(Learned { fitted: Fitted { model: network, certificate }, trace, search: None })
}

/// The largest change of a probability, times the expected fraction of rows with its parent states: probabilities of
/// parent states that do not occur are arbitrary.
fn largest_move(a: &Network, b: &Network, counts: &[Vec<f64>]) -> f64 {
    let mut largest: f64 = 0.0;
    for (v, counts) in counts.iter().enumerate() {
        let (size, all) = (a.size(v), counts.iter().sum::<f64>());
        let rows = a.table(v).chunks_exact(size).zip(b.table(v).chunks_exact(size));
        for ((p, q), n) in rows.zip(counts.chunks_exact(size)) {
            let fraction = if all > 0.0 { n.iter().sum::<f64>() / all } else { 0.0 };
            let moved = p.iter().zip(q).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
            largest = largest.max(fraction * moved);
        }
    }
    largest
}

/// The expected counts of the rows under the network, and their log-likelihood; `None` if it was stopped.
fn expect(
    network: &Network,
    shape: &FamilyCounts,
    rows: &Observations,
    monitor: &Monitor<'_>,
) -> Result<Option<(Vec<Vec<f64>>, f64)>> {
    let tree = JunctionTree::new(network, monitor)?;
    let n = rows.n_rows();
    let leaf = |k: usize| -> Result<(Vec<Vec<f64>>, f64)> {
        let mut counts: Vec<Vec<f64>> = shape.counts.iter().map(|c| vec![0.0; c.len()]).collect();
        let mut log_likelihood = 0.0;
        for i in k * ROWS_PER_CHUNK..((k + 1) * ROWS_PER_CHUNK).min(n) {
            let weight = rows.weights()[i];
            if weight == 0.0 {
                continue;
            }
            let mut evidence = Evidence::none();
            for v in 0..network.len() {
                let code = rows.column(v)[i];
                if code != Observations::MISSING {
                    evidence.see(v, code as usize);
                }
            }
            let calibrated = tree.calibrate(&evidence)?;
            log_likelihood += weight * calibrated.log_evidence();
            for (v, counts) in counts.iter_mut().enumerate() {
                let family = calibrated.family(v)?;
                counts.iter_mut().zip(family).for_each(|(n, p)| *n += weight * p);
            }
        }
        Ok((counts, log_likelihood))
    };
    let merge = |a: &mut (Vec<Vec<f64>>, f64), b: &(Vec<Vec<f64>>, f64)| -> Result<()> {
        for (mine, theirs) in a.0.iter_mut().zip(&b.0) {
            mine.iter_mut().zip(theirs).for_each(|(x, y)| *x += y);
        }
        a.1 += b.1;
        Ok(())
    };
    let n_leaves = n.div_ceil(ROWS_PER_CHUNK);
    let (sum, done) = parallel::reduce(n_leaves, leaf, merge, |_| monitor.stop().is_none())?;
    Ok(sum.filter(|_| done == n_leaves))
}
