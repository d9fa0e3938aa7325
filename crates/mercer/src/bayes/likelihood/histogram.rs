//! A histogram density: `p(x | c) = P(bin | c) / width` of the bin that contains `x`.
//!
//! The bins are the same for all classes, so the widths cancel in the posterior; they make `log p(x)` comparable with
//! that of other densities.

use super::{Categorical, Cut, Density, NumericColumn, short};
use crate::explain::moments_of;
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The distribution of the bins in each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// The boundaries between bins, ascending.
    pub cuts: Vec<f64>,
    /// The lower bound of the first bin and the upper bound of the last.
    pub range: (f64, f64),
    /// The bins as categories.
    pub bins: Categorical,
}

impl Histogram {
    /// The histogram of a column; `smoothing` returns the pseudocounts of the bins and their total.
    pub(crate) fn fit(
        column: &NumericColumn<'_>,
        cut: Cut,
        smoothing: impl Fn(&Matrix) -> (Vec<f64>, f64),
    ) -> Histogram {
        let cuts = cut.points(column.values, &column.counts);
        let values = column.values.values();
        let counts = &column.counts;
        let mut bins = Matrix::zeros((counts.nrows(), cuts.len() + 1));
        for (x, from) in values.iter().zip(counts.columns()) {
            let mut to = bins.column_mut(cuts.partition_point(|cut| cut <= x));
            to += &from;
        }
        let (pseudocounts, total) = smoothing(&bins);
        let low = values.first().copied().unwrap_or(0.0);
        let high = values.last().copied().unwrap_or(0.0) + column.resolution();
        // Boundaries may lie outside the range of the values.
        let first = cuts.first().map_or(low, |cut| low.min(cut - column.resolution()));
        let last = cuts.last().map_or(high, |cut| high.max(cut + column.resolution()));
        Histogram { cuts, range: (first, last), bins: Categorical::new(bins, pseudocounts, total) }
    }

    /// The leave-one-out log-likelihood of the column.
    pub(crate) fn leave_one_out(&self, column: &NumericColumn<'_>) -> f64 {
        let values = column.values.values();
        let bin: Vec<usize> = values.iter().map(|x| self.bin(*x)).collect();
        // A bin that contains a single discrete value is as wide as the resolution.
        let narrowest = column.resolution();
        column.leave_one_out(|c, at| {
            let n =
                (self.bins.counts[[c, bin[at]]] - 1.0).max(0.0) + self.bins.pseudocounts[bin[at]];
            let total = column.weights[c] - 1.0 + self.bins.total_pseudocount;
            super::log_probability(n, total) - self.width(bin[at]).max(narrowest).ln()
        })
    }

    pub(super) fn bin(&self, x: f64) -> usize {
        self.cuts.partition_point(|cut| *cut <= x)
    }

    /// Mean and standard deviation of a class; the density is uniform within a bin.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let log_p = self.bins.log_probabilities.row(c);
        let middle = |bin: usize| 0.5 * (self.edges(bin).0 + self.edges(bin).1);
        let bins = log_p.into_iter().enumerate().map(|(bin, p)| (middle(bin), p.exp()));
        let (mean, between) = moments_of(bins);
        let within: f64 = (log_p.iter().enumerate())
            .map(|(bin, p)| p.exp() * self.width(bin).powi(2) / 12.0)
            .sum();
        (mean, between.hypot(within.sqrt()))
    }

    fn edges(&self, bin: usize) -> (f64, f64) {
        let low = if bin == 0 { self.range.0 } else { self.cuts[bin - 1] };
        (low, self.cuts.get(bin).copied().unwrap_or(self.range.1))
    }

    fn width(&self, bin: usize) -> f64 {
        let (low, high) = self.edges(bin);
        (high - low).max(f64::MIN_POSITIVE)
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.bins.fits(n_classes)
            && self.bins.n_categories() == self.cuts.len() + 1
            && self.cuts.iter().chain([&self.range.0, &self.range.1]).all(|x| x.is_finite())
            && self.cuts.is_sorted_by(|a, b| a < b)
            && self.cuts.iter().all(|cut| (self.range.0..=self.range.1).contains(cut))
    }
}

impl Density for Histogram {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        let n_classes = self.bins.counts.nrows();
        let steps: Vec<f64> = (0..=self.cuts.len())
            .flat_map(|bin| {
                let log_width = self.width(bin).ln();
                self.bins.log_probabilities.column(bin).mapv(|p| p - log_width).to_vec()
            })
            .collect();
        move |x, scores| {
            let at = self.bin(x) * n_classes;
            scores.iter_mut().zip(&steps[at..at + n_classes]).for_each(|(s, p)| *s += p);
        }
    }

    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let log_p = self.bins.log_probabilities.row(class);
        let probabilities: Vec<f64> = log_p.iter().map(|p| p.exp()).collect();
        let (low, high) = self.edges(random.choice(&probabilities));
        low + (high - low) * random.uniform()
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let bin = self.bin(x);
        let (low, high) = self.edges(bin);
        let probability = self.bins.formula(class, bin as f64, super::Unseen::Ignore);
        format!("{probability} of {} to {}, {} wide", short(low), short(high), short(high - low))
    }
}
