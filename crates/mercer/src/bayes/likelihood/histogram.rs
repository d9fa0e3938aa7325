//! Steps between cut points: `p(x | c) = P(bin | c) / width` of the bin that holds `x`.
//!
//! The cut points are the same for every class, so the widths have no say in which class wins; they
//! make `log p(x)` comparable with that of a curve.

use super::{Categorical, Curve, Cut, Numbers, short};
use crate::explain::moments_of;
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// Shares of the bins in each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Where one bin ends and the next begins, rising.
    pub cuts: Vec<f64>,
    /// Where the first bin begins and the last ends, as far as rows went.
    pub range: (f64, f64),
    /// The bins as values.
    pub bins: Categorical,
}

impl Histogram {
    /// The bins of a column; `added` gives what is added to their counts, each and in all.
    pub(crate) fn fit(
        column: &Numbers<'_>,
        cut: Cut,
        added: impl Fn(&Matrix) -> (Vec<f64>, f64),
    ) -> Histogram {
        let cuts = cut.points(column.tally, &column.counts);
        let values = column.tally.values();
        let counts = &column.counts;
        let mut bins = Matrix::zeros((counts.nrows(), cuts.len() + 1));
        for (x, from) in values.iter().zip(counts.columns()) {
            let mut to = bins.column_mut(cuts.partition_point(|cut| cut <= x));
            to += &from;
        }
        let (added, in_all) = added(&bins);
        let low = values.first().copied().unwrap_or(0.0);
        let high = values.last().copied().unwrap_or(0.0) + column.resolution();
        // Cut points may lie outside of what was seen.
        let first = cuts.first().map_or(low, |cut| low.min(cut - column.resolution()));
        let last = cuts.last().map_or(high, |cut| high.max(cut + column.resolution()));
        Histogram { cuts, range: (first, last), bins: Categorical::new(bins, added, in_all) }
    }

    pub(crate) fn held_out(&self, column: &Numbers<'_>) -> f64 {
        let values = column.tally.values();
        let bin: Vec<usize> = values.iter().map(|x| self.bin(*x)).collect();
        // A bin between discrete values holds one of them and is as wide as one of them.
        let narrowest = column.resolution();
        column.held_out(|c, at| {
            let n = (self.bins.counts[[c, bin[at]]] - 1.0).max(0.0) + self.bins.added[bin[at]];
            let total = column.weights[c] - 1.0 + self.bins.added_in_all;
            super::log_probability(n, total) - self.width(bin[at]).max(narrowest).ln()
        })
    }

    pub(super) fn bin(&self, x: f64) -> usize {
        self.cuts.partition_point(|cut| *cut <= x)
    }

    /// The mean and the deviation of a class, even within a bin.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let shares = self.bins.log_probabilities.row(c);
        let middle = |bin: usize| 0.5 * (self.edges(bin).0 + self.edges(bin).1);
        let bins = shares.into_iter().enumerate().map(|(bin, p)| (middle(bin), p.exp()));
        let (mean, between) = moments_of(bins);
        let within: f64 = (shares.iter().enumerate())
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
            && self.bins.n_values() == self.cuts.len() + 1
            && self.cuts.iter().chain([&self.range.0, &self.range.1]).all(|x| x.is_finite())
            && self.cuts.is_sorted_by(|a, b| a < b)
            && self.cuts.iter().all(|cut| (self.range.0..=self.range.1).contains(cut))
    }
}

impl Curve for Histogram {
    fn adder(&self) -> impl Fn(f64, &mut [f64]) {
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
        let shares: Vec<f64> =
            self.bins.log_probabilities.row(class).iter().map(|p| p.exp()).collect();
        let (low, high) = self.edges(random.choice(&shares));
        low + (high - low) * random.uniform()
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let bin = self.bin(x);
        let (low, high) = self.edges(bin);
        let share = self.bins.formula(class, bin as f64, super::Unseen::Ignore);
        format!("{share} of {} to {}, {} wide", short(low), short(high), short(high - low))
    }
}
