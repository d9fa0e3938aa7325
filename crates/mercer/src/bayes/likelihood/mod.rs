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

pub(crate) use categorical::log_share;
pub use categorical::{Categorical, Unseen};
pub use counted::Counted;
pub(crate) use cuts::Cut;
pub use exponential::Exponential;
pub use gaussian::Gaussian;
pub use histogram::Histogram;
pub use kernel::Kernel;
pub use poisson::Poisson;

use crate::explain::short;
use crate::stats::Tally;
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
                let p = l.log_shares[c].exp();
                (p, (p * (1.0 - p)).max(0.0).sqrt())
            }
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
    pub tally: &'a Tally,
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
