//! A histogram density with exponential tails: `p(x | c) = P(bin | c) g(x)`, where `g` integrates to one over the bin
//! that contains `x`.
//!
//! Within the range of the data `g` is uniform, `1 / width`. The two outermost bins also hold the values outside the
//! range: a fraction `ε = 1 / (n + 1)` of their probability, for a column of weight `n` (Laplace's rule of succession
//! for a value beyond all others), decays exponentially with the standard deviation of the column as its scale, and the
//! rest is uniform. So every class has a proper density whose logarithm falls linearly far away.
//!
//! Bins and tails are the same for all classes, so they cancel in the posterior; they make `log p(x)` comparable with
//! that of other densities.

use super::{Categorical, Cut, Density, NumericColumn, short};
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

/// The largest exponent of a tail: beyond it, rounding would absorb the differences between the classes, and the density
/// itself underflows to zero long before.
const MAX_TAIL_EXPONENT: f64 = 1e6;

/// The distribution of the bins in each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// The boundaries between bins, ascending.
    pub cuts: Vec<f64>,
    /// The range of the data: the lower bound of the first bin without its tail, and the upper bound of the last. An
    /// outermost bin without observed values ends at its cut and is all tail.
    pub range: (f64, f64),
    /// The fraction of the probability of an outermost bin that lies outside the range.
    pub tail_mass: f64,
    /// The scale of the exponential tails: the standard deviation of the column.
    pub tail_scale: f64,
    /// The bins as categories.
    pub bins: Categorical,
}

/// One of the two tails.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Above,
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
        let n: f64 = column.weights.iter().sum();
        let deviation = column.variance.sqrt();
        Histogram {
            range: range(column, &cuts),
            tail_mass: (1.0 / (n + 1.0)).clamp(f64::MIN_POSITIVE, 0.5),
            tail_scale: if deviation > 0.0 { deviation } else { column.resolution() },
            cuts,
            bins: Categorical::new(bins, pseudocounts, total),
        }
    }

    /// The leave-one-out log-likelihood of the column.
    pub(crate) fn leave_one_out(&self, column: &NumericColumn<'_>) -> f64 {
        let values = column.values.values();
        let bin: Vec<usize> = values.iter().map(|x| self.bin(*x)).collect();
        // A bin that contains a single discrete value is as wide as the resolution.
        let max_log_shape = -column.resolution().ln();
        column.leave_one_out(|c, at| {
            let n =
                (self.bins.counts[[c, bin[at]]] - 1.0).max(0.0) + self.bins.pseudocounts[bin[at]];
            let total = column.weights[c] - 1.0 + self.bins.total_pseudocount;
            super::log_probability(n, total) + self.log_shape(values[at]).min(max_log_shape)
        })
    }

    pub(super) fn bin(&self, x: f64) -> usize {
        self.cuts.partition_point(|cut| *cut <= x)
    }

    /// `log g(x)`: the density within the bin that contains `x`.
    fn log_shape(&self, x: f64) -> f64 {
        let (side, distance) = match x {
            x if x < self.range.0 => (Side::Below, self.range.0 - x),
            x if x >= self.range.1 => (Side::Above, x - self.range.1),
            _ => return self.log_uniform(self.bin(x)),
        };
        let exponent = (distance / self.tail_scale).min(MAX_TAIL_EXPONENT);
        self.tail_mass_of(side).ln() - self.tail_scale.ln() - exponent
    }

    /// `log g(x)` within the range of the data.
    fn log_uniform(&self, bin: usize) -> f64 {
        let (low, high) = self.edges(bin);
        (-self.outside(bin)).ln_1p() - (high - low).ln()
    }

    /// The fraction of the probability of the outermost bin that lies in its tail.
    fn tail_mass_of(&self, side: Side) -> f64 {
        let bin = if side == Side::Below { 0 } else { self.cuts.len() };
        let (low, high) = self.edges(bin);
        match (low < high, self.cuts.is_empty()) {
            (false, _) => 1.0,
            // A single bin has both tails.
            (true, true) => 0.5 * self.tail_mass,
            (true, false) => self.tail_mass,
        }
    }

    /// The fraction of the probability of a bin that lies outside the range of the data.
    fn outside(&self, bin: usize) -> f64 {
        let below = if bin == 0 { self.tail_mass_of(Side::Below) } else { 0.0 };
        let above = if bin == self.cuts.len() { self.tail_mass_of(Side::Above) } else { 0.0 };
        below + above
    }

    /// The parts of a bin as `(fraction of its probability, mean, variance)`: uniform within the range, exponential
    /// outside.
    fn parts(&self, bin: usize) -> impl Iterator<Item = (f64, f64, f64)> + use<> {
        let (low, high) = self.edges(bin);
        let (s, variance) = (self.tail_scale, self.tail_scale * self.tail_scale);
        let tail = |side, is_end: bool| if is_end { self.tail_mass_of(side) } else { 0.0 };
        [
            (1.0 - self.outside(bin), 0.5 * low + 0.5 * high, (high - low).powi(2) / 12.0),
            (tail(Side::Below, bin == 0), self.range.0 - s, variance),
            (tail(Side::Above, bin == self.cuts.len()), self.range.1 + s, variance),
        ]
        .into_iter()
    }

    /// Mean and standard deviation of a class.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let log_p = self.bins.log_probabilities.row(c);
        let parts: Vec<(f64, f64, f64)> = (log_p.iter().enumerate())
            .flat_map(|(bin, p)| self.parts(bin).map(|(f, m, v)| (f * p.exp(), m, v)))
            .collect();
        let total: f64 = parts.iter().map(|(p, ..)| p).sum();
        let mean = parts.iter().map(|(p, m, _)| p * m).sum::<f64>() / total;
        let spread = parts.iter().map(|(p, m, v)| p * (v + (m - mean) * (m - mean))).sum::<f64>();
        (mean, (spread / total).sqrt())
    }

    /// The points where the density within the range is not continuous: the ends and the cuts between them.
    pub(crate) fn breaks(&self) -> Vec<f64> {
        let (low, high) = self.range;
        let mut breaks = vec![low];
        breaks.extend(self.cuts.iter().filter(|cut| **cut > low && **cut < high));
        breaks.push(high);
        breaks
    }

    /// The bounds of a bin within the range of the data.
    fn edges(&self, bin: usize) -> (f64, f64) {
        let low = if bin == 0 { self.range.0 } else { self.cuts[bin - 1] };
        (low, self.cuts.get(bin).copied().unwrap_or(self.range.1))
    }

    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.bins.fits(n_classes)
            && self.bins.n_categories() == self.cuts.len() + 1
            && self.cuts.iter().chain([&self.range.0, &self.range.1]).all(|x| x.is_finite())
            && self.cuts.is_sorted_by(|a, b| a < b)
            && self.cuts.iter().all(|cut| (self.range.0..=self.range.1).contains(cut))
            && (self.range.0 < self.range.1 || !self.cuts.is_empty())
            && self.tail_mass > 0.0
            && self.tail_mass <= 0.5
            && self.tail_scale.is_finite()
            && self.tail_scale > 0.0
    }
}

/// The range of a column: discrete values extend to the next possible value, and a bin with observed values is at
/// least as wide as the resolution.
fn range(column: &NumericColumn<'_>, cuts: &[f64]) -> (f64, f64) {
    let resolution = column.resolution();
    let Some((low, high)) = column.values.range() else {
        return (cuts.first().map_or(0.0, |cut| *cut), cuts.last().map_or(resolution, |cut| *cut));
    };
    // The resolution can be below the rounding error of the largest value.
    let high = (high + resolution).max(high.next_up());
    let first = match cuts.first() {
        Some(cut) if low >= *cut => *cut,
        Some(cut) => low.min(cut - resolution).min(cut.next_down()),
        None => low,
    };
    let last = match cuts.last() {
        // No value lies in the last bin.
        Some(cut) if column.values.range().is_some_and(|(_, observed)| observed < *cut) => *cut,
        Some(cut) => high.max(cut + resolution),
        None => high,
    };
    (first, last)
}

impl Density for Histogram {
    fn log_density_adder(&self) -> impl Fn(f64, &mut [f64]) {
        let n_classes = self.bins.counts.nrows();
        let by_bin: Vec<f64> =
            self.bins.log_probabilities.columns().into_iter().flat_map(|p| p.to_vec()).collect();
        let log_uniform: Vec<f64> =
            (0..=self.cuts.len()).map(|bin| self.log_uniform(bin)).collect();
        let (low, high) = self.range;
        move |x, scores| {
            let bin = self.bin(x);
            let log_shape = if x >= low && x < high { log_uniform[bin] } else { self.log_shape(x) };
            let log_p = &by_bin[bin * n_classes..(bin + 1) * n_classes];
            scores.iter_mut().zip(log_p).for_each(|(s, p)| *s += p + log_shape);
        }
    }

    fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let log_p = self.bins.log_probabilities.row(class);
        let probabilities: Vec<f64> = log_p.iter().map(|p| p.exp()).collect();
        let bin = random.choice(&probabilities);
        let fractions: Vec<f64> = self.parts(bin).map(|(fraction, ..)| fraction).collect();
        let part = random.choice(&fractions);
        let u = random.uniform();
        let distance = -self.tail_scale * (1.0 - u).ln();
        match part {
            1 => self.range.0 - distance,
            2 => self.range.1 + distance,
            _ => {
                let (low, high) = self.edges(bin);
                low + (high - low) * u
            }
        }
    }

    fn formula(&self, class: usize, x: f64) -> String {
        let bin = self.bin(x);
        let (low, high) = self.edges(bin);
        let density = short((self.bins.log_probabilities[[class, bin]] + self.log_shape(x)).exp());
        let probability = self.bins.fraction(class, bin);
        let tail = |side, distance: f64, place: String| {
            let (mass, scale) = (short(self.tail_mass_of(side)), short(self.tail_scale));
            let exponent = short(-(distance / self.tail_scale).min(MAX_TAIL_EXPONENT));
            format!("{probability} x {mass} x exp({exponent}) / {scale} = {density} {place}")
        };
        match x {
            x if x < self.range.0 => {
                tail(Side::Below, self.range.0 - x, format!("below {}", short(self.range.0)))
            }
            x if x >= self.range.1 => {
                tail(Side::Above, x - self.range.1, format!("above {}", short(self.range.1)))
            }
            _ => {
                let inside = match self.outside(bin) {
                    0.0 => String::new(),
                    outside => format!(" x {}", short(1.0 - outside)),
                };
                let (low, high, width) = (short(low), short(high), short(high - low));
                format!("{probability}{inside} / {width} = {density} in {low} to {high}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bins of width one with probabilities 1/4 and 3/4, and tails of mass 1/10 and scale 2.
    fn histogram() -> Histogram {
        Histogram {
            cuts: vec![1.0],
            range: (0.0, 2.0),
            tail_mass: 0.1,
            tail_scale: 2.0,
            bins: Categorical::lidstone(ndarray::array![[1.0, 3.0]], 0.0),
        }
    }

    fn density(histogram: &Histogram, x: f64) -> f64 {
        let mut score = [0.0];
        histogram.log_density_adder()(x, &mut score);
        score[0].exp()
    }

    #[test]
    fn the_outermost_bins_are_uniform_inside_and_exponential_outside() {
        let histogram = histogram();

        assert!((density(&histogram, 0.5) - 0.25 * 0.9).abs() < 1e-15);
        assert!((density(&histogram, 1.5) - 0.75 * 0.9).abs() < 1e-15);
        assert!((density(&histogram, -2.0) - 0.25 * 0.1 * (-1f64).exp() / 2.0).abs() < 1e-15);
        assert!((density(&histogram, 6.0) - 0.75 * 0.1 * (-2f64).exp() / 2.0).abs() < 1e-15);
        assert_eq!(histogram.formula(0, 0.5), "1/4 x 0.9 / 1 = 0.225 in 0 to 1");
        assert_eq!(histogram.formula(0, 6.0), "3/4 x 0.1 x exp(-2) / 2 = 0.005075 above 2");
    }

    #[test]
    fn samples_have_the_moments_of_the_density() {
        let histogram = histogram();
        // 1/4 (9/10 · 1/2 + 1/10 · (−2)) + 3/4 (9/10 · 3/2 + 1/10 · 4)
        let mean = 0.25 * 0.25 + 0.75 * 1.75;
        assert!((histogram.moments(0).0 - mean).abs() < 1e-12);

        let mut random = Random::new(4);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| histogram.sample(0, &mut random)).collect();
        let found = draws.iter().sum::<f64>() / f64::from(n);
        let squares = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / f64::from(n);

        assert!((found - mean).abs() < 0.01, "{found}");
        assert!((squares.sqrt() - histogram.moments(0).1).abs() < 0.02, "{squares}");
        let outside = draws.iter().filter(|x| !(0.0..2.0).contains(*x)).count() as f64;
        assert!((outside / f64::from(n) - 0.1).abs() < 0.003, "{outside}");
    }

    #[test]
    fn a_single_bin_has_both_tails() {
        let bins = Categorical::lidstone(ndarray::array![[4.0]], 1.0);
        let histogram = Histogram { cuts: Vec::new(), bins, ..histogram() };

        assert!((density(&histogram, 1.0) - 0.9 / 2.0).abs() < 1e-15);
        assert!((density(&histogram, -2.0) - 0.05 * (-1f64).exp() / 2.0).abs() < 1e-15);
        assert!(histogram.log_shape(f64::MAX).is_finite());
    }
}
