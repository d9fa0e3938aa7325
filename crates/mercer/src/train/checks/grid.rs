//! Hyperparameters whose best value is the first or the last of its grid: the optimum may lie beyond.

use super::{Check, Finding, FitFacts, Remedy};
use crate::explain::short;

/// A hyperparameter at the edge of the grid that it was searched on.
#[derive(Clone, Debug, PartialEq)]
pub struct GridEdge {
    /// The name of the parameter.
    pub parameter: String,
    /// The selected value.
    pub value: f64,
    /// The smallest and the largest value of the grid.
    pub grid: (f64, f64),
}

impl GridEdge {
    /// The edge of a grid, if the selected value is its smallest or largest.
    pub fn of(parameter: &str, value: f64, grid: impl Iterator<Item = f64>) -> Option<GridEdge> {
        let (low, high) =
            grid.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let at_edge = low < high && (value == low || value == high);
        at_edge.then(|| GridEdge { parameter: parameter.to_owned(), value, grid: (low, high) })
    }
}

pub(super) fn check(facts: &FitFacts<'_>) -> Vec<Finding> {
    let mut edges = facts.grid_edges.to_vec();
    // Estimators that search their own hyperparameters.
    if let Some(searched) = facts.trained.fitted.model.as_model().cross_validated() {
        let candidates = searched.candidates();
        if let Some(chosen) = candidates.all.iter().find(|candidate| candidate.chosen) {
            edges.extend(candidates.names.iter().enumerate().filter_map(|(k, name)| {
                GridEdge::of(name, chosen.values[k], candidates.all.iter().map(|c| c.values[k]))
            }));
        }
    }
    edges.iter().map(finding).collect()
}

fn finding(edge: &GridEdge) -> Finding {
    let (low, high) = edge.grid;
    let side = if edge.value == low { "smallest" } else { "largest" };
    let figure = format!(
        "{} = {} is the {side} value of the grid from {} to {}",
        edge.parameter,
        short(edge.value),
        short(low),
        short(high)
    );
    let remedy = Remedy::new(format!(
        "search a grid of {} that goes beyond {}",
        edge.parameter,
        short(edge.value)
    ));
    Finding::new(Check::GridEdge, figure, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ends_of_a_grid_are_edges() {
        let grid = || [0.1, 1.0, 10.0].into_iter();

        assert_eq!(GridEdge::of("C", 10.0, grid()).map(|edge| edge.grid), Some((0.1, 10.0)));
        assert_eq!(GridEdge::of("C", 1.0, grid()), None);
        assert_eq!(GridEdge::of("C", 1.0, [1.0].into_iter()), None, "nothing was searched");
    }
}
