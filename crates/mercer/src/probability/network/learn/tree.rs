//! Tree structures: Chow-Liu, naive Bayes, and tree-augmented naive Bayes.
//!
//! The mutual information of two variables is that of the rows in which both are observed.

use super::{Gain, Observations, mutual_information, spanning_forest};
use crate::error::{Error, Result};
use mercer_num::parallel::prelude::*;

/// The parents in the tree of maximum likelihood with root `root` (Chow & Liu, 1968).
///
/// # Errors
/// If there are no rows, or the index is out of range.
pub fn chow_liu(data: &Observations, root: usize) -> Result<Vec<Vec<usize>>> {
    check_index(data, root)?;
    let n = data.variables().len();
    let gains = gains(data, &(0..n).collect::<Vec<_>>(), None)?;
    let forest = spanning_forest(n, root, Gain::nats(0.0), |j, k| gains[j][k - j - 1]);
    Ok(forest.into_iter().map(|parent| parent.into_iter().collect()).collect())
}

/// The class is the only parent of all others.
///
/// # Errors
/// If the index is out of range.
pub fn naive(data: &Observations, class: usize) -> Result<Vec<Vec<usize>>> {
    check_index(data, class)?;
    let parents = |v: usize| if v == class { vec![] } else { vec![class] };
    Ok((0..data.variables().len()).map(parents).collect())
}

/// Tree-augmented naive Bayes: the class is a parent of all others, which form a maximum spanning tree (Friedman,
/// Geiger & Goldszmidt, 1997).
///
/// # Errors
/// If there are no rows, or the index is out of range.
pub fn tree_augmented(data: &Observations, class: usize) -> Result<Vec<Vec<usize>>> {
    let mut parents = naive(data, class)?;
    let others: Vec<usize> = (0..parents.len()).filter(|v| *v != class).collect();
    if others.is_empty() {
        return Ok(parents);
    }
    let gains = gains(data, &others, Some(class))?;
    let forest = spanning_forest(others.len(), 0, Gain::nats(0.0), |j, k| gains[j][k - j - 1]);
    for (v, parent) in others.iter().zip(forest) {
        parents[*v].extend(parent.map(|p| others[p]));
    }
    Ok(parents)
}

fn check_index(data: &Observations, v: usize) -> Result<()> {
    if v < data.variables().len() {
        return Ok(());
    }
    let names: Vec<&str> = data.variables().iter().map(|v| v.name.as_str()).collect();
    Err(Error::UnknownVariable { name: format!("index {v}"), known: names.join(", ") })
}

/// The gain in log-likelihood per row of an edge between each pair of variables, given the class.
fn gains(data: &Observations, of: &[usize], class: Option<usize>) -> Result<Vec<Vec<Gain>>> {
    let total = data.total()?;
    let (n_classes, classes) = match class {
        Some(c) => (data.size(c), Some(data.column(c))),
        None => (1, None),
    };
    let gain = |j: usize, k: usize| {
        let size = data.size(j) * data.size(k);
        let mut counts = vec![0.0; n_classes * size];
        let pairs = data.column(j).iter().zip(data.column(k)).zip(data.weights());
        for (i, ((a, b), weight)) in pairs.enumerate() {
            let c = classes.map_or(0, |classes| classes[i]);
            if [*a, *b, c].contains(&Observations::MISSING) {
                continue;
            }
            counts[c as usize * size + *a as usize * data.size(k) + *b as usize] += weight;
        }
        let nats: f64 =
            counts.chunks_exact(size.max(1)).map(|c| mutual_information(c, data.size(k))).sum();
        Gain::nats(nats / total)
    };
    let row = |at: usize| of[at + 1..].iter().map(|k| gain(of[at], *k)).collect();
    Ok((0..of.len()).into_par_iter().map(row).collect())
}
