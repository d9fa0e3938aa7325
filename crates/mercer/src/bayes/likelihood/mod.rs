//! Likelihoods `p(x | class)` of one column, one per file.
//!
//! Each is fitted to a mergeable statistic of the column. Its leave-one-out log-likelihood, the log-likelihood of every
//! row under the density of all *other* rows of its class, follows from the same statistic without a second pass over
//! the data.

mod categorical;
mod cuts;
mod exponential;
mod gaussian;
mod histogram;
mod kernel;
mod multinomial;
mod poisson;

pub use categorical::{Categorical, Unseen};
pub(crate) use categorical::{is_log_probability, log_probability};
pub(crate) use cuts::Cut;
pub use exponential::Exponential;
pub use gaussian::Gaussian;
pub use histogram::Histogram;
pub use kernel::Kernel;
pub use multinomial::Multinomial;
pub use poisson::Poisson;

use crate::error::{Error, Result};
use crate::explain::{Domain, short};
use crate::stats::ValueCounts;
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The likelihood of one column under every class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Likelihood {
    /// A categorical distribution.
    Categorical(Categorical),
    /// A normal density.
    Gaussian(Gaussian),
    /// A kernel density estimate.
    Kernel(Kernel),
    /// A histogram.
    Histogram(Histogram),
    /// A Poisson distribution.
    Poisson(Poisson),
    /// An exponential density.
    Exponential(Exponential),
    /// A count of a multinomial distribution.
    Multinomial(Multinomial),
}

impl Likelihood {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Likelihood::Categorical(_) => "categorical",
            Likelihood::Gaussian(_) => "gaussian",
            Likelihood::Kernel(_) => "kernel",
            Likelihood::Histogram(_) => "histogram",
            Likelihood::Poisson(_) => "poisson",
            Likelihood::Exponential(_) => "exponential",
            Likelihood::Multinomial(_) => "multinomial",
        }
    }

    /// The set on which the distribution is defined.
    pub(crate) fn domain(&self) -> Domain {
        match self {
            Likelihood::Categorical(l) => Domain::Categories(l.n_categories()),
            Likelihood::Gaussian(_) => Domain::Real,
            Likelihood::Kernel(l) => Domain::Grid(l.points().collect()),
            Likelihood::Histogram(l) => Domain::Steps(l.breaks()),
            Likelihood::Poisson(_) => Domain::Counts,
            Likelihood::Exponential(_) => Domain::NonNegative,
            Likelihood::Multinomial(_) => Domain::Outcome,
        }
    }

    /// Mean and standard deviation of the column in a class, of the codes if it is categorical.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        match self {
            Likelihood::Categorical(l) => l.moments(c),
            Likelihood::Gaussian(l) => (l.means[c], l.variances[c].sqrt()),
            Likelihood::Kernel(l) => l.moments(c),
            Likelihood::Histogram(l) => l.moments(c),
            Likelihood::Poisson(l) => (l.rates[c], l.rates[c].sqrt()),
            Likelihood::Exponential(l) => (l.means[c], l.means[c]),
            Likelihood::Multinomial(l) => {
                let p = l.log_probabilities[c].exp();
                (p, (p * (1.0 - p)).max(0.0).sqrt())
            }
        }
    }

    /// Adds the log-likelihoods of some rows to their scores; `cells` are the values of the column, `at` the first row
    /// and the column. A missing value has no factor.
    ///
    /// # Errors
    /// If a value is invalid for the column.
    pub(crate) fn add_factors(
        &self,
        unseen: Unseen,
        at: (usize, usize),
        cells: impl Iterator<Item = f64>,
        scores: &mut [f64],
        n_classes: usize,
    ) -> Result<()> {
        let (first, column) = at;
        let rows = cells.zip(scores.chunks_exact_mut(n_classes)).enumerate();
        match self {
            Likelihood::Categorical(categories) => {
                let table = categories.by_category(unseen);
                for (i, (x, scores)) in rows {
                    if let Some(code) = categories.code(x, unseen, (first + i, column))? {
                        let factors = &table[code * n_classes..(code + 1) * n_classes];
                        scores.iter_mut().zip(factors).for_each(|(s, f)| *s += f);
                    }
                }
                Ok(())
            }
            Likelihood::Gaussian(density) => add_log_densities(density, at, rows),
            Likelihood::Kernel(density) => add_log_densities(density, at, rows),
            Likelihood::Histogram(density) => add_log_densities(density, at, rows),
            Likelihood::Poisson(density) => add_log_densities(density, at, rows),
            Likelihood::Exponential(density) => add_log_densities(density, at, rows),
            Likelihood::Multinomial(density) => add_log_densities(density, at, rows),
        }
    }

    /// The change of the log-likelihood of a value if one row of the class with this value is left out of the counts.
    /// Densities with few parameters hardly depend on a single row.
    pub(crate) fn leave_one_out(&self, class: usize, x: f64) -> f64 {
        match self {
            Likelihood::Categorical(l) => l.leave_one_out(class, x),
            Likelihood::Histogram(l) if !x.is_nan() => l.bins.leave_one_out(class, l.bin(x) as f64),
            _ => 0.0,
        }
    }

    /// Samples a value of a class.
    pub(crate) fn sample(&self, class: usize, random: &mut Random) -> f64 {
        match self {
            Likelihood::Categorical(l) => l.sample(class, random),
            Likelihood::Gaussian(l) => l.sample(class, random),
            Likelihood::Kernel(l) => l.sample(class, random),
            Likelihood::Histogram(l) => l.sample(class, random),
            Likelihood::Poisson(l) => l.sample(class, random),
            Likelihood::Exponential(l) => l.sample(class, random),
            Likelihood::Multinomial(l) => l.sample(class, random),
        }
    }

    /// The formula of the likelihood of a value, with the numbers filled in.
    pub(crate) fn formula(&self, class: usize, x: f64, unseen: Unseen) -> String {
        match self {
            Likelihood::Categorical(l) => l.formula(class, x, unseen),
            Likelihood::Gaussian(l) => l.formula(class, x),
            Likelihood::Kernel(l) => l.formula(class, x),
            Likelihood::Histogram(l) => l.formula(class, x),
            Likelihood::Poisson(l) => l.formula(class, x),
            Likelihood::Exponential(l) => l.formula(class, x),
            Likelihood::Multinomial(l) => l.formula(class, x),
        }
    }

    /// Whether the fields are consistent for this number of classes.
    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        match self {
            Likelihood::Categorical(l) => l.fits(n_classes),
            Likelihood::Gaussian(l) => l.fits(n_classes),
            Likelihood::Kernel(l) => l.fits(n_classes),
            Likelihood::Histogram(l) => l.fits(n_classes),
            Likelihood::Poisson(l) => l.fits(n_classes),
            Likelihood::Exponential(l) => l.fits(n_classes),
            Likelihood::Multinomial(l) => l.fits(n_classes),
        }
    }
}

fn add_log_densities<'s>(
    density: &impl Density,
    (first, column): (usize, usize),
    rows: impl Iterator<Item = (usize, (f64, &'s mut [f64]))>,
) -> Result<()> {
    let add = density.log_density_adder();
    for (i, (x, scores)) in rows {
        if x.is_infinite() {
            return Err(Error::NotFinite { row: first + i, column, value: x });
        }
        if !x.is_nan() {
            add(x, scores);
        }
    }
    Ok(())
}

/// The likelihood of a numeric column.
pub(crate) trait Density {
    /// A function that adds `log p(x | class)` to the score of every class. Constants are computed once.
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]);

    /// Samples a value of a class.
    fn sample(&self, class: usize, random: &mut Random) -> f64;

    /// The formula of the density of a value, with the numbers filled in.
    fn formula(&self, class: usize, x: f64) -> String;
}

/// The statistics of a numeric column by class.
pub(crate) struct NumericColumn<'a> {
    /// Its distinct values; empty if only moments are stored.
    pub values: &'a ValueCounts,
    /// Their counts, one row per class and one column per value.
    pub counts: Matrix,
    /// The weight of the values that are not missing.
    pub weights: Vec<f64>,
    /// Their means.
    pub means: Vec<f64>,
    /// `Σ w (x − mean)²`.
    pub squares: Vec<f64>,
    /// The mean of all classes.
    pub mean: f64,
    /// The variance of all classes.
    pub variance: f64,
}

impl NumericColumn<'_> {
    /// The leave-one-out log-likelihood, where `log_p(class, value)` is the log-density of a value under the other rows
    /// of its class. Classes of a single row are skipped. Densities are bounded such that the probability of one
    /// resolution step is at most one.
    fn leave_one_out(&self, log_p: impl Fn(usize, usize) -> f64) -> f64 {
        let max_log_p = -self.resolution().ln();
        let mut total = 0.0;
        for (c, row) in self.counts.outer_iter().enumerate() {
            if self.weights[c] > 1.0 {
                for (at, n) in row.iter().enumerate().filter(|(_, n)| **n > 0.0) {
                    total += n * log_p(c, at).min(max_log_p);
                }
            }
        }
        total
    }

    /// The mean of a class without one row of this value.
    fn mean_without(&self, class: usize, x: f64) -> f64 {
        let (w, mean) = (self.weights[class], self.means[class]);
        mean - (x - mean) / (w - 1.0)
    }

    /// The resolution of the values: the smallest distance of two distinct values.
    fn resolution(&self) -> f64 {
        let values = self.values.values();
        let distance = values.windows(2).map(|v| v[1] - v[0]).fold(f64::INFINITY, f64::min);
        if distance.is_finite() && distance > 0.0 { distance } else { 1.0 }
    }
}
