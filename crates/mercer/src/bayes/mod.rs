//! Naive Bayes: the columns are conditionally independent given the class.
//!
//! `P(c | x) ∝ P(c) Πⱼ p(xⱼ | c)`; the estimators differ in the likelihood `p(xⱼ | c)`.

mod bernoulli;
mod categorical;
mod complement;
mod counts;
mod gaussian;
pub mod likelihood;
mod mixed;
mod multinomial;

pub use crate::stats::Variance;
pub(crate) use crate::stats::{drawn_classes, log_priors};
pub use bernoulli::{BernoulliNb, BernoulliNbModel};
pub use categorical::{CategoricalNb, CategoricalNbModel};
pub use complement::{ComplementNb, ComplementNbModel};
pub use gaussian::{GaussianNb, GaussianNbModel};
pub use mixed::{Estimate, Family, Likelihoods, MixedNb, MixedNbModel, Text, Weights};
pub use multinomial::{MultinomialNb, MultinomialNbModel};

use crate::error::{Error, Result};
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use std::ops::Range;

/// The smallest alpha if `force_alpha` is false.
const MIN_ALPHA: f64 = 1e-10;

/// Raises alpha to [`MIN_ALPHA`], unless it is forced.
fn effective_alpha(alpha: f64, force: bool) -> f64 {
    if force { alpha } else { alpha.max(MIN_ALPHA) }
}

/// Fills the rows of `out` in chunks on all threads.
fn each_chunk(
    out: &mut Matrix,
    chunk: usize,
    fill: impl Fn(usize, &mut [f64]) -> Result<()> + Sync + Send,
) -> Result<()> {
    let width = out.ncols();
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    let filled: Vec<Result<()>> = cells
        .par_chunks_mut(chunk * width)
        .enumerate()
        .map(|(k, rows)| fill(k * chunk, rows))
        .collect();
    // The first invalid cell in row order is reported, independent of the threads.
    filled.into_iter().collect()
}

/// Visits the rows of a range in order, with indices from its start.
fn each_row(
    x: &Rows<'_>,
    range: Range<usize>,
    mut visit: impl FnMut(usize, &[f64]) -> Result<()>,
) -> Result<()> {
    let first = range.start;
    match x.block(range.clone()) {
        Some(block) => block
            .chunks_exact(x.n_columns().max(1))
            .enumerate()
            .try_for_each(|(i, row)| visit(i, row)),
        None => range.into_iter().try_for_each(|i| visit(i - first, &x.row(i))),
    }
}

/// Samples rows: a class from the priors, or the given one, then one value per column.
fn sample(
    log_priors: &[f64],
    (n, given): (usize, Option<u32>),
    n_columns: usize,
    random: &mut Random,
    mut cell: impl FnMut(usize, usize, &mut Random) -> f64,
) -> (Matrix, Vec<u32>) {
    let codes = drawn_classes(log_priors, n, given, random);
    let rows = Matrix::from_shape_fn((n, n_columns), |(i, j)| cell(j, codes[i] as usize, random));
    (rows, codes)
}

/// Whether the priors and weights of the classes in a model file are consistent.
fn are_priors(n_classes: usize, log_priors: &[f64], class_weights: &[f64]) -> bool {
    let total: f64 = log_priors.iter().map(|p| p.exp()).sum();
    n_classes >= 2
        && log_priors.len() == n_classes
        && class_weights.len() == n_classes
        && log_priors.iter().all(|p| likelihood::is_log_probability(*p))
        && (total - 1.0).abs() < 1e-6
        && class_weights.iter().all(|w| w.is_finite() && *w >= 0.0)
}

/// The error of a model file with fields that contradict each other.
fn inconsistent(what: &str) -> Error {
    Error::File(format!("the fields of the {what} naive Bayes model are inconsistent"))
}
