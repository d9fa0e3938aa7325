//! Landmarks of a kernel approximation: the rows (or means of rows) that represent all rows.

mod k_means;
mod pivoted_cholesky;

pub(super) use k_means::k_means;
pub(crate) use k_means::k_means_plus_plus;
pub(super) use pivoted_cholesky::randomly_pivoted_cholesky_until;
pub(crate) use pivoted_cholesky::{PivotedCholesky, randomly_pivoted_cholesky};

use super::unique_rows::UniqueRows;
use crate::choice;
use mercer_num::Matrix;

choice! {
    /// How the landmarks of a Nyström approximation are selected.
    pub enum LandmarkSelection {
        /// Rows sampled with probabilities proportional to their weights.
        Uniform = "uniform",
        /// The means of a k-means clustering of the rows.
        KMeans = "k-means",
        /// The pivots of a randomly pivoted Cholesky factorization of the kernel matrix.
        PivotedCholesky = "pivoted-cholesky",
    }
}

/// Selected landmarks.
pub(super) enum Landmarks {
    /// Positions in the list of unique rows.
    Rows(Vec<u32>),
    /// One landmark per row of the matrix.
    Means(Matrix),
}

/// The positions of `m` unique rows, sampled without replacement in proportion to their weights (Efraimidis &
/// Spirakis 2006): the `m` smallest of exponential variables whose rates are the weights.
pub(crate) fn sample_by_weight(rows: &UniqueRows, m: usize) -> Vec<u32> {
    let arrival = |k: u32| -rows.draws[k as usize].ln() / rows.weights[k as usize];
    let mut positions: Vec<u32> = (0..rows.indices.len() as u32).collect();
    positions.sort_by(|a, b| arrival(*a).total_cmp(&arrival(*b)).then(a.cmp(b)));
    positions.truncate(m);
    positions
}
