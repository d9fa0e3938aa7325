//! What `p(x | class)` may be for one column: one likelihood a file.
//!
//! Each is made from a summary of the column alone, and each tells how well it foresees rows it has
//! not seen: the log-likelihood of every row under the curve of all *other* rows of its class, which
//! follows from the summary without a second look at the data.

mod categorical;
mod counted;
mod cuts;
mod exponential;
mod gaussian;
mod histogram;
mod kernel;
mod poisson;

pub(crate) use categorical::log_probability;
pub use categorical::{Categorical, Unseen};
pub use counted::Counted;
pub(crate) use cuts::Cut;
pub use exponential::Exponential;
pub use gaussian::Gaussian;
pub use histogram::Histogram;
pub use kernel::Kernel;
pub use poisson::Poisson;

use crate::error::{Error, Result};
use crate::explain::short;
use crate::stats::ValueCounts;
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The likelihood of one column under every class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Likelihood {
    /// One of a few values.
    Categorical(Categorical),
    /// A bell curve.
    Gaussian(Gaussian),
    /// A smooth curve over a grid.
    Kernel(Kernel),
    /// Steps between cut points.
    Histogram(Histogram),
    /// Whole numbers of rare events.
    Poisson(Poisson),
    /// Waiting times.
    Exponential(Exponential),
    /// Counts, each worth the logarithm of a share.
    Counted(Counted),
}

impl Likelihood {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Likelihood::Categorical(_) => "categorical",
            Likelihood::Gaussian(_) => "gaussian",
            Likelihood::Kernel(_) => "kernel",
            Likelihood::Histogram(_) => "histogram",
            Likelihood::Poisson(_) => "poisson",
            Likelihood::Exponential(_) => "exponential",
            Likelihood::Counted(_) => "multinomial",
        }
    }

    /// The mean and the deviation of the column in a class; those of the codes where it has words.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        match self {
            Likelihood::Categorical(l) => l.moments(c),
            Likelihood::Gaussian(l) => (l.means[c], l.variances[c].sqrt()),
            Likelihood::Kernel(l) => l.moments(c),
            Likelihood::Histogram(l) => l.moments(c),
            Likelihood::Poisson(l) => (l.rates[c], l.rates[c].sqrt()),
            Likelihood::Exponential(l) => (l.means[c], l.means[c]),
            Likelihood::Counted(l) => {
                let p = l.log_probabilities[c].exp();
                (p, (p * (1.0 - p)).max(0.0).sqrt())
            }
        }
    }

    /// Adds the factors of some rows to their scores; `cells` are those of the column, `at` the first row
    /// and the column. A missing cell has no factor.
    ///
    /// # Errors
    /// If a cell is not what the column holds.
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
            Likelihood::Categorical(values) => {
                let table = values.by_value(unseen);
                for (i, (x, scores)) in rows {
                    if let Some(place) = values.place(x, unseen, (first + i, column))? {
                        let factors = &table[place * n_classes..(place + 1) * n_classes];
                        scores.iter_mut().zip(factors).for_each(|(s, f)| *s += f);
                    }
                }
                Ok(())
            }
            Likelihood::Gaussian(curve) => add_curve(curve, at, rows),
            Likelihood::Kernel(curve) => add_curve(curve, at, rows),
            Likelihood::Histogram(curve) => add_curve(curve, at, rows),
            Likelihood::Poisson(curve) => add_curve(curve, at, rows),
            Likelihood::Exponential(curve) => add_curve(curve, at, rows),
            Likelihood::Counted(curve) => add_curve(curve, at, rows),
        }
    }

    /// What the log-factor of a value changes by where one row of its class with this value is left out of
    /// the shares. Curves of a few numbers hardly know a single row.
    pub(crate) fn without_one(&self, class: usize, x: f64) -> f64 {
        match self {
            Likelihood::Categorical(l) => l.without_one(class, x),
            Likelihood::Histogram(l) if !x.is_nan() => l.bins.without_one(class, l.bin(x) as f64),
            _ => 0.0,
        }
    }

    /// A new value of a class.
    pub(crate) fn sample(&self, class: usize, random: &mut Random) -> f64 {
        match self {
            Likelihood::Categorical(l) => l.sample(class, random),
            Likelihood::Gaussian(l) => l.sample(class, random),
            Likelihood::Kernel(l) => l.sample(class, random),
            Likelihood::Histogram(l) => l.sample(class, random),
            Likelihood::Poisson(l) => l.sample(class, random),
            Likelihood::Exponential(l) => l.sample(class, random),
            Likelihood::Counted(l) => l.sample(class, random),
        }
    }

    /// How the lecture writes the factor of a value.
    pub(crate) fn formula(&self, class: usize, x: f64, unseen: Unseen) -> String {
        match self {
            Likelihood::Categorical(l) => l.formula(class, x, unseen),
            Likelihood::Gaussian(l) => l.formula(class, x),
            Likelihood::Kernel(l) => l.formula(class, x),
            Likelihood::Histogram(l) => l.formula(class, x),
            Likelihood::Poisson(l) => l.formula(class, x),
            Likelihood::Exponential(l) => l.formula(class, x),
            Likelihood::Counted(l) => l.formula(class, x),
        }
    }

    /// Whether a fit of so many classes could have made it.
    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        match self {
            Likelihood::Categorical(l) => l.fits(n_classes),
            Likelihood::Gaussian(l) => l.fits(n_classes),
            Likelihood::Kernel(l) => l.fits(n_classes),
            Likelihood::Histogram(l) => l.fits(n_classes),
            Likelihood::Poisson(l) => l.fits(n_classes),
            Likelihood::Exponential(l) => l.fits(n_classes),
            Likelihood::Counted(l) => l.fits(n_classes),
        }
    }
}

fn add_curve<'s>(
    curve: &impl Curve,
    (first, column): (usize, usize),
    rows: impl Iterator<Item = (usize, (f64, &'s mut [f64]))>,
) -> Result<()> {
    let add = curve.adder();
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

/// What a likelihood of numbers does.
pub(crate) trait Curve {
    /// Adds `log p(x | class)` of a number to the score of every class. What all numbers share is
    /// computed once, here.
    fn adder(&self) -> impl Fn(f64, &mut [f64]);

    /// A new number of a class.
    fn sample(&self, class: usize, random: &mut Random) -> f64;

    /// How the lecture writes the factor of a number.
    fn formula(&self, class: usize, x: f64) -> String;
}

/// What is known about a column of numbers, class by class.
pub(crate) struct Numbers<'a> {
    /// Its values; empty where only moments were kept.
    pub tally: &'a ValueCounts,
    /// How often they occur, one row a class and one column a cell.
    pub counts: Matrix,
    /// The weight of the cells that are not missing.
    pub weights: Vec<f64>,
    /// Their means.
    pub means: Vec<f64>,
    /// `Σ w (x − mean)²`.
    pub squares: Vec<f64>,
    /// The mean of all classes together.
    pub mean: f64,
    /// Their variance.
    pub variance: f64,
}

impl Numbers<'_> {
    /// Adds up what `log_p(class, cell)` says of a value under the other rows of its class; classes
    /// of a single row foresee nothing. A curve may be as steep as it likes, but the cell a value
    /// stands for holds no more than all there is.
    fn held_out(&self, log_p: impl Fn(usize, usize) -> f64) -> f64 {
        let most = -self.resolution().ln();
        let mut total = 0.0;
        for (c, row) in self.counts.outer_iter().enumerate() {
            if self.weights[c] > 1.0 {
                for (at, n) in row.iter().enumerate().filter(|(_, n)| **n > 0.0) {
                    total += n * log_p(c, at).min(most);
                }
            }
        }
        total
    }

    /// The mean of a class without one row of some value.
    fn mean_without(&self, class: usize, x: f64) -> f64 {
        let (w, mean) = (self.weights[class], self.means[class]);
        mean - (x - mean) / (w - 1.0)
    }

    /// The distance of the two nearest values: what one value stands for among the discrete.
    fn resolution(&self) -> f64 {
        let values = self.tally.values();
        let gap = values.windows(2).map(|v| v[1] - v[0]).fold(f64::INFINITY, f64::min);
        if gap.is_finite() && gap > 0.0 { gap } else { 1.0 }
    }
}
